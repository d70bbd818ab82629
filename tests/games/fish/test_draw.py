"""Test pictures of Fish, as SVG and as text."""

import random
import re
from collections import Counter
from functools import cache

import pytest

from fairplay.games.fish.draw import svg
from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import Stage, state_of
from fairplay.games.fish.terminal import text
from fairplay.games.fish.view import View
from tests.render.reading import SVG, part, shape, uses

SEED = bytes(range(32))

SMALL = View(
    None,
    state_of(
        [[3, 2, 0], [1, 5, 4], [2, 0, 3]],
        [[(0, 1)], [(1, 2)], [], [(2, 0)]],
        scores=[7, 12, 3, 104],
        order=[3, 0, 1],
    ),
)
SMALL_TEXT = r"""
    0   0   1   1   2   2
   ___     ___
0 / 3 \___/R 2\___     ___
1 \___/ 1 \___/ 5 \___/W 4\
2 /K 2\___/   \___/ 3 \___/
  \___/           \___/

 R  red    Ann      7 fish
 W  white  Bob     12 fish
 B  brown  brown    3 fish  ejected
 K  black  Dee    104 fish  to move
"""


def after(steps: int, *, seats: int = 3, game: Fish | None = None) -> View:
    game = game or Fish(rows=6, columns=6)
    state, lots = game.deal(seats, SEED), random.Random(1)
    for _ in range(steps):
        seat = game.turn(state)
        if seat is None:
            break
        state = game.apply(state, lots.choice(list(game.actions(game.view(state, seat)))))
    return game.view(state, None)


def shapes(picture: str) -> Counter[str]:
    """How often each shape is on the board, those within other shapes included."""

    @cache
    def within(name: str) -> Counter[str]:
        inner = [shape(use) for use in uses(picture, name)]
        found = Counter(inner)
        for one in inner:
            found.update(within(one))
        return found

    return within("board")


def test_a_small_position_is_drawn_as_text() -> None:
    assert text(SMALL, ["Ann", "Bob", "", "Dee"]) == SMALL_TEXT.strip("\n")


@pytest.mark.parametrize(
    ("steps", "rows", "columns"), [(0, 1, 1), (4, 1, 5), (4, 5, 1), (4, 100, 100), (12, 6, 6), (999, 6, 6)]
)
def test_every_fish_and_every_penguin_is_drawn(steps: int, rows: int, columns: int) -> None:
    view = after(steps, game=Fish(rows=rows, columns=columns, cramped=True))
    penguins = sum(map(len, view.state.penguins))
    board = "\n".join(text(view).splitlines()[:-4])

    drawn = shapes(svg(view))

    tiles = [int(name[-1]) for name in drawn.elements() if name.startswith(("free", "taken"))]
    assert sum(tiles) == sum(view.state.fish_at(cell) for cell in range(rows * columns))
    assert drawn["fish"] in (sum(tiles), 0)  # on huge boards there are shades
    assert sum(drawn[f"penguin{letter}"] for letter in "RWB") == penguins == len(re.findall("[RWB] [1-5]", board))
    assert len(text(view).splitlines()) == rows + 4 + 3


def test_the_player_with_most_fish_is_marked_at_the_end_even_if_an_ejected_one_has_more() -> None:
    state = state_of([[1, 2]], [(), (), ()], scores=[5, 9, 5], order=[0, 2])

    lines = text(View(None, state)).splitlines()

    assert state.stage is Stage.DONE
    assert [line.split("fish", 1)[1].strip() for line in lines[-3:]] == ["most fish", "ejected", "most fish"]


def test_a_colour_that_fish_does_not_know_is_drawn_too() -> None:
    view = View(None, state_of([[1, 2]], [[(0, 0)]], colours=["<pink>\x1b"]))

    assert shapes(svg(view))["penguin"] == shapes(svg(view))["bird"] == 1
    assert "/? 1\\" in text(view)


def marks(picture: str) -> list[tuple[str, str]]:
    """What is marked as new, and where: shapes by their names, lines by their course."""
    new = part(picture, "news")
    return [(shape(mark) or "line", mark.get("d") or f"{mark.get('x')} {mark.get('y')}") for mark in new]


def test_the_last_placement_or_move_is_marked_from_where_it_began_to_where_it_ended() -> None:
    placing = View(None, state_of([[1, 2, 3]], [[(0, 1)], []], stage=Stage.PLACING, each=1, order=[1, 0]))
    placed = View(None, state_of([[1, 2, 3]], [[(0, 1)], [(0, 2)]]))
    begun, moved = View(None, state_of([[1], [2], [3]], [[(0, 0)]])), View(None, state_of([[0], [2], [3]], [[(2, 0)]]))

    assert marks(svg(placed, before=placing)) == [("last", "240 0")]
    assert marks(svg(moved, before=begun)) == [
        ("line", "M0.00 0.00l0.00 34.64"),  # to the edge of the tile
        ("line", "M0.00 0.00l0.00 34.64"),
        ("left", "0 0"),
        ("last", "0 69.28"),
    ]
    assert marks(svg(moved, before=moved)) == []


def test_large_boards_have_digits_instead_of_fish_and_huge_ones_only_shades() -> None:
    def tile(size: int, *, small: bool) -> tuple[list[str | None], int]:
        ice = part(svg(after(0, game=Fish(rows=4, columns=size)), small=small), "free3")
        return [words.text for words in ice.iter(f"{SVG}text")], len(list(ice.iter(f"{SVG}use")))

    assert [tile(columns, small=False) for columns in (8, 40, 80)] == [([], 4), (["3"], 0), ([], 0)]
    assert [tile(columns, small=True) for columns in (3, 8, 40)] == [([], 4), (["3"], 0), ([], 0)]
