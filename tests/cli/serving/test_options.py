"""Test the options of `fairplay serve`: what they set and override, and which are refused."""

from pathlib import Path
from typing import Any

import click
import pytest

from fairplay.cli.main import fairplay  # whose help options click keeps with a command
from fairplay.cli.serve import serve
from fairplay.cli.serving.options import OFFER_OPTIONS, SERVER_OPTIONS, apply_options, offer_from_options
from fairplay.protocol.limits import Limits
from fairplay.server.settings import ConnectionLimits, ServerSettings, Tls, read_settings

FILE = """
port = 5000
guests = false
connection_limits = { connections_per_address = 10, hello_timeout = 5 }
[[games]]
game = "fish"
"""
SAID = {
    "--name": ("the lab", "name", "the lab"),
    "--dir": ("kept", "directory", "kept"),
    "--host": ("0.0.0.0", "host", "0.0.0.0"),
    "--port": ("0", "port", 0),
    "--websocket": ("4001", "websocket", 4001),
    "--web": ("8080", "web", 8080),
    "--web-host": ("::1", "web_host", "::1"),
    "--web-name": ("a.example", "web_names", ("a.example",)),
    "--no-guests": (None, "guests", False),
    "--reconnect-window": ("1.5", "reconnect_window", 1.5),
    "--restart-window": ("7", "restart_window", 7.0),
    "--log": ("json", "log", "json"),
    "--connection-limit": ("spectators=7", "connection_limits", ConnectionLimits(spectators=7)),
}


def given(*words: str) -> dict[str, Any]:
    """What the command makes of its options, without what was not said."""
    found = serve.make_context("serve", ["fish", *words], **fairplay.context_settings).params
    return {name: found[name] for name in SERVER_OPTIONS | OFFER_OPTIONS if found[name] not in (None, ())}


def said(option: str) -> tuple[str, ...]:
    value = SAID[option][0]
    return (option,) if value is None else (option, value)


@pytest.mark.parametrize("option", SAID)
def test_an_option_sets_what_it_is_called_after_and_nothing_else(option: str) -> None:
    _, name, value = SAID[option]

    found = apply_options(ServerSettings(), given(*said(option)))

    usual = ServerSettings()
    changed = {one: getattr(found, one) for one in SERVER_OPTIONS if getattr(found, one) != getattr(usual, one)}
    assert changed == {name: value}


def test_there_is_no_other_option_of_a_server_but_for_the_files_of_a_certificate() -> None:
    assert {name for _, name, _ in SAID.values()} | {"tls"} == SERVER_OPTIONS
    assert apply_options(ServerSettings(), given("--tls", "cert.pem", "key.pem")).tls == Tls("cert.pem", "key.pem")


def test_options_of_a_game_say_when_a_room_of_it_opens() -> None:
    options = ("--set", "rows=4", "--min", "2", "--max", "3", "--wait", "5", "--policy", "shuffled", "--fill", "greedy")

    found = offer_from_options("fish", given(*options, "--limit", "7"))

    assert (found.game, found.parameters["rows"], found.min_players, found.max_players) == ("fish", 4, 2, 3)
    assert (found.wait, found.policy, found.fill, found.limits) == (5.0, "shuffled", "greedy", Limits(move=7.0))

    usual = offer_from_options("fish", given())
    assert (usual.min_players, usual.max_players, usual.wait) == (2, 4, 10.0)
    assert (usual.policy, usual.fill, usual.limits) == ("first-come", "", Limits())


def test_options_of_the_command_line_override_the_file(tmp_path: Path) -> None:
    (tmp_path / "server.toml").write_text(FILE)

    words = ("--guests", "--connection-limit", "connections_per_address=7")
    found = apply_options(read_settings(tmp_path / "server.toml"), given(*words))

    limits = ConnectionLimits(connections_per_address=7, hello_timeout=5.0)
    assert (found.port, found.guests, found.connection_limits) == (5000, True, limits)
    assert [offer.game for offer in found.offers] == ["fish"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--port", "65536"), "expected int <= 65535"),
        (("--port", "x"), "expected int, got str"),
        (("--websocket", "-1"), "expected int >= 0"),
        (("--max", "0"), "expected int >= 1"),
        (("--reconnect-window", "nan"), "expected float > 0.0"),
        (("--wait", "86401"), "expected float <= 86400.0"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_refused_with_its_bounds(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(click.BadParameter) as refused:
        given(*words)

    assert refused.value.format_message() == f"Invalid value for '{words[0]}': {why}"
