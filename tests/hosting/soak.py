"""Play many matches with failing players of every kind, and look for leaks.

python -m tests.hosting.soak 1000
"""

import asyncio
import gc
import os
import sys
import tempfile
import time
from pathlib import Path

from fairplay import Fault
from fairplay.core.roles import NULL_RECORD, Record
from fairplay.games import game_info, make_game
from fairplay.hosting.table import Table
from fairplay.players.location import Command, ListenAddress, LocalAddress, Location
from fairplay.protocol.limits import Limits
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play_async
from fairplay.referee.referee import deal_match
from tests.players.programs import current_holdings, is_cleaned_up, new_holdings

SEED = bytes(range(32))
GAME = make_game("fish", {"rows": 4, "columns": 4})
LIMITS = Limits(move=30.0, start_up=30.0)
PARALLEL_MATCHES = 8
FAILING_COMMANDS = {
    "exit": "exit 3",
    "kill": "kill -9 $$",
    "linger": "sleep 60 & exit 1",
    "junk": "echo junk; sleep 60",
}
FAULTS = [Fault.CRASHED, Fault.CRASHED, Fault.CRASHED, Fault.MALFORMED]


def memory_bytes() -> int:
    """Bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def soak(matches: int, directory: Path) -> None:
    """Play matches with an ejection in each; no task is left after them."""
    commands = []
    for name, end in FAILING_COMMANDS.items():
        program = directory / name
        program.write_text(f"#!/bin/sh\nread line\n{end}\n")
        program.chmod(0o755)
        commands.append(Command((str(program),)))

    async def some(number: int) -> None:
        await asyncio.gather(*(play_one(number + n, commands) for n in range(PARALLEL_MATCHES)))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    for number in range(0, matches, PARALLEL_MATCHES):
        asyncio.run(some(number))
    gc.collect()


async def play_one(number: int, commands: list[Command]) -> None:
    """Play a match with two good players, and one that fails in its own way."""
    greedy = LocalAddress(game_info("fish").built_in["greedy"].make("", SEED))
    kind = number % (len(commands) + 1)
    if kind == len(commands):
        bad: Location = ListenAddress("tcp", "0")
        fault = Fault.GONE
    else:
        bad, fault = commands[kind], FAULTS[kind]
    waiting = LIMITS if fault is not Fault.GONE else Limits(arrival=0.05)
    with Table({0: greedy, 1: bad, 2: greedy}, limits=waiting, tell=lambda text: None) as table:
        final = await play_at_table(table, deal_match(GAME, list("abc"), SEED))
    assert [out.fault for out in final.ejected] == [fault], final.ejected


async def play_at_table(
    table: Table, match: AnyMatch, record: Record = NULL_RECORD, took: dict[int, list[float]] | None = None
) -> AnyMatch:
    """A match with the players of a table."""
    seating = await table.seat_players(match.game, match_id=match.id, turn_times=took, clock=record.clock)
    return await play_async(match, seating.channels, record)


def main(matches: int) -> None:
    """Print what is left behind."""
    with tempfile.TemporaryDirectory() as directory:
        soak(5 * PARALLEL_MATCHES, Path(directory))
        before, base, since = current_holdings(), memory_bytes(), time.perf_counter()
        soak(matches, Path(directory))
        print(f"{matches} matches with ejections in {time.perf_counter() - since:.0f} s")
    gone = is_cleaned_up(before)
    print(f"left behind: {new_holdings(before)}, {memory_bytes() - base >> 10} kB")
    sys.exit(not gone)


if __name__ == "__main__":
    main(int(sys.argv[1]))
