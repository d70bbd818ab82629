"""Test the rules of Tsuro, clause by clause, along paths that were followed by hand."""

import re
from importlib.resources import files
from typing import Any

import pytest

from fairplay.core.errors import IllegalAction
from fairplay.core.game import Moment, Seat
from fairplay.games.tsuro import Action, Lay, Place, Stage, State
from fairplay.games.tsuro.pieces import DEGREES
from fairplay.games.tsuro.rules import LAYS
from tests.games.tsuro.positions import (
    CORNERS,
    DIAGONAL,
    STRAIGHT,
    TSURO,
    UTURN,
    legal_actions,
    make_position,
    placed_tiles,
    play_actions,
    spots,
)

DIRECTORY = files("fairplay.games.tsuro")
RULES = DIRECTORY.joinpath("RULES.md").read_text()

START = TSURO.deal(3, bytes(32))  # the first is dealt 0, 1 and 2
PLACED = play_actions(START, Place(2, 0, "C", (0, 0)))  # and the second 3, 4 and 5
FULL = make_position(  # nothing is left at the edge of so small a board
    {(0, 0): STRAIGHT, (2, 1): STRAIGHT, (1, 2): STRAIGHT},
    [(0, 0, "C"), (2, 1, "G"), (1, 2, "A"), None],
    [3, 4, 5],
    size=3,
    stage="placing",
    round=0,
    waiting=[3],
)
DONE = make_position({(0, 0): STRAIGHT}, [(0, 0, "C"), None, None], stage="done", waiting=[])


def at_the_edge(tile: int, *dealt: int) -> State:
    """White stands in the corner on this tile and faces south, along the edge; black and red are far off."""
    tiles = {(0, 0): tile, (5, 5): STRAIGHT, (8, 8): STRAIGHT}
    return make_position(tiles, [(0, 0, "F"), (5, 5, "A"), (8, 8, "A")], dealt)


def facing(other: int, *dealt: int) -> State:
    """White on a straight tile and black on another one face the same square from west and east."""
    tiles = {(3, 3): STRAIGHT, (5, 3): other, (8, 8): STRAIGHT}
    return make_position(tiles, [(3, 3, "C"), (5, 3, "H"), (8, 8, "A")], dealt)


FREE = at_the_edge(STRAIGHT, STRAIGHT, CORNERS)
FORCED_SUICIDE = at_the_edge(STRAIGHT, CORNERS, CORNERS)
FORCED_LOOP = at_the_edge(UTURN, UTURN, UTURN)
NO_WAY = at_the_edge(UTURN, UTURN, CORNERS)  # either round for ever or off the board
OTHERS_LOOP = facing(UTURN, UTURN, UTURN)

