"""fairplay play: play a refereed match and show it."""

import secrets
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from functools import partial
from typing import Any

import click

from fairplay.cli.output import teller
from fairplay.core.chance import SEED_BYTES, derive, is_whole, seed_from
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Event
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Failed
from fairplay.games import game_with, title
from fairplay.journal.record import Journal
from fairplay.observers.feed import Feed
from fairplay.observers.reporter import Reporter, outcome
from fairplay.players.address import open_player, split_label
from fairplay.referee.host import Referee, distinct, seats_by_age
from fairplay.render.text import printable


class Notes:
    """A record for the person who hosts: keeps what failing players said, and passes everything on to the journal."""

    def __init__(self, journal: Journal | None) -> None:
        self.evidence: list[tuple[int, str]] = []  # (seat, what it said)
        self.clock: Callable[[], float] = time.perf_counter
        self._journal = journal

    def open(self, match: Match[Any, Any, Any], seed: bytes | None) -> None:
        """Begin the journal, if there is one."""
        if self._journal is not None:
            self._journal.open(match, seed)

    def write(self, event: Event, answer: Answer | None) -> None:
        """Write it down, before anybody is told."""
        if self._journal is not None:
            self._journal.write(event, answer)
        if isinstance(event, Ejected) and isinstance(answer, Failed) and answer.evidence:
            self.evidence.append((event.seat, answer.evidence))


@click.command()
@click.argument("game")
@click.argument("players", nargs=-1, required=True)
@click.option("--seed", help="Any text; the same seed deals the same match. Drawn if not given.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; see: fairplay games.")
@click.option("--ages", metavar="N,N,...", help="The players' ages: the game seats them by age.")
@click.option("--journal", "directory", metavar="DIR", type=click.Path(file_okay=False), help="Record the match there.")
@click.option("--quiet", is_flag=True, help="Print only the ranking and who was ejected.")
@click.option("--events", is_flag=True, help="Print one JSON object per event instead.")
def play(
    game: str,
    players: tuple[str, ...],
    seed: str | None,
    parameters: tuple[str, ...],
    ages: str | None,
    directory: str | None,
    quiet: bool,
    events: bool,
) -> None:
    """Play a match of GAME between PLAYERs and show it.

    A player is a house player (random, lookahead:2; see: fairplay players GAME), a file ./my_bot.py, or
    py:module:Name; NAME=PLAYER gives it a label.
    """
    if quiet and events:
        raise BadRequest("--quiet and --events cannot go together")
    refuse_unreadable((*players, *parameters, seed or ""))
    rules = game_with(game, settings(parameters))
    shelf = title(game)
    seating = seats_by_age(rules, len(players), numbers(ages))
    labels, addresses = zip(*(split_label(players[index]) for index in seating), strict=True)
    secret = secrets.token_bytes(SEED_BYTES) if seed is None else seed_from(seed)
    guessable = seed is not None and not is_whole(seed)
    journal = None if directory is None else Journal(directory, players=addresses, guessable=guessable)
    notes = Notes(journal)
    referee = Referee()
    if events:
        referee.subscribe(Feed(teller(sys.stdout)))
    elif not quiet:
        referee.subscribe(Reporter(teller(sys.stdout), partial(shelf.text, colour=sys.stdout.isatty())))
    with redirect_stdout(sys.stderr):  # what players print must not come between the events
        table = [open_player(address, shelf, derive(secret, f"seat {seat}")) for seat, address in enumerate(addresses)]
        match = referee.run(rules, table, names=distinct(labels), seed=secret, record=notes)
    if quiet:
        click.echo("\n".join(outcome(match.result, match.names)))
    if not events:
        for seat, said in notes.evidence:
            click.echo(f"    {printable(match.names[seat], 40)}: {printable(said, 600)}")
        if journal is not None:
            click.echo(f"journal: {journal.path}")


def refuse_unreadable(texts: Iterable[str]) -> None:
    """Take nothing that is not UTF-8, for no journal could hold it."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadRequest(f"{text!r} is no text in UTF-8") from None


def settings(parameters: Sequence[str]) -> dict[str, str]:
    """The parameters of --set NAME=VALUE."""
    found: dict[str, str] = {}
    for text in parameters:
        name, equals, value = text.partition("=")
        if not equals or name in found:
            raise BadRequest(f"--set {text}: write NAME=VALUE, and each name once")
        found[name] = value
    return found


def numbers(ages: str | None) -> list[int] | None:
    """The ages of --ages."""
    try:
        return None if ages is None else [int(age) for age in ages.split(",")]
    except ValueError:
        raise BadRequest(f"--ages {ages}: write whole numbers with commas between them") from None
