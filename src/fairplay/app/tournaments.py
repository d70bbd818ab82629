"""Run a tournament to its report."""

import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.hosting.spec import Entrant
from fairplay.journal.library import Query, find_matches
from fairplay.referee.referee import distinct_names
from fairplay.tournament.events import TournamentObserver
from fairplay.tournament.layout import MATCHES_DIR
from fairplay.tournament.report.results import write_results
from fairplay.tournament.result import TournamentResult, require_extras
from fairplay.tournament.running import runners
from fairplay.tournament.running.bot_checks import is_invitation
from fairplay.tournament.running.directory_run import run_in_directory
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import BotCheckPolicy, TournamentSpec


def run_tournament(
    spec: TournamentSpec,
    directory: Path | str,
    *,
    jobs: int | None = None,
    executor: str = "pool",
    runner: Callable[[], Runner] | None = None,
    observers: Sequence[TournamentObserver] = (),
    hidden: Sequence[str] = (),
    bot_logs: str | None = None,
    report: bool = True,
) -> TournamentResult:
    """Run a tournament to its report, or resume the one in this directory. Raises BadRequest or HostFault if it cannot.

    `jobs`: how many matches are played in parallel, by default one per core. `executor`: `here`, `pool` (processes),
    `dask` or `dask:ADDRESS`; or a `runner` of your own. `hidden`: what programs may not see, besides the directory.
    `bot_logs`: where what they say on stderr is kept.
    """
    require_extras()
    workers = runner or runner_factory(spec, executor, jobs)
    places = [str(Path(place).absolute()) for place in hidden]
    result = run_in_directory(spec, Path(directory), workers, observers, hidden=places, bot_logs=bot_logs)
    if report:
        write_reports(result)
    return result


def write_reports(result: TournamentResult) -> None:
    """Write results.json, results.csv and report.html into the directory of a tournament."""
    from fairplay.tournament.report.report_page import write_report  # needs the extra `tournament`

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where there is no home, it tells where else its cache is
    write_results(result)
    write_report(result)
    find_matches(result.directory / MATCHES_DIR, Query(limit=1))  # makes the index now, not at the first search


def table_tournament(
    game: Game[Any, Any, Any], entrants: Sequence[Entrant], match_count: int, **options: Any
) -> TournamentSpec:
    """The tournament of those who sit at one table for so many games."""
    names = distinct_names([entrant.label for entrant in entrants])
    return TournamentSpec(
        game=game.name,
        players=tuple(Entrant(one.address, name) for one, name in zip(entrants, names, strict=True)),
        format=RoundRobin(games=match_count, table=len(entrants)),
        parameters=game.parameters(),
        bot_check=BotCheckPolicy.SKIP,
        **options,
    )


def joining_entrants(tournament: TournamentSpec) -> list[Entrant]:
    """The players who join over a network: each has one port, and plays one match at a time."""
    return [player for player in tournament.players if is_invitation(player.address)]


def runner_factory(tournament: TournamentSpec, executor: str, jobs: int | None) -> Callable[[], Runner]:
    """What plays the matches, by the name of an executor."""
    remote = joining_entrants(tournament)
    jobs = 1 if remote else jobs or len(os.sched_getaffinity(0))
    kind, colon, address = executor.partition(":")
    if executor == "here":
        return runners.inline_runner
    if executor == "pool":
        return partial(runners.process_pool_runner, jobs)
    if kind != "dask" or bool(colon) != bool(address):
        raise BadRequest(f"--executor {executor}: there is here, pool, dask and dask:ADDRESS")
    if remote:
        raise BadRequest(f"{remote[0].name} joins this machine at {remote[0].address}, and no cluster")
    try:
        from fairplay.tournament.running.cluster import dask_runner  # needs the extra `cluster`
    except ImportError:
        raise BadRequest("Dask is missing, which --executor dask needs: pip install 'fairplay[cluster]'") from None
    return partial(dask_runner, address, jobs)
