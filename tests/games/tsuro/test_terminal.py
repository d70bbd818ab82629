"""Test the text that shows Tsuro on a terminal."""

import re
from collections.abc import Mapping

import pytest

from fairplay.games.tsuro import Tsuro, View
from fairplay.games.tsuro.board import OUT
from fairplay.games.tsuro.pieces import CODES, EXITS, TILES
from fairplay.games.tsuro.roster import LOOKS
from fairplay.games.tsuro.routes import FACING, SIDES, SIGNS, STEPS, Cell, Size
from fairplay.games.tsuro.terminal import LARGE, MIDDLE, changed_squares, draw_tile, text
from fairplay.games.tsuro.ways import way_of
from tests.games.tsuro.pictures import (
    HOSTILE,
    MEETING_AVATARS,
    SEED,
    SMALL,
    SMALL_ACTIONS,
    make_view,
    play_random_steps,
    small_match_state,
)
from tests.nonempty import nonempty

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


def plain(coloured: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", coloured)


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
    lines = text(View(3, table, (0, 12, 7)), ["Ann", "Bob", "Cyd", "Dee", "Eve"], width=width, height=height).split(
        "\n"
    )

    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    assert ("dealt" in lines[0]) == beside
    assert re.findall(r"(\d+) +A B", "\n".join(lines)) == ["0", "12", "7"]
    assert sum(line.count("▒") for line in lines) >= 2  # where the avatar goes on, besides the legend
    assert any(line.endswith("to lay") for line in lines)


@pytest.mark.parametrize(
    ("width", "height", "tiled"), [(80, 21, "░: tile."), (120, 45, "▒: next tile."), (80, 60, "▒: ")]
)
def test_signs_are_explained_where_there_is_room(width: int, height: int, tiled: str) -> None:
    shown = text(make_view(play_random_steps(20, seats=5, lot=3)), width=width, height=height)

    assert "Capitals:" in shown
    assert tiled in shown
    assert ("░" in shown) == (height == 21)


def test_in_a_wide_window_the_board_is_large_with_the_players_beside_it() -> None:
    lines = text(make_view(play_random_steps(20, seats=5, lot=3)), width=120, height=45).split("\n")

    assert len(lines) == 43
    assert lines[1].startswith("  ╭" + 70 * "─" + "╮")
    assert lines[0].endswith("playing, round 4")


@pytest.mark.parametrize("width", [60, 50, 44])
def test_a_narrow_panel_says_that_a_player_is_out(width: int) -> None:
    lines = text(
        make_view(play_random_steps(20, seats=5, lot=3)), ["Ann", "Bob", "Cyd", "Dee", "Eve"], width=width
    ).split("\n")

    assert [line.endswith("out in round 1") for line in lines[-5:]] == [False, True, False, False, False]


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


@pytest.mark.parametrize("tile", range(TILES))
def test_the_ports_of_a_dealt_tile_have_their_letters(tile: int) -> None:
    top, *middle, bottom = text(View(0, Tsuro().deal(3, SEED).table, (tile,))).partition("dealt\n")[2].splitlines()[:6]

    assert top.split() == [str(tile), "A", "B"]
    assert [line[0] for line in middle[1:3]] == ["H", "G"]
    assert [line.rstrip()[-1] for line in middle[1:3]] == ["C", "D"]
    assert bottom.split() == ["F", "E"]


def test_an_arrow_shows_where_an_avatar_goes_on() -> None:
    rows = text(make_view(small_match_state())).splitlines()

    assert "W→" in rows[3]
    assert "←K" in rows[12]
    assert rows[9].index("↑") == rows[10].index("R")


@pytest.mark.parametrize(("width", "height"), [(80, None), (60, None), (80, 24), (60, 28)])
def test_every_way_has_letters_at_every_scale(width: int, height: int | None) -> None:
    table = play_random_steps(25, seats=5, lot=3).table
    shown = text(View(None, table, ()), width=width, height=height)
    lines = "".join(line[:52] for line in shown.splitlines()) if height == 24 else shown.partition("playing")[0]

    for seat, colour in nonempty(enumerate(table.colours)):
        letter = LOOKS[colour].letter
        assert (letter.lower() in lines) == (len(way_of(table, seat)) > 0 or table.starts[seat] != OUT)
        assert (letter in lines) == (table.avatars[seat] != OUT)


def test_hostile_names_send_no_control_codes_to_the_terminal() -> None:
    shown = text(make_view(play_random_steps(15, seats=5)), HOSTILE)

    assert all(sign.isprintable() for sign in shown.replace("\n", ""))
    assert len(shown.splitlines()) == len(text(make_view(play_random_steps(15, seats=5))).splitlines())


@pytest.mark.parametrize(
    "view",
    [
        SMALL.view(small_match_state(), 0),
        MEETING_AVATARS,
        *(make_view(play_random_steps(steps)) for steps in (0, 7, 25, 999)),
    ],
)
def test_colour_adds_nothing_but_colour(view: View) -> None:
    assert plain(text(view, HOSTILE, colour=True)) == text(view, HOSTILE)
    assert text(view, HOSTILE, colour=True) != text(view, HOSTILE)


@pytest.mark.parametrize("steps", [0, 7, 25, 999])
def test_no_line_ends_in_blanks(steps: int) -> None:
    lines = text(make_view(play_random_steps(steps)), colour=True).splitlines()

    assert lines == [line.rstrip() for line in lines]


@pytest.mark.parametrize(("width", "wide"), [(None, 74), (80, 74), (74, 74), (73, 54), (60, 54), (54, 54), (53, 52)])
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
