"""Test the pictures of Tsuro, as SVG and as text."""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from fairplay.core.game import Moment, Seat
from fairplay.games.tsuro import Lay, Place, Stage, State, Table, Tsuro, View
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.draw import svg
from fairplay.games.tsuro.pieces import CODES, EXITS, PORTS, Square
from fairplay.games.tsuro.roster import LOOKS
from fairplay.games.tsuro.routes import FACING, SIDES, SIGNS, STEPS, Cell, Size
from fairplay.games.tsuro.state import STILL_IN, encode_ejection_round
from fairplay.games.tsuro.terminal import LARGE, MIDDLE, changed_squares, draw_tile, text
from fairplay.games.tsuro.ways import way_of
from tests.games.tsuro.positions import STRAIGHT, make_position, play_actions
from tests.nonempty import nonempty
from tests.render.reading import SVG, part, said, shape, uses

SEED = bytes(range(32))
SMALL = Tsuro(size=4, tiles=(STRAIGHT,) * 15 + (0, 12))
SMALL_ACTIONS = (
    Place(STRAIGHT, 0, "C", (0, 0)),
    Place(STRAIGHT, 0, "G", (3, 2)),
    Place(STRAIGHT, 0, "A", (1, 3)),
    Lay(STRAIGHT, 0),
    Lay(STRAIGHT, 0),
    Lay(STRAIGHT, 0),
)


def small_match_state(actions: Sequence[Lay | Place] = SMALL_ACTIONS) -> State:
    return play_actions(SMALL.deal(3, SEED), *actions, game=SMALL)


def play_random_steps(steps: int, *, seats: int = 4, size: int = 10, lot: int = 1) -> State:
    """A match at random; whoever has no legal option is ejected."""
    game, lots = Tsuro(size=size), random.Random(lot)
    state = game.deal(seats, bytes([lot] * 32))
    for _ in range(steps):
        seat = game.turn(state)
        if seat is None:
            break
        actions = list(game.actions(game.view(state, seat)))
        state = game.apply(state, lots.choice(actions)) if actions else game.eject(state, seat, Moment.TURN)
    return state


def make_view(state: State, seat: Seat | None = None) -> View:
    return Tsuro().view(state, seat)


class AvatarPosition(NamedTuple):
    """Where an avatar started and where it is, each as x, y and the port."""

    start: tuple[int, int, str]
    avatar: tuple[int, int, str] | None
    fell: int = STILL_IN


def make_spectator_view(
    tiles: Mapping[Square, int], *players: AvatarPosition, stage: Stage = Stage.PLAYING, round: int = 1
) -> View:
    avatars, starts = [player.avatar for player in players], [player.start for player in players]
    fell, waiting = [player.fell for player in players], None if stage is Stage.PLAYING else list[Seat]()
    state = make_position(tiles, avatars, size=4, stage=stage, round=round, fell=fell, starts=starts, waiting=waiting)
    return make_view(state)


STRAIGHT_ROW = {(0, 0): STRAIGHT, (1, 0): STRAIGHT, (2, 0): STRAIGHT}

# Black came from the east and went off in the west, white the other way round as far as there are tiles.
MEETING_AVATARS = make_spectator_view(
    STRAIGHT_ROW,
    AvatarPosition((0, 0, "C"), (2, 0, "C")),
    AvatarPosition((2, 0, "H"), None, fell=1),
    AvatarPosition((1, 0, "F"), (1, 0, "F")),
)


SIDE = 60


def square(use: ElementTree.Element) -> tuple[int, int]:
    return int(float(use.get("x", ""))) // SIDE, int(float(use.get("y", ""))) // SIDE


def trail(picture: str, colour: str) -> list[tuple[int, int]]:
    broad = [use for use in uses(picture, "ways") if use.get("stroke-width") == "7"]
    return [square(use) for use in broad if use.get("stroke") == LOOKS[colour].paint]


def walked(table: Table, seat: Seat) -> list[tuple[int, int]]:
    return [table.grid.squares[step.exit >> 3] for step in way_of(table, seat)]


