"""Say to whoever lets a player play elsewhere how it goes, in short lines."""

from enum import Enum, auto

import click

from fairplay.core.events import Fault, Receipt, Result
from fairplay.core.game import Seat
from fairplay.protocol.wire import Goodbye
from fairplay.render.text import printable

LONGEST = 600  # characters of a reason
LONGEST_LABEL = 64  # and of what the host calls a player


class Outcome(Enum):
    """How a visit to a host ended."""

    ENDED = auto()  # with the last match
    OUT = auto()  # the player was ejected, or failed in a match
    LOST = auto()  # the host or the player has left


class Report:
    """What is said of one match."""

    def __init__(self, game: str) -> None:
        self.ended = False
        self._game = printable(game, LONGEST_LABEL)
        self._seat: Seat | None = None
        self._seats = 0

    def start(self, seat: Seat, names: tuple[str, ...]) -> None:
        """Say where the player sits."""
        self._seat, self._seats = seat, len(names)
        name = printable(names[seat], LONGEST_LABEL) if 0 <= seat < len(names) else "somebody"
        say(f"playing {self._game} as {name} in seat {seat}")

    def end(self, result: Result) -> None:
        """Say how it came out."""
        say(ranked(result, self._seat, self._seats))

    def closing(self, receipt: Receipt) -> None:
        """Say it, so that whoever sits here can keep it."""
        say(f"receipt: {printable(str(receipt), LONGEST)} (covers the result)")


def ranked(result: Result, seat: Seat | None, seats: int) -> str:
    """Where a seat came in."""
    better = 0
    for group in result.ranking:
        if seat in group:
            return f"ranked {better + 1} of {seats}{', tied' if len(group) > 1 else ''}"
        better += len(group)
    return "the match is over, and the player is not ranked"


def outcome(last: Report | None, goodbye: Goodbye | None, lost: str) -> Outcome:
    """Say how it ended, if that was not said yet."""
    if goodbye is not None:
        say(f"ejected, {in_words(goodbye.fault)}: {printable(goodbye.why, LONGEST)}")
        return Outcome.OUT
    if last is not None and last.ended:
        return Outcome.ENDED
    say(f"{lost or 'the host hung up'} before {'there was a match' if last is None else 'the end of the match'}")
    return Outcome.LOST


def lost_by(error: Exception) -> str:
    """How the line to a host was lost."""
    return f"the line was lost: {printable(str(error), LONGEST)}"


def in_words(fault: Fault) -> str:
    """A fault as people say it."""
    return fault.value.replace("_", " ")


def say(text: str) -> None:
    """Say something to whoever lets the player play."""
    click.echo(f"fairplay: {text}", err=True)
