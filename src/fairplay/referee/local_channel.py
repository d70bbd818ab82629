"""Call players in this process, and turn what they return or raise into plain answers."""

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

MAX_EVIDENCE_CHARS = 512
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
)  # of libraries and of callers of players


class LocalChannel(ChangeListener):
    """A channel to a player or strategy in this process, which is trusted not to hang.

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
        self.on_change = self._on_change if has_method(player, "changed") else None
        self._crashed: Failed | None = None  # while it was told of a change

    def ask(self, message: Message) -> Answer:
        """Call the method for a message."""
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
            # Through JSON, so that only plain data of the right types reaches the rules.
            return Answered(self._decode(encode(value)), took)
        except KeyboardInterrupt:
            raise
        except msgspec.ValidationError as error:
            if value is None:
                return Failed(Fault.MALFORMED, NO_ANSWER, took)
            return Failed(Fault.MALFORMED, NO_ACTION, took, Evidence(f"{UNREADABLE}: {error}"[:MAX_EVIDENCE_CHARS]))
        except BaseException as error:  # a third-party object may raise anything while it is encoded
            return Failed(Fault.MALFORMED, NO_ACTION, took, Evidence(f"{UNREADABLE}: {describe_exception(error)[1]}"))

    def close(self, reason: CloseReason) -> None:
        """Tell the player of its ejection, or give it the receipt; its exceptions are ignored."""
        if reason is None:
            return
        try:
            if isinstance(reason, Ejected):
                self._call("ejected", reason.fault, reason.why)
            else:
                self._call("closing", reason)
        except KeyboardInterrupt:
            raise
        except BaseException:  # the match is over for this player
            pass

    def _on_change(self, change: Change) -> None:
        """Tell the player of a change; an exception counts as a failure at the next message."""
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
        function = getattr(self._player, method, None)
        return None if function is None else function(*arguments)


def has_method(player: Any, method: str) -> bool:
    """Does the player have this optional method? Even that question may make a third-party object raise."""
    try:
        return callable(getattr(player, method, None))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return False


@functools.cache
def action_decoder(game: type[Game[Any, Any, Any]]) -> Callable[[bytes], Any]:
    """The decoder of a game's actions from JSON."""
    return msgspec.json.Decoder(game.action).decode


def describe_value(value: Any) -> str:
    """Describe a third-party value for the record: as JSON if it is plain data."""
    try:
        return f"answered {encode(value)[:MAX_EVIDENCE_CHARS].decode(errors='replace')}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a third-party object may raise anything while it is encoded
        return f"answered with something that is not plain data: {describe_exception(error)[1]}"


def describe_exception(error: BaseException) -> tuple[str, str]:
    """Describe an exception: publicly by its class, and for the record with its text; it may lie or raise itself.

    The record names the innermost line that belongs neither to fairplay nor to a library.
    """
    try:
        kind = type(error).__name__[:MAX_EXCEPTION_NAME_CHARS]
        if not kind.isidentifier():  # a name that was made up to deceive readers
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
