"""Let neighbours on a ladder challenge each other; whoever is better stands higher afterwards."""

from collections.abc import Sequence
from itertools import count

from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted import NOBODY, Format, names_of
from fairplay.tournament.formats.points import totals
from fairplay.tournament.formats.seating import rotated
from fairplay.tournament.formats.sizes import cut, table_sizes
from fairplay.tournament.settings import Ladder
from fairplay.tournament.spec import Cup


def ladder(cup: Cup, settings: Ladder) -> Format:
    """The first rungs are those of the file; who comes later begins at the bottom. Where people end is their rank."""
    allowed, deals = table_sizes(cup), count()
    rungs = cup.players
    for turn in range(settings.rounds):
        groups = neighbours(rungs, settings.table, turn)
        challenges = [group for group in groups if len(group) in allowed]
        if not challenges:
            break
        sent = yield tuple(
            cup.match(rotated(group, game), next(deals)) for group in challenges for game in range(settings.games)
        )
        points, there = totals(sent.matches), names_of(sent.players)
        climbed = [one for group in groups for one in sorted(group, key=lambda one: -points.get(one.name, 0))]
        known = names_of(climbed)
        rungs = tuple(one for one in climbed if one.name in there)
        rungs += tuple(one for one in sent.players if one.name not in known)
    return tuple((one.name,) for one in rungs) or NOBODY


def neighbours(rungs: Sequence[Entrant], size: int, turn: int) -> list[tuple[Entrant, ...]]:
    """The groups of a round, from the top; every second time they are cut elsewhere, so that everybody can climb."""
    top = 0 if turn % 2 == 0 or len(rungs) <= size else len(rungs) % size or size // 2
    whole, bottom = divmod(len(rungs) - top, size)
    return cut(rungs, [top, *[size] * whole, bottom])
