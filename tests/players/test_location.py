"""Test locations of players by their addresses."""

import sys
from pathlib import Path

import pytest

from fairplay import BadRequest
from fairplay.players.location import Command, ListenAddress, Location, parse_remote_address


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("tcp:4000", ListenAddress("tcp", "4000")),
        ("ws:example.org:80", ListenAddress("ws", "example.org:80")),
        ("exec:./bot --flag 'two words'", Command(("./bot", "--flag", "two words"))),
        ("./bot", Command(("./bot",))),
        ("random", None),
        ("lookahead:2", None),
        ("in-process:some.module:Name", None),
        ("in-process:module:Name.py", None),
    ],
)
def test_an_address_has_a_location(address: str, place: Location | None) -> None:
    assert parse_remote_address(address) == place


def test_a_directory_plays_by_its_main_file_and_is_an_argument(tmp_path: Path) -> None:
    directory = str(tmp_path)
    with pytest.raises(BadRequest, match=f"there is neither a program bot nor a file bot.py in {directory}"):
        parse_remote_address(directory)
    (tmp_path / "bot").touch()
    assert parse_remote_address(directory) == Command((f"{directory}/bot", directory))
    (tmp_path / "bot.py").touch()
    assert parse_remote_address(f"{directory}/") == Command(
        (sys.executable, "-P", "-m", "fairplay.bot", f"{directory}/")
    )


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("alone", "alone.py"),
        ("whole", "whole"),
        ("whole.inner.deep", "whole"),
        ("mere.alone", "mere/alone.py"),
        ("mere.whole.deep", "mere/whole"),
    ],
)
def test_a_module_plays_as_a_program_that_sees_its_file_or_its_package(
    module: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in ("alone.py", "whole/__init__.py", "whole/inner/deep.py", "mere/alone.py", "mere/whole/__init__.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("raise SystemExit('this is run')")
    monkeypatch.chdir(tmp_path)

    command = parse_remote_address(f"py:{module}:Bot")

    words = ("-P", "-m", "fairplay.bot", f"py:{module}:Bot", f"--from={tmp_path}", f"{tmp_path}/{place}")
    assert command == Command((sys.executable, *words))


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("exec:", "exec: names no program"),
        ("exec:'", "exec:' is not a command line: No closing quotation"),
        ("./missing.py", "there is no Python file ./missing.py"),
        (
            "py:missing_module:Bot",
            "py:missing_module:Bot cannot be loaded: ModuleNotFoundError: No module",
        ),
        ("py:..:Bot", "No module named '..'"),
        ("py:json.missing", "'py:json.missing' names no player; write py:module:Name"),
    ],
)
def test_an_address_without_a_player_is_refused(address: str, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        parse_remote_address(address)
