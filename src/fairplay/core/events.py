"""List what can happen in a match."""

from enum import Enum
from typing import Any

import msgspec

from fairplay.core.enums import immutable
from fairplay.core.game import Moment, Ranking, Seat


@immutable
class Fault(Enum):
    """What a player did wrong. A fault of the host is an exception of ours, never one of these."""

    ILLEGAL = "illegal"  # well-formed, but against the rules
    MALFORMED = "malformed"  # no answer to what was asked
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    GONE = "gone"  # the line is dead, or nobody ever came
    FLOOD = "flood"  # far too much


class Acted(msgspec.Struct, frozen=True, gc=False, tag="acted"):
    """A seat acted, lawfully."""

    seat: Seat
    action: Any


class Ejected(msgspec.Struct, frozen=True, gc=False, tag="ejected", omit_defaults=True):
    """A seat was put out of the match; `why` holds nothing that spectators may not know."""

    seat: Seat
    fault: Fault
    moment: Moment
    why: str
    clause: str = ""  # of the game's RULES.md, if a rule was broken


Fact = Acted | Ejected  # what changes a match, and all that a journal must hold


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """Where a record stood: it covers all lines up to there; the result, only if that is the last one."""

    seq: int  # the number of a line
    head: str  # its hash, which all lines before went into

    def __str__(self) -> str:
        return f"{self.seq}:{self.head}"


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a match came out; public, so there is no state in it."""

    ranking: Ranking
    ejected: tuple[Ejected, ...]  # in the order of their ejection
    scores: tuple[int, ...] | None = None  # by seat, of the ejected too; None: the game has no points
    seed: str | None = None  # of the deal, in hex: revealed with the result, or later if the match is sealed
    receipt: Receipt | None = None  # as this was told: to players it is of the line before, to observers of the result


class Started(msgspec.Struct, frozen=True, gc=False, tag="started"):
    """The players are seated, and nobody has been called yet."""

    names: tuple[str, ...]
    commitment: str | None = None  # the hash of the seed and the match's id; None: the state was given, not dealt


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """The match is over, and everybody has been told."""

    result: Result


Event = Started | Fact | Ended  # what observers hear
