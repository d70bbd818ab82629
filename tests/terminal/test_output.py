"""Test outputs that cannot show all characters, are closed early, or are full."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO
from unittest.mock import patch

import pytest

from fairplay.cli.main import main
from fairplay.games import GAMES, game_info
from fairplay.games.q.terminal import SIGNS
from fairplay.render.text import display_width, replacement
from tests.cli.command import INSTALLED_COMMAND, SMALL_BOARD, CommandResult, run_fairplay, run_script
from tests.match_ids import fixed_match_id
from tests.python_path import python_path

CHEAT = """
def take_turn(view):
    far = [99, 99]
    if hasattr(view, "hand"):
        return {"type": "place", "tiles": [{"tile": "red star", "at": far}]}
    return {"type": "place", "at": far}
"""
FISH = "play fish Zoë=random 安=in-process:cheat:take_turn --seed 7 --set rows=4 --set columns=4"
COMMANDS = {  # all of them come out the same every time
    "help": "--help",
    "games": "games",
    "players": "players q",
    "play q": "play q Zoë=best 安=dag --seed 7",
    "play tsuro": "play tsuro Zoë=first 安=second third --seed 7",
    "play in short": f"{FISH} --quiet",
    "play in JSON": f"{FISH} --events",
    "check-bot": "check-bot fish in-process:cheat:take_turn",
    "replay": "replay {path}",
    "replay one board": "replay {path} --at 3",
    "draw": "draw {path} -o {games}/安.svg",
    "verify": "verify {path}",
    "why": "why {path}",
    "why in JSON": "why {path} --json",
    "library list": "library list {games}",
    "library show": "library show {games} {path.stem}",
}
every_verb = pytest.mark.parametrize("verb", COMMANDS)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with one journal, of a match in which a player with a name in Chinese was ejected."""
    directory = tmp_path_factory.mktemp("games")
    (directory / "cheat.py").write_text(CHEAT)
    players = ("安=in-process:cheat:take_turn", "Zoë=dag", "best", "--seed", "7", "--journal", str(directory))
    assert run_script("play", "q", *players, environment={"PYTHONPATH": python_path(directory)}).code == 0
    return directory


def arguments(verb: str, games: Path) -> list[str]:
    (path,) = games.glob("*.jsonl")
    return [part.format(games=games, path=path) for part in COMMANDS[verb].split()]


