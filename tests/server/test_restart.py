"""Test that matches survive when their server is killed several times: players reconnect, and all matches end."""

import signal
import threading
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay.games import GAMES
from fairplay.protocol import player_side
from fairplay.server.sign_in.tokens import make_token
from tests.server.guest_threads import (
    TIMEOUT_S,
    GuestThread,
    ServerProcess,
    TurnGate,
    check_receipts,
    check_undisturbed,
    run_server,
    wait_for_value,
)

ROOMS = 20
CONFIG = """
connection_limits = {{ matches_per_client = 1 }}
[[games]]
game = "{game}"
min = {players}
max = {players}
parameters = {{ {parameters} }}
limits = {{ move = 60, first = 60, start = 60 }}
"""
TABLES = {  # players, parameters, and rooms that are certainly open when each player has had a turn
    "fish": (2, "rows = 5, columns = 5", ROOMS),
    "tsuro": (3, "", ROOMS),
    "q": (3, "", ROOMS // 2),
}


class Guests:
    """All clients, some with tokens and the others as guests, behind one gate after the other."""

    def __init__(self, server: ServerProcess, players: int, gate: TurnGate) -> None:
        self.gate = gate
        self.guests: list[GuestThread] = []
        for number in range(players):
            name = f"player-{number}"
            token = make_token(server.directory, name) if number % 3 == 0 else ""
            self.guests.append(GuestThread(server.address, name, lambda: self.gate, token=token))

    def next(self, gate: TurnGate) -> None:
        """Use another gate from now on, and open the one before."""
        self.gate, before = gate, self.gate
        before.open()


def config_for(game: str, directory: Path) -> Path:
    """The settings file of a server with a game."""
    path = directory / "server.toml"
    players, parameters, _ = TABLES[game]
    path.write_text(CONFIG.format(game=game, players=players, parameters=parameters))
    return path


@pytest.fixture(autouse=True)
def _reconnect_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients reconnect soon."""
    monkeypatch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.5)


def test_a_client_that_has_heard_the_end_is_not_ejected_by_a_restarted_server(tmp_path: Path) -> None:
    config = config_for("fish", tmp_path)
    names, heard, slow, killed = ("ann", "bob"), list[str](), threading.Event(), threading.Event()
    tokens = {name: make_token(tmp_path / "server", name) for name in names}

    def hear(name: str) -> None:
        """The first client acknowledges the end, and leaves; the other one takes its time."""
        heard.append(name)
        if len(heard) == 2:
            slow.set()
            assert killed.wait(TIMEOUT_S)

    with run_server(
        tmp_path / "server", "--config", str(config), "--reconnect-window", "3", "--restart-window", "5"
    ) as server:
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
    (players, _, are_open), config = TABLES[game], config_for(game, tmp_path)
    with run_server(
        tmp_path / "server",
        "--config",
        str(config),
        "--reconnect-window",
        str(TIMEOUT_S),
        "--restart-window",
        str(TIMEOUT_S),
    ) as server:
        clients = Guests(server, players * ROOMS, TurnGate(1))

        wait_for_value(lambda: all(guest.told for guest in clients.guests))  # all are signed in
        clients.gate.wait_until(lambda gate: gate.waiting >= are_open)  # a question is open in so many rooms
        assert len(server.journals()) >= are_open
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
        clients.next(TurnGate(2))
        server.start()

        clients.gate.wait_until(lambda gate: gate.taken > ROOMS)  # at any point of their matches
        server.end(signal.SIGKILL)
        clients.next(TurnGate(0))
        server.start()

        clients.gate.wait_until(lambda gate: gate.waiting > 0)  # while players are still coming back
        server.end(signal.SIGKILL)
        clients.next(TurnGate(10**6))
        server.start()

        for guest in clients.guests:
            assert guest.wait_until_done().lost == ""
        server.stop_when_idle()

    records = [check_undisturbed(path) for path in server.journals()]
    assert len(records) == ROOMS
    resumptions = [len(record.resumptions) for record in records]  # without those before the first fact
    assert sum(map(bool, resumptions)) >= are_open
    assert max(resumptions) >= 2
    by_player = {name: record for record in records for name in record.opening.names}
    assert by_player.keys() == {guest.name for guest in clients.guests}
    for guest in clients.guests:
        record = by_player[guest.name]
        assert record.closing is not None
        out = [one.seat for one in record.closing.result.ejected]  # for want of a legal action
        told = [] if record.names.index(guest.name) in out else [record.closing.result]
        heard = [replace(result, receipt=None) for result in guest.results]
        at_end = record.resumptions.count(len(record.facts))  # each time, it is sent again
        assert heard[:1] == told and set(heard) == set(told)
        assert len(heard) <= len(told) * (1 + at_end)
        check_receipts(guest, record)
