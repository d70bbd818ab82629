"""Test the player's end of a connection: for one match, at a server for many, and in the process of a host."""

from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault, Receipt, Result
from fairplay.core.messages import End, Message, Start, TakeTurn, Tell
from fairplay.games.fish import Fish
from fairplay.games.tsuro import Tsuro
from fairplay.players.in_process import InProcessConnection
from fairplay.players.player_loop import AnyGame, serve_player
from fairplay.protocol import wire
from fairplay.protocol.player_side import ProtocolError
from fairplay.protocol.wire import Goodbye, Hello, Suspended, Welcome
from fairplay.referee.changes import Change
from fairplay.referee.referee import deal_match
from fairplay.transport.connection import ConnectionClosed, Received

FISH, TSURO = Fish(rows=3, columns=3), Tsuro()
RESULT = Result((frozenset({0, 1}),), ())
NUMBERS = count()
RECEIPT = Receipt(7, "0f" * 32)
GOODBYE = Goodbye(match="m", fault=Fault.ILLEGAL, why="rule 3.2: there is no tile at [9, 9]", clause="3.2")


def line(message: Any) -> bytes:
    return wire.encode(message) + b"\n"


def listener(nonce: str = "d") -> bytes:
    """The hello at the listener of a server."""
    return line(Hello(match="", turn=0, nonce=nonce, limit=5.0, protocol=wire.PROTOCOL_VERSION))


def new_nonce() -> str:
    return f"n-{next(NUMBERS)}"


def hello(game: AnyGame, nonce: str = "h") -> bytes:
    return wire.encode_hello(game, match_id="m", nonce=nonce, limit=5.0)


def asked(message: Message, game: AnyGame = FISH, nonce: str = "") -> bytes:
    return wire.encode_question(message, game, match_id="m", turn=1, nonce=nonce or new_nonce(), limit=5.0)


def view_of(game: AnyGame) -> Any:
    return game.view(game.deal(2, bytes(32)), 0)


def whole(game: AnyGame) -> list[bytes]:
    """A short match, as one player hears it."""
    view, closing = view_of(game), wire.encode_closing(RECEIPT, match_id="m", turn=1, nonce="c", limit=0.2)
    start, turn = asked(Start(0, ("ann", "bob"), view), game), asked(TakeTurn(view), game)
    return [hello(game), start, turn, asked(End(RESULT), game), closing]


WELCOME = Welcome(name="ann", reconnect_window=30.0, reconnect_token="secret-pass")
CHANGED = wire.encode_changed(Change(deal_match(FISH, ["ann", "bob"], bytes(32), match_id="m")))


class Served:
    """What came of some lines: what was answered, who played, and how it ended."""

    def __init__(self, *lines: bytes, kind: type["Player"] | None = None, **options: Any) -> None:
        self.answers: list[Any] = []
        self.players: list[Player] = []
        self.left = iter(lines)
        kind = kind or Player

        def make(game: AnyGame) -> "Player":
            self.players.append(kind(game))
            return self.players[-1]

        self.end = serve_player(make, self.left, self._send, **options)

    def _send(self, text: bytes) -> None:
        self.answers.append(msgspec.json.decode(text)["answer"])


class Player:
    def __init__(self, game: AnyGame) -> None:
        self.game = game
        self.heard: list[Any] = []
        self.start = lambda seat, names, view: self.heard.append("start")
        self.end = lambda result: self.heard.append("end")
        self.closing = self.heard.append
        self.ejected = lambda fault, why: self.heard.append(fault)

    def take_turn(self, view: Any) -> Any:
        self.heard.append("turn")
        return next(self.game.actions(view))


class Listener(Player):
    def changed(self, view: Any) -> None:
        self.heard.append(view)


# At a server.


@pytest.mark.parametrize(
    ("known", "answers"),
    [
        ({}, [None, {"token": "secret-pass"}]),
        ({"name": "ann"}, [{"name": "ann"}, {"name": "ann", "token": "secret-pass"}]),
        ({"name": "ann", "token": "own", "game": "fish"}, [{"name": "ann", "token": "own", "game": "fish"}] * 2),
    ],
)
def test_a_player_introduces_itself_to_a_server_and_again_when_it_reconnects(
    known: dict[str, Any], answers: list[Any]
) -> None:
    served = Served(listener(), line(WELCOME), listener(), **known)

    assert (served.answers, served.players, served.end) == (answers, [], None)


def test_every_match_at_a_server_has_its_own_player_and_ends_with_its_receipt_or_the_next_hello() -> None:
    served = Served(listener(), line(WELCOME), *whole(FISH), *whole(TSURO)[:-1], *whole(FISH))

    heard = ["start", "turn", "end"]
    assert [type(player.game) for player in served.players] == [Fish, Tsuro, Fish]
    assert [player.heard for player in served.players] == [[*heard, RECEIPT], heard, [*heard, RECEIPT]]
    assert len(served.answers) == 1 + 3 * 4
    assert served.end is None


