"""Add up points exactly, so that equal sums compare as equal."""

from collections.abc import Iterable
from fractions import Fraction

from fairplay.tournament.counted_match import CountedMatch

HALF = Fraction(1, 2)  # the average at a table


def exact_points(match: CountedMatch) -> dict[str, Fraction]:
    """The points of a match without rounding errors; empty, if it does not count."""
    finest = max(2 * (len(match.places) - 1), 1)
    return {name: Fraction(share).limit_denominator(finest) for name, share in match.points().items()}


def total_points(matches: Iterable[CountedMatch]) -> dict[str, Fraction]:
    """The sum of points of each player in these matches."""
    sums: dict[str, Fraction] = {}
    for match in matches:
        for name, share in exact_points(match).items():
            sums[name] = sums.get(name, Fraction()) + share
    return sums
