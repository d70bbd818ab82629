"""Reach a player in this process, and let nothing but a plain answer come back."""

import functools
from collections.abc import Callable
from typing import Any

import msgspec

from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Game
from fairplay.core.messages import Answer, Answered, End, Evidence, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import NULL_RECORD, CloseReason, Player, Strategy
from fairplay.referee.changes import Change, ChangeListener
from fairplay.referee.conversation import UNEXPECTED_ANSWER

MAX_EVIDENCE_CHARS = 512  # characters
MAX_EXCEPTION_NAME_CHARS = 64
NO_ACTION = "the answer is not an action of this game"
UNREADABLE = "the answer could not be read"
NO_ANSWER = "the answer is None (null in JSON): take_turn must return an action"
encode = msgspec.json.Encoder().encode
STANDARD_LIBRARY_DIR, SITE_PACKAGES_DIR = (
    functools.__file__.removesuffix("functools.py"),
    msgspec.__file__.removesuffix("msgspec/__init__.py"),
)
PACKAGE_DIR = __file__.removesuffix("referee/local_channel.py")
NON_PLAYER_DIRS = (
    STANDARD_LIBRARY_DIR,
    SITE_PACKAGES_DIR,
    "<frozen ",
    f"{PACKAGE_DIR}referee/",
    f"{PACKAGE_DIR}players/",
)  # where libraries and callers lie


class LocalChannel(ChangeListener):
    """A channel to a player, or to a bare strategy, that is trusted not to hang.

    Methods other than take_turn may be missing. KeyboardInterrupt passes through: in this process it comes from the
    person at the keyboard.
    """

    def __init__(
        self,
        player: Player | Strategy[Any, Any],
        game: Game[Any, Any, Any],
        clock: Callable[[], float] = NULL_RECORD.clock,
    ) -> None:
        self._player = player
        self._take_turn: Any = getattr(player, "take_turn", player)
        self._decode = action_decoder(type(game))
        self._clock = clock
        self.on_change = (
            self._on_change if has_method(player, "changed") else None
        )  # what tells it of changes, if it listens
        self._crashed: Failed | None = None  # when it heard of one

    def ask(self, message: Message) -> Answer:
        """Call the method that the message means."""
        if self._crashed is not None:
            return self._crashed
        clock = self._clock
        since = clock()
        try:
            value = self._take_turn(message.view) if isinstance(message, TakeTurn) else self._tell(message)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            why, detail = describe_exception(error)
            return Failed(Fault.CRASHED, why, clock() - since, Evidence(detail))
        took = clock() - since
        if not isinstance(message, TakeTurn):
            if value is None:
                return Answered(None, took)
            return Failed(Fault.MALFORMED, UNEXPECTED_ANSWER, took, Evidence(describe_value(value)))
        try:
            # As plain data: what is no action, or only pretends to be, does not survive the round trip.
            return Answered(self._decode(encode(value)), took)
        except KeyboardInterrupt:
            raise
        except msgspec.ValidationError as error:
            if value is None:
                return Failed(Fault.MALFORMED, NO_ANSWER, took)
            return Failed(Fault.MALFORMED, NO_ACTION, took, Evidence(f"{UNREADABLE}: {error}"[:MAX_EVIDENCE_CHARS]))
        except BaseException as error:  # whatever a foreign object does while it is taken apart
            return Failed(Fault.MALFORMED, NO_ACTION, took, Evidence(f"{UNREADABLE}: {describe_exception(error)[1]}"))

    def close(self, parting: CloseReason) -> None:
        """Nothing has to be cut; whoever was ejected hears why, all others have their receipt, and none can do harm."""
        if parting is None:
            return
        try:
            if isinstance(parting, Ejected):
                self._call("ejected", parting.fault, parting.why)
            else:
                self._call("closing", parting)
        except KeyboardInterrupt:
            raise
        except BaseException:  # it is over for it, and there is nothing left to eject it for
            pass

    def _on_change(self, change: Change) -> None:
        """Tell it of a change; what it raises counts when it is next asked."""
        if self._crashed is None:
            try:
                self._call("changed", change.view)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                why, detail = describe_exception(error)
                self._crashed = Failed(Fault.CRASHED, why, 0.0, Evidence(detail))

    def _tell(self, message: Start | Tell | End) -> Any:
        if isinstance(message, Tell):
            return self._call("tell", message.news)
        if isinstance(message, Start):
            return self._call("start", message.seat, message.names, message.view)
        return self._call("end", message.result)

    def _call(self, method: str, *arguments: Any) -> Any:
        known = getattr(self._player, method, None)
        return None if known is None else known(*arguments)


def has_method(player: Any, method: str) -> bool:
    """Has it a method that players may have or not? A foreign object may raise even when it is asked for that."""
    try:
        return callable(getattr(player, method, None))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return False


@functools.cache
def action_decoder(game: type[Game[Any, Any, Any]]) -> Callable[[bytes], Any]:
    """What makes actions of a game from JSON."""
    return msgspec.json.Decoder(game.action).decode


def describe_value(value: Any) -> str:
    """A foreign value for the record: as JSON if it is plain data."""
    try:
        return f"answered {encode(value)[:MAX_EVIDENCE_CHARS].decode(errors='replace')}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a foreign object does while it is taken apart
        return f"answered what is no plain data: {describe_exception(error)[1]}"


def describe_exception(error: BaseException) -> tuple[str, str]:
    """What was raised, in public, and what it said, for the record; an exception is foreign and may lie or raise.

    The record names the innermost line that is neither ours nor of a library.
    """
    try:
        kind = type(error).__name__[:MAX_EXCEPTION_NAME_CHARS]
        if not kind.isidentifier():  # made up to be read, not to be raised
            kind = "an exception"
        trace, place = error.__traceback__, ""
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if not file.startswith(NON_PLAYER_DIRS):
                place = f" ({file.rpartition('/')[2][-MAX_EXCEPTION_NAME_CHARS:]}, line {trace.tb_lineno})"
            trace = trace.tb_next
        said = error.args[0] if error.args and type(error.args[0]) is str else ""
        detail = f"{kind}: {said[:MAX_EVIDENCE_CHARS]}{place}"
        return f"raised {kind}", detail.encode(errors="backslashreplace").decode()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "raised an exception that cannot be described", ""
