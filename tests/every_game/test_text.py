"""Test that every game's text for terminals fits the available space, at every scale."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from fairplay.core.game import Moment
from fairplay.games import GAMES, game_info, make_game
from fairplay.render.text import display_width, strip_colours
from tests.nonempty import nonempty

NAMES = ("Ann", "Bartholomew von und zu Habenichts", "安安安安安安安安安安", "\x1b[2Jé", "x" * 300)
LARGE = {"fish": {"rows": 25, "columns": 40}, "tsuro": {"size": 30}, "q": {}}
ROOMS = [(None, None), (80, None), (60, None), (40, None), (80, 24), (60, 24), (80, 45), (120, 30)]


@cache
def views(game: str, large: bool) -> tuple[Any, ...]:
    """What spectators see of a match at random: at the beginning, in the middle, at the end, and one action earlier."""
    rules, lots = make_game(game, LARGE[game] if large else {}), random.Random(4)
    state = rules.deal(4, bytes(32))
    seen = [rules.view(state, None)]
    for _ in range(120):
        seat = rules.turn(state)
        if seat is None:
            break
        actions = [action for action, _ in zip(rules.actions(rules.view(state, seat)), range(50), strict=False)]
        actions = [action for action in actions if not str(action).startswith(("passes", "exchanges"))] or actions
        state = rules.apply(state, lots.choice(actions)) if actions else rules.eject(state, seat, Moment.TURN)
        seen.append(rules.view(state, None))
    return tuple(seen)


def positions(game: str, large: bool) -> Iterator[tuple[Any, Any]]:
    seen = list(pairwise(views(game, large)))
    yield from [(None, seen[0][0]), *seen[:: len(seen) // 9], seen[-1]]


@pytest.mark.parametrize(("width", "height"), ROOMS)
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("game", GAMES)
def test_no_line_is_wider_and_no_text_higher_than_there_is_room_and_colour_adds_nothing_but_colour(
    game: str, large: bool, width: int | None, height: int | None
) -> None:
    text = game_info(game).text

    for before, view in nonempty(positions(game, large)):
        lines = text(view, NAMES[:4], width=width, height=height, before=before).split("\n")
        coloured = text(view, NAMES[:4], width=width, height=height, before=before, colour=True)
        assert strip_colours(coloured).split("\n") == lines != coloured.split("\n")
        assert width is None or max(map(display_width, lines)) <= width
        assert height is None or len(lines) <= height
        assert lines == [line.rstrip() for line in lines]
        assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(("width", "height"), ROOMS)
@pytest.mark.parametrize("game", GAMES)
def test_what_is_new_is_marked_and_within_the_room(game: str, width: int | None, height: int | None) -> None:
    text = game_info(game).text

    for before, view in nonempty(pairwise(views(game, True)[:12])):
        marked = text(view, width=width, height=height, before=before)
        assert marked != text(view, width=width, height=height, before=view)
        assert marked.count("[") > text(view, width=width, height=height, before=view).count("[") or "┌" in marked


@pytest.mark.parametrize("game", GAMES)
def test_whatever_is_left_out_is_said(game: str) -> None:
    text, view = game_info(game).text, views(game, True)[-1]

    assert "there is more: " in text(view, width=40, height=20)
    assert "there is more: " not in text(view)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_that_all_players_have_left_is_drawn(game: str) -> None:
    info, rules = game_info(game), make_game(game, {})
    state = rules.deal(3, bytes(32))
    for seat in range(3):
        state = rules.eject(state, seat, Moment.TURN)
    view = rules.view(state, None)

    assert info.text(view, ("Ann", "Bob", "Cyd")).count("ejected") == 3
    assert info.svg(view, ("Ann", "Bob", "Cyd")).count("ejected</text>") == 3
