"""Come to a real server with browsers, spectators and bytes of every bad kind, while a match is played there."""

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
IDLE, LOOKING, WATCHING, FLOODING = 1000, 100, 300, 50
MOST_MORE = 50_000  # kilobytes of memory that all of them may cost
many_files = test_many_clients.many_files


class Shown:
    """A server with a match in the middle, and where it is seen."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        [told] = wait_for_value(lambda: server.events("serving web pages"))
        self.port = int(told["address"].rpartition(":")[2])
        self.room = server.events("room opened")[0]["match"]

    def say(self, text: bytes | str, port: int | None = None) -> socket.socket:
        """Connect, and say this."""
        line = socket.create_connection((LOOPBACK, port or self.port), TIMEOUT_S)
        line.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
        return line

    def ask(self, path: str, headers: str = "Host: localhost\r\n") -> bytes:
        """The whole answer to a request."""
        with (
            self.say(f"GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n") as line,
            line.makefile("rb") as all_,
        ):
            return all_.read()


@contextmanager
def a_match(directory: Path) -> Iterator[Shown]:
    """A server where two play on lines that break; at the end all is as if they had been alone, and nothing failed."""
    config = directory / "server.toml"
    config.write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch, run_server(directory / "server", "--config", str(config)) as server:
        patch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.5)  # of clients that come again
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
        for place in (shown.room, f"{shown.room}.jsonl", *PLACES):  # its record is not shown before it is over
            answer = shown.ask(f"/matches/{place.replace(' ', '%20')}")
            assert answer.startswith(b"HTTP/1.1 404"), place
            assert shown.room.encode() not in answer
        for origin in nonempty(ORIGINS):
            headers = f"Host: localhost:{shown.port}\r\nOrigin: {origin.format(port=shown.port)}\r\n"
            assert shown.ask(f"/rooms/{shown.room}/live", headers).startswith(b"HTTP/1.1 403"), origin
            shaken = HANDSHAKE.replace(b"\r\n\r\n", f"\r\nOrigin: {origin.format(port=shown.port)}\r\n\r\n".encode())
            with shown.say(shaken, shown.server.websockets[0]) as line, line.makefile("rb") as answered:
                assert answered.readline().split()[1] == b"403", origin
        for host in nonempty(OTHERS):
            assert shown.ask("/status", f"Host: {host}\r\n")[:12] in (b"HTTP/1.1 421", b"HTTP/1.1 400"), host
        for text in nonempty(BAD.values()):
            with shown.say(text) as line, line.makefile("rb") as answered, suppress(ConnectionError):
                assert answered.read().count(b"HTTP/1.1") <= 1
        assert shown.ask("/healthz").endswith(b"ok\n")


def test_many_browsers_that_idle_never_read_or_never_end_cost_little_and_delay_no_match(tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        server, before = shown.server, memory(shown.server)
        open_lines = [shown.say("") for _ in range(IDLE)]
        open_lines += [shown.say("GET / HTTP/1.1\r\nX: ") for _ in range(LOOKING)]
        live = f"GET /rooms/{shown.room}/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
        open_lines += [shown.say(live) for _ in range(LOOKING)]
        for _ in range(WATCHING):
            line = shown.say(b"", server.port)
            nonce = json.loads(line.recv(1000))["nonce"]
            line.sendall(wire.encode({"nonce": nonce, "answer": {"purpose": "watch"}}) + b"\n")
            open_lines.append(line)
        wait_for_value(lambda: server.status().rooms[0].spectators >= WATCHING)
        for _ in range(FLOODING):
            with shown.say(b"", server.port) as line, suppress(ConnectionError):
                for _ in range(100):
                    line.sendall(b"x" * 100_000)
        assert shown.ask("/healthz").endswith(b"ok\n")
        assert memory(server) - before < MOST_MORE
        for line in open_lines:
            line.close()


def memory(server: ServerProcess) -> int:
    """How many kilobytes of memory a server takes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1])
