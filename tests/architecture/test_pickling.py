"""Check that every struct, exception and position can be pickled, by examples made from the types of their fields."""

import inspect
import pickle
import pkgutil
import types
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from inspect import isabstract
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

import fairplay
from examples.games.tic_tac_toe import TicTacToe
from fairplay.core.chance import SeededRandom
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.core.messages import Answered, Evidence
from fairplay.core.roles import Player
from fairplay.games import GAMES, GameInfo, game_info
from fairplay.games.fish import Fish
from fairplay.games.fish import board as fish
from fairplay.games.q import board as q
from fairplay.games.tsuro import board as tsuro
from fairplay.kit import BoardGame
from fairplay.players.listener import ConnectedPlayer
from fairplay.testing.hostile_answers import IndescribableError, InvalidTextError
from fairplay.testing.laws import LawInputs
from fairplay.testing.playouts import Position, Sampling, playout
from tests.nonempty import nonempty

STAYS: dict[type, str] = {  # what is not meant to leave its process, and why
    ConnectedPlayer: "it holds a connection",
    Sampling: "it draws from a stream of random numbers that must not be shared",
    LawInputs: "it has a Sampling",
    InvalidTextError: "it is as bad as an exception can be",
    IndescribableError: "it is as bad as an exception can be",
}


def our_classes() -> Iterator[type]:
    """Every struct and every exception that a module of ours defines."""
    for found in pkgutil.walk_packages(fairplay.__path__, "fairplay."):
        if found.name.endswith("__main__"):
            continue
        for kind in vars(import_module(found.name)).values():
            ours = isinstance(kind, type) and kind.__module__ == found.name
            if ours and issubclass(kind, (msgspec.Struct, BaseException)):
                yield kind


KINDS = [kind for kind in our_classes() if kind not in STAYS and not isabstract(kind)]


class PlainPickler(pickle.Pickler):
    """Pickles as Python does by itself, whatever libraries are loaded that teach it more."""

    dispatch_table: dict[Any, Any] = {}  # noqa: RUF012  # it is the library's


def copy_by_pickle(value: Any) -> Any:
    text = BytesIO()
    PlainPickler(text).dump(value)
    return pickle.loads(text.getvalue())


def content(value: Any) -> Any:
    """What is to be compared: an exception is equal to nothing but itself."""
    return (type(value), str(value), value.args, vars(value)) if isinstance(value, BaseException) else value


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.__module__}.{kind.__qualname__}")
def test_an_example_of_each_class_survives_pickle(kind: type) -> None:
    example = example_of(kind)

    assert content(copy_by_pickle(example)) == content(example)


def test_all_values_that_cross_processes_were_found() -> None:
    names = {kind.__name__ for kind in KINDS}

    assert len(KINDS) > 100
    assert names >= {"Acted", "BadJournal", "ConnectionClosed", "Fish", "InUse", "Limits", "Match", "RecordedMatch"}


@pytest.mark.parametrize("kind", STAYS, ids=lambda kind: kind.__name__)
def test_classes_declared_as_local_are_not_pickled(kind: type) -> None:
    with pytest.raises((TypeError, AssertionError, NoExample)):
        content(copy_by_pickle(example_of(kind)))


# Positions.


def positions(game: str) -> list[Position]:
    rules = game_info(game).rules()
    seats = rules.seats[0]
    match: Match[Any, Any, Any] = Match(rules, rules.deal(seats, bytes(32)), tuple(f"p{seat}" for seat in range(seats)))
    return playout(match, Sampling(SeededRandom(bytes(32)), 1000, 20), game)[::7]


@pytest.mark.parametrize("game", GAMES)
def test_pickled_positions_give_the_same_answers(game: str) -> None:
    for position in nonempty(positions(game)):
        match = copy_by_pickle(position.match)

        assert match == position.match
        assert match.result == position.match.result
        for seat in (*range(len(match.names)), None):
            shown = position.match.view(seat)
            view = copy_by_pickle(shown)
            assert view == shown
            if seat is not None and seat == match.turn:
                assert list(islice(match.game.actions(view), 50)) == list(islice(match.game.actions(shown), 50))


@pytest.mark.parametrize(("game", "most"), [("fish", 400), ("tsuro", 1200)])
def test_the_tables_of_a_board_are_shared_and_not_sent(game: str, most: int) -> None:
    for position in nonempty(positions(game)):
        shown = position.match.view(0)
        board, copied = (getattr(view, "state", None) or view.table for view in (shown, copy_by_pickle(shown)))

        assert copied.grid is board.grid
        assert len(pickle.dumps(shown)) < most


def test_a_pickled_map_keeps_its_frontier() -> None:
    for position in nonempty(positions("q")):
        sent = position.match.state.map
        copied = copy_by_pickle(sent)

        assert (copied.tiles, copied.frontier, copied.edge) == (sent.tiles, sent.frontier, sent.edge)
        with pytest.raises(AttributeError):
            copied.tiles = {}


# Examples.


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
    """There is no way to make one of these: write it into HANDMADE_EXAMPLES."""


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
