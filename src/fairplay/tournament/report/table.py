"""Format standings for a terminal, with a sentence on significant differences."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from fairplay.core.events import Fault
from fairplay.render.formatting import format_interval, format_rounded
from fairplay.render.text import align_columns, printable
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating.standings import StandingsRow

MAX_TABLE_NAME_CHARS = 24
MAX_FAULT_COLUMNS = 2  # with more kinds of faults, they share a column
MAX_PAIRWISE_PLAYERS = 6  # with all pairs named
MAX_LEADERS = 3  # that are named if there are more players
EXPELLED_MARK = "x"  # explained below the table
TOO_FEW_MARK = "?"
LEFT_ALIGNED_COLUMN = 1  # the names

Pairs = Sequence[tuple[str, str]]  # (better, worse)


def format_standings(rows: Sequence[StandingsRow]) -> list[str]:
    """The lines of the table, and its legend. Many kinds of faults share a column, to save space."""
    kinds = [fault.value for fault in Fault if any(fault.value in row.faults for row in rows)]
    columns = [[kind] for kind in kinds] if len(kinds) <= MAX_FAULT_COLUMNS else [kinds]
    scored = any(row.mean_score is not None for row in rows)
    headings = ["#", "name", "rating", "95 %", "ranks", "games", "points", *(["score"] if scored else [])]
    headings += [kind[0].replace("_", " ") if len(kind) == 1 else "faults" for kind in columns]
    cells = [
        [
            f"{row.place}{EXPELLED_MARK if row.expelled else ''}",
            shorten_name(row.name),
            f"{format_rounded(row.rating)}{TOO_FEW_MARK if 'too few' in row.note else ''}",
            format_rating_interval(row),
            format_ranks(row, "-"),
            str(row.games),
            f"{row.points:.1f}",
            *(["" if row.mean_score is None else f"{row.mean_score:.1f}"] if scored else []),
            *(str(sum(row.faults.get(kind, 0) for kind in some) or "") for some in columns),
        ]
        for row in rows
    ]
    return [*align_columns([headings, *cells], set(range(len(headings))) - {LEFT_ALIGNED_COLUMN}), *format_legend(rows)]


def format_legend(rows: Sequence[StandingsRow]) -> Iterator[str]:
    """The meaning of the marks in the table, if there are any."""
    if any("too few" in row.note for row in rows):
        yield f"{TOO_FEW_MARK} too few games to rely on"
    if any(row.expelled for row in rows):
        yield f"{EXPELLED_MARK} expelled from the tournament"


def describe_unranked(counted: Iterable[CountedMatch]) -> str:
    """A sentence on the matches that the ratings leave out; empty: none."""
    number = sum(one.unranked for one in counted)
    which = "1 match gives" if number == 1 else f"{number} matches give"
    return f"{which} no points, and no ratings: all players were ejected" if number else ""


def format_rating_interval(row: StandingsRow) -> str:
    """The interval of a rating, if there is one."""
    return "" if row.rating is None else format_interval(row.rating_low, row.rating_high)


def format_ranks(row: StandingsRow, dash: str) -> str:
    """The ranks that a player may deserve, if it is rated."""
    return "" if row.best_rank is None else dash.join(map(str, dict.fromkeys((row.best_rank, row.worst_rank))))


def describe_significance(names: Sequence[str], significant: Pairs) -> str:
    """A sentence on which players are significantly better than which; names come best first.

    >>> describe_significance(["ann", "bob", "cyd"], [("ann", "bob"), ("ann", "cyd")])
    'ann is better than bob, cyd; bob and cyd are not significantly different'
    """
    known = set(names)
    worse: dict[str, list[str]] = {name: [] for name in names}
    for one, other in significant:
        if one in known and other in known:
            worse[one].append(other)
    if not any(worse.values()):
        return "no two players are significantly different" if len(names) > 1 else ""
    return "; ".join(
        describe_all_pairs(names, worse) if len(names) <= MAX_PAIRWISE_PLAYERS else describe_leaders(names, worse)
    )


def describe_all_pairs(names: Sequence[str], worse: dict[str, list[str]]) -> Iterator[str]:
    """Describe every pair of a few players."""
    beaten = {name: ", ".join(shorten_name(other) for other in names if other in worse[name]) for name in names}
    for others in dict.fromkeys(filter(None, beaten.values())):
        better = [name for name in names if beaten[name] == others]
        yield f"{join_names(better)} {'is' if len(better) == 1 else 'are'} better than {others}"
    for group in indistinct_groups(names, worse):
        yield f"{join_names(group)} are not significantly different"


def describe_leaders(names: Sequence[str], worse: dict[str, list[str]]) -> Iterator[str]:
    """Describe the number of pairs of many players, and the leaders."""
    pairs, others = len(names) * (len(names) - 1) // 2, len(names) - 1
    yield f"{sum(map(len, worse.values()))} of {pairs} pairs are significantly different"
    leaders = [name for name in names if worse[name]][:MAX_LEADERS]
    for name in leaders:
        count = len(worse[name])
        which = "all others" if count == others else f"{count} of {others} others"
        yield f"{shorten_name(name)} is better than {which}"


def indistinct_groups(names: Sequence[str], worse: dict[str, list[str]]) -> list[list[str]]:
    """Groups of players without significant differences, the largest first, until every such pair is in one."""

    def differ(one: str, other: str) -> bool:
        return other in worse[one] or one in worse[other]

    groups: list[list[str]] = []
    for size in range(len(names), 1, -1):
        for chosen in combinations(names, size):
            pairs = [set(pair) for pair in combinations(chosen, 2)]
            new = not all(any(pair <= set(group) for group in groups) for pair in pairs)
            if new and not any(differ(*sorted(pair)) for pair in pairs):
                groups.append(list(chosen))
    return groups


def join_names(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> join_names(["ann"]), join_names(["ann", "bob", "cyd"])
    ('ann', 'ann, bob and cyd')
    """
    *most, last = map(shorten_name, names)
    return f"{', '.join(most)} and {last}" if most else last


def shorten_name(name: str) -> str:
    """A name that is safe to print to a terminal."""
    return printable(name, MAX_TABLE_NAME_CHARS)
