"""Test the points of placements in Q against points that were counted by hand."""

import pytest

from fairplay.games.q import Q
from fairplay.games.q.board import cell_at, map_of, score_of
from fairplay.games.q.draft import draft_of
from fairplay.games.q.pieces import COLOURS, KINDS, SHAPES
from tests.games.q.positions import QGAME, Laid, make_placement, make_position, play_actions, tile_column, tile_row
from tests.nonempty import nonempty

REDS = [f"red {shape}" for shape in SHAPES]
STARS = [f"{colour} star" for colour in COLOURS]
COMB = {**tile_row((0, 0), "red star, blue star, red star"), (1, 0): "red circle", (1, 2): "red clover"}
LADDER = {
    **tile_row((0, 0), "red star, red circle, red square"),
    **tile_row((2, 0), "red star, red circle, red square"),
}
FORK = {
    **tile_column((0, 0), "red star, red square, red diamond"),
    **tile_column((0, 2), "red star, red square, red diamond"),
}

POINTS: dict[str, tuple[Laid, Laid, int]] = {  # what lies there, what is placed, and what that brings
    "a tile beside a tile": ({(0, 0): "red star"}, {(0, 1): "red circle"}, 1 + 2),
    "above it": ({(0, 0): "red star"}, {(-1, 0): "red circle"}, 1 + 2),
    "two tiles in a line that counts once": ({(0, 0): "red star"}, tile_row((0, 1), "red circle, red square"), 2 + 3),
    "on both ends of a line": ({(0, 0): "red star"}, {(0, 1): "red circle", (0, -1): "red clover"}, 2 + 3),
    "in a row and a column": (
        {(0, 1): "red star", (1, 0): "red circle"},
        {(1, 1): "red clover"},
        1 + 2 + 2,
    ),
    "between two lines that become one": (tile_row((0, 0), "red star, -, red circle"), {(0, 1): "red square"}, 1 + 3),
    "with a gap, and two columns": (COMB, {(2, 0): "red square", (2, 2): "red diamond"}, 2 + 3 + 3),
    "with a gap that is filled by older tiles": (
        tile_row((0, 0), "red star, red circle"),
        {(0, -1): "red square", (0, 2): "red clover"},
        2 + 4,
    ),
    "with a gap, and two runs of a row": (
        FORK,
        {(1, -1): "red star", (1, 3): "red circle"},
        2 + 2 + 2,
    ),
    "a row with a column through each of its tiles": (
        LADDER,
        tile_row((1, 0), "red diamond, red diamond, red diamond"),
        3 + 3 + (3 + 3 + 3),
    ),
    "a Q of shapes": (tile_row((0, 0), ", ".join(REDS[:5])), {(0, 5): REDS[5]}, 1 + 6 + 8),
    "a Q of colours": (tile_row((0, 0), ", ".join(STARS[:5])), {(0, 5): STARS[5]}, 1 + 6 + 8),
    "a Q in a column": (tile_column((0, 0), ", ".join(STARS[1:])), {(-1, 0): STARS[0]}, 1 + 6 + 8),
    "a Q made at once": (tile_row((0, 0), REDS[0]), tile_row((0, 1), ", ".join(REDS[1:])), 5 + 6 + 8),
    "a Q closed in the middle": (
        tile_row((0, 0), ", ".join([*REDS[:2], "-", *REDS[3:]])),
        {(0, 2): REDS[2]},
        1 + 6 + 8,
    ),
    "two Qs that cross": (
        {**tile_row((0, 0), ", ".join(REDS[1:])), **tile_column((1, -1), ", ".join(STARS[1:]))},
        {(0, -1): "red star"},
        1 + 6 + 6 + 8 + 8,
    ),
    "two Qs in two columns": (
        {**tile_column((0, 0), ", ".join(REDS[:5])), **tile_column((0, 1), ", ".join(REDS[:5]))},
        tile_row((5, 0), f"{REDS[5]}, {REDS[5]}"),
        2 + 2 + (6 + 8) + (6 + 8),
    ),
    "all shapes but with a seventh tile": (
        tile_row((0, 0), ", ".join([*REDS[:5], "-", "red star"])),
        {(0, 5): REDS[5]},
        1 + 7,
    ),
    "six tiles with a shape twice": (tile_row((0, 0), ", ".join(REDS[:5])), {(0, 5): REDS[0]}, 1 + 6),
    "a Q that lies there already": (tile_row((0, 0), ", ".join(REDS)), {(1, 0): "red circle"}, 1 + 2),
    "five shapes": (tile_row((0, 0), ", ".join(REDS[:4])), {(0, 4): REDS[4]}, 1 + 5),
}


