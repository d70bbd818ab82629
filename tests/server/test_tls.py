"""Test a server over TLS and over WebSocket in TLS, beside connections with bad handshakes."""

import signal
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from fairplay.protocol import player_side
from fairplay.testing.hostile_connections import HANDSHAKE
from tests.server.guest_threads import (
    LOOPBACK,
    GuestThread,
    TurnGate,
    check_undisturbed,
    connect_raw,
    run_server,
    wait_for_value,
)
from tests.server.sign_in import test_sign_in

CONFIG = """
websocket = 0
reconnect_window = 60
connection_limits = { matches_per_client = 1, hello_timeout = 3 }
[[games]]
game = "fish"
max = 2
parameters = { rows = 5, columns = 5 }
limits = { move = 60, first = 60, start = 60 }
"""
certificate = test_sign_in.certificate
Call = Callable[[socket.socket, ssl.SSLContext], socket.socket]  # what a test does on a new connection


def secured(connection: socket.socket, trusting: ssl.SSLContext) -> socket.socket:
    return trusting.wrap_socket(connection, server_hostname=LOOPBACK)


def says_nothing(connection: socket.socket, trusting: ssl.SSLContext) -> socket.socket:
    return connection


def speaks_plainly(connection: socket.socket, trusting: ssl.SSLContext) -> socket.socket:
    connection.sendall(b'{"nonce":"1-0123456789abcdef","answer":null}\n')
    return connection


def shakes_hands_plainly(connection: socket.socket, trusting: ssl.SSLContext) -> socket.socket:
    connection.sendall(HANDSHAKE)
    return connection


def begins_tls(connection: socket.socket, trusting: ssl.SSLContext) -> socket.socket:
    connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    return connection


def is_silent_in_tls(connection: socket.socket, trusting: ssl.SSLContext) -> socket.socket:
    return secured(connection, trusting)


def babbles_in_tls(connection: socket.socket, trusting: ssl.SSLContext) -> socket.socket:
    encrypted = secured(connection, trusting)
    encrypted.sendall(b"what?\n\r\n\r\n")
    return encrypted


def breaks_tls(connection: socket.socket, trusting: ssl.SSLContext) -> socket.socket:
    encrypted = secured(connection, trusting)
    with socket.socket(fileno=encrypted.detach()) as plain:
        plain.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))  # an invalid TLS record
        return plain.dup()


CALLS: dict[Call, tuple[str, str]] = {  # why each is refused, over TLS and over WebSocket in TLS
    says_nothing: ("hello_timeout", "hello_timeout"),
    speaks_plainly: ("gone", "gone"),
    shakes_hands_plainly: ("gone", "gone"),
    begins_tls: ("hello_timeout", "hello_timeout"),
    is_silent_in_tls: ("hello_timeout", "hello_timeout"),
    babbles_in_tls: ("malformed", "gone"),
    breaks_tls: ("gone", "gone"),
}


def test_matches_are_played_over_tls_and_websocket_beside_bad_handshakes(
    tmp_path: Path, certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.5)
    config = tmp_path / "server.toml"
    config.write_text(CONFIG)
    trusting = ssl.create_default_context(cafile=certificate[0])
    with run_server(tmp_path / "server", "--config", str(config), "--tls", *certificate) as server:
        gate, places = TurnGate(2), (server.address, f"{LOOPBACK}:{server.websockets[0]}")
        ways = [f"{scheme}://{place}" for scheme, place in zip(("tls", "wss"), places, strict=True)]
        guests = [
            GuestThread(way, f"{name}-{number}", lambda: gate, breaks=3, ca=certificate[0])
            for number in range(2)
            for name, way in zip(("ann", "bob"), ways, strict=True)
        ]
        gate.wait_until(lambda gate: gate.waiting == 2)

        callers = [call(connect_raw(place), trusting) for call in CALLS for place in places]
        wait_for_value(lambda: len(server.events("refused")) >= len(callers))
        refused = Counter(one["reason"] for one in server.events("refused"))
        for caller in callers:
            caller.close()
        gate.open()
        for guest in guests:
            assert guest.wait_until_done().lost == ""
        wait_for_value(lambda: len(server.events("match ended")) == 2)
        assert server.end(signal.SIGTERM) == 0

    assert refused == Counter(reason for reasons in CALLS.values() for reason in reasons)
    assert len([check_undisturbed(path) for path in server.journals()]) == 2
