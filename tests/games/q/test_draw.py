"""Test the pictures of Q."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from fairplay.core.game import Moment
from fairplay.games.q import Pass
from fairplay.games.q.board import Map, map_of, position_of
from fairplay.games.q.draw import svg
from fairplay.games.q.pieces import COLOURS, NAMES, SHAPES
from fairplay.games.q.shapes import CELL, PAINTS
from fairplay.games.q.terminal import text
from tests.games.q.pictures import (
    DISCONNECTED_MAP,
    GAME,
    HOSTILE,
    MAX_COORDINATE,
    SMALL_VIEW,
    column_map,
    make_view,
    parse_map,
    play_random_steps,
    random_map,
    row_map,
)
from tests.nonempty import nonempty

SVG = "{http://www.w3.org/2000/svg}"
GOLD = "url(#q-gold)"
SIZES = [
    random_map(1),
    random_map(2),
    random_map(40),
    random_map(1000),
    row_map(1000),
    column_map(1000),
    DISCONNECTED_MAP,
]


def part(picture: str, name: str) -> ElementTree.Element | None:
    return next((part for part in ElementTree.fromstring(picture).iter() if part.get("id") == f"q-{name}"), None)


def uses(picture: str, name: str) -> list[ElementTree.Element]:
    found = part(picture, name)
    return [] if found is None else list(found.iter(f"{SVG}use"))


def shape(use: ElementTree.Element) -> str:
    return use.get("href", "").partition("-")[2]


def point(use: ElementTree.Element) -> tuple[float, float]:
    return float(use.get("x", "")), float(use.get("y", ""))


def called(hand: Iterable[int]) -> list[str]:
    return [NAMES[kind].replace(" ", "-") for kind in hand]


def said(picture: str) -> list[str]:
    return ["".join(words.itertext()) for words in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def size(picture: str) -> tuple[float, float]:
    root = ElementTree.fromstring(picture)
    return float(root.get("width", "")), float(root.get("height", ""))


@pytest.mark.parametrize("shown", SIZES)
def test_every_tile_is_drawn_once(shown: Map) -> None:
    drawn = uses(svg(make_view(shown)), "tiles")

    assert Counter(map(shape, drawn)) == Counter(called(tuple(shown.tiles.values())))
    assert len({point(use) for use in drawn}) == len(shown.tiles)


@pytest.mark.parametrize("shown", [random_map(1), random_map(40), random_map(300), row_map(30), column_map(30)])
def test_tiles_lie_where_they_should(shown: Map) -> None:
    places = {point(use): shape(use) for use in uses(svg(make_view(shown)), "tiles")}
    left, top = min(x for x, _ in places), min(y for _, y in places)
    positions = {position_of(cell): kind for cell, kind in shown.tiles.items()}
    first_row, first_column = min(row for row, _ in positions), min(column for _, column in positions)

    for (row, column), kind in nonempty(positions.items()):
        at = left + (column - first_column) * CELL, top + (row - first_row) * CELL
        assert places[at] == called((kind,))[0]


def test_every_kind_is_drawn_in_its_shape_and_colour() -> None:
    picture = svg(make_view(map_of([((0, kind), kind) for kind in range(36)])))

    assert len(set(PAINTS.values())) == len(COLOURS)
    for kind, name in enumerate(NAMES):
        tile = part(picture, called((kind,))[0])
        assert tile is not None
        colour, form = name.split()
        assert [(shape(use), use.get("fill")) for use in tile.iter(f"{SVG}use")] == [
            ("blank", None),
            (form, PAINTS[colour]),
        ]
        assert [letter.text for letter in tile.iter(f"{SVG}text")] == [colour[0]]


def test_stars_have_as_many_points_as_they_should() -> None:
    picture = svg(SMALL_VIEW)

    corners = {}
    for name in SHAPES:
        drawn = part(picture, name)
        assert drawn is not None
        corners[name] = len(drawn.get("points", "").split())
    assert corners == {"star": 8, "8star": 16, "square": 0, "circle": 0, "clover": 0, "diamond": 4}


def test_the_last_placement_is_marked() -> None:
    picture = svg(SMALL_VIEW, before=make_view(parse_map(rm1="0 purple clover", r0="-1 red star, 0 red clover")))

    places = {point(use) for use in uses(picture, "tiles") if shape(use).endswith("8star")}
    assert {point(use) for use in uses(picture, "news")} == places
    assert [shape(use) for use in uses(picture, "news")] == ["last", "last"]


def test_nothing_is_marked_where_nothing_is_new() -> None:
    assert not uses(svg(SMALL_VIEW), "news")
    assert not uses(svg(SMALL_VIEW, before=SMALL_VIEW), "news")


def test_places_are_hinted_where_some_tile_fits_until_the_game_is_over() -> None:
    between = parse_map(r0="0 red star, 2 green 8star")

    assert len(uses(svg(make_view(between)), "places")) == 6  # of seven; nothing fits between the two
    assert not uses(svg(make_view(between, done=True)), "places")


def test_a_gap_is_a_tear_in_the_cloth() -> None:
    tears = part(svg(make_view(DISCONNECTED_MAP)), "tears")

    assert tears is not None
    assert len(list(tears)) == 3  # two of columns, one of rows
    assert max(size(svg(make_view(DISCONNECTED_MAP)))) < 1500
    assert {"0", "-4", str(-MAX_COORDINATE - 2)} <= {*said(svg(make_view(DISCONNECTED_MAP)))}


@pytest.mark.parametrize("steps", [0, 5, 30])
def test_a_hand_is_visible_to_its_seat_only(steps: int) -> None:
    state = play_random_steps(steps)

    for seat, hand in enumerate(state.hands):
        assert [shape(use) for use in uses(svg(GAME.view(state, seat)), "hands")] == called(hand)
    spectators = svg(GAME.view(state, None))
    assert part(spectators, "hands") is None
    assert {use.get("href") for use in ElementTree.fromstring(spectators).iter(f"{SVG}use")} <= {
        use.get("href") for use in ElementTree.fromstring(svg(make_view(state.map))).iter(f"{SVG}use")
    }


def test_referees_see_all_hands() -> None:
    state = play_random_steps(7, seats=4)

    drawn = uses(svg(GAME.view(state, None), ["Ann", "Ann"], hands=state.hands), "hands")

    assert [shape(use) for use in drawn] == [name for hand in state.hands for name in called(hand)]


@pytest.mark.parametrize("count", [1, 6, 7, 100])
def test_hands_of_all_sizes_stay_inside_the_picture(count: int) -> None:
    picture = svg(make_view(random_map(5), seat=1, hand=tuple(kind % 36 for kind in range(count))))

    points = [use.get("transform", "").removeprefix("translate(").split(")")[0] for use in uses(picture, "hands")]
    assert len({*points}) == count
    assert max(float(at.split()[0]) for at in points) + CELL / 2 < size(picture)[0]


def test_the_panel_names_all_players_with_status_and_score() -> None:
    lines = said(svg(SMALL_VIEW, ["Ann", "Bob", "Cyd", "Dee"]))

    for words in ("Ann", "104", "seat 0", "Bob", "12", "seat 1 · to act", "Cyd", "seat 2 · ejected", "Dee", "1"):
        assert words in lines


def test_a_player_without_a_name_is_called_by_its_seat() -> None:
    assert {"seat 0", "seat 1", "seat 3"} <= {*said(svg(SMALL_VIEW))}
    assert "seat 2" not in said(svg(SMALL_VIEW))  # ejected, and a view says nothing about it


def test_most_points_are_lit_at_the_end() -> None:
    root = ElementTree.fromstring(svg(make_view(random_map(9), done=True), ["Ann", "Bob", "Cyd"]))

    gold = [words.text for words in root.iter(f"{SVG}text") if words.get("fill") == GOLD]

    assert gold == ["seat 0 · most points", "seat 1 · most points"]


def test_the_scores_of_a_finished_game_are_still_seen() -> None:
    state = GAME.apply(GAME.apply(GAME.deal(2, bytes(32)), Pass()), Pass())

    view = GAME.view(state, None)

    assert view.done
    assert view.order == (0, 1)
    assert GAME.unpack(GAME.pack(view)) == view
    assert said(svg(view)).count("0") >= 2


@pytest.mark.parametrize(("done", "now"), [(False, "playing, 20 tiles left"), (True, "done, 20 tiles left")])
def test_the_stage_and_the_tiles_left_are_said(done: bool, now: str) -> None:
    spans = list(ElementTree.fromstring(svg(make_view(random_map(2), done=done))).iter(f"{SVG}tspan"))

    assert [span.text for span in spans if span.get("font-weight") == "bold"] == [now]
    assert len(spans) == 2


def test_a_game_that_all_players_have_left_is_drawn() -> None:
    state = play_random_steps(4)
    for seat in range(3):
        state = GAME.eject(state, seat, Moment.TURN)
    view = GAME.view(state, 0)

    assert [words for words in said(svg(view, ["Ann", "Bob", "Cyd"])) if "seat" in words] == [
        f"seat {seat} · ejected" for seat in range(3)
    ]
    assert text(view, ["Ann"]).endswith(" x  seat 0  Ann   ejected")


@pytest.mark.parametrize("steps", [0, 12])
def test_hostile_names_leave_the_picture_well_formed(steps: int) -> None:
    state = play_random_steps(steps, seats=4)
    picture = svg(GAME.view(state, 0), HOSTILE, hands=state.hands)

    root = ElementTree.fromstring(picture.encode())

    assert not list(root.iter(f"{SVG}script"))
    assert "&lt;/text&gt;" in picture


def test_names_of_any_length_fit() -> None:
    assert max(map(len, text(SMALL_VIEW, ["x" * 10_000]).splitlines())) < 90
    assert "x" * 30 not in svg(SMALL_VIEW, ["x" * 10_000])


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


def test_every_line_of_a_small_map_has_its_number() -> None:
    assert {str(column) for column in range(-5, 6)} <= {*said(svg(make_view(row_map(9))))}


def test_columns_are_numbered_more_sparsely_on_a_large_map() -> None:
    labels = Counter(said(svg(make_view(random_map(1000)))))

    assert labels["10"] == 2
    assert labels["11"] == 1  # a row


def test_the_picture_follows_the_map() -> None:
    wide, high = size(svg(make_view(row_map(50)))), size(svg(make_view(column_map(50))))

    assert wide[0] > 50 * CELL > wide[1]
    assert high[1] > 50 * CELL > high[0]


def test_small_tiles_have_the_letter_upon_their_shape_as_long_as_there_is_room() -> None:
    def letters(shown: Map) -> set[str | None]:
        root = ElementTree.fromstring(svg(make_view(shown), small=True))
        kinds = [shape for shape in root.iter() if shape.get("id", "").partition("-")[2] in called(range(36))]
        return {letter.text for kind in kinds for letter in kind.iter(f"{SVG}text")}

    assert letters(map_of([((0, kind), kind) for kind in range(6)])) == {colour[0] for colour in COLOURS}
    assert letters(random_map(1000)) == set()