# For each clause that an action can break: a position, the seat that acts, and what it does.
BROKEN: list[tuple[str, State, Seat | None, Action]] = [
    ("2.2", START, 1, Place(0, 0, "C", (0, 0))),
    ("2.2", START, 2, Place(0, 0, "C", (0, 0))),
    ("2.2", START, None, Place(0, 0, "C", (0, 0))),
    ("2.2", PLACED, 0, Place(3, 0, "C", (9, 0))),
    ("2.2", FREE, 1, Lay(STRAIGHT, 0)),
    ("2.2", FREE, None, Lay(STRAIGHT, 0)),
    ("2.2", DONE, 0, Lay(STRAIGHT, 0)),
    ("2.2", DONE, 1, Lay(STRAIGHT, 0)),
    ("3.1", START, 0, Lay(0, 0)),
    ("3.1", START, 0, Lay(34, 0)),
    ("3.2", START, 0, Place(3, 0, "C", (0, 0))),
    ("3.2", START, 0, Place(34, 270, "C", (0, 0))),
    ("3.2", PLACED, 1, Place(2, 0, "G", (9, 0))),
    ("3.3", START, 0, Place(0, 0, "A", (1, 1))),
    ("3.3", START, 0, Place(0, 0, "A", (8, 8))),
    ("3.3", START, 0, Place(0, 0, "A", (10, 0))),
    ("3.3", START, 0, Place(0, 0, "A", (0, 10))),
    ("3.3", START, 0, Place(0, 0, "A", (-1, 0))),
    ("3.3", START, 0, Place(0, 0, "A", (0, -1))),
    ("3.3", START, 0, Place(0, 0, "A", (2**31 - 1, -(2**31)))),
    ("3.3", PLACED, 1, Place(3, 0, "C", (0, 0))),
    ("3.3", PLACED, 1, Place(3, 0, "C", (1, 0))),
    ("3.3", PLACED, 1, Place(3, 0, "C", (0, 1))),
    ("3.4", START, 0, Place(0, 0, "A", (0, 0))),
    ("3.4", START, 0, Place(0, 0, "B", (5, 0))),
    ("3.4", START, 0, Place(0, 0, "C", (9, 5))),
    ("3.4", START, 0, Place(0, 0, "D", (9, 0))),
    ("3.4", START, 0, Place(0, 0, "E", (9, 9))),
    ("3.4", START, 0, Place(0, 0, "F", (5, 9))),
    ("3.4", START, 0, Place(0, 0, "G", (0, 9))),
    ("3.4", START, 0, Place(0, 0, "H", (0, 5))),
    ("3.6", FULL, 3, Place(3, 0, "C", (0, 2))),
    ("3.6", FULL, 3, Place(4, 0, "C", (1, 1))),
    ("4.1", FREE, 0, Place(STRAIGHT, 0, "C", (0, 1))),
    ("4.1", FREE, 0, Place(STRAIGHT, 0, "C", (9, 9))),
    ("4.2", FREE, 0, Lay(0, 0)),
    ("4.2", FREE, 0, Lay(34, 180)),
    ("4.2", NO_WAY, 0, Lay(0, 0)),
    ("4.3", at_the_edge(UTURN, UTURN, STRAIGHT), 0, Lay(UTURN, 90)),
    ("4.3", facing(UTURN, UTURN, STRAIGHT), 0, Lay(UTURN, 0)),
    ("4.4", FREE, 0, Lay(CORNERS, 0)),
    ("4.4", FREE, 0, Lay(CORNERS, 270)),
    ("4.5", NO_WAY, 0, Lay(UTURN, 0)),
    ("4.5", NO_WAY, 0, Lay(CORNERS, 180)),
]


# Illegal actions, and the rule book.


@pytest.mark.parametrize(("clause", "state", "seat", "action"), BROKEN, ids=[f"{bug[0]} {bug[3]}" for bug in BROKEN])
def test_an_illegal_action_names_the_clause_that_it_breaks(
    clause: str, state: State, seat: Seat | None, action: Action
) -> None:
    with pytest.raises(IllegalAction) as illegal:
        TSURO.check(TSURO.view(state, seat), action)

    assert illegal.value.clause == clause
    assert illegal.value.why


@pytest.mark.parametrize(("clause", "state", "seat", "action"), BROKEN, ids=[f"{bug[0]} {bug[3]}" for bug in BROKEN])
def test_a_refusal_names_no_number_of_a_tile(clause: str, state: State, seat: Seat | None, action: Action) -> None:
    with pytest.raises(IllegalAction) as illegal:
        TSURO.check(TSURO.view(state, seat), action)

    assert not re.search(r"tile \d", illegal.value.why)


# 3 The first tile.


def test_on_an_empty_board_every_square_of_the_edge_can_be_placed_on() -> None:
    places = [action for action in legal_actions(START) if isinstance(action, Place)]

    squares = {place.at for place in places}
    assert squares == {(x, y) for x in range(10) for y in range(10) if {x, y} & {0, 9}}
    assert {(place.tile, place.degrees) for place in places} == {(tile, turn) for tile in (0, 1, 2) for turn in DEGREES}
    # 32 squares with six ports that face the board, 4 corners with four.
    assert len(places) == len(set(places)) == 3 * 4 * (32 * 6 + 4 * 4)


def test_the_corners_of_tiles_may_touch() -> None:
    state = play_actions(START, Place(0, 0, "C", (0, 1)))

    assert [Place(3, 0, "D", (1, 0)) in legal_actions(state), Place(3, 0, "D", (0, 0)) in legal_actions(state)] == [
        True,
        False,
    ]


