"""Test the rules of Tsuro, clause by clause, and its rounds to their end."""

from itertools import pairwise, product
from typing import Any

import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.events import Acted, Ejected, Ended, Fault
from fairplay.core.game import Moment, Seat
from fairplay.core.messages import End, Failed, Message, Start, TakeTurn
from fairplay.games.tsuro import Action, Lay, Place, Stage, State, Tsuro
from fairplay.games.tsuro.pieces import DEGREES
from fairplay.games.tsuro.rules import LAYS
from fairplay.testing.scripted import ScriptedChannel, failing_script, strategy_script
from tests.games.tsuro.positions import (
    CORNERS,
    STRAIGHT,
    TSURO,
    UTURN,
    Spot,
    first_action,
    legal_actions,
    make_position,
    placed_tiles,
    play_actions,
    referee_match,
    spots,
)
from tests.nonempty import nonempty

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

# For each clause that an action can break: a position, the seat that acts, and what it does. They are tried in
# tests/every_game/test_rule_books.py.
BROKEN: list[tuple[str, State, Seat | None, Action]] = [
    ("2.2", START, 1, Place(0, 0, "C", (0, 0))),
    ("2.2", START, None, Place(0, 0, "C", (0, 0))),
    ("2.2", PLACED, 0, Place(3, 0, "C", (9, 0))),
    ("2.2", FREE, 1, Lay(STRAIGHT, 0)),
    ("2.2", DONE, 0, Lay(STRAIGHT, 0)),
    ("3.1", START, 0, Lay(0, 0)),
    ("3.2", START, 0, Place(3, 0, "C", (0, 0))),
    ("3.2", PLACED, 1, Place(2, 0, "G", (9, 0))),
    ("3.3", START, 0, Place(0, 0, "A", (1, 1))),
    ("3.3", START, 0, Place(0, 0, "A", (10, 0))),
    ("3.3", START, 0, Place(0, 0, "A", (0, -1))),
    ("3.3", START, 0, Place(0, 0, "A", (2**31 - 1, -(2**31)))),
    ("3.3", PLACED, 1, Place(3, 0, "C", (0, 0))),
    ("3.4", START, 0, Place(0, 0, "A", (0, 0))),
    ("3.4", START, 0, Place(0, 0, "B", (5, 0))),
    ("3.4", START, 0, Place(0, 0, "C", (9, 5))),
    ("3.4", START, 0, Place(0, 0, "D", (9, 0))),
    ("3.4", START, 0, Place(0, 0, "E", (9, 9))),
    ("3.4", START, 0, Place(0, 0, "F", (5, 9))),
    ("3.4", START, 0, Place(0, 0, "G", (0, 9))),
    ("3.4", START, 0, Place(0, 0, "H", (0, 5))),
    ("3.6", FULL, 3, Place(3, 0, "C", (0, 2))),
    ("4.1", FREE, 0, Place(STRAIGHT, 0, "C", (0, 1))),
    ("4.2", FREE, 0, Lay(0, 0)),
    ("4.3", at_the_edge(UTURN, UTURN, STRAIGHT), 0, Lay(UTURN, 90)),
    ("4.3", facing(UTURN, UTURN, STRAIGHT), 0, Lay(UTURN, 0)),
    ("4.4", FREE, 0, Lay(CORNERS, 0)),
    ("4.5", NO_WAY, 0, Lay(UTURN, 0)),
]


# 3 The first tile.


def test_on_an_empty_board_every_square_of_the_edge_can_be_placed_on() -> None:
    places = [action for action in legal_actions(START) if isinstance(action, Place)]

    squares = {place.at for place in places}
    assert squares == {(x, y) for x in range(10) for y in range(10) if {x, y} & {0, 9}}
    assert {(place.tile, place.degrees) for place in places} == {(tile, turn) for tile in (0, 1, 2) for turn in DEGREES}
    # 32 squares with six ports that face the board, 4 corners with four.
    assert len(places) == len(set(places)) == 3 * 4 * (32 * 6 + 4 * 4)


def test_a_placed_tile_lies_there_with_the_avatar_and_only_its_corners_may_be_touched() -> None:
    state = play_actions(START, Place(1, 90, "D", (0, 5)), Place(3, 270, "A", (9, 9)))  # D leads back to the edge

    assert placed_tiles(state) == {(0, 5): (1, 0), (9, 9): (3, 90)}  # the fewest degrees that look the same
    assert spots(state) == [(0, 5, "D"), (9, 9, "A"), None]
    assert (state.table.stage, state.table.round, TSURO.order(state)) == (Stage.PLACING, 0, (2, 0, 1))
    corner = play_actions(START, Place(0, 0, "C", (0, 1)))
    assert Place(3, 0, "D", (1, 0)) in legal_actions(corner)
    assert Place(3, 0, "D", (0, 0)) not in legal_actions(corner)


