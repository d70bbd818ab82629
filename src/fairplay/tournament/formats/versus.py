"""Schedule a match-up of two players, until a sequential test decides which is better."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from fairplay.tournament.counted_match import CountedMatch, Format
from fairplay.tournament.formats.seating import seat_orders
from fairplay.tournament.rating.sequential import RunningTest, SequentialTest, SequentialVerdict, group_score
from fairplay.tournament.settings import Versus
from fairplay.tournament.spec import TournamentSpec

DEALS_PER_ROUND = 20  # on any number of workers, so that these do not change what is played


def versus(spec: TournamentSpec, settings: Versus) -> Format:
    """Each deal is played once in each seat; the first two players are compared, and the others fill the table."""
    size = len(spec.players)
    deals = settings.games // size
    test = RunningTest(requested_test(settings))
    for start in range(0, deals, DEALS_PER_ROUND):
        sent = yield tuple(
            spec.match_spec([spec.players[player] for player in order], deal, shared=True)
            for deal in range(start, min(start + DEALS_PER_ROUND, deals))
            for order in seat_orders(size, mirrored=deal % 2 == 1)
        )
        for score in scores_by_deal(spec, sent.matches):
            test.add(score)
        if test.verdict.accepted or any(player not in sent.players for player in spec.players):
            break
    return ()


def sequential_status(
    tournament: TournamentSpec, settings: Versus, matches: Iterable[CountedMatch]
) -> SequentialVerdict:
    """What the test says of the matches of a tournament."""
    test = RunningTest(requested_test(settings))
    for score in scores_by_deal(tournament, sorted(matches, key=lambda match: match.deal)):
        test.add(score)
    return test.verdict


def requested_test(settings: Versus) -> SequentialTest:
    """The test of these settings."""
    return SequentialTest(settings.elo0, settings.elo1, settings.alpha, settings.beta)


def scores_by_deal(tournament: TournamentSpec, matches: Iterable[CountedMatch]) -> Iterator[float]:
    """What the first scored against the second, by deal.

    A deal counts only if it was played in all seats, and not all players were ejected from one of its matches.
    """
    first, second = (player.name for player in tournament.players[:2])
    for _, group in groupby(matches, key=lambda match: match.deal):
        deal = list(group)
        if len(deal) == len(tournament.players) and all(match.places and not match.unranked for match in deal):
            score = group_score(deal, first, second)
            if score is not None:
                yield score
