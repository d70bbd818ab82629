"""Decide who plays with whom: a policy puts those who wait in order, and tables are cut from that."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from math import inf
from random import Random

import msgspec

PENALTY_S, MAX_PENALTY_S = 0.25, 60.0  # until suspects may sit with each other; with others it doubles for each time
ROOMS_PER_PENALTY = 32  # that open without a suspect before it counts as anybody, for each time


class Trust(IntEnum):
    """How likely it is that a client stays in its room until the match begins."""

    SUSPECT = 0  # clients like this one have vanished
    STAYED = 1  # so they have, but this one stayed when another vanished
    FULL = 2


class WaitingClient(msgspec.Struct, frozen=True):
    """Somebody who waits for a room."""

    id: str
    since: float  # on whatever clock
    met: Mapping[str, int] = {}  # how often it has played with others, by their ids
    trust: Trust = Trust.FULL
    vanished: int = 0  # how often clients like this one left their rooms before a match

    @property
    def ready_at(self) -> float:
        """When it may sit with others of its trust."""
        return self.since + PENALTY_S if self.trust is Trust.SUSPECT else -inf

    @property
    def mixes_at(self) -> float:
        """When it may sit with clients of more trust, if those are too few."""
        if self.trust is not Trust.SUSPECT:
            return -inf
        return self.since + min(PENALTY_S * 2.0 ** (self.vanished - 1), MAX_PENALTY_S)


Policy = Callable[[Sequence[WaitingClient], Random], list[WaitingClient]]


def order(waiting: Sequence[WaitingClient], random: Random) -> list[WaitingClient]:
    """Whoever has waited longest comes first."""
    return sorted(waiting, key=lambda one: one.since)


def shuffle(waiting: Sequence[WaitingClient], random: Random) -> list[WaitingClient]:
    """By lot, so that nobody chooses its opponents by when it comes; but whoever has waited longest plays."""
    first, *others = order(waiting, random)
    random.shuffle(others)
    return [first, *others]


def new_faces(waiting: Sequence[WaitingClient], random: Random) -> list[WaitingClient]:
    """Whoever has waited longest plays with those whom it has met least."""
    first, *others = order(waiting, random)
    return [first, *sorted(others, key=lambda one: (first.met.get(one.id, 0), one.since))]


POLICIES: dict[str, Policy] = {"order": order, "shuffled": shuffle, "new-faces": new_faces}


def form_tables(
    waiting: Sequence[WaitingClient],
    now: float,
    *,
    min_players: int,
    max_players: int,
    wait: float,
    policy: str = "order",
    has_fill: bool = False,  # does somebody take the seats that stay free?
    random: Random,
) -> list[list[WaitingClient]]:
    """Those who can begin now, table by table: as many as there may be at once, or after a while those who are there.

    Clients sit with others of their trust, suspects after a penalty. Only if those of more trust are too few for a
    table, clients of less trust fill it up, suspects after a longer one.

    >>> def at(*times: float) -> list[WaitingClient]:
    ...     return [WaitingClient(f"{time:g}", time) for time in times]
    >>> ids = lambda tables: [[one.id for one in table] for table in tables]
    >>> ids(form_tables(at(1, 2, 3, 4, 5), 5, min_players=2, max_players=2, wait=10, random=Random(0)))
    [['1', '2'], ['3', '4']]
    >>> ids(form_tables(at(1, 2, 3), 5, min_players=2, max_players=4, wait=10, random=Random(0)))
    []
    >>> ids(form_tables(at(1, 2, 3), 11, min_players=2, max_players=4, wait=10, random=Random(0)))
    [['1', '2', '3']]
    """
    left, made = list(waiting), list[list[WaitingClient]]()

    def cut(pool: list[WaitingClient]) -> None:
        while pool:
            is_up = now >= min(one.since for one in pool) + wait  # as whoever looks again then works it out
            if len(pool) < max_players and not (is_up and (len(pool) >= min_players or has_fill)):
                break
            table = POLICIES[policy](pool, random)[:max_players]
            made.append(table)
            pool = [one for one in pool if one not in table]
            left[:] = [one for one in left if one not in table]

    for trust in sorted({one.trust for one in waiting}, reverse=True):
        above = [one for one in left if one.trust > trust]
        if above and len(above) < min_players and not has_fill:
            cut([*above, *(one for one in left if one.trust is trust and one.mixes_at <= now)])
        cut([one for one in left if one.trust is trust and one.ready_at <= now])
    return made
