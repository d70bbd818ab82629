"""Test the text that shows Q on a terminal."""

import re

import pytest

from fairplay.games.q import View
from fairplay.games.q.board import Map, map_of, position_of
from fairplay.games.q.pieces import NAMES
from fairplay.games.q.terminal import LETTERS, SIGNS, map_lines, text, tile_sign
from tests.games.q.pictures import (
    DISCONNECTED_MAP,
    GAME,
    HOSTILE,
    MAX_COORDINATE,
    SMALL_VIEW,
    column_map,
    make_view,
    play_random_steps,
    random_map,
    row_map,
)
from tests.nonempty import nonempty

SMALL_TEXT = """
   -2 -1  0  1  2
-2        ·
-1     · ♣p  ·
 0  · ✦r ♣r ✸r  ·
 1     ·  · ✸b  ·
 2           ·

✦ star  ✸ 8star  ■ square  ● circle  ♣ clover  ◆ diamond
r red  g green  b blue  y yellow  o orange  p purple

hand  ■y ◆g ●o

playing, 1041 tiles left
    seat 0  Ann     104 points
 >  seat 1  Bob      12 points  to act
 x  seat 2  seat 2              ejected
    seat 3  Dee       1 point
"""
TORN_TEXT = """
            -2147483649     0
-2147483649     ·     ┊           ┊
-2147483648  · ✦y  ·  ┊           ┊
-2147483647     ·     ┊           ┊
          ⋮
         -4           ┊           ┊     ·
         -3           ┊           ┊  · ✦b  ·
         -2           ┊           ┊     ·
         -1           ┊     ·     ┊
          0           ┊  · ✦r  ·  ┊
          1           ┊  · ✦g  ·  ┊
          2           ┊     ·     ┊
"""
SIZES = [
    random_map(1),
    random_map(2),
    random_map(40),
    random_map(1000),
    row_map(1000),
    column_map(1000),
    DISCONNECTED_MAP,
]


def plain(coloured: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", coloured)


def drawn(shown: Map) -> str:
    return "\n".join(map_lines(shown, places=True, colour=False))


def test_a_small_position_is_drawn_as_text() -> None:
    assert text(SMALL_VIEW, ["Ann", "Bob", "", "Dee"]) == SMALL_TEXT.strip("\n")


def test_empty_lines_between_tiles_far_apart_are_left_out() -> None:
    numbers, *rows = drawn(DISCONNECTED_MAP).splitlines()

    assert rows == TORN_TEXT.strip("\n").splitlines()[1:]
    assert numbers.split()[0].startswith("-")


def test_a_few_empty_lines_between_tiles_stay() -> None:
    assert drawn(map_of([((0, 0), 0), ((6, 0), 1)])).splitlines()[4:7] == [" 2", " 3", " 4"]
    assert "⋮" not in drawn(map_of([((0, 0), 0), ((7, 0), 1)]))
    assert "⋮" in drawn(map_of([((0, 0), 0), ((8, 0), 1)]))


@pytest.mark.parametrize("shown", SIZES)
def test_every_tile_is_drawn_once(shown: Map) -> None:
    tiles = re.findall(f"[{''.join(SIGNS.values())}][{''.join(LETTERS.values())}]", drawn(shown))

    assert sorted(tiles) == sorted(tile_sign(kind, colour=False) for kind in shown.tiles.values())


def test_every_kind_has_a_sign_of_its_own() -> None:
    signs = {tile_sign(kind, colour=False) for kind in range(len(NAMES))}

    assert len(signs) == len(NAMES)
    assert {len(sign) for sign in signs} == {2}


@pytest.mark.parametrize(
    "shown", [random_map(40), random_map(200), row_map(300), map_of([((1000, 995), 0), ((1000, 1001), 1)])]
)
def test_the_numbers_of_columns_stand_above_them(shown: Map) -> None:
    numbers, *rows = drawn(shown).splitlines()
    margin = max(len(row.split()[0]) for row in rows)
    left = min(position_of(cell)[1] for cell in shown.tiles) - 1

    for label in nonempty(re.finditer(r"-?\d+", numbers)):
        place = (label.start() - (len(label.group()) == 1)) - margin - 1
        assert place % 3 == 0
        assert int(label.group()) == left + place // 3


def test_the_longest_numbers_do_not_run_into_each_other() -> None:
    numbers = drawn(map_of([((0, MAX_COORDINATE - column), 0) for column in range(20)])).splitlines()[0].split()

    assert len(numbers) > 1
    assert all(MAX_COORDINATE - 20 <= int(number) <= MAX_COORDINATE + 1 for number in numbers)


def test_dots_are_where_some_tile_fits_until_the_game_is_over() -> None:
    between = map_of([((0, 0), 0), ((0, 2), 7)])  # a red star and a green 8star: nothing fits between them

    assert " 0  · ✦r    ✸g  ·" in drawn(between).splitlines()
    assert "·" not in text(make_view(between, done=True))


def test_most_points_are_marked_at_the_end() -> None:
    *_, first, second, third = text(make_view(random_map(3), done=True), ["Ann", "Bob", "Cyd"]).splitlines()

    assert first == " *  seat 0  Ann  9 points  most points"
    assert second == " *  seat 1  Bob  9 points  most points"
    assert third == "    seat 2  Cyd  7 points"
    assert "done, 20 tiles left" in text(make_view(random_map(3), done=True)).splitlines()


@pytest.mark.parametrize("steps", [0, 5, 30])
def test_a_hand_is_visible_to_its_seat_only(steps: int) -> None:
    state = play_random_steps(steps)

    for seat, hand in enumerate(state.hands):
        signs = " ".join(tile_sign(kind, colour=False) for kind in hand)
        assert f"hand  {signs}" in text(GAME.view(state, seat)).splitlines()
    assert "hand" not in text(GAME.view(state, None))


def test_hostile_names_send_no_control_codes_to_the_terminal() -> None:
    view = GAME.view(play_random_steps(9, seats=4), 0)

    assert all(sign.isprintable() for sign in text(view, HOSTILE).replace("\n", ""))
    assert len(text(view, HOSTILE).splitlines()) == len(text(view).splitlines())


@pytest.mark.parametrize("view", [SMALL_VIEW, *(make_view(shown, seat=0, hand=(3, 4)) for shown in SIZES)])
def test_colour_adds_nothing_but_colour(view: View) -> None:
    assert plain(text(view, HOSTILE, colour=True)) == text(view, HOSTILE)
    assert text(view, HOSTILE, colour=True) != text(view, HOSTILE)


@pytest.mark.parametrize("shown", SIZES)
def test_no_line_ends_in_blanks(shown: Map) -> None:
    lines = text(make_view(shown), colour=True).splitlines()

    assert lines == [line.rstrip() for line in lines]


def test_a_map_of_twenty_columns_fits_a_terminal() -> None:
    assert max(map(len, text(make_view(row_map(20)), ["Bartholomew"] * 3).splitlines())) <= 80