def said(verb: str, games: Path, output: TextIO) -> tuple[int, str]:
    """The exit code of a verb that writes there, and its complaints."""
    err, code = StringIO(), 0
    (games / "安.svg").unlink(missing_ok=True)
    with (
        patch.object(sys, "argv", ["fairplay", *arguments(verb, games)]),
        patch.object(sys, "path", [str(games), *sys.path]),
        fixed_match_id(),
        redirect_stdout(output),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, err.getvalue()


def played(said: str) -> list[str]:
    """What was said, but for what no two matches have in common."""
    return [line for line in said.splitlines() if not line.startswith(("match: ", "commitment "))]


def written(verb: str, games: Path, encoding: str) -> tuple[int, str, str]:
    """The exit code of a verb, what it writes in some encoding, and its complaints."""
    with TemporaryFile("w", encoding=encoding) as output:
        code, err = said(verb, games, output)
        output.flush()
        os.lseek(output.fileno(), 0, os.SEEK_SET)
        return code, os.read(output.fileno(), 2**20).decode(encoding), err


def run(verb: str, games: Path, **options: Any) -> CommandResult:
    """The same in a process of its own."""
    environment = {"PYTHONPATH": python_path(games), **options.pop("environment", {})}
    return run_script(*arguments(verb, games), environment=environment, **options)


def in_ascii(text: str, verb: str) -> str:
    """A text with stand-ins, and without the times that a bot took."""
    text = re.sub(r"[0-9.]+ ([muµ]?s\b)?", "", text) if verb == "check-bot" else text
    return "".join(sign if sign.isascii() else replacement(sign) for sign in text)


# What the encoding cannot hold


@pytest.mark.parametrize(
    ("verb", "encoding"),
    [(verb, "ascii") for verb in COMMANDS]
    + [(verb, encoding) for verb in ("play q", "play in JSON", "why") for encoding in ("latin-1", "cp437", "utf-16")],
)
def test_what_the_encoding_cannot_hold_has_a_stand_in(verb: str, encoding: str, games: Path) -> None:
    code, out, err = written(verb, games, "utf-8")
    bare_code, bare_out, bare_err = written(verb, games, encoding)

    assert bare_out
    assert (bare_code, bare_err) == (code, err)
    assert in_ascii(bare_out, verb) == in_ascii(out, verb)


@pytest.mark.parametrize(("verb", "encoding"), [("play q", "latin-1"), ("replay", "ascii")])
def test_so_it_is_with_the_encoding_that_python_was_told(verb: str, encoding: str, games: Path) -> None:
    done = run(verb, games, environment={"PYTHONIOENCODING": encoding}, encoding=encoding)

    assert (done.code, done.err) == (0, "")
    assert played(done.out) == played(written(verb, games, encoding)[1])
    assert any(line.startswith("1. ") for line in done.out.splitlines())


@pytest.mark.parametrize("environment", [{}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_without_a_language_everything_is_said_too(environment: Mapping[str, str], games: Path) -> None:
    done = run("replay", games, environment={"LC_ALL": "C", "PYTHONIOENCODING": "", **environment})

    assert (done.code, done.err) == (0, "")
    assert any(line.startswith("1. ") for line in done.out.splitlines())


def test_a_file_whose_name_is_no_text_is_named_as_well_as_it_can_be(games: Path, tmp_path: Path) -> None:
    (path,) = games.glob("*.jsonl")
    odd = os.fsencode(tmp_path) + b"/\xff.jsonl"
    Path(os.fsdecode(odd)).write_bytes(path.read_bytes())

    done = subprocess.run([INSTALLED_COMMAND, "verify", odd], capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(os.fsencode(tmp_path) + b"/?.jsonl: same result, ")


@pytest.mark.parametrize("game", GAMES)
def test_whatever_a_board_is_drawn_with_has_a_stand_in_that_is_as_wide(game: str) -> None:
    info = game_info(game)
    drawn = [info.text(info.rules().view(state, None), ()) for state in info.examples.values()]
    signs = {sign for text in drawn for sign in text if not sign.isascii()}

    assert drawn
    assert {sign: replacement(sign) for sign in signs if "?" in replacement(sign)} == {}
    assert {sign: replacement(sign) for sign in signs if len(replacement(sign)) != display_width(sign)} == {}
    assert len({replacement(sign) for sign in SIGNS.values()}) == len(SIGNS) == 6


def test_the_result_is_said_even_if_no_board_can_be_drawn(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    def broken(*_: object, **__: object) -> str:
        raise RuntimeError("no pencil")

    monkeypatch.setattr("fairplay.games.fish.terminal.text", broken)
    game_info.cache_clear()
    request.addfinalizer(game_info.cache_clear)

    done = run_fairplay("play", "fish", "ann=greedy", "bob=random", *SMALL_BOARD, "--seed", "7")

    assert done.code == 0
    assert "observer Reporter was dropped: RuntimeError" in done.err
    assert sorted(line[3:] for line in done.out.splitlines()[-2:]) == ["ann (23)", "bob (7)"]


# Colours


@pytest.mark.parametrize(
    ("verb", "environment", "coloured"),
    [
        (verb, {"NO_COLOR": wish}, not wish)
        for verb in ("play q", "replay", "why", "check-bot", "library list")
        for wish in ("", "1")
    ]
    + [(verb, {"TERM": "dumb"}, False) for verb in ("replay", "library list")],
)
def test_a_terminal_gets_colours_unless_they_are_switched_off(
    verb: str, environment: dict[str, str], coloured: bool, games: Path
) -> None:
    terminal, end = os.openpty()
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    env |= {"TERM": "xterm-256color", "PYTHONPATH": python_path(games), **environment}

    with subprocess.Popen([INSTALLED_COMMAND, *arguments(verb, games)], stdout=end, env=env) as process:
        os.close(end)
        shown = b""
        while chunk := read_terminal(terminal):
            shown += chunk
    os.close(terminal)

    assert process.returncode == (1 if verb == "check-bot" else 0)
    assert any(start in shown for start in (b"\x1b[9", b"\x1b[3", b"\x1b[1;3")) == coloured


def read_terminal(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


# Readers that leave, and places that are full


@contextmanager
def broken_output(kind: str) -> Iterator[TextIO]:
    """A full disk, or the end of a pipe at whose other end nothing reads."""
    gone, end = os.pipe()
    os.close(gone)
    with os.fdopen(end, "w", encoding="utf-8") as pipe, Path("/dev/full").open("w", encoding="utf-8") as full:
        yield pipe if kind == "pipe" else full


@every_verb
def test_a_reader_that_leaves_changes_nothing_and_a_full_disk_is_a_fault_of_the_host(verb: str, games: Path) -> None:
    code, out, err = written(verb, games, "utf-8")
    assert out

    with broken_output("pipe") as pipe:
        assert said(verb, games, pipe) == (code, err)
    with broken_output("disk") as full:
        code, err = said(verb, games, full)

    assert code == 3
    assert err.splitlines()[-1] == "fairplay: the output cannot be written: No space left on device"


@pytest.mark.parametrize(("verb", "code"), [("play q", 0), ("replay", 0), ("check-bot", 1)])
def test_so_it_is_in_a_process_of_its_own(verb: str, code: int, games: Path) -> None:
    with broken_output("pipe") as pipe:
        done = run(verb, games, stdout=pipe)
    with broken_output("disk") as full:
        assert run(verb, games, stdout=full).code == 3

    assert (done.code, done.err) == (code, "")


def test_the_match_is_recorded_to_its_end_all_the_same(tmp_path: Path) -> None:
    with broken_output("pipe") as pipe:
        done = run_script("play", "fish", "greedy", "random", *SMALL_BOARD, "--journal", str(tmp_path), stdout=pipe)

    (path,) = tmp_path.glob("*.jsonl")
    assert (done.code, done.err) == (0, "")
    assert "same result" in run_script("verify", str(path)).out


@pytest.mark.parametrize("kind", ["pipe", "disk"])
def test_complaints_that_are_not_heard_change_nothing(kind: str) -> None:
    with broken_output(kind) as errors:
        assert run_script("play", "chess", "a", "b", stderr=errors).code == 2


def test_a_match_is_played_to_its_end_with_a_closed_output() -> None:
    done = run_script("play", "fish", "greedy", "random", *SMALL_BOARD, preexec_fn=lambda: os.close(1))

    assert (done.code, done.out, done.err) == (0, "", "")
