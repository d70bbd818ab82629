"""Test how a match is recorded, and what happens if it cannot be."""

import errno
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay import Acted, BadRequest, Ejected, Ended, Event, Fault, HostFault, Moment, Receipt, Started, __version__
from fairplay.core.chance import seed_from_text
from fairplay.journal.append_file import Disk
from fairplay.journal.record import Journal
from fairplay.journal.reenactment import Unfinished
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.referee.referee import Referee
from tests.journal.journals import (
    GAME,
    SEED,
    TABLES,
    AnyMatch,
    EventCollector,
    RecordFactory,
    first_action,
    good_then,
    read_lines,
    record_match,
)
from tests.nonempty import nonempty

COMMON = {"type", "seq", "at"}
FACT = COMMON | {"took", "fact"}
OPENING = COMMON | {"format", "fairplay", "match", "game", "rules", "parameters", "names", "players"}
OPENING |= {"seed", "commitment"}


class World:
    """Time that passes only while players think."""

    def __init__(self) -> None:
        self.time = 1000.0

    def clock(self) -> float:
        return self.time

    def thinking(self, seconds: float) -> Callable[[Any], Any]:
        def take_turn(view: Any) -> Any:
            self.time += seconds
            return first_action(view)

        return take_turn


class FailingDisk(Disk):
    """A disk that fails at the n-th write, and only there."""

    def __init__(self, at: int, failure: int | None) -> None:
        self.calls = 0
        self._at = at
        self._failure = failure  # an errno; None: a short write

    def write(self, file: int, text: bytes) -> int:
        self.calls += 1
        if self.calls != self._at:
            return super().write(file, text)
        if self._failure is None:
            return super().write(file, text[: len(text) // 2])
        raise OSError(self._failure, os.strerror(self._failure))


def whole_facts(path: Path) -> list[Any]:
    """The facts in a file, whatever stands behind the last whole line."""
    lines = path.read_bytes().splitlines(keepends=True)
    entries = [json.loads(line) for line in lines if line.endswith(b"}\n")]
    return [entry["fact"] for entry in entries if entry["type"] == "fact"]


def test_a_journal_is_private_and_named_by_the_match(tmp_path: Path) -> None:
    before = os.umask(0)

    try:
        path, _ = record_match(tmp_path, [first_action, first_action])
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.name == f"{read_lines(path)[0]['match']}.jsonl"
    assert re.fullmatch("[0-9a-f]{32}", path.stem)


def test_the_opening_has_all_that_is_needed_to_begin_again(tmp_path: Path) -> None:
    begin = partial(Journal(tmp_path, now=lambda: 12.5).begin, players=["random", "./b.py"], guessable=True)

    match = Referee().run(
        GAME, [first_action, first_action], names=["ann", "bob"], seed=seed_from_text("7"), record=begin
    )

    assert read_lines(tmp_path / f"{match.id}.jsonl")[0] == {
        "type": "opening",
        "seq": 0,
        "at": 12.5,
        "format": 5,
        "fairplay": __version__,
        "match": match.id,
        "game": "fish",
        "rules": "1",
        "parameters": {
            "rows": 4,
            "columns": 4,
            "fish": "random",
            "holes": 0,
            "colours": "fixed",
            "cramped": False,
        },
        "names": ["ann", "bob"],
        "players": ["random", "./b.py"],
        "seed": seed_from_text("7").hex(),
        "commitment": sha256(seed_from_text("7") + match.id.encode()).hexdigest(),
        "guessable": True,
    }


@pytest.mark.parametrize("table", TABLES)
def test_there_is_one_line_per_fact_between_the_opening_and_the_result(table: str, tmp_path: Path) -> None:
    watcher = EventCollector()

    path, match = record_match(tmp_path, TABLES[table](), watcher)

    opening, seated, *facts, result = read_lines(path)
    assert set(opening) == OPENING - {"players"}  # nobody said what their addresses are
    assert (seated["type"], seated["names"]) == ("seated", list(match.names))
    assert set(seated) == COMMON | {"names"}  # nobody was kept in
    assert [line["type"] for line in facts] == ["fact"] * len(watcher.facts)
    assert all(
        COMMON | {"took", "fact"} <= set(line) <= COMMON | {"took", "fact", "shown", "answer", "evidence"}
        for line in facts
    )
    assert set(result) == COMMON | {"result"}
    assert [line["seq"] for line in read_lines(path)] == list(range(len(facts) + 3))
    assert [line["fact"]["seat"] for line in facts] == [fact.seat for fact in read_journal(path).facts]
    assert result["result"]["ranking"] == [sorted(group) for group in match.result.ranking]
    assert [ejected["seat"] for ejected in result["result"]["ejected"]] == [out.seat for out in match.result.ejected]


def test_every_fact_has_its_time_and_how_long_the_player_took(tmp_path: Path) -> None:
    world = World()
    journal = Journal(tmp_path, clock=world.clock, now=world.clock)

    path, _ = record_match(tmp_path, [world.thinking(2.0), world.thinking(0.5)], journal=journal)

    time = 1000.0
    opening, seated, *facts, result = read_lines(path)
    assert (opening["at"], seated["at"]) == (time, time)
    for line in facts:
        time += 2.0 if line["fact"]["seat"] == 0 else 0.5
        assert (line["at"], line["took"]) == (time, 2.0 if line["fact"]["seat"] == 0 else 0.5)
    assert result["at"] == time


@pytest.mark.parametrize("table", TABLES)
def test_the_chain_is_the_one_that_the_docs_describe(table: str, tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, TABLES[table]())

    before = b"0" * 64
    for line in nonempty(path.read_bytes().splitlines()):
        body = line[: line.rindex(b',"hash":"')]
        digest = json.loads(line)["hash"]
        assert digest == sha256(before + path.stem.encode() + body).hexdigest()
        before = digest.encode()


def test_a_refused_action_is_kept_so_that_it_can_be_judged_again(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, TABLES["one that cheats"]())

    refused = next(line for line in read_lines(path) if "answer" in line)

    assert refused["fact"]["fault"] == "illegal"
    assert refused["answer"] == {"type": "place", "at": [99, 99]}


def test_the_evidence_of_a_failure_is_recorded_but_not_public(tmp_path: Path) -> None:
    watcher = EventCollector()

    path, _ = record_match(tmp_path, TABLES["two that crash"](), watcher)

    crashed = [line for line in read_lines(path) if "evidence" in line]
    assert len(crashed) == 2
    assert all("what it said" in line["evidence"]["detail"] for line in crashed)
    assert "what it said" not in repr(watcher.events)


@pytest.mark.parametrize("table", TABLES)
def test_a_fact_is_in_the_file_before_observers_hear_it(table: str, tmp_path: Path) -> None:
    found: list[Event] = []

    class Reading:
        def observe(self, event: Event, match: AnyMatch) -> None:
            (path,) = tmp_path.iterdir()
            recorded = read_journal(path)
            match event:
                case Started(names):
                    assert recorded.opening.names == names
                    assert recorded.seatings == ((0, names),)
                case Acted() | Ejected():
                    assert recorded.facts[-1] == event
                case Ended(result):
                    assert recorded.closing is not None
                    assert recorded.closing.result == replace(result, receipt=None)
                    assert result.receipt == Receipt(len(recorded.heads) - 1, recorded.heads[-1])
            found.append(event)

    watcher = EventCollector()

    record_match(tmp_path, TABLES[table](), Reading(), watcher)

    assert found == watcher.events


def test_one_journal_takes_several_matches_with_a_file_each(tmp_path: Path) -> None:
    journal = Journal(tmp_path)

    paths = [record_match(tmp_path, TABLES[table](), journal=journal)[0] for table in TABLES]

    assert len(set(paths)) == len(TABLES) == len(list(tmp_path.iterdir()))
    assert len({verify(read_journal(path)).names for path in paths}) == 3  # for two, three and four players


def test_a_directory_that_is_not_there_is_made(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path / "games" / "today", [first_action, first_action])

    assert path.parent == tmp_path / "games" / "today"


@pytest.mark.parametrize("failure", [errno.ENOSPC, errno.EIO, None], ids=["no space", "input/output", "short write"])
def test_a_failing_disk_stops_the_match_and_blames_no_player(failure: int | None, tmp_path: Path) -> None:
    table, clean = TABLES["one at each moment"], EventCollector()
    path, _ = record_match(tmp_path, table(), clean)
    lines = len(path.read_bytes().splitlines())
    facts = whole_facts(path)

    for call in count(1):
        directory, watcher = tmp_path / str(call), EventCollector()
        journal = Journal(directory, disk=FailingDisk(call, failure))
        if call > lines:
            record_match(directory, table(), watcher, journal=journal)
            break
        with pytest.raises(HostFault, match="cannot be written"):
            record_match(directory, table(), watcher, journal=journal)
        assert watcher.facts == clean.facts[: max(0, call - 3)]  # the opening and the seating come before
        assert any(isinstance(event, Started) for event in watcher.events) == (call > 2)
        assert not any(isinstance(event, Ended) for event in watcher.events)
        (left,) = directory.iterdir()
        assert whole_facts(left) == facts[: max(0, call - 3)]

    assert watcher.facts == clean.facts
    assert isinstance(watcher.events[-1], Ended)


def test_nothing_follows_a_torn_line(tmp_path: Path) -> None:
    begin = RecordFactory(Journal(tmp_path, disk=FailingDisk(5, None)))
    with pytest.raises(HostFault):
        record_match(tmp_path, [first_action, first_action], begin=begin)
    torn = begin.path.read_bytes()
    assert not torn.endswith(b"\n")

    with pytest.raises(HostFault):
        begin.record.write(Ejected(0, Fault.GONE, Moment.TURN, ""), None, None)

    assert begin.path.read_bytes() == torn


def test_after_a_fault_of_the_disk_the_same_referee_and_journal_go_on(tmp_path: Path) -> None:
    referee, journal = Referee(), Journal(tmp_path, disk=FailingDisk(5, errno.ENOSPC))
    with pytest.raises(HostFault):
        referee.run(GAME, [first_action, first_action], seed=SEED, record=journal.begin)

    match = referee.run(GAME, [first_action, first_action], seed=SEED, record=journal.begin)

    assert verify(read_journal(tmp_path / f"{match.id}.jsonl")) == match


FULL_DISK = """
import resource, sys
from fairplay import Ejected, HostFault
from fairplay.journal.record import Journal
from fairplay.referee.referee import Referee
from fairplay.games.fish import Fish

class Printing:
    def observe(self, event, match):
        print(type(event).__name__, flush=True)

referee = Referee()
referee.subscribe(Printing())
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    players = [lambda view: next(Fish().actions(view))] * 2
    referee.run(Fish(), players, seed=bytes(32), record=Journal(sys.argv[1]).begin)
except HostFault as fault:
    print(fault)
"""


def test_a_file_that_may_not_grow_stops_the_match_too(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=True)

    (path,) = tmp_path.iterdir()
    *told, fault = done.stdout.splitlines()
    assert path.stat().st_size == 2000
    assert told == ["Started", *["Acted"] * len(whole_facts(path))]
    assert "cannot be written: only" in fault
    assert done.stderr == ""


def test_without_a_journal_no_player_is_called(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    called: list[Any] = []
    watcher = EventCollector()

    with pytest.raises(HostFault, match="cannot write journals in"):
        record_match(tmp_path / "file" / "games", [called.append, called.append], watcher)

    assert called == []
    assert watcher.events == []


def test_a_file_that_is_there_already_is_never_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    before = path.read_bytes()
    monkeypatch.setattr("fairplay.referee.referee.new_match_id", lambda: path.stem)

    with pytest.raises(BadRequest, match="a journal of a match with this id exists already"):
        record_match(tmp_path, [first_action, first_action])

    assert path.read_bytes() == before


def test_nothing_follows_the_result(tmp_path: Path) -> None:
    begin = RecordFactory(Journal(tmp_path))
    path, _ = record_match(tmp_path, [first_action, first_action], begin=begin)
    whole = path.read_bytes()

    with pytest.raises(HostFault):
        begin.record.write(Ejected(0, Fault.GONE, Moment.TURN, ""), None, None)

    assert path.read_bytes() == whole


def test_a_match_that_did_not_end_stays_unfinished(tmp_path: Path) -> None:
    def interrupt(view: Any) -> Any:
        raise KeyboardInterrupt

    begin = RecordFactory(Journal(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        record_match(tmp_path, [first_action, good_then(3, interrupt)], begin=begin)

    with pytest.raises(Unfinished, match="unfinished after fact 7"):
        verify(read_journal(begin.path))
