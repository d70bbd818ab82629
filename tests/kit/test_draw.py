"""Test the pictures and texts of games of the kit."""

import re
from itertools import product
from typing import Any
from xml.etree import ElementTree

import pytest

from examples.games.connect_four import ConnectFour
from examples.games.tic_tac_toe import TicTacToe
from fairplay import Moment
from fairplay.kit import BoardGame, View
from fairplay.kit.draw import svg
from fairplay.kit.examples import random_match
from fairplay.kit.game import COLOURS
from fairplay.kit.roster import HUES, looks
from fairplay.kit.terminal import changed_places, text
from fairplay.render.colours import contrast, letter_colour
from fairplay.render.panel import SMALL, VIEWED
from fairplay.render.svg import document_size
from fairplay.render.text import display_width, strip_colours
from tests.hostile_names import NAMES
from tests.kit.nim import Heaps
from tests.nonempty import nonempty
from tests.render.reading import SVG
from tests.render.test_every_picture import ELEMENTS, READABLE, letters, markup

GAMES: dict[str, BoardGame[Any, Any]] = {
    "tic-tac-toe": TicTacToe(),
    "connect four": ConnectFour(),
    "a large board": ConnectFour(columns=20, height=20),
    "heaps": Heaps(),
}
LOOKS: list[dict[str, Any]] = [{"dark": dark, "small": small} for dark, small in product((False, True), repeat=2)]
ROOMS = [(None, None), (80, None), (40, None), (80, 24), (30, 12)]
each_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


def seen(game: BoardGame[Any, Any]) -> list[View[Any]]:
    """A match as spectators see it, and at last without its first player."""
    story = random_match(game)
    return [game.view(state, None) for state in (*story, game.eject(story[-1], 0, Moment.END))]


@each_game
@pytest.mark.parametrize(("width", "height"), ROOMS)
def test_text_marks_what_is_new_and_fits_into_the_room_and_colour_adds_nothing_else(
    game: BoardGame[Any, Any], width: int | None, height: int | None
) -> None:
    before, later, *_ = seen(game)
    marked = text(later, ("Ann", "Bob"), before=before)
    assert marked.count("[") == len(changed_places(later, before)) == marked.count("]") > 0
    assert "Ann" in marked and "[" not in text(later, ("Ann", "Bob"))
    for name in NAMES:
        for view in nonempty(seen(game)[::7]):
            shown = text(view, (name, "Bob"), width=width, height=height)
            lines = shown.split("\n")
            assert width is None or max(map(display_width, lines)) <= width
            assert height is None or len(lines) <= height
            assert all(line.isprintable() and line == line.rstrip() for line in lines)
            assert strip_colours(text(view, (name, "Bob"), width=width, height=height, colour=True)) == shown


@each_game
@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_pictures_are_made_of_shapes_and_words_that_can_be_read_and_names_are_text(
    game: BoardGame[Any, Any], look: dict[str, Any]
) -> None:
    views = seen(game)
    for name in NAMES:
        named, plain = (ElementTree.fromstring(svg(views[0], [one] * 2, **look)) for one in (name, "Ann"))
        assert [*markup(named)] == [*markup(plain)]
    for before, view in nonempty([(None, views[0]), (views[1], views[2]), (views[-2], views[-1])]):
        picture = svg(view, ("Ann", "Bob"), before=before, **look)
        root = ElementTree.fromstring(picture)
        ids = [part.get("id", "") for part in root.iter() if part.get("id")]
        used = re.findall(r'(?:href="|url\()#([^")]+)', picture)
        units = float(root.get("viewBox", "").split()[2])

        assert {part.tag.removeprefix(SVG) for part in root.iter()} <= {*ELEMENTS.split()}
        assert len({*ids}) == len(ids)
        assert used and {*used} <= {*ids}
        for height, said in nonempty(letters(picture)):
            assert height * (SMALL if look["small"] else VIEWED) / units >= READABLE or len(said) == 1, said


@each_game
@pytest.mark.parametrize("small", [False, True])
def test_pictures_of_a_match_have_one_size_and_differ_by_few_lines(game: BoardGame[Any, Any], small: bool) -> None:
    pictures = [svg(view, ("Ann", "Bob"), small=small) for view in seen(game)]
    light, dark = (svg(seen(game)[1], dark=one).splitlines() for one in (False, True))
    other = [place for place, lines in enumerate(zip(light, dark, strict=True)) if lines[0] != lines[1]]

    assert {document_size(picture) for picture in nonempty(pictures)} == {document_size(pictures[0])}
    assert 7 <= len(other) <= 12
    assert max(other) < light.index("</defs>")


def test_marks_say_how_it_stands_and_that_something_is_left_out() -> None:
    game, large = TicTacToe(), seen(GAMES["a large board"])[-1]
    start = game.deal(2, bytes(32))
    draw = game.unpack_state({"position": [0, 1, 0, 0, 1, 1, 1, 0, 0], "order": [1, 0], "seats": 2})
    ejected = text(game.view(game.eject(start, 0, Moment.TURN), None))

    assert "to move" in text(game.view(start, None))
    assert text(game.view(draw, None)).count("a draw") == 2
    assert "ejected" in ejected and "has won" in ejected
    assert "there is more: " in text(large, width=30, height=12)
    assert "there is more: " not in text(large)


def test_colours_are_known_and_signs_can_be_read_on_them() -> None:
    assert tuple(HUES) == COLOURS
    for _, paint in nonempty(HUES.values()):
        assert contrast(letter_colour(paint), paint) >= 4.5


def test_more_seats_than_signs_are_told_apart_by_numbers() -> None:
    game = Heaps()

    assert [look.letter for look in looks(game.view(game.deal(3, bytes(32)), None))] == ["a", "b", "2"]
