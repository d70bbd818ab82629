"""Follow hidden tiles through all that is seen of a house from outside: pages, the status, what monitors read, logs."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import Lots
from fairplay.core.events import Event, Fact
from fairplay.core.match import Match
from fairplay.games.q import Q
from fairplay.referee.drivers import play
from fairplay.referee.host import dealt
from fairplay.referee.local import Local
from fairplay.server.browser.lookers import moment
from fairplay.server.browser.painting import Board
from fairplay.server.logs import logging_to, tell
from fairplay.server.metrics import Counts, registry, told
from fairplay.server.spectating.hub import Happened
from fairplay.server.status import HouseStatus, as_line, finished_seen, room_seen
from tests.misbehaviour.shelf import Honest
from tests.misbehaviour.taint import SERIAL, named, number_the_tiles, numbered
from tests.some import some


class Outside:
    """An observer that keeps whatever leaves the house after each event, and what everybody may know then."""

    def __init__(self, *, careless: bool = False) -> None:
        self.counts = Counts()
        self.said: list[tuple[str, set[str]]] = []
        self._careless = careless
        self._number = 0

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        self.counts.observe(event, match)
        room = room_seen("r1", "a room", match, stage="playing", number=self._number, spectators=1)
        over = finished_seen("m1", "q", match.names, match.result, at=1.0, recorded=True)
        status = HouseStatus(name="house", version="1", since=1.0, up=2.0, rooms=(room,), finished=(over,))
        view = match.game.pack(match.view(0 if self._careless else None))
        board = Board("q", match.game.public_parameters(), match.names, view)
        logged: list[str] = []
        with logging_to(logged.append, as_json=True):
            tell("something happened", fact=str(event) if isinstance(event, Fact) else "", match=match.id)

        async def figures() -> bytes:
            return told(registry(lambda: status, self.counts))

        texts = [
            as_line(status).decode(),
            asyncio.run(figures()).decode(),
            msgspec.json.encode(moment(Happened(self._number, 1.0, event, match), ())).decode(),
            msgspec.json.encode(board).decode(),
            *logged,
        ]
        public = named(match.state.map.tiles.values())
        self.said += [(text, public) for text in texts]
        self._number += 1


def leaks(outside: Outside, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Play a match with numbered tiles, and list those that were seen outside and are no one's business."""
    number_the_tiles(monkeypatch.setattr)
    rules = numbered(Q)
    match = dealt(rules, ("ann", "bob", "cyd"), bytes([5] * 32), match_id="m1")
    play(match, [Local(Honest(Lots(bytes([seat]))), rules) for seat in range(3)], inform=outside.observe)
    return [tile for text, public in some(outside.said) for tile in SERIAL.findall(text) if tile not in public]


def test_no_hidden_tile_is_seen_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    outside = Outside()

    assert leaks(outside, monkeypatch) == []
    assert any(SERIAL.search(text) for text, _ in outside.said)  # those on the map are
    assert sum(outside.counts.ejections.values()) == 0
    assert outside.counts.turns > 3
    assert all(bytes([5] * 32).hex() not in text for text, _ in outside.said)  # nor is the seed
    assert json.loads(outside.said[0][0])["type"] == "status"


def test_the_meter_turns_red(monkeypatch: pytest.MonkeyPatch) -> None:
    assert leaks(Outside(careless=True), monkeypatch) != []
