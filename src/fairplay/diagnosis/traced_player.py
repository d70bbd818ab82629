"""Open a player in this process, so that a debugger can stop in it, and print its tracebacks."""

import signal
import traceback
from bdb import BdbQuit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import TracebackType
from typing import Any

from fairplay.core.game import Seat
from fairplay.games import game_info
from fairplay.hosting.prepared_match import seat_key
from fairplay.players.address import AnyPlayer, open_player


def open_traced_player(game: str, address: str, seat: Seat, seed: bytes) -> AnyPlayer:
    """The player at an address, which prints a traceback when it raises an exception."""
    with raise_on_sigint():
        return TracedPlayer(open_player(address, game_info(game), seat_key(seed, seat)))


class TracedPlayer:
    """A player that prints a traceback when it raises an exception; Ctrl-C interrupts it at any point."""

    def __init__(self, player: AnyPlayer) -> None:
        self._player = player

    def __getattr__(self, name: str) -> Any:
        known = getattr(self._player, name)
        return partial(self._call, known) if callable(known) else known

    def __call__(self, view: Any) -> Any:
        """Take a turn, if the player is a bare function."""
        return self._call(self._player, view)

    def _call(self, method: Any, *arguments: Any) -> Any:
        with raise_on_sigint(), ExitStack() as stack:
            stack.push(print_traceback)
            return method(*arguments)


def print_traceback(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
    """Print the traceback of a player; quitting the debugger ends the command, too."""
    if isinstance(error, BdbQuit):
        raise KeyboardInterrupt
    if trace is not None and not isinstance(error, KeyboardInterrupt):
        traceback.print_exception(kind, error, trace.tb_next)  # without the frame of ours that called it


@contextmanager
def raise_on_sigint() -> Iterator[None]:
    """Let Ctrl-C interrupt this block at once, even in an event loop, which would wait for the block to return."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
