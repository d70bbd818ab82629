"""Measure what a move costs, in microseconds and in empty function calls of the same run."""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairplay import Event, Game, Journal, Match, Moment, Referee
from fairplay.core.chance import derive, seed_from
from fairplay.games import title
from fairplay.games.fish import Fish
from fairplay.games.tsuro import Tsuro

ROUNDS = 40  # each benchmark is measured so often, by turns with the others; the best round counts
MEMORY = Path("/dev/shm")  # journals go there if it exists: what a disk costs is its own, and differs by a factor of 20
SMALL = Fish(rows=5, columns=5)
LARGE = Fish(rows=8, columns=8)
TSURO = Tsuro()

AnyGame = Game[Any, Any, Any]
Benchmark = Callable[[], int]  # does some work, and says how many moves that was


class Watcher:
    """The one observer of a refereed match: counts."""

    def __init__(self) -> None:
        self.events = 0

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Count."""
        self.events += 1


def empty(first: object, second: object) -> None:
    """The unit: a call of this."""


def calls() -> int:
    """Call the empty function."""
    for _ in range(20_000):
        empty(1, 2)
    return 20_000


def raw(game: AnyGame, seats: int) -> Benchmark:
    """Random legal playouts from dealt states, through `actions` and `apply`, without a referee."""
    states = [game.deal(seats, seed_from(f"{number}")) for number in range(20)]
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


def refereed(game: AnyGame, player: str, seats: int, record: Journal | None = None) -> Benchmark:
    """Whole matches: conversation, judgement and events, house players, one observer."""
    house = title(game.name).house[player]
    seeds = [seed_from(f"{number}") for number in range(20)]
    tables = [[house.make("", derive(seed, f"seat {seat}")) for seat in range(seats)] for seed in seeds]
    referee, watcher = Referee(), Watcher()
    referee.subscribe(watcher)

    def run() -> int:
        before = watcher.events
        for seed, table in zip(seeds, tables, strict=True):
            referee.run(game, table, seed=seed, record=record)
        return watcher.events - before - 2 * len(seeds)  # without the start and the end of each

    return run


def deal(game: AnyGame) -> Benchmark:
    """Deals; a move here is a deal."""
    seeds = [seed_from(f"{number}") for number in range(50)]

    def run() -> int:
        for seed in seeds:
            game.deal(2, seed)
        return len(seeds)

    return run


def measure(benchmarks: dict[str, Benchmark]) -> dict[str, dict[str, float]]:
    """Microseconds per move and calls per move of each, the best of all rounds."""
    best = dict.fromkeys(benchmarks, float("inf"))
    for _ in range(ROUNDS):
        for name, run in benchmarks.items():
            since = time.perf_counter()
            moves = run()
            best[name] = min(best[name], (time.perf_counter() - since) / moves * 1e6)
    unit = best.pop("call")
    figures = {name: {"us": round(us, 3), "calls": round(us / unit, 1)} for name, us in best.items()}
    return {"call": {"us": round(unit, 4), "calls": 1.0}, **figures}


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    as_json = parser.parse_args().json
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as directory:
        figures = measure(
            {
                "call": calls,
                "fish.raw": raw(SMALL, 2),
                "fish.raw.8x8": raw(LARGE, 2),
                "fish.refereed": refereed(SMALL, "random", 2),
                "fish.journalled": refereed(SMALL, "random", 2, Journal(directory)),
                "fish.deal": deal(SMALL),
                "tsuro.raw": raw(TSURO, 3),
                "tsuro.refereed": refereed(TSURO, "random", 3),
                "tsuro.second": refereed(TSURO, "second", 5),
            }
        )
    if as_json:
        json.dump(figures, sys.stdout)
        print()
        return
    print(f"{'':<18}{'us per move':>12}{'calls per move':>16}")
    for name, figure in figures.items():
        print(f"{name:<18}{figure['us']:>12.3f}{figure['calls']:>16.1f}")


if __name__ == "__main__":
    main()
