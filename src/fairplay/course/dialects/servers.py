"""Define the server of each course: its sign-up, its game, and the format of its result."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

Names = Sequence[str]


class CourseServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a course's server; a host may choose others."""

    least: int  # the minimum number of players
    most: int  # the maximum; with so many the game starts at once
    wait: float  # seconds of each waiting period
    waiting_periods: int = 1  # at most
    name_timeout: float = 3.0  # seconds from the connection to the name
    turn: float = 5.0  # seconds for each answer
    distinct: bool = False  # is a second player of the same name refused?
    parameters: dict[str, Any] = {}  # of the game


class CourseServer(msgspec.Struct, frozen=True):
    """The server of a course."""

    rules: CourseServerSettings
    result: Callable[[Sequence[Names], Names], Any]  # from the ranks, best first, and the misbehaving players


def fish_result(ranks: Sequence[Names], out: Names) -> list[int]:
    """The numbers of winners and of misbehaving players.

    >>> fish_result([["ann", "bob"], ["cyd"]], ["dan"])
    [2, 1]
    """
    return [len(ranks[0]) if ranks else 0, len(out)]


def tsuro_result(ranks: Sequence[Names], out: Names) -> dict[str, Any]:
    """The names by rank, and those of cheaters, without empty parts.

    >>> tsuro_result([[], ["bob", "ann"]], [])
    {'winners': [['ann', 'bob']]}
    """
    winners = [sorted(rank) for rank in ranks if rank]
    return {key: found for key, found in (("winners", winners), ("cheaters", sorted(out))) if found}


def q_result(ranks: Sequence[Names], out: Names) -> list[list[str]]:
    """The sorted names of the winners, and those of misbehaving players in the order of their ejections.

    >>> q_result([["bob", "ann"], ["cyd"]], ["eve", "dan"])
    [['ann', 'bob'], ['eve', 'dan']]
    """
    return [sorted(ranks[0]) if ranks else [], list(out)]


SERVERS: dict[str, CourseServer] = {
    "fish": CourseServer(
        CourseServerSettings(
            least=5,
            most=10,
            wait=30.0,
            waiting_periods=2,
            name_timeout=10.0,
            parameters={"rows": 5, "columns": 5, "fish": 2, "holes": 0},
        ),
        fish_result,
    ),
    "tsuro": CourseServer(
        CourseServerSettings(least=1, most=20, wait=60.0, parameters={"tiles": "cycle"}), tsuro_result
    ),
    "q": CourseServer(CourseServerSettings(least=2, most=4, wait=20.0, waiting_periods=2, distinct=True), q_result),
}