def test_after_the_last_placement_the_first_round_begins_with_the_oldest() -> None:
    state = play_actions(PLACED, Place(3, 0, "G", (9, 0)), Place(6, 0, "A", (0, 9)))

    assert (state.table.stage, state.table.round, TSURO.order(state)) == (Stage.PLAYING, 1, (0, 1, 2))


def test_the_tile_of_an_ejected_player_keeps_others_from_its_neighbours() -> None:
    state = TSURO.eject(PLACED, 0, Moment.TURN)

    assert (spots(state), placed_tiles(state)) == ([None] * 3, {(0, 0): (2, 0)})
    squares = {action.at for action in legal_actions(state) if isinstance(action, Place)}
    assert squares.isdisjoint({(0, 0), (1, 0), (0, 1)})


def test_where_no_square_is_left_at_the_edge_there_is_no_placement() -> None:
    assert legal_actions(FULL) == []


# 4 A turn; how tiles lead avatars is compared with a slow implementation and with the official cases.

CROWD = {(0, 0): STRAIGHT, (1, 1): STRAIGHT, (0, 2): STRAIGHT}
BESIDE: list[Spot | None] = [(0, 0, "F"), (1, 1, "G"), (0, 2, "E")]


def test_only_fine_options_are_legal_where_there_are_some_and_a_loop_does_not_excuse_a_suicide() -> None:
    assert legal_actions(FREE) == legal_actions(at_the_edge(UTURN, UTURN, STRAIGHT)) == list(LAYS[STRAIGHT])
    assert legal_actions(make_position(CROWD, BESIDE, [CORNERS, STRAIGHT])) == list(LAYS[STRAIGHT])
    assert legal_actions(NO_WAY) == []


@pytest.mark.parametrize(
    ("state", "tile", "expected"),
    [
        (FORCED_SUICIDE, CORNERS, [None, (5, 5, "A"), (8, 8, "A")]),
        (make_position(CROWD, BESIDE, [CORNERS, CORNERS]), CORNERS, [None, (0, 2, "E"), (0, 2, "E")]),
        (FORCED_LOOP, UTURN, [None, (5, 5, "A"), (8, 8, "A")]),
        (facing(UTURN, UTURN, UTURN), UTURN, [(3, 3, "C"), None, (8, 8, "A")]),
    ],
    ids=["a suicide", "a suicide with a collision", "a loop", "a loop of another"],
)
def test_where_every_option_is_a_suicide_or_a_loop_all_are_legal_and_a_tile_that_loops_is_not_laid(
    state: State, tile: int, expected: list[Spot | None]
) -> None:
    after = play_actions(state, Lay(tile, 0))

    assert legal_actions(state) == list(LAYS[tile])  # once, however often it was dealt
    assert (spots(after), after.drawn) == (expected, 2)
    assert after.table.fell == tuple(0 if spot else 1 for spot in expected)
    assert (after.table.board == state.table.board) == (tile == UTURN)


good = strategy_script(first_action)


def kinds(player: ScriptedChannel) -> list[type[Message]]:
    return [type(message) for message in player.heard]


def corner(*dealt: int, **given: Any) -> State:
    """White and red each stand in a corner and face south, where corner tiles lead them off; black fell in round 1."""
    tiles = {(0, 0): STRAIGHT, (9, 0): STRAIGHT, (4, 4): CORNERS}
    avatars: list[Spot | None] = [(0, 0, "F"), None, (9, 0, "E")]
    return make_position(tiles, avatars, dealt, **{"round": 3, "fell": [0, 1, 0], **given})


def test_forced_loops_and_suicides_are_ranked_like_all_who_leave_the_board() -> None:
    tiles = {(0, 0): UTURN, (9, 0): STRAIGHT, (4, 4): STRAIGHT}
    state = make_position(
        tiles, [(0, 0, "F"), (9, 0, "E"), (4, 4, "A")], [UTURN, UTURN, CORNERS, CORNERS, 0, 1], round=7
    )

    final, _, _ = referee_match(state)

    assert final.result.ranking == (frozenset({2}), frozenset({0, 1}))
    assert final.result.ejected == ()


def test_a_player_without_a_legal_option_is_ejected_whatever_it_does() -> None:
    tiles = {(0, 0): UTURN, (9, 0): STRAIGHT, (4, 4): STRAIGHT}
    state = make_position(tiles, [(0, 0, "F"), (9, 0, "E"), (4, 4, "A")], [UTURN, CORNERS, 0, 1, 2, 3, *range(35)] * 5)

    final, (white, _, _), _ = referee_match(state)

    assert kinds(white) == [Start, TakeTurn]
    assert (final.ejected[0].seat, final.ejected[0].fault) == (0, Fault.ILLEGAL)
    assert final.ejected[0].why.startswith("rule 4.5: no legal option")
    assert all(0 not in group for group in final.result.ranking)


# Rounds, and how they end.


