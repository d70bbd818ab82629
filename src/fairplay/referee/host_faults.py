"""Turn unexpected exceptions of a game's rules into host faults that say what was raised and where."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fairplay.core.errors import FairplayError, HostFault
from fairplay.core.game import Game


@contextmanager
def as_host_fault(game: Game[Any, Any, Any]) -> Iterator[None]:
    """Turn every exception but a FairplayError into a HostFault, for which no player is to blame."""
    try:
        yield
    except FairplayError:
        raise
    except Exception as error:
        raise HostFault(f"{game.name} cannot be played: {describe_rules_error(error, game)}") from error


def describe_rules_error(error: Exception, game: Game[Any, Any, Any]) -> str:
    """The text of an error; for an unexpected one with its type and line, in the game's own file if possible."""
    if isinstance(error, FairplayError):
        return str(error)
    from traceback import walk_tb  # for a quick start: it is rarely needed

    frames = list(walk_tb(error.__traceback__))
    own = [(frame, line) for frame, line in frames if frame.f_globals.get("__name__") == type(game).__module__]
    frame, line = (own or frames)[-1]
    return f"{error!r} in {frame.f_code.co_filename.rpartition('/')[2]}, line {line}"
