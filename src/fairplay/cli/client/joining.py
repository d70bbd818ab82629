"""Define options and messages of the commands that let a player play at a host."""

from enum import Enum, auto

import click

from fairplay.cli.options.sandbox_levels import SandboxLevels
from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest
from fairplay.core.events import Receipt, Result
from fairplay.core.game import Seat
from fairplay.players.address import split_label
from fairplay.protocol.wire import Goodbye
from fairplay.render.text import printable

MAX_MESSAGE_CHARS = 600
MAX_LABEL_CHARS = 64  # of the host's name for a player
JOINING_PLAYER_ADDRESSES = "human, ./file.py, exec:COMMAND and py:module:Name"  # besides built-in players

wait_option = click.option(
    "--wait",
    type=Seconds(more_than_none=False),
    default=30.0,
    show_default=True,
    help="Try to connect for so many seconds.",
)
idle_timeout_option = click.option(
    "--idle-timeout",
    type=Seconds(),
    default=600.0,
    show_default=True,
    help="Give up the host after so many seconds without a message.",
)
sandbox_option = click.option(
    "--sandbox",
    type=SandboxLevels(),
    help="Run the program in this sandbox; see: fairplay doctor.  [default: auto]",
)


class JoinOutcome(Enum):
    """How playing at a host ended."""

    ENDED = auto()  # with the last match
    OUT = auto()  # the player was ejected, or failed in a match
    LOST = auto()  # the host or the player left


class MatchReport:
    """The messages about one match."""

    def __init__(self, game: str) -> None:
        self.ended = False
        self._game = printable(game, MAX_LABEL_CHARS)
        self._seat: Seat | None = None
        self._seats = 0

    def start(self, seat: Seat, names: tuple[str, ...]) -> None:
        """Print the seat of the player."""
        self._seat, self._seats = seat, len(names)
        name = printable(names[seat], MAX_LABEL_CHARS) if 0 <= seat < len(names) else "unknown"
        print_message(f"playing {self._game} as {name} in seat {seat}")

    def end(self, result: Result) -> None:
        """Print the rank of the player."""
        print_message(describe_rank(result, self._seat, self._seats))

    def closing(self, receipt: Receipt) -> None:
        """Print the receipt, so that the user can keep it."""
        print_message(f"receipt: {printable(str(receipt), MAX_MESSAGE_CHARS)} (covers the result)")


def describe_rank(result: Result, seat: Seat | None, seats: int) -> str:
    """The rank of a seat as text."""
    better = 0
    for group in result.ranking:
        if seat in group:
            return f"ranked {better + 1} of {seats}{', tied' if len(group) > 1 else ''}"
        better += len(group)
    return "the match is over; the player is not ranked"


def report_outcome(last: MatchReport | None, goodbye: Goodbye | None, lost: str) -> JoinOutcome:
    """Print how it ended, unless it was printed already."""
    if goodbye is not None:
        print_message(f"ejected, {goodbye.fault.description}: {printable(goodbye.why, MAX_MESSAGE_CHARS)}")
        return JoinOutcome.OUT
    if last is not None and last.ended:
        return JoinOutcome.ENDED
    moment = "there was a match" if last is None else "the end of the match"
    print_message(f"{lost or 'the host closed the connection'} before {moment}")
    return JoinOutcome.LOST


def parse_player(player: str, name: str | None) -> tuple[str | None, str]:
    """Parse PLAYER or NAME=PLAYER; the name may come from --name instead."""
    label, address = split_label(player)
    if label == player:
        return name, player
    if name is not None:
        raise BadRequest(f"the player has two names, {label} and (by --name) {name}; use one of them")
    return label, address


def describe_loss(error: Exception) -> str:
    """The message about a lost connection."""
    return f"the connection was lost: {printable(str(error), MAX_MESSAGE_CHARS)}"


def print_message(text: str) -> None:
    """Print a message for the user."""
    click.echo(f"fairplay: {text}", err=True)
