"""Begin a tournament in a folder, or go on with the one that is there, and run it to its end."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest, HostFault
from fairplay.games import title
from fairplay.hosting.terms import terms_for
from fairplay.players.location import HUMAN
from fairplay.tournament import notebook as notebooks
from fairplay.tournament.counted import names_of
from fairplay.tournament.edits import edits
from fairplay.tournament.events import Audience, BotTried, TournamentObserver, TrialsBegan
from fairplay.tournament.formats.allowed import check
from fairplay.tournament.notebook import BotsTried, Notebook
from fairplay.tournament.result import TournamentResult, result_of
from fairplay.tournament.running.gate import to_be_tried, tried
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.spec import Cup, Gate


class NotReady(BadRequest):
    """Some bots failed their trials, and the tournament is not begun with them."""


def conduct(
    cup: Cup,
    folder: Path,
    runner: Callable[[], Runner],
    observers: Sequence[TournamentObserver] = (),
    *,
    hidden: Sequence[str] = (),
    bot_logs: str | None = None,
) -> TournamentResult:
    """Run a tournament to its end; what was played of it before in this folder is not played again.

    `hidden`: what programs may not see, besides the folder. `bot_logs`: where what they say on stderr is kept, a folder
    for each of them.
    """
    check(cup)
    check_players(cup, folder, hidden)
    audience, drawn = Audience(observers), cup.seed is None
    if notebooks.exists(folder):
        with notebooks.gone_on_with(folder) as notebook:
            before = notebook.opening
            if drawn and before.drawn:
                cup = replace(cup, seed=before.cup.seed)
            different = edits(before.cup, cup)
            if different and notebook.rounds:
                raise BadRequest(
                    f"{folder} belongs to another tournament ({'; '.join(different)}); name another with --out"
                )
            if notebook.closed is not None:
                return result_of(notebook, folder)
            if not different:
                with runner() as workers:
                    trials(cup, notebook, workers, audience)
                    Manager(cup, folder, notebook, workers, audience, hidden, bot_logs).run()
                    return result_of(notebook, folder)
            notebooks.discard(folder)  # only bots were tried, and the file was edited since
    check_folder(folder)
    cup = replace(cup, seed=cup.seed or os.urandom(SEED_BYTES))
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        with runner() as workers, notebooks.begun(folder, cup, drawn=drawn) as notebook:
            trials(cup, notebook, workers, audience)
            Manager(cup, folder, notebook, workers, audience, hidden, bot_logs).run()
            return result_of(notebook, folder)
    except NotReady:
        notebooks.discard(folder)
        remove_empty(made)
        raise


def check_players(cup: Cup, folder: Path, hidden: Sequence[str]) -> None:
    """Raise BadRequest if a program cannot be started as the tournament asks for; it may not see the folder."""
    if any(player.address == HUMAN for player in cup.players):
        raise BadRequest(f"{HUMAN} plays single matches at a terminal, and no tournaments")
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        terms_for([player.address for player in cup.players], cup.limits, cup.sandbox, [str(folder), *hidden])
    finally:
        remove_empty(made)  # which were made so that they could be hidden


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove these folders, the innermost first, as far as there is nothing in them."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def check_folder(folder: Path) -> None:
    """Raise BadRequest or HostFault if nothing can be written there, before anybody is tried for it."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise BadRequest(f"{there} is no folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise HostFault(f"nothing can be written in {there}")


def trials(cup: Cup, notebook: Notebook, runner: Runner, audience: Audience) -> None:
    """Let every bot show that it is ready, unless that is on record. Raises NotReady if the gate refuses one."""
    if cup.gate is Gate.SKIP:
        return
    known = {name for name, why in notebook.verdicts.items() if not why or cup.gate is Gate.WARN}
    bots = [bot for bot in to_be_tried(cup) if bot.name not in known]
    audience.tell(TrialsBegan(names_of(bots)))
    failed = dict[str, str]()
    for done in runner.do_all(partial(tried, cup, title(cup.game).source or cup.game), bots):
        if done is not None:
            bot, why = done
            failed |= {bot.name: why} if why else {}
            notebook.write(BotsTried(verdicts={bot.name: why}))
            audience.tell(BotTried(bot.name, why))
    if failed and cup.gate is Gate.REFUSE:
        raise NotReady(
            f"not ready to play: {'; '.join(f'{name} ({why})' for name, why in sorted(failed.items()))}; "
            "fairplay check-bot tells all about it"
        )
