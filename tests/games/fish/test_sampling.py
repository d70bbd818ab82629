"""Test the search of Fish by playouts: the tree grows as specified, and obvious steps are found."""

from fairplay.games.fish.sampling import NOTHING, Node, best_step, lead, sample, successors
from fairplay.games.fish.state import State, state_of
from fairplay.games.fish.steps import reach_function

SEED = bytes(range(32))
# Red can cut white off from all the fives, or take one of them now.
LINE = state_of([[1], [0], [1], [0], [5], [0], [5], [0], [5], [0], [1]], [[(10, 0)], [(0, 0)]])


def grown(state: State, playouts: int) -> Node:
    root, reach = Node(state.order[0], NOTHING), reach_function(state)
    root.next = successors(state, reach)
    for number in range(playouts):
        sample(root, state, reach, number, SEED)
    return root


def test_sampling_cuts_the_opponent_off() -> None:
    assert best_step(LINE, 100, SEED) == (10, 2)


def test_without_playouts_the_tile_with_most_fish_is_taken() -> None:
    assert best_step(LINE, 0, SEED) == (10, 4)


def test_every_playout_is_counted_along_its_way() -> None:
    root = grown(LINE, 50)

    assert root.visits == sum(node.visits for node in root.next) == 50
    assert root.reply == sum(node.lead for node in root.next)
    assert {node.seat for node in root.next} == {0}


def test_a_node_is_unfolded_at_the_second_visit() -> None:
    nodes = [node for playouts in range(12) for node in grown(LINE, playouts).next]

    assert {node.visits for node in nodes if not node.next} == {0, 1}
    assert min(node.visits for node in nodes if node.next) == 2


def test_steps_that_did_well_and_steps_rarely_tried_are_tried_next() -> None:
    root = Node(0, NOTHING)
    root.next = good, bad, new = [Node(0, (0, to)) for to in (1, 2, 3)]
    root.visits, root.reply = 20, 20
    good.visits, good.lead = 10, 40
    bad.visits, bad.lead = 10, -20

    assert root.most_promising() is new
    new.visits, new.lead = 10, 0
    assert root.most_promising() is good
    good.visits, good.lead = 1000, 4000
    root.visits = 10_000
    assert root.most_promising() is new


def test_a_lead_ignores_players_that_were_out_before() -> None:
    state = state_of([[1, 1], [1, 1], [1, 1]], [[(0, 0)], [(0, 1)], []], order=[0, 1])

    assert lead(state, (7, 4, 90), 0) == 3
    assert lead(state, (7, 4, 90), 1) == -3


def test_a_player_that_can_do_nothing_has_no_step() -> None:
    assert best_step(state_of([[1], [0], [0]], [[(0, 0)]]), 10, SEED) is None
