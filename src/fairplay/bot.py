"""Be a program that plays: hear the referee on stdin, reply on stdout, and keep both apart from all else.

    from fairplay.bot import run

    run(Player)  # or a function take_turn(view)

`python -m fairplay.bot PLAYER [--key HEX] [--game py:module:Name]` does this for a player that knows nothing of it: a
file with a class Player or a function take_turn, py:module:Name, or a built-in player, which draws its lots from the key.
With --from=DIR PLACE a module is looked for in that directory first; the place is named so that a sandbox shows it.
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

MAX_STDERR_CHARS = 600  # characters
USAGE = f"write python -m fairplay.bot PLAYER, or PLAYER --key and {2 * SEED_BYTES} hex digits"


class RefereeDisconnected(Exception):
    """Nobody hears our replies any more."""


class RefereeConnection:
    """The line to the referee, taken over from the program.

    From then on stdin is empty and stdout goes to stderr: for this program, for those that it starts, and for what is
    written in C. So does what was printed before, if it was not flushed: take over first, and print later.
    """

    def __init__(self) -> None:
        self._messages = os.fdopen(os.dup(0), "rb")
        self._replies = os.dup(1)
        self.is_terminal = self._messages.isatty()  # by a person who wonders why nothing happens
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout.flush()
        sys.stdout = sys.stderr

    def lines(self) -> Iterator[bytes]:
        """The messages as they arrive, until the other end hangs up."""
        try:
            for text in self._messages:
                if not text.endswith(b"\n"):  # it hung up in the middle
                    return
                yield text
        except ConnectionError:
            return

    def send(self, text: bytes) -> None:
        """Put a whole line on its way."""
        try:
            while text:
                text = text[os.write(self._replies, text) :]
        except ConnectionError:  # a broken pipe is one
            raise RefereeDisconnected from None


def run(player: Player | Strategy[Any, Any] | type[Player], *, name: str | None = None) -> None:
    """Play a match, as the main of a program; comes back when the referee hangs up.

    A player is an object or a class with the methods of `Player`, or a bare function take_turn(view). What it raises
    ends the program as usual, with a traceback and exit code 1. What is no message of the protocol ends it with one
    line on stderr and exit code 2. The name is what it would like to be called.
    """
    if not callable(getattr(player, "take_turn", player)):
        raise TypeError("this is no player: it has no method take_turn(view)")
    wire.check_name(name)
    play(lambda game: player() if isinstance(player, type) else player, name)


def play(make: MakePlayer, name: str | None = None) -> None:
    """Take over the line, and play a match over it."""
    line = RefereeConnection()
    sys.excepthook = print_player_traceback
    if line.is_terminal:
        print_to_stderr("waiting for a referee on stdin; docs/protocol.md describes what it says")
    try:
        goodbye = serve_player(make, line.lines(), line.send, name=name)
    except RefereeDisconnected:
        return
    except ProtocolError as error:
        exit_with_error(str(error))
    if isinstance(goodbye, Goodbye):
        print_to_stderr(f"out of the match: {goodbye.fault.value}: {goodbye.why}")


def print_player_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback as usual, but without our own frames before those of the player."""
    import traceback  # only now: it takes its time to load

    below, ours = trace, trace
    while below is not None:
        if below.tb_frame.f_code.co_filename == player_loop.__file__:
            ours = below.tb_next  # None: it is about how the player was called, or what it answered
        below = below.tb_next
    traceback.print_exception(kind, error, ours)


def print_to_stderr(why: str) -> None:
    """Say something in one line where the author of the bot may see it."""
    print(f"fairplay.bot: {printable(why, MAX_STDERR_CHARS)}", file=sys.stderr, flush=True)


def exit_with_error(why: str) -> NoReturn:
    """Say what is wrong, and end."""
    print_to_stderr(why)
    sys.exit(2)


def main(arguments: list[str]) -> None:
    """Play with the player that the arguments name. There are too few of them to load a library for."""
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
