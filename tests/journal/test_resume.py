"""Test that a match is resumed in its own file, and by one process only."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay import BadRequest, Ejected, Fault, HostFault, Moment, Receipt, Started
from fairplay.journal.lines import Parent, Resumed
from fairplay.journal.options import Durability, Finished, InUse
from fairplay.journal.record import Journal, branch_match
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.referee.referee import Referee
from tests.journal.journals import (
    GAME,
    SEED,
    TABLES,
    EventCollector,
    first_action,
    read_lines,
    record_match,
    seal_lines,
)
from tests.nonempty import nonempty

LOCKING = """
import sys
from fairplay import Started
from fairplay.journal.record import Journal
record, recorded = Journal(".").resume(sys.argv[1])
record.write(Started(recorded.names), None, None)
print("mine", flush=True)
sys.stdin.read()
"""


def cut(path: Path, lines: int, torn: bytes = b"") -> Path:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]) + torn)
    return path


def go_on(path: Path, players: list[Any], *observers: Any) -> Any:
    """Resume a match in its file with these players, one for each seat that is still there."""
    referee = Referee()
    for observer in observers:
        referee.subscribe(observer)
    record, recorded = Journal(path.parent).resume(path)
    with record:
        return referee.resume(recorded.match_after(None), players, record=record)


def seat_again(path: Path) -> None:
    """Resume a match, and come no further than to the greeting."""
    record, recorded = Journal(path.parent).resume(path)
    with record:
        record.write(Started(recorded.names), None, None)


@pytest.mark.parametrize("torn", [b"", b"{", b'{"type":"fact","seq":', b"\0\0\0"])
def test_from_any_fact_the_match_comes_out_the_same(torn: bytes, tmp_path: Path) -> None:
    path, match = record_match(tmp_path, [first_action, first_action])
    whole = path.read_bytes()
    facts = read_journal(path).facts

    for lines in nonempty(range(1, len(facts) + 3)):
        path.write_bytes(whole)
        again = go_on(cut(path, lines, torn), [first_action, first_action])
        assert (again, read_journal(path).facts) == (match, facts)
        assert verify(read_journal(path)) == match


def test_a_resumption_is_a_line_with_the_next_epoch(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    cut(path, 6)

    for _ in range(3):
        seat_again(path)

    lines = read_journal(path).middle
    assert [line.epoch for line in lines if isinstance(line, Resumed)] == [2, 3, 4]
    assert read_journal(path).resumptions == (4, 4, 4)
    assert [facts for facts, _ in read_journal(path).seatings] == [
        0,
        4,
        4,
        4,
    ]  # behind each of them everybody sits again
    assert [line["seq"] for line in read_lines(path)] == list(range(12))


def test_a_player_that_is_missing_after_a_resumption_is_ejected_and_the_record_is_legal(tmp_path: Path) -> None:
    class Gone:
        def start(self, *_: Any) -> None:
            raise ConnectionError

        def take_turn(self, view: Any) -> Any:
            return first_action(view)

    path, _ = record_match(tmp_path, [first_action, first_action, first_action])

    match = go_on(cut(path, 9), [first_action, Gone(), first_action])

    assert [(out.seat, out.fault, out.moment) for out in match.ejected] == [(1, Fault.CRASHED, Moment.GREETING)]
    assert read_journal(path).facts[7] == match.ejected[0]
    assert verify(read_journal(path)) == match


def test_the_ejected_stay_out(tmp_path: Path) -> None:
    path, match = record_match(tmp_path, TABLES["one that cheats"]())

    again = go_on(cut(path, 10), [first_action, first_action])

    assert again.ejected == match.ejected != ()


def test_all_players_are_greeted_again_when_a_match_is_resumed(tmp_path: Path) -> None:
    watcher, greeted = EventCollector(), []

    class Polite:
        def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
            greeted.append((seat, view))

        def take_turn(self, view: Any) -> Any:
            return first_action(view)

    path, _ = record_match(tmp_path, [first_action, first_action])
    cut(path, 9)
    stands = read_journal(path).match_after(None)

    go_on(path, [Polite(), Polite()], watcher)

    assert watcher.events[0] == Started(stands.names, stands.commitment)
    assert watcher.matches[0] == stands
    assert sorted(greeted, key=lambda one: one[0]) == [(seat, stands.view(seat)) for seat in (0, 1)]


def test_a_branch_of_a_resumed_match_is_legal_too(tmp_path: Path) -> None:
    class Gone:
        def start(self, *_: Any) -> None:
            raise ConnectionError

        def take_turn(self, view: Any) -> Any:
            return first_action(view)

    path, _ = record_match(tmp_path, [first_action, first_action, first_action])
    go_on(cut(path, 9), [first_action, Gone(), first_action])
    recorded = read_journal(path)

    for facts in range(len(recorded.facts) + 1):
        match = branch_match(recorded, facts, ("x", "y", "z"))
        assert (match.names, match.state) == (("x", "y", "z"), recorded.match_after(facts).state)
        with Journal(tmp_path / "branches").branch(match, recorded, facts) as branch:
            final = Referee().resume(match, [first_action] * len(match.remaining_seats), record=branch)
        assert verify(read_journal(branch.path)) == final
        assert read_journal(branch.path).opening.parent == Parent(path.stem, facts)


def test_a_finished_match_and_a_damaged_one_are_refused_differently(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])

    with pytest.raises(Finished, match="this match is finished"):
        Journal(tmp_path).resume(path)


@pytest.mark.parametrize("lines", [1, 2, 5])
def test_a_resumption_whose_table_was_never_ready_leaves_the_file_as_it_was(lines: int, tmp_path: Path) -> None:
    path, match = record_match(tmp_path, [first_action, first_action])
    left = cut(path, lines).read_bytes()

    for _ in range(2):
        again, recorded = Journal(tmp_path).resume(path)
        again.close()
        assert path.read_bytes() == left
    again, recorded = Journal(tmp_path).resume(path)
    with again, pytest.raises(BadRequest, match="2 players are still at the table, not 1"):
        Referee().resume(recorded.match_after(None), [first_action], record=again)
    assert path.read_bytes() == left

    assert go_on(path, [first_action, first_action]) == match
    assert len(read_journal(path).resumptions) == 1  # by the one who did go on


def test_a_resumption_whose_table_was_never_ready_takes_away_no_more_than_a_torn_line(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    whole = cut(path, 5).read_bytes()
    cut(path, 5, b'{"type":"fact","seq":5,')

    again, _ = Journal(tmp_path).resume(path)
    again.close()

    assert path.read_bytes() == whole


def finished(path: Path) -> None:
    """Leave it as it is."""


def damaged(path: Path) -> None:
    cut(path, 6)
    path.write_bytes(path.read_bytes().replace(b'"seat":0', b'"seat":1', 1))


def illegal_but_chained(path: Path) -> None:
    lines = read_lines(path)[:6]
    lines[4]["fact"]["action"] = lines[2]["fact"]["action"]
    path.write_bytes(seal_lines(lines))


def an_end_that_is_not_torn(path: Path) -> None:
    cut(path, 6)
    path.write_bytes(path.read_bytes()[:-1] + b"#")


def an_end_that_was_changed_before_a_torn_line(path: Path) -> None:
    cut(path, 6)
    path.write_bytes(path.read_bytes()[:-1] + b'#{"type":"fact","seq":6')


def an_end_that_was_changed_before_a_line_that_lacks_only_its_end(path: Path) -> None:
    cut(path, 7)
    *lines, before, last, _ = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines, before + b"*" + last]))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (finished, "this match is finished"),
        (damaged, r"^line 3 \(byte \d+\): the hash does not fit"),
        (illegal_but_chained, "line 5: it was the turn|line 5: this is not legal"),
        (an_end_that_is_not_torn, r"^line 6 \(byte \d+\): the end of this line was changed"),
        (an_end_that_was_changed_before_a_torn_line, r"^line 6 \(byte \d+\): the end of this line was changed"),
        (
            an_end_that_was_changed_before_a_line_that_lacks_only_its_end,
            r"^line 6 \(byte \d+\): the end of this line was",
        ),
        (Path.unlink, "cannot be opened: No such file"),
    ],
)
def test_a_match_that_cannot_be_resumed_is_not_changed(spoil: Callable[[Path], None], why: str, tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    spoil(path)
    left = path.read_bytes() if path.exists() else None

    for _ in range(2):  # the lock is let go of, too
        with pytest.raises(BadRequest, match=why):
            Journal(tmp_path).resume(path)

    assert (path.read_bytes() if path.exists() else None) == left


def test_two_processes_cannot_resume_the_same_match(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    cut(path, 6)
    command = [sys.executable, "-c", LOCKING, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "mine\n"
        left = path.read_bytes()

        with pytest.raises(InUse, match="another process is playing this match"):
            Journal(tmp_path).resume(path)

        assert path.read_bytes() == left
        other.kill()
    go_on(path, [first_action, first_action])  # a lock does not outlive its process
    assert read_journal(path).resumptions == (4, 4)


def test_of_many_resumers_at_once_one_wins(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    cut(path, 6)

    command = [sys.executable, "-c", LOCKING, str(path)]
    racers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(5)
    ]
    said = [racer.stdout.readline() for racer in racers if racer.stdout]
    for racer in racers:
        racer.communicate()

    assert sorted(said) == ["", "", "", "", "mine\n"]
    assert read_journal(path).resumptions == (4,)


def test_a_writer_that_was_overtaken_stops_and_writes_nothing(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    cut(path, 6)
    stale, _ = Journal(tmp_path).resume(path)
    with path.open("ab") as file:  # as if locks meant nothing on this file system
        file.write(b"of somebody else\n")
    left = path.read_bytes()

    with pytest.raises(HostFault, match="another process has written to"):
        stale.write(Ejected(0, Fault.GONE, Moment.TURN, ""), None, None)
    with pytest.raises(HostFault):
        stale.write(Ejected(0, Fault.GONE, Moment.TURN, ""), None, None)

    assert path.read_bytes() == left


@pytest.mark.parametrize("sync", Durability)
def test_a_writer_that_is_overtaken_later_stops_when_all_of_its_own_is_durable(
    sync: Durability, tmp_path: Path
) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action, first_action])
    cut(path, 6)
    stale, _ = Journal(tmp_path, sync=sync).resume(path)
    stale.write(Ejected(0, Fault.GONE, Moment.TURN, ""), None, None)
    stale.make_durable()
    with path.open("ab") as file:
        file.write(b"of somebody else\n")
    left = path.read_bytes()

    with pytest.raises(HostFault, match="another process has written to"):
        stale.write(Ejected(1, Fault.GONE, Moment.TURN, ""), None, None)

    assert path.read_bytes() == left


def test_a_torn_end_is_gone_before_anything_is_added(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    whole = cut(path, 6).read_bytes()
    path.write_bytes(whole + b'{"type":"fact","seq":6,"at"')

    seat_again(path)

    assert path.read_bytes().startswith(whole + b'{"type":"resumed","seq":6,')
    assert read_journal(path).torn_bytes == 0


def test_players_and_observers_get_receipts_with_the_result(tmp_path: Path) -> None:
    heard: dict[int, Receipt] = {}

    class Keeping:
        def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
            self.seat = seat

        def take_turn(self, view: Any) -> Any:
            return first_action(view)

        def end(self, result: Any) -> None:
            assert result.seed == SEED.hex()
            heard[self.seat] = result.receipt

    watcher = EventCollector()
    path, _ = record_match(tmp_path, [Keeping(), Keeping()], watcher)

    recorded = read_journal(path)
    seq = len(recorded.heads) - 1
    final = watcher.events[-1].result.receipt  # type: ignore[union-attr]
    assert final == Receipt(seq, recorded.heads[-1])
    assert heard == dict.fromkeys((0, 1), Receipt(seq - 1, recorded.heads[-2]))  # the result is not written yet
    for receipt in (final, heard[0]):
        verify(recorded, receipt)


def test_without_a_record_there_is_no_receipt() -> None:
    watcher = EventCollector()
    referee = Referee()
    referee.subscribe(watcher)

    referee.run(GAME, [first_action, first_action], seed=SEED)

    assert watcher.events[-1].result.receipt is None  # type: ignore[union-attr]


def test_a_journal_that_is_dropped_leaves_no_file_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))

    for table in TABLES.values():
        Referee().run(GAME, table(), seed=SEED, record=Journal(tmp_path).begin)

    assert len(list(Path("/proc/self/fd").iterdir())) == before
