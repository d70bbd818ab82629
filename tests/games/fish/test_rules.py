"""Test the rules of Fish, clause by clause."""

from importlib.resources import files
from typing import Any

import pytest

from fairplay.core.errors import IllegalAction
from fairplay.core.events import Fault
from fairplay.core.game import Moment, Seat
from fairplay.core.match import Match
from fairplay.core.messages import Failed, TakeTurn
from fairplay.games.fish import Action, Fish, Move, Place, Stage, State
from fairplay.games.fish.examples import EXAMPLES
from fairplay.games.fish.state import state_of
from fairplay.referee.drivers import play
from fairplay.testing.scripted import ScriptedChannel, strategy_script

FISH = Fish()
DIRECTORY = files("fairplay.games.fish")
RULES = DIRECTORY.joinpath("RULES.md").read_text()
PLACING, STAR = EXAMPLES["placing"], EXAMPLES["star"]

# For each clause that an action can break: a position, the seat that acts, and what it does.
BROKEN: list[tuple[str, State, Seat | None, Action]] = [
    ("2.3", EXAMPLES["start"], 1, Place((0, 0))),
    ("2.3", EXAMPLES["start"], None, Place((0, 0))),
    ("2.3", STAR, 1, Move((5, 2), (3, 2))),
    ("2.3", EXAMPLES["tie"], 0, Move((0, 0), (2, 0))),
    ("2.3", EXAMPLES["stuck"], 0, Move((0, 0), (1, 0))),
    ("3.2", PLACING, 0, Place((0, 3))),
    ("3.2", PLACING, 0, Place((-1, 0))),
    ("3.2", PLACING, 0, Place((0, -1))),
    ("3.2", PLACING, 0, Place((4, 0))),
    ("3.2", PLACING, 0, Place((0, 4))),
    ("3.2", PLACING, 0, Place((2**31 - 1, -(2**31)))),
    ("3.3", PLACING, 0, Place((0, 0))),
    ("3.3", PLACING, 0, Place((3, 3))),
    ("3.4", PLACING, 0, Move((0, 0), (2, 0))),
    ("3.4", PLACING, 0, Move((0, 0), (0, 1))),
    ("3.5", EXAMPLES["cramped"], 2, Place((0, 0))),
    ("3.5", EXAMPLES["cramped"], 2, Place((9, 9))),
    ("4.1", STAR, 0, Move((5, 2), (3, 2))),
    ("4.1", STAR, 0, Move((0, 0), (2, 0))),
    ("4.1", STAR, 0, Move((6, 1), (4, 1))),
    ("4.1", STAR, 0, Move((-1, 0), (1, 0))),
    ("4.2", STAR, 0, Move((3, 1), (3, 1))),
    ("4.2", STAR, 0, Move((3, 1), (3, 2))),
    ("4.2", STAR, 0, Move((3, 1), (2, 0))),
    ("4.2", STAR, 0, Move((3, 1), (-1, 1))),
    ("4.2", STAR, 0, Move((3, 1), (0, 1))),
    ("4.3", STAR, 0, Move((3, 1), (5, 2))),
    ("4.3", state_of([[1], [1], [0], [1], [1], [1]], [[(0, 0)], [(5, 0)]]), 0, Move((0, 0), (2, 0))),
    ("4.3", state_of([[1], [1], [0], [1], [1], [1]], [[(0, 0)], [(5, 0)]]), 0, Move((0, 0), (4, 0))),
    ("4.3", state_of([[1], [1], [1], [1], [1], [1]], [[(0, 0), (2, 0)], [(5, 0)]]), 0, Move((0, 0), (4, 0))),
    ("4.5", STAR, 0, Place((0, 0))),
    ("4.5", STAR, 0, Place((9, 9))),
]


def then(state: State, *actions: Action) -> State:
    """The position after these actions, each of which must be legal."""
    for action in actions:
        FISH.check(FISH.view(state, FISH.turn(state)), action)
        state = FISH.apply(state, action)
    return state


def positions(state: State, seat: Seat) -> list[tuple[int, int]]:
    return [state.grid.positions[cell] for cell in state.penguins[seat]]


def legal(state: State) -> list[Action]:
    return list(FISH.actions(FISH.view(state, FISH.turn(state))))


def zigzag(view: Any) -> Action:
    return next(FISH.actions(view), Place((0, 0)))


# Illegal actions, and the rule book.


