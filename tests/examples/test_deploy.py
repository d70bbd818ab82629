"""Test that the files for deploying a server are valid: its settings, and its commands."""

import configparser
import json
import shlex
from pathlib import Path

import pytest

from fairplay.cli.serve import serve
from fairplay.server.settings import ServerSettings, read_settings

DEPLOY = Path(__file__).parents[2] / "examples" / "deploy"
FILE = DEPLOY / "server.toml"
AS_USUAL = (
    "name",
    "host",
    "port",
    "web_host",
    "web_names",
    "guests",
    "reconnect_window",
    "restart_window",
    "log",
    "connection_limits",
)


def test_the_file_is_read_as_it_stands() -> None:
    found, usual = read_settings(FILE), ServerSettings()

    assert [getattr(found, name) for name in AS_USUAL] == [getattr(usual, name) for name in AS_USUAL]
    assert (found.web, found.websocket, found.tls) == (8080, None, None)
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
    assert (found["config"], found["directory"], found["log"]) == (
        "/etc/fairplay/server.toml",
        "/var/lib/fairplay",
        "json",
    )
