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


def test_verbs() -> None:
    assert tab("") == [*SUBCOMMANDS, "course"]
    assert tab("why") == ["why", "why-not"]


def test_games() -> None:
    assert tab("play", "") == list(GAMES)
    assert tab("new-bot", "t") == ["tsuro"]
    assert tab("library", "find", ".", "--game", "q") == ["q"]


@pytest.mark.parametrize("game", GAMES)
def test_players_of_the_game_and_external_ones_are_completed(game: str) -> None:
    assert tab("play", game, "") == [*game_info(game).built_in, "human", "exec:", "tcp:", "ws:", "py:"]


def test_players_behind_a_label_and_behind_other_options() -> None:
    assert tab("play", "fish", "ann", "=", "lo") == ["lookahead"]
    assert tab("play", "fish", "ann", "=") == tab("play", "fish", "")
    assert tab("play", "--seed", "7", "fish", "random", "gr") == ["greedy"]


def test_files_of_players_are_left_to_the_shell() -> None:
    assert tab("play", "fish", "./my") == ["option", "default"]
    assert tab("play", "fish", "ann", "=", ".") == ["option", "default"]
    assert tab("new-bot", "fish", "my") == ["option", "default"]


def test_parameters_and_their_values() -> None:
    assert tab("play", "fish", "--set", "ro") == ["option", "nospace", "rows="]
    assert tab("play", "fish", "--set", "cramped", "=") == ["true", "false"]
    assert tab("play", "fish", "--set", "colours", "=", "r") == ["random"]
    assert "size=" in tab("play", "tsuro", "--set", "")
    assert "rules=" not in tab("play", "tsuro", "--set", "")


def test_limits() -> None:
    assert tab("play", "fish", "--limit", "f") == ["option", "nospace", "first="]
    assert tab("play", "fish", "--limit", "move", "=", "5,ba") == ["option", "nospace", "5,bank="]


def test_a_limit_that_is_there_is_not_offered_again() -> None:
    offered = tab("play", "fish", "--limit", "bank", "=", "9,first", "=", "5,")

    assert {"5,move=", "5,people="} <= set(offered)
    assert not {"5,bank=", "5,first="} & set(offered)


def test_options_and_their_choices() -> None:
    assert tab("play", "fish", "--sa") == ["--sandbox"]
    assert tab("play", "fish", "--sync", "b") == ["batch"]
    assert tab("new-bot", "fish", "--language", "j") == ["js", "java"]


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
    for name in (
        "x;touch ran;.jsonl",
        "x$(touch ran).jsonl",
        "x`touch ran`.jsonl",
        "x y.jsonl",
        "x*.jsonl",
        "x\n.jsonl",
    ):
        (tmp_path / name).write_bytes(journal.read_bytes())

    assert tab("verify", "x", directory=tmp_path) == ["option", "default"]

    bash = ("bash", "--norc", "--noprofile", "-i")
    with PseudoTerminal(command=bash, environment={"PATH": PATH, "PS1": "$ "}, directory=tmp_path) as terminal:
        terminal.type('eval "$(_FAIRPLAY_COMPLETE=bash_source fairplay)"; echo now ready\n')
        terminal.wait_for("\nnow ready")
        terminal.type("fairplay verify x\\;\t\n")
        terminal.wait_for("x;touch ran;.jsonl: same result")
    assert not (tmp_path / "ran").exists()


def test_completion_does_not_block_on_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.jsonl")

    assert "human" in tab("resume", "f.jsonl", "", directory=tmp_path)


def test_external_players_are_completed_for_a_file_that_is_no_journal(tmp_path: Path) -> None:
    (tmp_path / "list.jsonl").write_text("[]\n")

    assert tab("resume", "list.jsonl", "", directory=tmp_path) == ["human", "exec:", "tcp:", "ws:", "py:"]


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
    assert tab("draw", str(tmp_path / "none.jsonl"), "--seat", "a") == ["option", "default"]


def test_a_seat_behind_an_equals_sign_is_offered_once(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "bob=random")

    assert tab("draw", str(path), "--seat", "=") == ["ann", "bob"]


def test_a_match_without_a_line_of_its_seating_has_the_names_of_its_opening(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "bob=random")
    opening, _, *facts = path.read_bytes().splitlines(keepends=True)

    path.write_bytes(b"".join([opening, *facts]))

    assert tab("draw", str(path), "--seat", "") == ["ann", "bob"]


def test_only_players_that_can_join_are_offered() -> None:
    assert tab("join", "1", "") == ["human", "exec:", "py:"]


@pytest.mark.parametrize("words", [("play", "chess", "r"), ("library", "show", "/nowhere", ""), ("nothing", "x")])
def test_completion_ignores_invalid_command_lines(words: tuple[str, ...]) -> None:
    assert "Traceback" not in " ".join(tab(*words))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell: str) -> None:
    done = subprocess.run(
        [INSTALLED_COMMAND],
        capture_output=True,
        text=True,
        env={**os.environ, "_FAIRPLAY_COMPLETE": f"{shell}_source"},
        check=True,
    )

    assert "fairplay" in done.stdout
    assert done.stderr == ""


def test_every_kind_of_parameter_is_used_by_a_verb() -> None:
    commands = [load_command(verb) for verb in SUBCOMMANDS]
    commands += [other for one in commands if isinstance(one, click.Group) for other in one.commands.values()]
    there = {(one.param_type_name, one.name) for command in commands if command for one in command.params}

    assert set(FINDERS) <= there