@pytest.mark.parametrize(("clause", "state", "seat", "action"), BROKEN, ids=[f"{bug[0]} {bug[3]}" for bug in BROKEN])
def test_an_illegal_action_names_the_clause_that_it_breaks(
    clause: str, state: State, seat: Seat | None, action: Action
) -> None:
    with pytest.raises(IllegalAction) as illegal:
        FISH.check(FISH.view(state, seat), action)

    assert illegal.value.clause == clause
    assert illegal.value.why


# 1 The board.


@pytest.mark.parametrize(
    ("start", "reached"),
    [
        ((2, 1), [(0, 1), (1, 1), (3, 1), (4, 1), (3, 0), (1, 0)]),
        ((3, 1), [(1, 1), (2, 2), (4, 2), (5, 1), (4, 1), (2, 1)]),
    ],
    ids=["even row", "odd row"],
)
def test_the_six_neighbours_of_a_tile(start: tuple[int, int], reached: list[tuple[int, int]]) -> None:
    state = state_of([[1] * 4 for _ in range(6)], [[start]])
    cell = state.grid.cell(start)
    assert cell is not None

    first_steps = [state.grid.positions[line[0]] for line in state.grid.lines[cell]]

    assert first_steps == reached


def test_a_penguin_moves_in_every_direction_up_to_the_first_obstacle() -> None:
    moves = [action.to for action in legal(STAR) if isinstance(action, Move)]

    assert sorted(moves) == sorted(
        [
            *((1, 1),),  # N
            *((2, 2), (1, 2)),  # NE
            *((4, 2),),  # SE, where white stands in the way
            *((5, 1), (7, 1)),  # S
            *((4, 1), (5, 0), (6, 0)),  # SW
            *((2, 1), (1, 0), (0, 0)),  # NW
        ]
    )


# 3 Placing.


def test_placing_goes_round_and_neither_scores_nor_takes_a_tile() -> None:
    state = EXAMPLES["start"]

    after = then(state, Place((0, 0)), Place((0, 1)), Place((4, 4)))

    assert (positions(after, 0), positions(after, 1)) == ([(0, 0), (4, 4)], [(0, 1)])
    assert (after.fish, after.scores, FISH.turn(after)) == (state.fish, (0, 0), 1)


def test_every_free_tile_can_be_placed_on_row_by_row() -> None:
    assert legal(PLACING) == [Place(at) for at in [(0, 1), (1, 2), (1, 3), (2, 1), (2, 3), (3, 0), (3, 1)]]


def test_when_all_penguins_are_placed_the_first_player_moves() -> None:
    after = then(PLACING, Place((0, 1)), Place((1, 2)), Place((2, 1)))

    assert (after.stage, FISH.turn(after)) == (Stage.PLAYING, 0)


def test_the_game_can_be_over_right_after_the_placing() -> None:
    state = Fish(rows=2, columns=4, fish=1).deal(2, bytes(32))

    after = then(state, *(Place(at) for at in state.grid.positions))

    assert (after.stage, FISH.turn(after)) == (Stage.DONE, None)
    assert FISH.ranking(after) == (frozenset({0, 1}),)


def test_an_ejection_while_placing_keeps_the_order_of_the_others() -> None:
    state = FISH.eject(Fish(rows=4, columns=4).deal(3, bytes(32)), 0, Moment.TURN)
    turns = []

    for at in state.grid.positions[:6]:
        turns.append(FISH.turn(state))
        state = then(state, Place(at))

    assert turns == [1, 2, 1, 2, 1, 2]
    assert state.stage is not Stage.PLACING


def test_the_number_of_penguins_does_not_change_when_a_player_leaves() -> None:
    state = Fish(rows=4, columns=4).deal(4, bytes(32))

    for seat, moment in ((0, Moment.GREETING), (3, Moment.GREETING)):
        state = FISH.eject(state, seat, moment)
    after = then(state, *(Place(at) for at in state.grid.positions[:4]))

    assert [len(penguins) for penguins in after.penguins] == [0, 2, 2, 0]
    assert after.stage is Stage.PLAYING


def test_a_player_without_a_free_tile_to_place_on_is_out_by_clause_3_5() -> None:
    state = EXAMPLES["cramped"]
    match: Any = Match(FISH, state, ("ann", "bob", "cyd"))

    final = play(match, [ScriptedChannel(strategy_script(zigzag)) for _ in range(3)])

    assert legal(state) == []
    assert [(ejected.seat, ejected.fault) for ejected in final.ejected] == [(2, Fault.ILLEGAL)]
    assert final.ejected[0].why.startswith("rule 3.5: no legal option")
    assert {seat for group in final.result.ranking for seat in group} == {0, 1}


