"""Let everybody play everybody, as evenly as so many matches allow."""

from fairplay.core.chance import Lots
from fairplay.tournament.counted import Format
from fairplay.tournament.formats.meetings import tables
from fairplay.tournament.formats.seating import rotated, seated
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import Cup


def round_robin(cup: Cup, settings: RoundRobin) -> Format:
    """All matches in one round, as none of them depends on another; the ratings decide."""
    players, everybody = len(cup.players), range(len(cup.players))
    if players == settings.table:
        seatings = [rotated(everybody, game) for game in range(settings.games)]
    else:
        lots = Lots(cup.derived("round robin"))
        seatings = seated(tables(players, settings.table, settings.games, lots))
    yield tuple(cup.match([cup.players[player] for player in seats], deal) for deal, seats in enumerate(seatings))
    return ()
