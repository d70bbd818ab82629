"""Let a crowd come to a house: two thousand who say nothing, ten thousand guesses, a thousand players at once."""

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
from tests.server.guests import AMPLE, LOOPBACK, Gate, Guest, Served, check_undisturbed, eventually, served

CONFIG = """
strangers = { matches = 1 }
window = 60
[[games]]
game = "fish"
max = 2
parameters = { rows = 4, columns = 3 }
limits = { move = 60, first = 60, start = 60 }
"""
FILES = 4096  # that a process may have open
FEW = 8  # of them, which may come and stay
SILENT = 2000
GUESSES, SOURCES, AT_ONCE = 10_000, 100, 4
PLAYERS = 1000
NO_LINGER = struct.pack("ii", 1, 0)


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    """A crowd takes more files than usual, here and in the house."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], FILES), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "house.toml"
    path.write_text(CONFIG)
    return str(path)


def connected(house: Served, source: str) -> socket.socket:
    """A connection from an address of this machine, of which nothing is left when it is closed."""
    made = socket.create_connection((LOOPBACK, house.port), AMPLE, (source, 0))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    return made


def files(house: Served) -> int:
    """How many files a house has open."""
    return sum(1 for _ in Path(f"/proc/{house.process.pid}/fd").iterdir())


def test_two_thousand_who_say_nothing_keep_nobody_waiting(tmp_path: Path, config: str) -> None:
    with served(tmp_path / "house", "--config", config) as house:
        before, gate = files(house), Gate(1)
        guests = [Guest(house.address, name, lambda: gate) for name in ("ann", "bob")]
        gate.until(lambda gate: gate.waiting == 1)

        silent = [connected(house, "127.0.0.2") for _ in range(SILENT)]
        late = [Guest(house.address, name) for name in ("cyd", "dee")]
        for guest in late:
            assert guest.done().lost == ""
        still_there = len(house.events("refused"))
        gate.open()
        for guest in guests:
            assert guest.done().lost == ""
        for one in silent:
            one.close()
        eventually(lambda: files(house) <= before + FEW)
        house.stop_when_all_is_over()

    assert still_there < SILENT  # nobody has waited until the last of them had to go
    assert len([check_undisturbed(path) for path in house.journals()]) == 2


def test_ten_thousand_guesses_at_a_token_let_nobody_in_and_keep_nobody_out(tmp_path: Path, config: str) -> None:
    heard: Counter[str] = Counter()

    def guess(house: Served, numbers: range) -> None:
        for number in numbers:
            with connected(house, f"127.0.1.{number % SOURCES + 1}") as line, line.makefile("rb") as stream:
                nonce = json.loads(stream.readline())["nonce"]
                answer = {"name": "ann", "token": f"{number:032x}"}
                line.sendall(wire.encode({"nonce": nonce, "answer": answer}) + b"\n")
                said = json.loads(stream.readline())
                assert said["type"] == "goodbye"
                heard[said["why"]] += 1

    with served(tmp_path / "house", "--config", config) as house:
        before, gate = files(house), Gate(2)
        token = make_token(tmp_path / "house", "ann")
        guests = [
            Guest(house.address, "ann", lambda: gate, token=token, breaks=3),
            Guest(house.address, "bob", lambda: gate, breaks=3),
        ]
        gate.until(lambda gate: gate.waiting == 1)
        threads = [
            threading.Thread(target=guess, args=(house, range(first, GUESSES, AT_ONCE))) for first in range(AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        gate.open()
        for guest in guests:
            assert guest.done().lost == ""
        for thread in threads:
            thread.join(AMPLE)
            assert not thread.is_alive()
        eventually(lambda: files(house) <= before + FEW)
        house.stop_when_all_is_over()

    assert heard == {"invalid token for 'ann' (this server reads house/tokens)": GUESSES}
    [path] = house.journals()
    check_undisturbed(path)


def test_a_thousand_players_come_back_at_once_to_a_house_that_was_killed(
    tmp_path: Path, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_side, "MAX_PAUSE_S", 1.0)
    with served(tmp_path / "house", "--config", config) as house:
        gate, guests = Gate(1), list[Guest]()
        for number in range(PLAYERS):
            guests.append(Guest(house.address, f"player-{number}", lambda: gate))
            if number % 100 == 99:  # nobody tries again who was never here
                eventually(lambda: len(house.events("signed up")) == len(guests))
        gate.until(lambda gate: gate.waiting == PLAYERS // 2)

        house.end(signal.SIGKILL)
        house.start()
        gate.open()

        for guest in guests:
            assert guest.done().lost == ""
        house.stop_when_all_is_over()

    assert len([check_undisturbed(path) for path in house.journals()]) == PLAYERS // 2
