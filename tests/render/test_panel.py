"""Test the frame of a picture, with its header, cards and tray around the board; and the list of players as text."""

import re
from xml.etree import ElementTree

import pytest

from fairplay.render.font_metrics import text_width
from fairplay.render.panel import (
    CARD_WIDTHS,
    EDGE,
    GAP,
    HEADER,
    LINE,
    NO_TRAY,
    PANEL,
    SLIM_EDGE,
    Board,
    Header,
    Skin,
    Tray,
    picture,
)
from fairplay.render.roster import MAX_ROSTER_NAME_CHARS, Look, Player, roster, seat_name
from fairplay.render.svg import circle
from tests.render.reading import SVG

RED = Look("R", "97;41", "#f00")
ANN = Player(RED, "red", "Ann", "to move", lit=True, facts="   7 fish", score="7")
BOB = Player(RED, "<pink>", "", "ejected", out=True, facts="  12 fish", score="12")


def test_names_are_cut_and_cleaned_and_a_player_without_one_is_called_by_its_colour() -> None:
    name = seat_name(["\x1b[2J" + "x" * 100], 0)

    assert (len(name), name.isprintable()) == (MAX_ROSTER_NAME_CHARS, True)
    assert [seat_name(["Ann", " ", ""], seat) for seat in range(4)] == ["Ann", "", "", ""]
    assert Player(RED, "red", "").display_name == "red"


def test_a_line_says_who_what_and_how_it_stands() -> None:
    assert [*roster([ANN, BOB], colour=False)] == [
        " R  red    Ann       7 fish  to move",
        " R  <pink>  <pink>   12 fish  ejected",
    ]
    assert next(roster([ANN, BOB], colour=True)) == "\x1b[97;41m R \x1b[0m red    Ann       7 fish  to move"


def test_marks_stay_aligned_whatever_letters_and_facts_there_are() -> None:
    wide = Player(RED, "red", "漢字", "here", facts="a")
    first, second = roster([wide, Player(RED, "red", "abcd", "here", facts="abc")], colour=False)

    assert first.index("here") == second.index("here") - 2  # two letters, each as wide as two
    assert not [*roster([], colour=False)]


SKIN = Skin(
    "#000000", panel="#111111", card="#222222", lit="#333333", letters="#ffffff", pale="#eeeeee", gold="#ffcc00"
)


def drawn(
    *players: Player,
    width: float = 600.0,
    tray: Tray = NO_TRAY,
    stages: tuple[str, ...] = ("now", "then"),
    small: bool = False,
) -> ElementTree.Element:
    whole = picture(
        Board([circle(0, 0, 5)], width, 300.0, origin=(10.0, 20.0)),
        players,
        [[circle(0, 0, 40)]] * len(players),
        header=Header(circle(30, 24, 10), "Toy", stages, 0),
        skin=SKIN,
        definitions=[circle(0, 0, 1, id="coin")],
        label="<a toy>",
        ids="toy",
        unit="coin",
        tray=tray,
        small=small,
    )
    return ElementTree.fromstring(whole)


def said(root: ElementTree.Element) -> list[str]:
    return ["".join(words.itertext()) for words in root.iter(f"{SVG}text")]


def cards(root: ElementTree.Element) -> list[tuple[float, float]]:
    """The upper left corners of the cards, within the panel."""
    groups = [part for part in root.iter(f"{SVG}g") if part.find(f"{SVG}svg") is not None]
    numbers = [re.findall(r"[-\d.]+", part.get("transform", "")) for part in groups]
    return [(float(x), float(y)) for x, y in numbers]


def test_a_card_says_who_it_is_and_how_it_stands() -> None:
    lines = said(drawn(ANN, BOB))

    assert lines == ["Toy", "now · then", "Ann", "red · to move", "7", "<pink>", "ejected", "12"]
    assert [use.get("href") for use in drawn(ANN, BOB).iter(f"{SVG}use")] == ["#toy-coin"] * 2
    assert not list(drawn(Player(RED, "red", "Ann", "to move")).iter(f"{SVG}use"))  # no score has no unit
    assert "a < b · c & d" in said(drawn(ANN, stages=("a < b", "c & d")))
    bold = [span.text for span in drawn(ANN).iter(f"{SVG}tspan") if span.get("font-weight") == "bold"]
    assert bold == ["now"]