@pytest.mark.parametrize(("steps", "seats", "size"), [(0, 4, 10), (3, 3, 3), (20, 5, 4), (40, 5, 30), (999, 4, 10)])
def test_every_tile_is_drawn_where_it_lies_with_its_four_paths_and_every_avatar(
    steps: int, seats: int, size: int
) -> None:
    table = play_random_steps(steps, seats=seats, size=size).table
    lying = {table.grid.squares[at]: code for at, code in enumerate(table.board) if code != EMPTY}
    playing = [seat for seat, avatar in enumerate(table.avatars) if avatar != OUT]

    picture, shown = svg(View(None, table, ())), text(View(None, table, ()))

    drawn = {square(use): [*map(shape, uses(picture, shape(use)))] for use in uses(picture, "tiles")}
    assert len(uses(picture, "tiles")) == len(drawn)
    assert drawn.keys() == lying.keys()
    for at, code in lying.items():
        pairs = {PORTS[port] + PORTS[EXITS[8 * code + port]] for port in range(8)}
        assert drawn[at] == ["sheet", *sorted(pair for pair in pairs if pair[0] < pair[1])]
    assert [shape(use) for use in uses(picture, "avatars")] == [
        f"stone{LOOKS[table.colours[seat]].letter}" for seat in reversed(playing)
    ]
    assert len(re.findall("[WKRGB]", shown.partition("Small letters")[0])) == len(playing)
    assert len(shown.splitlines()) == size * 4 + 7 + seats


def test_avatars_and_crosses_on_the_same_port_are_behind_each_other() -> None:
    both = AvatarPosition((0, 0, "C"), (2, 0, "C"))
    view = make_spectator_view(STRAIGHT_ROW, both, both, AvatarPosition((1, 0, "F"), (1, 0, "F")))

    points = [use.get("transform", "") for use in uses(svg(view), "avatars")]

    assert len(set(points)) == 3
    assert "*→" in text(view)
    unconnected = make_spectator_view(STRAIGHT_ROW, AvatarPosition((0, 0, "E"), (2, 0, "C")), both, both)
    assert trail(svg(unconnected), "white") == []  # as no path leads there
    fallen = AvatarPosition((2, 0, "H"), None, fell=1)
    marks = uses(svg(make_spectator_view(STRAIGHT_ROW, fallen, fallen, both)), "marks")
    assert [(mark.get("x"), mark.get("y")) for mark in marks if shape(mark) == "end"] == [("0", "20"), ("15", "20")]


@pytest.mark.parametrize(("steps", "lot"), [(4, 1), (25, 2), (30, 3), (30, 4), (999, 5)])
def test_a_way_leads_from_the_start_to_where_the_avatar_stands_with_a_letter_on_every_path(
    steps: int, lot: int
) -> None:
    state = play_random_steps(steps, seats=5, lot=lot)
    table, picture = state.table, svg(make_view(state))
    beads = Counter(map(shape, uses(picture, "beads")))

    for seat, colour in nonempty(enumerate(table.colours)):
        way = way_of(table, seat)
        assert beads[f"bead{LOOKS[colour].letter}"] == len({frozenset(step) for step in way})
        assert {*trail(picture, colour)} == {*walked(table, seat)}
        assert len(trail(picture, colour)) == len({frozenset(step) for step in way})
        if table.avatars[seat] != OUT:
            assert (way[-1].exit if way else table.starts[seat]) == table.avatars[seat]


def test_ways_that_meet_take_turns_to_be_seen_and_have_marks_at_their_starts_and_ends() -> None:
    picture = svg(MEETING_AVATARS)
    shared = [use for use in uses(picture, "ways") if square(use) == (1, 0)]
    marks = [(shape(mark), mark.get("x"), mark.get("y")) for mark in uses(picture, "marks")]

    assert trail(picture, "white") == [(1, 0), (2, 0)]
    assert trail(picture, "black") == [(1, 0), (0, 0)]
    assert trail(picture, "red") == []
    assert [use.get("stroke-dasharray") for use in shared] == [None, "7.0 7.0", "7.0 7.0"]
    assert [use.get("stroke-dashoffset") for use in shared] == [None, "0", "-7"]
    assert [shape(use) for use in shared] == ["CH"] * 3
    assert marks == [("start", "60", "20"), ("start", "120", "20"), ("end", "0", "20")]
    assert "──┼k┼─w──┼*┼──k─┼w┼─W→" in text(MEETING_AVATARS)


def test_the_ejected_have_neither_avatar_nor_way() -> None:
    view = make_view(SMALL.eject(small_match_state(), 1, Moment.TURN))

    assert (trail(svg(view), "black"), len(uses(svg(view), "avatars"))) == ([], 2)
    assert "ejected" in said(svg(view))
    assert " K  black  black                               ejected" in text(view).splitlines()
    assert "←" not in text(view)


