"""Test the conversion of the courses' JSON to our positions and back, beyond what the cases of the harnesses show."""

from itertools import pairwise
from random import Random
from typing import Any, Literal

import pytest

from fairplay.core.errors import BadRequest
from fairplay.course.formats import fish, q, tsuro
from fairplay.course.formats.frame import COORDINATE_GAP, IDENTITY_FRAME, MAX_COORDINATE, make_frame
from fairplay.course.formats.plain import MAX_ERROR_VALUE_CHARS, action_reader, read, reader
from fairplay.games.q.board import position_of
from fairplay.games.q.pieces import KINDS, NAMES
from tests.nonempty import nonempty

HUGE = 10**50

# Plain JSON.


def test_plain_json_is_converted_or_refused() -> None:
    read_pair = reader(tuple[int, int], "a pair")

    assert read([1, 2], tuple[int, int], "a pair") == read_pair([1, 2]) == (1, 2)
    with pytest.raises(BadRequest, match="not a pair: Expected `int`, got `float`"):
        read_pair([1, 2.0])


@pytest.mark.parametrize("plain", [1.0, True, "1", None, [1], 10**30, pytest.param(10**5000, id="long"), "\ud800"])
def test_invalid_json_of_a_course_is_refused_in_a_few_words(plain: Any) -> None:
    with pytest.raises(BadRequest, match=r"^not a number: ") as refused:
        read(plain, Literal[0, 1], "a number")
    assert len(str(refused.value)) <= MAX_ERROR_VALUE_CHARS


