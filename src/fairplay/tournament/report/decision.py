"""Describe the verdict of the sequential test of a tournament in a sentence."""

from collections.abc import Iterable

from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.formats.versus import sequential_status
from fairplay.tournament.rating.sequential import SequentialVerdict
from fairplay.tournament.settings import Versus
from fairplay.tournament.spec import TournamentSpec


def describe_verdict(
    tournament: TournamentSpec, counted: Iterable[CountedMatch]
) -> tuple[str, SequentialVerdict] | None:
    """The verdict of the test, as a sentence and as figures; None: the format has no test."""
    settings = tournament.format
    if not isinstance(settings, Versus):
        return None
    verdict = sequential_status(tournament, settings, counted)
    first, second = (player.name for player in tournament.players[:2])
    after = f"after {verdict.deals} {'deal' if verdict.deals == 1 else 'deals'}"
    more, less = f"{settings.elo1:g} Elo", f"{settings.elo0:g}"
    match verdict.accepted:
        case "elo1":
            text = f"{first} is better than {second}, by {more} rather than by {less}: decided {after}"
        case "elo0":
            text = f"{first} is not better than {second} by {more}, but by {less} at most: decided {after}"
        case _:
            rest = "" if verdict.expected_deals is None else f"; about {verdict.expected_deals:.0f} will be needed"
            text = f"no decision between {first} and {second} {after}{rest}"
    return text, verdict
