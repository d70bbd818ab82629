"""Test that matches survive when their server is stopped by signals or killed, and that clients are told."""

import operator
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay.games import GAMES
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import check_receipt
from fairplay.server.pending_closes import LAST_MESSAGE_TIMEOUT_S
from fairplay.server.server import STOP_GRACE_S
from fairplay.server.sign_in.tokens import make_token
from tests.cli.command import INTERRUPTIONS
from tests.server.guest_threads import (
    TIMEOUT_S,
    GuestThread,
    ServerProcess,
    TurnGate,
    check_undisturbed,
    connect_raw,
    introduce,
    offer,
    run_server,
    wait_for_guests,
    wait_for_value,
)

# Killed servers

ROOMS = 20
TABLES = {"fish": (2, ROOMS), "tsuro": (3, ROOMS), "q": (3, ROOMS // 2)}
# players, and rooms that are certainly open when each player has had a turn


def test_a_client_that_has_heard_the_end_is_not_ejected_by_a_restarted_server(tmp_path: Path) -> None:
    names, heard, slow, killed = ("ann", "bob"), list[str](), threading.Event(), threading.Event()
    tokens = {name: make_token(tmp_path / "server", name) for name in names}

    def hear(name: str) -> None:
        """The first client acknowledges the end, and leaves; the other one takes its time."""
        heard.append(name)
        if len(heard) == 2:
            slow.set()
            assert killed.wait(TIMEOUT_S)

    with run_server(tmp_path / "server", offers=[offer()], reconnect_window=3, restart_window=5) as server:
        first = [
            GuestThread(server.address, name, token=tokens[name], at_the_end=partial(hear, name)) for name in names
        ]
        assert slow.wait(TIMEOUT_S)
        server.end(signal.SIGKILL)
        killed.set()
        for guest in first:
            guest.wait_until_done()
        server.start()
        back = GuestThread(server.address, heard[1], token=tokens[heard[1]]).wait_until_done()
        server.stop_when_idle()

    [path] = server.journals()
    record = check_undisturbed(path)
    assert record.closing is not None
    told = [result for guest in (*first, back) for result in guest.results]
    assert [replace(result, receipt=None) for result in told] == [record.closing.result] * 3


@pytest.mark.parametrize("game", GAMES)
def test_matches_of_a_killed_server_end_as_if_it_had_not_been_killed(game: str, tmp_path: Path) -> None:
    players, are_open = TABLES[game]
    gates = [TurnGate(1), TurnGate(2), TurnGate(0), TurnGate(10**6)]
    offers, window = [offer(game, players)], TIMEOUT_S
    with run_server(tmp_path / "server", offers=offers, reconnect_window=window, restart_window=window) as server:

        def restart() -> None:
            """Kill the server, use the next gate from now on, and open the one before."""
            assert server.end(signal.SIGKILL) == -signal.SIGKILL
            gates.pop(0).open()
            server.start()

        guests = [
            GuestThread(
                server.address,
                f"player-{number}",
                lambda: gates[0],
                token="" if number % 3 else make_token(server.directory, f"player-{number}"),
            )
            for number in range(players * ROOMS)
        ]
        wait_for_value(lambda: all(guest.told for guest in guests))  # all are signed in
        gates[0].wait_until(lambda gate: gate.waiting >= are_open)  # a question is open in so many rooms
        assert len(server.journals()) >= are_open
        restart()
        gates[0].wait_until(lambda gate: gate.taken > ROOMS)  # at any point of their matches
        restart()
        gates[0].wait_until(lambda gate: gate.waiting > 0)  # while players are still coming back
        restart()
        wait_for_guests(guests)
        server.stop_when_idle()

    records = [check_undisturbed(path) for path in server.journals()]
    assert len(records) == ROOMS
    resumptions = [len(record.resumptions) for record in records]  # without those before the first fact
    assert sum(map(bool, resumptions)) >= are_open
    assert max(resumptions) >= 2
    by_player = {name: record for record in records for name in record.opening.names}
    assert by_player.keys() == {guest.name for guest in guests}
    for guest in guests:
        record = by_player[guest.name]
        assert record.closing is not None
        out = [one.seat for one in record.closing.result.ejected]  # for want of a legal action
        told = [] if record.names.index(guest.name) in out else [record.closing.result]
        heard = [replace(result, receipt=None) for result in guest.results]
        at_end = record.resumptions.count(len(record.facts))  # each time, it is sent again
        assert heard[:1] == told and set(heard) == set(told)
        assert len(heard) <= len(told) * (1 + at_end)
        for receipt in guest.receipts:
            check_receipt(record, receipt)


# Stopped servers

MATCHES = 3
SUSPENDED = "the server closes the connection: the server is stopping for a while"


def facts(server: ServerProcess) -> list[int]:
    return sorted(len(read_journal(path).facts) for path in server.journals())


@contextmanager
def interrupted_matches(
    directory: Path, how: str = "SIGTERM", late: int = 0
) -> Iterator[tuple[ServerProcess, TurnGate, list[GuestThread]]]:
    """A server with matches that wait at a gate, to be interrupted; at the end it is started again, and all are played.

    So many clients come late, and have a match then.
    """
    start, _ = INTERRUPTIONS[how]
    gate = TurnGate(2)
    with run_server(directory / "server", offers=[offer()], start=start) as server:
        guests = [GuestThread(server.address, f"player-{number}", lambda: gate) for number in range(2 * MATCHES)]
        gate.wait_until(lambda gate: gate.waiting == MATCHES)
        yield server, gate, guests
        gate.open()
        server.start()
        guests += [GuestThread(server.address, f"late-{number}") for number in range(late)]
        wait_for_guests(guests)
        assert [len(guest.results) for guest in guests] == [1] * len(guests)
        server.stop_when_idle()


def resumptions(server: ServerProcess) -> list[tuple[int, ...]]:
    """After how many facts each match was resumed."""
    return sorted(check_undisturbed(path).resumptions for path in server.journals())


@pytest.mark.parametrize("how", INTERRUPTIONS)
def test_a_stopping_server_waits_for_open_answers_and_tells_all_clients(how: str, tmp_path: Path) -> None:
    with interrupted_matches(tmp_path, how, late=1) as (server, gate, guests):
        spectator = introduce(server, {"purpose": "watch"})
        guests.append(idler := GuestThread(server.address, "idler"))
        wait_for_value(lambda: "signed in as idler" in idler.told)

        server.process.send_signal(INTERRUPTIONS[how][1])
        wait_for_value(lambda: server.events("stopping"))
        with pytest.raises(OSError), connect_raw(server.port) as late:
            assert late.recv(1) == b"", "a new connection was accepted"
            raise OSError("the connection was refused")
        assert facts(server) == [4] * MATCHES  # nothing happens while the answers are due
        gate.open()
        assert server.wait_for_exit() == 0

        assert facts(server) == [5] * MATCHES  # the answers, and no more
        assert server.said == ["fairplay: stopped; the same command goes on with what was being played\n"]
        with spectator, spectator.makefile("rb") as stream:
            first, *_, last = stream.read().splitlines()
        assert b'"snapshot"' in first
        assert b'"suspended"' in last
        for guest in guests:
            wait_for_value(partial(operator.contains, guest.told, SUSPENDED))

    assert resumptions(server) == [(), *[(5,)] * MATCHES]


def test_a_client_that_never_answers_does_not_keep_a_server_from_stopping(tmp_path: Path) -> None:
    assert STOP_GRACE_S + LAST_MESSAGE_TIMEOUT_S < 10
    with interrupted_matches(tmp_path) as (server, _, _):
        assert server.end(signal.SIGTERM) == 0

        assert facts(server) == [4] * MATCHES  # their answers come too late for the open questions

    assert resumptions(server) == [(4,)] * MATCHES


@pytest.mark.alone
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_a_server_at_once(by: signal.Signals, tmp_path: Path) -> None:
    with interrupted_matches(tmp_path) as (server, _, _):
        server.process.send_signal(by)
        wait_for_value(lambda: server.events("stopping"))
        since = time.monotonic()
        assert server.end(by) == 0
        assert time.monotonic() - since < STOP_GRACE_S, "it waited for clients that do not answer"

    assert resumptions(server) == [(4,)] * MATCHES
