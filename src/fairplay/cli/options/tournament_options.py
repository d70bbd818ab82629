"""Share what all verbs have that run a tournament: their options, and how it is shown."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairplay.cli.options.match_options import entrant_from
from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.game import Game
from fairplay.hosting.sitting import caution
from fairplay.hosting.spec import Entrant, seed_options
from fairplay.referee.host import distinct
from fairplay.render.words import quoted

if TYPE_CHECKING:  # what takes long to load is loaded when it is used
    from fairplay.tournament.rating.ratings import Ratings
    from fairplay.tournament.rating.standings import Row
    from fairplay.tournament.running.conduct import Final
    from fairplay.tournament.running.runners import Runner
    from fairplay.tournament.spec import Cup

MOST_LIVE = 20  # lines of standings below a bar


def refuse_nameless(_: click.Context, option: click.Parameter, folder: str | None) -> str | None:
    """Take no folder without a name, as when a shell's variable is not set: it would be the one where we are."""
    if folder == "":
        raise click.BadParameter("this names no folder", param=option)
    return folder


out_option = click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False),
    callback=refuse_nameless,
    help="Write journals, results and the report to DIR.",
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 1024), metavar="N", help="So many matches at once. [default: one per core]"
)


def cup_for(game: Game[Any, Any, Any], players: Sequence[str], games: int, seed: str | None, **terms: Any) -> "Cup":
    """The tournament of those who sit at one table for so many games."""
    from fairplay.tournament.settings import RoundRobin
    from fairplay.tournament.spec import Cup, Gate

    entrants = [entrant_from(player) for player in players]
    names = distinct([entrant.label for entrant in entrants])
    return Cup(
        game=game.name,
        players=tuple(Entrant(one.address, name) for one, name in zip(entrants, names, strict=True)),
        format=RoundRobin(games=games, table=len(players)),
        parameters=game.parameters(),
        gate=Gate.SKIP,
        **(seed_options(seed) or {"seed": os.urandom(SEED_BYTES)}),
        **terms,
    )


def run_cup(
    cup: "Cup",
    out: str | None,
    *,
    quiet: bool,
    drawn: bool,
    jobs: int | None = None,
    executor: str = "pool",
    runner: "Callable[[], Runner] | None" = None,
    file: str | None = None,
    bot_logs: str | None = None,
) -> None:
    """Run a tournament, show it, and leave all of it in a folder, if there is one; no program sees its file.

    Whoever has a runner of its own needs neither jobs nor an executor.
    """
    refuse_without_extras()
    from tempfile import TemporaryDirectory

    from fairplay.terminal.progress import progress
    from fairplay.tournament.running.conduct import conduct

    with ExitStack() as leaving:
        folder = Path(out if out is not None else leaving.enter_context(TemporaryDirectory(prefix="fairplay-")))
        one = 0
        if runner is None:
            one = one_at_a_time(cup, executor)
            runner = runner_for(executor, one or jobs or len(os.sched_getaffinity(0)))
        showing = progress(lambda: live_standings(folder), rounds_of(cup), quiet=quiet, bar=not one)
        if warning := caution(cup.rules(), [player.address for player in cup.players], guessable=cup.guessable):
            click.echo(f"fairplay: {warning}", err=True)
        try:
            with showing, redirect_stdout(sys.stderr):  # what players print in this process
                hidden = [] if file is None else [file]
                final = conduct(cup, folder, runner, [showing], drawn=drawn, hidden=hidden, bot_logs=bot_logs)
            if not showing.begun:
                showing.say("it was over before, and nothing is left to be played")
            rows, ratings = rated(final)
            show(final, rows, ratings)
            if out is not None:
                write(final, rows, ratings, folder)
            elif not quiet:
                click.echo("fairplay: journals and results are not kept; --out DIR keeps them", err=True)
            if bot_logs is not None:
                click.echo(f"bot logs: {bot_logs}, with a folder for each player that is a program")
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted{how_to_go_on(out)}") from None
        except HostFault as fault:
            raise HostFault(f"{fault}{how_to_go_on(out)}") from fault
        except OSError as error:
            if error.filename is None:  # the output
                raise
            raise HostFault(f"{error.filename} cannot be used: {error.strerror}{how_to_go_on(out)}") from error


