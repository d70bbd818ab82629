"""Define a game of the kit for one to three players, with heaps of matches, points and two kinds of actions."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from fairplay.kit import Action, BoardGame


class Take(Action, frozen=True):
    """Take some matches from a heap."""

    heap: int
    count: int


class Pass(Action, frozen=True):
    """Do nothing, once in a game."""


class Table(msgspec.Struct, frozen=True):
    heaps: tuple[int, ...]
    taken: tuple[int, ...]  # by seat
    passed: tuple[bool, ...]  # by seat


class Heaps(BoardGame[Table, Take | Pass], frozen=True):
    """Whoever takes most matches wins."""

    name = "heaps"
    seats = range(1, 4)
    signs = "ab"

    most: Annotated[int, Meta(ge=1, le=9, description="of matches on a heap")] = 4

    def start(self, seats: int) -> Table:
        return Table(tuple(range(1, self.most + 1)), (0,) * seats, (False,) * seats)

    def moves(self, position: Table, seat: int) -> Iterator[Take | Pass]:
        for heap, left in enumerate(position.heaps):
            yield from (Take(heap, count) for count in range(1, min(3, left) + 1))
        if any(position.heaps) and not position.passed[seat]:
            yield Pass()

    def after(self, position: Table, seat: int, action: Take | Pass) -> Table:
        if isinstance(action, Pass):
            passed = tuple(did or one == seat for one, did in enumerate(position.passed))
            return Table(position.heaps, position.taken, passed)
        heaps = tuple(left - (heap == action.heap) * action.count for heap, left in enumerate(position.heaps))
        taken = tuple(had + (one == seat) * action.count for one, had in enumerate(position.taken))
        return Table(heaps, taken, position.passed)

    def points(self, position: Table) -> tuple[int, ...]:
        return position.taken

    def rows(self, position: Table) -> list[str]:
        return [
            "".join("a" if place == 0 else "|" for place in range(left)).ljust(self.most, ".")
            for left in position.heaps
        ]
