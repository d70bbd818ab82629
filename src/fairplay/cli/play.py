"""fairplay play: play a refereed match and show it."""

import secrets
from collections.abc import Sequence
from typing import Any

import click

from fairplay.cli.stage import Notes, events_option, journal_option, quiet_option, refuse_unreadable, show
from fairplay.core.chance import SEED_BYTES, derive, is_whole, seed_from
from fairplay.core.errors import BadRequest
from fairplay.core.match import Match
from fairplay.games import game_with, title
from fairplay.journal.record import Journal
from fairplay.players.address import open_player, split_label
from fairplay.referee.host import Referee, distinct, seats_by_age


@click.command()
@click.argument("game")
@click.argument("players", nargs=-1, required=True)
@click.option("--seed", help="Any text; the same seed deals the same match. Drawn if not given.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; see: fairplay games.")
@click.option("--ages", metavar="N,N,...", help="The players' ages: the game seats them by age.")
@journal_option
@quiet_option
@events_option
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

    A player is a house player (see: fairplay players GAME), a file ./my_bot.py, or py:module:Name; NAME=PLAYER gives
    it a label.
    """
    refuse_unreadable((*players, *parameters, seed or ""))
    rules, shelf = game_with(game, settings(parameters)), title(game)
    seating = seats_by_age(rules, len(players), numbers(ages))
    labels, addresses = zip(*(split_label(players[index]) for index in seating), strict=True)
    secret = secrets.token_bytes(SEED_BYTES) if seed is None else seed_from(seed)
    guessable = seed is not None and not is_whole(seed)
    journal = None if directory is None else Journal(directory, players=addresses, guessable=guessable)

    def run(referee: Referee, notes: Notes) -> Match[Any, Any, Any]:
        table = [open_player(address, shelf, derive(secret, f"seat {seat}")) for seat, address in enumerate(addresses)]
        return referee.run(rules, table, names=distinct(labels), seed=secret, record=notes)

    show(shelf, journal, run, quiet=quiet, events=events)


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
