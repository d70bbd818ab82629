"""Compute the standings of a tournament: one row per player, the same for any number of workers."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import msgspec

from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import CountedMatch, Ranking

if TYPE_CHECKING:  # needs the extra `tournament`
    from fairplay.tournament.rating.ratings import Rating, Ratings


class StandingsRow(msgspec.Struct, frozen=True, kw_only=True):
    """A player in the standings."""

    place: int  # from 1; ties share one
    name: str
    address: str  # as in the file; empty: it is not in the tournament any more
    rating: float | None  # in Elo; None: it has no rated match
    rating_low: float | None  # the bounds of its 95 % interval; None: there is no such bound
    rating_high: float | None
    best_rank: int | None  # the ranks that it may deserve; None: it is not rated
    worst_rank: int | None
    best_probability: float  # that it is the best of all
    games: int  # that counted
    points: float  # for each match the share of opponents that it has beaten
    wins: int  # matches in which it came first alone
    shared_wins: int  # matches in which it came first with others
    mean_place: float | None
    mean_score: float | None  # None: the game has no points, or it never played
    faults: dict[str, int]  # the number of each kind, without zeros
    expelled: bool  # out of the tournament
    note: str  # what makes the rating doubtful


class Tally(msgspec.Struct):
    """The counts of one player, match by match."""

    points: list[float] = []
    places: list[int] = []
    scores: list[int] = []
    wins: int = 0
    shared_wins: int = 0
    faults: dict[str, int] = {}
    expelled: bool = False


def standings(
    players: Sequence[Entrant], counted: Iterable[CountedMatch], ranking: Ranking, ratings: "Ratings"
) -> tuple[StandingsRow, ...]:
    """A row for each player that is in the tournament, or was and played, best first.

    The ranking of the format decides if it has one, with all other players last; or else the ratings do, with expelled
    players last.
    """
    tallies = tally_players(counted)
    addresses = {player.name: player.given or player.address for player in players}
    names = list(dict.fromkeys([*addresses, *sorted(tallies)]))
    tallies |= {name: Tally() for name in names if name not in tallies}
    rated = {rating.name: rating for rating in ratings.players}
    groups = {name: number for number, group in enumerate(ranking) for name in group}
    unrated = float("inf")

    def by_rating(name: str) -> tuple[bool, float]:
        known = rated.get(name)
        return tallies[name].expelled, unrated if known is None else -round(known.rating, 1) + 0

    def rank(name: str) -> tuple[bool, float]:
        return (False, groups.get(name, len(ranking))) if ranking else by_rating(name)

    order = sorted(names, key=lambda name: (rank(name), by_rating(name)))
    places: dict[tuple[bool, float], int] = {}
    for place, name in enumerate(order, 1):
        places.setdefault(rank(name), place)
    return tuple(
        standings_row(places[rank(name)], name, addresses.get(name, ""), tallies[name], rated.get(name))
        for name in order
    )


def tally_players(counted: Iterable[CountedMatch]) -> dict[str, Tally]:
    """The counts of each player that took part."""
    tallies: dict[str, Tally] = {}
    for one in counted:
        points, firsts = one.points(), one.places.count(1)
        for seat, name in enumerate(one.names):
            tally = tallies.get(name) or tallies.setdefault(name, Tally())
            fault = one.faults[seat] if one.faults else None
            if fault is not None:
                tally.faults[fault.value] = tally.faults.get(fault.value, 0) + 1
            if not one.places:
                continue
            tally.points.append(points[name])
            tally.places.append(one.places[seat])
            if one.places[seat] == 1:
                tally.wins += firsts == 1
                tally.shared_wins += firsts > 1
            if one.scores and (score := one.scores[seat]) is not None:
                tally.scores.append(score)
        for name, fault in one.earlier_faults:
            faults = tallies.setdefault(name, Tally()).faults
            faults[fault.value] = faults.get(fault.value, 0) + 1
        for name in one.expelled:
            tallies.setdefault(name, Tally()).expelled = True
    return tallies


def standings_row(place: int, name: str, address: str, tally: Tally, rating: "Rating | None") -> StandingsRow:
    """The row of one player, rounded, so that it does not depend on the order of matches."""
    return StandingsRow(
        place=place,
        name=name,
        address=address,
        rating=None if rating is None else round(rating.rating, 1) + 0,
        rating_low=None if rating is None or rating.low is None else round(rating.low, 1) + 0,
        rating_high=None if rating is None or rating.high is None else round(rating.high, 1) + 0,
        best_rank=None if rating is None else rating.best_rank,
        worst_rank=None if rating is None else rating.worst_rank,
        best_probability=0.0 if rating is None else round(rating.best_probability, 4),
        games=len(tally.places),
        points=round(sum(tally.points), 4),
        wins=tally.wins,
        shared_wins=tally.shared_wins,
        mean_place=round(fmean(tally.places), 3) if tally.places else None,
        mean_score=round(fmean(tally.scores), 3) if tally.scores else None,
        faults=dict(sorted(tally.faults.items())),
        expelled=tally.expelled,
        note=rating_note(rating, len(tally.places)),
    )


def rating_note(rating: "Rating | None", games: int) -> str:
    """What makes the rating of a player doubtful."""
    if rating is None:
        return "no rated matches" if games else "never played"
    return ", ".join(filter(None, [rating.one_sided, "too few games" if rating.too_few else ""]))
