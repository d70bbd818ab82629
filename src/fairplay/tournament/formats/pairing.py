"""Cut players in the order of their standing into tables, so that few meet again."""

from collections.abc import Mapping, Sequence

from fairplay.tournament.formats.table_sizes import split_into_groups

Pair = frozenset[str]


def pair_by_standing(order: Sequence[str], sizes: Sequence[int], met: Mapping[Pair, int]) -> list[tuple[str, ...]]:
    """Equals sit with equals, unless they have met.

    From the plain order on, two players change tables as long as that makes it better: first fewer meetings again, and
    of those that were seldom; and then less between those at a table.

    >>> pair_by_standing("abcd", [2, 2], {}), pair_by_standing("abcd", [2, 2], {frozenset("ab"): 1})
    ([('a', 'b'), ('c', 'd')], [('a', 'c'), ('b', 'd')])
    """
    everybody = range(len(order))
    weight = (
        4 * max(sizes, default=1) * len(order) ** 2
    )  # one meeting is worse than any distance that a change can cost
    cost = [
        [weight * met.get(frozenset((order[one], order[other])), 0) ** 2 + (one - other) ** 2 for other in everybody]
        for one in everybody
    ]
    tables = [list(table) for table in split_into_groups(everybody, sizes)]
    table_of = {player: table for table in tables for player in table}
    better = True
    while better:  # and it ends, as the whole costs less each time
        better = False
        for one in everybody:
            for other in range(one + 1, len(order)):
                here, there = table_of[one], table_of[other]
                if here is not there and swap_gain(cost, one, other, here, there) > 0:
                    here[here.index(one)], there[there.index(other)] = other, one
                    table_of[one], table_of[other] = there, here
                    better = True
    return [tuple(order[player] for player in table) for table in sorted(map(sorted, tables))]


def swap_gain(cost: Sequence[Sequence[int]], one: int, other: int, here: Sequence[int], there: Sequence[int]) -> int:
    """How much less it costs if these two change their tables."""
    ours, theirs = cost[one], cost[other]
    less = sum(ours[player] - theirs[player] for player in here if player != one)
    return less + sum(theirs[player] - ours[player] for player in there if player != other)
