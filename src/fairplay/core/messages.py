"""Define the messages to players and their answers."""

from collections.abc import Callable
from typing import Any

import msgspec

from fairplay.core.events import Fault, Result
from fairplay.core.game import Seat


class Start(msgspec.Struct, frozen=True, gc=False, tag="start"):
    """A match begins: your seat, the names, your view. To be acknowledged.

    Attributes:
        seat: the player's seat.
        names: the players' names, by seat.
        view: the seat's view.
    """

    seat: Seat
    names: tuple[str, ...]
    view: Any


class TakeTurn(msgspec.Struct, frozen=True, gc=False, tag="take_turn"):
    """It is your turn; here is your view. To be answered by an action.

    Attributes:
        view: the seat's view.
    """

    view: Any


class Tell(msgspec.Struct, frozen=True, gc=False, tag="tell"):
    """News for you alone, before the match goes on. To be acknowledged.

    Attributes:
        news: the information, as a value of the game.
    """

    news: Any


class End(msgspec.Struct, frozen=True, gc=False, tag="end"):
    """The match is over: its result. To be acknowledged.

    Attributes:
        result: the ranking and everything that is published with it.
    """

    result: Result


Message = Start | TakeTurn | Tell | End


class Evidence(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What is known about an answer that was refused or missing: for the record, not for the public.

    Attributes:
        detail: what was wrong with the answer; or what a player in this process raised, and where.
        received: the first bytes that were received, as a Python literal.
        size: the number of bytes that were received.
        sha256: the hash of all bytes that were received.
        limit: the time limit in seconds; None: there was none.
        taken: the seconds that the player took, without the host's own delays.
        host_delay: the seconds of the host's own delays.
        exit_code: the exit code of a program, above 128 for a signal; None: still running, or not a program.
        stderr: the end of a program's stderr; None: the player is not a program.
        disconnected: seconds since the connection was lost; None: it is connected.
    """

    detail: str = ""
    received: str = ""
    size: int = 0
    sha256: str = ""
    limit: float | None = None
    taken: float = 0.0
    host_delay: float = 0.0
    exit_code: int | None = None
    stderr: str | None = None
    disconnected: float | None = None


NO_EVIDENCE = Evidence()


class Answered(msgspec.Struct, frozen=True, gc=False):
    """A well-formed answer: an action to TakeTurn, None (an acknowledgement) to everything else.

    Attributes:
        value: the action, or None.
        took: seconds by the channel's clock.
        evidence: returns the evidence, in case the answer is illegal.
    """

    value: Any
    took: float = 0.0
    evidence: Callable[[], Evidence] | None = None


class Failed(msgspec.Struct, frozen=True, gc=False):
    """The player gave no valid answer.

    Attributes:
        fault: what the player did wrong.
        why: the reason, which is public.
        took: seconds by the channel's clock.
        evidence: further details, for the record.
    """

    fault: Fault
    why: str
    took: float = 0.0
    evidence: Evidence = NO_EVIDENCE


Answer = Answered | Failed
