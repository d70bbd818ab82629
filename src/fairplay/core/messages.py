"""List what is said to a player, and what is heard back."""

from collections.abc import Callable
from typing import Any

import msgspec

from fairplay.core.events import Fault, Result
from fairplay.core.game import Seat


class Start(msgspec.Struct, frozen=True, gc=False, tag="start"):
    """A match begins: where you sit, who plays, what you see. To be acknowledged.

    Attributes:
        seat: the player's seat.
        names: the players' names, by seat.
        view: what the seat sees.
    """

    seat: Seat
    names: tuple[str, ...]
    view: Any


class TakeTurn(msgspec.Struct, frozen=True, gc=False, tag="take_turn"):
    """It is your turn, and this is what you see. To be answered by an action.

    Attributes:
        view: what the seat sees.
    """

    view: Any


class Tell(msgspec.Struct, frozen=True, gc=False, tag="tell"):
    """What you must know before others go on. To be acknowledged.

    Attributes:
        news: what the seat has to know, as the game says it.
    """

    news: Any


class End(msgspec.Struct, frozen=True, gc=False, tag="end"):
    """The match is over: its result. To be acknowledged.

    Attributes:
        result: the ranking, and all that is published with it.
    """

    result: Result


Message = Start | TakeTurn | Tell | End


class Evidence(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What is known of an answer that was refused, or did not come: for the record, not for the public.

    Attributes:
        detail: what was odd about the answer; or what a player in this process raised, and where.
        received: the first bytes of what came, as Python writes them.
        size: the number of all bytes that came.
        sha256: the hash of all that came.
        limit: seconds that were allowed; None: there was no limit.
        taken: seconds that the player took, without the host's own delays.
        host_delay: seconds of the host's own delays.
        exit_code: the exit code of a program, above 128 for a signal; None: it still runs, or is no program.
        stderr: the end of what a program wrote there; None: the player is no program.
        disconnected: seconds since the connection was lost; None: it is there.
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
        evidence: tells what else is known, if the answer turns out to be illegal.
    """

    value: Any
    took: float = 0.0
    evidence: Callable[[], Evidence] | None = None


class Failed(msgspec.Struct, frozen=True, gc=False):
    """No answer, and what went wrong instead.

    Attributes:
        fault: what the player did wrong.
        why: the reason in words, which spectators may read.
        took: seconds by the channel's clock.
        evidence: what else is known, for the record.
    """

    fault: Fault
    why: str
    took: float = 0.0
    evidence: Evidence = NO_EVIDENCE


Answer = Answered | Failed
