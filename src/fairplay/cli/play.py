"""fairplay play: play a refereed match and show it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from fairplay.cli.options.match_options import (
    bot_logs_option,
    entrant_from,
    events_option,
    in_process_option,
    journal_option,
    limit_option,
    limits_named,
    lines_option,
    log_messages,
    pace_option,
    pictures_option,
    placed,
    pondering_option,
    quiet_option,
    refuse_unreadable,
    sandbox_option,
    settings,
    show,
    sync_option,
    verbose_option,
)
from fairplay.cli.options.tournament_options import cup_for, jobs_option, out_option, run_cup
from fairplay.core.errors import BadRequest
from fairplay.games import game_with
from fairplay.hosting.sitting import Sitting, in_journal, new_match
from fairplay.hosting.spec import MatchSpec, seed_options
from fairplay.journal.requests import Sync
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
@in_process_option
@pondering_option
@journal_option
@sync_option
@quiet_option
@verbose_option
@events_option
@lines_option
@pace_option
@pictures_option
@bot_logs_option
@click.option(
    "--games",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Play N matches with rotating seats, and compare; see --out.",
)
@jobs_option
@out_option
def play(
    game: str,
    players: tuple[str, ...],
    seed: str | None,
    parameters: tuple[str, ...],
    ages: str | None,
    limit: str | None,
    sandbox: str | None,
    in_process: bool,
    pondering: bool,
    directory: str | None,
    sync: str,
    quiet: bool,
    verbose: bool,
    events: bool,
    lines: bool,
    pace: float | None,
    pictures: Path | None,
    bot_logs: str | None,
    games: int | None,
    jobs: int | None,
    out: str | None,
) -> None:
    """Play a match of GAME between PLAYERs and show it.

    A player is a house player (see: fairplay players GAME), a file ./my_bot.py, a module py:module:Name or any program
    exec:"./bot --flag", which run in a sandbox, or tcp:PORT and ws:PORT for somebody who will join; NAME=PLAYER gives
    it a label. You yourself are human: fairplay play fish human greedy

    If a match with --journal is interrupted, by whatever, the same command again goes on with it; so it does with
    --games and --out. For anything more than a few players at one table see: fairplay tournament --help.
    """
    refuse_unreadable((*players, *parameters, seed or ""))
    players = placed(players, in_process=in_process)
    rules = game_with(game, settings(parameters))
    seating = seats_by_age(rules, len(players), numbers(ages))
    if games is not None:
        refuse_together("--games", {"--journal": directory, "--ages": ages, "--events": events})
        refuse_together("--games", {"--pictures": pictures, "--lines": lines, "--pace": pace, "--verbose": verbose})
        refuse_together("--games", {f"--sync {sync}": sync != Sync.BATCH.value})
        cup = cup_for(rules, players, games, seed, limits=limits_named(limit), sandbox=sandbox, pondering=pondering)
        run_cup(cup, out, jobs=jobs, quiet=quiet, drawn=seed is None, bot_logs=bot_logs)
        return
    refuse_together("a single match", {"--jobs": jobs, "--out": out})
    if verbose:
        log_messages()
    spec = MatchSpec(
        game=game,
        entrants=tuple(entrant_from(players[index]) for index in seating),
        parameters=rules.parameters(),
        limits=limits_named(limit),
        sandbox=sandbox,
        pondering=pondering,
        journal=directory,
        sync=Sync(sync),
        bot_logs=bot_logs,
        **seed_options(seed),
    )
    show(taken_up(spec) or new_match(spec), quiet=quiet, events=events, lines=lines, pace=pace, pictures=pictures)


def refuse_together(what: str, others: Mapping[str, Any]) -> None:
    """Raise BadRequest if an option was given that makes no sense here."""
    for option, given in others.items():
        if given is not None and given is not False:  # 0 was given, too
            raise BadRequest(f"{option} makes no sense with {what}; see: fairplay play --help")


def taken_up(spec: MatchSpec) -> Sitting | None:
    """The match of this very command that was interrupted, if there is one."""
    if spec.journal is None:
        return None
    from fairplay.hosting.records import interrupted  # where nothing is recorded, nobody needs it

    sitting = interrupted(spec)
    if sitting is not None and (record := in_journal(sitting.held)) is not None:
        click.echo(f"fairplay: going on with {record.path}", err=True)
    return sitting


def numbers(ages: str | None) -> list[int] | None:
    """The ages of --ages."""
    try:
        return None if ages is None else [int(age) for age in ages.split(",")]
    except ValueError:
        raise BadRequest(f"--ages {ages}: write whole numbers with commas between them") from None
