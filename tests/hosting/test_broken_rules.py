"""Play by rules with a mistake in them: that is the host's fault, and the match goes on once they are mended."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fairplay import Entrant
from fairplay.games import register
from fairplay.hosting.run import run, run_async
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from tests.cli.command import run_fairplay
from tests.games.external_games import forget_external_games
from tests.kit import countdown
from tests.kit.countdown import EXPECTED_ERROR, FIXED_NEXT, GAME_ADDRESS, PLAYER_ADDRESS

__all__ = ["forget_external_games"]
pytestmark = pytest.mark.usefixtures("forget_external_games")


def awaited(spec: MatchSpec) -> Outcome:
    return asyncio.run(run_async(spec))


both_ways = pytest.mark.parametrize("way", [run, awaited], ids=["played", "awaited"])


@both_ways
def test_what_the_rules_raise_is_a_fault_of_the_host_and_the_match_goes_on_once_they_are_mended(
    way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(GAME_ADDRESS)
    spec = MatchSpec(game="countdown", entrants=(Entrant(PLAYER_ADDRESS),) * 2, id="m", journal=str(tmp_path))

    broken = way(spec)
    facts = len(read_journal(tmp_path / "m.jsonl").facts)
    monkeypatch.setattr(countdown, "NEXT", FIXED_NEXT)
    mended = way(spec)

    assert (broken.result, broken.host_fault) == (None, f"countdown cannot be played: {EXPECTED_ERROR}")
    assert facts == 2
    assert mended.result is not None
    assert (mended.host_fault, mended.result.ejected) == ("", ())
    assert len(verify(read_journal(tmp_path / "m.jsonl")).names) == 2


@both_ways
def test_so_it_is_if_nothing_can_be_dealt(way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(GAME_ADDRESS)
    monkeypatch.setattr(countdown, "NEXT", {})

    outcome = way(MatchSpec(game="countdown", entrants=(Entrant(PLAYER_ADDRESS),) * 2, journal=str(tmp_path)))

    assert outcome.result is None
    assert outcome.host_fault.startswith("countdown cannot be played: ValueError(")
    assert list(tmp_path.iterdir()) == []


def test_whoever_wrote_the_rules_is_told_in_one_line_where_the_mistake_is(tmp_path: Path) -> None:
    done = run_fairplay("play", "--game", GAME_ADDRESS, "random", "random", "--quiet", "--journal", str(tmp_path))

    [path] = tmp_path.glob("*.jsonl")
    on = f"to go on with the match: fairplay resume {path} --game {GAME_ADDRESS}"
    assert (done.code, done.out) == (3, "")
    assert done.err == f"fairplay: countdown cannot be played: {EXPECTED_ERROR}; {on}\n"
