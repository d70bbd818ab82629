"""Test the list of players, and its lines on a terminal."""

from fairplay.render.roster import MAX_ROSTER_NAME_CHARS, Look, Player, roster, seat_name

RED = Look("R", "97;41", "#f00")
ANN = Player(RED, "red", "Ann", "to move", lit=True, facts="   7 fish", score="7")
BOB = Player(RED, "<pink>", "", "ejected", out=True, facts="  12 fish", score="12")


def test_a_player_without_a_name_has_none() -> None:
    assert [seat_name(["Ann", " ", ""], seat) for seat in range(4)] == ["Ann", "", "", ""]
    assert Player(RED, "red", "").display_name == "red"


def test_names_are_cut_and_cleaned() -> None:
    name = seat_name(["\x1b[2J" + "x" * 100], 0)

    assert len(name) == MAX_ROSTER_NAME_CHARS
    assert name.isprintable()


def test_a_line_says_who_what_and_how_it_stands() -> None:
    assert [*roster([ANN, BOB], colour=False)] == [
        " R  red    Ann       7 fish  to move",
        " R  <pink>  <pink>   12 fish  ejected",
    ]


def test_colour_adds_nothing_but_colour_to_lines() -> None:
    first, *_ = roster([ANN, BOB], colour=True)

    assert first == "\x1b[97;41m R \x1b[0m red    Ann       7 fish  to move"


def test_marks_stay_aligned_whatever_letters_and_facts_there_are() -> None:
    wide = Player(RED, "red", "漢字", "here", facts="a")
    first, second = roster([wide, Player(RED, "red", "abcd", "here", facts="abc")], colour=False)

    assert first.index("here") == second.index("here") - 2  # two letters, each as wide as two
    assert not [*roster([], colour=False)]
