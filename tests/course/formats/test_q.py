"""Test the conversion of the course's JSON of Q to our positions, and back."""

from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.course.formats.plain import read
from fairplay.course.formats.q import (
    Choice,
    CourseMap,
    CourseState,
    CourseView,
    format_choice,
    format_map,
    format_state,
    frame_for,
    parse_choice,
    parse_map,
    parse_state,
    parse_view,
)
from fairplay.games.q.actions import Action, Exchange, Pass, Place, Placement
from fairplay.games.q.board import Map, position_of
from fairplay.games.q.pieces import KINDS, NAMES
from fairplay.games.q.state import State
from fairplay.games.q.view import View

RED_STAR = {"color": "red", "shape": "star"}
BLUE_8STAR = {"color": "blue", "shape": "8star"}
GREEN_STAR = {"color": "green", "shape": "star"}
MAP = [[-1, [0, GREEN_STAR]], [0, [-2, BLUE_8STAR], [0, RED_STAR]]]
ANN = {"name": "ann", "score": 7, "tile*": [BLUE_8STAR, RED_STAR]}
BOB = {"name": "bob", "score": 0, "tile*": []}
HUGE = 10**40


def plain_state(**change: Any) -> Any:
    return {"map": MAP, "players": [ANN, BOB], "tile*": [GREEN_STAR, RED_STAR], **change}


def plain_view(**change: Any) -> Any:
    return {"map": MAP, "players": [ANN, 3, 0], "tile*": 9, **change}


def map_in(plain: Any) -> Map:
    return parse_map(read(plain, CourseMap, "a map of Q"))


def state_in(plain: Any) -> State:
    return parse_state(read(plain, CourseState, "a state of Q"))


def view_in(plain: Any) -> View:
    return parse_view(read(plain, CourseView, "a public state of Q"))


def tiles_on(shown: Map) -> dict[tuple[int, int], str]:
    return {position_of(cell): NAMES[kind] for cell, kind in shown.tiles.items()}


def test_a_map_survives_the_round_trip() -> None:
    shown = map_in(MAP)

    assert tiles_on(shown) == {(-1, 0): "green star", (0, -2): "blue 8star", (0, 0): "red star"}
    assert format_map(shown) == MAP


def test_rows_and_columns_may_come_in_any_order_and_are_written_sorted() -> None:
    assert format_map(map_in([[0, [0, RED_STAR], [-2, BLUE_8STAR]], [-1, [0, GREEN_STAR]]])) == MAP


@pytest.mark.parametrize(
    "plain",
    [
        [[0, [0, RED_STAR], [1, BLUE_8STAR], [0, GREEN_STAR]]],
        [[0, [0, RED_STAR]], [0, [1, BLUE_8STAR], [0, GREEN_STAR]]],
    ],
)
def test_where_two_tiles_lie_on_one_place_the_later_one_counts(plain: Any) -> None:
    assert tiles_on(map_in(plain)) == {(0, 0): "green star", (0, 1): "blue 8star"}


def test_a_map_need_not_hang_together() -> None:
    assert len(map_in([[0, [0, RED_STAR]], [100, [7, BLUE_8STAR]]]).tiles) == 2


def test_a_state_survives_the_round_trip() -> None:
    state = state_in(plain_state())

    assert format_state(state, ["ann", "bob"]) == plain_state()
    assert (state.order, state.to_act, state.scores, state.placed) == ((0, 1), 2, (7, 0), False)
    assert state.pile == (KINDS["green star"], KINDS["red star"])


def test_a_formatted_state_starts_with_the_player_on_turn_and_omits_players_that_left() -> None:
    state = replace(state_in(plain_state()), order=(1, 0))

    assert format_state(state, ["ann", "bob"])["players"] == [BOB, ANN]
    assert format_state(replace(state, order=(1,)), ["ann", "bob"])["players"] == [BOB]


def test_players_may_have_no_names() -> None:
    nameless = {"score": 7, "tile*": [RED_STAR]}

    assert state_in(plain_state(players=[nameless, nameless])).hands == ((KINDS["red star"],),) * 2
    assert view_in(plain_view(players=[nameless, 0])).hand == ("red star",)


def test_there_may_be_more_tiles_than_in_the_box_and_scores_of_any_size() -> None:
    state = state_in(plain_state(players=[{**ANN, "score": HUGE}], **{"tile*": [RED_STAR] * 2000}))

    assert (len(state.pile), state.scores) == (2000, (HUGE,))
    assert view_in(plain_view(players=[ANN, HUGE], **{"tile*": HUGE})).left == HUGE


