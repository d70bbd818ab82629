"""Test that a ranking is fixed when the game is over, despite later failures and interruptions."""

from pathlib import Path
from typing import Any

import pytest

from fairplay import Moment
from fairplay.journal.ejection_report import ejection_reports
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.referee.referee import Referee
from tests.journal.forging import Forgery, refusal_of_forgery
from tests.journal.journals import (
    GAME,
    SEED,
    AnyMatch,
    FailsAtMoment,
    Plain,
    RecordFactory,
    first_action,
    read_lines,
    record_match,
)
from tests.nonempty import nonempty

SEATS = 3


class Interrupted:
    """Plays well, and the keyboard is hit when it hears the result."""

    def take_turn(self, view: Any) -> Any:
        return first_action(view)

    def end(self, result: Any) -> None:
        raise KeyboardInterrupt


@pytest.fixture
def undisturbed(tmp_path: Path) -> AnyMatch:
    return record_match(tmp_path / "undisturbed", [first_action] * SEATS)[1]


def winner_of(match: AnyMatch) -> int:
    return min(match.result.ranking[0])


def interrupted_at_the_end(directory: Path, at: int) -> Path:
    """A match whose game is over, of which nobody has heard the result, or all that come before this seat."""
    begin = RecordFactory(Journal(directory))
    players = [Interrupted() if seat == at else first_action for seat in range(SEATS)]
    with pytest.raises(KeyboardInterrupt):
        Referee().run(GAME, players, seed=SEED, record=begin)
    assert read_journal(begin.path).match_after(None).turn is None
    return begin.path


def gone_on_with(path: Path, failing: dict[int, Moment]) -> AnyMatch:
    again, recorded = Journal(path.parent).resume(path)
    match = recorded.match_after(None)
    with again:
        players = [
            FailsAtMoment(failing[seat]) if seat in failing else first_action for seat in sorted(match.remaining_seats)
        ]
        return Referee().resume(match, players, record=again)


def without(match: AnyMatch, *seats: int) -> tuple[frozenset[int], ...]:
    """The ranking of a match, from which some are struck out and nobody moves up."""
    return tuple(group - set(seats) for group in match.result.ranking)


@pytest.mark.parametrize("moment", [Moment.GREETING, Moment.END])
@pytest.mark.parametrize("seat", range(SEATS))
def test_a_failure_after_the_game_costs_the_rank_and_no_other_moves_up(
    seat: int, moment: Moment, undisturbed: AnyMatch, tmp_path: Path
) -> None:
    path = interrupted_at_the_end(tmp_path, winner_of(undisturbed))

    final = gone_on_with(path, {seat: moment})

    assert final.result.ranking == without(undisturbed, seat)
    assert [(out.seat, out.moment) for out in final.ejected] == [(seat, Moment.END)]
    assert verify(read_journal(path)) == final == read_journal(path).match_after(None)


def test_all_who_fail_when_the_game_is_over_are_struck_out(undisturbed: AnyMatch, tmp_path: Path) -> None:
    path = interrupted_at_the_end(tmp_path, winner_of(undisturbed))

    final = gone_on_with(path, dict.fromkeys(range(SEATS), Moment.GREETING))

    assert final.result.ranking == without(undisturbed, *range(SEATS))
    assert verify(read_journal(path)) == final


def test_a_failure_at_the_end_counts_the_same_wherever_the_end_was_interrupted(
    undisturbed: AnyMatch, tmp_path: Path
) -> None:
    failing, winner = {winner_of(undisturbed): Moment.GREETING}, winner_of(undisturbed)

    for seat in nonempty(range(SEATS)):
        path = interrupted_at_the_end(tmp_path / str(seat), seat)
        final = gone_on_with(path, failing)
        assert final.result.ranking == without(undisturbed, winner)
        assert verify(read_journal(path)) == final


def test_a_ranking_stays_fixed_when_the_end_is_interrupted_again(undisturbed: AnyMatch, tmp_path: Path) -> None:
    winner = winner_of(undisturbed)
    path = interrupted_at_the_end(tmp_path, winner)
    gone_on_with(path, {winner: Moment.GREETING})
    lines = path.read_bytes().splitlines(keepends=True)
    others = [seat for seat in range(SEATS) if seat != winner]

    path.write_bytes(b"".join(lines[:-1]))  # the result was never written
    final = gone_on_with(path, {others[0]: Moment.GREETING})

    assert final.result.ranking == without(undisturbed, winner, others[0])
    assert verify(read_journal(path)) == final


