"""Test players in this process that speak the protocol: their exceptions are their failures."""

from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.messages import Tell
from fairplay.players.in_process import InProcessConnection
from fairplay.protocol import wire
from fairplay.transport.connection import ConnectionClosed, Received
from tests.players.fake_server import FISH, TURN

HELLO = wire.encode_hello(FISH, match_id="m", nonce="h", limit=5.0).rstrip(b"\n")
CHANGED = wire.encode(wire.Changed(match="m", view=FISH.pack(FISH.view(FISH.deal(2, bytes(32)), None))))
NEWS = wire.encode_question(Tell([]), FISH, match_id="m", turn=1, nonce="n", limit=5.0).rstrip(b"\n")


class Raising:
    """Raises an error when it hears of its first change, or of news."""

    def __init__(self, at_change: Exception | None = None, at_news: Exception | None = None) -> None:
        self._at_change, self._at_news = at_change, at_news

    def take_turn(self, view: Any) -> Any:
        return None

    def changed(self, view: Any) -> None:
        error, self._at_change = self._at_change, None
        if error is not None:
            raise error

    def tell(self, news: Any) -> None:
        if self._at_news is not None:
            raise self._at_news


def asked(line: InProcessConnection, text: bytes) -> Received:
    heard: list[Received] = []
    line.ask(text, heard.append)
    return heard[0]


def seated(player: Any) -> InProcessConnection:
    line = InProcessConnection(lambda game: player)
    assert isinstance(asked(line, HELLO), bytes)
    return line


def test_a_player_that_failed_at_a_change_stays_failed_at_later_ones() -> None:
    line = seated(Raising(at_change=ValueError("oh no")))

    line.offer(CHANGED)
    line.offer(CHANGED)

    assert isinstance(asked(line, NEWS), ConnectionClosed)


def test_a_player_that_raises_an_error_of_fairplay_has_failed() -> None:
    failed = asked(seated(Raising(at_news=BadRequest("of its own"))), NEWS)

    assert isinstance(failed, ConnectionClosed)
    assert str(failed) == "the player raised BadRequest"


def test_an_unreadable_view_is_not_the_fault_of_the_player() -> None:
    turn = wire.encode_question(TURN, FISH, match_id="m", turn=1, nonce="t", limit=5.0).rstrip(b"\n")
    line = seated(Raising())

    with pytest.raises(BadRequest):
        asked(line, turn.replace(b'"view":', b'"view":{"no":"view"},"view_":'))