def test_a_placed_tile_lies_there_with_the_avatar_and_nothing_moves() -> None:
    state = play_actions(START, Place(1, 90, "E", (4, 0)), Place(3, 270, "A", (9, 9)))

    assert placed_tiles(state) == {(4, 0): (1, 0), (9, 9): (3, 90)}  # the fewest degrees that look the same
    assert spots(state) == [(4, 0, "E"), (9, 9, "A"), None]
    assert (state.table.stage, state.table.round, TSURO.order(state)) == (Stage.PLACING, 0, (2, 0, 1))


def test_a_path_on_the_first_tile_does_not_matter() -> None:
    state = play_actions(START, Place(2, 0, "D", (0, 5)))  # the path from D leads back to the edge

    assert spots(state)[0] == (0, 5, "D")


def test_after_the_last_placement_the_first_round_begins_with_the_oldest() -> None:
    state = play_actions(PLACED, Place(3, 0, "G", (9, 0)), Place(6, 0, "A", (0, 9)))

    assert (state.table.stage, state.table.round, TSURO.order(state)) == (Stage.PLAYING, 1, (0, 1, 2))


def test_the_tiles_of_an_ejected_player_stay_on_the_board() -> None:
    state = TSURO.eject(PLACED, 0, Moment.TURN)

    assert spots(state) == [None, None, None]
    assert placed_tiles(state) == {(0, 0): (2, 0)}
    assert {action.at for action in legal_actions(state) if isinstance(action, Place)}.isdisjoint(
        {(0, 0), (1, 0), (0, 1)}
    )


def test_where_no_square_is_left_at_the_edge_there_is_no_placement() -> None:
    assert legal_actions(FULL) == []


# 4 A turn.


def test_the_tile_is_laid_on_the_square_that_the_avatar_faces_and_the_avatar_follows_the_path() -> None:
    state = play_actions(FREE, Lay(STRAIGHT, 0))

    assert placed_tiles(state)[0, 1] == (STRAIGHT, 0)
    assert spots(state) == [(0, 1, "F"), (5, 5, "A"), (8, 8, "A")]
    assert (state.drawn, TSURO.order(state)) == (2, (1, 2, 0))


def test_a_path_is_followed_over_all_tiles_to_its_end() -> None:
    tiles: dict[tuple[int, int], Any] = {
        (0, 0): STRAIGHT,
        (0, 2): DIAGONAL,
        (0, 3): (13, 270),
        (0, 4): CORNERS,
        (7, 7): STRAIGHT,
    }
    state = make_position(tiles, [(0, 0, "E"), (7, 7, "A")], [DIAGONAL, DIAGONAL])

    after = play_actions(state, Lay(DIAGONAL, 0))

    # Over (0, 1) from B to F, over (0, 2) from A to E; at (0, 3) tile 13 joins B, lying at 270 degrees, with C.
    assert spots(after) == [(0, 3, "C"), (7, 7, "A")]


def test_only_those_who_face_the_new_tile_move() -> None:
    state = play_actions(facing(STRAIGHT, STRAIGHT, STRAIGHT), Lay(STRAIGHT, 0))

    assert spots(state)[2] == (8, 8, "A")


def test_two_may_pass_through_each_other() -> None:
    state = play_actions(facing(STRAIGHT, STRAIGHT, STRAIGHT), Lay(STRAIGHT, 0))

    assert spots(state)[:2] == [(5, 3, "C"), (3, 3, "H")]
    assert state.table.fell == (0, 0, 0)


def meeting() -> State:
    """White is about to be led to the very port on which black stands."""
    tiles = {(0, 0): STRAIGHT, (1, 1): STRAIGHT, (7, 7): STRAIGHT}
    state = make_position(tiles, [(0, 0, "F"), (1, 1, "C"), (7, 7, "A")], [12, 12, STRAIGHT, STRAIGHT, 3, 3])
    return play_actions(state, Lay(12, 0))  # from A to C


def test_avatars_that_meet_stay_in_the_game() -> None:
    state = meeting()

    assert spots(state)[:2] == [(1, 1, "C"), (1, 1, "C")]
    assert state.table.fell == (0, 0, 0)


def test_those_who_met_move_together_from_then_on() -> None:
    state = play_actions(meeting(), Lay(STRAIGHT, 0))

    assert spots(state)[:2] == [(2, 1, "C"), (2, 1, "C")]


