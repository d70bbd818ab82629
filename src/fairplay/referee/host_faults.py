"""Blame the host for what the rules of a game raise and were never meant to, and say what it was and where."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fairplay.core.errors import FairplayError, HostFault
from fairplay.core.game import Game


@contextmanager
def as_host_fault(game: Game[Any, Any, Any]) -> Iterator[None]:
    """Whatever is raised in here, but for what fairplay raises on purpose, is a HostFault: no player is to blame."""
    try:
        yield
    except FairplayError:
        raise
    except Exception as error:
        raise HostFault(f"{game.name} cannot be played: {describe_rules_error(error, game)}") from error


def describe_rules_error(error: Exception, game: Game[Any, Any, Any]) -> str:
    """What an error says; if nobody meant to raise it, what it is and in which line, of the game's file if in any."""
    if isinstance(error, FairplayError):
        return str(error)
    from traceback import walk_tb  # which nobody needs before

    frames = list(walk_tb(error.__traceback__))
    own = [(frame, line) for frame, line in frames if frame.f_globals.get("__name__") == type(game).__module__]
    frame, line = (own or frames)[-1]
    return f"{error!r} in {frame.f_code.co_filename.rpartition('/')[2]}, line {line}"
