"""Schedule a ladder: neighbours challenge each other, and the better one moves up."""

from collections.abc import Sequence
from itertools import count

from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import NO_RANKED_PLAYERS, Format, entrant_names
from fairplay.tournament.formats.points import total_points
from fairplay.tournament.formats.seating import rotate_seats
from fairplay.tournament.formats.table_sizes import allowed_table_sizes, split_into_groups
from fairplay.tournament.settings import Ladder
from fairplay.tournament.spec import TournamentSpec


def ladder(spec: TournamentSpec, settings: Ladder) -> Format:
    """The players start in the order of the file, later ones at the bottom; their rung at the end is their rank."""
    allowed, deals = allowed_table_sizes(spec), count()
    rungs = spec.players
    for turn in range(settings.rounds):
        groups = neighbour_groups(rungs, settings.table, turn)
        challenges = [group for group in groups if len(group) in allowed]
        if not challenges:
            break
        sent = yield tuple(
            spec.match_spec(rotate_seats(group, game), next(deals))
            for group in challenges
            for game in range(settings.games)
        )
        points, there = total_points(sent.matches), entrant_names(sent.players)
        climbed = [one for group in groups for one in sorted(group, key=lambda one: -points.get(one.name, 0))]
        known = entrant_names(climbed)
        rungs = tuple(one for one in climbed if one.name in there)
        rungs += tuple(one for one in sent.players if one.name not in known)
    return tuple((one.name,) for one in rungs) or NO_RANKED_PLAYERS


def neighbour_groups(rungs: Sequence[Entrant], size: int, turn: int) -> list[tuple[Entrant, ...]]:
    """The groups of a round, from the top; they differ every second round, so that each player can climb."""
    top = 0 if turn % 2 == 0 or len(rungs) <= size else len(rungs) % size or size // 2
    whole, bottom = divmod(len(rungs) - top, size)
    return split_into_groups(rungs, [top, *[size] * whole, bottom])
