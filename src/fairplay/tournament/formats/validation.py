"""Refuse a tournament that cannot be played, in one line, before it starts."""

from collections import Counter

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.players.location import is_restarted_each_match
from fairplay.tournament.courses import Course
from fairplay.tournament.formats.courses import TABLE_SIZES
from fairplay.tournament.formats.duplicate import SEAT_ORDERS
from fairplay.tournament.settings import Duplicate, Versus
from fairplay.tournament.spec import TournamentSpec

MAX_PLAYERS_FOR_ALL_ORDERS = 3  # at a table whose seat orders can all be played
MAX_ELO_DIFFERENCE = 4000  # that a test may ask for


def check_format(spec: TournamentSpec) -> None:
    """Raise BadRequest unless the format can be played with this game and these players."""
    settings, rules = spec.format, spec.rules()
    kind, seats = settings.__struct_config__.tag, f"{rules.seats[0]} to {rules.seats[-1]}"
    name, times = Counter(player.name for player in spec.players).most_common(1)[0] if spec.players else ("", 0)
    if times > 1:
        raise BadRequest(f"{times} players are called {name!r}; each needs a name of its own")
    if isinstance(settings, Course):
        sizes = TABLE_SIZES[type(settings)]
        if not set(sizes) <= set(rules.seats):
            raise BadRequest(
                f"{kind} is for games of {sizes[0]} to {sizes[-1]} players, and {rules.name} takes {seats}"
            )
    else:
        sizes = range(settings.table, settings.table + 1)
        if settings.table not in rules.seats:
            raise BadRequest(f"{rules.name} takes {seats} players, so there are no tables of {settings.table}")
    players = len(spec.players)
    if isinstance(settings, Versus) and players != settings.table:
        raise BadRequest(f"versus at a table of {settings.table} needs as many players, and there are {players}")
    if players < sizes[0]:
        raise BadRequest(f"{kind} needs at least {sizes[0]} players, and there are {players}")
    for size in sizes:
        rules.deal(size, bytes(SEED_BYTES))  # raises BadRequest with the reason
    if isinstance(settings, Duplicate):
        check_orders(settings)
    if isinstance(settings, Versus):
        check_test(settings)
    if isinstance(settings, Duplicate | Versus) and rules.hidden:
        for player in spec.players:
            if not is_restarted_each_match(player.address):
                raise BadRequest(
                    f"{kind} plays each deal more than once, and {player.name} ({player.address}) is not restarted "
                    f"for each match: it would know {rules.hidden}; use another format, or programs"
                )


def check_orders(settings: Duplicate) -> None:
    """Raise BadRequest unless these seat orders can be played."""
    if settings.orders not in SEAT_ORDERS:
        raise BadRequest(f"there are no orders {settings.orders!r}; there are {' and '.join(SEAT_ORDERS)}")
    if settings.orders == SEAT_ORDERS[0] and settings.table > MAX_PLAYERS_FOR_ALL_ORDERS:
        raise BadRequest(
            f"all seat orders are too many at a table of {settings.table}; write orders = {SEAT_ORDERS[1]!r}"
        )


def check_test(settings: Versus) -> None:
    """Raise BadRequest unless the test has something to decide."""
    if not -MAX_ELO_DIFFERENCE <= settings.elo0 < settings.elo1 <= MAX_ELO_DIFFERENCE:
        raise BadRequest(
            f"elo0 = {settings.elo0:g} has to be less than elo1 = {settings.elo1:g}, "
            f"both from -{MAX_ELO_DIFFERENCE} to {MAX_ELO_DIFFERENCE}"
        )
    if settings.games < settings.table:
        raise BadRequest(f"games = {settings.games} is too few: one deal takes {settings.table}")