def how_to_go_on(out: str | None) -> str:
    """What to say behind an error, if there is something to go on with."""
    from fairplay.tournament.notebook import exists

    with suppress(OSError):
        if out is not None and exists(Path(out)):
            return f"; to go on: the same command again; so far: fairplay standings {quoted(out)}"
    return ""


def rounds_of(cup: "Cup") -> int | None:
    """How many rounds a tournament will have; None: nobody knows."""
    from fairplay.tournament.settings import Duplicate, RoundRobin

    rounds: int | None = getattr(cup.format, "rounds", None)
    return 1 if isinstance(cup.format, RoundRobin | Duplicate) else rounds


def live_standings(folder: Path) -> list[str]:
    """The standings so far, as many as fit below a bar."""
    from fairplay.tournament.report.decision import decision
    from fairplay.tournament.report.table import table
    from fairplay.tournament.running.conduct import progress_in

    so_far = progress_in(folder)
    decided = decision(so_far.cup, so_far.counted)
    return [*table(rated(so_far)[0])[:MOST_LIVE], *(["", decided[0]] if decided is not None else [])]


def show(final: "Final", rows: "Sequence[Row]", ratings: "Ratings") -> None:
    """Print how a tournament stands."""
    from fairplay.tournament.report.decision import decision
    from fairplay.tournament.report.table import describe_unranked, table, told_apart

    for line in table(rows):
        click.echo(line)
    click.echo(f"\n{told_apart([row.name for row in rows], ratings.apart)}")
    void = sum(bool(one.void) for one in final.counted)
    if void:
        click.echo(f"{void} of {len(final.counted)} matches do not count: see results.json")
    if said := describe_unranked(final.counted):
        click.echo(said)
    if (decided := decision(final.cup, final.counted)) is not None:
        click.echo(decided[0])


def write(final: "Final", rows: "Sequence[Row]", ratings: "Ratings", folder: Path) -> None:
    """Leave the results in the folder of a tournament, and say where they are."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where there is no home, it tells where else its cache is
    from fairplay.journal.library import Query, find
    from fairplay.tournament.places import MATCHES
    from fairplay.tournament.report.html import write_report
    from fairplay.tournament.report.results import write_results

    write_results(folder, final.cup, rows, final.counted, ratings)
    write_report(folder, final.cup, rows, final.counted, ratings)
    find(folder / MATCHES, Query(limit=1))  # so that nobody has to wait for an index later
    click.echo(f"\nresults: {folder}/results.json, results.csv, report.html; matches: {folder}/matches")


def rated(final: "Final") -> "tuple[tuple[Row, ...], Ratings]":
    """The standings of everybody, with the ratings behind them."""
    from fairplay.tournament.rating.ratings import rate
    from fairplay.tournament.rating.standings import standings

    ratings = rate(final.counted)
    return standings(final.cup.players, final.counted, final.ranking, ratings), ratings


def one_at_a_time(cup: "Cup", executor: str) -> int:
    """1 if somebody joins over a network, who has one door and plays one match at a time; else 0."""
    from fairplay.tournament.running.gate import joins

    guests = [player for player in cup.players if joins(player.address)]
    if guests and executor.startswith("dask"):
        raise BadRequest(f"{guests[0].name} joins this machine at {guests[0].address}, and no cluster")
    return int(bool(guests))


def runner_for(executor: str, jobs: int) -> "Callable[[], Runner]":
    """What plays the matches, by the name that a person gives it."""
    from fairplay.tournament.running import runners

    kind, colon, address = executor.partition(":")
    if executor == "here":
        return runners.here
    if executor == "pool":
        return lambda: runners.pool(jobs)
    if kind == "dask" and bool(colon) == bool(address):
        try:
            from fairplay.tournament.running.cluster import dask
        except ImportError:
            raise BadRequest("Dask is missing, which --executor dask needs: pip install 'fairplay[cluster]'") from None
        return lambda: dask(address, jobs)
    raise BadRequest(f"--executor {executor}: there is here, pool, dask and dask:ADDRESS")


def refuse_without_extras() -> None:
    """Say in one line what is missing to rate players."""
    from importlib.util import find_spec

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for what is so small, several only wait for one another
    for library in ("numpy", "scipy", "matplotlib"):
        if find_spec(library) is None:
            raise BadRequest(f"{library} is missing, which tournaments need: pip install 'fairplay[tournament]'")
