"""Keep players from assigning to the members of an enum, which all matches share."""

from enum import Enum
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type[Enum])


def immutable(kind: Kind) -> Kind:
    """Decorate an enum whose members cannot be changed once they are made.

    >>> @immutable
    ... class Stage(Enum):
    ...     DONE = "done"
    >>> Stage.DONE._value_ = "placing"
    Traceback (most recent call last):
    AttributeError: members of Stage cannot be changed
    """

    def refuse(self: Enum, *change: Any) -> None:
        raise AttributeError(f"members of {type(self).__name__} cannot be changed")

    for method in ("__setattr__", "__delattr__"):
        setattr(kind, method, refuse)
    return kind
