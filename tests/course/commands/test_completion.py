"""Test the completion of `fairplay course` in a shell, and its messages for missing words."""

import pytest

from fairplay.games import game_info
from tests.cli.command import refusal_line, run_fairplay
from tests.cli.options.test_completion import tab

COURSES = ("fish", "tsuro", "q")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("",), ["serve", "join", *COURSES]),
        (("serve", ""), [*COURSES]),
        (("join", "t"), ["tsuro"]),
        (("join", "tsuro", "1", ""), [*game_info("tsuro").built_in, "exec:", "py:"]),
    ],
)
def test_verbs_games_and_players_that_can_join_are_offered(words: tuple[str, ...], offered: list[str]) -> None:
    assert tab("course", *words) == offered


@pytest.mark.parametrize("game", COURSES)
def test_harnesses_and_both_ends_of_a_line_are_offered(game: str) -> None:
    assert {"xserver", "xclients"} <= set(tab("course", game, "x"))
    assert "xstate" in tab("course", "fish", "xst")


def test_of_what_is_left_out_it_is_said_what_there_is() -> None:
    assert refusal_line(run_fairplay("course", "q")).startswith("Missing argument 'HARNESS'. Choose from xmap, ")


def test_options_of_a_harness_may_stand_before_its_game() -> None:
    done = run_fairplay("course", "--cases", "tests/cases/fish/xboard.jsonl", "fish", "xboard")

    assert done.code == 0 and done.out.endswith(" passed, 0 failed\n")


def test_the_help_of_a_harness_names_it_as_it_is_called() -> None:
    assert run_fairplay("course", "q", "--help").out.startswith("Usage: fairplay course [OPTIONS] GAME HARNESS")
