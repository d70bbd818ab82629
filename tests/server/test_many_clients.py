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

from fairplay.server.sign_in.tokens import make_token
from tests.server.guest_threads import (
    TIMEOUT_S,
    GuestThread,
    ServerProcess,
    TurnGate,
    check_undisturbed,
    connect_raw,
    introduce,
    offer,
    playing_beside,
    run_server,
    wait_for_guests,
    wait_for_value,
)

SMALL = offer(rows=4, columns=3)
MAX_OPEN_FILES = 4096  # of a process
FEW = 8  # files that may stay open
SILENT = 2000
GUESSES, SOURCES, AT_ONCE = 3000, 100, 4
PLAYERS = 1000
NO_LINGER = struct.pack("ii", 1, 0)


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], MAX_OPEN_FILES), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def reset_at_end(connection: socket.socket) -> socket.socket:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    return connection


def open_files(server: ServerProcess) -> int:
    return sum(1 for _ in Path(f"/proc/{server.process.pid}/fd").iterdir())


def test_two_thousand_silent_connections_delay_no_client(tmp_path: Path) -> None:
    with run_server(tmp_path / "server", offers=[SMALL]) as server:
        before = open_files(server)
        with playing_beside(server):
            silent = [reset_at_end(connect_raw(server.port, source="127.0.0.2")) for _ in range(SILENT)]
            wait_for_guests([GuestThread(server.address, name) for name in ("cyd", "dee")])
            refused = len(server.events("refused"))
        for one in silent:
            one.close()
        wait_for_value(lambda: open_files(server) <= before + FEW)
        server.stop_when_idle()

    assert refused < SILENT  # no client waited until the last of them was closed
    assert len([check_undisturbed(path) for path in server.journals()]) == 2


def test_thousands_of_guesses_at_a_token_are_refused_and_keep_no_client_out(tmp_path: Path) -> None:
    heard: Counter[str] = Counter()

    def guess(server: ServerProcess, numbers: range) -> None:
        for number in numbers:
            wrong = {"name": "eve", "token": f"{number:032x}"}
            with (
                reset_at_end(introduce(server, wrong, f"127.0.1.{number % SOURCES + 1}")) as connection,
                connection.makefile("rb") as stream,
            ):
                said = json.loads(stream.readline())
                assert said["type"] == "goodbye"
                heard[said["why"]] += 1

    with run_server(tmp_path / "server", offers=[SMALL]) as server:
        before, token = open_files(server), make_token(tmp_path / "server", "eve")
        shares = [range(first, GUESSES, AT_ONCE) for first in range(AT_ONCE)]
        threads = [threading.Thread(target=guess, args=(server, share)) for share in shares]
        with playing_beside(server):
            for thread in threads:
                thread.start()
            wait_for_guests([GuestThread(server.address, "eve", token=token), GuestThread(server.address, "dee")])
        for thread in threads:
            thread.join(TIMEOUT_S)
            assert not thread.is_alive()
        wait_for_value(lambda: open_files(server) <= before + FEW)
        server.stop_when_idle()

    assert heard == {"invalid token for 'eve' (this server reads server/tokens)": GUESSES}
    assert len([check_undisturbed(path) for path in server.journals()]) == 2


def test_a_thousand_players_reconnect_at_once_to_a_server_that_was_killed(tmp_path: Path) -> None:
    with run_server(tmp_path / "server", offers=[SMALL]) as server:
        gate, guests = TurnGate(1), list[GuestThread]()
        for number in range(PLAYERS):
            guests.append(GuestThread(server.address, f"player-{number}", lambda: gate))
            if number % 100 == 99:  # a client that never signed in does not reconnect
                wait_for_value(lambda: len(server.events("signed in")) == len(guests))
        gate.wait_until(lambda gate: gate.waiting == PLAYERS // 2)

        server.end(signal.SIGKILL)
        server.start()
        gate.open()

        wait_for_guests(guests)
        server.stop_when_idle()

    assert len([check_undisturbed(path) for path in server.journals()]) == PLAYERS // 2
