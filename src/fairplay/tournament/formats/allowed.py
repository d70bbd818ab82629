"""Refuse what cannot be a tournament, in one line, before anything starts."""

from collections import Counter

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.players.location import is_started_afresh
from fairplay.tournament.courses import Course
from fairplay.tournament.formats.courses import SIZES
from fairplay.tournament.formats.duplicate import ORDERS
from fairplay.tournament.settings import Duplicate, Versus
from fairplay.tournament.spec import Cup

FEW = 3  # players whose seat orders can all be played
FAR = 4000  # no player is better than another by more Elo


def check(cup: Cup) -> None:
    """Raise BadRequest unless the format can be played with this game and these players."""
    settings, rules = cup.format, cup.rules()
    kind, seats = settings.__struct_config__.tag, f"{rules.seats[0]} to {rules.seats[-1]}"
    name, times = Counter(player.name for player in cup.players).most_common(1)[0] if cup.players else ("", 0)
    if times > 1:
        raise BadRequest(f"{times} players are called {name!r}; each needs a name of its own")
    if isinstance(settings, Course):
        sizes = SIZES[type(settings)]
        if not set(sizes) <= set(rules.seats):
            raise BadRequest(
                f"{kind} is for games of {sizes[0]} to {sizes[-1]} players, and {rules.name} takes {seats}"
            )
    else:
        sizes = range(settings.table, settings.table + 1)
        if settings.table not in rules.seats:
            raise BadRequest(f"{rules.name} takes {seats} players, so there are no tables of {settings.table}")
    players = len(cup.players)
    if isinstance(settings, Versus) and players != settings.table:
        raise BadRequest(f"versus at a table of {settings.table} needs as many players, and there are {players}")
    if players < sizes[0]:
        raise BadRequest(f"{kind} needs at least {sizes[0]} players, and there are {players}")
    for size in sizes:
        rules.deal(size, bytes(SEED_BYTES))  # which says what is wrong
    if isinstance(settings, Duplicate):
        check_orders(settings)
    if isinstance(settings, Versus):
        check_test(settings)
    if isinstance(settings, Duplicate | Versus) and rules.hidden:
        for player in cup.players:
            if not is_started_afresh(player.address):
                raise BadRequest(
                    f"{kind} plays each deal more than once, and {player.name} ({player.address}) is not started "
                    f"afresh for each match: it would know {rules.hidden}; use another format, or programs"
                )


def check_orders(settings: Duplicate) -> None:
    """Raise BadRequest unless these seat orders can be played."""
    if settings.orders not in ORDERS:
        raise BadRequest(f"there are no orders {settings.orders!r}; there are {' and '.join(ORDERS)}")
    if settings.orders == ORDERS[0] and settings.table > FEW:
        raise BadRequest(f"all seat orders are too many at a table of {settings.table}; write orders = {ORDERS[1]!r}")


def check_test(settings: Versus) -> None:
    """Raise BadRequest unless there is something to be decided."""
    if not -FAR <= settings.elo0 < settings.elo1 <= FAR:
        raise BadRequest(
            f"elo0 = {settings.elo0:g} has to be less than elo1 = {settings.elo1:g}, both from -{FAR} to {FAR}"
        )
    if settings.games < settings.table:
        raise BadRequest(f"games = {settings.games} is too few: one deal takes {settings.table}")
