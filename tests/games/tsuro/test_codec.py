"""Test that positions of Tsuro survive a round trip as JSON, and that impossible ones are refused."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairplay.core.errors import BadRequest
from fairplay.games.tsuro import State, View
from tests.games.tsuro.positions import STRAIGHT, TSURO, make_position
from tests.games.tsuro.test_properties import Step, modest, playouts, states
from tests.nonempty import nonempty

plain_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["placing", "white"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def through_bytes(plain: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(plain))


@modest
@given(states())
def test_a_sheet_reads_back_as_the_same_position(state: State) -> None:
    plain = TSURO.pack_state(state)

    assert TSURO.unpack_state(plain) == state
    assert TSURO.unpack_state(through_bytes(plain)) == state
    assert TSURO.unpack_state(json.loads(json.dumps(plain))) == state


@settings(modest, max_examples=60)
@given(playouts())
def test_every_state_and_view_of_a_match_reads_back_as_the_same(steps: list[Step]) -> None:
    for match, _ in nonempty(steps):
        game, state = match.game, match.state
        assert game.unpack_state(through_bytes(game.pack_state(state))) == state
        for seat in (*range(len(match.names)), None):
            view = match.view(seat)
            assert game.unpack(game.pack(view)) == view
            assert game.unpack(through_bytes(game.pack(view))) == view


@modest
@given(plain_json)
def test_random_json_is_refused_as_a_position(plain: Any) -> None:
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack(plain)
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack_state(plain)


WHITE, BLACK, RED = (
    {"colour": colour, "avatar": [x, 0, "E"], "start": [x, 0, "E"], "fell": 0}
    for colour, x in (("white", 0), ("black", 2), ("red", 4))
)
OUT = {"avatar": None, "fell": 1}
TILE = {"tile": STRAIGHT, "degrees": 0}
TILES = [{**TILE, "at": [x, 0]} for x in (0, 2, 4)]
TABLE = {
    "size": 5,
    "stage": "playing",
    "round": 1,
    "waiting": [0, 1, 2],
    "players": [WHITE, BLACK, RED],
    "tiles": TILES,
}
STATE = {**TABLE, "source": [1, 2, 3], "drawn": 0}
VIEW = {**TABLE, "seat": 0, "dealt": [1, 2]}
IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "two tiles on a square": {"tiles": [*TILES, {**TILE, "at": [0, 0]}]},
    "a tile off the board": {"tiles": [*TILES, {**TILE, "at": [5, 0]}]},
    "a tile below the board": {"tiles": [*TILES, {**TILE, "at": [0, 5]}]},
    "a tile before the board": {"tiles": [*TILES, {**TILE, "at": [-1, 0]}]},
    "a tile that does not exist": {"tiles": [*TILES, {"tile": 35, "degrees": 0, "at": [3, 3]}]},
    "a tile askew": {"tiles": [*TILES, {"tile": 3, "degrees": 45, "at": [3, 3]}]},
    "an avatar without a tile": {"tiles": TILES[1:]},
    "an avatar off the board": {"players": [{**WHITE, "avatar": [0, 7, "C"]}, BLACK, RED]},
    "an avatar that faces the outside": {"players": [{**WHITE, "avatar": [0, 0, "A"]}, BLACK, RED]},
    "an avatar that faces a tile": {"tiles": [*TILES, {**TILE, "at": [0, 1]}]},
    "an avatar of somebody who fell": {"players": [WHITE, BLACK, {**RED, "fell": 1}], "waiting": [0, 1]},
    "an avatar of somebody who was ejected": {"players": [WHITE, BLACK, {**RED, "fell": -2}], "waiting": [0, 1]},
    "somebody without an avatar": {"players": [WHITE, BLACK, {**RED, "avatar": None}]},
    "a start off the board": {"players": [{**WHITE, "start": [0, 7, "C"]}, BLACK, RED]},
    "a port that does not exist": {"players": [{**WHITE, "avatar": [0, 0, "I"]}, BLACK, RED]},
    "a fall in a round to come": {"players": [WHITE, BLACK, {**RED, **OUT, "fell": 2}], "waiting": [0, 1]},
    "an ejection in a round to come": {"players": [WHITE, BLACK, {**RED, **OUT, "fell": -3}], "waiting": [0, 1]},
    "a seat that waits twice": {"waiting": [0, 1, 0]},
    "a seat that is not there": {"waiting": [0, 3]},
    "a seat before the first": {"waiting": [-1]},
    "somebody who fell and waits": {"players": [WHITE, BLACK, {**RED, **OUT}]},
    "nobody who waits": {"waiting": []},
    "somebody who waits after the end": {"stage": "done"},
    "somebody who placed and waits to place": {"stage": "placing"},
    "a colour twice": {"players": [WHITE, {**BLACK, "colour": "white"}, RED]},
    "an unknown colour": {"players": [{**WHITE, "colour": "brown"}, BLACK, RED]},
    "too many players": {"players": [WHITE] * 6},
    "a board too small": {"size": 2},
    "a board too large": {"size": 31},
    "an unknown stage": {"stage": "resting"},
    "less than no rounds": {"round": -1},
    "a yes for a number": {"round": True},
    "something more": {"age": 5},
    "something more of a player": {"players": [{**WHITE, "age": 5}, BLACK, RED]},
}
NO_VIEW: dict[str, dict[str, Any]] = {
    "a seat that is not there": {"seat": 3, "dealt": []},
    "a seat before the first": {"seat": -1, "dealt": []},
    "a seat in words": {"seat": "first"},
    "tiles of somebody who is not on turn": {"seat": 1},
    "tiles of a spectator": {"seat": None},
    "one tile": {"dealt": [1]},
    "three tiles to lay": {"dealt": [1, 2, 3]},
    "a tile that does not exist": {"dealt": [1, 35]},
}
NO_STATE: dict[str, dict[str, Any]] = {
    "a tile that does not exist": {"source": [0, 35]},
    "less than none drawn": {"drawn": -1},
    "the tiles of a view": {"dealt": [1, 2]},
}


def test_the_sheets_that_are_spoilt_below_are_sheets() -> None:
    tiles = {(0, 0): STRAIGHT, (2, 0): STRAIGHT, (4, 0): STRAIGHT}
    state = make_position(tiles, [(0, 0, "E"), (2, 0, "E"), (4, 0, "E")], [1, 2, 3], size=5)

    assert TSURO.unpack_state(STATE) == state
    assert TSURO.unpack(VIEW) == View(0, state.table, (1, 2))
    assert TSURO.unpack({**VIEW, "seat": 1, "dealt": []}) == View(1, state.table, ())


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_an_impossible_position_is_refused(what: str) -> None:
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack_state({**STATE, **IMPOSSIBLE[what]})
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack({**VIEW, **IMPOSSIBLE[what]})


@pytest.mark.parametrize("what", NO_VIEW)
def test_a_view_that_cannot_be_is_refused(what: str) -> None:
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack({**VIEW, **NO_VIEW[what]})


@pytest.mark.parametrize("what", NO_STATE)
def test_a_state_that_cannot_be_is_refused(what: str) -> None:
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack_state({**STATE, **NO_STATE[what]})


def test_a_view_is_no_state_and_a_state_is_no_view() -> None:
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack_state(VIEW)
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack(STATE)


@pytest.mark.parametrize("field", STATE)
def test_a_state_with_something_missing_is_refused(field: str) -> None:
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack_state({other: value for other, value in STATE.items() if other != field})


@pytest.mark.parametrize("field", VIEW)
def test_a_view_with_something_missing_is_refused(field: str) -> None:
    with pytest.raises(BadRequest, match="not a position of Tsuro: "):
        TSURO.unpack({other: value for other, value in VIEW.items() if other != field})


@settings(modest, max_examples=250)
@given(states(), st.data())
def test_a_sheet_with_a_spoilt_detail_is_refused_or_can_be_played_on(state: State, data: st.DataObject) -> None:
    spoilt = spoil(TSURO.pack(TSURO.view(state, 0)), data)

    try:
        view = TSURO.unpack(spoilt)
    except BadRequest:
        return

    assert TSURO.unpack(TSURO.pack(view)) == view
    for action in TSURO.actions(view):
        TSURO.check(view, action)


def spoil(plain: Any, data: st.DataObject) -> Any:
    """Plain JSON in which one thing, wherever it is, was replaced, dropped or doubled."""
    if not isinstance(plain, dict | list) or not plain or data.draw(st.integers(0, 4)) == 0:
        return data.draw(plain_json | st.integers(-3, 8) | st.sampled_from(["done", "playing", "A", "red"]))
    if isinstance(plain, dict):
        key = data.draw(st.sampled_from(sorted(plain)))
        rest = {other: value for other, value in plain.items() if other != key}
        return {**rest, key: spoil(plain[key], data)} if data.draw(st.integers(0, 5)) else rest
    index = data.draw(st.integers(0, len(plain) - 1))
    ways: tuple[list[Any], ...] = ([spoil(plain[index], data)], [spoil(plain[index], data)], [], [plain[index]] * 2)
    return [*plain[:index], *ways[data.draw(st.integers(0, 3))], *plain[index + 1 :]]
