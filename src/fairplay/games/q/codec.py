"""Convert positions and views of Q to JSON and back."""

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.games.q.actions import Placement, TileName
from fairplay.games.q.board import Map, map_of, position_of
from fairplay.games.q.pieces import KINDS, NAMES
from fairplay.games.q.state import State, Tiles
from fairplay.games.q.view import View

T = TypeVar("T")
Count = Annotated[int, Meta(ge=0, le=2**53)]


class PlayerSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One player, in the order of the seats; ejected players included."""

    score: Count
    hand: tuple[TileName, ...]


class StateSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole position, for the referee only."""

    map: Annotated[tuple[Placement, ...], Meta(min_length=1)]
    players: Annotated[tuple[PlayerSheet, ...], Meta(max_length=4)]
    pile: tuple[TileName, ...]
    order: tuple[Seat, ...]
    to_act: Count
    placed: bool
    done: bool
    fresh: tuple[TileName, ...]
    lost: tuple[TileName, ...]


class ViewSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a seat sees."""

    seat: Seat | None
    map: Annotated[tuple[Placement, ...], Meta(min_length=1)]
    hand: tuple[TileName, ...]
    order: tuple[Seat, ...]
    scores: tuple[Count, ...]  # in that order
    left: Count
    done: bool


VIEW_SHEET = ViewSheet  # the type of views in the schema of the protocol
NEWS = tuple[TileName, ...]  # the type of news there


def write_state(state: State) -> dict[str, Any]:
    """A state in plain lists and dictionaries."""
    return {
        "map": _tiles_on(state.map),
        "players": [
            {"score": score, "hand": _names(hand)} for score, hand in zip(state.scores, state.hands, strict=True)
        ],
        "pile": _names(state.pile),
        "order": list(state.order),
        "to_act": state.to_act,
        "placed": state.placed,
        "done": state.done,
        "fresh": _names(state.fresh),
        "lost": _names(state.lost),
    }


def write_view(view: View) -> dict[str, Any]:
    """A view in plain lists and dictionaries."""
    return {
        "seat": view.seat,
        "map": _tiles_on(view.map),
        "hand": _names(view.kinds),
        "order": list(view.order),
        "scores": list(view.points),
        "left": view.left,
        "done": view.done,
    }


def read_state(plain: Any) -> State:
    """The state in plain JSON. Raises BadRequest if there is no such state."""
    page = _read(plain, StateSheet)
    seats = set(range(len(page.players)))
    if len(set(page.order)) < len(page.order) or not seats.issuperset(page.order) or page.to_act > len(page.order):
        raise BadRequest("not a position of Q: the order must name seats, each at most once")
    if page.order and not page.to_act and not page.done:
        raise BadRequest("not a position of Q: to_act must not be 0 before the game is done")
    return State(
        _map(page.map),
        tuple(_kinds(player.hand) for player in page.players),
        tuple(player.score for player in page.players),
        _kinds(page.pile),
        page.order,
        page.to_act,
        page.placed,
        page.done or not page.order,
        _kinds(page.fresh),
        _kinds(page.lost),
    )


def read_view(plain: Any) -> View:
    """The view in plain JSON. Raises BadRequest if there is no such view."""
    page = _read(plain, ViewSheet)
    if len(page.scores) != len(page.order) or len(set(page.order)) < len(page.order):
        raise BadRequest("not a view of Q: scores must have one entry for each seat in the order")
    return View(page.seat, _map(page.map), _kinds(page.hand), page.order, page.scores, page.left, page.done)


def _read(plain: Any, kind: type[T]) -> T:
    try:
        return msgspec.convert(plain, kind)
    except (msgspec.ValidationError, UnicodeError) as error:  # half a character, as in "\\ud800", is the latter
        raise BadRequest(f"not a position of Q: {error}") from None


def _map(tiles: tuple[Placement, ...]) -> Map:
    if len({one.at for one in tiles}) < len(tiles):
        raise BadRequest("not a position of Q: two tiles lie on one place")
    return map_of((one.at, KINDS[one.tile]) for one in tiles)


def _tiles_on(map: Map) -> list[dict[str, Any]]:
    return [{"tile": NAMES[kind], "at": list(position_of(cell))} for cell, kind in sorted(map.tiles.items())]


def _names(tiles: Iterable[int]) -> list[str]:
    return [NAMES[kind] for kind in tiles]


def _kinds(names: Iterable[str]) -> Tiles:
    return tuple(KINDS[name] for name in names)
