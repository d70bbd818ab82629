"""Let each deal be played in several seat orders, so that its luck is everybody's."""

from collections import Counter
from itertools import permutations

from fairplay.core.chance import Lots
from fairplay.tournament.counted import Format
from fairplay.tournament.formats.meetings import Table, tables
from fairplay.tournament.formats.seating import square
from fairplay.tournament.settings import Duplicate
from fairplay.tournament.spec import Cup

ORDERS = ("all", "balanced")  # of seats, that are played


def duplicate(cup: Cup, settings: Duplicate) -> Format:
    """All matches in one round; the ratings decide."""
    size, sets = settings.table, Counter[Table]()
    matches = []
    for deal, table in enumerate(tables(len(cup.players), size, settings.deals, Lots(cup.derived("duplicate")))):
        players: Table = tuple(sorted(table))
        again = sets[players] % 2 == 1  # every second time of the same players
        sets[players] += 1
        for order in permutations(range(size)) if settings.orders == "all" else square(size, mirrored=again):
            matches.append(cup.match([cup.players[players[one]] for one in order], deal, shared=True))
    yield tuple(matches)
    return ()
