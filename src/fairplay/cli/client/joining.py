"""Share what verbs have that let a player play elsewhere: their options, and short lines that say how it goes."""

from enum import Enum, auto

import click

from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest
from fairplay.core.events import Receipt, Result
from fairplay.core.game import Seat
from fairplay.players.address import split_label
from fairplay.protocol.wire import Goodbye
from fairplay.render.text import printable
from fairplay.sandbox.policy import SandboxLevel

MAX_MESSAGE_CHARS = 600  # characters of a reason
MAX_LABEL_CHARS = 64  # and of what the host calls a player
JOINING_PLAYER_ADDRESSES = "human, ./file.py, exec:COMMAND and py:module:Name"  # who may join, besides built-in players

wait_option = click.option(
    "--wait",
    type=Seconds(more_than_none=False),
    default=30.0,
    show_default=True,
    help="Seconds to try until the host is there.",
)
idle_timeout_option = click.option(
    "--patience",
    type=Seconds(),
    default=600.0,
    show_default=True,
    help="Seconds without a message after which the host is given up.",
)
sandbox_option = click.option(
    "--sandbox",
    type=click.Choice(["auto", *(level.value for level in SandboxLevel)]),
    help="How a program is shut in; see: fairplay doctor. [default: auto]",
)


class JoinOutcome(Enum):
    """How a visit to a host ended."""

    ENDED = auto()  # with the last match
    OUT = auto()  # the player was ejected, or failed in a match
    LOST = auto()  # the host or the player has left


class MatchReport:
    """What is said of one match."""

    def __init__(self, game: str) -> None:
        self.ended = False
        self._game = printable(game, MAX_LABEL_CHARS)
        self._seat: Seat | None = None
        self._seats = 0

    def start(self, seat: Seat, names: tuple[str, ...]) -> None:
        """Say where the player sits."""
        self._seat, self._seats = seat, len(names)
        name = printable(names[seat], MAX_LABEL_CHARS) if 0 <= seat < len(names) else "somebody"
        print_message(f"playing {self._game} as {name} in seat {seat}")

    def end(self, result: Result) -> None:
        """Say how it came out."""
        print_message(describe_rank(result, self._seat, self._seats))

    def closing(self, receipt: Receipt) -> None:
        """Say it, so that whoever sits here can keep it."""
        print_message(f"receipt: {printable(str(receipt), MAX_MESSAGE_CHARS)} (covers the result)")


def describe_rank(result: Result, seat: Seat | None, seats: int) -> str:
    """Where a seat came in."""
    better = 0
    for group in result.ranking:
        if seat in group:
            return f"ranked {better + 1} of {seats}{', tied' if len(group) > 1 else ''}"
        better += len(group)
    return "the match is over, and the player is not ranked"


def report_outcome(last: MatchReport | None, goodbye: Goodbye | None, lost: str) -> JoinOutcome:
    """Say how it ended, if that was not said yet."""
    if goodbye is not None:
        print_message(f"ejected, {goodbye.fault.description}: {printable(goodbye.why, MAX_MESSAGE_CHARS)}")
        return JoinOutcome.OUT
    if last is not None and last.ended:
        return JoinOutcome.ENDED
    print_message(
        f"{lost or 'the host hung up'} before {'there was a match' if last is None else 'the end of the match'}"
    )
    return JoinOutcome.LOST


def parse_player(player: str, name: str | None) -> tuple[str | None, str]:
    """The name and the address of PLAYER or NAME=PLAYER, as `play` takes them, with the name of --name."""
    label, address = split_label(player)
    if label == player:
        return name, player
    if name is not None:
        raise BadRequest(f"the player is {label} by one word and {name} by --name; say one of them")
    return label, address


def describe_loss(error: Exception) -> str:
    """How the line to a host was lost."""
    return f"the line was lost: {printable(str(error), MAX_MESSAGE_CHARS)}"


def print_message(text: str) -> None:
    """Say something to whoever lets the player play."""
    click.echo(f"fairplay: {text}", err=True)
