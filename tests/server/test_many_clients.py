"""Test a server under load: thousands of silent connections and guesses at a token, and a thousand players."""

import json
import resource
import signal
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairplay.protocol import player_side, wire
from fairplay.server.sign_in.tokens import make_token
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
connection_limits = { matches_per_client = 1 }
reconnect_window = 60
[[games]]
game = "fish"
max = 2
parameters = { rows = 4, columns = 3 }
limits = { move = 60, first = 60, start = 60 }
"""
MAX_OPEN_FILES = 4096  # of a process
FEW = 8  # files that may stay open
SILENT = 2000
GUESSES, SOURCES, AT_ONCE = 10_000, 100, 4
PLAYERS = 1000
NO_LINGER = struct.pack("ii", 1, 0)


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    """Raise the limit of open files, here and in the server."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], MAX_OPEN_FILES), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "server.toml"
    path.write_text(CONFIG)
    return str(path)


def connected(server: ServerProcess, source: str) -> socket.socket:
    """A connection from an address of this machine, which is reset when it is closed."""
    made = socket.create_connection((LOOPBACK, server.port), TIMEOUT_S, (source, 0))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    return made


def open_files(server: ServerProcess) -> int:
    """How many files a server has open."""
    return sum(1 for _ in Path(f"/proc/{server.process.pid}/fd").iterdir())


def test_two_thousand_silent_connections_delay_no_client(tmp_path: Path, config: str) -> None:
    with run_server(tmp_path / "server", "--config", config) as server:
        before, gate = open_files(server), TurnGate(1)
        guests = [GuestThread(server.address, name, lambda: gate) for name in ("ann", "bob")]
        gate.wait_until(lambda gate: gate.waiting == 1)

        silent = [connected(server, "127.0.0.2") for _ in range(SILENT)]
        late = [GuestThread(server.address, name) for name in ("cyd", "dee")]
        for guest in late:
            assert guest.wait_until_done().lost == ""
        refused = len(server.events("refused"))
        gate.open()
        for guest in guests:
            assert guest.wait_until_done().lost == ""
        for one in silent:
            one.close()
        wait_for_value(lambda: open_files(server) <= before + FEW)
        server.stop_when_idle()

    assert refused < SILENT  # no client waited until the last of them was closed
    assert len([check_undisturbed(path) for path in server.journals()]) == 2


def test_ten_thousand_guesses_at_a_token_are_refused_and_keep_no_client_out(tmp_path: Path, config: str) -> None:
    heard: Counter[str] = Counter()

    def guess(server: ServerProcess, numbers: range) -> None:
        for number in numbers:
            with connected(server, f"127.0.1.{number % SOURCES + 1}") as line, line.makefile("rb") as stream:
                nonce = json.loads(stream.readline())["nonce"]
                answer = {"name": "ann", "token": f"{number:032x}"}
                line.sendall(wire.encode({"nonce": nonce, "answer": answer}) + b"\n")
                said = json.loads(stream.readline())
                assert said["type"] == "goodbye"
                heard[said["why"]] += 1

    with run_server(tmp_path / "server", "--config", config) as server:
        before, gate = open_files(server), TurnGate(2)
        token = make_token(tmp_path / "server", "ann")
        guests = [
            GuestThread(server.address, "ann", lambda: gate, token=token, breaks=3),
            GuestThread(server.address, "bob", lambda: gate, breaks=3),
        ]
        gate.wait_until(lambda gate: gate.waiting == 1)
        threads = [
            threading.Thread(target=guess, args=(server, range(first, GUESSES, AT_ONCE))) for first in range(AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        gate.open()
        for guest in guests:
            assert guest.wait_until_done().lost == ""
        for thread in threads:
            thread.join(TIMEOUT_S)
            assert not thread.is_alive()
        wait_for_value(lambda: open_files(server) <= before + FEW)
        server.stop_when_idle()

    assert heard == {"invalid token for 'ann' (this server reads server/tokens)": GUESSES}
    [path] = server.journals()
    check_undisturbed(path)


def test_a_thousand_players_reconnect_at_once_to_a_server_that_was_killed(
    tmp_path: Path, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 1.0)
    with run_server(tmp_path / "server", "--config", config) as server:
        gate, guests = TurnGate(1), list[GuestThread]()
        for number in range(PLAYERS):
            guests.append(GuestThread(server.address, f"player-{number}", lambda: gate))
            if number % 100 == 99:  # a client that never signed in does not reconnect
                wait_for_value(lambda: len(server.events("signed in")) == len(guests))
        gate.wait_until(lambda gate: gate.waiting == PLAYERS // 2)

        server.end(signal.SIGKILL)
        server.start()
        gate.open()

        for guest in guests:
            assert guest.wait_until_done().lost == ""
        server.stop_when_idle()

    assert len([check_undisturbed(path) for path in server.journals()]) == PLAYERS // 2
