"""Find external games: those that were registered in this process, and those that installed packages bring.

Nothing is imported because a record or a message names it: a name is looked up among the entry points of the group
`fairplay.games` and among the games that were registered, as a class or by py:module:Name. Other processes are told
which game to register by a spec or by their command line.
"""

import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.games import EXTERNAL_GAMES, GAMES, ExternalGame, Rules, game_info, unknown_game_message
from fairplay.kit.defaults import DEFAULTS, default_part
from fairplay.kit.game import BoardGame
from fairplay.referee.loading import load_from_module, run_loader
from fairplay.referee.referee import print_warning
from fairplay.render.text import printable

ENTRY_POINT_GROUP = "fairplay.games"  # of entry points
NAME = re.compile("[a-z][a-z0-9-]{0,39}")
REQUIRED_ATTRIBUTES = ("name", "version", "seats", "youngest_first", "action")
NAME_HINT = "write small letters, digits and hyphens"
MAX_WARNING_CHARS = 600


def load(game: str | Rules) -> str:
    """Put an external game, py:module:Name or a class, into the registry; its name."""
    if isinstance(game, str):
        with redirect_stdout(sys.stderr):  # what a module prints must not come between events
            rules, source, place = load_from_module(game, "game"), game, game
    else:
        rules, source, place = game, address_of(game), repr(game)
    name = check_rules(place, rules).name
    if name in GAMES:
        raise BadRequest(f"{place}: there is a game {name!r} already, of fairplay's own; call yours something else")
    before = EXTERNAL_GAMES.get(name)
    if before is not None and before.source != name and before.rules is not rules:
        raise BadRequest(f"{place}: there is a game {name!r} already, which is {before.source or before.rules}")
    EXTERNAL_GAMES[name] = ExternalGame(rules, source)
    game_info.cache_clear()  # an installed game may have had this name
    return name


def address_of(game: Any) -> str:
    """The address by which another process can import a class; empty: there is none."""
    module, name = getattr(game, "__module__", ""), getattr(game, "__qualname__", "")
    is_there = module != "__main__" and getattr(sys.modules.get(module), name, None) is game
    return f"py:{module}:{name}" if is_there else ""


def register_installed(name: str) -> None:
    """Register the installed game of this name. Raises BadRequest unless there is one, and can be loaded."""
    brought = installed_games().get(name, ())
    if not brought:
        raise BadRequest(unknown_game_message(name))
    if len(brought) > 1:
        packages = " and ".join(sorted(package_name(entry.dist) for entry in brought))
        raise BadRequest(f"two packages bring a game {name!r}: {packages}; uninstall one of them")
    EXTERNAL_GAMES[name] = ExternalGame(load_entry_point(brought[0]), name)


@cache  # to look takes a while
def installed_games() -> dict[str, list[EntryPoint]]:
    """What installed packages bring, by name; nothing of it is loaded."""
    brought: dict[str, list[EntryPoint]] = {}
    for package in distributions():
        for entry in entry_points(package):
            if entry.value not in [other.value for other in brought.setdefault(entry.name, [])]:
                brought[entry.name].append(entry)
    return brought


def entry_points(package: Distribution) -> Sequence[EntryPoint]:
    """The entry points of a package; none, of which a person is told, if they cannot be read."""
    try:
        entries: Sequence[EntryPoint] = run_loader(
            "its list of entry points", lambda: package.entry_points.select(group=ENTRY_POINT_GROUP)
        )
    except BadRequest as error:
        print_warning(printable(f"the package {package_name(package)} is left out: {error}", MAX_WARNING_CHARS))
        return ()
    return entries


def load_entry_point(entry: EntryPoint) -> Rules:
    """The game of an entry point. Raises BadRequest if it is none, or has another name."""
    place = f"{entry.value} of the package {package_name(entry.dist)}"
    if not NAME.fullmatch(entry.name):
        raise BadRequest(f"{place}: no game can be called {entry.name!r}: {NAME_HINT}")
    with redirect_stdout(sys.stderr):  # what a module prints must not come between events
        rules = check_rules(place, run_loader(place, entry.load))
    if rules.name != entry.name:
        raise BadRequest(f"{place} is called {rules.name!r}, but its entry point {entry.name!r}")
    return rules


def package_name(package: Distribution | None) -> str:
    """What a package is called, as far as that can be read."""
    with suppress(BadRequest):
        if package is not None:
            return str(run_loader("its name", lambda: package.name))
    return "of no name"


def check_rules(place: str, rules: Any) -> Rules:
    """The rules of a game, if that is what was found there."""
    if not (isinstance(rules, type) and issubclass(rules, Game)):
        raise BadRequest(f"what {place} names is no game: it is no class that is made from fairplay.Game")
    for missing in (
        *(name for name in REQUIRED_ATTRIBUTES if not hasattr(rules, name)),
        *sorted(rules.__abstractmethods__),
    ):
        raise BadRequest(f"what {place} names is no whole game: it has no {missing!r}")
    if not (isinstance(rules.name, str) and NAME.fullmatch(rules.name)):
        raise BadRequest(f"{place}: no game can be called {rules.name!r}: {NAME_HINT}")
    if not (isinstance(rules.seats, range) and len(rules.seats) and rules.seats[0] > 0):
        raise BadRequest(f"{place}: its seats are no range, such as range(2, 5) for two to four")
    return rules


# What comes with a game.


def external_part(rules: Rules, name: str, _: str, inside: str, *otherwise: Any) -> Any:
    """What a title holds of a game in one module: its own, or else the kit's."""
    value = vars(sys.modules[rules.__module__]).get(inside)
    if value is not None and getattr(value, "__module__", rules.__module__) == rules.__module__:
        return value
    if issubclass(rules, BoardGame) and name in DEFAULTS:
        return default_part(rules, name)
    if otherwise:
        return otherwise[0]
    raise BadRequest(f"{rules.name} brings no {inside!r}, which only games made from fairplay.kit have for free")
