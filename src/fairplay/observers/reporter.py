"""Say in words what happens, and show the board when it begins and when it ends."""

from collections.abc import Callable, Sequence
from typing import Any

from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Result, Started
from fairplay.core.game import Seat
from fairplay.core.match import Visible
from fairplay.render.text import printable

LONGEST = 200  # characters of a name or a reason on one line
DIGITS = 16  # of a long number, for those who only compare it


class Reporter:
    """An observer that writes lines for people; `draw` makes the board's text from what spectators see, or a seat.

    With `at_once` it is drawn when the match begins, too: not for people who play, and see it on their turns. If it is
    `brief`, it says who plays and how the match ends, for those who have seen the rest. If it is `narrow`, the
    commitment and the seed are cut to their first digits.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        draw: Callable[[Any, tuple[str, ...]], str] | None = None,
        *,
        at_once: bool = True,
        brief: bool = False,
        narrow: bool = False,
        seat: Seat | None = None,
    ) -> None:
        self._write = write
        self._draw = draw
        self._at_once = at_once
        self._brief = brief
        self._seat = seat
        self._digits = DIGITS if narrow else None
        self.told_result = False

    def observe(self, event: Event, match: Visible) -> None:
        if self._brief and isinstance(event, Fact):
            return
        if self._draw is not None and isinstance(event, Ended):
            self._write(f"\n{self._draw(match.view(self._seat), match.names)}\n\n")
        if isinstance(event, Started) and match.id:
            self._write(f"match: {printable(match.id, LONGEST)}\n")
        self._write("".join(f"{line}\n" for line in in_words(event, match.names, self._digits)))
        if self._draw is not None and self._at_once and isinstance(event, Started):
            self._write(f"\n{self._draw(match.view(self._seat), match.names)}\n\n")
        self.told_result = isinstance(event, Ended)


def in_words(event: Event, names: Sequence[str], digits: int | None = None) -> list[str]:
    """The lines that tell an event, with so many digits of a long number, or all of them."""
    match event:
        case Started(commitment=commitment):
            bound = [f"commitment to the deal: {begun(commitment, digits)}"] if commitment else []
            return [f"at the table: {', '.join(label(name) for name in names)}", *bound]
        case Acted(seat, action):
            return [f"{label(names[seat])} {action}"]
        case Ejected():
            return [ejection(event, names)]
        case Ended(result):
            seed = [f"seed of the deal: {begun(result.seed, digits)}"] if result.seed else []
            return [*seed, *standings(result, names)]


def begun(number: str, digits: int | None) -> str:
    """A number that is long, or how it begins.

    >>> begun("0123456789abcdef" * 4, 16)
    '0123456789abcdef…'
    """
    return number if digits is None or len(number) <= digits else f"{number[:digits]}…"


def standings(result: Result, names: Sequence[str]) -> list[str]:
    """The ranking, and who was ejected and why; everybody with the score, where the game has any."""
    scored = [label(name) for name in names]
    if result.scores is not None:
        scored = [f"{name} ({score})" for name, score in zip(scored, result.scores, strict=True)]
    lines, rank = [], 1
    for group in result.ranking:
        lines.append(f"{rank}. {', '.join(scored[seat] for seat in sorted(group)) or '(nobody)'}")
        rank += len(group) or 1
    out = [f"{scored[ejected.seat]} {why_out(ejected)}" for ejected in result.ejected]
    return [*(lines or ["nobody is left to be ranked"]), *out]


def ejection(ejected: Ejected, names: Sequence[str]) -> str:
    """Who is out, and why."""
    return f"{label(names[ejected.seat])} {why_out(ejected)}"


def why_out(ejected: Ejected) -> str:
    """What is said behind the name of whoever was ejected."""
    fault = ejected.fault.in_words
    return f"is out: {fault} ({ejected.moment.value}), {printable(ejected.why, LONGEST)}"


def label(name: str) -> str:
    """A name that is fit for a terminal."""
    return printable(name, LONGEST)
