"""Test that docs/serving.md and the files for deploying a server are valid: settings, commands, a tournament."""

import configparser
import json
import re
import shlex
import tomllib
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from fairplay.cli.main import load_command
from fairplay.cli.serve import serve
from fairplay.server.settings import ServerSettings, read_settings
from fairplay.tournament.spec_file import read_sign_up_settings
from tools.readme_tables import ROOT

DEPLOY = ROOT / "examples" / "deploy"
PAGE = (ROOT / "docs" / "serving.md").read_text()
COMMANDS = re.findall(r"^    fairplay (.*?)(?:  +#.*| > .*)?$", PAGE, re.MULTILINE)
FILE = DEPLOY / "server.toml"


def test_the_file_is_read_as_it_stands() -> None:
    found, usual = read_settings(FILE), ServerSettings()

    assert replace(found, directory=usual.directory, web=None, offers=()) == usual
    assert found.web == 8080
    assert [offer.game for offer in found.offers] == ["fish", "q"]
    fish, as_usual = found.offers
    assert (fish.wait, fish.policy, fish.limits) == (as_usual.wait, as_usual.policy, as_usual.limits)


@pytest.mark.parametrize("how", ["service", "container"])
def test_the_command_is_understood(how: str) -> None:
    if how == "service":
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str  # type: ignore[assignment, method-assign]
        unit.read(DEPLOY / "fairplay.service")
        words = shlex.split(unit["Service"]["ExecStart"])
        assert (unit["Service"]["KillSignal"], unit["Service"]["Restart"]) == ("SIGTERM", "on-failure")
        assert float(unit["Service"]["TimeoutStopSec"]) > 10
    else:
        steps = dict(line.split(" ", 1) for line in (DEPLOY / "Containerfile").read_text().splitlines())
        words = [*json.loads(steps["ENTRYPOINT"]), *json.loads(steps["CMD"])]
    command, verb, *options = words

    found = serve.make_context(verb, options).params

    assert (Path(command).name, verb) == ("fairplay", "serve")
    assert (found["config"], found["directory"]) == ("/etc/fairplay/server.toml", "/var/lib/fairplay")
    assert found["log"] == "json"


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_page_is_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cup").mkdir()
    verb, *words = shlex.split(line)

    command = load_command(verb)

    assert command is not None
    assert command.make_context(verb, words).params


def test_all_verbs_of_a_server_are_there() -> None:
    assert {line.split()[0] for line in COMMANDS} == {"serve", "join", "watch", "status", "token", "standings"}


def test_the_tournament_of_the_page_is_read(tmp_path: Path) -> None:
    [tournament] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "cup.toml").write_text(tournament)

    found = read_sign_up_settings(tmp_path / "cup.toml")

    assert msgspec.to_builtins(found) == tomllib.loads(tournament)["signup"]
