"""Test the wheel that `make wheel` builds: its files, and that it can be installed and played with."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from fairplay.games import GAMES, game_info
from tests.nonempty import nonempty
from tests.wheels import build_wheel, needs_compiler
from tools.readme_tables import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in an environment with only the wheel and its dependencies."""
    return install(str(wheel), Path(sys.executable), tmp_path_factory.mktemp("user"))


def install(what: str, python: Path, place: Path) -> Path:
    """The command, in a new environment of this Python."""
    run(python, "-m", "venv", place)
    run(place / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", what)
    return place / "bin/fairplay"


def other_pythons() -> list[Path]:
    """The Pythons of this machine that fairplay supports, one of each version, but for the one that runs this."""
    found = [
        *Path.home().glob(".pyenv/versions/3.*/bin/python3"),
        *(Path(path) for minor in range(11, 30) if (path := shutil.which(f"python3.{minor}"))),
    ]
    versions: dict[tuple[int, ...], Path] = {}
    for python in found:
        answer = run(python, "-c", "import sys; print(*sys.version_info[:2])", code=None)
        if answer.returncode == 0:
            versions.setdefault(tuple(map(int, answer.stdout.split())), python)
    return [python for version, python in sorted(versions.items()) if sys.version_info[:2] != version >= (3, 11)]


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FAIRPLAY_"))}


def run(
    *command: str | Path, directory: Path | None = None, code: int | None = 0
) -> "subprocess.CompletedProcess[str]":
    """Run a command outside of the tree; None: it may have any exit code."""
    env = clean_environment()
    done = subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, check=False)
    assert code in (None, done.returncode), done.stderr
    return done


def run_command(command: Path, *arguments: str, directory: Path) -> str:
    return run(command, *arguments, directory=directory).stdout


def test_the_wheel_holds_what_users_need_and_nothing_else(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    ours = {name.removeprefix("src/") for name in tracked.splitlines()}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"fairplay", "fairplay_command.py"}
    added = {name for name in names if ".dist-info/" not in name} - ours
    assert added <= {"fairplay/_kernels.abi3.so"}  # what is built here, and nothing that lies about
    assert not [name for name in names if name.startswith("fairplay/kernels/") and name.endswith((".c", ".h"))]
    assert "fairplay/cli/bot_templates/bot.c" in names
    for game in nonempty(GAMES):
        assert f"fairplay/games/{game}/RULES.md" in names
    assert {"fairplay/page/replay.html", "fairplay/page/replay.js", "fairplay/py.typed"} <= set(names)


@needs_compiler
def test_the_wheel_has_the_kernels(wheel: Path, command: Path, tmp_path: Path) -> None:
    assert "fairplay/_kernels.abi3.so" in ZipFile(wheel).namelist()
    assert "Built-in players use the kernels in C." in run(command, "doctor", directory=tmp_path, code=None).stdout


def test_no_extra_installs_developer_tools(wheel: Path) -> None:
    with ZipFile(wheel) as file:
        (metadata,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        lines = file.read(metadata).decode().splitlines()

    extras = {line.removeprefix("Provides-Extra: ") for line in lines if line.startswith("Provides-Extra: ")}
    assert extras == {"web", "tournament", "cluster", "server", "images"}


def test_the_wheel_installs_no_developer_tools(command: Path) -> None:
    pip = (command.parent / "python", "-m", "pip", "--disable-pip-version-check", "list", "--format", "freeze")
    there = {line.partition("==")[0].lower() for line in run(*pip).stdout.splitlines()}

    assert "fairplay" in there
    assert there & {"pytest", "mypy", "ruff", "mkdocs", "hypothesis", "hatchling", "numpy", "playwright"} == set()


@pytest.mark.parametrize("game", GAMES)
def test_the_installed_command_plays_verifies_draws_and_replays(game: str, command: Path, tmp_path: Path) -> None:
    players = [list(game_info(game).built_in)[1]] * 3  # at random a match of Q may last a minute

    run_command(command, "play", game, *players, "--seed", "7", "--journal", "games", "--quiet", directory=tmp_path)
    (journal,) = map(str, (tmp_path / "games").glob("*.jsonl"))
    verified = run_command(command, "verify", journal, directory=tmp_path)
    run_command(command, "draw", journal, "-o", "board.svg", directory=tmp_path)
    run_command(command, "replay", journal, "-o", "game.html", directory=tmp_path)

    assert "same result" in verified
    assert (tmp_path / "board.svg").read_text().startswith("<svg")
    assert "<script" in (tmp_path / "game.html").read_text()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "python",
    other_pythons() or [pytest.param(None, marks=pytest.mark.skip("there is no other Python from 3.11 on"))],
    ids=str,
)
def test_every_supported_python_plays_verifies_and_runs_a_tournament(python: Path, wheel: Path, tmp_path: Path) -> None:
    command = install(f"{wheel}[tournament]", python, tmp_path / "user")
    (tmp_path / "cup.toml").write_text(run_command(command, "tournament", "--init", "fish", directory=tmp_path))

    run_command(command, "play", "fish", "greedy", "random", "--journal", "games", "--quiet", directory=tmp_path)
    verified = run_command(command, "verify", *map(str, (tmp_path / "games").glob("*.jsonl")), directory=tmp_path)
    run_command(command, "tournament", "cup.toml", "--quiet", directory=tmp_path)

    assert "same result" in verified
    assert "greedy" in run_command(command, "standings", "cup", directory=tmp_path)


def test_a_bot_in_a_file_plays_as_a_program(command: Path, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "from fairplay.games.fish import Fish\n\ndef take_turn(view):\n    return next(Fish().actions(view))\n"
    )

    told = run_command(command, "play", "fish", "me=./bot.py", "random", "--seed", "7", "--quiet", directory=tmp_path)

    assert "me" in told
    assert "is out" not in told


def test_what_needs_an_extra_says_which(command: Path, tmp_path: Path) -> None:
    said = run(command, "serve", "fish", directory=tmp_path, code=2).stderr

    assert "fairplay[server]" in said
    assert said.count("\n") == 1
