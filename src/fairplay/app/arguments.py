"""Check the arguments of the Python interface, and convert them to games, players, limits and observers."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

import msgspec

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.events import Event
from fairplay.core.game import Game, Seat
from fairplay.core.match import Match
from fairplay.core.roles import Observer
from fairplay.games import GAMES, game_info, make_game, register
from fairplay.hosting.run import load_observer
from fairplay.hosting.spec import Entrant, seed_options
from fairplay.players.address import IN_PROCESS_PREFIX, split_label
from fairplay.players.location import Command, Person, parse_remote_address
from fairplay.protocol.limits import Limits, parse_limits
from fairplay.referee.local_channel import has_method
from fairplay.sandbox.policy import SANDBOXES, unknown_level

AnyGame = Game[Any, Any, Any]
GameArgument = str | AnyGame
PlayersArgument = Sequence[Any] | Mapping[str, Any]  # of texts, paths, entrants, functions and objects
ObserverArgument = Observer | Callable[[Event, Match[Any, Any, Any]], None] | str
SeedArgument = int | str | bytes | None
LimitsArgument = Limits | float | str | None
SPEC = re.compile(r"([^()]*)(?:\((.*)\))?", re.DOTALL)  # of a game: NAME or NAME(PARAMETER=VALUE, ...)
Choice = TypeVar("Choice", bound=Enum)


class FunctionObserver:
    """A function (event, match) as an observer."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Call the function."""
        self._function(event, match)


def parse_game(game: GameArgument) -> AnyGame:
    """The game of a value, a name or a text such as `fish(rows=5, columns=5)`.

    >>> parse_game("fish(rows=3, columns=3, fish=2)")
    Fish(rows=3, columns=3, fish=2, holes=0, colours='fixed', cramped=False)
    """
    if isinstance(game, str):
        return _parse_game_text(game)
    if not isinstance(game, Game):
        hint = f"; write {game.__name__}()" if isinstance(game, type) and issubclass(game, Game) else ""
        raise TypeError(f"game must be a name or a value of a game, not {describe(game)}{hint}")
    if game.name not in GAMES:
        register(type(game))
    return game


def _parse_game_text(text: str) -> AnyGame:
    form = SPEC.fullmatch(text.strip())
    if form is None:
        raise BadRequest(f"{text!r} is no game; write NAME or NAME(PARAMETER=VALUE, ...)")
    parameters: dict[str, Any] = {}
    for pair in _split_arguments(form[2] or ""):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (name.isidentifier() and equals and value) or name in parameters:
            raise BadRequest(f"{text!r} is no game: write PARAMETER=VALUE, each name once, not {pair.strip()!r}")
        parameters[name] = _parse_value(value)
    return make_game(register(form[1].strip()), parameters)


def _split_arguments(text: str) -> Iterator[str]:
    """The arguments between commas that stand in no brackets."""
    start = depth = 0
    for position, sign in enumerate(text):
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and not depth:
            yield text[start:position]
            start = position + 1
    if text[start:].strip():
        yield text[start:]


def _parse_value(text: str) -> Any:
    try:
        return msgspec.json.decode(text.replace("'", '"'))
    except msgspec.DecodeError:
        return text


def check_programs_know_game(game: AnyGame, addresses: Sequence[str]) -> None:
    """Raise BadRequest if a program among the players could not import the game."""
    if not game_info(game.name).source:
        for address in addresses:
            if isinstance(parse_remote_address(address), Command | Person):
                raise BadRequest(
                    f"{address} cannot import {game.name}, which is defined in this process alone: put it into a module"
                )


def parse_players(players: PlayersArgument) -> tuple[list[Entrant], dict[Seat, Any]]:
    """The players in their order, and by index those of them that are objects of this process."""
    if isinstance(players, str | bytes) or not isinstance(players, Mapping | Sequence):
        raise TypeError(f"players must be a list, or a dict by name, not {describe(players)}")
    named = players.items() if isinstance(players, Mapping) else (("", player) for player in players)
    entrants, objects = list[Entrant](), dict[Seat, Any]()
    for index, (name, player) in enumerate(named):
        if not isinstance(name, str) or (isinstance(players, Mapping) and not name):
            raise TypeError(f"the name of a player must be a text, not {describe(name)}")
        entrant = parse_entrant(name, player, index)
        entrants.append(entrant)
        if not isinstance(player, str | os.PathLike | Entrant):
            objects[index] = player
    return entrants, objects


