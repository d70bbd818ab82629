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


class Answered(msgspec.Struct, frozen=True, gc=False):
    """A well-formed answer: an action to TakeTurn, None (an acknowledgement) to everything else."""

    value: Any
    took: float = 0.0  # seconds, by the channel's clock
    evidence: Callable[[], str] | None = None  # tells what else is known, if the answer turns out to be refused


class Failed(msgspec.Struct, frozen=True, gc=False):
    """No answer, and what went wrong instead; `evidence` is for the record, not for the public."""

    fault: Fault
    why: str
    took: float = 0.0
    evidence: str = ""


Answer = Answered | Failed
