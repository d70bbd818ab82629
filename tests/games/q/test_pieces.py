"""Test the tiles of Q: their order, and which fit beside each other."""

from itertools import pairwise, product

import pytest

from fairplay.core.chance import seed_from_text
from fairplay.games.q.board import ALL_COLOURS, ALL_SHAPES, TRAITS, is_complete
from fairplay.games.q.pieces import BETWEEN, COLOURS, COPIES, HAND_SIZE, KINDS, NAMES, NONE, SHAPES, colour_of, shape_of
from tests.games.q.positions import QGAME, all_tiles, placed_tiles
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


def test_shapes_and_colours_are_in_the_order_of_the_rules() -> None:
    assert SHAPES == ("star", "8star", "square", "circle", "clover", "diamond")
    assert COLOURS == ("red", "green", "blue", "yellow", "orange", "purple")


def test_tiles_are_in_order_by_shape_and_then_by_colour() -> None:
    keys = [(SHAPES.index(name.split()[1]), COLOURS.index(name.split()[0])) for name in NAMES]

    assert keys == sorted(keys)
    assert all(one < other for one, other in pairwise(keys))
    assert (NAMES[0], NAMES[1], NAMES[6], NAMES[-1]) == ("red star", "green star", "red 8star", "purple diamond")


def test_there_are_36_kinds_each_with_its_own_name() -> None:
    assert (len(NAMES), len(set(NAMES)), NONE) == (36, 36, 36)
    assert all(KINDS[name] == kind for kind, name in enumerate(NAMES))
    assert [f"{COLOURS[colour_of(kind)]} {SHAPES[shape_of(kind)]}" for kind in range(NONE)] == list(NAMES)


def test_what_fits_between_what_is_as_defined_for_every_pair_of_neighbours() -> None:
    sides: list[Tile | None] = [*TILES, None]

    for (one, first), (other, second) in nonempty(product(enumerate(sides), repeat=2)):
        by_table = {TILES[kind] for kind in range(NONE) if BETWEEN[one][other] >> kind & 1}

        assert by_table == {tile for tile in TILES if fits(tile, first, second)}, (first, second)
        assert BETWEEN[one][other] >> NONE == 0


def test_a_tile_between_two_needs_the_shape_of_both_or_the_colour_of_both() -> None:
    red_star, red_circle, blue_star = KINDS["red star"], KINDS["red circle"], KINDS["blue star"]

    assert BETWEEN[red_circle][blue_star] == 0  # a red star has the colour of one and the shape of the other
    assert BETWEEN[red_circle][red_star] >> KINDS["red square"] & 1
    assert not BETWEEN[red_circle][red_star] >> KINDS["blue circle"] & 1


def test_traits_are_a_shape_and_a_colour() -> None:
    assert len(set(TRAITS)) == NONE
    assert all(traits & ALL_SHAPES and traits & ALL_COLOURS and traits.bit_count() == 2 for traits in TRAITS)


@pytest.mark.parametrize(
    ("whole", "kinds"),
    [
        (True, [KINDS[f"red {shape}"] for shape in SHAPES]),
        (True, [KINDS[f"{colour} clover"] for colour in COLOURS]),
        (True, [KINDS[f"{colour} {shape}"] for colour, shape in zip(COLOURS, SHAPES, strict=True)]),
        (False, [KINDS[f"red {shape}"] for shape in SHAPES[:5]]),
        (False, [KINDS[f"{colour} clover"] for colour in COLOURS[1:]]),
    ],
    ids=["all shapes", "all colours", "both", "five shapes", "five colours"],
)
def test_all_shapes_or_all_colours_make_a_whole(whole: bool, kinds: list[int]) -> None:
    traits = 0

    for kind in kinds:
        traits |= TRAITS[kind]

    assert is_complete(traits) is whole


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_deal_has_30_of_each_kind_six_in_every_hand_and_one_on_the_map(seats: int) -> None:
    state = QGAME.deal(seats, seed_from_text("deal"))

    assert all_tiles(state) == sorted(list(range(NONE)) * COPIES)
    assert [len(hand) for hand in state.hands] == [HAND_SIZE] * seats == [6] * seats
    assert list(placed_tiles(state)) == [(0, 0)]
    assert (len(state.pile), state.scores, state.order) == (1080 - 1 - 6 * seats, (0,) * seats, tuple(range(seats)))


def test_another_seed_is_another_deal() -> None:
    assert len({QGAME.deal(4, seed_from_text(str(number))).hands for number in range(50)}) == 50
