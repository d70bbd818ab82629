"""Test the pictures of Q, as SVG and as text."""

import random
import re
from collections.abc import Iterable
from itertools import islice, pairwise
from xml.etree import ElementTree

import pytest

from fairplay.core.game import Seat
from fairplay.games.q import Pass, Q, State, View
from fairplay.games.q.board import Map, map_of, position_of
from fairplay.games.q.draw import svg
from fairplay.games.q.pieces import KINDS, NAMES
from fairplay.games.q.shapes import CELL
from fairplay.games.q.state import Tiles
from fairplay.games.q.terminal import LETTERS, SIGNS, map_lines, text, tile_sign
from tests.nonempty import nonempty
from tests.render.reading import SVG, part, said, shape, uses

GAME = Q()
MAX_COORDINATE = 2**31 - 1  # no place is further away


def named_map(tiles: dict[tuple[int, int], str]) -> Map:
    return map_of((at, KINDS[name]) for at, name in tiles.items())


ROW = {(-1, 0): "purple clover", (0, -1): "red star", (0, 0): "red clover"}
SMALL_VIEW = View(
    seat=1,
    map=named_map({**ROW, (0, 1): "red 8star", (1, 1): "blue 8star"}),
    kinds=(KINDS["yellow square"], KINDS["green diamond"], KINDS["orange circle"]),
    order=(1, 3, 0),
    points=(12, 1, 104),
    left=1041,
)
DISCONNECTED_MAP = map_of(
    [((0, 0), 0), ((1, 0), 1), ((-3, MAX_COORDINATE), 2), ((-MAX_COORDINATE - 1, -MAX_COORDINATE - 1), 3)]
)


def make_view(shown: Map, *, seat: Seat | None = None, hand: Tiles = (), done: bool = False) -> View:
    return View(seat, shown, hand, order=(2, 0, 1), points=(7, 9, 9), left=20, done=done)


def random_map(count: int, lot: int = 1) -> Map:
    lots = random.Random(lot)
    shown = map_of([((0, 0), lots.randrange(36))])
    while len(shown.tiles) < count:
        cell, fits = lots.choice([place for place in sorted(shown.frontier.items()) if place[1]])
        shown = shown.with_tiles([(cell, lots.choice([kind for kind in range(36) if fits >> kind & 1]))])
    return shown


def play_random_steps(steps: int, *, seats: int = 3, lot: int = 1) -> State:
    state, lots = GAME.deal(seats, bytes([lot] * 32)), random.Random(lot)
    for _ in range(steps):
        seat = GAME.turn(state)
        if seat is None:
            break
        actions = list(islice(GAME.actions(GAME.view(state, seat)), 2, 60))
        state = GAME.apply(state, lots.choice(actions) if actions else Pass())
    return state


GOLD = "url(#q-gold)"
SIZES = [
    random_map(1),
    random_map(2),
    random_map(40),
    random_map(1000),
    map_of([((0, column - 500), 0) for column in range(1000)]),
    map_of([((row - 500, 0), 0) for row in range(1000)]),
    DISCONNECTED_MAP,
]


def point(use: ElementTree.Element) -> tuple[float, float]:
    return float(use.get("x", "")), float(use.get("y", ""))


def called(hand: Iterable[int]) -> list[str]:
    return [NAMES[kind].replace(" ", "-") for kind in hand]


def size(picture: str) -> tuple[float, float]:
    root = ElementTree.fromstring(picture)
    return float(root.get("width", "")), float(root.get("height", ""))


@pytest.mark.parametrize("shown", SIZES[:-1])
def test_every_tile_lies_where_it_should(shown: Map) -> None:
    drawn = uses(svg(make_view(shown)), "tiles")
    places = {point(use): shape(use) for use in drawn}
    assert len(places) == len(drawn) == len(shown.tiles)
    signs = re.findall(f"[{''.join(SIGNS.values())}][{''.join(LETTERS.values())}]", text_of(shown))
    assert sorted(signs) == sorted(tile_sign(kind, colour=False) for kind in shown.tiles.values())
    left, top = min(x for x, _ in places), min(y for _, y in places)
    positions = {position_of(cell): kind for cell, kind in shown.tiles.items()}
    first_row, first_column = min(row for row, _ in positions), min(column for _, column in positions)

    for (row, column), kind in nonempty(positions.items()):
        at = left + (column - first_column) * CELL, top + (row - first_row) * CELL
        assert places[at] == called((kind,))[0]


