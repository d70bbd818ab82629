"""fairplay play: play a refereed match and show it."""

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from fairplay.cli.match_options import (
    Notes,
    events_option,
    journal_option,
    limit_option,
    quiet_option,
    refuse_unreadable,
    sandbox_option,
    settings,
    show,
    sit_down,
    sync_option,
    terms_for,
)
from fairplay.cli.output import about
from fairplay.core.chance import SEED_BYTES, is_whole, seed_from
from fairplay.core.errors import BadRequest
from fairplay.core.match import Match
from fairplay.games import game_with, title
from fairplay.journal.append_file import InUse, Sync
from fairplay.journal.lines import Opening
from fairplay.journal.record import Journal
from fairplay.journal.replay import read
from fairplay.journal.unfinished import unfinished
from fairplay.players.address import split_label
from fairplay.referee.host import Referee, dealt, distinct, seats_by_age


@click.command()
@click.argument("game")
@click.argument("players", nargs=-1, required=True)
@click.option("--seed", help="Any text; the same seed deals the same match. Drawn if not given.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; see: fairplay games.")
@click.option("--ages", metavar="N,N,...", help="The players' ages: the game seats them by age.")
@limit_option
@sandbox_option
@journal_option
@sync_option
@quiet_option
@events_option
def play(
    game: str,
    players: tuple[str, ...],
    seed: str | None,
    parameters: tuple[str, ...],
    ages: str | None,
    limit: str,
    sandbox: str,
    directory: str | None,
    sync: str,
    quiet: bool,
    events: bool,
) -> None:
    """Play a match of GAME between PLAYERs and show it.

    A player is a house player (see: fairplay players GAME), a file ./my_bot.py or any program exec:"./bot --flag",
    which run in a sandbox, or tcp:PORT and ws:PORT for somebody who will join; NAME=PLAYER gives it a label.

    If a match with --journal is interrupted, by whatever, the same command again goes on with it.
    """
    refuse_unreadable((*players, *parameters, seed or ""))
    rules, shelf = game_with(game, settings(parameters)), title(game)
    seating = seats_by_age(rules, len(players), numbers(ages))
    labels, addresses = zip(*(split_label(players[index]) for index in seating), strict=True)
    secret = secrets.token_bytes(SEED_BYTES) if seed is None else seed_from(seed)
    guessable = seed is not None and not is_whole(seed)
    names, terms = tuple(distinct(labels)), terms_for(addresses, limit, sandbox, *([directory] if directory else []))
    journal = None
    if directory is not None:
        kept = {"drawn": seed is None, "guessable": guessable, **terms.kept}
        journal = Journal(directory, players=addresses, sync=Sync(sync), **kept)

    def same(opening: Opening) -> bool:
        """Was it opened by this very command?"""
        dealt = opening.drawn if seed is None else opening.seed == secret.hex()
        asked = (opening.game, opening.parameters, opening.names, opening.players, opening.parent)
        return dealt and asked == (game, rules.parameters(), names, addresses, None)

    def run(referee: Referee, notes: Notes) -> Match[Any, Any, Any]:
        match = None if journal is None or directory is None else taken_up(journal, unfinished(directory, same))
        if match is not None:
            facts = read(journal.path).facts if journal and journal.path else ()
            return sit_down(referee, notes, shelf, match, addresses, terms, facts=facts)
        match = dealt(rules, names, secret)
        return sit_down(referee, notes, shelf, match, addresses, terms, begin=lambda: notes.open(match))

    show(shelf, journal, run, quiet=quiet, events=events)


def taken_up(journal: Journal, paths: Iterable[Path]) -> Match[Any, Any, Any] | None:
    """The first of these matches that no other process plays, to be gone on with; None if there is none."""
    for path in paths:
        try:
            with about(str(path)):
                match = journal.resume(path)
        except InUse:
            continue
        click.echo(f"fairplay: going on with {path}", err=True)
        return match
    return None


def numbers(ages: str | None) -> list[int] | None:
    """The ages of --ages."""
    try:
        return None if ages is None else [int(age) for age in ages.split(",")]
    except ValueError:
        raise BadRequest(f"--ages {ages}: write whole numbers with commas between them") from None
