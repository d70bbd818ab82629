"""Test all harnesses with all their cases: our own, and those of the courses if they are on this machine."""

import os
from pathlib import Path

import pytest

from fairplay.course.commands.harness import HARNESSES_BY_GAME
from fairplay.course.harness.cases import Case, read_cases, run_cases
from fairplay.games import GAMES

ROOT = Path(__file__).parents[3]
MADE = ROOT / "tests" / "cases"
COURSE = Path(os.environ.get("FAIRPLAY_SHARED") or ROOT.parent / "shared") / "cases" / "course"

ALL = [(game, harness) for game, harnesses in HARNESSES_BY_GAME.items() for harness in harnesses]
OVER_NETWORK = [("q", "xserver-xclients")]  # whose cases of the course are played several at a time elsewhere
OURS = [
    (game, harness, case)
    for game, harness in ALL
    for case in read_cases((MADE / game / f"{harness}.jsonl").read_bytes())
]


def test_every_game_has_harnesses_and_every_harness_has_cases_of_our_own() -> None:
    assert set(HARNESSES_BY_GAME) == set(GAMES)
    assert {(game, harness) for game, harness, _ in OURS} == set(ALL)
    assert {(path.parent.name, path.stem) for path in MADE.rglob("*.jsonl")} == set(ALL)


@pytest.mark.parametrize(("game", "harness", "case"), OURS, ids=[case.id for _, _, case in OURS])
def test_our_own_cases_pass(game: str, harness: str, case: Case) -> None:
    [outcome] = run_cases(HARNESSES_BY_GAME[game][harness], [case])

    assert outcome.passed, outcome


@pytest.mark.skipif(not COURSE.is_dir(), reason="the course's cases are not here: they are third-party data")
@pytest.mark.parametrize(("game", "harness"), [one for one in ALL if one not in OVER_NETWORK])
def test_the_cases_of_the_course_pass(game: str, harness: str) -> None:
    outcomes = list(
        run_cases(HARNESSES_BY_GAME[game][harness], read_cases((COURSE / game / f"{harness}.jsonl").read_bytes()))
    )

    assert outcomes
    assert [outcome for outcome in outcomes if not outcome.passed] == []
