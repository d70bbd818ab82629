"""Test Fish on random boards, against a slow and simple implementation of the rules."""

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.core.game import Moment
from fairplay.games.fish import Action, Fish, Move, Place, Stage, State, View, codec
from fairplay.games.fish.state import state_of
from tests.games.plain_json import plain_json, spoil
from tests.nonempty import nonempty

FISH = Fish()
Position = tuple[int, int]
modest = settings(max_examples=100, deadline=None, derandomize=True, database=None)


# The slow implementation: a board is a dictionary of fish by position, and a step is a sum.


def step(position: Position, direction: str) -> Position:
    row, column = position
    right = row % 2  # odd rows are shifted to the right
    match direction:
        case "N":
            return row - 2, column
        case "S":
            return row + 2, column
        case "NE":
            return row - 1, column + right
        case "SE":
            return row + 1, column + right
        case "NW":
            return row - 1, column + right - 1
        case _:
            return row + 1, column + right - 1


def slow_moves(free: set[Position], penguins: list[Position]) -> set[Move]:
    moves = set()
    for penguin in penguins:
        for direction in ("N", "NE", "SE", "S", "SW", "NW"):
            at = step(penguin, direction)
            while at in free:
                moves.add(Move(penguin, at))
                at = step(at, direction)
    return moves


def positions(state: State, seat: int) -> list[Position]:
    return [state.grid.positions[cell] for cell in state.penguins[seat]]


def tiles(state: State) -> dict[Position, int]:
    return {at: fish for at in state.grid.positions if (fish := state.fish_on(at))}


def free_tiles(state: State) -> set[Position]:
    standing = {at for seat in range(len(state.scores)) for at in positions(state, seat)}
    return set(tiles(state)) - standing


# Random positions.


@st.composite
def boards(draw: st.DrawFn) -> list[list[int]]:
    rows, columns = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    row = st.lists(st.integers(0, 5), min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=rows, max_size=rows))


@st.composite
def states(draw: st.DrawFn) -> State:
    board = draw(boards())
    land = [(row, column) for row, line in enumerate(board) for column, fish in enumerate(line) if fish]
    spots = draw(st.permutations(land))
    seats, each = draw(st.integers(2, 4)), draw(st.integers(0, 4))
    if draw(st.booleans()):
        stage, placed = Stage.PLAYING, each
    else:
        stage, placed = Stage.PLACING, draw(st.integers(0, each))
    penguins = [spots[seat * placed : (seat + 1) * placed] for seat in range(seats)]
    scores = draw(st.lists(st.integers(0, 100), min_size=seats, max_size=seats))
    order = draw(st.permutations(range(seats)))
    return state_of(board, penguins, scores=scores, order=order, stage=stage, each=each)


def playout(start: State, lots: list[int]) -> list[tuple[State, Action | None]]:
    """Positions with the action taken in each; None: the seat was ejected, for lack of actions or by lot."""
    state, steps = start, list[tuple[State, Action | None]]()
    for lot in lots:
        seat = FISH.turn(state)
        if seat is None:
            break
        options = list(FISH.actions(FISH.view(state, seat)))
        action = options[lot % len(options)] if options and lot % 29 else None
        steps.append((state, action))
        state = FISH.eject(state, seat, Moment.TURN) if action is None else FISH.apply(state, action)
    return [*steps, (state, None)]


lot_lists = st.lists(st.integers(0, 10**6), max_size=60)


@modest
@given(states(), lot_lists)
def test_moves_placements_and_rows_are_those_of_the_slow_implementation(start: State, lots: list[int]) -> None:
    for state, _ in nonempty(playout(start, lots)):
        assert list(state.grid.places(state.free)) == [Place(at) for at in sorted(free_tiles(state))]
        columns = range(state.grid.columns)
        assert state.rows() == [[state.fish_on((row, at)) for at in columns] for row in range(state.grid.rows)]
        for seat in nonempty(range(len(state.scores))):
            offered = state.grid.moves(state.penguins[seat], state.free)
            assert len(set(offered)) == len(offered)
            assert set(offered) == slow_moves(free_tiles(state), positions(state, seat))
            assert state.can_move(seat) == bool(offered)


@modest
@given(states(), st.tuples(st.integers(-2, 8), st.integers(-2, 8)), st.tuples(st.integers(-2, 8), st.integers(-2, 8)))
def test_check_accepts_exactly_the_actions_that_the_slow_implementation_allows(
    state: State, start: Position, to: Position
) -> None:
    seat = FISH.turn(state)
    allowed: set[Action] = set()
    if seat is not None and state.stage is Stage.PLAYING:
        allowed |= slow_moves(free_tiles(state), positions(state, seat))
        start = positions(state, seat)[0]
    elif seat is not None:
        allowed |= {Place(at) for at in free_tiles(state)}

    for action in (Move(start, to), Place(to)):
        if action in allowed:
            FISH.check(View(seat, state), action)
        else:
            with pytest.raises(IllegalAction):
                FISH.check(View(seat, state), action)


