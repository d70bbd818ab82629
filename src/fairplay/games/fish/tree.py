"""Build the game tree of Fish, one node at a time."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from fairplay.core.errors import IllegalAction
from fairplay.games.fish.actions import Move
from fairplay.games.fish.game import check_move
from fairplay.games.fish.state import Stage, State, move_penguin, skip_turn

T = TypeVar("T")


class Skip(msgspec.Struct, frozen=True, tag="skip"):
    """The seat on turn cannot move, and the next seat follows; a branch of its own in the tree."""


Branch = Move | Skip
SKIP = Skip()


class Node(msgspec.Struct, frozen=True):
    """A position after the placing, with the seat on turn first in the order, even if it is stuck."""

    state: State

    def branches(self) -> Iterator[Branch]:
        """Every legal move; or only a skip, if there is none but others can move; or nothing, if no player can."""
        state = self.state
        if state.stage is not Stage.PLAYING or not any(state.can_move(seat) for seat in state.order):
            return iter(())
        if not state.can_move(state.order[0]):
            return iter((SKIP,))
        return iter(state.grid.moves(state.penguins[state.order[0]], state.free))

    def child(self, branch: Branch) -> "Node":
        """The node that a branch leads to. Raises IllegalAction if there is no such branch."""
        if self.state.stage is Stage.DONE or not self.state.order:
            raise IllegalAction("5.1", "the game is over")
        match branch:
            case Skip():
                if SKIP not in self.branches():
                    raise IllegalAction("4.6", "only a player that cannot move is skipped, while others can")
            case Move():
                check_move(self.state, self.state.order[0], branch)
        return self._follow(branch)

    def map_children(self, function: Callable[["Node"], T]) -> Iterator[T]:
        """Apply a function to each child, in the order of the branches, lazily."""
        return (function(self._follow(branch)) for branch in self.branches())

    def _follow(self, branch: Branch) -> "Node":
        if isinstance(branch, Skip):
            return Node(skip_turn(self.state))
        columns = self.state.grid.columns
        (row, column), (to_row, to_column) = branch.start, branch.to
        return Node(move_penguin(self.state, row * columns + column, to_row * columns + to_column))