def test_before_the_game_is_over_a_greeting_is_a_greeting(undisturbed: AnyMatch, tmp_path: Path) -> None:
    path = interrupted_at_the_end(tmp_path, winner_of(undisturbed))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))  # without the last action

    final = gone_on_with(path, {winner_of(undisturbed): Moment.GREETING})

    assert [out.moment for out in final.ejected] == [Moment.GREETING]
    assert verify(read_journal(path)) == final


def test_an_ejection_report_shows_the_view_after_the_game(undisturbed: AnyMatch, tmp_path: Path) -> None:
    winner = winner_of(undisturbed)
    path = interrupted_at_the_end(tmp_path, winner)
    gone_on_with(path, {winner: Moment.GREETING})

    (report,) = ejection_reports(read_journal(path))

    assert (report.seat, report.moment, report.resumed) == (winner, Moment.END, True)
    assert report.shown is not None  # the view of the greeting


# Forgeries.


@pytest.fixture
def failed(undisturbed: AnyMatch, tmp_path: Path) -> Path:
    """A match that was interrupted at the end, and whose winner failed at the greeting when it was resumed."""
    winner = winner_of(undisturbed)
    path = interrupted_at_the_end(tmp_path, winner)
    gone_on_with(path, {winner: Moment.GREETING})
    return path


def moved_up(lines: list[Plain]) -> list[Plain]:
    """The ranking as if whoever failed had been out before the game was over."""
    result = lines[-1]["result"]
    ranking = [group for group in result["ranking"] if group]
    assert ranking != result["ranking"]
    return [*lines[:-1], {**lines[-1], "result": {**result, "ranking": ranking}}]


def at_the_greeting(lines: list[Plain]) -> list[Plain]:
    """That the ejection was one of an ordinary greeting, for which the game takes a player out."""
    (out,) = (line["fact"] for line in lines if line.get("fact", {}).get("type") == "ejected")
    out["moment"] = lines[-1]["result"]["ejected"][0]["moment"] = "greeting"
    return lines


def both(lines: list[Plain]) -> list[Plain]:
    return at_the_greeting(moved_up(lines))


@pytest.mark.parametrize("forgery", [moved_up, at_the_greeting, both])
def test_a_forged_journal_in_which_a_player_moved_up_is_refused(forgery: Forgery, failed: Path) -> None:
    whole = read_lines(failed)

    line, why = refusal_of_forgery(failed, forgery)

    ejection = next(line["seq"] + 1 for line in whole if line.get("fact", {}).get("type") == "ejected")
    assert (line, why) == (
        (len(whole), "this is not the result of the match")
        if forgery is moved_up
        else (ejection, "this is not how the referee judges it")
    )


def test_a_failure_at_the_end_is_illegal_while_the_match_is_not_over(failed: Path) -> None:
    def earlier(lines: list[Plain]) -> list[Plain]:
        """Put the interruption, and what came of it, in front of the last action."""
        (place,) = (line["seq"] for line in lines if line["type"] == "resumed")
        return [*lines[: place - 1], *lines[place:-1], lines[place - 1], lines[-1]]

    line, why = refusal_of_forgery(failed, earlier)

    assert read_lines(failed)[line - 1]["fact"]["moment"] == "end"
    assert why in ("this is not how the referee judges it", "this is not what the player was shown")


def test_a_failure_at_a_second_greeting_is_illegal_without_a_resumption(failed: Path) -> None:
    def uninterrupted(lines: list[Plain]) -> list[Plain]:
        opening, seated, *rest = (line for line in lines if line["type"] != "resumed")
        return [opening, seated, *(line for line in rest if line["type"] != "seated")]

    line, why = refusal_of_forgery(failed, uninterrupted)

    assert read_lines(failed)[line - 1]["fact"]["moment"] == "end"
    assert why == "this is not what the player was shown"
