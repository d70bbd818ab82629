"""Make the members of enums immutable, as all matches share them."""

from enum import Enum
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type[Enum])


def immutable(kind: Kind) -> Kind:
    """Decorate an enum so that its members cannot be changed.

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
