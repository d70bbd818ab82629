"""Schedule duplicate games: each deal is played in several seat orders, so that its luck is shared."""

from collections import Counter
from itertools import permutations

from fairplay.core.chance import SeededRandom
from fairplay.tournament.counted_match import Format
from fairplay.tournament.formats.meetings import Table, meeting_tables
from fairplay.tournament.formats.seating import seat_orders
from fairplay.tournament.settings import Duplicate
from fairplay.tournament.spec import TournamentSpec

SEAT_ORDERS = ("all", "balanced")  # which orders of seats are played


def duplicate(spec: TournamentSpec, settings: Duplicate) -> Format:
    """All matches in one round; the ratings decide."""
    size, sets = settings.table, Counter[Table]()
    matches = []
    for deal, table in enumerate(
        meeting_tables(len(spec.players), size, settings.deals, SeededRandom(spec.derive_seed("duplicate")))
    ):
        players: Table = tuple(sorted(table))
        again = sets[players] % 2 == 1  # every second time of the same players
        sets[players] += 1
        for order in permutations(range(size)) if settings.orders == "all" else seat_orders(size, mirrored=again):
            matches.append(spec.match_spec([spec.players[players[one]] for one in order], deal, shared=True))
    yield tuple(matches)
    return ()
