"""Choose in Fish by playouts: the step after which matches that are played at random to their end go best.

The playouts grow a tree. Each goes down it by the steps that promise most to whoever is on turn there: those that did
well so far, and those that were tried seldom. Where one comes for the second time, the tree is unfolded by a turn; from
there on dice decide. What counts is by how many fish a seat is ahead of the best of the others in the end.
"""

from math import isqrt

from fairplay.core.game import Game, Seat
from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import State
from fairplay.games.fish.steps import NOWHERE, Reach, Step, apply_step, reach_in, steps

EXPLORATION = 16  # how much it draws one to what was tried seldom
RULES = Fish()
NOTHING = (NOWHERE, NOWHERE)  # the step that leads to the start


class Node:
    """A step, whose it is, and what came of it."""

    __slots__ = ("lead", "next", "reply", "seat", "step", "visits")

    def __init__(self, seat: Seat, step: Step) -> None:
        self.seat = seat
        self.step = step
        self.next: list[Node] = []  # nothing, as long as it is not unfolded
        self.visits = 0
        self.lead = 0  # the sum of what that seat was ahead in the end
        self.reply = 0  # and of what the one was who moved next

    def most_promising(self) -> "Node":
        """The step to try next; of equal ones the first."""
        spread = isqrt(EXPLORATION * self.visits)
        usual = self.reply / self.visits if self.visits else 0.0

        def hope(node: Node) -> float:
            return (node.lead / node.visits if node.visits else usual) + spread / (1 + node.visits)

        return max(self.next, key=hope)


def best_step(state: State, playouts: int, seed: bytes) -> Step | None:
    """The step that was tried most often in so many playouts, of equal ones the first; None: nothing can be done."""
    reach = reach_in(state)
    root = Node(state.order[0], NOTHING)
    root.next = successors(state, reach)
    if not root.next:
        return None
    for number in range(playouts):
        sample(root, state, reach, number, seed)
    return max(root.next, key=lambda node: node.visits).step


def successors(state: State, reach: Reach) -> list[Node]:
    """A node for each step of whoever is on turn."""
    return [Node(state.order[0], step) for step in steps(state, reach)]


def sample(root: Node, start: State, reach: Reach, number: int, seed: bytes) -> None:
    """Make one playout, and remember along its way what came of it."""
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
    """By how much a seat is ahead of the best of the others who were in at the start."""
    return scores[seat] - max((scores[other] for other in start.order if other != seat), default=0)
