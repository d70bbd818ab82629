"""Define how matches count in a tournament, and what a format gets after each round."""

from collections.abc import Generator, Sequence

import msgspec

from fairplay.core.events import Fault, Result
from fairplay.hosting.spec import Entrant, MatchSpec

Names = tuple[str, ...]
Ranking = tuple[Names, ...]  # of a tournament, best first; ties share a group. Empty: the ratings decide
NO_RANKED_PLAYERS: Ranking = ((),)  # a knock-out without a winner has an empty first group, too
Round = tuple[MatchSpec, ...]


class CountedMatch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a match that counts in its tournament."""

    match: str  # its id
    deal: int  # the same for all matches from one deal
    names: Names  # by seat
    places: tuple[
        int, ...
    ] = ()  # by seat, from 1; ties share a place, and the ejected the last; empty: the match does not count
    scores: tuple[int | None, ...] = ()  # by seat; empty: the game has no points
    faults: tuple[Fault | None, ...] = ()  # by seat; empty: none
    earlier_faults: tuple[tuple[str, Fault], ...] = ()  # by name: in attempts that do not count
    expelled: Names = ()  # players that this match puts out of the tournament
    void: str = ""  # why the match does not count: cancelled, or a fault of the host
    attempt: str = ""  # the id of the attempt that counts, by which its journal is named; empty: the match's own
    turns: tuple[int, ...] = ()  # by seat: how many
    thinking_s: tuple[float, ...] = ()  # by seat: seconds that all turns took
    slowest_turn_s: tuple[float, ...] = ()  # by seat: seconds of the slowest turn
    receipt: str = ""  # the head of the journal

    def points(self) -> dict[str, float]:
        """The share of opponents that each player has beaten, a tie counting half; the ejected have none.

        >>> CountedMatch(match="1", deal=0, names=("ann", "bob", "cyd"), places=(2, 1, 2)).points()
        {'ann': 0.25, 'bob': 1.0, 'cyd': 0.25}
        >>> CountedMatch(match="1", deal=0, names=("ann", "bob", "cyd"), places=(3, 1, 3)).points()
        {'ann': 0.0, 'bob': 1.0, 'cyd': 0.0}
        """
        places, last, others = self.places, len(self.places), len(self.places) - 1

        def beaten(place: int) -> float:
            return sum(it > place for it in places) + (places.count(place) - 1) / 2 if place < last else 0.0

        return {
            name: beaten(place) / others if others else 1.0 for name, place in zip(self.names, places, strict=False)
        }

    @property
    def unranked(self) -> bool:
        """Were all players ejected? Then the match gives no points, and the ratings leave it out."""
        return len(self.places) > 1 and min(self.places) == len(self.places)


class RoundResult(msgspec.Struct, frozen=True):
    """What a format gets after each round."""

    matches: tuple[CountedMatch, ...]  # in the order of the round
    players: tuple[Entrant, ...]  # that may play from now on: without the expelled, with those added meanwhile


Format = Generator[Round, RoundResult, Ranking]


def places_by_seat(result: Result, seats: int) -> tuple[int, ...]:
    """The places by seat. The ejected share the last place, so they gain nothing from one another.

    >>> places_by_seat(Result((frozenset(), frozenset({1})), ()), 3)
    (3, 1, 3)
    """
    places, place = [seats] * seats, 1
    for group in result.ranking:
        for seat in group:
            places[seat] = place
        place += len(group)
    return tuple(places)


def entrant_names(seats: Sequence[Entrant]) -> Names:
    """The names of these players."""
    return tuple(entrant.name for entrant in seats)
