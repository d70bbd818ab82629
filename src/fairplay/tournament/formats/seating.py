"""Assign seats, so that each player has each seat equally often."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

Player = TypeVar("Player", bound=Hashable)


def seat_orders(size: int, *, mirrored: bool = False) -> tuple[tuple[int, ...], ...]:
    """As many seat orders as there are seats: each player has each seat once, and its neighbours are mixed evenly.

    The first order counts up and down in turns (0 1 3 2), and the others add one each: at tables of an even size each
    player directly follows each other one once. At tables of an odd size that takes the mirrored orders as well.

    >>> seat_orders(4)
    ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
    """
    first = [0] + [(size - step // 2) % size if step % 2 else step // 2 for step in range(2, size + 1)]
    if mirrored:
        first.reverse()
    return tuple(tuple((player + row) % size for player in first) for row in range(size))


def rotate_seats(players: Sequence[Player], game: int) -> tuple[Player, ...]:
    """The players by seat in a game of the same players, with games counted from 0.

    >>> [rotate_seats("abc", game) for game in range(3)]
    [('a', 'b', 'c'), ('b', 'c', 'a'), ('c', 'a', 'b')]
    """
    size = len(players)
    return tuple(players[player] for player in seat_orders(size, mirrored=game // size % 2 == 1)[game % size])


def assign_seats(tables: Sequence[Sequence[Player]]) -> list[tuple[Player, ...]]:
    """The players of these matches by seat; tables are of one size, and each player has one seat at a table.

    The games of each player, in this order, are cut into blocks of as many as there are seats. In each block it has
    each seat once, and so no player ever has one seat more than once more often than another.

    Matches and blocks are the two sides of a graph in which no node has more edges than there are seats. By König's
    theorem so many colours, which are the seats, suffice. Edge by edge: if no colour is free at both ends, one that is
    free at the match is freed at the block, by swapping it with another along their alternating path.
    """
    size = len(tables[0]) if tables else 0
    by_match: list[list[int]] = [[-1] * size for _ in tables]  # by seat: the block
    by_block: list[list[int]] = []  # by seat: the match
    owners: list[Player] = []
    games: dict[Player, int] = {}
    latest: dict[Player, int] = {}
    for match, players in enumerate(tables):
        here = by_match[match]
        for player in players:
            if games.setdefault(player, 0) % size == 0:
                latest[player] = len(owners)
                owners.append(player)
                by_block.append([-1] * size)
            games[player] += 1
            block = latest[player]
            there = by_block[block]
            for seat in range(size):
                if here[seat] < 0 and there[seat] < 0:
                    break
            else:
                seat = here.index(-1)
                _swap_seats(by_match, by_block, block, seat, there.index(-1))
            here[seat], there[seat] = block, match
    return [tuple(owners[block] for block in blocks) for blocks in by_match]


def _swap_seats(by_match: list[list[int]], by_block: list[list[int]], block: int, seat: int, other: int) -> None:
    """Free a seat at a block where the other one is free; the path ends, as it never visits a node twice."""
    path = []
    while (match := by_block[block][seat]) >= 0:
        path.append((match, block, seat, other))
        if (block := by_match[match][other]) < 0:
            break
        path.append((match, block, other, seat))
    for match, block, old, _ in path:
        by_match[match][old] = by_block[block][old] = -1
    for match, block, _, new in path:
        by_match[match][new], by_block[block][new] = block, match
