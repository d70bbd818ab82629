"""Test that positions of Tsuro survive a round trip as JSON, and that impossible ones are refused."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairplay.core.errors import BadRequest
from fairplay.games.tsuro import State, View
from tests.games.plain_json import plain_json, spoil
from tests.games.tsuro.positions import STRAIGHT, TSURO, make_position
from tests.games.tsuro.test_properties import modest, states

junk = plain_json("placing", "playing", "done", "white", "A")
refused = pytest.raises(BadRequest, match="not a position of Tsuro: ")


@modest
@given(junk)
def test_random_json_is_refused_as_a_position(plain: Any) -> None:
    for read in (TSURO.unpack, TSURO.unpack_state):
        with refused:
            read(plain)


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


WRONG_VIEWS = [{**VIEW, **wrong} for wrong in (*IMPOSSIBLE.values(), *NO_VIEW.values())]
WRONG_STATES = [{**STATE, **wrong} for wrong in (*IMPOSSIBLE.values(), *NO_STATE.values())]


@pytest.mark.parametrize("plain", [*WRONG_VIEWS, STATE], ids=[*IMPOSSIBLE, *NO_VIEW, "a state"])
def test_a_view_that_cannot_be_is_refused(plain: dict[str, Any]) -> None:
    with refused:
        TSURO.unpack(plain)


@pytest.mark.parametrize("plain", [*WRONG_STATES, VIEW], ids=[*IMPOSSIBLE, *NO_STATE, "a view"])
def test_a_state_that_cannot_be_is_refused(plain: dict[str, Any]) -> None:
    with refused:
        TSURO.unpack_state(plain)


def test_a_sheet_with_something_missing_is_refused() -> None:
    for read, sheet in ((TSURO.unpack, VIEW), (TSURO.unpack_state, STATE)):
        for field in sheet:
            with refused:
                read({other: value for other, value in sheet.items() if other != field})


@settings(modest, max_examples=250)
@given(states(), st.data())
def test_a_sheet_with_a_spoilt_detail_is_refused_or_can_be_played_on(state: State, data: st.DataObject) -> None:
    try:
        view = TSURO.unpack(spoil(TSURO.pack(TSURO.view(state, 0)), data, junk))
    except BadRequest:
        return

    assert TSURO.unpack(TSURO.pack(view)) == view
    for action in TSURO.actions(view):
        TSURO.check(view, action)