@pytest.mark.parametrize("steps", [0, 2, 4, 20])
def test_only_the_player_on_turn_sees_the_dealt_tiles(steps: int) -> None:
    state = play_random_steps(steps)
    turn = state.table.waiting[0]
    mine = make_view(state, turn)

    tray = part(svg(mine), "tray")

    assert [shape(use) for use in tray.iter(f"{SVG}use")] == ["sheet", *(f"tile{4 * tile}" for tile in mine.dealt)]
    assert [words.text for words in tray.iter(f"{SVG}text")][-len(mine.dealt) :] == [*map(str, mine.dealt)]
    assert "dealt to" in said(svg(mine))
    assert said(svg(mine, ["Ann", "Bob", "Cyd", "Dee"])).count(["Ann", "Bob", "Cyd", "Dee"][turn]) == 2, "and to whom"
    assert re.findall(r"(\d+) +A B", text(mine).split("dealt")[1]) == [str(tile) for tile in mine.dealt]
    for other in (None, *(seat for seat in range(4) if seat != turn)):
        assert svg(make_view(state, other)) == svg(make_view(state))
        assert "dealt" not in text(make_view(state, other)) + "".join(said(svg(make_view(state))))


def test_the_last_one_left_is_marked_at_the_end_and_the_others_have_their_rounds() -> None:
    fallen, winner = AvatarPosition((0, 0, "C"), None, fell=3), AvatarPosition((2, 0, "C"), (2, 0, "C"))
    view = make_spectator_view(
        STRAIGHT_ROW, fallen, winner, AvatarPosition((2, 0, "H"), None, fell=2), stage=Stage.DONE, round=3
    )

    marks = [line.rsplit("  ", 1)[1] for line in text(view).splitlines()[-3:]]

    assert marks == ["out in round 3", "last one left", "out in round 2"]
    assert {*marks} <= {*said(svg(view))}


def test_without_a_player_left_those_that_fell_last_are_lit() -> None:
    fallen = [AvatarPosition((0, 0, "C"), None, fell=fell) for fell in (2, 3, encode_ejection_round(3), 3)]
    root = ElementTree.fromstring(svg(make_spectator_view(STRAIGHT_ROW, *fallen, stage=Stage.DONE, round=3)))

    gold = [words.text for words in root.iter(f"{SVG}text") if words.get("fill") == "url(#tsuro4-gold)"]

    assert gold == ["out in round 3"] * 2


@pytest.mark.parametrize(("steps", "now"), [(3, "placing"), (4, "playing, round 1"), (999, "done in round 11")])
def test_the_stage_and_the_round_are_said(steps: int, now: str) -> None:
    view = make_view(play_random_steps(steps, lot=2))

    spans = list(ElementTree.fromstring(svg(view)).iter(f"{SVG}tspan"))

    if now == "placing":
        assert [line.endswith("to place") for line in text(view).splitlines()[-4:]] == [False, False, False, True]
    assert [span.text for span in spans if span.get("font-weight") == "bold"] == [now]
    assert len(spans) == len(Stage)
    assert now in text(view).splitlines()


SMALL_TEXT = """
      0      1      2      3
  ╭────────────────────────────╮
  │  │ │    │ │                │
0 │──┼─┼─w──┼w┼─W→  ▒          │
  │──┼─┼────┼─┼──   ▒      ·   │
  │  │ │    │ │                │
  │                            │
1 │                            │
  │   ·      ·      ·      ·   │
  │         ↑                  │
  │       ┌ R │ ┐  │ │    │ │  │
2 │       ──┼─┼────┼─┼────┼─┼──│
  │   ·  ←K─┼k┼────┼k┼──k─┼─┼──│
  │       └ r │ ┘  │ │    │ │  │
  │         r │                │
3 │       ──┼─┼──              │
  │   ·   ──┼─┼──   ·      ·   │
  │         │ │                │
  ╰────────────────────────────╯

Capitals: avatars. Small letters: ways. Equal numbers: one path. ▒: next tile.

dealt
0  A B     12 A B
   1 2       ╭┼─╯
H3     3C  H─╯╰────C
G4     4D  G─╮╭────D
   2 1       ╰┼─╮
   F E        F E

playing, round 2
 W  white  Ann  [1, 0] port C, faces [2, 0]  to lay
 K  black  Bob  [1, 2] port G, faces [0, 2]
 R  red    red  [1, 2] port A, faces [1, 1]
"""
SMALL_BEFORE = small_match_state(SMALL_ACTIONS[:-1])
UNDRAWN = {LARGE: {0, 4}, MIDDLE: {0, 4, 32, 33, 56, 58, 100}}  # codes of tiles that have numbers instead of paths
WAYS_TEXT = """
    0    1    2    3    playing, round 2
0 ░░░░w──w─W→ ▒
  ░░░░░░░░░░  ▒    ·     W  Ann
1                           to lay
    ·   ↑·    ·    ·     K  Bob
2      ┌R░░┐░░░░░░░░░░
    · ←K┼k─┘──k──k░░░░   R  red
3      ░r░░░
    ·  ░░░░░  ·    ·
"""