def test_the_last_placement_is_marked() -> None:
    picture = svg(SMALL_VIEW, before=make_view(named_map(ROW)))

    places = {point(use) for use in uses(picture, "tiles") if shape(use).endswith("8star")}
    assert {point(use) for use in uses(picture, "news")} == places
    assert [shape(use) for use in uses(picture, "news")] == ["last", "last"]
    assert not uses(svg(SMALL_VIEW, before=SMALL_VIEW), "news")


def test_places_are_hinted_where_some_tile_fits_until_the_game_is_over() -> None:
    between = named_map({(0, 0): "red star", (0, 2): "green 8star"})

    assert len(uses(svg(make_view(between)), "places")) == 6  # of seven; nothing fits between the two
    assert not uses(svg(make_view(between, done=True)), "places")
    assert " 0  · ✦r    ✸g  ·" in text(make_view(between)).splitlines()
    assert "·" not in text(make_view(between, done=True))


def test_a_gap_is_a_tear_in_the_cloth() -> None:
    tears = part(svg(make_view(DISCONNECTED_MAP)), "tears")

    assert len(list(tears)) == 3  # two of columns, one of rows
    assert max(size(svg(make_view(DISCONNECTED_MAP)))) < 1500
    assert {"0", "-4", str(-MAX_COORDINATE - 2)} <= {*said(svg(make_view(DISCONNECTED_MAP)))}


@pytest.mark.parametrize("steps", [0, 5, 30])
def test_a_hand_is_visible_to_its_seat_only_and_to_referees(steps: int) -> None:
    state = play_random_steps(steps)

    for seat, hand in enumerate(state.hands):
        assert [shape(use) for use in uses(svg(GAME.view(state, seat)), "hands")] == called(hand)
        signs = " ".join(tile_sign(kind, colour=False) for kind in hand)
        assert f"hand  {signs}" in text(GAME.view(state, seat)).splitlines()
    referees = uses(svg(GAME.view(state, None), ["Ann", "Ann"], hands=state.hands), "hands")
    assert [shape(use) for use in referees] == [name for hand in state.hands for name in called(hand)]
    assert "hand" not in text(GAME.view(state, None))
    spectators = svg(GAME.view(state, None))
    assert not uses(spectators, "hands")
    assert {use.get("href") for use in ElementTree.fromstring(spectators).iter(f"{SVG}use")} <= {
        use.get("href") for use in ElementTree.fromstring(svg(make_view(state.map))).iter(f"{SVG}use")
    }


@pytest.mark.parametrize("shown", SIZES)
def test_numbers_do_not_run_into_each_other(shown: Map) -> None:
    picture = svg(make_view(shown))
    labels = next(group for group in ElementTree.fromstring(picture).iter(f"{SVG}g") if group.get("font-size"))
    digit = float(labels.get("font-size", "")) * 0.6
    top = [words for words in labels if words.get("text-anchor") is None]
    left = [words for words in labels if words.get("text-anchor")]

    for one, other in pairwise(top):
        wide = (len(one.text or "") + len(other.text or "")) / 2 * digit
        assert float(other.get("x", "")) - float(one.get("x", "")) > wide
    assert all(float(other.get("y", "")) - float(one.get("y", "")) > 2 * digit for one, other in pairwise(left))


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


def text_of(shown: Map) -> str:
    return "\n".join(map_lines(shown, places=True, colour=False))


def test_a_small_position_is_drawn_as_text() -> None:
    assert text(SMALL_VIEW, ["Ann", "Bob", "", "Dee"]) == SMALL_TEXT.strip("\n")


def test_empty_lines_between_tiles_far_apart_are_left_out() -> None:
    numbers, *rows = text_of(DISCONNECTED_MAP).splitlines()

    assert rows == TORN_TEXT.strip("\n").splitlines()[1:]
    assert numbers.split()[0].startswith("-")
    assert "⋮" not in text_of(map_of([((0, 0), 0), ((7, 0), 1)]))  # a few empty lines stay
    assert "⋮" in text_of(map_of([((0, 0), 0), ((8, 0), 1)]))


def test_most_points_are_marked_at_the_end() -> None:
    *_, first, second, third = text(make_view(random_map(3), done=True), ["Ann", "Bob", "Cyd"]).splitlines()

    assert first == " *  seat 0  Ann  9 points  most points"
    assert second == " *  seat 1  Bob  9 points  most points"
    assert third == "    seat 2  Cyd  7 points"
    assert "done, 20 tiles left" in text(make_view(random_map(3), done=True)).splitlines()
    root = ElementTree.fromstring(svg(make_view(random_map(9), done=True), ["Ann", "Bob", "Cyd"]))
    gold = [words.text for words in root.iter(f"{SVG}text") if words.get("fill") == GOLD]
    assert gold == ["seat 0 · most points", "seat 1 · most points"]
