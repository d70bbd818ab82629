"""Test `fairplay new-bot`: its files, its output and its refusals; tests/examples plays with the bots."""

import resource
import shlex
from pathlib import Path

import pytest

from fairplay.cli.new_bot import LANGUAGES, render_bot
from fairplay.games import GAMES, game_info
from fairplay.players.address import split_label
from fairplay.players.location import Command, parse_remote_address
from tests.cli.command import refusal_line, run_fairplay, run_script

FILES = {"python": "fish_bot.py", "js": "fish_bot.js", "java": "FishBot.java", "c": "fish_bot.c", "go": "fish_bot.go"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def test_a_new_bot_in_python_passes_the_check(here: Path) -> None:
    done = run_fairplay("new-bot", "fish")

    heading, empty, *lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert (heading, empty) == ("fish_bot.py is written. It plays as it is. Change it, then run:", "")
    assert lines == ["  fairplay check-bot fish ./fish_bot.py", "  fairplay play fish me=./fish_bot.py greedy"]
    assert names() == ["fish_bot.py"]
    for line in ("check-bot fish ./fish_bot.py", "play fish me=./fish_bot.py greedy --quiet --seed 1"):
        again = run_fairplay(*line.split())
        assert (again.code, " is out: " in again.out) == (0, False), again


@pytest.mark.parametrize(("language", "file"), FILES.items())
def test_a_bot_is_called_after_its_game_and_the_ending_of_a_file_tells_its_language(language: str, file: str) -> None:
    mine = f"mine{Path(file).suffix}"

    assert run_fairplay("new-bot", "fish", "--language", language).code == 0
    assert run_fairplay("new-bot", "q", mine).code == 0

    assert names() == sorted([file, mine])
    assert Path(file).read_text() == render_bot("fish", language, file)
    assert Path(mine).read_text() == render_bot("q", language, mine)
    assert run_fairplay("new-bot", "q", f"same{mine}", "--language", language).code == 0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", GAMES)
def test_printed_commands_can_be_copied_in_any_directory(game: str, language: str) -> None:
    directory = 'a $(b) `c` "d" it\'s='
    Path(directory).mkdir()
    path = f"{directory}/my bot{LANGUAGES[language].suffix}"

    done = run_fairplay("new-bot", game, path)

    lines = [shlex.split(line) for line in done.out.splitlines()[2:]]
    (*_, check), play = [line for line in lines if line[0] == "fairplay"]
    label, address = split_label(play[3])
    made = path.removesuffix(LANGUAGES[language].suffix)
    command = parse_remote_address(address)
    assert done.code == 0
    assert (label, address) == ("me", check)
    assert isinstance(command, Command)
    assert {path, made} & {*command.words}
    assert [line[-1] for line in lines if line[0] != "fairplay"] == (
        [path] if LANGUAGES[language].compile_command else []
    )
    assert len(play) - 3 == game_info(game).rules.seats[0]
    assert {*play[4:]} <= {*game_info(game).built_in}


def test_a_name_that_looks_like_an_option_is_none() -> None:
    done = run_fairplay("new-bot", "fish", "--", "-o.c")

    assert done.out.splitlines()[2:4] == ["  gcc -O2 -o ./-o ./-o.c", "  fairplay check-bot fish ./-o"]


def test_new_bot_never_overwrites_a_file(here: Path) -> None:
    Path("fish_bot.py").write_text("a week of work")
    Path("directory.py").mkdir()
    Path("link.py").symlink_to("nowhere")

    for path, arguments in (
        ("fish_bot.py", ()),
        ("fish_bot.py", ("fish_bot.py",)),
        ("fish_bot.py", ("--language", "python")),
        ("directory.py", ("directory.py",)),
        ("link.py", ("link.py",)),
    ):
        why = refusal_line(run_fairplay("new-bot", "fish", *arguments))
        assert why == f"{path} exists already and is not overwritten: choose another file"

    assert Path("fish_bot.py").read_text() == "a week of work"
    assert not Path("nowhere").exists()


def test_half_a_bot_is_not_left_behind_on_a_full_disk(here: Path) -> None:
    done = run_script(
        "new-bot", "tsuro", "bot.go", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    )

    assert refusal_line(done) == "bot.go cannot be written: File too large"
    assert names() == []
