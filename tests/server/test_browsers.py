"""Come to a real house with browsers, spectators and bytes of every bad kind, while a match is played there."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fairplay.protocol import player_side, wire
from fairplay.testing.hostile_connections import HANDSHAKE
from tests.server import test_crowds
from tests.server.browser.test_pages import BAD, ORIGINS, OTHERS, PLACES
from tests.server.guests import AMPLE, LOOPBACK, Gate, Guest, Served, check_undisturbed, eventually, served
from tests.some import some

CONFIG = """
websocket = 0
web = 0
window = 60
strangers = { matches = 1 }
[[games]]
game = "fish"
max = 2
parameters = { rows = 8, columns = 8 }
limits = { move = 60, first = 60, start = 60 }
"""
IDLE, LOOKING, WATCHING, FLOODING = 1000, 100, 300, 50
MOST_MORE = 50_000  # kilobytes of memory that all of them may cost
many_files = test_crowds.many_files


class Shown:
    """A house with a match in the middle, and where it is seen."""

    def __init__(self, house: Served) -> None:
        self.house = house
        [told] = eventually(lambda: house.events("to be seen"))
        self.port = int(told["address"].rpartition(":")[2])
        self.room = house.events("room opened")[0]["match"]

    def say(self, text: bytes | str, port: int | None = None) -> socket.socket:
        """Connect, and say this."""
        line = socket.create_connection((LOOPBACK, port or self.port), AMPLE)
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
def a_match(folder: Path) -> Iterator[Shown]:
    """A house where two play on lines that break; at the end all is as if they had been alone, and nothing failed."""
    config = folder / "house.toml"
    config.write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch, served(folder / "house", "--config", str(config)) as house:
        patch.setattr(player_side, "MAX_PAUSE_S", 0.5)  # of clients that come again
        gate = Gate(2)
        guests = [Guest(house.address, name, lambda: gate, breaks=4) for name in ("ann", "bob")]
        gate.until(lambda gate: gate.waiting == 1)
        shown = Shown(house)
        yield shown
        gate.open()
        for guest in guests:
            assert guest.done().lost == ""
        eventually(lambda: house.events("match over"))
        assert b" 200 " in shown.ask(f"/matches/{shown.room}")[:20]
        house.stop_when_all_is_over()
    [path] = house.journals()
    check_undisturbed(path)
    assert [one for one in house.told if one["level"] != "info"] == []


def test_what_browsers_may_not_do_they_do_not_and_nobody_notices(tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        assert b" 200 " in shown.ask(f"/rooms/{shown.room}")[:20]
        for place in (shown.room, f"{shown.room}.jsonl", *PLACES):  # its record is not shown before it is over
            answer = shown.ask(f"/matches/{place.replace(' ', '%20')}")
            assert answer.startswith(b"HTTP/1.1 404"), place
            assert shown.room.encode() not in answer
        for origin in some(ORIGINS):
            headers = f"Host: localhost:{shown.port}\r\nOrigin: {origin.format(port=shown.port)}\r\n"
            assert shown.ask(f"/rooms/{shown.room}/live", headers).startswith(b"HTTP/1.1 403"), origin
            shaken = HANDSHAKE.replace(b"\r\n\r\n", f"\r\nOrigin: {origin.format(port=shown.port)}\r\n\r\n".encode())
            with shown.say(shaken, shown.house.websockets[0]) as line, line.makefile("rb") as answered:
                assert answered.readline().split()[1] == b"403", origin
        for host in some(OTHERS):
            assert shown.ask("/status", f"Host: {host}\r\n")[:12] in (b"HTTP/1.1 421", b"HTTP/1.1 400"), host
        for text in some(BAD.values()):
            with shown.say(text) as line, line.makefile("rb") as answered, suppress(ConnectionError):
                assert answered.read().count(b"HTTP/1.1") <= 1
        assert shown.ask("/healthz").endswith(b"ok\n")


def test_crowds_that_are_idle_never_read_or_never_end_cost_little_and_hold_up_nobody(tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        house, before = shown.house, memory(shown.house)
        open_lines = [shown.say("") for _ in range(IDLE)]
        open_lines += [shown.say("GET / HTTP/1.1\r\nX: ") for _ in range(LOOKING)]
        live = f"GET /rooms/{shown.room}/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
        open_lines += [shown.say(live) for _ in range(LOOKING)]
        for _ in range(WATCHING):
            line = shown.say(b"", house.port)
            nonce = json.loads(line.recv(1000))["nonce"]
            line.sendall(wire.encode({"nonce": nonce, "answer": {"visit": "watch"}}) + b"\n")
            open_lines.append(line)
        eventually(lambda: house.status().rooms[0].spectators >= WATCHING)
        for _ in range(FLOODING):
            with shown.say(b"", house.port) as line, suppress(ConnectionError):
                for _ in range(100):
                    line.sendall(b"x" * 100_000)
        assert shown.ask("/healthz").endswith(b"ok\n")
        assert memory(house) - before < MOST_MORE
        for line in open_lines:
            line.close()


def memory(house: Served) -> int:
    """How many kilobytes of memory a house takes."""
    status = Path(f"/proc/{house.process.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1])
