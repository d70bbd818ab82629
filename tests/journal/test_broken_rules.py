"""Test that an exception of a game's rules names the line of the journal that is read."""

from pathlib import Path

import pytest

from fairplay import BadJournal, Entrant
from fairplay.games import register
from fairplay.hosting.run import run
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from tests.cli.command import refusal_line, run_fairplay
from tests.games.external_games import forget_external_games
from tests.kit import countdown
from tests.kit.countdown import EXPECTED_ERROR, FIXED_NEXT, GAME_ADDRESS

__all__ = ["forget_external_games"]
pytestmark = pytest.mark.usefixtures("forget_external_games")
STUCK = f"line 5: the match cannot continue here: {EXPECTED_ERROR}"  # behind the opening, who sat down, and two facts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A match that was played when the rules had no mistake yet."""
    register(GAME_ADDRESS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(countdown, "NEXT", FIXED_NEXT)
        assert run(MatchSpec(game="countdown", entrants=(Entrant("random"),) * 2, journal=str(tmp_path))).result
    [path] = tmp_path.glob("*.jsonl")
    return path


def test_an_exception_of_the_rules_names_the_line_of_the_fact(path: Path) -> None:
    recorded = read_journal(path)

    with pytest.raises(BadJournal) as verified:
        verify(recorded)
    with pytest.raises(BadJournal) as replayed:
        recorded.match_after(None)

    assert str(verified.value) == str(replayed.value) == STUCK
    assert recorded.match_after(2).state.position == 3


def test_an_exception_of_the_deal_names_the_first_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(countdown.Countdown, "start", fail)

    with pytest.raises(BadJournal, match=r"line 1: no match can start like this: ZeroDivisionError\(\) in "):
        read_journal(path).match_after(0)


@pytest.mark.parametrize("verb", ["verify", "replay", "why", "resume"])
def test_the_command_says_so_in_one_line(verb: str, path: Path) -> None:
    assert refusal_line(run_fairplay(verb, str(path))) == f"{path}: {STUCK}"
