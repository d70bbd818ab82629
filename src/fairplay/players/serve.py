"""Be at the player's end of a line: hear messages of the protocol, call the player, send its replies."""

from collections.abc import Callable, Iterable
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.core.roles import Player, Strategy
from fairplay.games import rules_of
from fairplay.protocol import wire
from fairplay.protocol.player_side import Misunderstood, introduction, read_message, reply_to
from fairplay.protocol.wire import Changed, Closing, End, Goodbye, Hello, Start, Suspended, TakeTurn, Tell, Welcome
from fairplay.referee.local import has_method

AnyGame = Game[Any, Any, Any]
Make = Callable[[AnyGame], Player | Strategy[Any, Any]]


def serve_player(
    make: Make,
    lines: Iterable[bytes],
    send: Callable[[bytes], object],
    *,
    name: str | None = None,
    token: str = "",
    game: str = "",
    welcomed: Callable[[Welcome], object] = lambda welcome: None,
) -> Goodbye | Suspended | None:
    """Play one match over a line, or at a house as many as come, until the other end hangs up.

    A goodbye says why, if the player was ejected; a suspension, that the house has stopped, and goes on later. A player
    is made for each match, once its game is known; it hears of changes if it has a method for that. `lines` are the
    messages as they arrive, `send` puts a line on its way. The token and the game are for a house: what proves who
    this is (or else one that the house gives), and what it wants to play, if not anything. Whatever the player raises,
    this raises. BadRequest: nobody can be called by that name.
    """
    wire.check_name(name)
    played: AnyGame | None = None
    player: Any = None
    ended = False
    at_house = False
    for text in lines:
        try:
            line = read_message(text)
        except Misunderstood:
            if ended:  # whatever others may say by then, it needs no answer
                continue
            raise
        answer: Any = None
        match line:
            case Goodbye():
                call(player, "ejected", line.fault, line.why)
                return line
            case Suspended():
                return line
            case Closing():
                call(player, "closing", line.receipt)
                if not at_house:
                    return None
                continue
            case Welcome():
                at_house, token = True, token or line.token
                welcomed(line)
                continue
            case Hello() if line.protocol != wire.PROTOCOL:
                raise Misunderstood(f"they speak version {line.protocol} of the protocol, and we {wire.PROTOCOL}")
            case Hello(game=""):
                answer = introduction(name=name, token=token, game=game)
            case Hello():
                played = game_in(line)
                player = make(played)
                ended = False
                answer = introduction(name=name, changes=has_method(player, "changed"))
            case _ if played is None:
                raise Misunderstood(f"they did not say hello, but {type(line).__name__}")
            case Changed():
                call(player, "changed", view_in(line, played))
                continue
            case Start():
                answer = call(player, "start", line.seat, line.names, view_in(line, played))
            case TakeTurn():
                answer = getattr(player, "take_turn", player)(view_in(line, played))
            case Tell():
                news = tuple(line.news) if isinstance(line.news, list) else line.news  # as it was said
                answer = call(player, "tell", news)
            case End():
                answer = call(player, "end", line.result)
                ended = True
        send(reply_to(line.nonce, answer))
    return None


def game_in(line: Hello) -> AnyGame:
    """The game that will be played, as far as players may know it."""
    try:
        return rules_of(line.game).with_public_parameters(line.parameters)
    except BadRequest as error:
        raise Misunderstood(str(error)) from None


def view_in(line: Start | TakeTurn | Changed, game: AnyGame) -> Any:
    """What the player, or a spectator, sees."""
    try:
        return game.unpack(line.view)
    except BadRequest as error:
        raise Misunderstood(str(error)) from None


def call(player: Any, method: str, *arguments: Any) -> Any:
    """Call a method that players may have or not."""
    known = getattr(player, method, None)
    return None if known is None else known(*arguments)
