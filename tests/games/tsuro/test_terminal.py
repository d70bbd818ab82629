"""Look at Tsuro on a terminal."""

import re

import pytest

from fairplay.games.tsuro import Tsuro, View
from fairplay.games.tsuro.draw import text
from fairplay.games.tsuro.pieces import PORTS, TILES, exits_of
from tests.games.tsuro.pictures import HOSTILE, MEETING, SEED, SMALL, after, seen, small
from tests.some import some

SMALL_TEXT = """
     0      1      2      3
  ┌──────┬──────┬─────────────┐
0 │31  23w31  23W→ ▒▒         │
  │41  24│41  24│  ▒▒         │
  ├──────┴──────┘      ·      │
1 │                           │
  │        ↑                  │
  │      ┌─R────┬──────┬──────┤
2 │      │31  23│31  23│31  23│
  │     ←K41  24k41  24k41  24│
  │      ├─r────┼──────┴──────┤
3 │      │31  23│             │
  │      │41  24│             │
  └──────┴──────┴─────────────┘
On a tile, equal numbers are the ends of a path; small letters show the ways.

dealt    0 │31  23│  12 │21  21│
           │42  14│     │43  43│

playing, round 2
 W  white  Ann  [1, 0] port C, faces [2, 0]  to lay
 K  black  Bob  [1, 2] port G, faces [0, 2]
 R  red    red  [1, 2] port A, faces [1, 1]
"""


def plain(coloured: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", coloured)


def test_a_small_position_is_drawn_like_this_on_a_terminal() -> None:
    assert text(SMALL.view(small(), 0), ["Ann", "Bob"]) == SMALL_TEXT.strip("\n")


@pytest.mark.parametrize("tile", range(TILES))
def test_equal_numbers_on_a_tile_of_text_are_the_ends_of_a_path(tile: int) -> None:
    shown = text(View(0, Tsuro().deal(3, SEED).table, (tile,)))

    upper, lower = (line.split("│")[1] for line in shown.partition("dealt")[2].splitlines()[:2])
    at = dict(zip("HABCGFED", upper[:2] + upper[4:] + lower[:2] + lower[4:], strict=True))
    for port, other in some(enumerate(exits_of(tile, 0))):
        assert [letter for letter in PORTS if at[letter] == at[PORTS[port]]] == sorted(PORTS[port] + PORTS[other])


def test_an_arrow_shows_where_an_avatar_goes_on() -> None:
    rows = text(seen(small())).splitlines()

    assert "W→" in rows[2]
    assert "←K" in rows[9]
    assert rows[6].index("↑") == rows[7].index("R")


def test_hostile_names_send_no_control_codes_to_the_terminal() -> None:
    shown = text(seen(after(15, seats=5)), HOSTILE)

    assert all(sign.isprintable() for sign in shown.replace("\n", ""))
    assert len(shown.splitlines()) == len(text(seen(after(15, seats=5))).splitlines())


@pytest.mark.parametrize("view", [SMALL.view(small(), 0), MEETING, *(seen(after(steps)) for steps in (0, 7, 25, 999))])
def test_colour_adds_nothing_but_colour(view: View) -> None:
    assert plain(text(view, HOSTILE, colour=True)) == text(view, HOSTILE)
    assert text(view, HOSTILE, colour=True) != text(view, HOSTILE)


@pytest.mark.parametrize("steps", [0, 7, 25, 999])
def test_no_line_ends_in_blanks(steps: int) -> None:
    lines = text(seen(after(steps)), colour=True).splitlines()

    assert lines == [line.rstrip() for line in lines]


def test_a_board_of_ten_fits_a_terminal() -> None:
    lines = text(seen(after(40, seats=5)), ["Bartholomew"] * 5).splitlines()

    assert max(map(len, lines)) <= 80
    assert len(lines) <= 40
