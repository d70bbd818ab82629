"""Make small tournaments for tests, run them, and say what has to be the same of them however they were run."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from fairplay.hosting.spec import Entrant
from fairplay.journal.replay import read as read_journal
from fairplay.tournament import notebook as notebooks
from fairplay.tournament.counted import Counted, Ranking
from fairplay.tournament.events import Audience, TournamentEvent
from fairplay.tournament.places import MATCHES
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import Runner, here
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import Cup

SEED = bytes(range(32))
BAD = "in-process:tests.tournament.players:"  # players that misbehave


class Noting:
    """Whoever watches a tournament, and remembers what was told."""

    def __init__(self) -> None:
        self.events: list[TournamentEvent] = []

    def observe(self, event: TournamentEvent) -> None:
        self.events.append(event)

    def heard(self, kind: type[Any]) -> list[Any]:
        """What was told of this kind."""
        return [event for event in self.events if isinstance(event, kind)]


def cup_of(*players: str, **rest: Any) -> Cup:
    """A small tournament of Fish between these players; NAME=PLAYER has a name."""
    entrants = [player.rpartition("=")[::2] for player in players or ("random", "greedy", "lookahead:1")]
    settings = {"parameters": {"rows": 4, "columns": 4}, "format": RoundRobin(games=6), "seed": SEED, **rest}
    players_ = tuple(Entrant(address, name or address) for name, address in entrants)
    return Cup(game=settings.pop("game", "fish"), players=players_, **settings)


def played(
    cup: Cup, folder: Path, runner: Callable[[], Runner] = here, observers: Sequence[Any] = ()
) -> tuple[tuple[Counted, ...], Ranking]:
    """What counts in a tournament, and its ranking; begun, or gone on with."""
    notebook = notebooks.gone_on_with(folder) if notebooks.exists(folder) else notebooks.begun(folder, cup)
    with notebook, runner() as workers:
        ranking = Manager(cup, folder, notebook, workers, Audience(observers)).run()
        return tuple(notebook.counted[id] for id in sorted(notebook.counted)), ranking


def lasting(counted: Sequence[Counted]) -> list[Counted]:
    """What has to be the same however the matches were played: all but how long it took."""
    return [replace(one, seconds=(), slowest=(), receipt="") for one in counted]


def facts_in(folder: Path) -> dict[str, Any]:
    """The facts of every match, by id."""
    return {path.stem: read_journal(path).facts for path in sorted((folder / MATCHES).glob("*.jsonl"))}
