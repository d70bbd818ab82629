"""Test the completion of command lines in a real shell."""

import os
import subprocess
from pathlib import Path

import click
import pytest

from fairplay.cli.main import SUBCOMMANDS, load_command
from fairplay.cli.options.completion import FINDERS, MAX_SUGGESTED_FILES
from fairplay.games import GAMES, game_info
from tests.cli.command import INSTALLED_COMMAND, SMALL_BOARD, record_journal, run_fairplay
from tests.cli.pseudo_terminal import PseudoTerminal

# What bash does when Tab is pressed: it takes the line apart, calls the function, and shows what that leaves behind.
TAB = """
eval "$(_FAIRPLAY_COMPLETE=bash_source fairplay)"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
compopt() { echo "option $2"; }
_fairplay_completion fairplay
printf '%s\\n' "${COMPREPLY[@]}"
"""
PATH = f"{INSTALLED_COMMAND.parent}:{os.environ['PATH']}"


def tab(*words: str, directory: Path | None = None) -> list[str]:
    """What bash is given for the last of these words, which are apart as bash takes them apart."""
    done = subprocess.run(
        ["bash", "--norc", "-c", TAB, "bash", "fairplay", *words],
        capture_output=True,
        text=True,
        cwd=directory,
        env={**os.environ, "PATH": PATH},
        check=True,
        timeout=30,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_on_tab() -> None:
    bash = ("bash", "--norc", "--noprofile", "-i")
    with PseudoTerminal(command=bash, environment={"PATH": PATH, "PS1": "$ "}) as terminal:
        terminal.type('eval "$(_FAIRPLAY_COMPLETE=bash_source fairplay)"; echo now ready\n')
        terminal.wait_for("\nnow ready")
        for begun, whole in (
            ("fairplay tou", "fairplay tournament "),
            ("\x15fairplay play fi", "fairplay play fish "),
            ("loo", "lookahead "),
            ("ann=gr", "ann=greedy "),
            ("--set ro", "--set rows="),
            ("", "8 "),
            ("--limit mo", "--limit move="),
        ):
            terminal.type(f"{begun}\t")
            assert terminal.wait_for(whole).endswith(whole)


BUILT_IN_AND_OTHERS = [*game_info("fish").built_in, "human", "exec:", "tcp:", "ws:", "py:"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ([""], [*SUBCOMMANDS, "course"]),
        (["why"], ["why", "why-not"]),
        (["play", ""], list(GAMES)),
        (["new-bot", "t"], ["tsuro"]),
        (["library", "find", ".", "--game", "q"], ["q"]),
        (["play", "fish", ""], BUILT_IN_AND_OTHERS),
        (["play", "q", ""], [*game_info("q").built_in, "human", "exec:", "tcp:", "ws:", "py:"]),
        (["play", "fish", "ann", "=", "lo"], ["lookahead"]),
        (["play", "fish", "ann", "="], BUILT_IN_AND_OTHERS),
        (["play", "--seed", "7", "fish", "random", "gr"], ["greedy"]),
        (["join", "1", ""], ["human", "exec:", "py:"]),
        (["play", "fish", "./my"], ["option", "default"]),
        (["play", "fish", "ann", "=", "."], ["option", "default"]),
        (["new-bot", "fish", "my"], ["option", "default"]),
        (["play", "fish", "--set", "ro"], ["option", "nospace", "rows="]),
        (["play", "fish", "--set", "cramped", "="], ["true", "false"]),
        (["play", "fish", "--set", "colours", "=", "r"], ["random"]),
        (["play", "fish", "--limit", "f"], ["option", "nospace", "first="]),
        (["play", "fish", "--limit", "move", "=", "5,ba"], ["option", "nospace", "5,bank="]),
        (["play", "fish", "--sa"], ["--sandbox"]),
        (["play", "fish", "--sync", "b"], ["batch"]),
        (["new-bot", "fish", "--language", "j"], ["js", "java"]),
    ],
    ids=" ".join,
)
def test_tab_offers_what_can_stand_there(words: list[str], offered: list[str]) -> None:
    assert tab(*words) == offered


def test_parameters_with_a_single_value_are_not_offered() -> None:
    offered = tab("play", "tsuro", "--set", "")

    assert "size=" in offered and "rules=" not in offered


def test_a_limit_that_is_there_is_not_offered_again() -> None:
    offered = tab("play", "fish", "--limit", "bank", "=", "9,first", "=", "5,")

    assert {"5,move=", "5,people="} <= set(offered)
    assert not {"5,bank=", "5,first="} & set(offered)


