"""Test Tsuro on random boards, against a slow and simple implementation of the rules."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairplay.core.chance import SeededRandom, seed_from_text
from fairplay.core.errors import IllegalAction
from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.game import Moment
from fairplay.core.match import Match
from fairplay.games.tsuro import Lay, Place, Stage, State, Tsuro, View
from fairplay.games.tsuro.board import LOOP, dangers, prospect
from fairplay.games.tsuro.game import max_tiles
from fairplay.games.tsuro.pieces import CONNECTIONS, PORTS, code_of
from fairplay.games.tsuro.rules import LAYS, Kind, codes_of, kind_of, options_of
from fairplay.testing.playouts import possible_ejections
from tests.games.tsuro.positions import NAMES, TSURO, Spot, make_position, placed_tiles, spots
from tests.nonempty import nonempty

Square = tuple[int, int]
Paths = dict[str, str]  # from port to port on one tile
Step = tuple[Match[State, View, Any], Fact | None]
modest = settings(max_examples=100, deadline=None, derandomize=True, database=None)


# The slow way: a board is a dictionary of tiles by square, a tile a dictionary of letters, and a walk remembers
# every port that it left by.


def paths(tile: int, degrees: int) -> Paths:
    letters = CONNECTIONS[tile]
    for _ in range(degrees // 90):
        letters = letters.translate(str.maketrans("ABCDEFGH", "CDEFGHAB"))
    one_way = dict(zip(letters[::2], letters[1::2], strict=True))
    return one_way | {end: start for start, end in one_way.items()}


def next_listener(x: int, y: int, port: str) -> Spot:
    """The square that a port faces, and the port that it touches there."""
    match port:
        case "A" | "B":
            return x, y - 1, "F" if port == "A" else "E"
        case "C" | "D":
            return x + 1, y, "H" if port == "C" else "G"
        case "E" | "F":
            return x, y + 1, "B" if port == "E" else "A"
        case _:
            return x - 1, y, "D" if port == "G" else "C"


def on_board(size: int, x: int, y: int) -> bool:
    return 0 <= x < size and 0 <= y < size


def walk(size: int, board: dict[Square, Paths], start: Spot) -> Spot | str:
    """Where an avatar comes to rest; "out" and "loop" instead."""
    at, left = start, {start}
    while True:
        x, y, entry = next_listener(*at)
        if not on_board(size, x, y):
            return "out"
        if (x, y) not in board:
            return at
        at = x, y, board[x, y][entry]
        if at in left:
            return "loop"
        left.add(at)


def tiles_of(state: State) -> dict[Square, Paths]:
    return {at: paths(*tile) for at, tile in placed_tiles(state).items()}


def laid(state: State, lay: Lay) -> tuple[dict[Square, Paths], list[Spot | str | None]]:
    """What the board and the avatars would be like, the slow way."""
    size, places = state.table.grid.size, spots(state)
    mover = places[state.table.waiting[0]]
    assert mover is not None
    x, y, _ = next_listener(*mover)
    board = {**tiles_of(state), (x, y): paths(lay.tile, lay.degrees)}
    facing = [place is not None and next_listener(*place)[:2] == (x, y) for place in places]
    return board, [
        walk(size, board, place) if moves and place else place for moves, place in zip(facing, places, strict=True)
    ]


def slow_kind(state: State, lay: Lay) -> Kind:
    """Section 4 of the rules, in its own words: INF, else SUICIDE, else FINE."""
    _, after = laid(state, lay)
    if "loop" in after:
        return Kind.LOOP
    return Kind.SUICIDE if after[state.table.waiting[0]] == "out" else Kind.FINE


def slow_legal(state: State) -> set[Lay]:
    kinds = {option: slow_kind(state, option) for tile in state.dealt for option in LAYS[tile]}
    if Kind.FINE in kinds.values():
        return {option for option, kind in kinds.items() if kind is Kind.FINE}
    all_loop = all(kind is Kind.LOOP for kind in kinds.values())
    all_suicide = all(kind is Kind.SUICIDE for kind in kinds.values())
    return set(kinds) if all_loop or all_suicide else set()


# Positions that nobody thought of.

tiles = st.integers(0, 34) | st.sampled_from([4, 34])  # corners and turns lead off and round more often


@st.composite
def states(draw: st.DrawFn) -> State:
    size, seats = draw(st.integers(3, 6)), draw(st.integers(3, 5))
    squares = [(x, y) for x in range(size) for y in range(size)]
    lots = draw(st.binary(min_size=len(squares), max_size=len(squares)))
    board = {at: (min(lot // 4, 34), lot % 4 * 90) for at, lot in zip(squares, lots, strict=True) if lot % 3}
    ports = [
        (x, y, port)
        for x, y in board
        for port in PORTS
        if (there := next_listener(x, y, port)[:2]) not in board and on_board(size, *there)
    ]
    if not ports:
        board, ports = {(0, 0): (0, 0)}, [(0, 0, "C"), (0, 0, "E")]
    picks = draw(st.lists(st.integers(0, 10**6), min_size=seats, max_size=seats))
    return make_position(board, [ports[pick % len(ports)] for pick in picks], draw(st.tuples(tiles, tiles)), size=size)


@modest
@given(states())
def test_paths_lead_where_they_lead_the_slow_way(state: State) -> None:
    size, board, grid = state.table.grid.size, tiles_of(state), state.table.grid
    numbers = {"out": -1, "loop": -2}

    for square in nonempty(board):
        for port in PORTS:
            end = walk(size, board, (*square, port))

            spot = 8 * (square[1] * size + square[0]) + PORTS.index(port)
            number = numbers[end] if isinstance(end, str) else 8 * (end[1] * size + end[0]) + PORTS.index(end[2])
            assert grid.follow(state.table.board, spot) == number


@modest
@given(states())
def test_what_comes_of_a_tile_is_what_comes_of_it_the_slow_way(state: State) -> None:
    table, mover = state.table, spots(state)[0]
    assert mover is not None
    x, y, _ = next_listener(*mover)

    for option in options_of(state.dealt):
        code = code_of(option.tile, option.degrees)
        what = prospect(table.grid.size, table.board, table.avatars, y * table.grid.size + x, code)
        board, after = laid(state, option)
        assert kind_of(TSURO.view(state, 0), option) is slow_kind(state, option)
        assert set(what.looping) == {seat for seat, end in enumerate(after) if end == "loop"}
        assert [spot >= 0 for spot in what.avatars] == [isinstance(end, tuple) for end in after]
        assert {at for at, lies in zip(table.grid.squares, what.board, strict=True) if lies != 255} == set(board)


@modest
@given(states())
def test_the_dangers_of_tiles_agree_with_their_prospects(state: State) -> None:
    table, codes = state.table, codes_of(state.dealt)
    size, board, avatars = table.grid.size, table.board, table.avatars

    for seat in nonempty(range(len(avatars))):
        square = table.grid.ahead[avatars[seat]] >> 3
        prospects = [prospect(size, board, avatars, square, code) for code in codes]
        expected = [LOOP if what.looping else min(what.avatars[seat], 0) for what in prospects]
        assert dangers(size, board, avatars, seat, codes) == expected


@modest
@given(states(), tiles)
def test_legal_is_what_section_4_of_the_rules_says(state: State, other: int) -> None:
    view, allowed = TSURO.view(state, 0), slow_legal(state)

    assert set(TSURO.actions(view)) == allowed
    for tile in {*state.dealt, other}:
        for option in LAYS[tile]:
            if option in allowed:
                TSURO.check(view, option)
            else:
                with pytest.raises(IllegalAction):
                    TSURO.check(view, option)


@modest
@given(states())
def test_a_legal_tile_changes_what_the_slow_way_changes(state: State) -> None:
    options = list(TSURO.actions(TSURO.view(state, 0)))
    assume(options)

    for option in nonempty(options):
        assert isinstance(option, Lay)
        board, ends = laid(state, option)

        after = TSURO.apply(state, option)

        if "loop" in ends:  # forced: the tile is not laid, and nobody moves
            board = tiles_of(state)
            ends = [end if end == "loop" else place for end, place in zip(ends, spots(state), strict=True)]
        assert tiles_of(after) == board
        assert spots(after) == [end if isinstance(end, tuple) else None for end in ends]
        assert after.table.fell == tuple(0 if isinstance(end, tuple) else 1 for end in ends)


def test_the_boards_above_are_of_every_kind() -> None:
    seen: Counter[frozenset[Kind]] = Counter()

    @settings(modest, max_examples=300)
    @given(states())
    def look(state: State) -> None:
        view = TSURO.view(state, 0)
        seen[frozenset(kind_of(view, option) for option in options_of(view.dealt))] += 1

    look()

    fine, suicide, loop = (frozenset({kind}) for kind in Kind)
    assert {fine, suicide, loop, fine | suicide, fine | loop, suicide | loop} <= set(seen)


# Along whole matches, with ejections at any moment.


@st.composite
def playouts(draw: st.DrawFn) -> list[Step]:
    """Matches and what happened next; now and then somebody is ejected, on its turn or not."""
    size, seats = draw(st.integers(4, 6)), draw(st.integers(3, 5))
    game = Tsuro(size=size, tiles=draw(st.sampled_from(["bag", "cycle"])))
    lots, leaves = SeededRandom(seed_from_text(str(draw(st.integers(0, 10**6))))), draw(st.integers(3, 60))
    match: Match[State, View, Any] = Match(game, game.deal(seats, seed_from_text("playout")), NAMES[:seats])
    steps: list[Step] = []
    while (seat := match.turn) is not None:
        options = list(game.actions(match.view(seat)))
        ways = possible_ejections(match)
        if lots.below(leaves) == 0:
            fact: Fact = ways[lots.below(len(ways))]
        elif options:
            fact = Acted(seat, options[lots.below(len(options))])
        else:
            fact = Ejected(seat, Fault.ILLEGAL, Moment.TURN, "no legal option")
        steps.append((match, fact))
        match = match.after(fact)
    return [*steps, (match, None)]


@modest
@given(playouts())
def test_tiles_are_drawn_and_laid_and_avatars_stand_as_the_rules_say_along_whole_matches(steps: list[Step]) -> None:
    for (before, fact), (after, _) in nonempty(pairwise(steps)):
        had, has, state = placed_tiles(before.state), placed_tiles(after.state), before.state
        new = [tile for at, (tile, _) in has.items() if at not in had]
        is_turn = isinstance(fact, Acted) or (fact is not None and fact.moment is Moment.TURN)
        assert after.state.drawn - state.drawn == is_turn * (3 if state.table.stage is Stage.PLACING else 2)
        assert state.source == after.state.source
        assert had.items() <= has.items()
        assert len(new) <= isinstance(fact, Acted)
        assert set(new) <= set(state.dealt)
        if isinstance(fact, Acted) and isinstance(fact.action, Place):
            assert new == [fact.action.tile]

    for match, _ in steps:
        table, board = match.state.table, placed_tiles(match.state)
        for seat, place in nonempty(enumerate(spots(match.state))):
            to_place = table.stage is Stage.PLACING and seat in table.waiting
            assert (place is not None) == (table.fell[seat] == 0 and not to_place)
            if place is not None:
                x, y, _ = next_listener(*place)
                assert place[:2] in board
                assert (x, y) not in board
                assert on_board(table.grid.size, x, y)
    last, _ = steps[-1]
    assert last.state.drawn <= max_tiles(last.state.table.grid.size, len(last.names)) <= len(last.state.source)