def test_a_small_position_is_drawn_as_text() -> None:
    shown = text(SMALL.view(small_match_state(), 0), ["Ann", "Bob"], before=SMALL.view(SMALL_BEFORE, 0))

    assert shown == SMALL_TEXT.strip("\n")


def test_in_little_room_only_ways_are_drawn_and_players_stand_beside_the_board() -> None:
    shown = text(make_view(small_match_state()), ["Ann", "Bob"], width=60, height=9, before=make_view(SMALL_BEFORE))

    assert shown == WAYS_TEXT.strip("\n")


@pytest.mark.parametrize(
    ("width", "height", "beside"), [(80, 21, True), (60, 21, True), (120, 45, True), (80, 36, False)]
)
def test_the_tiles_to_choose_from_the_avatar_and_the_players_are_within_the_window(
    width: int, height: int, beside: bool
) -> None:
    table = play_random_steps(20, seats=5, lot=3).table
    lines = text(View(3, table, (0, 12, 7)), ["Ann", "Bob", "Cyd"], width=width, height=height).split("\n")

    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    assert ("dealt" in lines[0]) == beside
    assert re.findall(r"(\d+) +A B", "\n".join(lines)) == ["0", "12", "7"]
    assert sum(line.count("▒") for line in lines) >= 2  # where the avatar goes on, besides the legend
    assert any(line.endswith("to lay") for line in lines)


def test_signs_are_explained_where_there_is_room() -> None:
    for width, height, sign in ((80, 21, "░: tile."), (120, 45, "▒: next tile."), (80, 60, "▒: ")):
        shown = text(make_view(play_random_steps(20, seats=5, lot=3)), width=width, height=height)
        assert "Capitals:" in shown and sign in shown and ("░" in shown) == (height == 21)


@pytest.mark.parametrize("size", [LARGE, MIDDLE])
@pytest.mark.parametrize("code", sorted({*CODES}))
def test_paths_can_be_followed_from_port_to_port(code: int, size: Size) -> None:
    tile = {cell: sign for cell, (sign, _) in draw_tile(code, size).items()}

    for port, cell in nonempty(enumerate(size.ports)):
        other = EXITS[8 * code + port]
        if code in UNDRAWN[size]:
            assert [end for end in range(8) if tile[size.ports[end]] == tile[cell]] == sorted([port, other])
        else:
            assert followed(tile, cell, SIDES[port]) == (size.ports[other], SIDES[other])


def followed(tile: Mapping[Cell, str], cell: Cell, side: int) -> tuple[Cell, int]:
    """Where somebody leaves a tile who enters a cell of it from a side, and goes on as the signs lead."""
    while True:
        leads = SIGNS.index(tile[cell])
        assert leads & side
        ahead = FACING[side] if tile[cell] == "┼" else leads & ~side
        right, down = STEPS[ahead]
        onward = cell[0] + right, cell[1] + down
        if onward not in tile or not SIGNS.index(tile[onward]) & FACING[ahead]:
            return cell, ahead
        cell, side = onward, FACING[ahead]


@pytest.mark.parametrize(("width", "wide"), [(None, 74), (74, 74), (73, 54), (54, 54), (53, 52)])
def test_a_board_of_ten_is_drawn_as_large_as_there_is_room(width: int | None, wide: int) -> None:
    lines = text(make_view(play_random_steps(40, seats=5)), width=width).splitlines()
    board = lines[: lines.index("")]

    assert max(map(len, board)) <= wide
    assert len(board) == (43 if wide > 52 else 21)


def test_a_board_that_is_too_large_is_cropped_around_what_is_new() -> None:
    start, later = play_random_steps(4, seats=4, size=30), play_random_steps(5, seats=4, size=30)
    (square,) = changed_squares(later.table, start.table)
    x, y = later.table.grid.squares[square]

    lines = text(make_view(later), width=60, height=30, before=make_view(start)).splitlines()

    more = next(line for line in lines if line.startswith("there is more: "))
    assert str(x) in lines[0].split()
    assert str(y) in {line[:2].strip() for line in lines}
    assert len(lines[0].split()) + sum(map(int, re.findall(r"(\d+) on the", more))) == 30
    assert any("┌" in line for line in lines)
