"""Test Q on random maps, against a slow and simple implementation of the rules."""

import json
from itertools import islice, product
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.games.q import Action, Exchange, Pass, Place, Placement, View, draft_of
from fairplay.games.q.board import Map, cell_at, map_of, position_of, score_of
from fairplay.games.q.draft import drafts
from fairplay.games.q.pieces import KINDS, NAMES, NONE
from tests.games.plain_json import plain_json, spoil
from tests.games.q.positions import QGAME, make_position, placed_tiles
from tests.nonempty import nonempty

Spot = tuple[int, int]
Tiles = dict[Spot, str]
modest = settings(max_examples=100, deadline=None, derandomize=True, database=None)

# The slow way: a map is a dictionary from positions to names.


def near(at: Spot) -> list[tuple[Spot, Spot]]:
    """The pairs of neighbours: left and right, up and down."""
    row, column = at
    return [((row, column - 1), (row, column + 1)), ((row - 1, column), (row + 1, column))]


def fits(tiles: Tiles, name: str, at: Spot) -> bool:
    colour, shape = name.split()
    for pair in near(at):
        neighbours = [tiles[place].split() for place in pair if place in tiles]
        if not (all(other[0] == colour for other in neighbours) or all(other[1] == shape for other in neighbours)):
            return False
    return True


def has_neighbour(tiles: Tiles, at: Spot) -> bool:
    return any(place in tiles for pair in near(at) for place in pair)


def broken_clause(tiles: Tiles, hand: list[str], placed: list[tuple[str, Spot]]) -> str | None:
    """The first clause that a placement breaks; None: it is legal."""
    if not placed:
        return "3.1"
    names = [name for name, _ in placed]
    if any(names.count(name) > hand.count(name) for name in names):
        return "3.2"
    if len({at[0] for _, at in placed}) > 1 and len({at[1] for _, at in placed}) > 1:
        return "3.3"
    tiles = dict(tiles)
    for name, at in placed:
        if at in tiles or not has_neighbour(tiles, at):
            return "3.4"
        if not fits(tiles, name, at):
            return "3.5"
        tiles[at] = name
    return None


def points(tiles: Tiles, placed: list[Spot], q_bonus: int) -> int:
    """All runs of the whole map, of which those with a new tile count."""
    total = len(placed)
    for down, right in ((0, 1), (1, 0)):
        for row, column in tiles:
            if (row - down, column - right) in tiles:
                continue  # not where a run begins
            run, at = [], (row, column)
            while at in tiles:
                run.append(at)
                at = at[0] + down, at[1] + right
            if len(run) < 2 or not set(run) & set(placed):
                continue
            words = [tiles[place].split() for place in run]
            whole = len(run) == 6 and 6 in (len({word[0] for word in words}), len({word[1] for word in words}))
            total += len(run) + (q_bonus if whole else 0)
    return total


# What is tried.

FEW = ["red star", "red circle", "blue star", "blue circle", "green star"]
spots = st.tuples(st.integers(-3, 3), st.integers(-3, 3))
maps = st.dictionaries(spots, st.sampled_from(FEW), min_size=1, max_size=12)
wide_maps = st.dictionaries(spots, st.sampled_from(NAMES), min_size=1, max_size=25)
far_maps = st.dictionaries(
    st.tuples(*[st.integers(-(2**31), 2**31 - 1)] * 2), st.sampled_from(NAMES), min_size=1, max_size=6
)
hands = st.lists(st.sampled_from(FEW), max_size=4)


def seldom(draw: st.DrawFn, times: int) -> bool:
    """Once in so many times."""
    return draw(st.integers(1, times)) == times


@st.composite
def trials(draw: st.DrawFn) -> tuple[Tiles, list[str], list[tuple[str, Spot]]]:
    """A map, a hand, and a placement that is legal or nearly so."""
    tiles, hand = draw(maps), draw(st.lists(st.sampled_from(FEW), min_size=1, max_size=4))
    placed: list[tuple[str, Spot]] = []
    there, rest = dict(tiles), list(hand)
    for _ in range(draw(st.integers(0 if seldom(draw, 10) else 1, 4))):
        free = sorted({place for at in there for pair in near(at) for place in pair} - set(there))
        names = FEW if not rest or seldom(draw, 10) else rest
        options = [(name, at) for at, name in product(free, sorted(set(names)))]
        legal = [one for one in options if broken_clause(tiles, hand, [*placed, one]) is None]
        name, at = draw(st.sampled_from(options if not legal or seldom(draw, 6) else legal))
        if seldom(draw, 6):
            at = draw(spots)
        placed.append((name, at))
        there[at] = name
        if name in rest:
            rest.remove(name)
    return tiles, hand, placed


