"""Count what is shown beside the standings: who beat whom, who scored what, who thought how long, who was ejected."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import fsum

import msgspec

from fairplay.core.events import Fault
from fairplay.core.game import Seat
from fairplay.tournament.counted_match import CountedMatch

Matrix = list[list[float]]


class HeadToHead(msgspec.Struct, frozen=True):
    """What came of any two players who met: the row's figures against the column."""

    names: tuple[str, ...]
    games: list[list[int]]
    points: Matrix  # a win is one, a tie a half, an ejection of both nothing


class ThinkingTime(msgspec.Struct, frozen=True):
    """How long a player thought. It differs from run to run, so it is in no row of the standings."""

    name: str
    turns: int
    mean_s: float  # of a turn
    slowest_s: float


class Ejection(msgspec.Struct, frozen=True):
    """Somebody who was ejected."""

    match: str  # the id of the journal
    seat: Seat
    name: str
    fault: Fault
    receipt: str = ""  # for this journal


def head_to_head(names: Sequence[str], counted: Iterable[CountedMatch]) -> HeadToHead:
    """Who met whom how often, and with what success."""
    at = {name: index for index, name in enumerate(names)}
    games = [[0] * len(names) for _ in names]
    points = [[0.0] * len(names) for _ in names]  # halves, so that sums are exact
    for one in counted:
        seated = [(at[name], place) for name, place in zip(one.names, one.places, strict=False)]
        for (left, place), (right, other) in combinations(seated, 2):
            games[left][right] += 1
            games[right][left] += 1
            tie = 0.5 if place < len(one.places) else 0.0  # the ejected earn nothing from one another
            points[left][right] += 1.0 if place < other else 0.0 if place > other else tie
            points[right][left] += 1.0 if other < place else 0.0 if other > place else tie
    return HeadToHead(tuple(names), games, points)


def thinking_times(names: Sequence[str], counted: Iterable[CountedMatch]) -> tuple[ThinkingTime, ...]:
    """How long everybody thought who had a turn, in the order of the names."""
    seconds: dict[str, list[float]] = {name: [] for name in names}
    turns, slowest = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    for one in counted:
        for name, count, took, longest in zip(one.names, one.turns, one.thinking_s, one.slowest_turn_s, strict=False):
            turns[name] += count
            seconds[name].append(took)
            slowest[name] = max(slowest[name], longest)
    return tuple(
        ThinkingTime(name, turns[name], fsum(seconds[name]) / turns[name], slowest[name])
        for name in names
        if turns[name]
    )


def scores_by_player(names: Sequence[str], counted: Iterable[CountedMatch]) -> dict[str, list[int]]:
    """What everybody scored, match by match; empty: the game has no points."""
    found: dict[str, list[int]] = {name: [] for name in names}
    for one in counted:
        for name, score in zip(one.names, one.scores, strict=False):
            if score is not None:
                found[name].append(score)
    return {name: some for name, some in found.items() if some}


def list_ejections(counted: Iterable[CountedMatch]) -> Iterator[Ejection]:
    """Everybody who was ejected, match by match."""
    for one in counted:
        for seat, (name, fault) in enumerate(zip(one.names, one.faults, strict=False)):
            if fault is not None:
                yield Ejection(one.attempt or one.match, seat, name, fault, one.receipt)
