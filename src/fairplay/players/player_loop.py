"""Run a player at its end of a connection: receive messages of the protocol, call the player, send its replies."""

from collections.abc import Callable, Iterable
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.core.roles import Player, Strategy
from fairplay.games import rules_of
from fairplay.protocol.player_side import PlayerSide, ProtocolError, encode_reply, introduction
from fairplay.protocol.wire import (
    Changed,
    Closing,
    End,
    Goodbye,
    Hello,
    Question,
    Start,
    Suspended,
    TakeTurn,
    Tell,
    WireMessage,
)
from fairplay.referee.local_channel import has_method

AnyGame = Game[Any, Any, Any]
MakePlayer = Callable[[AnyGame], Player | Strategy[Any, Any]]


def serve_player(
    make: MakePlayer,
    lines: Iterable[bytes],
    send: Callable[[bytes], object],
    *,
    name: str | None = None,
    token: str = "",
    game: str = "",
) -> Goodbye | Suspended | None:
    """Play one match over a connection, or at a server as many as come, until the other end closes it.

    Returns the goodbye if the player was ejected, or the suspension if the server stopped and resumes the match later.
    A player is made for each match, once its game is known; it is told of changes if it has a method `changed`. `lines`
    are the messages as they arrive, `send` sends a line. A server wants a token, which proves the name, and the game to
    play (default: any). Raises what the player raises, and BadRequest if the name is not valid.
    """
    side = PlayerSide(name=name, token=token, game=game)
    served = ServedPlayer(make, name)
    for text in lines:
        message = side.receive(text)
        if message is not None:
            reply = served.handle(message)
            if isinstance(message, Question) and reply is not None:
                side.reply(message.nonce, reply)
        for line in side.lines_to_send():
            send(line)
        if isinstance(message, Goodbye | Suspended):
            return message
        if side.is_over:
            return None
    return None


class ServedPlayer:
    """Makes a player for each match, and calls it with every message. Raises what the player raises."""

    def __init__(self, make: MakePlayer, name: str | None = None) -> None:
        self._make = make
        self._name = name
        self._game: AnyGame
        self._player: Any = None

    def handle(self, message: WireMessage) -> bytes | None:
        """The reply to a message, as a line; None: it needs none."""
        if isinstance(message, Hello):
            self._game = decode_game(message)
            self._player = self._make(self._game)
            answer: Any = introduction(name=self._name, changes=has_method(self._player, "changed"))
        else:
            answer = self._answer(message)
        if isinstance(message, Question) and not isinstance(message, Closing):
            return encode_reply(message.nonce, answer)
        return None

    def _answer(self, message: WireMessage) -> Any:
        player = self._player
        match message:
            case TakeTurn():
                return getattr(player, "take_turn", player)(decode_view(message, self._game))
            case Start():
                return call_if_defined(player, "start", message.seat, message.names, decode_view(message, self._game))
            case Tell():
                news = tuple(message.news) if isinstance(message.news, list) else message.news  # as the wire has it
                return call_if_defined(player, "tell", news)
            case Changed():
                call_if_defined(player, "changed", decode_view(message, self._game))
            case End():
                return call_if_defined(player, "end", message.result)
            case Closing():
                call_if_defined(player, "closing", message.receipt)
            case Goodbye():
                call_if_defined(player, "ejected", message.fault, message.why)
        return None


def decode_game(hello: Hello) -> AnyGame:
    """The game of a match, as far as players may know it."""
    try:
        return rules_of(hello.game).with_public_parameters(hello.parameters)
    except BadRequest as error:
        raise ProtocolError(str(error)) from None


def decode_view(message: Start | TakeTurn | Changed, game: AnyGame) -> Any:
    """The view in a message."""
    try:
        return game.unpack(message.view)
    except BadRequest as error:
        raise ProtocolError(str(error)) from None


def call_if_defined(player: Any, method: str, *arguments: Any) -> Any:
    """Call an optional method of a player."""
    function = getattr(player, method, None)
    return None if function is None else function(*arguments)
