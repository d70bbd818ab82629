"""Test docs/serving.md against the code: its commands and its tournament are valid."""

import re
import shlex
import tomllib
from pathlib import Path

import msgspec
import pytest

from fairplay.cli.main import load_command
from fairplay.tournament.spec_file import read_sign_up_settings

TEXT = (Path(__file__).parents[2] / "docs" / "serving.md").read_text()
COMMANDS = re.findall(r"^    fairplay (.*?)(?:  +#.*| > .*)?$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_is_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cup").mkdir()
    verb, *words = shlex.split(line)

    command = load_command(verb)

    assert command is not None
    assert command.make_context(verb, words).params


def test_all_verbs_of_a_server_are_there() -> None:
    assert {line.split()[0] for line in COMMANDS} == {"serve", "join", "watch", "status", "token", "standings"}


def test_the_tournament_is_read(tmp_path: Path) -> None:
    [tournament] = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "cup.toml").write_text(tournament)

    found = read_sign_up_settings(tmp_path / "cup.toml")

    assert msgspec.to_builtins(found) == tomllib.loads(tournament)["signup"]
