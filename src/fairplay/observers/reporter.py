"""Report a match as text, with the board at its start and end."""

from collections.abc import Callable, Sequence
from typing import Any

from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Result, Started
from fairplay.core.game import Seat
from fairplay.core.match import VisibleMatch
from fairplay.render.text import printable

MAX_EVENT_TEXT_CHARS = 200  # of a name or a reason
SHORT_DIGITS = 16  # of a shortened hash or seed


class Reporter:
    """An observer that writes lines for people; `draw` makes the board's text from a view, of `seat` or of spectators.

    Without `draw_start` the board is drawn at the end only: people who play see it on their turns. If `brief`, only the
    start and the end are reported. If `narrow`, the commitment and the seed are shortened.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        draw: Callable[[Any, tuple[str, ...]], str] | None = None,
        *,
        draw_start: bool = True,
        brief: bool = False,
        narrow: bool = False,
        seat: Seat | None = None,
    ) -> None:
        self._write = write
        self._draw = draw
        self._draw_start = draw_start
        self._brief = brief
        self._seat = seat
        self._digits = SHORT_DIGITS if narrow else None
        self.has_result = False

    def observe(self, event: Event, match: VisibleMatch) -> None:
        if self._brief and isinstance(event, Fact):
            return
        if self._draw is not None and isinstance(event, Ended):
            self._write(f"\n{self._draw(match.view(self._seat), match.names)}\n\n")
        if isinstance(event, Started) and match.id:
            self._write(f"match: {printable(match.id, MAX_EVENT_TEXT_CHARS)}\n")
        self._write("".join(f"{line}\n" for line in describe_event(event, match.names, self._digits)))
        if self._draw is not None and self._draw_start and isinstance(event, Started):
            self._write(f"\n{self._draw(match.view(self._seat), match.names)}\n\n")
        self.has_result = isinstance(event, Ended)


def describe_event(event: Event, names: Sequence[str], digits: int | None = None) -> list[str]:
    """Describe an event in lines, with this many digits of hashes and seeds, or all of them."""
    match event:
        case Started(commitment=commitment):
            deal = [f"commitment to the deal: {shorten_number(commitment, digits)}"] if commitment else []
            return [f"at the table: {', '.join(printable_name(name) for name in names)}", *deal]
        case Acted(seat, action):
            return [f"{printable_name(names[seat])} {action}"]
        case Ejected():
            return [describe_ejection(event, names)]
        case Ended(result):
            seed = [f"seed of the deal: {shorten_number(result.seed, digits)}"] if result.seed else []
            return [*seed, *format_standings(result, names)]


def shorten_number(number: str, digits: int | None) -> str:
    """Cut a long number to its first digits.

    >>> shorten_number("0123456789abcdef" * 4, 16)
    '0123456789abcdef…'
    """
    return number if digits is None or len(number) <= digits else f"{number[:digits]}…"


def format_standings(result: Result, names: Sequence[str]) -> list[str]:
    """Format the ranking and the ejections, with scores if the game has any."""
    scored = [printable_name(name) for name in names]
    if result.scores is not None:
        scored = [f"{name} ({score})" for name, score in zip(scored, result.scores, strict=True)]
    lines, rank = [], 1
    for group in result.ranking:
        lines.append(f"{rank}. {', '.join(scored[seat] for seat in sorted(group)) or '(no player)'}")
        rank += len(group) or 1
    out = [f"{scored[ejected.seat]} {describe_fault(ejected)}" for ejected in result.ejected]
    return [*(lines or ["no player is left to be ranked"]), *out]


def describe_ejection(ejected: Ejected, names: Sequence[str]) -> str:
    """Describe an ejection with the name of the player."""
    return f"{printable_name(names[ejected.seat])} {describe_fault(ejected)}"


def describe_fault(ejected: Ejected) -> str:
    """Describe an ejection without the name of the player."""
    fault = ejected.fault.description
    return f"is out: {fault} ({ejected.moment.value}), {printable(ejected.why, MAX_EVENT_TEXT_CHARS)}"


def printable_name(name: str) -> str:
    """A name without control characters, shortened."""
    return printable(name, MAX_EVENT_TEXT_CHARS)