def test_a_question_that_is_asked_again_on_another_connection_gets_the_same_answer_without_the_player() -> None:
    turn = asked(TakeTurn(view_of(FISH)))

    served = Served(listener(), line(WELCOME), hello(FISH), turn, listener(), line(WELCOME), turn)

    assert [player.heard for player in served.players] == [["turn"]]
    _, _, first, _, again = served.answers
    assert first is not None
    assert first == again


@pytest.mark.parametrize(
    ("last", "heard"), [(Suspended(why="the server stops", retry_after=2.0), []), (GOODBYE, [Fault.ILLEGAL])]
)
def test_a_suspension_or_a_goodbye_ends_the_loop_and_is_returned(last: Any, heard: list[Any]) -> None:
    served = Served(listener(), line(WELCOME), hello(FISH), line(last), asked(TakeTurn(view_of(FISH))))

    assert served.end == last
    assert served.players[0].heard == heard
    assert len(list(served.left)) == 1


def test_an_unknown_message_after_a_match_is_ignored() -> None:
    served = Served(listener(), line(WELCOME), *whole(FISH), b'{"type":"chat"}\n', *whole(FISH))

    assert len(served.players) == 2


NO_HELLO = "the host's first message must be hello, not"
BROKEN: dict[str, tuple[list[bytes], str]] = {
    "an unknown message": ([listener(), line(WELCOME), *whole(FISH), hello(FISH), b'{"type":"chat"}\n'], "chat"),
    "another version": ([line(Hello(match="", turn=0, nonce="n", limit=5.0, protocol=3))], "version 3 of the protocol"),
    "no hello of a host": ([asked(TakeTurn(view_of(FISH)))], NO_HELLO),
    "a change from a host without hello": ([CHANGED], NO_HELLO),
    "no hello of a server": ([listener(), line(WELCOME), asked(TakeTurn(view_of(FISH)))], NO_HELLO),
    "a change from a server without hello": ([listener(), line(WELCOME), CHANGED], NO_HELLO),
    "an unreadable change": ([hello(FISH), line(wire.Changed(match="m", view={"nonsense": 1}))], "nonsense"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_host_that_breaks_the_protocol_is_refused(name: str) -> None:
    lines, why = BROKEN[name]

    with pytest.raises(ProtocolError, match=why):
        Served(*lines)


# For one match.


def test_without_a_server_a_match_ends_with_its_receipt() -> None:
    served = Served(*whole(FISH), *whole(FISH))

    assert len(served.players) == 1
    assert served.end is None
    assert len(list(served.left)) == 5  # no message is left unread


def test_a_connection_reset_after_the_receipt_is_no_failure() -> None:
    def reset() -> Iterator[bytes]:
        yield from whole(FISH)
        raise ConnectionResetError

    assert serve_player(Player, reset(), lambda text: None) is None


def test_an_invalid_name_of_a_player_is_refused() -> None:
    with pytest.raises(BadRequest, match="is not a valid name"):
        Served(name="ann b")


# Changes.


def test_a_player_with_a_method_for_changes_asks_for_them_and_gets_them() -> None:
    served = Served(hello(FISH), CHANGED, CHANGED, asked(TakeTurn(view_of(FISH))), kind=Listener, name="ann")

    public = FISH.view(FISH.deal(2, bytes(32)), None)
    assert served.answers[0] == {"name": "ann", "changes": True}
    assert served.players[0].heard == [public, public, "turn"]
    assert len(served.answers) == 2  # and none of them to a change


def test_a_player_without_a_method_for_changes_does_not_ask_for_them() -> None:
    served = Served(hello(FISH), CHANGED, asked(TakeTurn(view_of(FISH))))

    assert served.answers[0] is None
    assert served.players[0].heard == ["turn"]


# In the process of a host: what a player raises is its failure.


def ask_in_process(line: InProcessConnection, text: bytes) -> Received:
    heard: list[Received] = []
    line.ask(text.rstrip(b"\n"), heard.append)
    return heard[0]


def seated(**methods: Any) -> InProcessConnection:
    line = InProcessConnection(lambda game: SimpleNamespace(take_turn=print, **methods))
    assert isinstance(ask_in_process(line, hello(FISH)), bytes)
    return line


def test_a_player_that_failed_at_a_change_stays_failed_at_later_ones() -> None:
    line = seated(changed=Mock(side_effect=[ValueError("oh no"), None]))

    line.offer(CHANGED.rstrip(b"\n"))
    line.offer(CHANGED.rstrip(b"\n"))

    assert isinstance(ask_in_process(line, asked(Tell([]))), ConnectionClosed)


def test_a_player_that_raises_an_error_of_fairplay_has_failed() -> None:
    failed = ask_in_process(seated(tell=Mock(side_effect=BadRequest("of its own"))), asked(Tell([])))

    assert isinstance(failed, ConnectionClosed)
    assert str(failed) == "the player raised BadRequest"


def test_an_unreadable_view_is_not_the_fault_of_the_player() -> None:
    turn = asked(TakeTurn(view_of(FISH))).replace(b'"view":', b'"view":{"no":"view"},"view_":')

    with pytest.raises(BadRequest):
        ask_in_process(seated(), turn)
