"""List what is said to a player, and what is heard back."""

from collections.abc import Callable
from typing import Any

import msgspec

from fairplay.core.events import Fault, Result
from fairplay.core.game import Seat


class Start(msgspec.Struct, frozen=True, gc=False, tag="start"):
    """The greeting: where you sit, who plays, what you see. To be acknowledged."""

    seat: Seat
    names: tuple[str, ...]
    view: Any


class TakeTurn(msgspec.Struct, frozen=True, gc=False, tag="take_turn"):
    """It is your turn, and this is what you see. To be answered by an action."""

    view: Any


class Tell(msgspec.Struct, frozen=True, gc=False, tag="tell"):
    """What you must know before others go on. To be acknowledged."""

    news: Any


class End(msgspec.Struct, frozen=True, gc=False, tag="end"):
    """The farewell: how the match came out. To be acknowledged."""

    result: Result


Message = Start | TakeTurn | Tell | End


class Evidence(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What is known of an answer that was refused, or did not come: for the record, not for the public."""

    detail: str = ""  # what was odd about it; or what a player in this process raised, and where
    received: str = ""  # the first bytes of what came, as Python writes them
    size: int = 0  # bytes of all that came
    sha256: str = ""  # of it
    limit: float | None = None  # seconds; None: there was no hurry
    taken: float = 0.0  # seconds, without the host's own delays
    credited: float = 0.0  # seconds, for these
    code: int | None = None  # with which a program ended; None: it runs, or is no program
    stderr: str | None = None  # the end of what a program said there; None: it is no program
    away: float | None = None  # seconds since the connection was lost


NO_EVIDENCE = Evidence()


class Answered(msgspec.Struct, frozen=True, gc=False):
    """A well-formed answer: an action to TakeTurn, None (an acknowledgement) to everything else."""

    value: Any
    took: float = 0.0  # seconds, by the channel's clock
    evidence: Callable[[], Evidence] | None = None  # tells what else is known, if the answer turns out to be refused


class Failed(msgspec.Struct, frozen=True, gc=False):
    """No answer, and what went wrong instead."""

    fault: Fault
    why: str
    took: float = 0.0
    evidence: Evidence = NO_EVIDENCE


Answer = Answered | Failed
