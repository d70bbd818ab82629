"""Make specs of small matches for tests, and observe or interrupt their matches."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from fairplay import Acted, Entrant, Event
from fairplay.core.match import Match
from fairplay.hosting.run import run
from fairplay.hosting.spec import MatchSpec, Outcome

SEED = bytes(range(32))
SMALL_PARAMETERS: dict[str, dict[str, Any]] = {"fish": {"rows": 4, "columns": 4}, "tsuro": {"size": 5}, "q": {}}
BUILT_IN = {"fish": ("greedy", "random", "lookahead:1"), "tsuro": ("random", "second", "third"), "q": ("dag", "random")}
NUMBERS = itertools.count(1)


def make_spec(game: str = "fish", *players: str, **rest: Any) -> MatchSpec:
    """A small match of these players, or of some of the server; NAME=PLAYER has a label."""
    entrants = [player.rpartition("=")[::2] for player in players or BUILT_IN[game]]
    rest = {"parameters": SMALL_PARAMETERS[game], "seed": SEED, **rest}
    return MatchSpec(game=game, entrants=tuple(Entrant(address, name) for name, address in entrants), **rest)


def count_turns(outcome: Outcome) -> int:
    """How many turns were taken in a match."""
    return sum(turns.count for turns in outcome.turns)


class EventCollector:
    """An observer that keeps what it hears."""

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


def interrupted_journal(spec: MatchSpec, actions: int = 5) -> Path:
    """The journal of a match of this spec that was interrupted after so many actions."""
    known = set(journal_files(spec))
    with pytest.raises(KeyboardInterrupt):
        run(spec, [InterruptingObserver(actions)])
    (path,) = set(journal_files(spec)) - known
    return path


def journal_files(spec: MatchSpec) -> list[Path]:
    """The files in the directory of a spec."""
    assert spec.journal is not None
    return sorted(Path(spec.journal).glob("*.jsonl"))


def write_module(directory: Path, source: str, name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of what a new module calls by that name."""
    number = next(NUMBERS)
    (directory / f"hosted_{number}.py").write_text(source)
    monkeypatch.syspath_prepend(directory)
    return f"in-process:hosted_{number}:{name}"
