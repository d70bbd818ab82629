"""Test that an unfinished match is found, resumed by one process only, and keeps its ranking once the game is over."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fairplay import BadRequest, Ejected, Fault, HostFault, Moment, Started
from fairplay.core.messages import Start
from fairplay.journal.ejection_report import ejection_reports
from fairplay.journal.lines import Opening, Parent, Resumed
from fairplay.journal.options import Durability, Finished, InUse
from fairplay.journal.record import Journal, branch_match
from fairplay.journal.replay import read_journal
from fairplay.journal.unfinished_matches import find_unfinished
from fairplay.journal.verification import verify
from fairplay.referee.referee import Referee
from tests.journal.forging import Forgery, refusal_of_forgery
from tests.journal.journals import (
    GAME,
    SEED,
    TABLES,
    AnyMatch,
    EventCollector,
    FailsAtMoment,
    Plain,
    RecordFactory,
    Spy,
    cut_journal,
    first_action,
    read_lines,
    read_verified,
    record_match,
    resume_match,
    seal_lines,
)
from tests.nonempty import nonempty

TWO = [first_action, first_action]
EJECTED = Ejected(0, Fault.GONE, Moment.TURN, "")
RESUMER = """
import sys
from fairplay import Started
from fairplay.journal.record import Journal
record, recorded = Journal(".").resume(sys.argv[1])
record.write(Started(recorded.names), None, None)
print("mine", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A match of two that was interrupted after four facts."""
    path, _ = record_match(tmp_path, TWO)
    cut_journal(path, 6)
    return path


def greet_again(path: Path) -> None:
    """Resume a match, and come no further than to the greeting."""
    record, recorded = Journal(path.parent).resume(path)
    with record:
        record.write(Started(recorded.names), None, None)


def every_match(opening: Opening) -> bool:
    return True


def test_the_unfinished_are_found_the_oldest_first(tmp_path: Path) -> None:
    paths = [record_match(tmp_path, [first_action] * (2 + number % 2))[0] for number in range(6)]
    one, two, three = paths[::2]
    for path in (one, two, three):
        cut_journal(path, 5)

    assert find_unfinished(tmp_path, every_match) == [one, two, three]
    assert find_unfinished(tmp_path, lambda opening: opening.match == two.stem) == [two]
    assert find_unfinished(tmp_path / "none", every_match) == []
    with pytest.raises(HostFault, match=r"cannot read the journals in .*: Not a directory"):
        find_unfinished(one, every_match)


def test_a_match_is_unfinished_from_its_opening_to_its_last_byte(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, TWO)
    whole = path.read_bytes()
    opening, last = whole.index(b"\n") + 1, whole.rindex(b"\n", 0, -1) + 1

    for size in (opening, opening + 1, last - 1, last, last + 5, last + 30, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert find_unfinished(tmp_path, every_match) == [path]
    for size in (opening - 1, opening - 2, 1, 0):
        path.write_bytes(whole[:size])
        assert find_unfinished(tmp_path, every_match) == []


def test_other_files_are_not_unfinished_matches(tmp_path: Path) -> None:
    junk = (b"", b"\n", b"{}\n", b'{"type":"opening"', b"\xff\xfe\n", b"[" * 50000, b"\0" * 9999)
    for number, content in enumerate(junk):
        (tmp_path / f"junk-{number}.jsonl").write_bytes(content)
    (tmp_path / "directory.jsonl").mkdir()
    (tmp_path / "other.txt").write_text("hello")

    assert find_unfinished(tmp_path, every_match) == []


@pytest.mark.parametrize("torn", [b"", b"{", b'{"type":"fact","seq":', b"\0\0\0"])
def test_from_any_fact_the_match_comes_out_the_same(torn: bytes, tmp_path: Path) -> None:
    path, match = record_match(tmp_path, TWO)
    whole = path.read_bytes()
    facts = read_journal(path).facts

    for lines in nonempty(range(1, len(facts) + 3)):
        path.write_bytes(whole)
        cut_journal(path, lines, torn)
        assert (resume_match(path, TWO), read_journal(path).facts) == (match, facts)
        assert read_verified(path) == match


def test_a_resumption_is_a_line_with_the_next_epoch(path: Path) -> None:
    for _ in range(3):
        greet_again(path)

    recorded = read_journal(path)
    assert [line.epoch for line in recorded.middle if isinstance(line, Resumed)] == [2, 3, 4]
    assert recorded.resumptions == (4, 4, 4)
    assert [facts for facts, _ in recorded.seatings] == [0, 4, 4, 4]  # after each of them all players sit again
    assert [line["seq"] for line in read_lines(path)] == list(range(12))


def test_a_player_that_is_missing_after_a_resumption_is_ejected_and_branches_are_legal(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action] * 3)
    cut_journal(path, 9)

    match = resume_match(path, [first_action, FailsAtMoment(Moment.GREETING), first_action])

    recorded = read_journal(path)
    assert [(out.seat, out.fault, out.moment) for out in match.ejected] == [(1, Fault.CRASHED, Moment.GREETING)]
    assert recorded.facts[7] == match.ejected[0]
    assert verify(recorded) == match
    for facts in range(len(recorded.facts) + 1):
        left = branch_match(recorded, facts, ("x", "y", "z"))
        assert (left.names, left.state) == (("x", "y", "z"), recorded.match_after(facts).state)
        with Journal(tmp_path / "branches").branch(left, recorded, facts) as branch:
            final = Referee().resume(left, [first_action] * len(left.remaining_seats), record=branch)
        assert read_verified(branch.path) == final
        assert read_journal(branch.path).opening.parent == Parent(path.stem, facts)


def test_the_ejected_stay_out(tmp_path: Path) -> None:
    path, match = record_match(tmp_path, TABLES["one that cheats"]())
    cut_journal(path, 10)

    assert resume_match(path, TWO).ejected == match.ejected != ()


def test_all_players_are_greeted_again_when_a_match_is_resumed(path: Path) -> None:
    watcher, players = EventCollector(), [Spy(), Spy()]
    stands = read_journal(path).match_after(None)

    resume_match(path, players, watcher)

    assert watcher.events[0] == Started(stands.names, stands.commitment)
    assert watcher.matches[0] == stands
    assert [player.heard[0] for player in players] == [Start(n, stands.names, stands.view(n)) for n in (0, 1)]


@pytest.mark.parametrize(("lines", "torn"), [(1, b""), (2, b""), (5, b""), (5, b'{"type":"fact","seq":5,')])
def test_a_resumption_whose_table_was_never_ready_removes_no_more_than_a_torn_line(
    lines: int, torn: bytes, tmp_path: Path
) -> None:
    path, match = record_match(tmp_path, TWO)
    left = cut_journal(path, lines, torn).removesuffix(torn)

    for _ in range(2):
        again, recorded = Journal(tmp_path).resume(path)
        again.close()
        assert path.read_bytes() == left
    again, recorded = Journal(tmp_path).resume(path)
    with again, pytest.raises(BadRequest, match="2 players are still at the table, not 1"):
        Referee().resume(recorded.match_after(None), [first_action], record=again)
    assert path.read_bytes() == left

    assert resume_match(path, TWO) == match
    assert len(read_journal(path).resumptions) == 1


def finished(whole: bytes) -> bytes:
    return whole


def damage(whole: bytes) -> bytes:
    return whole.replace(b'"seat":0', b'"seat":1', 1)


def change_end(whole: bytes) -> bytes:
    return whole[:-1] + b"#"


def change_end_before_torn_line(whole: bytes) -> bytes:
    return whole[:-1] + b'#{"type":"fact","seq":6'


def change_end_before_line_that_lacks_only_its_end(whole: bytes) -> bytes:
    *lines, before, last = whole.removesuffix(b"\n").split(b"\n")
    return b"\n".join([*lines, before + b"*" + last])


@pytest.mark.parametrize(
    ("spoil", "lines", "why"),
    [
        (finished, 99, "this match is finished"),
        (damage, 6, r"^line 3 \(byte \d+\): the hash does not fit"),
        (change_end, 6, r"^line 6 \(byte \d+\): the end of this line was changed"),
        (change_end_before_torn_line, 6, r"^line 6 \(byte \d+\): the end of this line was changed"),
        (change_end_before_line_that_lacks_only_its_end, 7, r"^line 6 \(byte \d+\): the end of this line was"),
    ],
)
def test_a_match_that_cannot_be_resumed_is_not_changed(
    spoil: Callable[[bytes], bytes], lines: int, why: str, tmp_path: Path
) -> None:
    path, _ = record_match(tmp_path, TWO)
    path.write_bytes(spoil(cut_journal(path, lines)))
    left = path.read_bytes()

    for _ in range(2):  # the lock is let go of, too
        with pytest.raises(BadRequest, match=why) as refused:
            Journal(tmp_path).resume(path)

    assert isinstance(refused.value, Finished) == (spoil is finished)
    assert path.read_bytes() == left


def test_an_illegal_or_missing_match_is_not_resumed(path: Path) -> None:
    lines = read_lines(path)
    lines[4]["fact"]["action"] = lines[2]["fact"]["action"]
    path.write_bytes(seal_lines(lines))

    with pytest.raises(BadRequest, match=r"line 5: it was the turn|line 5: this is not legal"):
        Journal(path.parent).resume(path)
    path.unlink()
    with pytest.raises(BadRequest, match="cannot be opened: No such file"):
        Journal(path.parent).resume(path)


def test_of_many_resumers_at_once_one_wins_until_it_ends(path: Path) -> None:
    command, pipe = [sys.executable, "-c", RESUMER, str(path)], subprocess.PIPE
    racers = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) for _ in range(5)
    ]
    try:
        said = [racer.stdout.readline() for racer in racers if racer.stdout]
        left = path.read_bytes()
        with pytest.raises(InUse, match="another process is playing this match"):
            Journal(path.parent).resume(path)
    finally:
        for racer in racers:
            racer.kill()
            racer.communicate()

    assert sorted(said) == ["", "", "", "", "mine\n"]
    assert path.read_bytes() == left
    resume_match(path, TWO)  # a lock does not outlive its process
    assert read_journal(path).resumptions == (4, 4)


@pytest.mark.parametrize("sync", [None, *Durability])
def test_a_writer_that_was_overtaken_stops_and_writes_nothing(sync: Durability | None, path: Path) -> None:
    """At once, or later when all of its own is durable."""
    stale, _ = Journal(path.parent, sync=sync or Durability.BATCH).resume(path)
    if sync is not None:
        stale.write(EJECTED, None, None)
        stale.make_durable()
    with path.open("ab") as file:  # as if locks meant nothing on this file system
        file.write(b"of another process\n")
    left = path.read_bytes()

    with pytest.raises(HostFault, match="another process has written to"):
        stale.write(EJECTED, None, None)
    with pytest.raises(HostFault):
        stale.write(EJECTED, None, None)

    assert path.read_bytes() == left


def test_a_journal_that_is_dropped_leaves_no_file_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))

    for table in TABLES.values():
        Referee().run(GAME, table(), seed=SEED, record=Journal(tmp_path).begin)

    assert len(list(Path("/proc/self/fd").iterdir())) == before


# The ranking is fixed when the game is over.


SEATS = 3


@pytest.fixture
def undisturbed(tmp_path: Path) -> AnyMatch:
    return record_match(tmp_path / "undisturbed", [first_action] * SEATS)[1]


@pytest.fixture
def winner(undisturbed: AnyMatch) -> int:
    return min(undisturbed.result.ranking[0])


def interrupt_at_end(directory: Path, at: int) -> Path:
    """A match whose game is over, of which no seat from this one on has heard the result."""
    begin, trial = RecordFactory(Journal(directory)), Spy()
    record_match(directory, [trial if seat == at else first_action for seat in range(SEATS)])
    spy = Spy(limit=len(trial.heard) - 1)
    with pytest.raises(KeyboardInterrupt):
        Referee().run(GAME, [spy if seat == at else first_action for seat in range(SEATS)], seed=SEED, record=begin)
    assert read_journal(begin.path).match_after(None).turn is None
    return begin.path


def go_on(path: Path, failing: dict[int, Moment]) -> AnyMatch:
    remaining = sorted(read_journal(path).match_after(None).remaining_seats)
    final = resume_match(
        path, [FailsAtMoment(failing[seat]) if seat in failing else first_action for seat in remaining]
    )
    assert read_verified(path) == final == read_journal(path).match_after(None)
    return final


def ranking_without(match: AnyMatch, *seats: int) -> tuple[frozenset[int], ...]:
    """The ranking of a match, in which no other seat moves up."""
    return tuple(group - set(seats) for group in match.result.ranking)


@pytest.mark.parametrize("moment", [Moment.GREETING, Moment.END])
@pytest.mark.parametrize("seat", range(SEATS))
def test_a_failure_after_the_game_costs_the_rank_and_no_other_moves_up(
    seat: int, moment: Moment, undisturbed: AnyMatch, winner: int, tmp_path: Path
) -> None:
    final = go_on(interrupt_at_end(tmp_path, winner), {seat: moment})

    assert final.result.ranking == ranking_without(undisturbed, seat)
    assert [(out.seat, out.moment) for out in final.ejected] == [(seat, Moment.END)]


def test_all_that_fail_when_the_game_is_over_are_struck_out(undisturbed: AnyMatch, winner: int, tmp_path: Path) -> None:
    final = go_on(interrupt_at_end(tmp_path, winner), dict.fromkeys(range(SEATS), Moment.GREETING))

    assert final.result.ranking == ranking_without(undisturbed, *range(SEATS))


@pytest.mark.parametrize("at", range(SEATS))
def test_a_failure_at_the_end_counts_the_same_wherever_the_end_was_interrupted(
    at: int, undisturbed: AnyMatch, winner: int, tmp_path: Path
) -> None:
    final = go_on(interrupt_at_end(tmp_path, at), {winner: Moment.GREETING})

    assert final.result.ranking == ranking_without(undisturbed, winner)


@pytest.fixture
def failed(winner: int, tmp_path: Path) -> Path:
    """A match that was interrupted at the end, and whose winner failed at the greeting when it was resumed."""
    path = interrupt_at_end(tmp_path, winner)
    go_on(path, {winner: Moment.GREETING})
    return path


def test_a_ranking_stays_fixed_when_the_end_is_interrupted_again(
    undisturbed: AnyMatch, winner: int, failed: Path
) -> None:
    other = next(seat for seat in range(SEATS) if seat != winner)
    cut_journal(failed, len(read_lines(failed)) - 1)  # the result was never written

    final = go_on(failed, {other: Moment.GREETING})

    assert final.result.ranking == ranking_without(undisturbed, winner, other)


def test_before_the_game_is_over_a_greeting_is_a_greeting(winner: int, tmp_path: Path) -> None:
    path = interrupt_at_end(tmp_path, winner)
    cut_journal(path, len(read_lines(path)) - 1)  # without the last action

    final = go_on(path, {winner: Moment.GREETING})

    assert [out.moment for out in final.ejected] == [Moment.GREETING]


def test_an_ejection_report_shows_the_view_after_the_game(winner: int, failed: Path) -> None:
    (report,) = ejection_reports(read_journal(failed))

    assert (report.seat, report.moment, report.resumed) == (winner, Moment.END, True)
    assert report.shown is not None  # the view of the greeting


def move_up(lines: list[Plain]) -> list[Plain]:
    """The ranking as if the player that failed had been out before the game was over."""
    result = lines[-1]["result"]
    ranking = [group for group in result["ranking"] if group]
    assert ranking != result["ranking"]
    return [*lines[:-1], {**lines[-1], "result": {**result, "ranking": ranking}}]


def eject_at_greeting(lines: list[Plain]) -> list[Plain]:
    """Make the ejection one of an ordinary greeting, for which the game takes a player out."""
    (out,) = (line["fact"] for line in lines if line.get("fact", {}).get("type") == "ejected")
    out["moment"] = lines[-1]["result"]["ejected"][0]["moment"] = "greeting"
    return lines


def eject_before_last_action(lines: list[Plain]) -> list[Plain]:
    """Put the interruption, and what came of it, in front of the last action."""
    (place,) = (line["seq"] for line in lines if line["type"] == "resumed")
    return [*lines[: place - 1], *lines[place:-1], lines[place - 1], lines[-1]]


def hide_resumption(lines: list[Plain]) -> list[Plain]:
    opening, seated, *rest = (line for line in lines if line["type"] != "resumed")
    return [opening, seated, *(line for line in rest if line["type"] != "seated")]


@pytest.mark.parametrize(
    ("forgery", "why"),
    [
        (move_up, "this is not the result of the match"),
        (eject_at_greeting, "this is not how the referee judges it"),
        (lambda lines: eject_at_greeting(move_up(lines)), "this is not how the referee judges it"),
        (eject_before_last_action, "this is not how the referee judges it|this is not what the player was shown"),
        (hide_resumption, "this is not what the player was shown"),
    ],
    ids=["moved up", "at the greeting", "both", "before the last action", "without resumption"],
)
def test_a_forged_end_is_refused(forgery: Forgery, why: str, failed: Path) -> None:
    line, reason = refusal_of_forgery(failed, forgery)

    named = read_lines(failed)[line - 1]
    assert (named["type"] == "result") == (forgery is move_up)
    assert forgery is move_up or named["fact"]["type"] == "ejected"
    assert reason in why.split("|")
