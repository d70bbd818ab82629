"""Test the player's end of a connection: for one match, and at a server for many."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Moment
from fairplay.core.messages import End, Message, Start, TakeTurn
from fairplay.games.fish import Fish
from fairplay.games.tsuro import Tsuro
from fairplay.players.player_loop import AnyGame, serve_player
from fairplay.protocol import wire
from fairplay.protocol.player_side import ProtocolError
from fairplay.protocol.wire import Goodbye, Hello, Suspended, Welcome
from fairplay.referee.changes import Change
from fairplay.referee.referee import deal_match

FISH, TSURO = Fish(rows=3, columns=3), Tsuro()
RESULT = Result((frozenset({0, 1}),), ())
NUMBERS = count()
RECEIPT = Receipt(7, "0f" * 32)
OUT = Ejected(0, Fault.ILLEGAL, Moment.TURN, "rule 3.2: there is no tile at [9, 9]", "3.2")


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
SUSPENDED = line(Suspended(why="the server stops", retry_after=2.0))
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
    """Keeps all that it hears."""

    def __init__(self, game: AnyGame) -> None:
        self.game = game
        self.heard: list[Any] = []

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        self.heard.append("start")

    def take_turn(self, view: Any) -> Any:
        self.heard.append("turn")
        return next(self.game.actions(view))

    def end(self, result: Result) -> None:
        self.heard.append("end")

    def closing(self, receipt: Receipt) -> None:
        self.heard.append(receipt)

    def ejected(self, fault: Fault, why: str) -> None:
        self.heard.append(fault)


class Listener(Player):
    """Wants to hear of changes."""

    def changed(self, view: Any) -> None:
        self.heard.append(view)


# At a server.


@pytest.mark.parametrize(
    ("known", "answer"),
    [
        ({}, None),
        ({"name": "ann"}, {"name": "ann"}),
        (
            {"name": "ann", "token": "secret", "game": "fish"},
            {"name": "ann", "token": "secret", "game": "fish"},
        ),
    ],
)
def test_a_player_introduces_itself_to_a_server(known: dict[str, Any], answer: Any) -> None:
    served = Served(listener(), line(WELCOME), **known)

    assert (served.answers, served.players, served.end) == ([answer], [], None)


def test_the_reply_to_hello_is_an_introduction() -> None:
    served = Served(listener(), line(WELCOME), hello(FISH), kind=Listener, name="ann", token="secret", game="fish")

    said = [wire.hello_decoder(msgspec.Raw(wire.encode(answer))) for answer in served.answers]
    assert said == [wire.Introduction("ann", token="secret", game="fish"), wire.Introduction("ann", changes=True)]


def test_every_match_at_a_server_has_its_own_player() -> None:
    served = Served(listener(), line(WELCOME), *whole(FISH), *whole(TSURO), *whole(FISH))

    assert [type(player.game) for player in served.players] == [Fish, Tsuro, Fish]
    assert [player.heard for player in served.players] == [["start", "turn", "end", RECEIPT]] * 3
    assert len(served.answers) == 1 + 3 * 4
    assert served.end is None


def test_a_match_without_a_receipt_ends_with_the_next_hello() -> None:
    served = Served(listener(), line(WELCOME), *whole(FISH)[:-1], *whole(FISH)[:-1])

    assert [player.heard for player in served.players] == [["start", "turn", "end"]] * 2


def test_a_guest_reconnects_with_its_reconnect_token() -> None:
    served = Served(listener(), line(WELCOME), listener(), name="ann")

    assert served.answers == [{"name": "ann"}, {"name": "ann", "token": "secret-pass"}]


def test_a_client_with_a_token_reconnects_with_that() -> None:
    served = Served(listener(), line(WELCOME), listener(), token="own")

    assert served.answers == [{"token": "own"}] * 2


def test_a_question_that_is_asked_again_on_another_connection_gets_the_same_answer_without_the_player() -> None:
    turn = asked(TakeTurn(view_of(FISH)))

    served = Served(listener(), line(WELCOME), hello(FISH), turn, listener(), line(WELCOME), turn)

    assert [player.heard for player in served.players] == [["turn"]]
    _, _, first, _, again = served.answers
    assert first is not None
    assert first == again


def test_a_suspension_ends_the_loop_and_is_returned() -> None:
    served = Served(listener(), line(WELCOME), hello(FISH), SUSPENDED, asked(TakeTurn(view_of(FISH))))

    assert served.end == Suspended(why="the server stops", retry_after=2.0)
    assert len(list(served.left)) == 1


def test_a_goodbye_of_a_server_ends_the_loop() -> None:
    served = Served(listener(), line(WELCOME), hello(FISH), wire.encode_goodbye("m", OUT), *whole(FISH))

    assert isinstance(served.end, Goodbye)
    assert served.players[0].heard == [Fault.ILLEGAL]


def test_an_unknown_message_after_a_match_is_ignored_but_not_in_the_next_match() -> None:
    served = Served(listener(), line(WELCOME), *whole(FISH), b'{"type":"chat"}\n', *whole(FISH))
    assert len(served.players) == 2

    with pytest.raises(ProtocolError):
        Served(listener(), line(WELCOME), *whole(FISH), hello(FISH), b'{"type":"chat"}\n')


def test_a_server_with_another_protocol_version_is_refused() -> None:
    with pytest.raises(ProtocolError, match="version 3 of the protocol"):
        Served(line(Hello(match="", turn=0, nonce="n", limit=5.0, protocol=3)))


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


def test_a_question_before_a_hello_with_a_game_is_a_protocol_error() -> None:
    for first in (asked(TakeTurn(view_of(FISH))), CHANGED):
        with pytest.raises(ProtocolError, match="the host's first message must be hello, not"):
            Served(first)
        with pytest.raises(ProtocolError, match="the host's first message must be hello, not"):
            Served(listener(), line(WELCOME), first)


def test_an_invalid_name_of_a_player_is_refused() -> None:
    with pytest.raises(BadRequest, match="is not a valid name"):
        Served(name="ann b")


# Changes.


def test_a_player_with_a_method_for_changes_gets_them() -> None:
    served = Served(hello(FISH), CHANGED, CHANGED, asked(TakeTurn(view_of(FISH))), kind=Listener)

    public = FISH.view(FISH.deal(2, bytes(32)), None)
    assert served.answers[0] == {"changes": True}
    assert served.players[0].heard == [public, public, "turn"]
    assert len(served.answers) == 2  # and none of them to a change


def test_a_player_without_a_method_for_changes_does_not_ask_for_them() -> None:
    served = Served(hello(FISH), CHANGED, asked(TakeTurn(view_of(FISH))))

    assert served.answers[0] is None
    assert served.players[0].heard == ["turn"]


def test_an_unreadable_change_is_a_protocol_error() -> None:
    with pytest.raises(ProtocolError):
        Served(hello(FISH), line(wire.Changed(match="m", view={"nonsense": 1})))
