"""Test the game tree of Fish."""

import pytest

from fairplay.core.errors import IllegalAction
from fairplay.games.fish.actions import Move
from fairplay.games.fish.state import Stage, State, skip_turn, state_of
from fairplay.games.fish.tree import SKIP, Node

TRIANGLE = state_of([[1, 2], [3, 4]], [[(0, 0)], [(0, 1)]])

# Red cannot move out of the corner, white can move.
STUCK = skip_turn(state_of([[3, 0, 1], [2, 0, 4], [0, 5, 0]], [[(0, 0)], [(1, 0), (1, 2)]], order=[1, 0]))

# Holes surround both penguins.
OVER = state_of([[1, 0, 1]], [[(0, 0)], [(0, 2)]])


def before_its_end(state: State) -> State:
    """The same position, before the stage was updated."""
    return State(
        state.grid,
        state.fish,
        state.free,
        state.penguins,
        state.scores,
        state.order,
        Stage.PLAYING,
        state.each,
        state.colours,
    )


def test_the_branches_are_the_legal_moves_of_the_first_player() -> None:
    assert list(Node(TRIANGLE).branches()) == [Move((0, 0), (1, 0))]


def test_a_move_scores_removes_its_tile_and_passes_the_turn() -> None:
    after = Node(TRIANGLE).child(Move((0, 0), (1, 0))).state

    assert after.order == (1, 0)
    assert after.scores == (1, 0)
    assert after.fish_on((0, 0)) == 0
    assert after.penguins[0] == (2,)


def test_a_stuck_player_has_exactly_one_branch() -> None:
    node = Node(STUCK)

    assert node.state.order[0] == 0
    assert list(node.branches()) == [SKIP]
    assert node.child(SKIP).state.order[0] == 1


def test_a_skip_changes_nothing_but_the_turn() -> None:
    after = Node(STUCK).child(SKIP).state

    assert skip_turn(after) == STUCK


@pytest.mark.parametrize(
    "state", [OVER, before_its_end(OVER), state_of([[1]], [])], ids=["done", "still playing", "no players"]
)
def test_a_final_node_has_no_branches(state: State) -> None:
    node = Node(state)

    assert list(node.branches()) == []
    assert list(node.map_children(lambda after: after)) == []


@pytest.mark.parametrize(
    "state", [OVER, before_its_end(OVER), state_of([[1]], [])], ids=["done", "still playing", "no players"]
)
def test_no_branch_is_legal_in_a_final_node(state: State) -> None:
    for branch in (SKIP, Move((0, 0), (1, 0))):
        with pytest.raises(IllegalAction):
            Node(state).child(branch)


@pytest.mark.parametrize(
    ("move", "clause"),
    [
        (Move((1, 0), (1, 1)), "4.1"),  # no penguin there
        (Move((0, 1), (1, 1)), "4.1"),  # the penguin of another player
        (Move((0, 0), (0, 1)), "4.2"),  # no line
        (Move((0, 0), (9, 9)), "4.2"),  # not on the board
        (Move((0, 0), (0, 0)), "4.2"),  # no move
    ],
)
def test_an_illegal_move_is_refused_with_its_clause(move: Move, clause: str) -> None:
    with pytest.raises(IllegalAction) as refused:
        Node(TRIANGLE).child(move)

    assert refused.value.clause == clause


def test_a_player_that_can_move_is_not_skipped() -> None:
    with pytest.raises(IllegalAction) as refused:
        Node(TRIANGLE).child(SKIP)

    assert refused.value.clause == "4.6"


def test_the_tree_begins_after_the_placing() -> None:
    node = Node(state_of([[1, 2], [3, 4]], [[(0, 0)], []], stage=Stage.PLACING, each=1, order=[1, 0]))

    assert list(node.branches()) == []
    with pytest.raises(IllegalAction):
        node.child(Move((0, 0), (1, 0)))


def test_a_function_is_mapped_over_the_direct_successors() -> None:
    board = [[1, 2, 3], [2, 3, 1], [1, 4, 2]]
    node = Node(state_of(board, [[(1, 1)], [(0, 0)]]))

    melted = list(node.map_children(lambda after: after.state.scores[0]))

    assert len(melted) == len(list(node.branches())) == 4
    assert set(melted) == {3}


def test_successors_are_made_one_by_one() -> None:
    visited: list[Node] = []
    successors = Node(state_of([[1, 2, 3], [2, 3, 1]], [[(1, 1)], [(0, 0)]])).map_children(visited.append)

    assert visited == []
    next(successors)
    assert len(visited) == 1


def test_a_node_is_a_value() -> None:
    assert Node(TRIANGLE) == Node(state_of([[1, 2], [3, 4]], [[(0, 0)], [(0, 1)]]))
    with pytest.raises(AttributeError):
        Node(TRIANGLE).state = OVER  # type: ignore[misc]
