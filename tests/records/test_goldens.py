"""Test that the golden matches are still played in the same way."""

import pytest

from fairplay.games import GAMES
from tests.records.goldens import GOLDENS, HERE, playthrough_text


@pytest.mark.parametrize("name", GOLDENS)
def test_a_golden_match_is_played_as_ever(name: str) -> None:
    assert playthrough_text(GOLDENS[name]) == (HERE / f"{name}.txt").read_text(encoding="utf-8"), (
        "`make goldens`, if it is meant"
    )


def test_every_game_has_golden_matches_and_no_golden_is_left_over() -> None:
    assert {golden.game for golden in GOLDENS.values()} == set(GAMES)
    assert {path.stem for path in HERE.glob("*.txt")} == set(GOLDENS)
