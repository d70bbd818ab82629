"""Play one match, or many with --games (fairplay play)."""

from collections.abc import Mapping
from typing import Any

import click

from fairplay.app.matches import prepare_match
from fairplay.cli.options.game import game_argument
from fairplay.cli.options.match_options import (
    log_messages,
    match_options,
    parse_limit_option,
    parse_pairs,
    place_players,
    pondering_option,
    refuse_unreadable,
)
from fairplay.cli.options.tournament_options import jobs_option, out_option
from fairplay.core.errors import BadRequest
from fairplay.games import make_game
from fairplay.hosting.prepared_match import as_match_record
from fairplay.hosting.spec import Entrant, MatchSpec, seed_options
from fairplay.journal.options import Durability
from fairplay.players.address import split_label
from fairplay.referee.referee import seats_by_age
from fairplay.terminal.matches import show_match


@click.command()
@game_argument()
@click.argument("players", nargs=-1, required=True)
@click.option(
    "--seed",
    help="Deal from this text: the same seed deals the same match. Games with hidden hands should use the default.  "
    "[default: random]",
)
@click.option(
    "--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the game; see: fairplay games."
)
@click.option("--ages", metavar="N,N,...", help="Seat the players by these ages.")
@match_options
@pondering_option
@click.option(
    "--games",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Play N matches with rotating seats, and compare the players; see --out.",
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
    verbose: bool,
    bot_logs: str | None,
    games: int | None,
    jobs: int | None,
    out: str | None,
    **shown: Any,
) -> None:
    """Play one match, or many with --games.

    A player is a built-in player (see: fairplay players GAME), a file ./my_bot.py, a module py:module:Name or any
    program exec:"./bot --flag", which run in a sandbox, or tcp:PORT or ws:PORT for a player that joins over the
    network. NAME=PLAYER gives it a label. To play yourself: fairplay play fish human greedy

    If a match with --journal is interrupted, the same command resumes it; so it does with --games and --out. For more
    than a few players see: fairplay tournament --help.
    """
    refuse_unreadable((*players, *parameters, seed or ""))
    players = place_players(players, in_process=in_process)
    rules = make_game(game, parse_pairs(parameters))
    seating = seats_by_age(rules, len(players), parse_ages(ages))
    if games is not None:
        single = {f"--{name}": shown[name] for name in ("events", "pictures", "lines", "pace")}
        single |= {"--journal": directory, "--ages": ages, "--verbose": verbose}
        refuse_together("--games", {**single, f"--sync {sync}": sync != Durability.BATCH.value})
        from fairplay.app.tournaments import table_tournament  # imported late: one match needs neither
        from fairplay.terminal.progress import show_tournament

        common = {"limits": parse_limit_option(limit), "sandbox": sandbox, "pondering": pondering, **seed_options(seed)}
        tournament = table_tournament(rules, [parse_entrant(player) for player in players], games, **common)
        return show_tournament(tournament, out, jobs=jobs, quiet=shown["quiet"], bot_logs=bot_logs)
    refuse_together("a single match", {"--jobs": jobs, "--out": out})
    if verbose:
        log_messages()
    spec = MatchSpec(
        game=game,
        entrants=tuple(parse_entrant(players[index]) for index in seating),
        parameters=rules.parameters(),
        limits=parse_limit_option(limit),
        sandbox=sandbox,
        pondering=pondering,
        journal=directory,
        sync=Durability(sync),
        bot_logs=bot_logs,
        **seed_options(seed),
    )
    prepared = prepare_match(spec)
    if (record := as_match_record(prepared.open_record)) is not None:
        click.echo(f"fairplay: resuming {record.path}", err=True)
    return show_match(prepared, **shown)


def refuse_together(what: str, others: Mapping[str, Any]) -> None:
    """Raise BadRequest if one of these options was given."""
    for option, given in others.items():
        if given is not None and given is not False:  # 0 counts as given
            raise BadRequest(f"{option} cannot be used with {what}; see: fairplay play --help")


def parse_entrant(text: str) -> Entrant:
    """Parse NAME=PLAYER, or PLAYER alone."""
    label, address = split_label(text)
    return Entrant(address, "" if label == text else label)


def parse_ages(ages: str | None) -> list[int] | None:
    """Parse --ages."""
    try:
        return None if ages is None else [int(age) for age in ages.split(",")]
    except ValueError:
        raise BadRequest(f"--ages {ages}: expected whole numbers with commas between them") from None
