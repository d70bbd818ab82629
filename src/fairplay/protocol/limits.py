"""Define the time limits of players."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.messages import Message, TakeTurn

Seconds = Annotated[float, msgspec.Meta(gt=0, le=86400)]


class Limits(msgspec.Struct, frozen=True):
    """The time control of a match, in seconds; the host's own delays are not charged.

    Attributes:
        move: for each answer.
        start_up: for a program to start and answer hello.
        arrival: for all players to connect.
        first_move: for the first turn; None: the same as `move`.
        bank: for all turns together; None: unlimited.
        increment: added to the bank after each turn.
        goodbye: for sending the last message to a player.
        people: for each answer of a person; None: unlimited.
    """

    move: Seconds = 5.0
    start_up: Seconds = 10.0
    arrival: Seconds = 60.0
    first_move: Seconds | None = None
    bank: Seconds | None = None
    increment: Annotated[float, msgspec.Meta(ge=0, le=86400)] = 0.0
    goodbye: Seconds = 0.25
    people: Seconds | None = None


UNLIMITED_S = 1e9
PROGRAM_LIMIT_NAMES = {
    "start": "start_up",
    "first": "first_move",
}  # short names for options; the others keep their names
PROGRAM_LIMIT_NAMES |= {name: name for name in ("move", "arrival", "bank", "increment")}
LIMIT_NAMES = PROGRAM_LIMIT_NAMES | {"people": "people"}


def parse_limits(text: str) -> Limits:
    """Parse limits: seconds for each answer, and further limits by name.

    >>> parse_limits("2.5").move
    2.5
    >>> parse_limits("move=2,first=20,bank=60,increment=0.5,start=30").bank
    60.0
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            name, value = "move", part
        if name not in LIMIT_NAMES or LIMIT_NAMES[name] in found:
            names = ", ".join(LIMIT_NAMES)
            raise BadRequest(f"{text!r} is not a time limit; write SECONDS or NAME=SECONDS, with a NAME of {names}")
        found[LIMIT_NAMES[name]] = value
    try:
        return msgspec.convert(found, Limits, strict=False)
    except msgspec.ValidationError:
        raise BadRequest(f"{text!r} is not a time limit: write seconds, more than 0 and at most 86400") from None


def limits_for_person(limits: Limits) -> Limits:
    """The limits for a person at this terminal.

    >>> limits_for_person(parse_limits("2,people=60")).move, limits_for_person(parse_limits("2")).move
    (60.0, 1000000000.0)
    """
    if limits.people is not None:
        return msgspec.structs.replace(limits, move=limits.people)
    return msgspec.structs.replace(limits, move=UNLIMITED_S, start_up=UNLIMITED_S, first_move=None, bank=None)


def format_limits(limits: Limits) -> str:
    """Format limits as options, without those that have their defaults.

    >>> format_limits(parse_limits("2,first=20")), format_limits(Limits())
    ('first=20,move=2', '')
    """
    default = Limits()
    named = {name: getattr(limits, field) for name, field in LIMIT_NAMES.items()}
    return ",".join(f"{name}={it:g}" for name, it in named.items() if it != getattr(default, LIMIT_NAMES[name]))


class TimeBudget:
    """The remaining time of one player."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.bank
        self._first = True
        # The limit of every message, if it never changes; or None.
        self.constant_limit = limits.move if limits.bank is None and limits.first_move is None else None

    def limit_for(self, message: Message) -> float:
        """The limit for the answer to a message, in seconds."""
        limits = self._limits
        if not isinstance(message, TakeTurn):
            return limits.move
        limit = limits.first_move if self._first and limits.first_move is not None else limits.move
        return limit if self._left is None else min(limit, self._left)

    def describe_timeout(self, limit: float) -> str:
        """Describe a turn that took longer than this limit."""
        limits, left = self._limits, round(limit, 3)
        usual = limits.first_move if self._first and limits.first_move is not None else limits.move
        if limits.bank is None or limit >= usual:
            return f"no answer within {limit:g} s"
        more = f", and {limits.increment:g} s more for each turn," if limits.increment else " for all turns"
        used = f"the bank of {limits.bank:g} s{more} is used up"
        return f"{used}: no answer within the {left:g} s that were left" if left else used

    def spend(self, message: Message, seconds: float) -> None:
        """Charge the time of an answer; only turns count."""
        if isinstance(message, TakeTurn):
            self.spend_turn(seconds)

    def spend_turns(self, turns: Sequence[float]) -> None:
        """Charge the times of several turns."""
        for seconds in turns:
            self.spend_turn(seconds)

    def spend_turn(self, seconds: float) -> None:
        """Charge the time of a turn."""
        self._first = False
        if self._left is not None:
            self._left = max(0.0, self._left - seconds) + self._limits.increment
