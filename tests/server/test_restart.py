"""Kill a house in the middle of many matches, several times: players come back, and all ends as if it had not been."""

import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay.players import visit
from fairplay.server.tokens import make_token
from tests.server.guests import AMPLE, Gate, Guest, Served, check_receipts, check_undisturbed, served

ROOMS = 20
CONFIG = """
strangers = { matches = 1 }
[[games]]
game = "fish"
max = 2
parameters = { rows = 5, columns = 5 }
limits = { move = 60, first = 60, start = 60 }
"""


class Crowd:
    """Everybody who plays, some with tokens and the others as guests, behind one gate after the other."""

    def __init__(self, house: Served, gate: Gate) -> None:
        self.gate = gate
        self.guests: list[Guest] = []
        for number in range(2 * ROOMS):
            name = f"player-{number}"
            token = make_token(house.folder, name) if number % 3 == 0 else ""
            self.guests.append(Guest(house.address, name, lambda: self.gate, token=token))

    def next(self, gate: Gate) -> None:
        """From now on there is another gate; who waits at the one before is let through."""
        self.gate, before = gate, self.gate
        before.open()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long before it comes again."""
    monkeypatch.setattr(visit, "LONGEST_PAUSE", 0.5)


def test_all_matches_end_as_if_the_house_had_never_been_killed(tmp_path: Path) -> None:
    config = tmp_path / "house.toml"
    config.write_text(CONFIG)
    with served(tmp_path / "house", "--config", str(config), "--window", str(AMPLE)) as house:
        crowd = Crowd(house, Gate(1))

        crowd.gate.until(lambda gate: gate.waiting == ROOMS)  # a question is open in every room
        assert len(house.journals()) == ROOMS
        assert house.end(signal.SIGKILL) == -signal.SIGKILL
        crowd.next(Gate(2))
        house.start()

        crowd.gate.until(lambda gate: gate.taken > ROOMS)  # and now wherever they happen to be
        house.end(signal.SIGKILL)
        crowd.next(Gate(0))
        house.start()

        crowd.gate.until(lambda gate: gate.waiting > 0)  # while players are still coming back
        house.end(signal.SIGKILL)
        crowd.next(Gate(10**6))
        house.start()

        for guest in crowd.guests:
            assert guest.done().lost == ""
        house.stop_when_all_is_over()

    records = [check_undisturbed(path) for path in house.journals()]
    assert len(records) == ROOMS
    assert all(record.resumptions for record in records)
    assert (
        max(len(record.resumptions) for record in records) >= 2
    )  # a resumption before which nothing happened is not kept
    by_player = {name: record for record in records for name in record.opening.names}
    assert by_player.keys() == {guest.name for guest in crowd.guests}
    for guest in crowd.guests:
        record = by_player[guest.name]
        assert record.closing is not None
        assert [replace(result, receipt=None) for result in guest.results] == [record.closing.result]
        check_receipts(guest, record)
