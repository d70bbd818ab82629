"""Loop over collections that must not be empty, as asserts in an empty loop check nothing."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

Thing = TypeVar("Thing")


def nonempty(things: Iterable[Thing]) -> Iterator[Thing]:
    """All of them; one at least has to be there."""
    empty = True
    for thing in things:
        empty = False
        yield thing
    assert not empty, "there is nothing to loop over"