def test_a_view_survives_the_round_trip() -> None:
    view = view_in(plain_view())

    assert (view.seat, view.order, view.points, view.left) == (0, (0, 1, 2), (7, 3, 0), 9)
    assert view.hand == ("blue 8star", "red star")


@pytest.mark.parametrize(
    ("plain", "action"),
    [
        ("pass", Pass()),
        ("replace", Exchange()),
        ([], Place(())),
        (
            [
                {"coordinate": {"row": -1, "column": 2}, "1tile": RED_STAR},
                {"coordinate": {"row": -1, "column": 4}, "1tile": BLUE_8STAR},
            ],
            Place((Placement("red star", (-1, 2)), Placement("blue 8star", (-1, 4)))),
        ),
    ],
)
def test_a_choice_survives_the_round_trip(plain: Any, action: Action) -> None:
    assert parse_choice(read(plain, Choice, "a choice of Q")) == action
    assert format_choice(action) == plain


def test_all_36_tiles_have_their_names() -> None:
    tiles = [{"color": name.split()[0], "shape": name.split()[1]} for name in NAMES]

    assert state_in(plain_state(**{"tile*": tiles})).pile == tuple(range(36))


@pytest.mark.parametrize(
    ("plain", "kind", "says"),
    [
        (7, CourseState, "Expected `object`"),
        (plain_state(extra=1), CourseState, "extra"),
        ({"map": MAP, "players": [ANN]}, CourseState, "tile*"),
        (plain_state(players=[]), CourseState, "players"),
        (plain_state(players=[3]), CourseState, "players"),
        (plain_state(players=[{**ANN, "score": -1}]), CourseState, "score"),
        (plain_state(players=[{**ANN, "score": 1.5}]), CourseState, "score"),
        (plain_state(players=[{**ANN, "score": True}]), CourseState, "score"),
        (plain_state(players=[{**ANN, "name": 7}]), CourseState, "name"),
        (plain_state(players=[{**ANN, "name": None}]), CourseState, "name"),
        (plain_state(players=[{**ANN, "age": 7}]), CourseState, "age"),
        (plain_state(**{"tile*": [{"color": "pink", "shape": "star"}]}), CourseState, "pink"),
        (plain_state(**{"tile*": [{"colour": "red", "shape": "star"}]}), CourseState, "colour"),
        (plain_state(**{"tile*": 9}), CourseState, "tile*"),
        (plain_state(map=[]), CourseState, "map"),
        (plain_state(map=[[0]]), CourseState, "map"),
        (plain_view(players=[]), CourseView, "players"),
        (plain_view(**{"tile*": -1}), CourseView, "tile*"),
        (plain_view(**{"tile*": []}), CourseView, "tile*"),
        ("swap", Choice, "swap"),
        ([{"coordinate": {"row": 0, "column": 0}}], Choice, "1tile"),
        ([{"coordinate": {"row": 0, "col": 0}, "1tile": RED_STAR}], Choice, "col"),
        ("\ud800", Choice, "not it"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_one_line(plain: Any, kind: Any, says: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read(plain, kind, "it")

    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("plain", [[[[0, RED_STAR], [1, RED_STAR]]], [[0, 1]], [[0, [0, RED_STAR], 1]]])
def test_a_row_is_its_number_and_then_its_cells(plain: Any) -> None:
    with pytest.raises(BadRequest, match="a row is its number"):
        map_in(plain)


@pytest.mark.parametrize("players", [[3, 3], [ANN, BOB]])
def test_in_a_view_the_first_player_is_whole_and_the_others_are_scores(players: Any) -> None:
    with pytest.raises(BadRequest, match="the others are scores"):
        view_in(plain_view(players=players))


def test_coordinates_may_be_of_any_size() -> None:
    plain = [[-HUGE, [HUGE - 1, RED_STAR], [HUGE, GREEN_STAR]], [HUGE, [-HUGE, BLUE_8STAR]]]
    course = read(plain, CourseMap, "a map of Q")
    frame = frame_for(course)

    shown = parse_map(course, frame)

    assert format_map(shown, frame) == plain
    assert len(shown.edge) == 6 + 4


def test_a_choice_too_far_away_to_be_written_down_is_refused() -> None:
    far = [{"coordinate": {"row": HUGE, "column": 0}, "1tile": RED_STAR}]

    with pytest.raises(BadRequest, match="too far away"):
        parse_choice(read(far, Choice, "a choice of Q"))