def test_journals_by_path_and_by_id(tmp_path: Path) -> None:
    run_fairplay("play", "fish", "random", "greedy", *SMALL_BOARD, "--quiet", "--journal", str(tmp_path / "games"))
    (path,) = (tmp_path / "games").glob("*.jsonl")

    for verb in ("replay", "draw", "verify", "resume", "why", "debug"):
        assert tab(verb, path.name[:6], directory=tmp_path) == [f"games/{path.name}"]
    assert tab("replay", "games/", directory=tmp_path) == [f"games/{path.name}"]
    assert tab("replay", "ga", directory=tmp_path) == ["option", "default"]  # a directory, which the shell completes
    assert tab("library", "show", "games", "", directory=tmp_path) == [path.stem]
    assert tab("resume", str(path), "gr", directory=tmp_path) == ["greedy"]


def test_a_directory_with_too_many_journals_is_left_to_the_shell(tmp_path: Path) -> None:
    for number in range(MAX_SUGGESTED_FILES):
        (tmp_path / f"m{number:04}.jsonl").touch()
    assert len(tab("replay", "m", directory=tmp_path)) == MAX_SUGGESTED_FILES

    (tmp_path / "more.jsonl").touch()

    assert tab("replay", "m", directory=tmp_path) == ["option", "default"]


def test_a_name_that_would_run_something_is_left_to_the_shell_which_quotes_it(tmp_path: Path) -> None:
    run_fairplay("play", "fish", "random", "greedy", *SMALL_BOARD, "--quiet", "--journal", str(tmp_path))
    (journal,) = tmp_path.glob("*.jsonl")
    for name in ("x;touch ran;", "x$(touch ran)", "x`touch ran`", "x y", "x*", "x\n"):
        (tmp_path / f"{name}.jsonl").write_bytes(journal.read_bytes())

    assert tab("verify", "x", directory=tmp_path) == ["option", "default"]

    bash = ("bash", "--norc", "--noprofile", "-i")
    with PseudoTerminal(command=bash, environment={"PATH": PATH, "PS1": "$ "}, directory=tmp_path) as terminal:
        terminal.type('eval "$(_FAIRPLAY_COMPLETE=bash_source fairplay)"; echo now ready\n')
        terminal.wait_for("\nnow ready")
        terminal.type("fairplay verify x\\;\t\n")
        terminal.wait_for("x;touch ran;.jsonl: same result")
    assert not (tmp_path / "ran").exists()


def test_external_players_are_completed_for_a_file_that_is_no_journal(tmp_path: Path) -> None:
    (tmp_path / "list.jsonl").write_text("[]\n")
    os.mkfifo(tmp_path / "pipe.jsonl")  # on which nothing blocks

    for file in ("list.jsonl", "pipe.jsonl"):
        assert tab("resume", file, "", directory=tmp_path) == ["human", "exec:", "tcp:", "ws:", "py:"]


def test_a_path_from_the_root_is_not_completed_by_what_is_here(tmp_path: Path) -> None:
    (tmp_path / "not-in-the-root.jsonl").touch()

    assert tab("replay", "/not-in-the-root", directory=tmp_path) == ["option", "default"]


def test_a_tournament_offers_its_matches_and_not_its_log(tmp_path: Path) -> None:
    (tmp_path / "cup" / "matches").mkdir(parents=True)
    (tmp_path / "cup" / "tournament.jsonl").touch()
    (tmp_path / "cup" / "matches" / "m00001.jsonl").touch()

    for begun in ("", "m", "cup/"):
        assert tab("replay", begun, directory=tmp_path) == ["cup/matches/m00001.jsonl"]


def test_seats_of_the_match_that_is_named_before(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "b;ls=random", "7=random")

    for verb in ("draw", "debug", "why"):
        assert tab(verb, str(path), "--seat", "") == ["ann", "1", "2"]
    assert tab("draw", str(path), "--seat", "a") == ["ann"]
    assert tab("draw", str(path), "--seat", "=") == ["ann", "1", "2"]  # once
    assert tab("draw", str(tmp_path / "none.jsonl"), "--seat", "a") == ["option", "default"]

    opening, _, *facts = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([opening, *facts]))  # without the line of its seating
    assert tab("draw", str(path), "--seat", "") == ["ann", "1", "2"]


@pytest.mark.parametrize("words", [("play", "chess", "r"), ("library", "show", "/nowhere", ""), ("nothing", "x")])
def test_completion_ignores_invalid_command_lines(words: tuple[str, ...]) -> None:
    assert "Traceback" not in " ".join(tab(*words))


def test_every_kind_of_parameter_is_used_by_a_verb() -> None:
    commands = [load_command(verb) for verb in SUBCOMMANDS]
    commands += [other for one in commands if isinstance(one, click.Group) for other in one.commands.values()]
    there = {(one.param_type_name, one.name) for command in commands if command for one in command.params}

    assert set(FINDERS) <= there
