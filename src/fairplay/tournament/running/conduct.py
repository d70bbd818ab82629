"""Begin a tournament in a folder, or go on with the one that is there, and run it to its end."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from fairplay.core.errors import BadRequest, HostFault
from fairplay.hosting.terms import terms_for
from fairplay.players.location import HUMAN
from fairplay.tournament import notebook as notebooks
from fairplay.tournament.counted import Counted, Ranking, names_of
from fairplay.tournament.edits import edits
from fairplay.tournament.events import Audience, BotTried, TournamentObserver, TrialsBegan
from fairplay.tournament.formats.allowed import check
from fairplay.tournament.notebook import BotsTried, Notebook
from fairplay.tournament.running.gate import to_be_tried, tried
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.spec import Cup, Gate


class NotReady(BadRequest):
    """Some bots failed their trials, and the tournament is not begun with them."""


class Final(msgspec.Struct, frozen=True):
    """How a tournament came out, or how far it is."""

    cup: Cup
    counted: tuple[Counted, ...]
    ranking: Ranking  # empty: the ratings decide, or it is not over
    over: bool
    verdicts: dict[str, str]  # of the trials before: why a bot is not ready; empty: it is


def conduct(
    cup: Cup,
    folder: Path,
    runner: Callable[[], Runner],
    observers: Sequence[TournamentObserver] = (),
    *,
    drawn: bool = False,
    hidden: Sequence[str] = (),
    bot_logs: str | None = None,
) -> Final:
    """Run a tournament to its end; what was played of it before in this folder is not played again.

    `drawn`: the seed of the cup was drawn just now, and gives way to the one on record. `hidden`: what programs may not
    see, besides the folder. `bot_logs`: where what they say on stderr is kept, a folder for each of them.
    """
    check(cup)
    check_players(cup, folder, hidden)
    audience = Audience(observers)
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
                return final(notebook)
            if not different:
                with runner() as workers:
                    trials(cup, notebook, workers, audience)
                    Manager(cup, folder, notebook, workers, audience, hidden, bot_logs).run()
                    return final(notebook)
            notebooks.discard(folder)  # only bots were tried, and the file was edited since
    check_folder(folder)
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        with runner() as workers, notebooks.begun(folder, cup, drawn=drawn) as notebook:
            trials(cup, notebook, workers, audience)
            Manager(cup, folder, notebook, workers, audience, hidden, bot_logs).run()
            return final(notebook)
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
    for done in runner.do_all(partial(tried, cup), bots):
        if done is not None:
            bot, verdict = done
            why = verdict.why if verdict.failed else ""
            failed |= {bot.name: why} if why else {}
            notebook.write(BotsTried(verdicts={bot.name: why}))
            audience.tell(BotTried(bot.name, why))
    if failed and cup.gate is Gate.REFUSE:
        raise NotReady(
            f"not ready to play: {'; '.join(f'{name} ({why})' for name, why in sorted(failed.items()))}; "
            "fairplay check-bot tells all about it"
        )


def progress_in(folder: Path) -> Final:
    """How far the tournament in a folder is. Raises BadRequest if there is none."""
    return final(notebooks.read(folder))


def final(notebook: Notebook) -> Final:
    """How a tournament stands by its notebook."""
    rounds = notebook.rounds
    players = {player.name: player for number in sorted(rounds) for player in rounds[number]}
    cup = replace(notebook.opening.cup, players=tuple(players.values()) or notebook.opening.cup.players)
    closed = notebook.closed
    counted = tuple(notebook.counted[id] for id in sorted(notebook.counted, key=in_order))
    return Final(cup, counted, () if closed is None else closed.ranking, closed is not None, notebook.verdicts)


def in_order(id: str) -> tuple[int, str]:
    """Where a match belongs among others, by its id, which is longer from the hundred thousandth on.

    >>> sorted(["m100000", "m99999", "m00002"], key=in_order)
    ['m00002', 'm99999', 'm100000']
    """
    return len(id), id
