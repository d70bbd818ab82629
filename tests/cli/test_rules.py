"""Test `fairplay rules`: it prints all clauses, for a terminal of any width, and a position."""

import re

import pytest

from fairplay.cli import rules
from fairplay.games import GAMES, game_info
from fairplay.journal.ejection_report import clauses
from fairplay.render.text import display_width, strip_colours
from tests.cli.command import refusal_line, run_fairplay
from tests.cli.pseudo_terminal import PseudoTerminal

each_game = pytest.mark.parametrize("game", GAMES)
HEADING = "A position, as the player on turn sees it"


def parts(text: str) -> tuple[str, str]:
    """The rule book, and what stands below it."""
    book, heading, rest = text.partition(HEADING)
    assert heading
    return book, rest


@each_game
def test_every_clause_is_printed_whole(game: str) -> None:
    done = run_fairplay("rules", game)

    words = " ".join(parts(done.out)[0].split())
    assert (done.code, done.err) == (0, "")
    assert clauses(game)
    assert [number for number, text in clauses(game).items() if f" {number} {text}" not in words] == []


@each_game
def test_rules_are_printed_without_markdown(game: str) -> None:
    book, _ = parts(run_fairplay("rules", game).out)

    assert not re.search(r"\*\*|`|^#|^- ", book, re.MULTILINE)


@each_game
def test_the_position_is_drawn_as_the_player_on_turn_sees_it(game: str) -> None:
    shelf = game_info(game)
    played = shelf.rules.with_parameters(shelf.quick)
    views = list(rules.example_views(played, next(iter(shelf.built_in.values())), played.seats[0]))
    names = rules.EXAMPLE_NAMES[: played.seats[0]]

    _, below = parts(run_fairplay("rules", game).out)

    assert [turn for turn, view in enumerate(views) if shelf.text(view, names) in below] == [len(views) * 2 // 3]


@each_game
def test_the_suggested_command_of_rules_works(game: str) -> None:
    words = run_fairplay("rules", game).out.splitlines()[-1].removeprefix("Try it: fairplay ").split()

    first = words[words.index("human") + 1]
    done = run_fairplay(*(first if word == "human" else word for word in words), "--quiet")

    assert done.code == 0


@each_game
@pytest.mark.parametrize("columns", [40, 100])
def test_on_a_terminal_headings_are_bold_and_no_line_is_too_wide(game: str, columns: int) -> None:
    with PseudoTerminal("rules", game, columns=columns) as terminal:
        assert terminal.wait_for_exit() == 0

    book, _ = parts(terminal.raw.decode().replace("\r", "").replace("\x1b[1m" + HEADING, HEADING))
    lines = book.splitlines()
    assert re.match(r"\x1b\[1mThe rules of \w+\x1b\[0m", lines[0])
    assert max(display_width(strip_colours(line)) for line in lines) in range(
        min(columns, 88) - 12, min(columns, 88) + 1
    )


def test_without_colour_a_terminal_has_plain_text() -> None:
    with PseudoTerminal("rules", "fish", environment={"NO_COLOR": "1"}) as terminal:
        assert terminal.wait_for_exit() == 0

    assert b"The rules of Fish" in terminal.raw
    assert b"\x1b" not in terminal.raw


def test_the_same_is_printed_every_time() -> None:
    assert run_fairplay("rules", "q") == run_fairplay("rules", "q")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "Missing argument 'GAME'. Choose from fish, tsuro, q"),
        (
            ("chess",),
            "there is no game 'chess'; there is fish, tsuro, q; name your own game with --game py:module:Name",
        ),
        (("../fish",), "there is no game '../fish': did you mean 'fish'?"),
    ],
)
def test_a_game_that_there_is_not_is_refused(arguments: tuple[str, ...], why: str) -> None:
    assert refusal_line(run_fairplay("rules", *arguments)) == why
