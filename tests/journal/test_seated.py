"""Test that a journal records the players and conditions of a match before its first fact."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.journal.ejection_report import ejection_reports
from fairplay.journal.library import Query, find_matches
from fairplay.journal.lines import Resumed, Seated
from fairplay.journal.record import Journal
from fairplay.journal.replay import are_valid_names, find_seat, read_journal
from fairplay.journal.summary import Status
from fairplay.journal.verification import verify
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee, deal_match
from tests.journal.forging import edit_line, refusal_of_forgery
from tests.journal.journals import (
    GAME,
    SEED,
    AnyMatch,
    built_in_players,
    first_action,
    good_then,
    play_illegal_action,
    record_match,
)

OUT_OF_PLACE = "a second seating, or one with other names than the host gave, cannot stand here"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A match of three good players, who sit down on line 2."""
    return record_match(tmp_path, built_in_players("greedy", "random", "greedy"))[0]


@pytest.mark.parametrize("names", [[], ["a", "b"], ["a", "b", "c", "d"]])
def test_a_seating_of_more_or_fewer_players_is_named(names: list[str], path: Path) -> None:
    assert refusal_of_forgery(path, edit_line(2, names=names)) == (2, OUT_OF_PLACE)


@pytest.mark.parametrize(
    "change",
    [{"names": ["a", "a", "c"]}, {"names": ["a\x1b[2J", "b", "c"]}, {"enforced": ["strict"]}],
    ids=["two of one name", "no name that anybody can give itself", "enforced for one of three"],
)
def test_a_seating_that_cannot_be_is_named(change: dict[str, Any], path: Path) -> None:
    assert refusal_of_forgery(path, edit_line(2, **change)) == (2, OUT_OF_PLACE)


@pytest.mark.parametrize(("names", "can"), [(("ann", "eve"), True), (("ann", "tcp:1"), True), (("eve", "bob"), False)])
def test_the_labels_that_the_host_gave_are_kept(names: tuple[str, ...], can: bool, path: Path) -> None:
    opening = replace(read_journal(path).opening, names=("ann", "tcp:1"), players=("tcp:1", "tcp:1"))

    assert are_valid_names(Seated(1, 0.0, names), opening) is can


def test_a_second_seating_is_refused(path: Path) -> None:
    assert refusal_of_forgery(path, lambda lines: [*lines[:5], lines[1], *lines[5:]]) == (6, OUT_OF_PLACE)


def test_a_fact_before_the_seating_is_refused(path: Path) -> None:
    assert refusal_of_forgery(path, lambda lines: [lines[0], *lines[2:]]) == (
        2,
        "a fact before the players were seated cannot stand here",
    )


def test_a_fact_between_resumption_and_seating_is_refused(path: Path) -> None:
    resumed = {"type": "resumed", "seq": 0, "at": 0.0, "fairplay": "0", "epoch": 2}

    assert refusal_of_forgery(path, lambda lines: [*lines[:5], resumed, *lines[5:]]) == (
        7,
        "a fact before the players were seated cannot stand here",
    )


def with_guests(directory: Path, *, lines: int = 10**6) -> tuple[Path, AnyMatch]:
    """A match of two who were asked for by an address, and have names of their own; perhaps only its first lines."""
    match = deal_match(GAME, ["tcp:4000", "tcp:4000-2"], SEED)
    with Journal(directory).begin(match, limits={"turn": 5.0}, sandbox="strict") as begun:
        begun.enforced = ("", "strict")
        seated = replace(match, names=("ann", "bob"))
        final = play(
            seated, [LocalChannel(first_action, GAME), LocalChannel(good_then(2, play_illegal_action), GAME)], begun
        )
    kept = begun.path.read_bytes().splitlines(keepends=True)[:lines]
    begun.path.write_bytes(b"".join(kept))
    return begun.path, final


def gone_on_with(path: Path, *names: str, limits: dict[str, float] | None = None, sandbox: str = "") -> AnyMatch:
    """Play a match on with those who come back, under these names."""
    again, recorded = Journal(path.parent).resume(path)
    with again:
        again.set_resumed(2 + len(recorded.resumptions), limits, sandbox)
        return Referee().resume(
            replace(recorded.match_after(None), names=names), [first_action, first_action], record=again
        )


def test_people_have_the_names_that_they_sat_down_with(tmp_path: Path) -> None:
    path, final = with_guests(tmp_path)
    recorded = read_journal(path)

    assert recorded.opening.names == ("tcp:4000", "tcp:4000-2")
    assert recorded.names == recorded.match_after(0).names == verify(recorded).names == final.names == ("ann", "bob")
    assert (find_seat(recorded, "bob"), find_seat(recorded, "0")) == (1, 0)


def test_the_confinement_of_programs_is_on_record(tmp_path: Path) -> None:
    recorded = read_journal(with_guests(tmp_path)[0])

    assert [line.enforced for line in recorded.middle if isinstance(line, Seated)] == [("", "strict")]


def test_a_player_that_returns_with_another_name_keeps_it(tmp_path: Path) -> None:
    path, _ = with_guests(tmp_path, lines=5)

    final = gone_on_with(path, "ann", "eve")

    recorded = read_journal(path)
    assert recorded.seatings == ((0, ("ann", "bob")), (3, ("ann", "eve")))
    assert recorded.names == recorded.match_after(None).names == ("ann", "eve")
    assert verify(recorded) == final


def test_without_a_seating_players_have_the_requested_labels(tmp_path: Path) -> None:
    path, _ = with_guests(tmp_path, lines=1)

    assert read_journal(path).names == ("tcp:4000", "tcp:4000-2")


def test_conditions_are_on_record_and_stay_as_they_were(tmp_path: Path) -> None:
    path, _ = with_guests(tmp_path, lines=5)

    gone_on_with(path, "ann", "bob")

    recorded = read_journal(path)
    assert (recorded.limits, recorded.sandbox) == ({"turn": 5.0}, "strict")


def test_conditions_that_are_new_from_a_resumption_on_are_on_record(tmp_path: Path) -> None:
    path, _ = with_guests(tmp_path, lines=5)

    final = gone_on_with(path, "ann", "bob", limits={"turn": 9.0}, sandbox="none")

    recorded = read_journal(path)
    assert (recorded.limits, recorded.sandbox) == ({"turn": 9.0}, "none")
    assert recorded.opening.limits == {"turn": 5.0}
    assert [line.epoch for line in recorded.middle if isinstance(line, Resumed)] == [2]
    assert verify(recorded) == final


def test_a_library_and_an_ejection_report_call_people_by_the_names_that_they_have(tmp_path: Path) -> None:
    path, _ = with_guests(tmp_path)

    (found,) = find_matches(tmp_path, Query(players=("bob",)))
    (report,) = ejection_reports(read_journal(path))

    assert [seated.name for seated in found.seats] == ["ann", "bob"]
    assert (found.status, found.seats[1].fault) == (Status.FINISHED, report.fault)
    assert report.name == "bob"
