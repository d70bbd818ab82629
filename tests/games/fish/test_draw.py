"""Test pictures of Fish, as SVG and as text."""

import random
import re
from collections import Counter
from functools import cache
from xml.etree import ElementTree

import pytest

from fairplay.core.game import Moment
from fairplay.games.fish.draw import svg
from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import Stage, state_of
from fairplay.games.fish.terminal import text
from fairplay.games.fish.view import View

SVG = "{http://www.w3.org/2000/svg}"
SEED = bytes(range(32))
HOSTILE = (
    "</text><script>alert(1)</script>",
    "\x00\x1b]0;title\x07\x1b[31m\x9b2J",
    "\"'&\ud800\uffff\u202eevil",
    "a\nb\tc",
)

SMALL = View(
    None,
    state_of(
        [[3, 2, 0], [1, 5, 4], [2, 0, 3]],
        [[(0, 1)], [(1, 2)], [], [(2, 0)]],
        scores=[7, 12, 3, 104],
        order=[3, 0, 1],
    ),
)
SMALL_TEXT = r"""
    0   0   1   1   2   2
   ___     ___
0 / 3 \___/R 2\___     ___
1 \___/ 1 \___/ 5 \___/W 4\
2 /K 2\___/   \___/ 3 \___/
  \___/           \___/

 R  red    Ann      7 fish
 W  white  Bob     12 fish
 B  brown  brown    3 fish  ejected
 K  black  Dee    104 fish  to move
"""


def after(steps: int, *, seats: int = 3, game: Fish | None = None) -> View:
    game = game or Fish(rows=6, columns=6)
    state, lots = game.deal(seats, SEED), random.Random(1)
    for _ in range(steps):
        seat = game.turn(state)
        if seat is None:
            break
        state = game.apply(state, lots.choice(list(game.actions(game.view(state, seat)))))
    return game.view(state, None)


def fish_on_board(view: View) -> int:
    return sum(view.state.fish_at(cell) for cell in range(len(view.state.grid.positions)))


