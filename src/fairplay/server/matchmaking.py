"""Match waiting clients: a policy orders them, and tables are filled in that order."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from math import inf
from random import Random

import msgspec

PENALTY_S, MAX_PENALTY_S = 0.25, 60.0  # until suspects may play with each other; with others it doubles each time
ROOMS_PER_PENALTY = 32  # opened without a suspect, for each time that it vanished, until it is trusted again


class Trust(IntEnum):
    """How likely a client is to stay in its room until the match begins."""

    SUSPECT = 0  # clients of its identity or address have vanished
    STAYED = 1  # the same, but this client stayed when another vanished
    FULL = 2


class WaitingClient(msgspec.Struct, frozen=True):
    """A client that waits for a room."""

    id: str
    since: float  # on the clock of `now`
    met: Mapping[str, int] = {}  # how many matches it has played with others, by their ids
    trust: Trust = Trust.FULL
    vanish_count: int = 0  # how often clients of its identity or address left their rooms before a match

    @property
    def ready_at(self) -> float:
        """When it may play with others of its trust."""
        return self.since + PENALTY_S if self.trust is Trust.SUSPECT else -inf

    @property
    def mixes_at(self) -> float:
        """When it may play with more trusted clients, if those are too few."""
        if self.trust is not Trust.SUSPECT:
            return -inf
        return self.since + min(PENALTY_S * 2.0 ** (self.vanish_count - 1), MAX_PENALTY_S)


Policy = Callable[[Sequence[WaitingClient], Random], list[WaitingClient]]


def first_come(waiting: Sequence[WaitingClient], random: Random) -> list[WaitingClient]:
    """Longest wait first."""
    return sorted(waiting, key=lambda one: one.since)


def shuffle(waiting: Sequence[WaitingClient], random: Random) -> list[WaitingClient]:
    """Longest wait first, the others at random: no client can choose its opponents by when it comes."""
    first, *others = first_come(waiting, random)
    random.shuffle(others)
    return [first, *others]


def least_met(waiting: Sequence[WaitingClient], random: Random) -> list[WaitingClient]:
    """Longest wait first, then the clients that it has met least."""
    first, *others = first_come(waiting, random)
    return [first, *sorted(others, key=lambda one: (first.met.get(one.id, 0), one.since))]


POLICIES: dict[str, Policy] = {"first-come": first_come, "shuffled": shuffle, "least-met": least_met}


def form_tables(
    waiting: Sequence[WaitingClient],
    now: float,
    *,
    min_players: int,
    max_players: int,
    wait: float,
    policy: str = "first-come",
    has_fill: bool = False,  # built-in players take free seats
    random: Random,
) -> list[list[WaitingClient]]:
    """The tables that can begin now: full ones at once, smaller ones when the longest wait is over.

    Clients play with others of their trust, suspects after a penalty. Less trusted clients fill a table up only if
    there are too few of more trust, suspects after a longer penalty.

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
    left, tables = list(waiting), list[list[WaitingClient]]()

    def cut(pool: list[WaitingClient]) -> None:
        while pool:
            is_up = now >= min(one.since for one in pool) + wait  # rounded as the alarm of a queue is
            if len(pool) < max_players and not (is_up and (len(pool) >= min_players or has_fill)):
                break
            table = POLICIES[policy](pool, random)[:max_players]
            tables.append(table)
            pool = [one for one in pool if one not in table]
            left[:] = [one for one in left if one not in table]

    for trust in sorted({one.trust for one in waiting}, reverse=True):
        above = [one for one in left if one.trust > trust]
        if above and len(above) < min_players and not has_fill:
            cut([*above, *(one for one in left if one.trust is trust and one.mixes_at <= now)])
        cut([one for one in left if one.trust is trust and one.ready_at <= now])
    return tables
