"""Open a player in this process, so that a debugger can stop in it."""

import signal
import traceback
from bdb import BdbQuit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import TracebackType
from typing import Any

from fairplay.core.game import Seat
from fairplay.games import title
from fairplay.hosting.sitting import seat_key
from fairplay.players.address import AnyPlayer, open_player


def candid(game: str, address: str, seat: Seat, seed: bytes) -> AnyPlayer:
    """The player at an address, as it is, which shows where it was when it raised something."""
    with sigint_raises():
        return Candid(open_player(address, title(game), seat_key(seed, seat)))


class Candid:
    """A player that shows where it was when it raised something; Ctrl-C ends it wherever it is."""

    def __init__(self, player: AnyPlayer) -> None:
        self._player = player

    def __getattr__(self, name: str) -> Any:
        known = getattr(self._player, name)
        return partial(self._call, known) if callable(known) else known

    def __call__(self, view: Any) -> Any:
        """Take a turn, if the player is a bare function."""
        return self._call(self._player, view)

    def _call(self, method: Any, *arguments: Any) -> Any:
        with sigint_raises(), ExitStack() as leaving:
            leaving.push(show_where)
            return method(*arguments)


def show_where(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
    """Print where a player was when it raised something; who quits the debugger quits us too."""
    if isinstance(error, BdbQuit):
        raise KeyboardInterrupt
    if trace is not None and not isinstance(error, KeyboardInterrupt):
        traceback.print_exception(kind, error, trace.tb_next)  # without the frame of ours that called it


@contextmanager
def sigint_raises() -> Iterator[None]:
    """Ctrl-C ends at once what is done here, also in an event loop, which would wait for it to come back."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