def shapes(picture: str) -> Counter[str]:
    """How often each shape is on the board, those within other shapes included."""
    root = ElementTree.fromstring(picture)
    defined = {shape.get("id", "").partition("-")[2]: shape for shape in root.iter() if shape.get("id")}

    @cache
    def within(name: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for use in defined[name].iter(f"{SVG}use"):
            inner = use.get("href", "").partition("-")[2]
            found.update({inner: 1})
            found.update(within(inner))
        return found

    return within("board")


def texts(picture: str) -> list[str]:
    return ["".join(words.itertext()) for words in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def plain(coloured: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", coloured)


def test_a_small_position_is_drawn_as_text() -> None:
    assert text(SMALL, ["Ann", "Bob", "", "Dee"]) == SMALL_TEXT.strip("\n")


@pytest.mark.parametrize("steps", [0, 5, 20, 999])
def test_there_are_as_many_fish_shapes_as_fish_on_the_board(steps: int) -> None:
    view = after(steps)

    assert shapes(svg(view))["fish"] == fish_on_board(view)


def test_every_penguin_stands_on_the_board() -> None:
    view = after(12)

    assert shapes(svg(view))["bird"] == 9
    assert sum(len(re.findall("[RWB] [1-5]", line)) for line in text(view).split("\n\n")[0].splitlines()) == 9


def test_a_hole_shows_no_fish() -> None:
    view = View(None, state_of([[0]], []))

    assert shapes(svg(view)) == {"water": 1}
    assert text(view) == "    0\n\n0"


def test_the_tile_below_is_two_rows_further() -> None:
    root = ElementTree.fromstring(svg(View(None, state_of([[1], [1], [1]], []))))

    tiles = [use for use in root.iter(f"{SVG}use") if use.get("href", "").endswith("-free1")]

    assert [(tile.get("x"), tile.get("y")) for tile in tiles] == [("0", "0"), ("60", "34.64"), ("0", "69.28")]


def test_the_panel_of_the_picture_names_all_players_with_status_and_score() -> None:
    lines = texts(svg(SMALL, ["Ann", "Bob", "", "Dee"]))

    for words in ("Ann", "7", "Bob", "12", "brown", "ejected", "Dee", "black · to move", "104"):
        assert words in lines


def test_a_player_without_a_name_is_called_by_its_colour() -> None:
    lines = texts(svg(SMALL, ["Ann"]))

    assert "white" in lines
    assert " W  white  white   12 fish" in text(SMALL, ["Ann"]).splitlines()


def test_the_player_that_has_to_place_a_penguin_is_marked() -> None:
    view = after(1)

    assert [line.endswith("to place") for line in text(view).splitlines()[-3:]] == [False, True, False]
    assert "to place" in texts(svg(view))


def test_the_player_with_most_fish_is_marked_at_the_end_even_if_an_ejected_one_has_more() -> None:
    state = state_of([[1, 2]], [(), (), ()], scores=[5, 9, 5], order=[0, 2])

    lines = text(View(None, state)).splitlines()

    assert state.stage is Stage.DONE
    assert [line.split("fish", 1)[1].strip() for line in lines[-3:]] == ["most fish", "ejected", "most fish"]


@pytest.mark.parametrize("stage", list(Stage))
def test_the_stage_is_emphasised(stage: Stage) -> None:
    view = after({Stage.PLACING: 3, Stage.PLAYING: 12, Stage.DONE: 999}[stage])

    spans = list(ElementTree.fromstring(svg(view)).iter(f"{SVG}tspan"))

    assert [span.text for span in spans] == ["placing", "playing", "done"]
    assert [span.text for span in spans if span.get("font-weight") == "bold"] == [stage.value]


def test_hostile_names_leave_the_picture_well_formed() -> None:
    picture = svg(after(15, seats=4), HOSTILE)

    root = ElementTree.fromstring(picture.encode())

    assert not list(root.iter(f"{SVG}script"))
    assert "&lt;/text&gt;" in picture


def test_hostile_names_send_no_control_codes_to_the_terminal() -> None:
    drawing = text(after(15, seats=4), HOSTILE)

    assert all(sign.isprintable() for sign in drawing.replace("\n", ""))
    assert len(drawing.splitlines()) == len(text(after(15, seats=4)).splitlines())


def test_names_of_any_length_fit() -> None:
    lines = text(SMALL, ["x" * 10_000]).splitlines()

    assert max(map(len, lines)) < 60
    assert "x" * 30 not in svg(SMALL, ["x" * 10_000])


def test_wide_letters_keep_the_scores_aligned() -> None:
    first, second, *_ = text(SMALL, ["漢字", "abcd"]).splitlines()[-4:]

    assert first.index("fish") == second.index("fish") - 2  # two letters, each as wide as two


def test_a_colour_that_fish_does_not_know_is_drawn_too() -> None:
    view = View(None, state_of([[1, 2]], [[(0, 0)]], colours=["<pink>\x1b"]))

    assert shapes(svg(view))["penguin"] == shapes(svg(view))["bird"] == 1
    assert "/? 1\\" in text(view)


@pytest.mark.parametrize("steps", [0, 7, 20, 999])
def test_colour_adds_nothing_but_colour(steps: int) -> None:
    view = after(steps, seats=4)

    assert plain(text(view, HOSTILE, colour=True)) == text(view, HOSTILE)
    assert text(view, HOSTILE, colour=True) != text(view, HOSTILE)


@pytest.mark.parametrize("steps", [0, 7, 20, 999])
def test_no_line_ends_in_blanks(steps: int) -> None:
    lines = text(after(steps), colour=True).splitlines()

    assert lines == [line.rstrip() for line in lines]


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("size", [(1, 1), (1, 5), (5, 1), (100, 100)])
def test_boards_of_all_sizes_are_drawn(seats: int, size: tuple[int, int]) -> None:
    rows, columns = size
    steps = min(4, rows * columns)
    view = after(steps, seats=seats, game=Fish(rows=rows, columns=columns, cramped=True))

    tiles = [int(name[-1]) for name in shapes(svg(view)).elements() if name.startswith(("free", "taken"))]
    assert sum(tiles) == fish_on_board(view)
    assert len(text(view).splitlines()) == view.state.grid.rows + 4 + seats


@pytest.mark.parametrize("seats", [0, 1])
def test_a_board_with_no_or_one_player_is_drawn(seats: int) -> None:
    view = View(None, state_of([[1, 2], [3, 4]], [()] * seats))

    assert shapes(svg(view))["fish"] == 10
    assert text(view).count("\n") == 4 + 2 * seats


def test_every_seat_sees_what_spectators_see() -> None:
    spectators = after(12)
    seat = View(1, spectators.state)

    assert svg(seat) == svg(spectators)
    assert text(seat) == text(spectators)


def test_the_penguins_of_the_ejected_are_gone_from_the_picture() -> None:
    game = Fish(rows=6, columns=6)
    state = game.eject(after(12).state, 1, Moment.TURN)

    assert shapes(svg(game.view(state, None)))["bird"] == 6
    assert not re.search("W [1-5]", text(game.view(state, None)))


def marks(picture: str) -> list[tuple[str, str]]:
    """What is marked as new, and where: shapes by their names, lines by their course."""
    root = ElementTree.fromstring(picture)
    group = next(part for part in root.iter() if part.get("id", "").endswith("-news"))
    return [
        (part.get("href", "").partition("-")[2] or "line", part.get("d") or f"{part.get('x')} {part.get('y')}")
        for part in group
    ]


def test_a_penguin_that_was_placed_is_marked() -> None:
    before = View(None, state_of([[1, 2, 3]], [[(0, 1)], []], stage=Stage.PLACING, each=1, order=[1, 0]))
    after = View(None, state_of([[1, 2, 3]], [[(0, 1)], [(0, 2)]]))

    assert marks(svg(after, before=before)) == [("last", "240 0")]


def test_a_move_is_marked_from_where_it_began_to_where_it_ended() -> None:
    before = View(None, state_of([[1], [2], [3]], [[(0, 0)]]))
    after = View(None, state_of([[0], [2], [3]], [[(2, 0)]]))

    assert marks(svg(after, before=before)) == [
        ("line", "M0.00 0.00l0.00 34.64"),  # to the edge of the tile
        ("line", "M0.00 0.00l0.00 34.64"),
        ("left", "0 0"),
        ("last", "0 69.28"),
    ]


@pytest.mark.parametrize("columns", [3, 8])
def test_a_penguin_in_the_first_row_reaches_no_label(columns: int) -> None:
    game = Fish(rows=4, columns=columns)
    root = ElementTree.fromstring(svg(game.view(game.deal(2, bytes(32)), None)))

    bird = next(part for part in root.iter() if part.get("id", "").endswith("-bird"))
    assert bird.get("transform") == "translate(0 -6)"
    head = -33 - 1 - 6  # where its outline begins
    board = next(part for part in root.iter() if part.get("id", "").endswith("-board"))
    downs = [float(words.get("y", "")) for words in board.iter(f"{SVG}text") if not words.get("text-anchor")]
    assert max(downs) < head


def test_nothing_is_marked_where_nothing_is_new() -> None:
    game = Fish(rows=6, columns=6)
    out = game.view(game.eject(after(12).state, 1, Moment.TURN), None)

    assert marks(svg(after(12), before=after(12))) == []
    assert marks(svg(out, before=after(12))) == []
    assert marks(svg(after(12), before=after(11))) != []


@pytest.mark.parametrize("size", [(4, 4), (20, 40)])
@pytest.mark.parametrize("small", [False, True])
def test_every_penguin_carries_the_letter_of_its_colour(size: tuple[int, int], small: bool) -> None:
    rows, columns = size
    view = after(4, seats=4, game=Fish(rows=rows, columns=columns, cramped=True))
    root = ElementTree.fromstring(svg(view, small=small))
    shapes = {shape.get("id", "").partition("-")[2]: shape for shape in root.iter()}

    carried = [[words.text for words in shapes[f"penguin{letter}"].iter(f"{SVG}text")] for letter in "RWBK"]

    standing = [use.get("href", "").partition("-")[2] for use in shapes["penguins"]]
    assert carried == [["R"], ["W"], ["B"], ["K"]]
    assert sorted(standing) == ["penguinB", "penguinK", "penguinR", "penguinW"]


def test_large_boards_have_digits_instead_of_fish_and_huge_ones_only_shades() -> None:
    def tile(size: int, *, small: bool) -> tuple[list[str | None], int]:
        picture = svg(after(0, game=Fish(rows=4, columns=size)), small=small)
        root = ElementTree.fromstring(picture)
        shape = next(shape for shape in root.iter() if shape.get("id", "").endswith("-free3"))
        return [words.text for words in shape.iter(f"{SVG}text")], len(list(shape.iter(f"{SVG}use")))

    assert [tile(columns, small=False) for columns in (8, 40, 80)] == [([], 4), (["3"], 0), ([], 0)]
    assert [tile(columns, small=True) for columns in (3, 8, 40)] == [([], 4), (["3"], 0), ([], 0)]
