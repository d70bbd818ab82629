"""Compute the figures beside the standings: head to head, scores, thinking times and ejections."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import fsum

import msgspec

from fairplay.core.events import Fault
from fairplay.core.game import Seat
from fairplay.tournament.counted_match import CountedMatch

Matrix = list[list[float]]


class HeadToHead(msgspec.Struct, frozen=True):
    """Games and points of each player (row) against each other (column)."""

    names: tuple[str, ...]
    games: list[list[int]]
    points: Matrix  # 1 for a win, 0.5 for a tie, 0 if both were ejected


class ThinkingTime(msgspec.Struct, frozen=True):
    """How long a player thought. It differs from run to run, so it is not in the standings."""

    name: str
    turns: int
    mean_s: float  # of a turn
    slowest_s: float


class Ejection(msgspec.Struct, frozen=True):
    """A player that was ejected from a match."""

    match: str  # the id of the journal
    seat: Seat
    name: str
    fault: Fault
    receipt: str = ""  # of this journal


def head_to_head(names: Sequence[str], counted: Iterable[CountedMatch]) -> HeadToHead:
    """Count games and points of each pair of players."""
    at = {name: index for index, name in enumerate(names)}
    games = [[0] * len(names) for _ in names]
    points = [[0.0] * len(names) for _ in names]  # multiples of a half, so that sums are exact
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
    """The thinking times of the players that had a turn, in the order of the names."""
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
    """The scores of each player, match by match; empty: the game has no points."""
    found: dict[str, list[int]] = {name: [] for name in names}
    for one in counted:
        for name, score in zip(one.names, one.scores, strict=False):
            if score is not None:
                found[name].append(score)
    return {name: some for name, some in found.items() if some}


def list_ejections(counted: Iterable[CountedMatch]) -> Iterator[Ejection]:
    """All ejections, match by match."""
    for one in counted:
        for seat, (name, fault) in enumerate(zip(one.names, one.faults, strict=False)):
            if fault is not None:
                yield Ejection(one.attempt or one.match, seat, name, fault, one.receipt)
