"""Decide who plays with whom: a policy puts those who wait in order, and tables are cut from that."""

from collections.abc import Callable, Mapping, Sequence
from random import Random

import msgspec


class Waiting(msgspec.Struct, frozen=True):
    """Somebody who waits for a room."""

    id: str
    since: float  # on whatever clock
    met: Mapping[str, int] = {}  # how often it has played with others, by their ids


Policy = Callable[[Sequence[Waiting], Random], list[Waiting]]


def in_order(waiting: Sequence[Waiting], random: Random) -> list[Waiting]:
    """Whoever has waited longest comes first."""
    return sorted(waiting, key=lambda one: one.since)


def shuffled(waiting: Sequence[Waiting], random: Random) -> list[Waiting]:
    """By lot, so that nobody chooses its opponents by when it comes; but whoever has waited longest plays."""
    first, *others = in_order(waiting, random)
    random.shuffle(others)
    return [first, *others]


def new_faces(waiting: Sequence[Waiting], random: Random) -> list[Waiting]:
    """Whoever has waited longest plays with those whom it has met least."""
    first, *others = in_order(waiting, random)
    return [first, *sorted(others, key=lambda one: (first.met.get(one.id, 0), one.since))]


POLICIES: dict[str, Policy] = {"order": in_order, "shuffled": shuffled, "new-faces": new_faces}


def tables(
    waiting: Sequence[Waiting],
    now: float,
    *,
    least: int,
    most: int,
    wait: float,
    policy: str = "order",
    filled: bool = False,  # does somebody take the seats that stay free?
    random: Random,
) -> list[list[Waiting]]:
    """Those who can begin now, table by table: as many as there may be at once, or after a while those who are there.

    >>> def at(*times: float) -> list[Waiting]:
    ...     return [Waiting(f"{time:g}", time) for time in times]
    >>> ids = lambda tables: [[one.id for one in table] for table in tables]
    >>> ids(tables(at(1, 2, 3, 4, 5), 5, least=2, most=2, wait=10, random=Random(0)))
    [['1', '2'], ['3', '4']]
    >>> ids(tables(at(1, 2, 3), 5, least=2, most=4, wait=10, random=Random(0)))
    []
    >>> ids(tables(at(1, 2, 3), 11, least=2, most=4, wait=10, random=Random(0)))
    [['1', '2', '3']]
    """
    left, made = list(waiting), list[list[Waiting]]()
    while left:
        is_up = now >= min(one.since for one in left) + wait  # as whoever looks again then works it out
        if len(left) < most and not (is_up and (len(left) >= least or filled)):
            break
        table = POLICIES[policy](left, random)[:most]
        made.append(table)
        left = [one for one in left if one not in table]
    return made