def parse_entrant(name: str, player: Any, index: int = 0) -> Entrant:
    """One player, with its name if it was given one."""
    if isinstance(player, Entrant):
        return Entrant(player.address, name or player.name, player.given)
    if isinstance(player, str):
        label, address = split_label(player)
        return Entrant(player, name) if name or label == player else Entrant(address, label)
    if isinstance(player, os.PathLike):
        path = os.fspath(player)
        return Entrant(path if "/" in path else f"./{path}", name)
    if isinstance(player, type):
        raise TypeError(f"player {name or index} is the class {player.__name__}; write {player.__name__}()")
    if not (callable(player) or has_method(player, "take_turn")):
        raise TypeError(
            f"player {name or index} must be a name, an address, a function or an object with a method "
            f"take_turn(view), not {describe(player)}"
        )
    return Entrant(object_address(player), name or object_name(player) or f"player-{index + 1}")


def object_address(player: Any) -> str:
    """What a journal calls a player that is an object of this process: where its code is."""
    owner = player if hasattr(player, "__qualname__") else type(player)
    return f"{IN_PROCESS_PREFIX}{owner.__module__}:{owner.__qualname__}"


def object_name(player: Any) -> str:
    """The name of a function, or of the class of an object; empty: it has none that says anything."""
    name = getattr(player, "__name__", None) or type(player).__name__
    return name if isinstance(name, str) and name.isidentifier() and name != "partial" else ""


def parse_ages(ages: Any) -> Sequence[int] | None:
    """The ages of the players, in their order."""
    if ages is None:
        return None
    if not isinstance(ages, Sequence) or not all(isinstance(age, int | float) for age in ages):
        raise TypeError(f"ages must be a list of numbers, not {describe(ages)}")
    return ages


def parse_seed(seed: SeedArgument) -> dict[str, Any]:
    """What a spec has to say of a seed. An integer is the same as its digits on the command line."""
    if isinstance(seed, bytes):
        if len(seed) != SEED_BYTES:
            raise BadRequest(f"a seed of bytes has {SEED_BYTES} of them, not {len(seed)}; give an int or a text")
        return {"seed": seed}
    if isinstance(seed, bool) or not isinstance(seed, int | str | None):
        raise TypeError(f"seed must be an int, a str or {SEED_BYTES} bytes, not {describe(seed)}")
    return seed_options(None if seed is None else str(seed))


def parse_limits_argument(limits: LimitsArgument) -> Limits | None:
    """Limits as they are, as seconds for every answer, or as a text: `2,bank=60`."""
    if isinstance(limits, Limits):
        try:
            return msgspec.convert(msgspec.to_builtins(limits), Limits)  # what was made by hand was not checked
        except (msgspec.ValidationError, TypeError) as error:
            raise BadRequest(f"these limits make no sense: {error}") from None
    if limits is None:
        return None
    if isinstance(limits, bool) or not isinstance(limits, int | float | str):
        raise TypeError(f"limits must be Limits, seconds or a text such as '2,bank=60', not {describe(limits)}")
    return parse_limits(str(limits))


def parse_choice(value: str | Choice, kind: type[Choice], argument: str) -> Choice:
    """The member of an enum that a value names."""
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(repr(one.value) for one in kind)
        raise BadRequest(f"{argument} must be one of {names}, not {describe(value)}") from None


def parse_sandbox_argument(sandbox: str | None) -> str | None:
    """The name of a sandbox."""
    if sandbox is not None and (not isinstance(sandbox, str) or unknown_level(sandbox) is not None):
        raise BadRequest(f"sandbox must be one of {', '.join(map(repr, SANDBOXES))}, not {describe(sandbox)}")
    return sandbox


def parse_path(path: Any, argument: str) -> str | None:
    """A path as a text."""
    if path is None:
        return None
    if not isinstance(path, str | os.PathLike) or not isinstance(text := os.fspath(path), str):
        raise TypeError(f"{argument} must be a path, not {describe(path)}")
    return text


def parse_observers(observers: Sequence[Any]) -> list[Observer]:
    """Observers: objects with a method `observe`, functions (event, match), or addresses."""
    if isinstance(observers, str) or not isinstance(observers, Sequence):
        raise TypeError(f"observers must be a list, not {describe(observers)}")
    return [_parse_observer(observer) for observer in observers]


def _parse_observer(observer: Any) -> Observer:
    if isinstance(observer, str):
        return load_observer(observer)
    if isinstance(observer, type) or not (callable(observer) or has_method(observer, "observe")):
        raise TypeError(
            "an observer must be an object with a method observe(event, match), a function or an address, "
            f"not {describe(observer)}"
        )
    found: Observer = observer if has_method(observer, "observe") else FunctionObserver(observer)
    return found


def describe(value: object) -> str:
    """A wrong argument for a message: short, and with its type."""
    try:
        text = repr(value)
    except Exception:  # a repr of a foreign class
        text = ""
    name = "class" if isinstance(value, type) else type(value).__name__
    kind = f"an {name}" if name[:1] in "aeiouAEIOU" else f"a {name}"
    return f"{text} ({kind})" if 0 < len(text) <= 40 and "\n" not in text else kind
