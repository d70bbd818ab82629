"""Find the games of others: those that were handed over, and those that installed packages bring.

Nothing is imported because a record or a message names it: a name is looked up among what whoever runs this has
installed, as entry points of the group `fairplay.games`, or has handed over by py:module:Name. What was handed over is
in the environment too, so that processes that are started from here know it.
"""

import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.games import GAMES, HANDED, OTHERS, Found, Rules
from fairplay.kit.free import FREE, for_free
from fairplay.kit.game import BoardGame
from fairplay.referee.host import complain
from fairplay.referee.loading import loaded, named_in_module
from fairplay.render.text import printable

GROUP = "fairplay.games"  # of entry points
NAME = re.compile("[a-z][a-z0-9-]{0,39}")
NEEDED = ("name", "version", "seats", "youngest_first", "action")
NAMING = "write small letters, digits and hyphens"
MAX_COMPLAINT_CHARS = 600


def hand_over(address: str) -> str:
    """Know the game at an address, py:module:Name, here and in all that is started from here; what it is called."""
    with redirect_stdout(sys.stderr):  # what a module prints must not come between events
        rules = checked(address, named_in_module(address, "game"))
    name = rules.name
    if name in GAMES:
        raise BadRequest(f"{address}: there is a game {name!r} already, of fairplay's own; call yours something else")
    before = OTHERS.get(name)
    if before is not None and before.address and before.rules is not rules:
        raise BadRequest(f"{address}: there is a game {name!r} already, which is {before.address}")
    OTHERS[name] = Found(rules, address)
    os.environ[HANDED] = " ".join(dict.fromkeys([*addresses(), address]))
    return name


def addresses() -> list[str]:
    """The addresses of all that was handed over, here or where this process was started."""
    return os.environ.get(HANDED, "").split()


def take_over() -> None:
    """Know all that was handed over where this process was started."""
    for address in addresses():
        if all(address != found.address for found in OTHERS.values()):
            hand_over(address)


def find(name: str) -> None:
    """Know the game of this name, if somebody brings one. Raises BadRequest if it cannot be loaded, or if two do."""
    take_over()
    if name not in OTHERS:
        brought = brought_by_packages().get(name, ())
        if len(brought) > 1:
            packages = " and ".join(sorted(name_of(entry.dist) for entry in brought))
            raise BadRequest(f"two packages bring a game {name!r}: {packages}; uninstall one of them")
        for entry in brought:
            OTHERS[name] = Found(installed(entry), "")


@cache  # to look takes a while
def brought_by_packages() -> dict[str, list[EntryPoint]]:
    """What installed packages bring, by name; nothing of it is loaded."""
    brought: dict[str, list[EntryPoint]] = {}
    for package in distributions():
        for entry in entries_of(package):
            if entry.value not in [other.value for other in brought.setdefault(entry.name, [])]:
                brought[entry.name].append(entry)
    return brought


def entries_of(package: Distribution) -> Sequence[EntryPoint]:
    """The entry points of a package; none, of which a person is told, if they cannot be read."""
    try:
        entries: Sequence[EntryPoint] = loaded(
            "its list of entry points", lambda: package.entry_points.select(group=GROUP)
        )
    except BadRequest as error:
        complain(printable(f"the package {name_of(package)} is left out: {error}", MAX_COMPLAINT_CHARS))
        return ()
    return entries


def installed(entry: EntryPoint) -> Rules:
    """The game of an entry point. Raises BadRequest if it is none, or has another name."""
    place = f"{entry.value} of the package {name_of(entry.dist)}"
    if not NAME.fullmatch(entry.name):
        raise BadRequest(f"{place}: no game can be called {entry.name!r}: {NAMING}")
    with redirect_stdout(sys.stderr):  # what a module prints must not come between events
        rules = checked(place, loaded(place, entry.load))
    if rules.name != entry.name:
        raise BadRequest(f"{place} is called {rules.name!r}, but its entry point {entry.name!r}")
    return rules


def name_of(package: Distribution | None) -> str:
    """What a package is called, as far as that can be read."""
    with suppress(BadRequest):
        if package is not None:
            return str(loaded("its name", lambda: package.name))
    return "of no name"


def checked(place: str, rules: Any) -> Rules:
    """The rules of a game, if that is what was found there."""
    if not (isinstance(rules, type) and issubclass(rules, Game)):
        raise BadRequest(f"what {place} names is no game: it is no class that is made from fairplay.Game")
    for needed in NEEDED:
        if not hasattr(rules, needed):
            raise BadRequest(f"what {place} names is no whole game: it has no {needed!r}")
    if rules.__abstractmethods__:
        raise BadRequest(f"what {place} names is no whole game: it has no {min(rules.__abstractmethods__)!r}")
    if not (isinstance(rules.name, str) and NAME.fullmatch(rules.name)):
        raise BadRequest(f"{place}: no game can be called {rules.name!r}: {NAMING}")
    if not (isinstance(rules.seats, range) and len(rules.seats) and rules.seats[0] > 0):
        raise BadRequest(f"{place}: its seats are no range, such as range(2, 5) for two to four")
    return rules


# What comes with a game.


def part(rules: Rules, name: str, _: str, inside: str, *otherwise: Any) -> Any:
    """What a title holds of a game in one module: its own, or else the kit's."""
    value = vars(sys.modules[rules.__module__]).get(inside)
    if value is not None and getattr(value, "__module__", rules.__module__) == rules.__module__:
        return value
    if issubclass(rules, BoardGame) and name in FREE:
        return for_free(rules, name)
    if otherwise:
        return otherwise[0]
    raise BadRequest(f"{rules.name} brings no {inside!r}, which only games made from fairplay.kit have for free")
