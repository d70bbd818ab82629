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

    @property
    def description(self) -> str:
        """The fault as people say it."""
        return self.value.replace("_", " ")


class Acted(msgspec.Struct, frozen=True, gc=False, tag="acted"):
    """A seat acted, legally.

    Attributes:
        seat: the seat that acted.
        action: what it did, as a value of the game.
    """

    seat: Seat
    action: Any


class Ejected(msgspec.Struct, frozen=True, gc=False, tag="ejected", omit_defaults=True):
    """A seat was put out of the match; `why` holds nothing that spectators may not know.

    Attributes:
        seat: the seat that is out.
        fault: what the player did wrong.
        moment: when in the match.
        why: the reason in words.
        clause: the clause of the game's RULES.md that was broken; empty: none was.
    """

    seat: Seat
    fault: Fault
    moment: Moment
    why: str
    clause: str = ""


Fact = Acted | Ejected  # what changes a match, and all that a journal must hold


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """Where a record stood: it covers all lines up to there; the result, only if that is the last one.

    Attributes:
        seq: the number of the last line that it covers.
        head: the hash of that line, which all lines before went into.
    """

    seq: int
    head: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.head}"


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a match came out; public, so there is no state in it.

    Attributes:
        ranking: groups of seats, the winners first; ejected seats are in none.
        ejected: the ejections, in their order.
        scores: points by seat, of ejected seats too; None: the game has no points.
        seed: the seed of the deal, in hex; None: the match is sealed, or the state was given.
        receipt: up to the line before the result for players, with the result for observers.
    """

    ranking: Ranking
    ejected: tuple[Ejected, ...]
    scores: tuple[int, ...] | None = None
    seed: str | None = None
    receipt: Receipt | None = None


class Started(msgspec.Struct, frozen=True, gc=False, tag="started"):
    """The players are seated, and nobody has been called yet.

    Attributes:
        names: the players' names, by seat.
        commitment: the hash of the seed and the match's id; None: the state was given, not dealt.
    """

    names: tuple[str, ...]
    commitment: str | None = None


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """The match is over, and everybody has been told.

    Attributes:
        result: the ranking, and all that is published with it.
    """

    result: Result


Event = Started | Fact | Ended  # what observers hear
