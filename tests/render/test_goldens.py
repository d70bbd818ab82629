"""Test that the golden pictures are still drawn in the same way."""

from pathlib import Path

import pytest

from fairplay.games import GAMES
from tests.render.goldens import GOLDENS, HERE, POSITIONS, draw_position


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_a_golden_picture_is_drawn_as_ever(path: Path) -> None:
    name, look = GOLDENS[path]

    assert draw_position(name, **look) == path.read_text(encoding="utf-8"), "`make goldens`, if it is meant"


def test_every_game_has_golden_pictures_of_every_look_and_no_golden_is_left_over() -> None:
    looks = {(POSITIONS[name].game, *look) for name, look in GOLDENS.values()}

    assert looks == {(game, *look) for game in GAMES for look in ((), ("dark",), ("small",))}
    assert {*HERE.glob("*.svg")} == {path for path in GOLDENS if path.parent == HERE}
