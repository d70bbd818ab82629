"""Make an example of any struct or exception of fairplay from the types of its fields."""

import inspect
import types
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from examples.games.tic_tac_toe import TicTacToe
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.core.messages import Answered, Evidence
from fairplay.core.roles import Player
from fairplay.games import GameInfo, game_info
from fairplay.games.fish import Fish
from fairplay.games.fish import board as fish
from fairplay.games.q import board as q
from fairplay.games.tsuro import board as tsuro
from fairplay.kit import BoardGame

PLAIN_EXAMPLES: dict[Any, Any] = {
    Any: {"anything": [1, None]},
    bool: True,
    int: 7,
    float: 0.5,
    str: "some text",
    bytes: b"some bytes",
    object: "anything",
}
HANDMADE_EXAMPLES: dict[Any, Any] = {  # what cannot be made from the types of its fields
    fish.Grid: fish.grid(3, 4),
    tsuro.Grid: tsuro.grid(5),
    q.Map: q.map_of([((0, 0), 3), ((0, 1), 9)]),
    Path: Path("/usr"),
    msgspec.Raw: msgspec.Raw(b"[1]"),
    msgspec.UnsetType: msgspec.UNSET,
    Game: Fish(rows=5),
    BoardGame: TicTacToe(),
    Match: Match(Fish(), Fish().deal(2, bytes(32)), ("ann", "bob"), seed=bytes(32)),
    Player: print,
    Answered: Answered(7, 0.5, Evidence),
}


class NoExample(TypeError):
    """There is no way to make one of these: write it into BY_HAND."""


def example_of(kind: Any) -> Any:
    """A value of this type, as unlike the default as its type makes it."""
    origin = get_origin(kind) or kind
    if origin is GameInfo:
        return game_info("q")  # as it is known now: tests of other games let all titles be forgotten
    for known in (PLAIN_EXAMPLES, HANDMADE_EXAMPLES):
        if origin in known:
            return known[origin]
    arguments = get_args(kind)
    if origin is Annotated:
        return example_of(arguments[0])
    if origin is Literal:
        return arguments[-1]
    if origin in (Union, types.UnionType):
        return example_of([choice for choice in arguments if choice is not type(None)][-1])
    if origin is Callable or kind is Callable:
        return len
    if origin is tuple and arguments[-1:] != (...,):
        return tuple(example_of(part) for part in arguments)
    if origin in (tuple, list, set, frozenset):
        return origin([example_of(arguments[0])])
    if origin is dict or getattr(origin, "__name__", "") == "Mapping":
        return {example_of(arguments[0]): example_of(arguments[1])}
    if origin is type:
        return Fish
    return example_of_class(origin)


def example_of_class(kind: Any) -> Any:
    """An instance of a class."""
    if isinstance(kind, TypeVar):
        return "anything"
    if issubclass(kind, Enum):
        return list(kind)[-1]
    if issubclass(kind, msgspec.Struct):
        return kind(**{field.name: example_of(field.type) for field in msgspec.structs.fields(kind)})
    if issubclass(kind, BaseException):
        return example_of_exception(kind)
    raise NoExample(f"there is no example of {kind}")


def example_of_exception(kind: type[BaseException]) -> BaseException:
    """An exception as it is raised: with a text, or with whatever it takes; and with a note."""
    given = ["some text"]
    if inspect.isfunction(kind.__init__):
        hints = get_type_hints(kind.__init__)
        given = [example_of(hints[name]) for name in hints if name != "return"]
    made = kind(*given)
    made.add_note("in a test")
    return made
