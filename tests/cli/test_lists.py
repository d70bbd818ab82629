"""Test help, version, the lists of games and players, and `fairplay rules`."""

import re
from importlib.metadata import version
from itertools import takewhile

import pytest

from fairplay.cli import main, rules
from fairplay.core.roles import Rated
from fairplay.games import GAMES, game_info
from fairplay.journal.ejection_report import clauses
from fairplay.render.text import display_width, strip_colours
from tests.cli.command import CommandResult, run_fairplay, run_script
from tests.cli.pseudo_terminal import PseudoTerminal

VERBS = (
    "games rules players play tournament standings new-bot check-bot join serve token status watch "
    "replay draw verify resume why why-not debug library doctor course"
)


def entry(game: str, listing: str) -> list[str]:
    """The lines about one game: its title, and what is indented below."""
    lines = listing.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(f"{game}:"))
    return [lines[start], *takewhile(lambda line: line.startswith(" "), lines[start + 1 :])]


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_help_lists_the_verbs_in_the_order_in_which_they_are_needed(arguments: tuple[str, ...]) -> None:
    done = run_fairplay(*arguments)

    commands = done.out.partition("Commands:\n")[2]
    assert (done.code, done.err) == (0, "")
    assert "fairplay play fish random greedy" in done.out
    assert " ".join(re.findall(r"^  ([a-z-]+)", commands, re.MULTILINE)) == VERBS
    assert "..." not in commands  # no line is cut short


@pytest.mark.parametrize("verb", main.SUBCOMMANDS)
def test_every_verb_has_its_help_whose_beginning_is_in_the_list(verb: str) -> None:
    command, done = main.load_command(verb), run_fairplay(verb, "--help")

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: fairplay {verb} ")
    assert "Show this message and exit." in done.out
    assert done == run_fairplay(verb, "-h")
    assert command is not None
    assert main.SUBCOMMANDS[verb] == command.get_short_help_str(100)


def test_the_version_is_that_of_the_package() -> None:
    assert run_fairplay("--version") == CommandResult(0, f"fairplay, version {version('fairplay')}\n", "")
    assert run_script("--help") == run_fairplay("--help")


def test_games_lists_every_parameter_with_its_default() -> None:
    done = run_fairplay("games")

    title, *parameters = entry("fish", done.out)
    settings = [word for line in parameters for word in line.split()[:2]]
    defaults = "--set rows=8 --set columns=8 --set fish=random --set holes=0 --set colours=fixed --set cramped=False"
    assert (done.code, done.err) == (0, "")
    assert title == "fish: Penguins collect fish on ice that melts behind them. 2 to 4 players."
    assert " ".join(settings) == defaults
    assert all(len(line.split()) > 2 for line in parameters)  # each says what it is for
    assert run_fairplay("play", "fish", "random", "random", "--quiet", *settings).code == 0


def test_players_lists_the_server_and_the_other_ways_to_name_a_player() -> None:
    done = run_fairplay("players", "fish")

    names = [line.split()[0] for line in takewhile(bool, done.out.splitlines())]
    built_in = [*game_info("fish").built_in]
    assert names == [*built_in, "human", "./my_bot.py", "exec:COMMAND", "tcp:PORT", "py:module:Name", "NAME=PLAYER"]


def test_players_tells_how_strong_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = {"greedy": Rated(99, 50, None, 600), "lookahead:2": Rated(-99, -120, -78, 1200)}
    monkeypatch.setattr(game_info("fish"), "ratings", ratings)

    *_, blank, heading, first, second = run_fairplay("players", "fish").out.splitlines()

    assert (blank, heading.endswith("95 % confidence intervals:")) == ("", True)
    assert first.split() == ["greedy", "99", ">", "50", "600", "matches"]
    assert second.split() == ["lookahead:2", "-99", "-120..-78", "1200", "matches"]


each_game = pytest.mark.parametrize("game", GAMES)
HEADING = "A position, as the player on turn sees it"


def parts(text: str) -> tuple[str, str]:
    """The rule book, and what stands below it."""
    book, heading, rest = text.partition(HEADING)
    assert heading
    return book, rest


@each_game
def test_every_clause_is_printed_whole_and_without_markdown(game: str) -> None:
    done = run_fairplay("rules", game)

    book, _ = parts(done.out)
    words = " ".join(book.split())
    assert (done.code, done.err) == (0, "")
    assert clauses(game)
    assert [number for number, text in clauses(game).items() if f" {number} {text}" not in words] == []
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


@pytest.mark.parametrize(("game", "columns"), [("fish", 40), ("tsuro", 100), ("q", 40)])
def test_on_a_terminal_headings_are_bold_and_no_line_is_too_wide(game: str, columns: int) -> None:
    with PseudoTerminal("rules", game, columns=columns) as terminal:
        assert terminal.wait_for_exit() == 0

    book, _ = parts(terminal.raw.decode().replace("\r", "").replace("\x1b[1m" + HEADING, HEADING))
    lines = book.splitlines()
    assert re.match(r"\x1b\[1mThe rules of \w+\x1b\[0m", lines[0])
    widest = max(display_width(strip_colours(line)) for line in lines)
    assert min(columns, 88) - 12 <= widest <= min(columns, 88)
