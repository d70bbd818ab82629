"""Make and run small tournaments for tests, and select the parts that must not depend on the runner."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from fairplay.hosting.spec import Entrant
from fairplay.journal.replay import read_journal as read_journal
from fairplay.tournament import tournament_log
from fairplay.tournament.counted_match import CountedMatch, Ranking
from fairplay.tournament.events import TournamentEvent, TournamentObservers
from fairplay.tournament.layout import MATCHES_DIR
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import Runner, inline_runner
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import TournamentSpec

SEED = bytes(range(32))
MISBEHAVING_PLAYERS = "in-process:tests.tournament.players:"  # players that misbehave


class EventCollector:
    def __init__(self) -> None:
        self.events: list[TournamentEvent] = []

    def observe(self, event: TournamentEvent) -> None:
        self.events.append(event)

    def events_of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


class Calling:
    """An observer that does something at each event of a kind."""

    def __init__(self, kind: type[Any], call: Callable[[Any], object]) -> None:
        self._kind, self._call = kind, call

    def observe(self, event: object) -> None:
        if isinstance(event, self._kind):
            self._call(event)


def make_tournament(*players: str, **rest: Any) -> TournamentSpec:
    """A small tournament of Fish between these players; NAME=PLAYER has a name."""
    entrants = [player.rpartition("=")[::2] for player in players or ("random", "greedy", "lookahead:1")]
    settings = {"parameters": {"rows": 4, "columns": 4}, "format": RoundRobin(games=6), "seed": SEED, **rest}
    players_ = tuple(Entrant(address, name or address) for name, address in entrants)
    return TournamentSpec(game=settings.pop("game", "fish"), players=players_, **settings)


def run_small_tournament(
    tournament: TournamentSpec,
    directory: Path,
    runner: Callable[[], Runner] = inline_runner,
    observers: Sequence[Any] = (),
) -> tuple[tuple[CountedMatch, ...], Ranking]:
    """Run or resume a tournament, and return its counted matches and ranking."""
    log = (
        tournament_log.reopen_log(directory)
        if tournament_log.log_exists(directory)
        else tournament_log.create_log(directory, tournament)
    )
    with log, runner() as workers:
        ranking = Manager(tournament, directory, log, workers, TournamentObservers(observers)).run()
        return tuple(log.counted[id] for id in sorted(log.counted)), ranking


def stable_parts(counted: Sequence[CountedMatch]) -> list[CountedMatch]:
    """The counted matches without times and receipts, which differ from run to run."""
    return [replace(one, thinking_s=(), slowest_turn_s=(), receipt="") for one in counted]


def facts_by_match(directory: Path) -> dict[str, Any]:
    return {path.stem: read_journal(path).facts for path in sorted((directory / MATCHES_DIR).glob("*.jsonl"))}
