"""Make counted matches for tests, and find players in ratings."""

from random import Random

from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating.ratings import Rating, Ratings

NAMES = ("ann", "bob", "cyd", "dan", "eve", "fay")


def tied_match(*names: str, deal: int = 0) -> CountedMatch:
    return CountedMatch(match=f"{deal}", deal=deal, names=names, places=(1,) * len(names))


def duel_matches(wins: int, losses: int, *names: str, deal: int = 0) -> list[CountedMatch]:
    """So many wins of the first and of the second, half of them from either seat."""
    found = []
    for number, order in enumerate([names[:2]] * wins + [names[1::-1]] * losses):
        turn = (-1) ** number
        found.append(CountedMatch(match="", deal=deal + number, names=order[::turn], places=(1, 2)[::turn]))
    return found


def random_matches(lots: Random, count: int, players: int = 5) -> list[CountedMatch]:
    """Matches at tables of several sizes, some of one deal; players later in the alphabet are better."""
    found = []
    for number in range(count):
        seated = lots.sample(range(players), min(lots.choice((2, 3, 4)), players))
        shown = [round(lots.gauss(0.3 * who - 0.1 * seat, 1)) for seat, who in enumerate(seated)]
        places = tuple(1 + sum(other > mine for other in shown) for mine in shown)
        names = tuple(NAMES[who] for who in seated)
        found.append(CountedMatch(match=f"{number}", deal=number // 2, names=names, places=places))
    return found


def ratings_by_name(ratings: Ratings) -> dict[str, Rating]:
    return {one.name: one for one in ratings.players}
