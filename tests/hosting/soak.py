"""Play many matches with players that fail at every distance, and look for what they leave behind.

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
from fairplay.core.roles import UNRECORDED, Record
from fairplay.games import game_with, title
from fairplay.hosting.table import Table
from fairplay.players.location import Command, Invitation, Location, Near
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play_async
from fairplay.referee.host import dealt
from fairplay.referee.referee import AnyMatch
from tests.players.programs import gained, holdings, nothing_left

SEED = bytes(range(32))
RULES = game_with("fish", {"rows": 4, "columns": 4})
LIMITS = Limits(move=30.0, start_up=30.0)
AT_ONCE = 8
ENDS = {"exit": "exit 3", "kill": "kill -9 $$", "linger": "sleep 60 & exit 1", "junk": "echo junk; sleep 60"}
FAULTS = [Fault.CRASHED, Fault.CRASHED, Fault.CRASHED, Fault.MALFORMED]


def memory() -> int:
    """Bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def soak(matches: int, directory: Path) -> None:
    """Play so many matches, in each of which somebody is ejected; no task is left when they are over."""
    commands = []
    for name, end in ENDS.items():
        program = directory / name
        program.write_text(f"#!/bin/sh\nread line\n{end}\n")
        program.chmod(0o755)
        commands.append(Command((str(program),)))

    async def some(number: int) -> None:
        await asyncio.gather(*(one(number + n, commands) for n in range(AT_ONCE)))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    for number in range(0, matches, AT_ONCE):
        asyncio.run(some(number))
    gc.collect()


async def one(number: int, commands: list[Command]) -> None:
    """Play a match with two good players, and one that fails in its own way."""
    greedy = Near(title("fish").house["greedy"].make("", SEED))
    kind = number % (len(commands) + 1)
    if kind == len(commands):
        bad: Location = Invitation("tcp", "0")
        fault = Fault.GONE
    else:
        bad, fault = commands[kind], FAULTS[kind]
    waiting = LIMITS if fault is not Fault.GONE else Limits(arrival=0.05)
    with Table({0: greedy, 1: bad, 2: greedy}, limits=waiting, tell=lambda text: None) as table:
        final = await played_at(table, dealt(RULES, list("abc"), SEED))
    assert [out.fault for out in final.ejected] == [fault], final.ejected


async def played_at(
    table: Table, match: AnyMatch, record: Record = UNRECORDED, took: dict[int, list[float]] | None = None
) -> AnyMatch:
    """A match with whoever sits down at a table."""
    seating = await table.seated(match.game, match_id=match.id, took=took, clock=record.clock)
    return await play_async(match, seating.channels, record)


def main(matches: int) -> None:
    """Print what is left behind."""
    with tempfile.TemporaryDirectory() as directory:
        soak(5 * AT_ONCE, Path(directory))
        before, base, since = holdings(), memory(), time.perf_counter()
        soak(matches, Path(directory))
        print(f"{matches} matches with ejections in {time.perf_counter() - since:.0f} s")
    gone = nothing_left(before)
    print(f"left behind: {gained(before)}, {memory() - base >> 10} kB")
    sys.exit(not gone)


if __name__ == "__main__":
    main(int(sys.argv[1]))
