"""Measure the cost of a move, in microseconds and in empty function calls of the same run."""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairplay import Event, Game, Moment
from fairplay.core.chance import derive_seed, seed_from_text
from fairplay.core.match import Match
from fairplay.games import game_info
from fairplay.games.fish import Fish
from fairplay.games.q import Place as QPlace
from fairplay.games.q import Q, State
from fairplay.games.q.board import map_of
from fairplay.games.q.pieces import NAMES
from fairplay.games.tsuro import Tsuro
from fairplay.journal.record import Journal
from fairplay.referee.referee import Referee

ROUNDS = 40  # of each benchmark, in turns; the best round counts
SHARED_MEMORY_DIR = Path("/dev/shm")  # for journals, if it exists: the cost of disks differs by a factor of 20
SMALL = Fish(rows=5, columns=5)
LARGE = Fish(rows=8, columns=8)
TSURO = Tsuro()
QGAME = Q()

AnyGame = Game[Any, Any, Any]
Benchmark = Callable[[], int]  # works, and returns the number of moves


class Watcher:
    """The one observer of a refereed match: counts."""

    def __init__(self) -> None:
        self.events = 0

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Count."""
        self.events += 1


def empty_function(first: object, second: object) -> None:
    """The unit: a call of this."""


def call_empty_function() -> int:
    """Call the empty function."""
    for _ in range(20_000):
        empty_function(1, 2)
    return 20_000


def play_unrefereed(game: AnyGame, seats: int) -> Benchmark:
    """Random legal playouts from dealt states, through `actions` and `apply`, without a referee."""
    states = [game.deal(seats, seed_from_text(f"{number}")) for number in range(20)]
    chance = random.Random(1).random

    def run() -> int:
        moves = 0
        for state in states:
            while (seat := game.turn(state)) is not None:
                options = list(game.actions(game.view(state, seat)))
                if options:
                    state = game.apply(state, options[int(chance() * len(options))])
                else:
                    state = game.eject(state, seat, Moment.TURN)
                moves += 1
        return moves

    return run


def play_built_in(game: AnyGame, player: str, seats: int) -> Benchmark:
    """Playouts of a built-in player from dealt states, without a referee."""
    server = game_info(game.name).built_in[player]
    states = [game.deal(seats, seed_from_text(f"{number}")) for number in range(2)]
    choose = server.make("", seed_from_text("key"))

    def run() -> int:
        moves = 0
        for state in states:
            while (seat := game.turn(state)) is not None:
                state = game.apply(state, choose(game.view(state, seat)))
                moves += 1
        return moves

    return run


def play_refereed(
    game: AnyGame, player: str, seats: int, journal: Journal | None = None, *, matches: int = 20
) -> Benchmark:
    """Whole matches: conversation, judgement and events, built-in players, one observer."""
    server = game_info(game.name).built_in[player]
    seeds = [seed_from_text(f"{number}") for number in range(matches)]
    tables = [[server.make("", derive_seed(seed, f"seat {seat}")) for seat in range(seats)] for seed in seeds]
    referee, watcher, begin = Referee(), Watcher(), journal.begin if journal else None
    referee.subscribe(watcher)

    def run() -> int:
        before = watcher.events
        for seed, table in zip(seeds, tables, strict=True):
            referee.run(game, table, seed=seed, record=begin)
        return watcher.events - before - 2 * len(seeds)  # without the start and the end of each

    return run


def deal_matches(game: AnyGame) -> Benchmark:
    """Deals; a move here is a deal."""
    seeds = [seed_from_text(f"{number}") for number in range(50)]

    def run() -> int:
        for seed in seeds:
            game.deal(2, seed)
        return len(seeds)

    return run


def q_position(tiles: int) -> State:
    """A position of Q with so many tiles on the map, grown at random, and a full hand of different tiles."""
    chance = random.Random(tiles)
    grown = map_of([((0, 0), 0)])
    while len(grown.tiles) < tiles:
        cell = chance.choice(sorted(grown.frontier))
        kinds = [kind for kind in range(len(NAMES)) if grown.frontier[cell] >> kind & 1]
        if kinds:
            grown = grown.with_tiles([(cell, chance.choice(kinds))])
    hand = tuple(chance.sample(range(len(NAMES)), 6))
    return State(grown, (hand, hand), (0, 0), tuple(range(len(NAMES))), (0, 1), 2)


def score_placement(tiles: int) -> Benchmark:
    """The same turn repeatedly on a map of this size: check, apply and score one placement."""
    state = q_position(tiles)
    view = QGAME.view(state, 0)
    action = next(action for action in QGAME.actions(view) if isinstance(action, QPlace))

    def run() -> int:
        for _ in range(200):
            QGAME.check(view, action)
            QGAME.apply(state, action)
        return 200

    return run


def built_in_answers(player: str, tiles: int) -> Benchmark:
    """The answers of a built-in player of Q on a map of this size."""
    choose = game_info("q").built_in[player].make("", seed_from_text("key"))
    view = QGAME.view(q_position(tiles), 0)

    def run() -> int:
        choose(view)
        return 1

    return run


def run_command(*arguments: str) -> Benchmark:
    """Runs of the command from its start to its end; a move here is a run. Its modules are compiled before."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> int:
        line = [sys.executable, "-m", "fairplay", *arguments]
        subprocess.run(line, env=env, capture_output=True, check=True, timeout=60)  # reading its output ends with it
        return 1

    return run


