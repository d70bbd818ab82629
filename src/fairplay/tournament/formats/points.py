"""Add up points exactly, so that who has the same has the same."""

from collections.abc import Iterable
from fractions import Fraction

from fairplay.tournament.counted_match import CountedMatch

HALF = Fraction(1, 2)  # what everybody at a table has on average


def exact_points(match: CountedMatch) -> dict[str, Fraction]:
    """The points of a match without a rounding error; none, if it does not count."""
    finest = max(2 * (len(match.places) - 1), 1)
    return {name: Fraction(share).limit_denominator(finest) for name, share in match.points().items()}


def total_points(matches: Iterable[CountedMatch]) -> dict[str, Fraction]:
    """The points of everybody in all these matches."""
    sums: dict[str, Fraction] = {}
    for match in matches:
        for name, share in exact_points(match).items():
            sums[name] = sums.get(name, Fraction()) + share
    return sums
