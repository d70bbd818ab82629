"""Test that hostile browsers, spectators and bytes do not disturb the matches of a real server."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fairplay.protocol import player_side, wire
from fairplay.testing.hostile_connections import HANDSHAKE
from tests.nonempty import nonempty
from tests.server import test_many_clients
from tests.server.browser.test_pages import BAD, ORIGINS, OTHERS, PLACES
from tests.server.guest_threads import (
    LOOPBACK,
    TIMEOUT_S,
    GuestThread,
    ServerProcess,
    TurnGate,
    check_undisturbed,
    run_server,
    wait_for_value,
)

CONFIG = """
websocket = 0
web = 0
reconnect_window = 60
connection_limits = { matches_per_client = 1 }
[[games]]
game = "fish"
max = 2
parameters = { rows = 8, columns = 8 }
limits = { move = 60, first = 60, start = 60 }
"""
IDLE, VIEWERS, SPECTATORS, FLOODS = 1000, 100, 300, 50
MAX_MEMORY_KB = 50_000  # for all of them
many_files = test_many_clients.many_files


class Shown:
    """A server with an unfinished match, and its web pages."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        [event] = wait_for_value(lambda: server.events("serving web pages"))
        self.port = int(event["address"].rpartition(":")[2])
        self.room = server.events("room opened")[0]["match"]

    def say(self, text: bytes | str, port: int | None = None) -> socket.socket:
        """Connect, and send this."""
        connection = socket.create_connection((LOOPBACK, port or self.port), TIMEOUT_S)
        connection.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
        return connection

    def ask(self, path: str, headers: str = "Host: localhost\r\n") -> bytes:
        """The whole answer to a request."""
        with (
            self.say(f"GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n") as line,
            line.makefile("rb") as all_,
        ):
            return all_.read()


@contextmanager
def a_match(directory: Path) -> Iterator[Shown]:
    """A server with a match over connections that break; at the end it is undisturbed, and nothing failed."""
    config = directory / "server.toml"
    config.write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch, run_server(directory / "server", "--config", str(config)) as server:
        patch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.5)  # of clients that reconnect
        gate = TurnGate(2)
        guests = [GuestThread(server.address, name, lambda: gate, breaks=4) for name in ("ann", "bob")]
        gate.wait_until(lambda gate: gate.waiting == 1)
        shown = Shown(server)
        yield shown
        gate.open()
        for guest in guests:
            assert guest.wait_until_done().lost == ""
        wait_for_value(lambda: server.events("match ended"))
        assert b" 200 " in shown.ask(f"/matches/{shown.room}")[:20]
        server.stop_when_idle()
    [path] = server.journals()
    check_undisturbed(path)
    assert [one for one in server.told if one["level"] != "info"] == []


def test_forbidden_requests_of_browsers_are_refused_and_disturb_no_match(tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        assert b" 200 " in shown.ask(f"/rooms/{shown.room}")[:20]
        for place in (shown.room, f"{shown.room}.jsonl", *PLACES):  # an unfinished match has no replay
            answer = shown.ask(f"/matches/{place.replace(' ', '%20')}")
            assert answer.startswith(b"HTTP/1.1 404"), place
            assert shown.room.encode() not in answer
        for origin in nonempty(ORIGINS):
            headers = f"Host: localhost:{shown.port}\r\nOrigin: {origin.format(port=shown.port)}\r\n"
            assert shown.ask(f"/rooms/{shown.room}/live", headers).startswith(b"HTTP/1.1 403"), origin
            shaken = HANDSHAKE.replace(b"\r\n\r\n", f"\r\nOrigin: {origin.format(port=shown.port)}\r\n\r\n".encode())
            with shown.say(shaken, shown.server.websockets[0]) as connection, connection.makefile("rb") as answered:
                assert answered.readline().split()[1] == b"403", origin
        for host in nonempty(OTHERS):
            assert shown.ask("/status", f"Host: {host}\r\n")[:12] in (b"HTTP/1.1 421", b"HTTP/1.1 400"), host
        for text in nonempty(BAD.values()):
            with shown.say(text) as connection, connection.makefile("rb") as answered, suppress(ConnectionError):
                assert answered.read().count(b"HTTP/1.1") <= 1
        assert shown.ask("/healthz").endswith(b"ok\n")


def test_many_browsers_that_idle_never_read_or_never_end_cost_little_and_delay_no_match(tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        server, before = shown.server, memory(shown.server)
        connections = [shown.say("") for _ in range(IDLE)]
        connections += [shown.say("GET / HTTP/1.1\r\nX: ") for _ in range(VIEWERS)]
        live = f"GET /rooms/{shown.room}/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connections += [shown.say(live) for _ in range(VIEWERS)]
        for _ in range(SPECTATORS):
            connection = shown.say(b"", server.port)
            nonce = json.loads(connection.recv(1000))["nonce"]
            connection.sendall(wire.encode({"nonce": nonce, "answer": {"purpose": "watch"}}) + b"\n")
            connections.append(connection)
        wait_for_value(lambda: server.status().rooms[0].spectators >= SPECTATORS)
        for _ in range(FLOODS):
            with shown.say(b"", server.port) as connection, suppress(ConnectionError):
                for _ in range(100):
                    connection.sendall(b"x" * 100_000)
        assert shown.ask("/healthz").endswith(b"ok\n")
        assert memory(server) - before < MAX_MEMORY_KB
        for connection in connections:
            connection.close()


def memory(server: ServerProcess) -> int:
    """The memory of a server, in kilobytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1])
