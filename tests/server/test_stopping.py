"""Test how signals stop a server: clients are told, and the next server resumes all matches."""

import operator
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fairplay.journal.replay import read_journal
from fairplay.protocol import player_side, wire
from fairplay.server.pending_closes import LAST_MESSAGE_TIMEOUT_S
from fairplay.server.server import STOP_GRACE_S
from tests.cli.command import INTERRUPTIONS
from tests.server.guest_threads import (
    GuestThread,
    ServerProcess,
    TurnGate,
    check_undisturbed,
    connect_raw,
    run_server,
    wait_for_value,
)

ROOMS = 3
CONFIG = """
connection_limits = { matches_per_client = 1 }
reconnect_window = 60
[[games]]
game = "fish"
max = 2
parameters = { rows = 5, columns = 5 }
limits = { move = 60, first = 60, start = 60 }
"""
SUSPENDED = "the server closes the connection: the server is stopping for a while"


@pytest.fixture(autouse=True)
def _reconnect_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients reconnect soon."""
    monkeypatch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.5)


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "server.toml"
    path.write_text(CONFIG)
    return str(path)


def facts(server: ServerProcess) -> list[int]:
    """The number of facts of each match."""
    return sorted(len(read_journal(path).facts) for path in server.journals())


def watch_raw(address: str) -> tuple[list[bytes], Callable[[], bytes]]:
    """Connect a roaming spectator: its first line, and a function that reads the rest to the end."""
    connection = connect_raw(address)
    stream = connection.makefile("rb")
    hello = wire.decode_line(stream.readline())
    assert isinstance(hello, wire.Hello)
    connection.sendall(wire.encode({"nonce": hello.nonce, "answer": {"purpose": "watch"}}) + b"\n")
    first = [stream.readline()]

    def rest() -> bytes:
        with connection, stream:
            return stream.read()

    return first, rest


@pytest.mark.parametrize("how", INTERRUPTIONS)
def test_a_stopping_server_waits_for_open_answers_and_tells_all_clients(how: str, tmp_path: Path, config: str) -> None:
    start, by = INTERRUPTIONS[how]
    gate = TurnGate(2)
    with run_server(tmp_path / "server", "--config", config, start=start) as server:
        guests = [GuestThread(server.address, f"player-{number}", lambda: gate) for number in range(2 * ROOMS)]
        gate.wait_until(lambda gate: gate.waiting == ROOMS)
        first, rest = watch_raw(server.address)
        idler = GuestThread(server.address, "idler")
        wait_for_value(lambda: "signed in as idler" in idler.told)

        server.process.send_signal(by)
        wait_for_value(lambda: server.events("stopping"))
        with pytest.raises(OSError), connect_raw(server.address) as late:
            assert late.recv(1) == b"", "a new connection was accepted"
            raise OSError("the connection was refused")
        assert facts(server) == [4] * ROOMS  # nothing happens while the answers are due
        gate.open()
        assert server.wait_for_exit() == 0

        assert facts(server) == [5] * ROOMS  # the answers, and no more
        assert server.said == ["fairplay: stopped; the same command goes on with what was being played\n"]
        assert b'"snapshot"' in first[0]
        assert b'"suspended"' in rest().splitlines()[-1]
        for guest in [*guests, idler]:
            wait_for_value(partial(operator.contains, guest.told, SUSPENDED))

        server.start()
        check_played_to_the_end([*guests, idler, GuestThread(server.address, "late")])
        server.stop_when_idle()

    records = [check_undisturbed(path) for path in server.journals()]
    assert sorted(record.resumptions for record in records) == [(), *[(5,)] * ROOMS]


def check_played_to_the_end(guests: list[GuestThread]) -> None:
    """Wait until all have ended one match, and left."""
    for guest in guests:
        assert guest.wait_until_done().lost == ""
        assert len(guest.results) == 1


def test_a_client_that_never_answers_does_not_keep_a_server_from_stopping(tmp_path: Path, config: str) -> None:
    assert STOP_GRACE_S + LAST_MESSAGE_TIMEOUT_S < 10
    gate = TurnGate(2)
    with run_server(tmp_path / "server", "--config", config) as server:
        guests = [GuestThread(server.address, f"player-{number}", lambda: gate) for number in range(2 * ROOMS)]
        gate.wait_until(lambda gate: gate.waiting == ROOMS)

        assert server.end(signal.SIGTERM) == 0

        assert facts(server) == [4] * ROOMS
        gate.open()  # too late for the open questions
        server.start()
        check_played_to_the_end(guests)
        server.stop_when_idle()

    assert all(check_undisturbed(path).resumptions == (4,) for path in server.journals())


@pytest.mark.alone
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_a_server_at_once(by: signal.Signals, tmp_path: Path, config: str) -> None:
    gate = TurnGate(2)
    with run_server(tmp_path / "server", "--config", config) as server:
        guests = [GuestThread(server.address, f"player-{number}", lambda: gate) for number in range(2 * ROOMS)]
        gate.wait_until(lambda gate: gate.waiting == ROOMS)

        server.process.send_signal(by)
        wait_for_value(lambda: server.events("stopping"))
        since = time.monotonic()
        assert server.end(by) == 0
        assert time.monotonic() - since < STOP_GRACE_S, "it waited for clients that do not answer"

        gate.open()
        server.start()
        check_played_to_the_end(guests)
        server.stop_when_idle()

    assert all(check_undisturbed(path).resumptions == (4,) for path in server.journals())
