"""Measure the speed of tournaments: two workers against one, and a tournament against its bare matches."""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec.structs import replace

from fairplay import Entrant
from fairplay.core.chance import derive_seed
from fairplay.games import game_info
from fairplay.hosting.run import run, run_async
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.key import KEY_BYTES
from fairplay.journal.record import Journal
from fairplay.referee.referee import Referee
from fairplay.sandbox.protections import why_not_strict
from fairplay.tournament import tournament_log
from fairplay.tournament.events import TournamentObservers
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import process_pool_runner
from fairplay.tournament.running.worker import pin_to_cores
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import TournamentSpec
from fairplay.transport import event_loop

ROUNDS = 5  # of each side, in turns; the best round counts
SHARED_MEMORY_DIR = Path("/dev/shm")  # journals go there if it exists, as in the other benchmarks
PLAYERS = ("random", "greedy", "lookahead:1")
BOT = str(Path(__file__).parents[1] / "examples" / "bots" / "fish_plain.py")
MATCHES, PROGRAMS, SAMPLE = 400, 200, 20


class Figure(NamedTuple):
    """Seconds of both sides, and a label."""

    ours: float
    other: float
    ratio: float
    about: str


def make_spec(players: tuple[str, ...], games: int, sandbox: str | None = None) -> TournamentSpec:
    """A tournament of Fish at tables of two."""
    return TournamentSpec(
        game="fish",
        players=tuple(Entrant(address, f"player{number}") for number, address in enumerate(players)),
        format=RoundRobin(games=games),
        seed=bytes(32),
        parameters={"rows": 5, "columns": 5},
        sandbox=sandbox,
    )


def journal_directory() -> tempfile.TemporaryDirectory[str]:
    """A directory for the journals of a round."""
    return tempfile.TemporaryDirectory(dir=SHARED_MEMORY_DIR if SHARED_MEMORY_DIR.is_dir() else None)


def time_tournament(tournament: TournamentSpec, workers: int) -> float:
    """Seconds for a whole tournament, after its workers have started."""
    with (
        journal_directory() as name,
        process_pool_runner(workers) as runner,
        tournament_log.create_log(Path(name), tournament) as steps,
    ):
        for queue in runner.queues:  # until every worker has its modules loaded
            queue.executor.submit(run, make_spec(PLAYERS, 1).match_spec(tournament.players[:2], 0)).result(60)
        since = time.perf_counter()
        Manager(tournament, Path(name), steps, runner, TournamentObservers([])).run()
        return time.perf_counter() - since


def time_bare_loop(tournament: TournamentSpec) -> float:
    """Seconds for the same matches, refereed and recorded in a bare loop in this process."""
    server, game, referee = game_info("fish").built_in, tournament.rules(), Referee()
    seeds = [tournament.derive_seed(f"deal {number}") for number in range(MATCHES)]
    pairs = [(number % 3, (number + 1 + number // 3 % 2) % 3) for number in range(MATCHES)]
    with journal_directory() as name:
        journal = Journal(name, key=bytes(KEY_BYTES))  # with a key, like all journals of the command
        since = time.perf_counter()
        for seed, pair in zip(seeds, pairs, strict=True):
            players = []
            for seat, number in enumerate(pair):
                kind, _, argument = PLAYERS[number].partition(":")
                players.append(server[kind].make(argument, derive_seed(seed, f"seat {seat}")))
            referee.run(game, players, seed=seed, record=journal.begin)
        return time.perf_counter() - since


def compare_workers(rounds: int) -> Figure:
    """Two workers beside one."""
    tournament = make_spec(PLAYERS, MATCHES)
    two, one = best_of_rounds(lambda: time_tournament(tournament, 2), lambda: time_tournament(tournament, 1), rounds)
    return Figure(two, one, one / two, "times as quick as one worker; at least 1.7")


def compare_with_bare_loop(rounds: int) -> Figure:
    """One worker beside a bare loop."""
    tournament = make_spec(PLAYERS, MATCHES)
    ours, bare = best_of_rounds(lambda: time_tournament(tournament, 1), lambda: time_bare_loop(tournament), rounds)
    return Figure(ours, bare, bare / ours, "of the speed of a bare loop; at least 0.8")


def compare_programs(rounds: int) -> Figure:
    """Two workers with matches of programs, beside the time of the matches themselves."""
    tournament = make_spec((BOT, BOT), PROGRAMS, "strict")
    single = event_loop.run(time_match(tournament.match_spec(tournament.players, 0)))
    ours = min(time_tournament(tournament, 2) for _ in range(max(1, rounds // 3)))
    other = PROGRAMS * single / 2
    return Figure(ours, other, ours / other, "of games x (turns x cost of a turn + start-up) / workers; at most 1.3")


class NotedReady(asyncio.Event):
    """An event that is set from the start, and notes the time when a match waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.set()
        self.asked = 0.0

    async def wait(self) -> Literal[True]:
        """Note it."""
        self.asked = time.perf_counter()
        return await super().wait()


async def time_match(spec: MatchSpec) -> float:
    """Seconds for a match of programs alone on one core: until they are ready, and for all their turns."""
    everywhere, seconds = os.sched_getaffinity(0), 0.0
    pin_to_cores(0, len(everywhere))
    try:
        for number in range(SAMPLE):
            with journal_directory() as name:
                ready, since = NotedReady(), time.perf_counter()
                outcome = await run_async(replace(spec, id=f"m{number}", journal=name), ready=ready)
                seconds += ready.asked - since + outcome.took
    finally:
        os.sched_setaffinity(0, everywhere)
    return seconds / SAMPLE


def best_of_rounds(ours: Callable[[], float], other: Callable[[], float], rounds: int) -> tuple[float, float]:
    """The best rounds of both, in turns, so that both sides run under the same conditions."""
    pairs = [(ours(), other()) for _ in range(rounds)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


BENCHMARKS: dict[str, Callable[[int], Figure]] = {
    "tournament.workers": compare_workers,
    "tournament.bare": compare_with_bare_loop,
    "tournament.programs": compare_programs,
}


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="how often each is measured")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)} (default: all)")
    chosen = parser.parse_args()
    known = [name for name in BENCHMARKS if name != "tournament.programs" or not why_not_strict()]
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)} here")
    figures = {name: BENCHMARKS[name](chosen.rounds) for name in chosen.names or known}
    if chosen.json:
        json.dump({name: figure._asdict() for name, figure in figures.items()}, sys.stdout)
        print()
        return
    for name, figure in figures.items():
        print(f"{name:<22}{figure.ours:>8.2f} s beside{figure.other:>8.2f} s: {figure.ratio:.2f} {figure.about}")


if __name__ == "__main__":
    main()
