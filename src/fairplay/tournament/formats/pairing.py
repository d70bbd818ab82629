"""Pair players by their standing, so that few meet again."""

from collections.abc import Mapping, Sequence

from fairplay.tournament.formats.table_sizes import split_into_groups

Pair = frozenset[str]


def pair_by_standing(order: Sequence[str], sizes: Sequence[int], met: Mapping[Pair, int]) -> list[tuple[str, ...]]:
    """Seat players with their equals, unless they have met.

    Starting from the plain order, two players change tables as long as that improves the pairing: first by fewer
    repeated meetings, and rarer ones; then by smaller differences in standing at a table.

    >>> pair_by_standing("abcd", [2, 2], {}), pair_by_standing("abcd", [2, 2], {frozenset("ab"): 1})
    ([('a', 'b'), ('c', 'd')], [('a', 'c'), ('b', 'd')])
    """
    indices = range(len(order))
    weight = 4 * max(sizes, default=1) * len(order) ** 2  # a meeting costs more than any difference in standing
    cost = [
        [weight * met.get(frozenset((order[one], order[other])), 0) ** 2 + (one - other) ** 2 for other in indices]
        for one in indices
    ]
    tables = [list(table) for table in split_into_groups(indices, sizes)]
    table_of = {player: table for table in tables for player in table}
    better = True
    while better:  # which ends, as each change lowers the total cost
        better = False
        for one in indices:
            for other in range(one + 1, len(order)):
                here, there = table_of[one], table_of[other]
                if here is not there and swap_gain(cost, one, other, here, there) > 0:
                    here[here.index(one)], there[there.index(other)] = other, one
                    table_of[one], table_of[other] = there, here
                    better = True
    return [tuple(order[player] for player in table) for table in sorted(map(sorted, tables))]


def swap_gain(cost: Sequence[Sequence[int]], one: int, other: int, here: Sequence[int], there: Sequence[int]) -> int:
    """How much the cost falls if these two change their tables."""
    ours, theirs = cost[one], cost[other]
    less = sum(ours[player] - theirs[player] for player in here if player != one)
    return less + sum(theirs[player] - ours[player] for player in there if player != other)
