"""fairplay play: play a refereed match and show it."""

import click

from fairplay.cli.match_options import (
    events_option,
    journal_option,
    limit_option,
    limits_named,
    pondering_option,
    quiet_option,
    refuse_unreadable,
    sandbox_option,
    settings,
    show,
    sync_option,
)
from fairplay.core.errors import BadRequest
from fairplay.games import game_with
from fairplay.hosting.sitting import Sitting, interrupted, new_match
from fairplay.hosting.spec import Entrant, MatchSpec, seed_options
from fairplay.journal.append_file import Sync
from fairplay.journal.record import MatchRecord
from fairplay.players.address import split_label
from fairplay.referee.host import seats_by_age


@click.command()
@click.argument("game")
@click.argument("players", nargs=-1, required=True)
@click.option(
    "--seed",
    help="Any text; the same seed deals the same match. Drawn if not given, as it should be where hands are hidden.",
)
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; see: fairplay games.")
@click.option("--ages", metavar="N,N,...", help="The players' ages: the game seats them by age.")
@limit_option
@sandbox_option
@pondering_option
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
    limit: str | None,
    sandbox: str | None,
    pondering: bool,
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
    rules = game_with(game, settings(parameters))
    seating = seats_by_age(rules, len(players), numbers(ages))
    spec = MatchSpec(
        game=game,
        entrants=tuple(entrant_from(players[index]) for index in seating),
        parameters=rules.parameters(),
        limits=limits_named(limit),
        sandbox=sandbox,
        pondering=pondering,
        journal=directory,
        sync=Sync(sync),
        **seed_options(seed),
    )
    show(taken_up(spec) or new_match(spec), quiet=quiet, events=events)


def taken_up(spec: MatchSpec) -> Sitting | None:
    """The match of this very command that was interrupted, if there is one."""
    sitting = interrupted(spec)
    if sitting is not None and isinstance(sitting.held, MatchRecord):
        click.echo(f"fairplay: going on with {sitting.held.path}", err=True)
    return sitting


def entrant_from(text: str) -> Entrant:
    """The entrant that a person means by NAME=PLAYER, or only PLAYER."""
    label, address = split_label(text)
    return Entrant(address, "" if label == text else label)


def numbers(ages: str | None) -> list[int] | None:
    """The ages of --ages."""
    try:
        return None if ages is None else [int(age) for age in ages.split(",")]
    except ValueError:
        raise BadRequest(f"--ages {ages}: write whole numbers with commas between them") from None
