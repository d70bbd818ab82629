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
from fairplay.journal.library import Query, find
from fairplay.referee.host import distinct
from fairplay.tournament.events import TournamentObserver
from fairplay.tournament.places import MATCHES
from fairplay.tournament.report.results import write_results
from fairplay.tournament.result import TournamentResult, require_extras
from fairplay.tournament.running import runners
from fairplay.tournament.running.conduct import conduct
from fairplay.tournament.running.gate import joins
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import Cup, Gate


def run_tournament(
    cup: Cup,
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
    workers = runner or runner_for(cup, executor, jobs)
    places = [str(Path(place).absolute()) for place in hidden]
    result = conduct(cup, Path(directory), workers, observers, hidden=places, bot_logs=bot_logs)
    if report:
        write_reports(result)
    return result


def write_reports(result: TournamentResult) -> None:
    """Write results.json, results.csv and report.html into the directory of a tournament."""
    from fairplay.tournament.report.html import write_report  # needs the extra `tournament`

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where there is no home, it tells where else its cache is
    write_results(result)
    write_report(result)
    find(result.directory / MATCHES, Query(limit=1))  # makes the index now, not at the first search


def table_tournament(game: Game[Any, Any, Any], entrants: Sequence[Entrant], games: int, **terms: Any) -> Cup:
    """The tournament of those who sit at one table for so many games."""
    names = distinct([entrant.label for entrant in entrants])
    return Cup(
        game=game.name,
        players=tuple(Entrant(one.address, name) for one, name in zip(entrants, names, strict=True)),
        format=RoundRobin(games=games, table=len(entrants)),
        parameters=game.parameters(),
        gate=Gate.SKIP,
        **terms,
    )


def joining(cup: Cup) -> list[Entrant]:
    """The players who join over a network: each has one port, and plays one match at a time."""
    return [player for player in cup.players if joins(player.address)]


def runner_for(cup: Cup, executor: str, jobs: int | None) -> Callable[[], Runner]:
    """What plays the matches, by the name of an executor."""
    remote = joining(cup)
    jobs = 1 if remote else jobs or len(os.sched_getaffinity(0))
    kind, colon, address = executor.partition(":")
    if executor == "here":
        return runners.here
    if executor == "pool":
        return partial(runners.pool, jobs)
    if kind != "dask" or bool(colon) != bool(address):
        raise BadRequest(f"--executor {executor}: there is here, pool, dask and dask:ADDRESS")
    if remote:
        raise BadRequest(f"{remote[0].name} joins this machine at {remote[0].address}, and no cluster")
    try:
        from fairplay.tournament.running.cluster import dask  # needs the extra `cluster`
    except ImportError:
        raise BadRequest("Dask is missing, which --executor dask needs: pip install 'fairplay[cluster]'") from None
    return partial(dask, address, jobs)
