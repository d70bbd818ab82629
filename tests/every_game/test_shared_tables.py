"""Test that players cannot change the tables that views share with the referee and with later matches."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import BuiltinMethodType, MappingProxyType, MethodType, UnionType
from typing import Any

import pytest

from examples.games.connect_four import ConnectFour
from examples.games.tic_tac_toe import TicTacToe
from fairplay.core.chance import seed_from_text
from fairplay.core.events import Acted
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.referee.referee import Referee
from tests.built_in_players import quick_player
from tests.kit.nim import Heaps
from tests.nonempty import nonempty

AnyGame = Game[Any, Any, Any]
ATOMS = (int, str, bytes, float, type(None), range, frozenset)  # of these types themselves, not of heirs
OF_CLASSES = (type, UnionType, MethodType, BuiltinMethodType)  # whoever rewrites a class needs no view for it
CONTAINERS = (dict, list, set, bytearray, deque)


def views(game: AnyGame) -> Iterator[tuple[Any, Any]]:
    """Two views of each position of a match, from its deal to its end: of a player and of a spectator."""
    names = ("ann", "bob", "cyd")[: game.seats[-1]]
    match: Match[Any, Any, Any] = Match(game, game.deal(len(names), seed_from_text("shared")), names)
    while (seat := match.turn) is not None:
        yield game.view(match.state, seat), game.view(match.state, seat)
        match = match.after(Acted(seat, next(iter(game.actions(match.view(seat))))))


def children(value: Any) -> dict[str, Any]:
    """What can be reached from a value by an attribute or an item, other than what its class keeps for itself."""
    found: dict[str, Any] = {}
    for name in dir(value):
        if not (name.startswith("_") and name.endswith("_")):
            try:
                found[f".{name}"] = getattr(value, name)
            except Exception:  # as a property does that has nothing to tell to spectators
                continue
    if isinstance(value, Mapping):
        found |= {f"[{key!r}]": item for key, item in value.items()}
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        found |= {f"[{index}]": item for index, item in enumerate(value)}
    return found


def why_assignable(value: Any) -> str:
    """How a value could be changed in place; empty: it cannot."""
    if isinstance(value, CONTAINERS):
        return f"is a {type(value).__name__}"
    if isinstance(value, MappingProxyType | tuple):
        return ""
    for name in ("a_new_name", *(name for name in dir(value) if not name.startswith("__"))):
        with suppress(AttributeError, TypeError):
            setattr(value, name, getattr(value, name, None))
            return f"takes an assignment to {name}"
        with suppress(AttributeError, TypeError):
            delattr(value, name)
            return f"lets {name} be deleted"
    return ""


def faults(one: Any, other: Any) -> Iterator[str]:
    """Where two views share what can be changed."""
    seen, waiting = set[int](), deque([("view", one, other)])
    kept = []  # so that no id is used twice
    while waiting:
        path, value, twin = waiting.popleft()
        if id(value) in seen or type(value) in ATOMS or isinstance(value, OF_CLASSES):
            continue
        seen.add(id(value))
        kept.append(value)
        if value is twin and (why := why_assignable(value)):
            yield f"{path} {why}"
        again = children(twin)
        waiting += [(f"{path}{step}", child, again[step]) for step, child in children(value).items() if step in again]


@pytest.mark.parametrize(
    "game",
    [Fish(rows=4, columns=4), Tsuro(size=4), Q(), TicTacToe(), ConnectFour(), Heaps()],
    ids=lambda game: game.name,
)
def test_nothing_that_views_share_can_be_assigned_to(game: AnyGame) -> None:
    pairs = list(views(game))

    found = {
        fault for one, other in nonempty([pairs[0], pairs[len(pairs) // 2], pairs[-1]]) for fault in faults(one, other)
    }

    assert not found


def empty_the_rim(view: Any) -> Any:
    """Let no square be at the edge of a board of Tsuro."""
    view.table.grid.rim = ()


def block_the_paths(view: Any) -> Any:
    """Let no straight line lead anywhere on a board of Fish."""
    for start in range(16):
        view.state.grid.paths[start] = {}


def forget_the_stage(view: Any) -> Any:
    """Let every stage of a game be called the last one."""
    view.stage._value_ = "done"


@pytest.mark.parametrize(
    ("attack", "game"),
    [
        (empty_the_rim, Tsuro(size=4)),
        (block_the_paths, Fish(rows=4, columns=4)),
        (forget_the_stage, Fish(rows=4, columns=4)),
        (forget_the_stage, Tsuro(size=4)),
    ],
)
def test_a_player_that_rewrites_tables_ejects_only_itself(attack: Any, game: AnyGame) -> None:
    def honest(seat: int) -> Any:
        return quick_player(game.name, "random", bytes([seat]) * 32)

    attacked = Referee().run(game, [attack, honest(1), honest(2)], seed=bytes(32))
    later = Referee().run(game, [honest(1), honest(2), honest(3)], seed=bytes(32))

    assert [ejected.seat for ejected in attacked.result.ejected] == [0]
    assert later.result.ejected == ()
