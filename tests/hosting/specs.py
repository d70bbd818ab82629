"""Make specs of small matches for tests, and watch or interrupt what is played from them."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from fairplay import Acted, Entrant, Event, Match, MatchSpec, Outcome, run

SEED = bytes(range(32))
SMALL: dict[str, dict[str, Any]] = {"fish": {"rows": 4, "columns": 4}, "tsuro": {"size": 5}, "q": {}}
HOUSE = {"fish": ("greedy", "random", "lookahead:1"), "tsuro": ("random", "second", "third"), "q": ("dag", "random")}
NUMBERS = itertools.count(1)


def spec_of(game: str = "fish", *players: str, **rest: Any) -> MatchSpec:
    """A small match of these players, or of some of the house; NAME=PLAYER has a label."""
    entrants = [player.rpartition("=")[::2] for player in players or HOUSE[game]]
    rest = {"parameters": SMALL[game], "seed": SEED, **rest}
    return MatchSpec(game=game, entrants=tuple(Entrant(address, name) for name, address in entrants), **rest)


def turns_in(outcome: Outcome) -> int:
    """How many turns were taken in a match."""
    return sum(turns.count for turns in outcome.turns)


class Listening:
    """An observer that keeps what it hears."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.names: list[tuple[str, ...]] = []

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        self.events.append(event)
        self.names.append(match.names)


class Interrupting:
    """An observer that is as good as the key that interrupts, after so many actions."""

    def __init__(self, actions: int) -> None:
        self._left = actions

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        self._left -= isinstance(event, Acted)
        if self._left <= 0:
            raise KeyboardInterrupt


def interrupted(spec: MatchSpec, actions: int = 5) -> Path:
    """The journal of a match of this spec that was interrupted after so many actions."""
    known = set(journals(spec))
    with pytest.raises(KeyboardInterrupt):
        run(spec, [Interrupting(actions)])
    (path,) = set(journals(spec)) - known
    return path


def journals(spec: MatchSpec) -> list[Path]:
    """The files in the folder of a spec."""
    assert spec.journal is not None
    return sorted(Path(spec.journal).glob("*.jsonl"))


def module(folder: Path, source: str, name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of what a new module calls by that name."""
    number = next(NUMBERS)
    (folder / f"hosted_{number}.py").write_text(source)
    monkeypatch.syspath_prepend(folder)
    return f"in-process:hosted_{number}:{name}"
