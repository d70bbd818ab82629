"""Define the events of a match: its start, its facts and its end."""

from enum import Enum
from typing import Any

import msgspec

from fairplay.core.enums import immutable
from fairplay.core.game import Moment, Ranking, Seat


@immutable
class Fault(Enum):
    """What a player did wrong. A fault of the host is an exception (`HostFault`), never one of these."""

    ILLEGAL = "illegal"  # well-formed, but against the rules
    MALFORMED = "malformed"  # not a valid answer to the message
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    GONE = "gone"  # the connection is lost, or the player never came
    FLOOD = "flood"  # far too much data

    @property
    def description(self) -> str:
        """The fault as plain text: `timed out`, not `timed_out`."""
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
    """A seat was ejected; `why` is public.

    Attributes:
        seat: the ejected seat.
        fault: what the player did wrong.
        moment: when in the match.
        why: the reason.
        clause: the number of the broken rule in the game's RULES.md; empty if no rule was broken.
    """

    seat: Seat
    fault: Fault
    moment: Moment
    why: str
    clause: str = ""


Fact = Acted | Ejected  # a change of a match; a journal holds all of them


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """A position in a record: it covers all lines up to there, and so the result only if that is the last line.

    Attributes:
        seq: the number of the last line.
        head: the hash of that line, which covers all lines before.
    """

    seq: int
    head: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.head}"


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a match; it is public, so it holds no state.

    Attributes:
        ranking: groups of seats, the winners first, without the ejected.
        ejected: the ejections, in their order.
        scores: the points by seat, ejected seats included; None: the game has no points.
        seed: the seed of the deal, in hex; None: the match is sealed, or began from a given state.
        receipt: for players it ends before the result, for observers it covers the result.
    """

    ranking: Ranking
    ejected: tuple[Ejected, ...]
    scores: tuple[int, ...] | None = None
    seed: str | None = None
    receipt: Receipt | None = None


class Started(msgspec.Struct, frozen=True, gc=False, tag="started"):
    """The players are seated; no player has been asked yet.

    Attributes:
        names: the players' names, by seat.
        commitment: the hash of the seed and the match's id; None: the match began from a given state.
    """

    names: tuple[str, ...]
    commitment: str | None = None


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """The match is over, and all players have been told.

    Attributes:
        result: the ranking and everything that is published with it.
    """

    result: Result


Event = Started | Fact | Ended  # what observers receive
