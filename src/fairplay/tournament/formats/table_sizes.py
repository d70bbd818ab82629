"""Choose how many players sit at each table."""

from collections.abc import Collection, Sequence
from typing import TypeVar

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.tournament.spec import TournamentSpec

Player = TypeVar("Player")


def allowed_table_sizes(tournament: TournamentSpec) -> tuple[int, ...]:
    """How many players a match of this game may have, with its parameters."""
    rules, sizes = tournament.rules(), []
    for size in rules.seats:
        try:
            rules.deal(size, bytes(SEED_BYTES))
        except BadRequest:
            continue
        sizes.append(size)
    return tuple(sizes)


def choose_table_sizes(players: int, size: int, allowed: Collection[int]) -> tuple[int, ...]:
    """The sizes of tables that seat as many of the players as possible, near the requested size.

    >>> choose_table_sizes(14, 4, range(2, 5)), choose_table_sizes(7, 2, range(2, 5))
    ((4, 4, 3, 3), (3, 2, 2))
    >>> choose_table_sizes(7, 2, [2]), choose_table_sizes(1, 2, [2])
    ((2, 2, 2), ())
    """
    for seated in range(players, 1, -1):
        found: dict[int, int] = {}  # by the number of tables: how far they are from the requested size
        for tables in range(1, seated // 2 + 1):
            small, larger = divmod(seated, tables)
            if small in allowed and (not larger or small + 1 in allowed):
                found[tables] = larger * abs(small + 1 - size) + (tables - larger) * abs(small - size)
        if found:
            tables = min(found, key=lambda tables: (found[tables], -tables))
            small, larger = divmod(seated, tables)
            return (small + 1,) * larger + (small,) * (tables - larger)
    return ()


def split_into_groups(players: Sequence[Player], sizes: Sequence[int]) -> list[tuple[Player, ...]]:
    """The players in their order, in groups of these sizes.

    >>> split_into_groups("abcde", [3, 2])
    [('a', 'b', 'c'), ('d', 'e')]
    """
    rest = iter(players)
    return [tuple(next(rest) for _ in range(size)) for size in sizes]