@pytest.mark.parametrize("plain", ["x" * 10**6, "a\nb\x1b", "\ud800"])
def test_quoted_input_is_cut_short_and_on_one_line(plain: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read(plain, Literal["a"], "an a")
    assert len(str(refused.value)) <= MAX_ERROR_VALUE_CHARS + len("not an a: ")
    assert str(refused.value).isprintable()


def test_an_action_that_holds_itself_is_refused() -> None:
    endless = list[Any]()
    endless.append(endless)

    with pytest.raises(BadRequest, match="not a pair: it is not plain data"):
        action_reader(tuple[int, int], "a pair")(endless)


# Coordinates of any size.


def test_ordinary_coordinates_stand_for_themselves_and_so_does_a_place_beside_the_farthest() -> None:
    beside = MAX_COORDINATE + 1, -MAX_COORDINATE - 1

    assert make_frame([(0, 0), (-MAX_COORDINATE, MAX_COORDINATE), (17, -4)]) == IDENTITY_FRAME
    for place in ((-3, 5), beside):
        assert IDENTITY_FRAME.to_ours(*place) == IDENTITY_FRAME.to_theirs(place) == place


def test_large_coordinates_are_moved_only_on_the_axis_that_needs_it() -> None:
    frame = make_frame([(HUGE, -HUGE), (HUGE + 2, -HUGE)])

    assert frame.to_ours(HUGE, -HUGE) == (0, 0)
    assert frame.to_ours(HUGE + 2, -HUGE) == (2, 0)
    assert frame.to_theirs((-1, 7)) == (HUGE - 1, 7 - HUGE)
    assert make_frame([(5, HUGE)]).to_ours(5, HUGE) == (5, 0)


def test_wide_gaps_become_smaller_and_the_order_stays() -> None:
    rows = [-HUGE, -5, 0, 3, HUGE]
    frame = make_frame([(row, 0) for row in rows])

    ours = [frame.to_ours(row, 0)[0] for row in rows]

    assert [after - before for before, after in pairwise(ours)] == [COORDINATE_GAP, 5, 3, COORDINATE_GAP]


def test_whatever_is_close_to_a_known_place_comes_back_to_where_it_was() -> None:
    chance = Random(1)
    for _ in range(50):
        places = [(chance.randint(-HUGE, HUGE), chance.randint(-HUGE, HUGE)) for _ in range(chance.randint(1, 9))]
        frame = make_frame(places)
        for row, column in nonempty(places):
            near = row + chance.randint(-1000, 1000), column + chance.randint(-1000, 1000)
            assert frame.to_theirs(frame.to_ours(*near)) == near


@pytest.mark.parametrize("place", [(HUGE, 0), (0, -HUGE), (3 * MAX_COORDINATE, 0)])
def test_a_place_far_from_all_others_is_refused(place: tuple[int, int]) -> None:
    with pytest.raises(BadRequest, match="too far away"):
        IDENTITY_FRAME.to_ours(*place)


# Fish.

RED = {"color": "red", "score": 3, "places": [[1, 0], [0, 0]]}
BLACK = {"color": "black", "score": 0, "places": [[0, 1]]}
STUCK = {"color": "white", "score": 9, "places": [[0, 0]]}


def fish_state(*players: Any, board: Any = ((1, 2, 0), (3, 4, 5)), **more: Any) -> Any:
    return {"players": list(players), "board": [list(row) for row in board], **more}


def red(**change: Any) -> Any:
    return fish_state({**RED, **change})


@pytest.mark.parametrize(
    "plain",
    [
        fish_state(),
        red(score=10**30),
        fish_state(STUCK, {**BLACK, "places": [[0, 2]]}, board=[[1, 0, 1], [0, 0, 1]]),  # it is on turn all the same
    ],
    ids=["no players", "a huge score", "the first player is stuck"],
)
def test_a_state_of_fish_survives_the_round_trip(plain: Any) -> None:
    state = fish.parse_state(read(plain, fish.CourseState, "a state of Fish"))

    assert state.order == tuple(range(len(plain["players"])))
    assert fish.format_state(state) == plain


def test_short_rows_are_filled_up_with_holes() -> None:
    assert fish.pad_rows(((1,), (2, 3, 4), ())) == [[1, 0, 0], [2, 3, 4], [0, 0, 0]]


# Tsuro.


def test_colours_of_tsuro_sit_in_their_own_order_whatever_the_list_says() -> None:
    table, seats = tsuro.parse_table([[[2, 90], "red", "C", 3, 4], [[7, 0], 5, 5], [[2, 0], "white", "A", 8, 8]])

    assert (seats, table.colours) == ({"white": 0, "red": 1}, ("white", "red"))
    assert [table.grid.place(spot) for spot in table.avatars] == [((8, 8), "A"), ((3, 4), "C")]
    assert tsuro.format_place(table.board, "red", table.avatars[1]) == [[2, 0], "red", "C", 3, 4]  # fewest degrees


@pytest.mark.parametrize(
    ("state", "seats"), [([[[2, 0], "red", "C", 3, 4], [[2, 0], "blue", "D", 3, 4]], {"red": 0, "blue": 1}), ([], {})]
)
def test_a_tile_is_listed_once_for_each_avatar_on_it(state: Any, seats: dict[str, int]) -> None:
    assert tsuro.parse_table(state)[1] == seats


# Q.

RED_STAR = {"color": "red", "shape": "star"}
BLUE_8STAR = {"color": "blue", "shape": "8star"}
GREEN_STAR = {"color": "green", "shape": "star"}
MAP = [[-1, [0, GREEN_STAR]], [0, [-2, BLUE_8STAR], [0, RED_STAR]]]
ANN = {"name": "ann", "score": 7, "tile*": [BLUE_8STAR, RED_STAR]}
BOB = {"name": "bob", "score": 0, "tile*": []}


def q_state(**change: Any) -> Any:
    return {"map": MAP, "players": [ANN, BOB], "tile*": [GREEN_STAR, RED_STAR], **change}


def q_view(**change: Any) -> Any:
    return {"map": MAP, "players": [ANN, 3, 0], "tile*": 9, **change}


def ann(**change: Any) -> Any:
    return q_state(players=[{**ANN, **change}])


def parse_q_map(plain: Any) -> Any:
    return q.parse_map(read(plain, q.CourseMap, "a map of Q"))


def parse_q_state(plain: Any) -> Any:
    return q.parse_state(read(plain, q.CourseState, "a state of Q"))


def parse_q_view(plain: Any) -> Any:
    return q.parse_view(read(plain, q.CourseView, "a public state of Q"))


@pytest.mark.parametrize("row", [[[0, RED_STAR], [1, BLUE_8STAR], [0, GREEN_STAR]], [[0, GREEN_STAR], [1, BLUE_8STAR]]])
def test_where_two_tiles_lie_on_one_place_the_later_one_counts(row: Any) -> None:
    tiles = parse_q_map([[0, [0, RED_STAR]], [0, *row]]).tiles

    assert {position_of(cell): NAMES[kind] for cell, kind in tiles.items()} == {
        (0, 0): "green star",
        (0, 1): "blue 8star",
    }


def test_a_map_need_not_hang_together() -> None:
    assert len(parse_q_map([[0, [0, RED_STAR]], [100, [7, BLUE_8STAR]]]).tiles) == 2


def test_a_state_of_q_survives_the_round_trip() -> None:
    state = parse_q_state(q_state())

    assert q.format_state(state, ["ann", "bob"]) == q_state()
    assert (state.order, state.to_act, state.scores, state.placed) == ((0, 1), 2, (7, 0), False)
    assert state.pile == (KINDS["green star"], KINDS["red star"])


def test_there_may_be_no_names_more_tiles_than_in_the_box_and_scores_of_any_size() -> None:
    state = parse_q_state({**ann(score=HUGE), "tile*": [RED_STAR] * 2000})
    view = parse_q_view(q_view(players=[{"score": 7, "tile*": [RED_STAR]}, HUGE], **{"tile*": HUGE}))

    assert (len(state.pile), state.scores) == (2000, (HUGE,))
    assert (view.hand, view.points, view.left) == (("red star",), (7, HUGE), HUGE)


def test_coordinates_of_q_may_be_of_any_size() -> None:
    plain = [[-HUGE, [HUGE - 1, RED_STAR], [HUGE, GREEN_STAR]], [HUGE, [-HUGE, BLUE_8STAR]]]
    course = read(plain, q.CourseMap, "a map of Q")
    frame = q.frame_for(course)

    shown = q.parse_map(course, frame)

    assert q.format_map(shown, frame) == plain
    assert len(shown.edge) == 6 + 4


def test_a_choice_too_far_away_to_be_written_down_is_refused() -> None:
    far = [{"coordinate": {"row": HUGE, "column": 0}, "1tile": RED_STAR}]

    with pytest.raises(BadRequest, match="too far away"):
        q.parse_choice(read(far, q.Choice, "a choice of Q"))


@pytest.mark.parametrize("plain", [[[[0, RED_STAR], [1, RED_STAR]]], [[0, 1]], [[0, [0, RED_STAR], 1]]])
def test_a_row_is_its_number_and_then_its_cells(plain: Any) -> None:
    with pytest.raises(BadRequest, match="a row is its number"):
        parse_q_map(plain)


@pytest.mark.parametrize("players", [[3, 3], [ANN, BOB]])
def test_in_a_view_the_first_player_is_whole_and_the_others_are_scores(players: Any) -> None:
    with pytest.raises(BadRequest, match="the others are scores"):
        parse_q_view(q_view(players=players))


# What is refused.


@pytest.mark.parametrize(
    ("kind", "plain", "says"),
    [
        (fish.CourseState, 7, "Expected `object`"),
        (fish.CourseState, {"board": [[1]]}, "players"),
        (fish.CourseState, fish_state(extra=1), "extra"),
        (fish.CourseState, red(color="green"), "green"),
        *((fish.CourseState, red(score=score), "score") for score in (-1, True, 1.5)),
        (fish.CourseState, red(places=[[0]]), "places"),
        *((fish.CourseState, red(places=[at]), f"no tile for the penguin at {at}") for at in ([2, 0], [-1, 0], [0, 2])),
        (fish.CourseState, fish_state(RED, {**BLACK, "places": [[1, 0]]}), "two penguins stand at [1, 0]"),
        (fish.CourseState, fish_state(*[{**RED, "places": []}] * 5), "players"),
        (fish.CourseState, fish_state(board=[[6]]), "<= 5"),
        (fish.CourseState, fish_state(board=[[-1]]), ">= 0"),
        (fish.CourseState, fish_state(board=[]), "no place on it"),
        (fish.CourseState, fish_state(board=[[], []]), "no place on it"),
        *((fish.CourseState, fish_state(board=board), "board") for board in ([[1] * 101], [[1]] * 101)),
        (fish.CourseState, red(color="\ud800"), "not it"),
        (q.CourseState, 7, "Expected `object`"),
        (q.CourseState, q_state(extra=1), "extra"),
        (q.CourseState, {"map": MAP, "players": [ANN]}, "tile*"),
        *((q.CourseState, q_state(players=players), "players") for players in ([], [3])),
        *((q.CourseState, ann(score=score), "score") for score in (-1, True, 1.5)),
        *((q.CourseState, ann(name=name), "name") for name in (7, None)),
        (q.CourseState, ann(age=7), "age"),
        (q.CourseState, q_state(**{"tile*": [{"color": "pink", "shape": "star"}]}), "pink"),
        (q.CourseState, q_state(**{"tile*": [{"colour": "red", "shape": "star"}]}), "colour"),
        (q.CourseState, q_state(**{"tile*": 9}), "tile*"),
        *((q.CourseState, q_state(map=lying), "map") for lying in ([], [[0]])),
        (q.CourseView, q_view(players=[]), "players"),
        (q.CourseView, q_view(**{"tile*": -1}), "tile*"),
        (q.CourseView, q_view(**{"tile*": []}), "tile*"),
        (q.Choice, "swap", "swap"),
        (q.Choice, [{"coordinate": {"row": 0, "column": 0}}], "1tile"),
        (q.Choice, [{"coordinate": {"row": 0, "col": 0}, "1tile": RED_STAR}], "col"),
        (q.Choice, "\ud800", "not it"),
    ],
)
def test_anything_else_is_refused_in_one_line(kind: Any, plain: Any, says: str) -> None:
    with pytest.raises(BadRequest) as refused:
        course = read(plain, kind, "it")
        if kind is fish.CourseState:
            fish.parse_state(course)

    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