def make_benchmarks(journals: Path) -> dict[str, Callable[[], Benchmark]]:
    """The preparation of each benchmark, by its name."""
    return {
        "call": lambda: call_empty_function,
        "fish.raw": lambda: play_unrefereed(SMALL, 2),
        "fish.raw.8x8": lambda: play_unrefereed(LARGE, 2),
        "fish.refereed": lambda: play_refereed(SMALL, "random", 2),
        "fish.journalled": lambda: play_refereed(SMALL, "random", 2, Journal(journals)),
        "fish.lookahead": lambda: play_built_in(LARGE, "lookahead", 2),
        "fish.deal": lambda: deal_matches(SMALL),
        "tsuro.raw": lambda: play_unrefereed(TSURO, 3),
        "tsuro.refereed": lambda: play_refereed(TSURO, "random", 3),
        "tsuro.journalled": lambda: play_refereed(TSURO, "random", 3, Journal(journals)),
        "tsuro.second": lambda: play_refereed(TSURO, "second", 5),
        "tsuro.survivor": lambda: play_built_in(TSURO, "survivor", 3),
        "q.raw": lambda: play_built_in(QGAME, "random", 2),
        "q.refereed": lambda: play_refereed(QGAME, "dag", 2, matches=1),
        "q.journalled": lambda: play_refereed(QGAME, "dag", 2, Journal(journals), matches=1),
        "q.best.1000": lambda: built_in_answers("best", 1000),
        "q.placement.50": lambda: score_placement(50),
        "q.placement.1000": lambda: score_placement(1000),
        "command.help": lambda: run_command("--help"),
        "command.play": lambda: run_command("play", "fish", "random", "greedy", "--seed", "1"),
    }


def measure(chosen: dict[str, Benchmark], rounds: int) -> dict[str, dict[str, float]]:
    """Microseconds per move and calls per move of each, the best of all rounds; an empty call is always among them."""
    best = dict.fromkeys({"call": call_empty_function, **chosen}, float("inf"))
    for _ in range(rounds):
        for name, run in {"call": call_empty_function, **chosen}.items():
            since = time.perf_counter()
            moves = run()
            best[name] = min(best[name], (time.perf_counter() - since) / moves * 1e6)
    unit = best.pop("call")
    figures = {name: {"us": round(us, 4), "calls": round(us / unit, 1)} for name, us in best.items()}
    return {"call": {"us": round(unit, 4), "calls": 1.0}, **figures}


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--list", action="store_true", help="print only the names of all benchmarks")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="how often each is measured")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of those in the list (default: all)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY_DIR if SHARED_MEMORY_DIR.is_dir() else None) as directory:
        known = make_benchmarks(Path(directory))
        if asked.list:
            print("\n".join(known))
            return
        unknown = [name for name in asked.names if name not in known]
        if unknown:
            parser.error(f"there is no benchmark {', '.join(unknown)}")
        figures = measure({name: known[name]() for name in asked.names or known}, asked.rounds)
    if {"q.placement.1000", "q.placement.50"} <= figures.keys():
        growth = figures["q.placement.1000"]["us"] / figures["q.placement.50"]["us"]
        figures["q.growth"] = {"us": figures["q.placement.1000"]["us"], "calls": round(growth, 2)}  # a ratio, not calls
    if asked.json:
        json.dump(figures, sys.stdout)
        print()
        return
    print(f"{'':<18}{'us per move':>12}{'calls per move':>16}")
    for name, figure in figures.items():
        print(f"{name:<18}{figure['us']:>12.3f}{figure['calls']:>16.1f}")


if __name__ == "__main__":
    main()
