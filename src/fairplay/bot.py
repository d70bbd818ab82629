"""Run a player as a program: read messages from stdin, write replies to stdout, and protect both from other output.

    from fairplay.bot import run

    run(Player)  # or a function take_turn(view)

`python -m fairplay.bot PLAYER [--key HEX] [--game py:module:Name]` does the same for
a file with a class Player or a function take_turn, for py:module:Name, or for a built-in player and its key. With
--from=DIR PLACE a module is looked for in that directory first; PLACE makes a sandbox show the module.
"""

import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NoReturn

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.roles import Player, Strategy
from fairplay.games import game_info, take_game_options
from fairplay.players import player_loop
from fairplay.players.address import AnyPlayer, open_player
from fairplay.players.player_loop import AnyGame, MakePlayer, serve_player
from fairplay.protocol import wire
from fairplay.protocol.player_side import ProtocolError
from fairplay.protocol.wire import Goodbye
from fairplay.render.text import printable

MAX_STDERR_CHARS = 600
USAGE = f"write python -m fairplay.bot PLAYER, or PLAYER --key and {2 * SEED_BYTES} hex digits"


class RefereeDisconnected(Exception):
    """The referee does not read replies any more."""


class RefereeConnection:
    """The connection to the referee, over the stdin and stdout of this program.

    From then on stdin is empty and stdout goes to stderr: in this program, in its child processes, and in C code. So
    does earlier output that was not flushed: make the connection first, and print later.
    """

    def __init__(self) -> None:
        self._messages = os.fdopen(os.dup(0), "rb")
        self._replies = os.dup(1)
        self.is_terminal = self._messages.isatty()  # was it started by a person?
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)
        os.dup2(2, 1)
        sys.stdout.flush()
        sys.stdout = sys.stderr

    def lines(self) -> Iterator[bytes]:
        """Yield the messages until the referee closes the connection."""
        try:
            for text in self._messages:
                if not text.endswith(b"\n"):  # closed in the middle of a line
                    return
                yield text
        except ConnectionError:
            return

    def send(self, text: bytes) -> None:
        """Send a whole line."""
        try:
            while text:
                text = text[os.write(self._replies, text) :]
        except ConnectionError:  # includes BrokenPipeError
            raise RefereeDisconnected from None


def run(player: Player | Strategy[Any, Any] | type[Player], *, name: str | None = None) -> None:
    """Play a match, as the main function of a program; returns when the referee closes the connection.

    A player is an object or a class with the methods of `Player`, or a function take_turn(view). An exception ends the
    program with a traceback and exit code 1, an invalid message with one line on stderr and exit code 2. `name` is the
    name that the player asks for.
    """
    if not callable(getattr(player, "take_turn", player)):
        raise TypeError("this is not a player: it has no method take_turn(view)")
    wire.check_name(name)
    play(lambda game: player() if isinstance(player, type) else player, name)


def play(make: MakePlayer, name: str | None = None) -> None:
    """Connect to the referee over stdin and stdout, and play."""
    connection = RefereeConnection()
    sys.excepthook = print_player_traceback
    if connection.is_terminal:
        print_to_stderr("waiting for a referee on stdin; docs/protocol.md describes its messages")
    try:
        goodbye = serve_player(make, connection.lines(), connection.send, name=name)
    except RefereeDisconnected:
        return
    except ProtocolError as error:
        exit_with_error(str(error))
    if isinstance(goodbye, Goodbye):
        print_to_stderr(f"ejected: {goodbye.fault.value}: {goodbye.why}")


def print_player_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback without the frames of fairplay before those of the player."""
    import traceback  # for a quick start

    frame, first = trace, trace
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == player_loop.__file__:
            first = frame.tb_next  # None: the call or the answer was wrong
        frame = frame.tb_next
    traceback.print_exception(kind, error, first)


def print_to_stderr(why: str) -> None:
    """Print one line to stderr."""
    print(f"fairplay.bot: {printable(why, MAX_STDERR_CHARS)}", file=sys.stderr, flush=True)


def exit_with_error(why: str) -> NoReturn:
    """Print an error and exit with code 2."""
    print_to_stderr(why)
    sys.exit(2)


def main(arguments: list[str]) -> None:
    """Play with the player in the arguments. They are parsed by hand, as loading a library takes longer."""
    try:
        words = take_game_options(arguments)
    except BadRequest as error:
        exit_with_error(str(error))
    match words:
        case [address] if not address.startswith("-"):
            key = os.urandom(SEED_BYTES)
        case [address, place, _] if place.startswith("--from="):
            key = os.urandom(SEED_BYTES)
            sys.path.insert(0, place.removeprefix("--from="))
        case [address, "--key", digits] | ["--key", digits, address]:
            try:
                key = bytes.fromhex(digits)
            except ValueError:
                exit_with_error(USAGE)
        case _:
            exit_with_error(USAGE)
    if len(key) != SEED_BYTES:
        exit_with_error(USAGE)

    def make(game: AnyGame) -> AnyPlayer:
        try:
            return open_player(address, game_info(game.name), key)
        except BadRequest as error:
            exit_with_error(str(error))

    play(make)


if __name__ == "__main__":
    main(sys.argv[1:])
