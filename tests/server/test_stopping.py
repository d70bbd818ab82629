"""Stop a house by signals: open questions are answered, everybody hears of it, and the next one goes on with all."""

import operator
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fairplay.journal.replay import read
from fairplay.protocol import player_side, wire
from fairplay.server.farewells import LAST_WORDS
from fairplay.server.house import GRACE
from tests.cli.command import INTERRUPTIONS
from tests.server.guests import Gate, Guest, Served, at_the_door, check_undisturbed, eventually, served

ROOMS = 3
CONFIG = """
strangers = { matches = 1 }
window = 60
[[games]]
game = "fish"
max = 2
parameters = { rows = 5, columns = 5 }
limits = { move = 60, first = 60, start = 60 }
"""
SUSPENDED = "the house hangs up: the house stops for a while"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long before it comes again."""
    monkeypatch.setattr(player_side, "MAX_PAUSE_S", 0.5)


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "house.toml"
    path.write_text(CONFIG)
    return str(path)


def facts(house: Served) -> list[int]:
    """How much has happened in each match."""
    return sorted(len(read(path).facts) for path in house.journals())


def looking_on(address: str) -> tuple[list[bytes], Callable[[], bytes]]:
    """Somebody who watches whatever is played: what it hears of at first, and what reads the rest to the end."""
    line = at_the_door(address)
    stream = line.makefile("rb")
    hello = wire.decode_line(stream.readline())
    assert isinstance(hello, wire.Hello)
    line.sendall(wire.encode({"nonce": hello.nonce, "answer": {"visit": "watch"}}) + b"\n")
    first = [stream.readline()]

    def rest() -> bytes:
        with line, stream:
            return stream.read()

    return first, rest


@pytest.mark.parametrize("how", INTERRUPTIONS)
def test_open_questions_are_answered_and_everybody_hears_that_it_stops(how: str, tmp_path: Path, config: str) -> None:
    start, by = INTERRUPTIONS[how]
    gate = Gate(2)
    with served(tmp_path / "house", "--config", config, start=start) as house:
        guests = [Guest(house.address, f"player-{number}", lambda: gate) for number in range(2 * ROOMS)]
        gate.until(lambda gate: gate.waiting == ROOMS)
        first, rest = looking_on(house.address)
        idler = Guest(house.address, "idler")
        eventually(lambda: "signed up as idler" in idler.told)

        house.process.send_signal(by)
        eventually(lambda: house.events("stopping"))
        with pytest.raises(OSError), at_the_door(house.address) as late:
            assert late.recv(1) == b"", "somebody is let in"
            raise OSError("it was cut off")
        assert facts(house) == [4] * ROOMS  # nothing happens to those who have not answered yet
        gate.open()
        assert house.gone() == 0

        assert facts(house) == [5] * ROOMS  # the answers, and no more than that
        assert house.said == ["fairplay: stopped; the same command goes on with what was being played\n"]
        assert b'"snapshot"' in first[0]
        assert b'"suspended"' in rest().splitlines()[-1]
        for guest in [*guests, idler]:
            eventually(partial(operator.contains, guest.told, SUSPENDED))

        house.start()
        check_they_play_to_the_end([*guests, idler, Guest(house.address, "late")])
        house.stop_when_all_is_over()

    records = [check_undisturbed(path) for path in house.journals()]
    assert sorted(record.resumptions for record in records) == [(), *[(5,)] * ROOMS]


def check_they_play_to_the_end(guests: list[Guest]) -> None:
    """All of them end one match, and leave."""
    for guest in guests:
        assert guest.done().lost == ""
        assert len(guest.results) == 1


def test_who_never_answers_does_not_keep_it_from_stopping(tmp_path: Path, config: str) -> None:
    assert GRACE + LAST_WORDS < 10
    gate = Gate(2)
    with served(tmp_path / "house", "--config", config) as house:
        guests = [Guest(house.address, f"player-{number}", lambda: gate) for number in range(2 * ROOMS)]
        gate.until(lambda gate: gate.waiting == ROOMS)

        assert house.end(signal.SIGTERM) == 0

        assert facts(house) == [4] * ROOMS
        gate.open()  # which is too late for what was asked
        house.start()
        check_they_play_to_the_end(guests)
        house.stop_when_all_is_over()

    assert all(check_undisturbed(path).resumptions == (4,) for path in house.journals())


@pytest.mark.alone
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_the_second_signal_ends_it_at_once(by: signal.Signals, tmp_path: Path, config: str) -> None:
    gate = Gate(2)
    with served(tmp_path / "house", "--config", config) as house:
        guests = [Guest(house.address, f"player-{number}", lambda: gate) for number in range(2 * ROOMS)]
        gate.until(lambda gate: gate.waiting == ROOMS)

        house.process.send_signal(by)
        eventually(lambda: house.events("stopping"))
        since = time.monotonic()
        assert house.end(by) == 0
        assert time.monotonic() - since < GRACE, "it has waited for those who do not answer"

        gate.open()
        house.start()
        check_they_play_to_the_end(guests)
        house.stop_when_all_is_over()

    assert all(check_undisturbed(path).resumptions == (4,) for path in house.journals())
