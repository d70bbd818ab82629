"""Test that no hidden tile is in the pages, status, metrics or logs of a server."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import SeededRandom
from fairplay.core.events import Event, Fact
from fairplay.core.match import Match
from fairplay.games.q import Q
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.server.browser.rendering import BoardJob
from fairplay.server.browser.viewers import describe_position
from fairplay.server.logs import log_event, log_to
from fairplay.server.metrics import ServerCounts, format_metrics, make_registry
from fairplay.server.spectating.hub import NumberedEvent
from fairplay.server.status import ServerStatus, encode_status, finished_status, room_status
from tests.misbehaviour.hidden_information import NUMBERED_TILE, number_the_tiles, numbered, tile_names
from tests.misbehaviour.q_players import HonestPlayer
from tests.nonempty import nonempty


class PublicOutput:
    """An observer that keeps all public output after each event, and the tiles that are public then."""

    def __init__(self, *, careless: bool = False) -> None:
        self.counts = ServerCounts()
        self.texts: list[tuple[str, set[str]]] = []
        self._careless = careless
        self._number = 0

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        self.counts.observe(event, match)
        room = room_status("r1", "a room", match, stage="playing", seq=self._number, spectators=1)
        over = finished_status("m1", "q", match.names, match.result, ended_at=1.0, recorded=True)
        status = ServerStatus(name="server", version="1", started_at=1.0, uptime_s=2.0, rooms=(room,), finished=(over,))
        view = match.game.pack(match.view(0 if self._careless else None))
        board = BoardJob("q", match.game.public_parameters(), match.names, view)
        logged: list[str] = []
        with log_to(logged.append, as_json=True):
            log_event("something happened", fact=str(event) if isinstance(event, Fact) else "", match=match.id)

        async def metrics() -> bytes:
            return format_metrics(make_registry(lambda: status, self.counts))

        texts = [
            encode_status(status).decode(),
            asyncio.run(metrics()).decode(),
            msgspec.json.encode(describe_position(NumberedEvent(self._number, 1.0, event, match), ())).decode(),
            msgspec.json.encode(board).decode(),
            *logged,
        ]
        public = tile_names(match.state.map.tiles.values())
        self.texts += [(text, public) for text in texts]
        self._number += 1


def leaks(output: PublicOutput, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Play a match with numbered tiles; the hidden ones in the output."""
    number_the_tiles(monkeypatch.setattr)
    rules = numbered(Q)
    match = deal_match(rules, ("ann", "bob", "cyd"), bytes([5] * 32), match_id="m1")
    play(
        match,
        [LocalChannel(HonestPlayer(SeededRandom(bytes([seat]))), rules) for seat in range(3)],
        on_event=output.observe,
    )
    return [
        tile for text, public in nonempty(output.texts) for tile in NUMBERED_TILE.findall(text) if tile not in public
    ]


def test_no_hidden_tile_is_in_pages_status_metrics_or_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    output = PublicOutput()

    assert leaks(output, monkeypatch) == []
    assert any(NUMBERED_TILE.search(text) for text, _ in output.texts)  # those on the map are public
    assert sum(output.counts.ejections.values()) == 0
    assert output.counts.turns > 3
    assert all(bytes([5] * 32).hex() not in text for text, _ in output.texts)  # nor is the seed
    assert json.loads(output.texts[0][0])["type"] == "status"


def test_a_leak_of_hidden_tiles_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert leaks(PublicOutput(careless=True), monkeypatch) != []
