"""Schedule a round robin: each player against each other, as evenly as so many matches allow."""

from fairplay.core.chance import SeededRandom
from fairplay.tournament.counted_match import Format
from fairplay.tournament.formats.meetings import meeting_tables
from fairplay.tournament.formats.seating import assign_seats, rotate_seats
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import TournamentSpec


def round_robin(spec: TournamentSpec, settings: RoundRobin) -> Format:
    """All matches in one round, as none of them depends on another; the ratings decide."""
    players, indices = len(spec.players), range(len(spec.players))
    if players == settings.table:
        seatings = [rotate_seats(indices, game) for game in range(settings.games)]
    else:
        lots = SeededRandom(spec.derive_seed("round robin"))
        seatings = assign_seats(meeting_tables(players, settings.table, settings.games, lots))
    yield tuple(
        spec.match_spec([spec.players[player] for player in seats], deal) for deal, seats in enumerate(seatings)
    )
    return ()
