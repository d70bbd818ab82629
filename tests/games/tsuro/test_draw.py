"""Test the pictures of Tsuro."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from fairplay.core.game import Moment, Seat
from fairplay.games.tsuro import Stage, Table, Tsuro, View
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.draw import svg
from fairplay.games.tsuro.pieces import EXITS, PORTS
from fairplay.games.tsuro.roster import LOOKS
from fairplay.games.tsuro.shapes import PATTERNS
from fairplay.games.tsuro.state import STILL_IN, encode_ejection_round
from fairplay.games.tsuro.terminal import text
from fairplay.games.tsuro.ways import way_of
from tests.games.tsuro.pictures import (
    CORNERS,
    HOSTILE,
    MEETING_AVATARS,
    SMALL,
    STRAIGHT_ROW,
    AvatarPosition,
    make_spectator_view,
    make_view,
    play_random_steps,
    small_match_state,
)
from tests.nonempty import nonempty

SVG = "{http://www.w3.org/2000/svg}"
SIDE = 60


def group(picture: str, name: str) -> ElementTree.Element:
    return next(part for part in ElementTree.fromstring(picture).iter() if part.get("id", "").partition("-")[2] == name)


def uses(picture: str, name: str) -> list[ElementTree.Element]:
    return list(group(picture, name).iter(f"{SVG}use"))


def shape(use: ElementTree.Element) -> str:
    return use.get("href", "").partition("-")[2]


def square(use: ElementTree.Element) -> tuple[int, int]:
    return int(float(use.get("x", ""))) // SIDE, int(float(use.get("y", ""))) // SIDE


def trail(picture: str, colour: str) -> list[tuple[int, int]]:
    """The squares on which a way is drawn in this colour."""
    broad = [use for use in uses(picture, "ways") if use.get("stroke-width") == "7"]
    return [square(use) for use in broad if use.get("stroke") == LOOKS[colour].paint]


def walked(table: Table, seat: Seat) -> list[tuple[int, int]]:
    return [table.grid.squares[step.exit >> 3] for step in way_of(table, seat)]


def said(picture: str) -> list[str]:
    return ["".join(words.itertext()) for words in ElementTree.fromstring(picture).iter(f"{SVG}text")]


@pytest.mark.parametrize("steps", [0, 3, 20, 999])
def test_every_tile_is_drawn_where_it_lies_with_its_four_paths(steps: int) -> None:
    table = play_random_steps(steps).table
    lying = {table.grid.squares[at]: code for at, code in enumerate(table.board) if code != EMPTY}

    picture = svg(make_view(play_random_steps(steps)))

    drawn = {square(use): [*map(shape, uses(picture, shape(use)))] for use in uses(picture, "tiles")}
    assert len(uses(picture, "tiles")) == len(drawn)
    assert drawn.keys() == lying.keys()
    for at, code in lying.items():
        pairs = {PORTS[port] + PORTS[EXITS[8 * code + port]] for port in range(8)}
        assert drawn[at] == ["sheet", *sorted(pair for pair in pairs if pair[0] < pair[1])]


def test_paths_lead_from_port_to_port_at_the_thirds_of_the_sides() -> None:
    picture = svg(make_view(play_random_steps(3)))
    ports = dict(zip(PORTS, [(20, 0), (40, 0), (60, 20), (60, 40), (40, 60), (20, 60), (0, 40), (0, 20)], strict=True))

    for one, other in nonempty((one, other) for one in PORTS for other in PORTS if one < other):
        numbers = [float(found) for found in re.findall(r"[-\d.]+", group(picture, one + other).get("d", ""))]
        assert (numbers[0], numbers[1]) == pytest.approx(ports[one], abs=0.5)
        assert (numbers[-2], numbers[-1]) == pytest.approx(ports[other], abs=0.5)


@pytest.mark.parametrize("steps", [0, 2, 5, 30, 999])
def test_every_avatar_is_on_the_board_and_no_other(steps: int) -> None:
    state = play_random_steps(steps, seats=5)
    view, table = make_view(state), state.table
    playing = [seat for seat, avatar in enumerate(table.avatars) if avatar != OUT]

    letters = re.findall("[WKRGB]", text(view).partition("Small letters")[0])

    assert [shape(use) for use in uses(svg(view), "avatars")] == [
        f"stone{LOOKS[table.colours[seat]].letter}" for seat in reversed(playing)
    ]
    assert len(letters) == len(playing)


def test_avatars_on_the_same_port_stand_behind_each_other() -> None:
    both = AvatarPosition((0, 0, "C"), (2, 0, "C"))
    view = make_spectator_view(STRAIGHT_ROW, both, both, AvatarPosition((1, 0, "F"), (1, 0, "F")))

    points = [use.get("transform", "") for use in uses(svg(view), "avatars")]

    assert len(set(points)) == 3
    assert "*→" in text(view)


def test_nothing_is_said_about_the_way_to_where_no_path_leads() -> None:
    view = make_spectator_view(STRAIGHT_ROW, AvatarPosition((0, 0, "E"), (2, 0, "C")))

    assert trail(svg(view), "white") == []
    assert len(uses(svg(view), "avatars")) == 1


@pytest.mark.parametrize("lot", range(1, 6))
@pytest.mark.parametrize("steps", [4, 25, 999])
def test_a_way_leads_from_the_start_to_where_the_avatar_stands(steps: int, lot: int) -> None:
    state = play_random_steps(steps, lot=lot)
    table, picture = state.table, svg(make_view(state))

    for seat, colour in nonempty(enumerate(table.colours)):
        way = way_of(table, seat)
        assert {*trail(picture, colour)} == {*walked(table, seat)}
        assert len(trail(picture, colour)) == len({frozenset(step) for step in way})
        if table.avatars[seat] != OUT:
            assert (way[-1].exit if way else table.starts[seat]) == table.avatars[seat]


def test_a_way_passes_the_squares_it_should() -> None:
    picture = svg(MEETING_AVATARS)

    assert trail(picture, "white") == [(1, 0), (2, 0)]
    assert trail(picture, "black") == [(1, 0), (0, 0)]
    assert trail(picture, "red") == []


def test_ways_along_the_same_path_take_turns_to_be_seen() -> None:
    shared = [use for use in uses(svg(MEETING_AVATARS), "ways") if square(use) == (1, 0)]

    assert [use.get("stroke-dasharray") for use in shared] == [None, "7.0 7.0", "7.0 7.0"]
    assert [use.get("stroke-dashoffset") for use in shared] == [None, "0", "-7"]
    assert [shape(use) for use in shared] == ["CH"] * 3
    assert "──┼k┼─w──┼*┼──k─┼w┼─W→" in text(MEETING_AVATARS)


def test_who_was_led_off_has_a_cross_where_that_was() -> None:
    marks = uses(svg(MEETING_AVATARS), "marks")

    ends = [(mark.get("x"), mark.get("y"), mark.get("color")) for mark in marks if shape(mark) == "end"]
    assert ends == [("0", "20", LOOKS["black"].paint)]


def test_who_was_led_off_by_the_same_path_has_a_cross_of_its_own() -> None:
    both = AvatarPosition((2, 0, "H"), None, fell=1)
    view = make_spectator_view(STRAIGHT_ROW, both, both, AvatarPosition((1, 0, "F"), (1, 0, "F")))

    ends = [(mark.get("x"), mark.get("y")) for mark in uses(svg(view), "marks") if shape(mark) == "end"]

    assert ends == [("0", "20"), ("15", "20")]


def test_starts_are_marked_once_the_avatars_have_left_them() -> None:
    marks = uses(svg(MEETING_AVATARS), "marks")

    starts = [(mark.get("x"), mark.get("y"), mark.get("fill")) for mark in marks if shape(mark) == "start"]
    assert starts == [("60", "20", LOOKS["white"].paint), ("120", "20", LOOKS["black"].paint)]


def test_a_path_that_closes_behind_the_fallen_is_drawn_once_round() -> None:
    tiles = dict.fromkeys([(0, 0), (1, 0), (1, 1), (0, 1)], CORNERS)
    picture = svg(make_spectator_view(tiles, AvatarPosition((0, 0, "D"), None, fell=1), stage=Stage.DONE))

    assert sorted(trail(picture, "white")) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_the_ejected_have_neither_avatar_nor_way() -> None:
    state = SMALL.eject(small_match_state(), 1, Moment.TURN)

    picture, shown = svg(make_view(state)), text(make_view(state))

    assert trail(picture, "black") == []
    assert len(uses(picture, "avatars")) == 2
    assert "←" not in shown
    assert "ejected" in said(picture)
    assert " K  black  black                               ejected" in shown.splitlines()


def test_the_square_before_the_avatar_on_turn_is_marked() -> None:
    picture = svg(make_view(small_match_state()))

    (frame,) = group(picture, "ahead").iter(f"{SVG}rect")
    assert (frame.get("x"), frame.get("y")) == ("124", "4")
    assert text(make_view(small_match_state())).splitlines()[3].index("▒") == text(
        make_view(small_match_state())
    ).splitlines()[0].index("2")


@pytest.mark.parametrize("steps", [0, 3, 999])
def test_before_and_after_the_turns_no_square_is_marked(steps: int) -> None:
    view = make_view(play_random_steps(steps))

    assert 'id="ahead"' not in svg(view)
    assert "▒" not in text(view)


@pytest.mark.parametrize("steps", [0, 2, 4, 20])
def test_only_the_player_on_turn_sees_the_dealt_tiles(steps: int) -> None:
    state = play_random_steps(steps)
    turn = state.table.waiting[0]
    mine = make_view(state, turn)

    assert "dealt to" in said(svg(mine))
    assert said(svg(mine, ["Ann", "Bob", "Cyd", "Dee"])).count(["Ann", "Bob", "Cyd", "Dee"][turn]) == 2, "and to whom"
    assert {str(tile) for tile in mine.dealt} <= {*said(svg(mine))}
    assert re.findall(r"(\d+) +A B", text(mine).split("dealt")[1]) == [str(tile) for tile in mine.dealt]
    for other in (None, *(seat for seat in range(4) if seat != turn)):
        assert svg(make_view(state, other)) == svg(make_view(state))
        assert "dealt to" not in said(svg(make_view(state, other)))
        assert "dealt" not in text(make_view(state, other))


def test_the_panel_of_the_picture_names_all_players_with_status() -> None:
    lines = said(svg(make_view(small_match_state()), ["Ann", "Bob"]))

    for words in ("Ann", "white · to lay", "Bob", "black", "red"):
        assert words in lines


def test_the_player_that_has_to_place_a_tile_is_marked() -> None:
    view = make_view(play_random_steps(1))

    assert [line.endswith("to place") for line in text(view).splitlines()[-4:]] == [False, True, False, False]
    assert "to place" in said(svg(view))


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

    assert [span.text for span in spans if span.get("font-weight") == "bold"] == [now]
    assert len(spans) == len(Stage)
    assert now in text(view).splitlines()


def test_hostile_names_leave_the_picture_well_formed() -> None:
    picture = svg(make_view(play_random_steps(15, seats=5)), HOSTILE)

    root = ElementTree.fromstring(picture.encode())

    assert not list(root.iter(f"{SVG}script"))
    assert "&lt;/text&gt;" in picture


def test_names_of_any_length_fit() -> None:
    view = make_view(play_random_steps(15), 3)

    assert max(map(len, text(view, ["x" * 10_000]).splitlines())) < 90
    assert "x" * 30 not in svg(view, ["x" * 10_000])


@pytest.mark.parametrize(("seats", "size"), [(3, 3), (4, 3), (5, 4), (3, 30), (5, 30)])
def test_boards_of_all_sizes_are_drawn(seats: int, size: int) -> None:
    state = play_random_steps(40, seats=seats, size=size)
    view = make_view(state)

    assert len(uses(svg(view), "tiles")) == sum(code != EMPTY for code in state.table.board)
    assert len(text(view).splitlines()) == size * 4 + 7 + seats
    assert sum(fell == STILL_IN for fell in state.table.fell) == len(uses(svg(view), "avatars"))


def test_the_tile_that_was_laid_is_marked_and_how_far_it_has_led() -> None:
    shorter = {at: tile for at, tile in STRAIGHT_ROW.items() if at != (2, 0)}
    before = make_spectator_view(
        shorter, AvatarPosition((0, 0, "C"), (1, 0, "C")), AvatarPosition((1, 0, "F"), (1, 0, "F"))
    )
    after = make_spectator_view(
        STRAIGHT_ROW, AvatarPosition((0, 0, "C"), (2, 0, "C")), AvatarPosition((1, 0, "F"), (1, 0, "F"))
    )

    new = [(shape(use), square(use)) for use in uses(svg(after, before=before), "news")]

    assert new == [("last", (2, 0)), ("CH", (2, 0))]


def test_the_way_of_who_is_led_off_is_marked_too() -> None:
    standing = AvatarPosition((1, 0, "F"), (1, 0, "F"))
    shorter = {at: tile for at, tile in STRAIGHT_ROW.items() if at != (0, 0)}
    before = make_spectator_view(shorter, AvatarPosition((2, 0, "H"), (1, 0, "H")), standing)
    after = make_spectator_view(STRAIGHT_ROW, AvatarPosition((2, 0, "H"), None, fell=1), standing)

    new = [(shape(use), square(use)) for use in uses(svg(after, before=before), "news")]

    assert new == [("last", (0, 0)), ("CH", (0, 0))]


def test_nothing_is_marked_where_nothing_is_new() -> None:
    state = SMALL.eject(small_match_state(), 1, Moment.TURN)

    assert not uses(svg(make_view(small_match_state())), "news")
    assert not uses(svg(make_view(small_match_state()), before=make_view(small_match_state())), "news")
    assert not uses(svg(make_view(state), before=make_view(small_match_state())), "news")


def test_ways_are_told_apart_without_colour() -> None:
    picture = svg(make_view(play_random_steps(34, seats=5, lot=7)))
    patterns = [{key: use.get(key) for key in ("stroke-dasharray", "stroke-linecap")} for use in uses(picture, "ways")]

    assert len({str(pattern) for pattern in PATTERNS.values()}) == len(PATTERNS) == len(LOOKS) - 1
    assert len({str(pattern) for pattern in patterns}) > 3


@pytest.mark.parametrize("lot", range(1, 6))
def test_every_avatar_has_a_letter_on_every_path_of_its_way(lot: int) -> None:
    state = play_random_steps(30, seats=5, lot=lot)
    table = state.table
    expected = Counter(
        f"bead{LOOKS[table.colours[seat]].letter}"
        for seat in range(5)
        for _ in {frozenset(step) for step in way_of(table, seat)}
    )

    assert Counter(map(shape, uses(svg(make_view(state)), "beads"))) == expected
    assert expected


def test_the_ports_have_letters_where_they_stand() -> None:
    placing, laying = play_random_steps(2), play_random_steps(9)

    def ports(view: View, *, small: bool = False) -> str:
        return "".join(words for words in said(svg(view, small=small)) if words in PORTS and len(words) == 1)

    assert PORTS in ports(make_view(placing))
    assert PORTS in ports(make_view(laying))
    assert PORTS in ports(Tsuro().view(laying, laying.table.waiting[0]))
    assert PORTS not in ports(make_view(laying), small=True)


def test_the_player_on_turn_sees_the_dealt_tiles_with_their_numbers() -> None:
    state = play_random_steps(9)
    mine = svg(Tsuro().view(state, state.table.waiting[0]))

    tray = group(mine, "tray")

    assert [shape(use) for use in tray.iter(f"{SVG}use")] == ["sheet", *(f"tile{4 * tile}" for tile in state.dealt)]
    assert [words.text for words in tray.iter(f"{SVG}text")][-2:] == [*map(str, state.dealt)]
    assert [shape(use) for use in group(svg(make_view(state)), "tray").iter(f"{SVG}use")] == ["sheet"]


@pytest.mark.parametrize("small", [False, True])
def test_dealt_tiles_stay_inside_of_the_smallest_picture(small: bool) -> None:
    game = Tsuro(size=4)
    state = game.deal(3, bytes(32))
    picture = svg(game.view(state, 0), small=small)

    tiles = [float(use.get("x", "")) + SIDE for use in uses(picture, "tray") if shape(use) != "sheet"]
    assert len(tiles) == 3
    assert max(tiles) < (300 if small else float(ElementTree.fromstring(picture).get("width", "")))