# 4 Moving.


def test_a_penguin_that_leaves_takes_its_tile_and_the_fish_on_it() -> None:
    after = then(STAR, Move((3, 1), (1, 1)))

    assert positions(after, 0) == [(1, 1)]
    assert after.scores == (4 + 1, 6)
    assert (STAR.fish_on((3, 1)), after.fish_on((3, 1)), after.fish_on((1, 1))) == (1, 0, 3)


def test_a_moved_penguin_keeps_its_place_among_the_penguins() -> None:
    state = state_of([[1] * 5 for _ in range(5)], [[(0, 0), (0, 2), (0, 4)], [(4, 4)]])

    after = then(state, Move((0, 2), (2, 2)))

    assert positions(after, 0) == [(0, 0), (2, 2), (0, 4)]


def test_a_stuck_player_is_skipped() -> None:
    state = EXAMPLES["stuck"]

    after = then(state, Move((1, 2), (0, 2)))

    assert not state.can_move(0)
    assert (FISH.turn(state), FISH.turn(after)) == (1, 1)


def test_skips_leave_the_order_as_it_is() -> None:
    line = [[1], [1], [0], [0], [1], [1], [1], [1], [1]]
    state = state_of(line, [[(4, 0)], [(0, 0), (1, 0)], [(8, 0)]])
    assert [state.can_move(seat) for seat in range(3)] == [True, False, True]

    after = then(state, legal(state)[0])

    assert FISH.order(after) == (2, 0, 1)


def test_an_ejection_frees_a_neighbour() -> None:
    state = EXAMPLES["freed by an ejection"]
    assert FISH.turn(state) == 2

    after = FISH.eject(state, 1, Moment.GREETING)

    assert state.can_move(0) is False
    assert after.can_move(0) is True
    assert 0 in FISH.order(after)


# 5 The end.


def test_the_last_player_plays_on_until_it_cannot_move() -> None:
    match: Any = Match(FISH, EXAMPLES["star"], ("ann", "bob"))
    stays, leaves = ScriptedChannel(strategy_script(zigzag)), ScriptedChannel([Failed(Fault.GONE, "left")])

    final = play(match, [stays, leaves])

    turns = [message for message in stays.heard if isinstance(message, TakeTurn)]
    assert len(turns) > 3
    assert final.state.stage is Stage.DONE
    assert not final.state.can_move(0)
    assert final.result.ranking == (frozenset({0}),)


def test_players_are_ranked_by_fish_and_a_tie_shares_a_rank() -> None:
    assert FISH.ranking(EXAMPLES["tie"]) == (frozenset({0, 1}), frozenset({2}))


@pytest.mark.parametrize(
    ("scores", "ranking"),
    [
        ([1, 2, 3, 4], [{3}, {2}, {1}, {0}]),
        ([5, 5, 5, 5], [{0, 1, 2, 3}]),
        ([0, 7, 0, 7], [{1, 3}, {0, 2}]),
        ([9, 1, 1, 3], [{0}, {3}, {1, 2}]),
    ],
)
def test_fish_ranks_players_by_their_scores(scores: list[int], ranking: list[set[int]]) -> None:
    state = state_of([[1, 1], [1, 1]], [[], [], [], []], scores=scores, order=[2, 3, 0, 1])

    assert FISH.ranking(state) == tuple(frozenset(group) for group in ranking)


def test_ejected_players_are_not_ranked_whatever_their_score() -> None:
    after = FISH.eject(EXAMPLES["tie"], 0, Moment.TURN)

    assert FISH.ranking(after) == (frozenset({1}), frozenset({2}))
    assert after.scores == (7, 7, 3)


# 6 Ejection.


def test_an_ejected_player_takes_its_penguins_and_leaves_the_tiles() -> None:
    after = FISH.eject(STAR, 0, Moment.TURN)

    assert after.penguins[0] == ()
    assert (after.fish, after.fish_on((3, 1))) == (STAR.fish, 1)
    assert after.free == STAR.free | 1 << 3 * 3 + 1
    assert FISH.turn(after) == 1


def test_the_game_is_over_when_all_players_left() -> None:
    state = FISH.eject(FISH.eject(STAR, 1, Moment.TURN), 0, Moment.TURN)

    assert (state.stage, FISH.turn(state), FISH.order(state), FISH.ranking(state)) == (Stage.DONE, None, (), ())
