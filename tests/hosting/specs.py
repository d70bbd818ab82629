"""Make specs of small matches for tests, and observe or interrupt their matches."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fairplay import Acted, Entrant, Event
from fairplay.core.match import Match
from fairplay.core.roles import NULL_RECORD, Record
from fairplay.hosting.run import run, run_async
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.hosting.table import Table
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play_async

SEED = bytes(range(32))
SMALL_PARAMETERS: dict[str, dict[str, Any]] = {"fish": {"rows": 4, "columns": 4}, "tsuro": {"size": 5}, "q": {}}
BUILT_IN = {"fish": ("greedy", "random", "lookahead:1"), "tsuro": ("random", "second", "third"), "q": ("dag", "random")}


def make_spec(game: str = "fish", *players: str, **rest: Any) -> MatchSpec:
    """A small match of these players, or of some of the server; NAME=PLAYER has a label."""
    entrants = [player.rpartition("=")[::2] for player in players or BUILT_IN[game]]
    rest = {"parameters": SMALL_PARAMETERS[game], "seed": SEED, **rest}
    return MatchSpec(game=game, entrants=tuple(Entrant(address, name) for name, address in entrants), **rest)


def count_turns(outcome: Outcome) -> int:
    return sum(turns.count for turns in outcome.turns)


class EventCollector:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.names: list[tuple[str, ...]] = []

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        self.events.append(event)
        self.names.append(match.names)


class InterruptingObserver:
    """An observer that is as good as the key that interrupts, after so many actions."""

    def __init__(self, actions: int) -> None:
        self._left = actions

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        self._left -= isinstance(event, Acted)
        if self._left <= 0:
            raise KeyboardInterrupt


def run_awaited(spec: MatchSpec, observers: Sequence[Any] = ()) -> Outcome:
    return asyncio.run(run_async(spec, observers))


both_ways = pytest.mark.parametrize("way", [run, run_awaited], ids=["played", "awaited"])


def interrupted_journal(spec: MatchSpec, actions: int = 5) -> Path:
    """The journal of a match of this spec that was interrupted after so many actions."""
    known = set(journal_files(spec))
    with pytest.raises(KeyboardInterrupt):
        run(spec, [InterruptingObserver(actions)])
    (path,) = set(journal_files(spec)) - known
    return path


def journal_files(spec: MatchSpec) -> list[Path]:
    assert spec.journal is not None
    return sorted(Path(spec.journal).glob("*.jsonl"))


async def play_at_table(
    table: Table, match: AnyMatch, record: Record = NULL_RECORD, took: dict[int, list[float]] | None = None
) -> AnyMatch:
    seating = await table.seat_players(match.game, match_id=match.id, turn_times=took, clock=record.clock)
    return await play_async(match, seating.channels, record)
