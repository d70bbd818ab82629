"""Hold what deploys a house against the code: its file has every setting, and its commands are understood."""

import configparser
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from fairplay.cli.serve import serve
from fairplay.protocol.limits import PLAIN
from fairplay.server.settings import HouseSettings, Strangers, Written, WrittenOffer, read_settings
from tests.some import some

DEPLOY = Path(__file__).parents[2] / "examples" / "deploy"
FILE = DEPLOY / "house.toml"
AS_USUAL = ("name", "host", "port", "web_host", "web_names", "guests", "window", "back", "strangers")


def with_all_in_force() -> str:
    """The file, with those settings that are not in force as it stands."""
    return re.sub(r"^#(?=\w)", "", FILE.read_text(), flags=re.MULTILINE)


def test_the_file_is_read_as_it_stands() -> None:
    found, usual = read_settings(FILE, {}), HouseSettings(offers=())

    assert [getattr(found, name) for name in AS_USUAL] == [getattr(usual, name) for name in AS_USUAL]
    assert found.strangers == Strangers()
    assert [offer.game for offer in found.offers] == ["fish", "q"]
    fish, as_usual = found.offers
    assert (fish.wait, fish.policy, fish.limits) == (as_usual.wait, as_usual.policy, as_usual.limits)


def test_every_setting_is_in_it(tmp_path: Path) -> None:
    tables = tomllib.loads(with_all_in_force())

    assert set(tables) == set(Written.__struct_fields__)
    assert set(tables["strangers"]) == set(Strangers.__struct_fields__)
    assert set(tables["games"][0]) == set(WrittenOffer.__struct_fields__)
    assert set(PLAIN) == {"move", *re.findall(r"\w+", re.findall(r"also (.+) \(docs", FILE.read_text())[0])} - {"and"}
    (tmp_path / "house.toml").write_text(with_all_in_force())
    assert read_settings(tmp_path / "house.toml", {}).websocket == 4001


def test_every_setting_is_explained() -> None:
    settings = [line for line in with_all_in_force().splitlines() if "=" in line and not line.startswith("# ")]

    for line in some(settings[:-1]):  # the last names another game
        assert "  # " in line


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
    assert (found["config"], found["folder"], found["log"]) == ("/etc/fairplay/house.toml", "/var/lib/fairplay", "json")
