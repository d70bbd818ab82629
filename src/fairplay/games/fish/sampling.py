"""Search Fish by random playouts: Monte Carlo tree search for the step with the best results.

The playouts grow a tree. Each descends by the steps that promise most to the seat on turn there: those that did well so
far, and those that were rarely tried. A node that is reached for the second time gets children; from there on, dice
decide. The result for a seat is its lead in fish over the best other seat at the end.
"""

from math import isqrt

from fairplay.core.game import Game, Seat
from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import State
from fairplay.games.fish.steps import NOWHERE, Reach, Step, apply_step, reach_function, steps

EXPLORATION = 16  # the weight of steps that were rarely tried
RULES = Fish()
NOTHING = (NOWHERE, NOWHERE)  # the step that leads to the start


class Node:
    """A step, the seat that takes it, and the results of its playouts."""

    __slots__ = ("lead", "next", "reply", "seat", "step", "visits")

    def __init__(self, seat: Seat, step: Step) -> None:
        self.seat = seat
        self.step = step
        self.next: list[Node] = []  # the children; empty until the second visit
        self.visits = 0
        self.lead = 0  # the sum of the leads of that seat at the end
        self.reply = 0  # and of the leads of the seat that moved next

    def most_promising(self) -> "Node":
        """The step to try next; of equal ones the first."""
        spread = isqrt(EXPLORATION * self.visits)
        usual = self.reply / self.visits if self.visits else 0.0

        def promise(node: Node) -> float:
            return (node.lead / node.visits if node.visits else usual) + spread / (1 + node.visits)

        return max(self.next, key=promise)


def best_step(state: State, playouts: int, seed: bytes) -> Step | None:
    """The step that was tried most often in so many playouts, of equal ones the first; None: no step is legal."""
    reach = reach_function(state)
    root = Node(state.order[0], NOTHING)
    root.next = successors(state, reach)
    if not root.next:
        return None
    for number in range(playouts):
        sample(root, state, reach, number, seed)
    return max(root.next, key=lambda node: node.visits).step


def successors(state: State, reach: Reach) -> list[Node]:
    """A node for each step of the seat on turn."""
    return [Node(state.order[0], step) for step in steps(state, reach)]


def sample(root: Node, start: State, reach: Reach, number: int, seed: bytes) -> None:
    """Make one playout, and add its result to the nodes on its path."""
    state, node, path = start, root, [root]
    while node.next:
        node = node.most_promising()
        state = apply_step(state, node.step)
        path.append(node)
        if node.visits == 1:
            node.next = successors(state, reach)
    (scores,) = Game.playouts(RULES, state, range(number, number + 1), seed)
    seat = state.order[0]
    for node in reversed(path):
        node.visits += 1
        node.lead += lead(start, scores, node.seat)
        node.reply += lead(start, scores, seat)
        seat = node.seat


def lead(start: State, scores: tuple[int, ...], seat: Seat) -> int:
    """By how much a seat is ahead of the best of the others that were in at the start."""
    return scores[seat] - max((scores[other] for other in start.order if other != seat), default=0)