def hand_for(placed: Laid, *more: str) -> str:
    return ", ".join([*placed.values(), *more])


@pytest.mark.parametrize("what", POINTS)
def test_a_placement_brings_its_points(what: str) -> None:
    lying, placed, points = POINTS[what]
    state = make_position(lying, [hand_for(placed, "purple diamond"), "red star"], scores=(100, 7))

    after = play_actions(state, make_placement(placed))

    assert after.scores == (100 + points, 7)


@pytest.mark.parametrize("what", POINTS)
def test_rows_and_columns_count_alike(what: str) -> None:
    lying, placed, points = POINTS[what]
    turned = [{(column, row): name for (row, column), name in laid.items()} for laid in (lying, placed)]
    state = make_position(turned[0], [hand_for(placed, "purple diamond"), "red star"])

    after = play_actions(state, make_placement(turned[1]))

    assert after.scores[0] == points


@pytest.mark.parametrize("what", POINTS)
def test_a_placement_of_all_tiles_brings_the_bonus_for_finishing_as_well(what: str) -> None:
    lying, placed, points = POINTS[what]
    state = make_position(lying, [hand_for(placed), "red star"], "red star, red star, red star")

    after = play_actions(state, make_placement(placed))

    assert after.scores[0] == points + 4


@pytest.mark.parametrize("what", POINTS)
def test_a_draft_knows_its_points(what: str) -> None:
    lying, placed, points = POINTS[what]
    draft = draft_of(QGAME.view(make_position(lying, [hand_for(placed, "purple diamond"), "red star"]), 0))
    last = draft_of(QGAME.view(make_position(lying, [hand_for(placed), "red star"]), 0))

    for at, name in placed.items():
        draft, last = draft.place(name, at), last.place(name, at)

    assert draft.score(q_bonus=8, finish_bonus=4) == points
    assert last.score(q_bonus=8, finish_bonus=4) == points + 4


def test_a_line_with_all_shapes_and_all_colours_brings_one_bonus() -> None:
    kinds = [KINDS[f"{colour} {shape}"] for colour, shape in zip(COLOURS, SHAPES, strict=True)]
    shown = map_of(((0, column), kind) for column, kind in enumerate(kinds))

    assert score_of(shown, [cell_at((0, 5))], 8) == 1 + 6 + 8


def test_the_bonuses_are_parameters() -> None:
    game = Q(q_bonus=60, finish_bonus=500)
    state = make_position(tile_row((0, 0), ", ".join(REDS[:5])), [REDS[5], "red star"])

    after = play_actions(state, make_placement({(0, 5): REDS[5]}), game=game)

    assert after.scores[0] == 1 + 6 + 60 + 500


def test_neither_to_exchange_nor_to_pass_brings_points() -> None:
    state = make_position({(0, 0): "red star"}, ["red circle", "red clover"], "red star, red star", scores=(3, 4))

    for action in nonempty(list(QGAME.actions(QGAME.view(state, 0)))[:2]):
        assert play_actions(state, action).scores == (3, 4)


def test_the_bonus_for_finishing_does_not_depend_on_how_many_tiles_were_left() -> None:
    one = make_position({(0, 0): "red star"}, ["red circle", "red star"])
    two = make_position({(0, 0): "red star"}, ["red circle, red square", "red star"])

    scores = [
        play_actions(one, make_placement({(0, 1): "red circle"})).scores[0],
        play_actions(two, make_placement(tile_row((0, 1), "red circle, red square"))).scores[0],
    ]

    assert scores == [1 + 2 + 4, 2 + 3 + 4]
