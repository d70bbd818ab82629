"""Test that concurrent matches and forked processes do not disturb each other's journals."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from fairplay import Event, Started
from fairplay.core.messages import Answer, Answered, Message
from fairplay.core.roles import CloseReason
from fairplay.journal.append_file import Disk
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal, MatchRecord
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.referee.conversation import Call, MakeDurable, conversation
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from tests.journal.journals import GAME, SEED, TABLES, AnyMatch, read_lines

MANY = 200  # matches
WAIT = 10.0  # seconds until a test fails


def named(number: int) -> AnyMatch:
    """A match with an id and names of its own."""
    players = len(list(TABLES.values())[number % len(TABLES)]())
    return deal_match(GAME, [f"{number}-{seat}" for seat in range(players)], SEED, match_id=f"match-{number}")


def step_by_step(
    match: AnyMatch, table: str, record: MatchRecord, told: list[Event]
) -> Generator[None, None, AnyMatch]:
    """Play a match, and let others go on after every request."""
    script = conversation(match, record, lambda event, _: told.append(event))
    channels = [LocalChannel(player, GAME) for player in TABLES[table]()]
    request = next(script)
    while True:
        yield
        answer: Answer = Answered(None)
        if isinstance(request, Call):
            answer = channels[request.seat].ask(request.message)
        elif isinstance(request, MakeDurable):
            record.make_durable()
        try:
            request = script.send(answer)
        except StopIteration as end:
            final: AnyMatch = end.value
            return final


def is_its_own(record: MatchRecord, final: AnyMatch) -> bool:
    """Does a file hold this match, and nothing of another?"""
    recorded = read_journal(record.path)
    return verify(recorded) == final and recorded.names == final.names


@pytest.mark.parametrize("sync", Durability)
def test_matches_that_take_turns_never_get_into_one_anothers_file(sync: Durability, tmp_path: Path) -> None:
    journal = Journal(tmp_path, sync=sync)
    matches = [named(number) for number in range(len(TABLES))]
    records = [journal.begin(match) for match in matches]
    told: list[list[Event]] = [[] for _ in matches]
    going = {
        number: step_by_step(match, table, records[number], told[number])
        for number, (match, table) in enumerate(zip(matches, TABLES, strict=True))
    }
    finals: dict[int, AnyMatch] = {}

    while going:
        for number, steps in tuple(going.items()):
            try:
                next(steps)
            except StopIteration as end:
                finals[number] = end.value
                del going[number]
                records[number].close()

    assert len(list(tmp_path.iterdir())) == len(matches)
    for number, record in enumerate(records):
        assert is_its_own(record, finals[number])
        assert told[number][1:-1] == list(read_journal(record.path).facts)


class Polite:
    """A channel that lets other matches go on before it asks."""

    def __init__(self, channel: LocalChannel) -> None:
        self._channel = channel

    async def ask(self, message: Message) -> Answer:
        await asyncio.sleep(0)
        return self._channel.ask(message)

    async def close(self, reason: CloseReason) -> None:
        await asyncio.sleep(0)


@pytest.mark.parametrize("sync", Durability)
def test_matches_in_one_event_loop_never_get_into_one_anothers_file(sync: Durability, tmp_path: Path) -> None:
    journal = Journal(tmp_path, sync=sync)

    async def played(number: int, table: str) -> tuple[MatchRecord, AnyMatch]:
        match, channels = named(number), [Polite(LocalChannel(player, GAME)) for player in TABLES[table]()]
        with journal.begin(match) as record:
            return record, await play_async(match, channels, record)

    async def together() -> list[tuple[MatchRecord, AnyMatch]]:
        return await asyncio.gather(*(played(number, table) for number, table in enumerate(TABLES)))

    done = asyncio.run(together())

    assert len({record.path for record, _ in done}) == len(TABLES)
    assert all(is_its_own(record, final) for record, final in done)


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "fairplay-sync"]


def test_however_many_matches_are_recorded_one_thread_syncs_them(tmp_path: Path) -> None:
    began, go_on = threading.Event(), threading.Event()

    class Holding(Disk):
        def sync(self, file: int) -> None:
            began.set()
            assert go_on.wait(WAIT)
            super().sync(file)

    others = set(threading.enumerate()) - set(ours())
    journal = Journal(tmp_path, disk=Holding())
    records = [journal.begin(named(number)) for number in range(MANY)]
    for record in records:
        record.write(Started(()), None, None)
    assert began.wait(WAIT)

    during = set(threading.enumerate()) - others
    go_on.set()
    for record in records:
        record.close()

    assert [thread.name for thread in during] == ["fairplay-sync"]
    assert all(len(read_lines(record.path)) == 2 for record in records)


FORKING = """
import os, sys, threading
from pathlib import Path
from fairplay import Started
from fairplay.journal.record import Journal
from fairplay.games.fish import Fish
from fairplay.journal.append_file import Disk
from fairplay.referee.referee import deal_match

class Noting(Disk):
    def __init__(self, held):
        self.synced, self.began, self.go_on = [], threading.Semaphore(0), threading.Semaphore(0 if held else 1000)

    def sync(self, file):
        self.synced.append(os.readlink(f"/proc/self/fd/{file}"))
        self.began.release()
        assert self.go_on.acquire(timeout=10)
        super().sync(file)

def begun(directory, number, disk):
    match = deal_match(Fish(), ["ann", "bob"], bytes(32), match_id=f"match-{number}")
    record = Journal(directory, disk=disk).begin(match)
    record.write(Started(match.names), None, None)
    return record

directory, held = Path(sys.argv[1]), Noting(held=True)
parents = [begun(directory / "parent", 0, held)]
assert held.began.acquire(timeout=10)  # the thread is in the middle of syncing this one
parents += [begun(directory / "parent", number, held) for number in (1, 2)]  # and has yet to sync these
child = os.fork()
if child == 0:
    before = list(held.synced)
    free = Noting(held=False)
    own = [begun(directory / "child", number, free) for number in (3, 4)]
    both = all(free.began.acquire(timeout=10) for _ in own)
    mine = {str(record.path.resolve()) for record in own}
    os._exit(0 if both and set(free.synced) == mine and held.synced == before else 1)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
for _ in range(1000):
    held.go_on.release()
for record in parents:
    record.close()
print("parent", sorted(Path(path).stem for path in set(held.synced)))
"""


def test_a_process_that_was_forked_syncs_its_own_files_and_not_those_of_its_parent(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORKING, tmp_path], capture_output=True, text=True, timeout=60)

    assert (done.stderr, done.stdout.splitlines()) == (
        "",
        ["child 0", "parent ['match-0', 'match-1', 'match-2']"],
    )
    for path in (tmp_path / "parent").iterdir():
        assert len(read_lines(path)) == 2
        assert read_journal(path).torn_bytes == 0
