"""Test the game tree of Fish, and that its built-in players and their searches do what their descriptions say."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from msgspec.structs import replace

from fairplay.core.errors import IllegalAction
from fairplay.core.game import Seat
from fairplay.core.roles import Strategy
from fairplay.games.fish import sampling, strategies, territory
from fairplay.games.fish.actions import Action, Move, Place
from fairplay.games.fish.examples import EXAMPLES
from fairplay.games.fish.game import Fish
from fairplay.games.fish.search import best_move
from fairplay.games.fish.state import Stage, State, skip_turn, state_of
from fairplay.games.fish.steps import NOWHERE, apply_step
from fairplay.games.fish.strategies import BUILT_IN, greedy, lookahead, random_strategy, zigzag
from fairplay.games.fish.territory import best_step
from fairplay.games.fish.tree import SKIP, Node, Skip
from fairplay.games.fish.view import View
from tests.nonempty import nonempty


def small_positions(seed: int, count: int, most_free: int) -> Iterator[State]:
    """Random positions with holes, 1 to 4 players and 1 to 3 penguins each, in which some player can move."""
    chance = Random(seed)
    while count:
        rows, columns = chance.randint(2, 6), chance.randint(1, 4)
        spots = [(row, column) for row in range(rows) for column in range(columns)]
        players, each = chance.randint(1, 4), chance.randint(1, 3)
        if len(spots) <= players * each:
            continue
        chance.shuffle(spots)
        penguins = [spots[seat * each : seat * each + each] for seat in range(players)]
        fish = chance.choice([(0, 1, 2, 3, 4, 5), (1, 2, 3, 4, 5), (0, 2, 2, 2)])
        board = [[chance.choice(fish) for _ in range(columns)] for _ in range(rows)]
        for row, column in (place for places in penguins for place in places):
            board[row][column] = board[row][column] or 1
        order = chance.sample(range(players), players)
        state = state_of(board, penguins, scores=[chance.randint(0, 9) for _ in penguins], order=order)
        if state.stage is Stage.PLAYING and state.free.bit_count() <= most_free:
            count -= 1
            yield state


TRIANGLE = state_of([[1, 2], [3, 4]], [[(0, 0)], [(0, 1)]])

# Red cannot move out of the corner, white can move.
STUCK = skip_turn(state_of([[3, 0, 1], [2, 0, 4], [0, 5, 0]], [[(0, 0)], [(1, 0), (1, 2)]], order=[1, 0]))

# Holes surround both penguins.
OVER = state_of([[1, 0, 1]], [[(0, 0)], [(0, 2)]])


def test_successors_are_made_one_by_one() -> None:
    visited: list[Node] = []
    successors = Node(state_of([[1, 2, 3], [2, 3, 1]], [[(1, 1)], [(0, 0)]])).map_children(visited.append)

    assert visited == []
    next(successors)
    assert len(visited) == 1


def test_a_stuck_player_has_exactly_one_branch_which_changes_nothing_but_the_turn() -> None:
    after = Node(STUCK).child(SKIP).state

    assert list(Node(STUCK).branches()) == [SKIP]
    assert (STUCK.order, after.order) == ((0, 1), (1, 0))
    assert skip_turn(after) == STUCK


@pytest.mark.parametrize(
    "state",
    [
        OVER,
        replace(OVER, stage=Stage.PLAYING),  # before the stage was updated
        state_of([[1]], []),
        state_of([[1, 2], [3, 4]], [[(0, 0)], []], stage=Stage.PLACING, each=1, order=[1, 0]),
    ],
    ids=["done", "still playing", "no players", "before the tree begins"],
)
def test_a_node_without_moves_has_no_branches_and_none_is_legal(state: State) -> None:
    node = Node(state)

    assert [*node.branches(), *node.map_children(lambda after: after)] == []
    for branch in (SKIP, Move((0, 0), (1, 0))):
        with pytest.raises(IllegalAction):
            node.child(branch)


@pytest.mark.parametrize(
    ("branch", "clause"),
    [
        (Move((1, 0), (1, 1)), "4.1"),  # no penguin there
        (Move((0, 1), (1, 1)), "4.1"),  # the penguin of another player
        (Move((0, 0), (0, 1)), "4.2"),  # no line
        (Move((0, 0), (9, 9)), "4.2"),  # not on the board
        (Move((0, 0), (0, 0)), "4.2"),  # no move
        (SKIP, "4.6"),  # though it can move
    ],
)
def test_the_branches_are_the_legal_moves_of_the_first_player(branch: Move | Skip, clause: str) -> None:
    node = Node(TRIANGLE)

    assert list(node.branches()) == [Move((0, 0), (1, 0))]
    assert node.child(Move((0, 0), (1, 0))).state.scores == (1, 0)
    with pytest.raises(IllegalAction) as refused:
        node.child(branch)
    assert refused.value.clause == clause


def line(*fish: int) -> list[list[int]]:
    """A board of one straight line, from north to south."""
    return [[count] for tile in fish for count in (tile, 0)]


def test_the_search_cuts_the_opponent_off_instead_of_taking_the_nearest_fish() -> None:
    race = state_of(line(1, 1, 5, 5, 5, 5, 1), [[(12, 0)], [(0, 0)]])
    placing = state_of(line(1, 1, 3, 1, 0, 5), [[], []], stage=Stage.PLACING, each=1)

    assert best_step(race, 100) == (12, 2)
    assert best_step(race, 1) == (12, 4)  # of one position, most fish
    assert best_step(placing, 1000) == (NOWHERE, 4)
    assert best_step(state_of(line(1, 0, 1), [[(0, 0)], [(4, 0)]]), 10) is None


def lead(state: State, me: Seat) -> int:
    others = [state.scores[seat] for seat in state.order if seat != me]
    return sum(state.scores[me] - score for score in others) if others else state.scores[me]


def plain_lead(node: Node, me: Seat) -> int:
    branches = list(node.branches())
    if not branches:
        return lead(node.state, me)
    return (max if node.state.order[0] == me else min)(node.map_children(lambda after: plain_lead(after, me)))


def test_with_enough_positions_the_territory_search_is_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(territory, "WIDTH", 100)
    for state in nonempty(small_positions(seed=5, count=150, most_free=6)):
        me, step = state.order[0], best_step(state, 10**6)
        assert step is not None
        assert plain_lead(Node(apply_step(state, step)), me) == plain_lead(Node(state), me), state


SEED = bytes(range(32))
# Red can cut white off from all the fives, or take one of them now.
LINE = state_of([[1], [0], [1], [0], [5], [0], [5], [0], [5], [0], [1]], [[(10, 0)], [(0, 0)]])


def test_sampling_cuts_the_opponent_off_or_takes_the_tile_with_most_fish() -> None:
    assert sampling.best_step(LINE, 100, SEED) == (10, 2)
    assert sampling.best_step(LINE, 0, SEED) == (10, 4)
    assert sampling.best_step(state_of([[1], [0], [0]], [[(0, 0)]]), 10, SEED) is None


KEY = bytes(range(32))
GAME = Fish(rows=4, columns=4)


def make(address: str) -> Strategy[View, Action]:
    name, _, parameter = address.partition(":")
    return BUILT_IN[name].make(parameter, KEY)


def plain_value(node: Node, me: Seat, turns: int) -> int:
    """My fish after so many of my turns, by the definition; the search ends early if I am stuck, as I stay stuck."""
    state = node.state
    if turns == 0 or not state.can_move(me):
        return state.scores[me]
    if state.order[0] == me:
        return max(node.map_children(lambda after: plain_value(after, me, turns - 1)))
    return min(node.map_children(lambda after: plain_value(after, me, turns)))


def plain_best(state: State, turns: int) -> Move:
    node, me = Node(state), state.order[0]
    moves = sorted((branch for branch in node.branches() if isinstance(branch, Move)), key=lambda m: (m.start, m.to))
    return max(moves, key=lambda move: plain_value(node.child(move), me, turns - 1))


@pytest.mark.parametrize(("turns", "count", "most_free"), [(1, 300, 12), (2, 300, 9), (3, 300, 7), (4, 200, 6)])
def test_the_search_agrees_with_the_plain_definition(turns: int, count: int, most_free: int) -> None:
    for state in nonempty(small_positions(turns, count, most_free)):
        assert best_move(state, state.order[0], turns) == plain_best(state, turns), state


PLACES = state_of([[0, 2, 5], [4, 5, 5]], [[(0, 2)], []], stage=Stage.PLACING, each=2, order=[1, 0])
MOVES = state_of([[1, 2, 3], [2, 4, 1], [1, 4, 2], [1, 4, 1]], [[(2, 2), (1, 0)], [(0, 0)]])


def test_zigzag_places_row_by_row_and_greedy_goes_to_the_first_tile_with_most_fish() -> None:
    assert zigzag(View(1, PLACES)) == lookahead(3)(View(1, PLACES)) == Place((0, 1))
    assert greedy(View(1, PLACES)) == Place((1, 1))
    assert greedy(View(0, MOVES)) == Move((1, 0), (2, 1))


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_players_answer_even_where_there_is_no_legal_option(name: str) -> None:
    view = View(2, EXAMPLES["cramped"])

    answer = BUILT_IN[name].make("", KEY)(view)

    assert isinstance(answer, Place)
    with pytest.raises(IllegalAction, match="no legal option"):
        GAME.check(view, answer)


@pytest.mark.parametrize("example", ["start", "star"])
def test_random_draws_all_actions_equally_often(example: str) -> None:
    state = EXAMPLES[example]
    view = View(state.order[0], state)
    options = list(GAME.actions(view))

    drawn = Counter(random_strategy(key.to_bytes(32, "big"))(view) for key in range(200 * len(options)))

    assert set(drawn) == set(options)
    assert all(130 < times < 270 for times in drawn.values())  # five standard deviations from 200


@pytest.mark.parametrize("address", ["sampler:2000", "territory:9000"])
def test_players_spend_less_effort_on_a_large_board(address: str) -> None:
    game = Fish(rows=20, columns=20)
    state, strategy = game.deal(4, KEY), make(address)
    for _ in range(2):
        state = game.apply(state, strategy(View(state.order[0], state)))

    assert strategies.scaled_effort(9000, state) == 28
    assert strategies.scaled_effort(9000, Fish().deal(2, KEY)) == 9000


@pytest.mark.parametrize("address", ["sampler:40", "territory:40"])
def test_no_penguin_is_placed_where_it_could_not_move(address: str) -> None:
    state = state_of([[5, 0, 1, 2], [0, 0, 1, 1], [0, 0, 2, 1], [5, 0, 1, 1]], [[], []], stage=Stage.PLACING, each=1)

    assert greedy(View(0, state)) == Place((0, 0))  # an island
    answer = make(address)(View(0, state))
    assert isinstance(answer, Place)
    assert answer.at[1] >= 2
