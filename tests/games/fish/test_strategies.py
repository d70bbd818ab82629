"""Test that the built-in players of Fish do what their descriptions say."""

from collections import Counter
from itertools import pairwise

import pytest

from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.core.game import Seat
from fairplay.core.roles import Strategy
from fairplay.games.fish import strategies
from fairplay.games.fish.actions import Action, Move, Place
from fairplay.games.fish.examples import EXAMPLES
from fairplay.games.fish.game import Fish
from fairplay.games.fish.search import best_move
from fairplay.games.fish.state import Stage, State, state_of
from fairplay.games.fish.strategies import BUILT_IN, LADDER, greedy, lookahead, random_strategy, sampler, zigzag
from fairplay.games.fish.tree import Node
from fairplay.games.fish.view import View
from tests.built_in_players import quick_player
from tests.games.fish.positions import small_positions
from tests.nonempty import nonempty

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


def test_looking_one_turn_ahead_takes_the_largest_tile_under_a_movable_penguin() -> None:
    state = state_of([[5, 1, 1], [0, 3, 1], [0, 1, 1]], [[(0, 0), (1, 1)], [(2, 2)]])  # nothing leads away from the 5

    assert best_move(state, 0, 1) == Move((1, 1), (0, 1))


def test_of_equal_moves_the_first_by_row_and_column_is_taken() -> None:
    state = state_of([[2] * 4] * 4, [[(2, 2), (1, 1)], [(3, 3)]])

    assert best_move(state, 0, 0) == best_move(state, 0, 1) == Move((1, 1), (0, 1))


def test_a_stuck_player_has_no_best_move() -> None:
    assert best_move(EXAMPLES["stuck"], 0, 2) is None


def test_looking_further_ahead_avoids_a_dead_end() -> None:
    state = state_of([[1, 0, 0, 1], [2, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]], [[(1, 0)], [(0, 3)]])

    assert best_move(state, 0, 1) == Move((1, 0), (0, 0))
    assert best_move(state, 0, 2) == Move((1, 0), (2, 1))


def test_blocking_penguins_can_be_in_each_others_way() -> None:
    state = state_of([[5, 2], [1, 3], [3, 5]], [[(1, 1)], [(0, 0)], [(2, 0)]])

    # White can take one exit, [1, 0], but only brown could take the other, and its way leads over [1, 0].
    assert best_move(state, 0, 2) == plain_best(state, 2) == Move((1, 1), (2, 1))


def test_zigzag_takes_the_first_free_tile_row_by_row() -> None:
    state = state_of([[0, 1, 1], [1, 1, 1]], [[(0, 1)], []], stage=Stage.PLACING, each=2, order=[1, 0])

    assert zigzag(View(1, state)) == Place((0, 2))


def test_lookahead_places_by_zigzag() -> None:
    start = GAME.deal(2, KEY)

    assert lookahead(3)(View(0, start)) == Place((0, 0))


def test_greedy_places_on_the_first_tile_with_most_fish() -> None:
    state = state_of([[1, 2, 5], [4, 5, 5]], [[(0, 2)], []], stage=Stage.PLACING, each=2, order=[1, 0])

    assert greedy(View(1, state)) == Place((1, 1))


def test_greedy_moves_to_the_tile_with_most_fish() -> None:
    board = [[1, 2, 3], [2, 4, 1], [1, 4, 2], [1, 4, 1]]
    state = state_of(board, [[(2, 2), (1, 0)], [(0, 0)]])

    assert greedy(View(0, state)) == Move((1, 0), (2, 1))


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_built_in_players_do_nothing_illegal(name: str, players: int) -> None:
    strategy = quick_player("fish", name, KEY)
    for seed in range(5):
        state = GAME.deal(players, bytes([seed] * 32))
        while (seat := GAME.turn(state)) is not None:
            action = strategy(View(seat, state))
            GAME.check(View(seat, state), action)
            state = GAME.apply(state, action)


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


def test_lookahead_looks_as_far_as_its_parameter_says() -> None:
    for state in nonempty(small_positions(seed=8, count=50, most_free=7)):
        view = View(state.order[0], state)
        assert (
            BUILT_IN["lookahead"].make("", KEY)(view)
            == BUILT_IN["lookahead"].make("2", KEY)(view)
            == lookahead(2)(view)
        )
        assert BUILT_IN["lookahead"].make("3", KEY)(view) == plain_best(state, 3)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("lookahead", "x"),
        ("lookahead", "0"),
        ("lookahead", "-1"),
        ("lookahead", "10"),
        ("lookahead", " 2"),
        ("lookahead", "2.0"),
        ("lookahead", "٢"),
        ("sampler", "x"),
        ("sampler", "0"),
        ("sampler", "50001"),
        ("sampler", "1e3"),
        ("territory", "-1"),
        ("territory", "0"),
        ("territory", "007"),
        ("territory", "10000001"),
        ("territory", "٢"),
        ("territory", "9" * 5000),
        ("random", "3"),
        ("greedy", "1"),
    ],
)
def test_an_invalid_parameter_of_a_built_in_player_is_refused_in_one_line(name: str, parameter: str) -> None:
    with pytest.raises(BadRequest) as refused:
        BUILT_IN[name].make(parameter, KEY)

    assert "\n" not in str(refused.value)
    assert name in str(refused.value)
    assert repr(parameter) in str(refused.value)


def test_every_built_in_player_has_a_description_of_one_line() -> None:
    for player in BUILT_IN.values():
        assert player.description
        assert "\n" not in player.description


def test_the_five_players_of_the_ladder_play_legally() -> None:
    assert len(set(LADDER)) == 5
    game = Fish(rows=3, columns=3)
    for players in pairwise(LADDER):
        state = game.deal(2, KEY)
        while (seat := game.turn(state)) is not None:
            action = quick_player("fish", players[seat].partition(":")[0], KEY)(View(seat, state))
            game.check(View(seat, state), action)
            state = game.apply(state, action)


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


def test_the_same_key_samples_the_same_action_and_other_keys_do_not() -> None:
    view = View(0, Fish(rows=5, columns=5, fish=2).deal(2, KEY))
    keys = [bytes([number] * 32) for number in range(8)]

    answers = [sampler(30, key)(view) for key in keys]

    assert answers == [sampler(30, key)(view) for key in keys]
    assert len(set(answers)) > 1