def shown(tiles: Tiles) -> Map:
    return map_of((at, KINDS[name]) for at, name in tiles.items())


def view_of(tiles: Tiles, hand: list[str]) -> View:
    return QGAME.view(make_position(tiles, [", ".join(hand), "red star"]), 0)


def action_of(placed: list[tuple[str, Spot]]) -> Place:
    return Place(tuple(Placement(name, at) for name, at in placed))


def clause_of(view: View, action: Action) -> str | None:
    try:
        QGAME.check(view, action)
    except IllegalAction as illegal:
        return illegal.clause
    return None


def legal_placements(tiles: Tiles, hand: list[str]) -> set[Place]:
    """Every ordered choice of tiles on every choice of places near the map, if it is legal."""
    found: set[Place] = set()
    todo: list[list[tuple[str, Spot]]] = [[]]
    while todo:
        placed = todo.pop()
        there = set(tiles) | {at for _, at in placed}
        places = {place for at in there for pair in near(at) for place in pair}
        for name, at in product(set(hand), places):
            longer = [*placed, (name, at)]
            if broken_clause(tiles, hand, longer) is None:
                found.add(action_of(longer))
                todo.append(longer)
    return found


# The map and its frontier.


@modest
@given(wide_maps | far_maps, st.randoms(use_true_random=False))
def test_the_frontier_is_what_fits_beside_the_tiles_whatever_the_order(tiles: Tiles, random: Any) -> None:
    order = list(tiles.items())
    random.shuffle(order)
    some, rest = order[: len(order) // 2], order[len(order) // 2 :]

    extended = map_of((at, KINDS[name]) for at, name in some)
    for at, name in rest:
        extended = extended.with_tiles([(cell_at(at), KINDS[name])])

    free = {place for at in tiles for pair in near(at) for place in pair} - set(tiles)
    fitting = {position_of(cell): mask for cell, mask in extended.frontier.items()}
    assert set(fitting) == free
    assert [position_of(cell) for cell in extended.edge] == sorted(free)
    for at, mask in fitting.items():
        assert [kind for kind in range(NONE) if mask >> kind & 1] == [
            kind for kind in range(NONE) if fits(tiles, NAMES[kind], at)
        ]
    assert extended == shown(tiles)
    assert hash(extended) == hash(shown(tiles))


@modest
@given(st.tuples(*[st.integers(-(2**31) - 1, 2**31)] * 2), st.tuples(*[st.integers(-(2**31) - 1, 2**31)] * 2))
def test_a_cell_is_a_position_and_cells_are_in_the_order_of_positions(one: Spot, other: Spot) -> None:
    assert position_of(cell_at(one)) == one
    assert (cell_at(one) < cell_at(other)) == (one < other)


# Placements.


@settings(modest, max_examples=400)
@given(trials())
def test_check_decides_as_the_slow_way_does(trial: tuple[Tiles, list[str], list[tuple[str, Spot]]]) -> None:
    tiles, hand, placed = trial

    assert clause_of(view_of(tiles, hand), action_of(placed)) == broken_clause(tiles, hand, placed)


@settings(modest, max_examples=60)
@given(
    st.dictionaries(spots, st.sampled_from(FEW), min_size=1, max_size=5),
    st.lists(st.sampled_from(FEW), max_size=3),
    st.integers(0, 3),
)
def test_drafts_are_exactly_the_legal_placements(tiles: Tiles, hand: list[str], left: int) -> None:
    state = make_position(tiles, [", ".join(hand), "red star"], [0] * left)

    offered = list(QGAME.actions(QGAME.view(state, 0)))

    assert len(offered) == len(set(offered))
    assert {action for action in offered if isinstance(action, Place)} == legal_placements(tiles, hand)
    assert (Pass() in offered, Exchange() in offered) == (True, left >= len(hand))


@modest
@given(maps, st.lists(st.sampled_from(FEW), max_size=3))
def test_scores_are_those_of_the_slow_way_and_drafts_agree(tiles: Tiles, hand: list[str]) -> None:
    view = view_of(tiles, hand)
    state = make_position(tiles, [", ".join(hand), "red star"])
    first = list(islice(drafts(view), 30))
    assume(first)

    for number, draft in nonempty(enumerate(first)):
        spotted = [one.at for one in draft.action.tiles]
        after = QGAME.apply(state, draft.action)
        slow = points(placed_tiles(after), spotted, 8) + (4 if len(spotted) == len(hand) else 0)

        assert after.scores[0] == slow == draft.score(q_bonus=8, finish_bonus=4), number
        assert after.map == draft.map


@modest
@given(wide_maps, st.data())
def test_any_tiles_of_any_map_are_scored_as_the_slow_way_does(tiles: Tiles, data: st.DataObject) -> None:
    placed = data.draw(st.lists(st.sampled_from(sorted(tiles)), unique=True, max_size=6))

    assert score_of(shown(tiles), [cell_at(at) for at in placed], 8) == points(tiles, placed, 8)


@settings(modest, max_examples=200)
@given(trials())
def test_a_draft_can_be_extended_exactly_where_check_allows_it(
    trial: tuple[Tiles, list[str], list[tuple[str, Spot]]],
) -> None:
    tiles, hand, placed = trial
    assume(placed)
    view = view_of(tiles, hand)
    draft, so_far = draft_of(view), list[tuple[str, Spot]]()

    for name, at in nonempty(placed):
        longer = [*so_far, (name, at)]
        rows, columns = ({spot[axis] for _, spot in longer} for axis in (0, 1))

        assert draft.is_in_line(at) == (len(rows) == 1 or len(columns) == 1)
        assert draft.is_valid(name, at) == (clause_of(view, action_of(longer)) is None)
        if draft.is_valid(name, at):
            draft, so_far = draft.place(name, at), longer
            assert draft.action == action_of(so_far)


# Sheets.


@modest
@given(wide_maps | far_maps, hands, st.sampled_from([0, 1, None]), st.booleans())
def test_sheets_read_back_as_the_same(tiles: Tiles, hand: list[str], seat: int | None, placed: bool) -> None:
    state = make_position(
        tiles, [", ".join(hand), "red star"], [3, 5], order=(1, 0), placed=placed, lost=(4,), fresh=(2,)
    )
    view, plain = QGAME.view(state, seat), QGAME.pack_state(state)

    assert QGAME.unpack_state(plain) == state
    assert QGAME.unpack_state(msgspec.json.decode(msgspec.json.encode(plain))) == state
    assert QGAME.unpack(json.loads(json.dumps(QGAME.pack(view)))) == view
    assert msgspec.json.encode(QGAME.pack(QGAME.unpack(QGAME.pack(view)))) == msgspec.json.encode(QGAME.pack(view))


junk = plain_json("red star")
refused = pytest.raises(BadRequest, match="not a position of Q: ")


@modest
@given(junk)
def test_random_json_is_refused_as_a_position(plain: Any) -> None:
    for read in (QGAME.unpack, QGAME.unpack_state):
        with refused:
            read(plain)


SHEET = QGAME.pack_state(make_position({(0, 0): "red star"}, ["red circle", "blue star"], "red star"))
TWICE = [{"tile": "red star", "at": [0, 0]}, {"tile": "blue star", "at": [0, 0]}]
IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "a seat twice in the order": {"order": [0, 0]},
    "a seat that is not there": {"order": [0, 2]},
    "a seat before the first": {"order": [-1, 0]},
    "more yet to act than are in": {"to_act": 3},
    "nobody yet to act, but nothing is over": {"to_act": 0},
    "less than nobody yet to act": {"to_act": -1},
    "two tiles in one place": {"map": TWICE},
    "no map": {"map": []},
    "a place too far away": {"map": [{"tile": "red star", "at": [0, 2**31]}]},
    "a place in one number": {"map": [{"tile": "red star", "at": [0]}]},
    "an unknown tile": {"pile": ["pink star"]},
    "half a character": {"pile": ["\ud800"]},
    "a number for a tile": {"pile": [3]},
    "too many players": {"players": [{"score": 0, "hand": []}] * 5},
    "a score below nothing": {"players": [{"score": -1, "hand": []}] * 2},
    "something more": {"tiles": []},
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_an_impossible_position_is_refused(what: str) -> None:
    assert QGAME.pack_state(QGAME.unpack_state(SHEET)) == SHEET
    with refused:
        QGAME.unpack_state({**SHEET, **IMPOSSIBLE[what]})


@settings(modest, max_examples=250)
@given(st.data())
def test_a_sheet_with_a_spoilt_detail_is_refused_or_a_position(data: st.DataObject) -> None:
    try:
        state = QGAME.unpack_state(spoil(SHEET, data, junk))
    except BadRequest:
        return

    assert QGAME.unpack_state(QGAME.pack_state(state)) == state
