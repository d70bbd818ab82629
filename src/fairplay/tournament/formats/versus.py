"""Let one play against another until it is clear who is better, or so many games are played."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from fairplay.tournament.counted import Counted, Format
from fairplay.tournament.formats.seating import square
from fairplay.tournament.rating.sequential import Running, Test, Verdict, score_of
from fairplay.tournament.settings import Versus
from fairplay.tournament.spec import Cup

AT_ONCE = 20  # deals, whoever plays them: what is played must not depend on how many can be played at once


def versus(cup: Cup, settings: Versus) -> Format:
    """Each deal is played once in each seat; the first two are compared, and whoever else is there fills the table."""
    size = len(cup.players)
    deals = settings.games // size
    test = Running(asked(settings))
    for start in range(0, deals, AT_ONCE):
        sent = yield tuple(
            cup.match([cup.players[player] for player in order], deal, shared=True)
            for deal in range(start, min(start + AT_ONCE, deals))
            for order in square(size, mirrored=deal % 2 == 1)
        )
        for score in scores(cup, sent.matches):
            test.add(score)
        if test.verdict.decided or any(player not in sent.players for player in cup.players):
            break
    return ()


def verdict_of(cup: Cup, settings: Versus, matches: Iterable[Counted]) -> Verdict:
    """What the test says of the matches of a tournament."""
    test = Running(asked(settings))
    for score in scores(cup, sorted(matches, key=lambda match: match.deal)):
        test.add(score)
    return test.verdict


def asked(settings: Versus) -> Test:
    """The test that was asked for."""
    return Test(settings.elo0, settings.elo1, settings.alpha, settings.beta)


def scores(cup: Cup, matches: Iterable[Counted]) -> Iterator[float]:
    """What the first scored against the second, by deal.

    A deal says nothing unless it was played in all seats, and each time with a player who was not ejected.
    """
    first, second = (player.name for player in cup.players[:2])
    for _, group in groupby(matches, key=lambda match: match.deal):
        deal = list(group)
        if len(deal) == len(cup.players) and all(match.places and not match.unranked for match in deal):
            score = score_of(deal, first, second)
            if score is not None:
                yield score