def test_to_drive_others_off_the_board_is_legal_and_they_are_out() -> None:
    tiles = {(1, 1): STRAIGHT, (2, 0): STRAIGHT, (7, 7): STRAIGHT}
    state = make_position(tiles, [(1, 1, "A"), (2, 0, "H"), (7, 7, "A")], [21, 21])

    after = play_actions(state, Lay(21, 0))  # white goes from F to H, black from C to A and over the edge

    assert spots(after) == [(1, 0, "H"), None, (7, 7, "A")]
    assert (after.table.fell, TSURO.order(after)) == ((0, 1, 0), (2, 0))


def test_only_fine_options_are_legal_where_there_are_some() -> None:
    assert legal_actions(FREE) == list(LAYS[STRAIGHT])
    assert legal_actions(at_the_edge(UTURN, UTURN, STRAIGHT)) == list(LAYS[STRAIGHT])


def test_a_tile_that_was_dealt_twice_is_offered_once() -> None:
    assert legal_actions(at_the_edge(STRAIGHT, STRAIGHT, STRAIGHT)) == list(LAYS[STRAIGHT])


def test_where_every_option_is_a_suicide_all_are_legal_and_it_is_an_elimination_like_any_other() -> None:
    after = play_actions(FORCED_SUICIDE, Lay(CORNERS, 180))

    assert legal_actions(FORCED_SUICIDE) == list(LAYS[CORNERS])
    assert (spots(after)[0], after.table.fell, placed_tiles(after)[0, 1]) == (None, (1, 0, 0), (CORNERS, 0))
    assert (TSURO.ranking(after), after.drawn) == ((frozenset({1, 2}), frozenset({0})), 2)


def test_where_every_option_is_a_loop_all_are_legal_and_the_tile_is_not_laid() -> None:
    after = play_actions(FORCED_LOOP, Lay(UTURN, 90))

    assert legal_actions(FORCED_LOOP) == list(LAYS[UTURN])
    assert after.table.board == FORCED_LOOP.table.board
    assert spots(after) == [None, (5, 5, "A"), (8, 8, "A")]
    assert (after.table.fell, after.drawn, TSURO.order(after)) == ((1, 0, 0), 2, (1, 2))


def test_a_forced_loop_removes_the_looping_players_and_no_other_avatar_moves() -> None:
    after = play_actions(OTHERS_LOOP, Lay(UTURN, 0))

    assert after.table.board == OTHERS_LOOP.table.board
    assert spots(after) == [(3, 3, "C"), None, (8, 8, "A")]
    assert (after.table.fell, TSURO.order(after)) == ((0, 1, 0), (2, 0))


def test_a_forced_loop_may_take_several_at_once() -> None:
    tiles = {(3, 3): UTURN, (5, 3): UTURN, (8, 8): STRAIGHT}
    state = make_position(tiles, [(3, 3, "C"), (5, 3, "H"), (8, 8, "A")], [UTURN, UTURN])

    after = play_actions(state, Lay(UTURN, 180))

    assert (spots(after), after.table.fell) == ([None, None, (8, 8, "A")], (1, 1, 0))


def test_between_loops_and_suicides_every_option_is_illegal() -> None:
    assert legal_actions(NO_WAY) == []
    for option in (*LAYS[UTURN], *LAYS[CORNERS]):
        with pytest.raises(IllegalAction, match=r"rule 4\.5: no legal option"):
            TSURO.check(TSURO.view(NO_WAY, 0), option)


def test_a_collision_does_not_excuse_a_suicide() -> None:
    tiles = {(0, 0): STRAIGHT, (1, 1): STRAIGHT, (0, 2): STRAIGHT}
    avatars = [(0, 0, "F"), (1, 1, "G"), (0, 2, "E")]
    forced = play_actions(make_position(tiles, avatars, [CORNERS, CORNERS]), Lay(CORNERS, 0))
    assert spots(forced) == [None, (0, 2, "E"), (0, 2, "E")]  # black is led to where red stands

    state = make_position(tiles, avatars, [CORNERS, STRAIGHT])

    with pytest.raises(IllegalAction, match=r"rule 4\.4"):
        TSURO.check(TSURO.view(state, 0), Lay(CORNERS, 0))
