"""Test help, version, and the lists of games and players."""

import re
from importlib.metadata import version
from itertools import takewhile

import pytest

from fairplay.cli import main
from fairplay.core.roles import Rated
from fairplay.games import game_info
from tests.cli.command import CommandResult, refusal_line, run_fairplay, run_script

VERBS = [
    "games",
    "rules",
    "players",
    "play",
    "tournament",
    "standings",
    "new-bot",
    "check-bot",
    "join",
    "serve",
    "token",
    "status",
    "watch",
    "replay",
    "draw",
    "verify",
]
VERBS += ["resume", "why", "why-not", "debug", "library", "doctor", "course"]


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
    assert re.findall(r"^  ([a-z-]+)", commands, re.MULTILINE) == VERBS


def test_no_line_of_the_list_of_verbs_is_cut_short() -> None:
    assert "..." not in run_fairplay("--help").out.partition("Commands:\n")[2]


@pytest.mark.parametrize("verb", main.SUBCOMMANDS)
def test_the_list_says_of_a_verb_what_its_own_help_begins_with(verb: str) -> None:
    command = main.load_command(verb)

    assert command is not None
    assert main.SUBCOMMANDS[verb] == command.get_short_help_str(100)


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("verb", main.SUBCOMMANDS)
def test_every_verb_has_its_help(verb: str, option: str) -> None:
    done = run_fairplay(verb, option)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: fairplay {verb} ")
    assert "Show this message and exit." in done.out


def test_the_version_is_that_of_the_package() -> None:
    assert run_fairplay("--version") == CommandResult(0, f"fairplay, version {version('fairplay')}\n", "")


def test_the_script_is_the_same_command() -> None:
    assert run_script("--help") == run_fairplay("--help")


def test_games_lists_every_parameter_with_its_default() -> None:
    done = run_fairplay("games")

    title, *parameters = entry("fish", done.out)
    assert (done.code, done.err) == (0, "")
    assert title == "fish: Penguins collect fish on ice that melts behind them. 2 to 4 players."
    assert [line.split()[:2] for line in parameters] == [
        ["--set", "rows=8"],
        ["--set", "columns=8"],
        ["--set", "fish=random"],
        ["--set", "holes=0"],
        ["--set", "colours=fixed"],
        ["--set", "cramped=False"],
    ]
    assert all(len(line.split()) > 2 for line in parameters)  # each says what it is for


def test_what_games_lists_can_be_set() -> None:
    _, *parameters = entry("fish", run_fairplay("games").out)
    settings = [word for line in parameters for word in line.split()[:2]]

    assert run_fairplay("play", "fish", "random", "random", "--quiet", *settings).code == 0


def test_players_lists_the_server_and_the_other_ways_to_name_a_player() -> None:
    done = run_fairplay("players", "fish")

    names = [line.split()[0] for line in takewhile(bool, done.out.splitlines())]
    assert names == [
        "random",
        "greedy",
        "lookahead",
        "sampler",
        "territory",
        "human",
        "./my_bot.py",
        "exec:COMMAND",
        "tcp:PORT",
        "py:module:Name",
        "NAME=PLAYER",
    ]


def test_players_tells_how_strong_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = {"greedy": Rated(99, 50, None, 600), "lookahead:2": Rated(-99, -120, -78, 1200)}
    monkeypatch.setattr(game_info("fish"), "ratings", ratings)

    *_, blank, heading, first, second = run_fairplay("players", "fish").out.splitlines()

    assert (blank, heading.endswith("95 % confidence intervals:")) == ("", True)
    assert first.split() == ["greedy", "99", ">", "50", "600", "matches"]
    assert second.split() == ["lookahead:2", "-99", "-120..-78", "1200", "matches"]


def test_players_lists_no_ratings_of_an_unrated_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_info("fish"), "ratings", {})

    done = run_fairplay("players", "fish")

    assert done.out.splitlines()[-1].split()[0] == "NAME=PLAYER"


@pytest.mark.parametrize("number", range(3))
def test_every_listed_player_can_play(number: int) -> None:
    name = run_fairplay("players", "fish").out.splitlines()[number].split()[0]

    assert run_fairplay("play", "fish", name, "random", "--quiet").code == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("fly",), "No such command 'fly'."),
        (("--fly",), "No such option '--fly'."),
        (("games", "fish"), "unexpected extra argument"),
        (("games", "--all"), "No such option '--all'."),
        (("players",), "Missing argument 'GAME'."),
        (("players", "chess"), "there is no game 'chess'; there is "),
        (("players", "fish", "q"), "unexpected extra argument"),
        (("play", "\x1b[2J\n"), "Missing argument"),
        (("players", "\x1b[2J\n"), "there is no game"),
        (("replay",), "Missing argument 'FILE'."),
        (("draw",), "Missing argument 'FILE'."),
        (("verify",), "Missing argument 'FILE...'."),
        (("replay", "a.jsonl", "b"), "unexpected extra argument"),
    ],
)
def test_a_command_that_is_none_is_refused_in_one_line(arguments: tuple[str, ...], why: str) -> None:
    assert why in refusal_line(run_fairplay(*arguments))


def test_where_a_game_is_left_out_no_file_is_said_to_be_one() -> None:
    assert refusal_line(run_fairplay("players")) == "Missing argument 'GAME'. Choose from fish, tsuro, q"


def test_the_script_refuses_in_one_line_too() -> None:
    assert refusal_line(run_script("fly")) == "No such command 'fly'."
