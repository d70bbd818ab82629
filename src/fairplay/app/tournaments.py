"""Run a tournament to its report."""

import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from fairplay.app.arguments import GameArgument, PlayersArgument
from fairplay.app.tournament_arguments import is_for_this_process, make_tournament
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
from fairplay.tournament.spec_file import read_tournament


def run_tournament(
    tournament: TournamentSpec | GameArgument | os.PathLike[str],
    players: PlayersArgument | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    executor: str | None = None,
    runner: Callable[[], Runner] | None = None,
    observers: Sequence[TournamentObserver] = (),
    hidden: Sequence[str | os.PathLike[str]] = (),
    bot_logs: str | None = None,
    report: bool = True,
    **settings: Any,
) -> TournamentResult:
    """Run a tournament to its report, or resume the one in this directory. Raises BadRequest or HostFault if it cannot.

    Args:
        tournament: a game as for `play`, with its players; or the path of a TOML file, or a `TournamentSpec`.
        players: of a game: as for `play`, but functions and classes must be at the top of a module or of this script.
        directory: where journals, results and the report are kept; of a TOML file by default its path without `.toml`.
        jobs: how many matches are played in parallel; None: one per core.
        executor: what plays them: `pool` (processes), `here`, `dask` or `dask:ADDRESS`; None: `here` if a player or the
            game is defined in this script, or else `pool`.
        runner: what plays them, if it is your own.
        observers: of the tournament: objects with a method `observe(event)`.
        hidden: paths that programs may not see, besides the directory.
        bot_logs: the directory for what programs write on stderr.
        report: whether results.json, results.csv and report.html are written.
        settings: of a game: `format`, `seed`, `limits`, `sandbox`, `pondering`, `bot_check`, `penalties` and
            `match_observers`, as in docs/python.md.
    """
    require_extras()
    file = _parse_file(tournament)
    if (file is not None or isinstance(tournament, TournamentSpec)) and (players is not None or settings):
        raise TypeError(f"{'players' if players is not None else next(iter(settings))} must stand in the tournament")
    if isinstance(tournament, TournamentSpec):
        spec = tournament
    elif file is not None:
        spec = read_tournament(file)
    elif players is None:
        raise TypeError("run_tournament() takes the players of a game, a list or a dict by name")
    else:
        spec = make_tournament(cast("GameArgument", tournament), players, **settings)
    if directory is None:
        if file is None:
            raise TypeError("run_tournament() takes directory=, where journals, results and the report are kept")
        directory = file.with_suffix("")
    here = is_for_this_process(spec)
    if here and executor not in (None, "here"):
        raise BadRequest(
            f"a player or the game is defined in this script, so executor must be 'here', not {executor!r}"
        )
    workers = runner or runner_factory(spec, executor or ("here" if here else "pool"), jobs)
    places = [str(Path(place).absolute()) for place in (*hidden, *([] if file is None else [file]))]
    result = run_in_directory(spec, Path(directory), workers, observers, hidden=places, bot_logs=bot_logs)
    if report:
        write_reports(result)
    return result


def _parse_file(tournament: Any) -> Path | None:
    """The path of a TOML file; None: it is no path."""
    is_path = isinstance(tournament, os.PathLike) or (isinstance(tournament, str) and tournament.endswith(".toml"))
    return Path(tournament) if is_path else None


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