@pytest.mark.parametrize(
    ("dealt", "red_is_legal", "acted", "ranking"),
    [
        ([CORNERS, CORNERS, STRAIGHT, STRAIGHT], True, [0, 2], [{2}, {0}, {1}]),
        ([CORNERS, CORNERS, CORNERS, CORNERS], True, [0, 2], [{0, 2}, {1}]),  # those of the last round are joint first
        ([CORNERS, CORNERS, STRAIGHT, STRAIGHT], False, [0], [{0}, {1}]),
        ([STRAIGHT, STRAIGHT, CORNERS, CORNERS], True, [0, 2], [{0}, {2}, {1}]),  # white had its turn
    ],
    ids=["survives", "is led off", "is ejected", "is not asked again"],
)
def test_the_last_one_left_finishes_the_round(
    dealt: list[int], red_is_legal: bool, acted: list[int], ranking: list[set[int]]
) -> None:
    red = good if red_is_legal else strategy_script(lambda view: Lay(0, 0))

    final, table, told = referee_match(corner(*dealt), [good, good, red])

    assert [event.seat for event, _ in told.heard if isinstance(event, Acted)] == acted
    assert final.result.ranking == tuple(map(frozenset, ranking))
    assert [kinds(player) for player in table] == [
        [Start, TakeTurn, End],
        [Start, End],
        [Start, TakeTurn, End][: 3 if red_is_legal else 2],
    ]
    assert (final.state.drawn, final.state.table.stage) == (4, Stage.DONE)


@pytest.mark.parametrize("stays", [2, 0], ids=["before it has placed", "after it has placed"])
def test_one_left_while_placing_places_and_plays_no_turn(stays: int) -> None:
    scripts = [failing_script(1, Failed(Fault.GONE, "left the room"), good) for _ in range(3)]
    scripts[stays] = good

    final, table, _ = referee_match(TSURO.deal(3, bytes(32)), scripts)

    assert kinds(table[stays]) == [Start, TakeTurn, End]
    assert (final.state.drawn, len(placed_tiles(final.state)), final.state.table.round) == (9, 1, 0)
    assert (final.state.table.stage, final.result.ranking) == (Stage.DONE, (frozenset({stays}),))


def test_every_player_still_in_acts_once_in_each_round_by_age_and_hears_the_end_once() -> None:
    for seats, number in nonempty(product((3, 4, 5), range(4))):
        game = Tsuro(size=6)
        final, table, told = referee_match(game.deal(seats, seed_from_text(f"eliminated {number}")), game=game)
        out = {ejected.seat for ejected in final.result.ejected}
        rounds: dict[int, list[int]] = {}
        for (_, before), (event, _) in pairwise(told.heard):
            if isinstance(event, Acted | Ejected):
                rounds.setdefault(before.table.round, []).append(event.seat)

        assert rounds[0] == list(range(seats))
        assert all(acted == sorted(set(acted)) for acted in rounds.values())
        assert list(rounds) == list(range(len(rounds)))
        for seat, player in enumerate(table):
            turns = sum(seat in acted for acted in rounds.values())
            assert kinds(player) == [Start, *[TakeTurn] * turns, *([] if seat in out else [End])]
        assert {seat for group in final.result.ranking for seat in group} | out == set(range(seats))
        assert isinstance(told.heard[-1][0], Ended)


@pytest.mark.parametrize(
    ("fell", "ranking", "scores"),
    [
        ([0, 3, 1, 2], [{0}, {1}, {3}, {2}], (4, 3, 1, 2)),
        ([4, 4, 2, 4], [{0, 1, 3}, {2}], (4, 4, 2, 4)),
        ([2, 2, 2, 2], [{0, 1, 2, 3}], (2, 2, 2, 2)),
        ([-1, 3, 3, 0], [{3}, {1, 2}], (0, 3, 3, 4)),
        ([-5, 3, -2, 2], [{1}, {3}], (4, 3, 1, 2)),
        ([-1, -4, -5, -1], [], (0, 3, 4, 0)),
    ],
)
def test_a_later_round_is_better_and_scores_are_rounds(
    fell: list[int], ranking: list[set[int]], scores: tuple[int, ...]
) -> None:
    avatars: list[Spot | None] = [(0, 0, "C") if round == 0 else None for round in fell]
    state = make_position({(0, 0): STRAIGHT}, avatars, stage="done", round=4, waiting=[], fell=fell)

    assert TSURO.ranking(state) == tuple(frozenset(group) for group in ranking)
    assert TSURO.scores(state) == scores


@pytest.mark.parametrize(
    ("seat", "order", "ranking"), [(1, (0, 2), ({0, 2},)), (2, (0,), ({0}, {1}))], ids=["led off before", "still in"]
)
def test_an_ejection_between_turns_changes_neither_tiles_nor_turn(
    seat: int, order: tuple[int, ...], ranking: tuple[set[int], ...]
) -> None:
    after = TSURO.eject(corner(STRAIGHT, CORNERS), seat, Moment.GREETING)

    assert (after.drawn, after.dealt, TSURO.turn(after), TSURO.order(after)) == (0, (STRAIGHT, CORNERS), 0, order)
    assert (TSURO.ranking(after), after.table.stage) == (tuple(map(frozenset, ranking)), Stage.PLAYING)
