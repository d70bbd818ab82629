"""Find external games: those registered in this process, and those of installed packages.

A name in a record or a message makes nothing else be imported: it is looked up among the entry points of the group
`fairplay.games` and among the games that were registered, as a class or by py:module:Name. A spec or the command line
says which games another process registers.
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
NAME_HINT = "use small letters, digits and hyphens"
MAX_WARNING_CHARS = 600


def load(game: str | Rules) -> str:
    """Put an external game, py:module:Name or a class, into the registry; return its name."""
    if isinstance(game, str):
        with redirect_stdout(sys.stderr):  # what a module prints must not mix with events
            rules, source, place = load_from_module(game, "game"), game, game
    else:
        rules, source, place = game, address_of(game), repr(game)
    name = check_rules(place, rules).name
    if name in GAMES:
        raise BadRequest(f"{place}: {name!r} is a game of fairplay; give yours another name")
    before = EXTERNAL_GAMES.get(name)
    if before is not None and before.source != name and not is_same_class(before.rules, rules):
        raise BadRequest(f"{place}: there is a game {name!r} already: {before.source or before.rules}")
    EXTERNAL_GAMES[name] = ExternalGame(rules, source)
    game_info.cache_clear()  # an installed game may have had this name
    return name


def is_same_class(one: Rules, other: Rules) -> bool:
    """Is this the same class, or a newer one in its place, as when a cell of a notebook runs again?"""
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


def address_of(game: Any) -> str:
    """The address by which another process can import a class; empty: there is none."""
    module, name = getattr(game, "__module__", ""), getattr(game, "__qualname__", "")
    is_there = module != "__main__" and getattr(sys.modules.get(module), name, None) is game
    return f"py:{module}:{name}" if is_there else ""


def register_installed(name: str) -> None:
    """Register the installed game of this name. Raises BadRequest if there is none, or if it cannot be loaded."""
    found = installed_games().get(name, ())
    if not found:
        raise BadRequest(unknown_game_message(name))
    if len(found) > 1:
        packages = " and ".join(sorted(package_name(entry.dist) for entry in found))
        raise BadRequest(f"two packages contain a game {name!r}: {packages}; uninstall one of them")
    EXTERNAL_GAMES[name] = ExternalGame(load_entry_point(found[0]), name)


@cache  # the search is slow
def installed_games() -> dict[str, list[EntryPoint]]:
    """The entry points of all installed games, by name; none is loaded."""
    found: dict[str, list[EntryPoint]] = {}
    for package in distributions():
        for entry in entry_points(package):
            if entry.value not in [other.value for other in found.setdefault(entry.name, [])]:
                found[entry.name].append(entry)
    return found


def entry_points(package: Distribution) -> Sequence[EntryPoint]:
    """The entry points of a package; none, with a warning, if they cannot be read."""
    try:
        entries: Sequence[EntryPoint] = run_loader(
            "its list of entry points", lambda: package.entry_points.select(group=ENTRY_POINT_GROUP)
        )
    except BadRequest as error:
        print_warning(printable(f"skipped the package {package_name(package)}: {error}", MAX_WARNING_CHARS))
        return ()
    return entries


def load_entry_point(entry: EntryPoint) -> Rules:
    """The game of an entry point. Raises BadRequest if it is not a game, or has another name."""
    place = f"{entry.value} of the package {package_name(entry.dist)}"
    if not NAME.fullmatch(entry.name):
        raise BadRequest(f"{place}: {entry.name!r} is not a name for a game: {NAME_HINT}")
    with redirect_stdout(sys.stderr):  # what a module prints must not mix with events
        rules = check_rules(place, run_loader(place, entry.load))
    if rules.name != entry.name:
        raise BadRequest(f"{place} has the name {rules.name!r}, but its entry point {entry.name!r}")
    return rules


def package_name(package: Distribution | None) -> str:
    """The name of a package, if it can be read."""
    with suppress(BadRequest):
        if package is not None:
            return str(run_loader("its name", lambda: package.name))
    return "without a name"


def check_rules(place: str, rules: Any) -> Rules:
    """The rules, if they are a complete game. Raises BadRequest."""
    if not (isinstance(rules, type) and issubclass(rules, Game)):
        raise BadRequest(f"{place} is not a game: it is not a subclass of fairplay.Game")
    for missing in (
        *(name for name in REQUIRED_ATTRIBUTES if not hasattr(rules, name)),
        *sorted(rules.__abstractmethods__),
    ):
        raise BadRequest(f"{place} is not a complete game: define {missing!r}")
    if not (isinstance(rules.name, str) and NAME.fullmatch(rules.name)):
        raise BadRequest(f"{place}: {rules.name!r} is not a name for a game: {NAME_HINT}")
    if not (isinstance(rules.seats, range) and len(rules.seats) and rules.seats[0] > 0):
        raise BadRequest(f"{place}: seats must be a range, such as range(2, 5) for two to four players")
    return rules


# The other parts of a game.


def external_part(rules: Rules, name: str, _: str, inside: str, *otherwise: Any) -> Any:
    """A part of a game in one module: its own, or else the default of the kit."""
    value = vars(sys.modules[rules.__module__]).get(inside)
    if value is not None and getattr(value, "__module__", rules.__module__) == rules.__module__:
        return value
    if issubclass(rules, BoardGame) and name in DEFAULTS:
        return default_part(rules, name)
    if otherwise:
        return otherwise[0]
    raise BadRequest(f"module {rules.__module__} must define {inside!r}: {rules.name} is not made from fairplay.kit")
