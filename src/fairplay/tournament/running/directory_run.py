"""Run a tournament in a directory to its end, or resume the one that is there."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest, HostFault
from fairplay.games import game_info
from fairplay.hosting.conditions import match_conditions
from fairplay.players.location import HUMAN
from fairplay.tournament import tournament_log
from fairplay.tournament.counted_match import entrant_names
from fairplay.tournament.events import BotChecked, BotChecksBegan, TournamentObserver, TournamentObservers
from fairplay.tournament.formats.validation import check_format
from fairplay.tournament.result import TournamentResult, result_from_log
from fairplay.tournament.running.bot_checks import bots_to_check, check_entrant
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.spec import BotCheckPolicy, TournamentSpec
from fairplay.tournament.spec_changes import spec_changes
from fairplay.tournament.tournament_log import BotVerdict, TournamentLog


class BotsNotReady(BadRequest):
    """Some bots failed their checks, so the tournament is not begun."""


def run_in_directory(
    spec: TournamentSpec,
    directory: Path,
    runner: Callable[[], Runner],
    observers: Sequence[TournamentObserver] = (),
    *,
    hidden: Sequence[str] = (),
    bot_logs: str | None = None,
) -> TournamentResult:
    """Run a tournament to its end; matches that were played before in this directory are not played again.

    `hidden`: paths that programs may not see, besides the directory. `bot_logs`: the directory for the stderr of
    programs.
    """
    check_format(spec)
    check_players(spec, directory, hidden)
    notified, random_seed = TournamentObservers(observers), spec.seed is None
    if tournament_log.log_exists(directory):
        with tournament_log.reopen_log(directory) as log:
            before = log.opening
            if random_seed and before.random_seed:
                spec = replace(spec, seed=before.spec.seed)
            different = spec_changes(before.spec, spec)
            if different and log.rounds:
                raise BadRequest(
                    f"{directory} belongs to another tournament ({'; '.join(different)}); "
                    "name another directory with --out"
                )
            if log.closed is not None:
                return result_from_log(log, directory)
            if not different:
                with runner() as workers:
                    check_bots(spec, log, workers, notified)
                    Manager(spec, directory, log, workers, notified, hidden, bot_logs).run()
                    return result_from_log(log, directory)
            tournament_log.delete_log(directory)  # only bots were checked, and the file was edited since
    check_writable(directory)
    spec = replace(spec, seed=spec.seed or os.urandom(SEED_BYTES))
    made = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        with runner() as workers, tournament_log.create_log(directory, spec, random_seed=random_seed) as log:
            check_bots(spec, log, workers, notified)
            Manager(spec, directory, log, workers, notified, hidden, bot_logs).run()
            return result_from_log(log, directory)
    except BotsNotReady:
        tournament_log.delete_log(directory)
        remove_empty_directories(made)
        raise


def check_players(spec: TournamentSpec, directory: Path, hidden: Sequence[str]) -> None:
    """Raise BadRequest if a program cannot be started as the tournament asks for; it may not see the directory."""
    if any(player.address == HUMAN for player in spec.players):
        raise BadRequest(f"{HUMAN} plays single matches at a terminal, and no tournaments")
    made = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        match_conditions(
            [player.address for player in spec.players], spec.limits, spec.sandbox, [str(directory), *hidden]
        )
    finally:
        remove_empty_directories(made)  # that were created in order to hide them


def remove_empty_directories(directories: Sequence[Path]) -> None:
    """Remove these directories, the innermost first, as far as there is nothing in them."""
    with suppress(OSError):
        for directory in directories:
            directory.rmdir()


def check_writable(directory: Path) -> None:
    """Raise BadRequest or HostFault if the directory cannot be written, before any bot is checked."""
    there = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not there.is_dir():
        raise BadRequest(f"{there} is not a directory")
    if not os.access(there, os.W_OK | os.X_OK):
        raise HostFault(f"{there} is not writable")


def check_bots(tournament: TournamentSpec, log: TournamentLog, runner: Runner, observers: TournamentObservers) -> None:
    """Check each bot, unless its result is in the log. Raises BotsNotReady if one is refused."""
    if tournament.bot_check is BotCheckPolicy.SKIP:
        return
    known = {name for name, why in log.bot_failures.items() if not why or tournament.bot_check is BotCheckPolicy.WARN}
    bots = [bot for bot in bots_to_check(tournament) if bot.name not in known]
    observers.notify(BotChecksBegan(entrant_names(bots)))
    failed = dict[str, str]()
    for done in runner.map(
        partial(check_entrant, tournament, game_info(tournament.game).source or tournament.game), bots
    ):
        if done is not None:
            bot, failure = done
            failed |= {bot.name: failure} if failure else {}
            log.write(BotVerdict(name=bot.name, failure=failure))
            observers.notify(BotChecked(bot.name, failure))
    if failed and tournament.bot_check is BotCheckPolicy.REFUSE:
        raise BotsNotReady(
            f"not ready to play: {'; '.join(f'{name} ({why})' for name, why in sorted(failed.items()))}; "
            "fairplay check-bot explains it"
        )