@modest
@given(states(), lot_lists)
def test_an_action_has_the_same_effect_in_the_slow_implementation_and_the_turn_goes_on(
    start: State, lots: list[int]
) -> None:
    steps = playout(start, lots)
    assume(len(steps) > 1)

    for (before, action), (after, _) in nonempty(pairwise(steps)):
        seat, board, scores = FISH.turn(before), tiles(before), list(before.scores)
        assert seat is not None
        penguins = [positions(before, other) for other in range(len(scores))]
        match action:
            case None:
                penguins[seat] = []
            case Place(at):
                penguins[seat] = [*penguins[seat], at]
            case Move(left, to):
                scores[seat] += board.pop(left)
                penguins[seat] = [to if at == left else at for at in penguins[seat]]
        assert (tiles(after), list(after.scores)) == (board, scores)
        assert [positions(after, other) for other in range(len(scores))] == penguins
        due = [*before.order[1:], seat] if action else list(before.order[1:])
        while after.stage is Stage.PLAYING and not after.can_move(due[0]):  # who cannot move is skipped
            due.append(due.pop(0))
        assert list(after.order) == due


@modest
@given(states())
def test_a_game_is_over_exactly_when_no_player_can_act(state: State) -> None:
    stuck = not any(slow_moves(free_tiles(state), positions(state, seat)) for seat in state.order)

    assert (state.stage is Stage.DONE) == (state.stage is not Stage.PLACING and stuck)
    assert (FISH.turn(state) is None) == (state.stage is Stage.DONE)


# Sheets.


@modest
@given(states(), lot_lists, st.none() | st.integers(0, 1))
def test_a_sheet_reads_back_as_the_same_position(start: State, lots: list[int], seat: int | None) -> None:
    for state, _ in nonempty(playout(start, lots)):
        plain = FISH.pack(View(seat, state))

        assert FISH.unpack(plain) == View(seat, state)
        assert FISH.unpack(msgspec.json.decode(msgspec.json.encode(plain))) == View(seat, state)
        assert FISH.unpack(json.loads(json.dumps(plain))) == View(seat, state)
        assert FISH.unpack_state(FISH.pack_state(state)) == state


junk = plain_json("placing", "red")
refused = pytest.raises(BadRequest, match="not a position of Fish: ")


@modest
@given(junk)
def test_random_json_is_refused_as_a_position(plain: Any) -> None:
    with refused:
        FISH.unpack(plain)


RED, WHITE = (
    {"colour": colour, "score": 3, "penguins": [[0, column]]} for column, colour in enumerate(["red", "white"])
)
SHEET = {"stage": "playing", "order": [0, 1], "each": 1, "board": [[1, 2, 3], [4, 5, 0]], "players": [RED, WHITE]}
IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "a seat twice in the order": {"order": [0, 1, 0]},
    "a seat that is not there": {"order": [0, 2]},
    "a seat before the first": {"order": [-1, 0]},
    "a view from a seat that is not there": {"seat": 2},
    "a view from a seat before the first": {"seat": -1},
    "a penguin on a hole": {"players": [{**RED, "penguins": [[1, 2]]}, WHITE]},
    "a penguin off the board": {"players": [{**RED, "penguins": [[2, 0]]}, WHITE]},
    "a penguin before the board": {"players": [{**RED, "penguins": [[-1, 0]]}, WHITE]},
    "two penguins on a tile": {"players": [{**RED, "penguins": [[0, 1]]}, WHITE]},
    "two penguins of one player on a tile": {"players": [{**RED, "penguins": [[0, 0], [0, 0]]}, WHITE]},
    "rows of different lengths": {"board": [[1, 2, 3], [4, 5]]},
    "no rows": {"board": [], "players": [], "order": []},
    "no columns": {"board": [[], []], "players": [], "order": []},
    "a board too large": {"board": [[1] * 101]},
    "six fish": {"board": [[1, 6, 3]]},
    "a negative number of fish": {"board": [[1, -1, 3]]},
    "half a fish": {"board": [[1, 0.5, 3]]},
    "a negative score": {"players": [{**RED, "score": -1}, WHITE]},
    "an unknown colour": {"players": [{**RED, "colour": "green"}, WHITE]},
    "too many players": {"players": [{**RED, "penguins": []}] * 5},
    "an unknown field": {"fish": 5},
    "an unknown field of a player": {"players": [{**RED, "age": 5}, WHITE]},
    "an unknown stage": {"stage": "resting"},
    "a negative number of penguins": {"each": -1},
    "a boolean for a number": {"each": True},
    "a seat in words": {"seat": "first"},
}


WRONG = {what: {**SHEET, **wrong} for what, wrong in IMPOSSIBLE.items()} | {
    f"no {field}": {other: value for other, value in SHEET.items() if other != field} for field in SHEET
}


@pytest.mark.parametrize("what", WRONG)
def test_an_impossible_position_is_refused(what: str) -> None:
    state = state_of([[1, 2, 3], [4, 5, 0]], [[(0, 0)], [(0, 1)]], scores=[3, 3], each=1)
    assert FISH.unpack(SHEET) == View(None, state)

    with refused:
        FISH.unpack(WRONG[what])


@settings(modest, max_examples=400)
@given(states(), st.data())
def test_a_sheet_with_a_spoilt_detail_is_refused_or_a_position(state: State, data: st.DataObject) -> None:
    try:
        read = codec.state_from_sheet(codec.read(spoil(FISH.pack(View(0, state)), data, junk)))
    except BadRequest:
        return
    assert FISH.unpack_state(FISH.pack_state(read)) == read