def test_where_the_card_is_too_narrow_the_colour_is_left_to_the_figure() -> None:
    player = Player(RED, "vermilion", "Ann", "out in round 11")

    assert "vermilion · out in round 11" in said(drawn(player))
    assert "out in round 11" in said(drawn(*[player] * 2, width=100.0))


def test_a_player_that_is_out_is_struck_out_and_a_lit_one_has_a_frame() -> None:
    root = drawn(ANN, BOB)

    assert [words.text for words in root.iter(f"{SVG}text") if words.get("text-decoration")] == ["<pink>"]
    assert [box.get("stroke") for box in root.iter(f"{SVG}rect") if box.get("stroke")] == ["url(#toy-gold)"]


@pytest.mark.parametrize("count", range(1, 7))
@pytest.mark.parametrize("width", [50.0, 700.0, 4000.0])
def test_cards_never_overlap_and_stay_inside(count: int, width: float) -> None:
    root = drawn(*[ANN] * count, width=width)
    scale = max(1.0, float(root.get("width", "")) / PANEL)

    corners = cards(root)

    assert len(set(corners)) == count
    for x, y in corners:
        assert x >= GAP - 0.01
        assert x + CARD_WIDTHS[0] <= float(root.get("width", "")) / scale
        assert all(abs(x - other) >= CARD_WIDTHS[0] for other, line in corners if line == y and other != x)


def test_the_tray_lies_above_the_cards_and_both_below_the_board() -> None:
    bare, laid = drawn(ANN), drawn(ANN, tray=Tray([circle(9, 9, 9, id="laid")], 70.0))
    board = next(part for part in bare.iter() if part.get("id") == "toy-board")

    assert board.get("transform") == f"translate({EDGE + 10:.2f} {HEADER + EDGE / 2 + 20:.2f})"
    assert float(drawn().get("height", "")) == HEADER + 300 + EDGE
    assert float(laid.get("height", "")) == float(bare.get("height", "")) + 70
    assert cards(laid)[0][1] == cards(bare)[0][1] + 70
    assert [part for part in laid.iter() if part.get("id") == "toy-laid"]


@pytest.mark.parametrize("name", ["W" * 24, "漢字" * 12, "🐧" * 24, "Bartholomew the Great of"])
@pytest.mark.parametrize("small", [False, True])
def test_a_name_without_room_ends_in_an_ellipsis(name: str, small: bool) -> None:
    root = drawn(Player(RED, "red", name, "out in round 11", score="1234"), small=small, width=300.0)
    window = next(part for part in root.iter(f"{SVG}svg") if part is not root)
    words = window[0]

    shown = words.text or ""
    assert shown.endswith("…")
    assert name.startswith(shown.rstrip("…"))
    assert text_width(shown) * float(words.get("font-size", "")) <= float(window.get("width", "")) + 0.01
    assert len(shown) > 3
    assert "WWWWWW" in said(drawn(Player(RED, "red", "WWWWWW"), small=small))


def test_wide_letters_are_measured_wider_than_any_font_has_them() -> None:
    assert text_width("W") >= 1.11  # as in DejaVu Sans Bold, which is among the widest
    assert text_width("漢") >= 1.0
    assert text_width("🐧") >= 1.28  # Noto Color Emoji
    assert text_width("e\u0301") == text_width("e") >= 0.68


@pytest.mark.parametrize("count", range(7))
def test_a_small_picture_has_a_line_for_each_player(count: int) -> None:
    root = drawn(*[ANN] * count, small=True)

    downs = [y for _, y in cards(root)]
    assert downs == [SLIM_EDGE + place * LINE for place in range(count)]
    assert root.get("width") == "300"
