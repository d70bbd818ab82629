"""Test that a bug in the rules of a game is a host fault, and that the match can be resumed after a fix."""

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
def test_an_exception_of_the_rules_is_a_host_fault_and_the_match_is_resumed_once_they_are_fixed(
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
def test_an_exception_while_dealing_is_a_host_fault(way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(GAME_ADDRESS)
    monkeypatch.setattr(countdown, "NEXT", {})

    outcome = way(MatchSpec(game="countdown", entrants=(Entrant(PLAYER_ADDRESS),) * 2, journal=str(tmp_path)))

    assert outcome.result is None
    assert outcome.host_fault.startswith("countdown cannot be played: ValueError(")
    assert list(tmp_path.iterdir()) == []


def test_an_exception_of_the_rules_is_located_in_one_line(tmp_path: Path) -> None:
    done = run_fairplay("play", "--game", GAME_ADDRESS, "random", "random", "--quiet", "--journal", str(tmp_path))

    [path] = tmp_path.glob("*.jsonl")
    on = f"to go on with the match: fairplay resume {path} --game {GAME_ADDRESS}"
    assert (done.code, done.out) == (3, "")
    assert done.err == f"fairplay: countdown cannot be played: {EXPECTED_ERROR}; {on}\n"
