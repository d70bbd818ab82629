"""Test the tiles of Q, and the points of placements against points that were counted by hand."""

from itertools import pairwise, product

import pytest

from fairplay.core.chance import seed_from_text
from fairplay.games.q import Q
from fairplay.games.q.board import cell_at, map_of, score_of
from fairplay.games.q.draft import draft_of
from fairplay.games.q.pieces import BETWEEN, COLOURS, COPIES, HAND_SIZE, KINDS, NAMES, NONE, SHAPES
from tests.games.q.positions import (
    QGAME,
    Laid,
    all_tiles,
    make_placement,
    make_position,
    placed_tiles,
    play_actions,
    tile_column,
    tile_row,
    transpose,
)
from tests.nonempty import nonempty

Tile = tuple[str, str]  # shape and colour
TILES: list[Tile] = [(shape, colour) for shape in SHAPES for colour in COLOURS]


def fits(tile: Tile, one: Tile | None, other: Tile | None) -> bool:
    """Letter by letter: with no neighbour, with one, with two."""
    neighbours = [neighbour for neighbour in (one, other) if neighbour is not None]
    if not neighbours:
        return True
    same_shape = [neighbour[0] == tile[0] for neighbour in neighbours]
    same_colour = [neighbour[1] == tile[1] for neighbour in neighbours]
    return all(same_shape) or all(same_colour)


def test_tiles_are_in_order_by_shape_and_then_by_colour() -> None:
    keys = [(SHAPES.index(name.split()[1]), COLOURS.index(name.split()[0])) for name in NAMES]

    assert keys == sorted(keys)
    assert all(one < other for one, other in pairwise(keys))
    assert (NAMES[0], NAMES[1], NAMES[6], NAMES[-1]) == ("red star", "green star", "red 8star", "purple diamond")
    assert len(NAMES) == NONE == 36


def test_what_fits_between_what_is_as_defined_for_every_pair_of_neighbours() -> None:
    sides: list[Tile | None] = [*TILES, None]

    for (one, first), (other, second) in nonempty(product(enumerate(sides), repeat=2)):
        by_table = {TILES[kind] for kind in range(NONE) if BETWEEN[one][other] >> kind & 1}

        assert by_table == {tile for tile in TILES if fits(tile, first, second)}, (first, second)
        assert BETWEEN[one][other] >> NONE == 0


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_deal_has_30_of_each_kind_six_in_every_hand_and_one_on_the_map(seats: int) -> None:
    state = QGAME.deal(seats, seed_from_text("deal"))

    assert all_tiles(state) == sorted(list(range(NONE)) * COPIES)
    assert [len(hand) for hand in state.hands] == [HAND_SIZE] * seats == [6] * seats
    assert list(placed_tiles(state)) == [(0, 0)]
    assert (len(state.pile), state.scores, state.order) == (1080 - 1 - 6 * seats, (0,) * seats, tuple(range(seats)))


REDS = [f"red {shape}" for shape in SHAPES]
STARS = [f"{colour} star" for colour in COLOURS]

POINTS: dict[str, tuple[Laid, Laid, int]] = {  # what lies there, what is placed, and what that brings
    "a Q of shapes": (tile_row((0, 0), ", ".join(REDS[:5])), {(0, 5): REDS[5]}, 1 + 6 + 8),
    "a Q of colours": (tile_row((0, 0), ", ".join(STARS[:5])), {(0, 5): STARS[5]}, 1 + 6 + 8),
    "two Qs that cross": (
        {**tile_row((0, 0), ", ".join(REDS[1:])), **tile_column((1, -1), ", ".join(STARS[1:]))},
        {(0, -1): "red star"},
        1 + 6 + 6 + 8 + 8,
    ),
    "all shapes but with a seventh tile": (
        tile_row((0, 0), ", ".join([*REDS[:5], "-", "red star"])),
        {(0, 5): REDS[5]},
        1 + 7,
    ),
    "six tiles with a shape twice": (tile_row((0, 0), ", ".join(REDS[:5])), {(0, 5): REDS[0]}, 1 + 6),
}


@pytest.mark.parametrize("what", POINTS)
@pytest.mark.parametrize("is_turned", [False, True], ids=["as it is", "rows for columns"])
def test_a_placement_brings_its_points_and_a_bonus_for_finishing_as_drafts_know(what: str, is_turned: bool) -> None:
    lying, placed, points = POINTS[what]
    if is_turned:
        lying, placed = transpose(lying), transpose(placed)

    for kept, bonus in (("purple diamond", 0), ("", 4)):
        hand = ", ".join([*placed.values(), kept])
        state = make_position(lying, [hand, "red star"], "red star, red star, red star", scores=(100, 7))
        draft = draft_of(QGAME.view(state, 0))
        for at, name in placed.items():
            draft = draft.place(name, at)

        assert play_actions(state, make_placement(placed)).scores == (100 + points + bonus, 7)
        assert draft.score(q_bonus=8, finish_bonus=4) == points + bonus


def test_a_line_with_all_shapes_and_all_colours_brings_one_bonus() -> None:
    kinds = [KINDS[f"{colour} {shape}"] for colour, shape in zip(COLOURS, SHAPES, strict=True)]
    shown = map_of(((0, column), kind) for column, kind in enumerate(kinds))

    assert score_of(shown, [cell_at((0, 5))], 8) == 1 + 6 + 8


def test_the_bonuses_are_parameters() -> None:
    game = Q(q_bonus=60, finish_bonus=500)
    state = make_position(tile_row((0, 0), ", ".join(REDS[:5])), [REDS[5], "red star"])

    after = play_actions(state, make_placement({(0, 5): REDS[5]}), game=game)

    assert after.scores[0] == 1 + 6 + 60 + 500
