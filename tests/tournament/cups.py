"""Make up tournaments for tests: some by lot, and some that are really played."""

import random
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from fairplay import Entrant, run
from fairplay.core.events import Fault
from fairplay.tournament.counted import Counted, places_of
from fairplay.tournament.rating.ratings import Ratings, rate
from fairplay.tournament.rating.standings import Row, standings
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import Cup

SEED = bytes(range(100, 132))
HOSTILE = (
    "<script>alert(1)</script>",
    "</text></svg><img src=x onerror=alert(1)>",
    "$\\frac{1}{$",
    "=1+cmd|' /C calc'!A0",
    "ann\u202egnp.exe\x1b[2J\x00",
    "安妮和鲍勃",
    "שלום עולם",
    "\U0001f469\u200d\U0001f680\U000e0041 \ue000\ufdd0",
    "quote\"s'and@0@nn",
    "a very long name, " * 20,
)
BAD = """
class Cheat:
    def take_turn(self, view):
        return {"type": "place", "at": [99, 99]}

class Crash:
    def take_turn(self, view):
        raise RuntimeError("a <b>bad</b> day</pre>")
"""


def cup_of(names: Sequence[str]) -> Cup:
    """A tournament of players with these names."""
    players = tuple(Entrant(f"./bots/{number}.py", name) for number, name in enumerate(names))
    return Cup(game="fish", players=players, format=RoundRobin(games=9), seed=SEED, parameters={"rows": 5})


def by_lot(names: Sequence[str], games: int = 60, table: int = 2, *, bad: str = "", seed: int = 1) -> list[Counted]:
    """Matches between them: who is named first is best, and whoever is bad is always ejected."""
    lot, found = random.Random(seed), []
    for game in range(games):
        seats = lot.sample(list(names), table)
        scores = [20 - 3 * names.index(name) + lot.randrange(12) for name in seats]
        faults = tuple(Fault.CRASHED if name == bad else None for name in seats)
        ranked = [-99 if fault else score for score, fault in zip(scores, faults, strict=True)]
        found.append(
            Counted(
                match=f"m{game}",
                deal=game,
                names=tuple(seats),
                places=tuple(1 + sum(other > mine for other in ranked) for mine in ranked),
                scores=tuple(scores),
                faults=faults if any(faults) else (),
                turns=(10,) * table,
                seconds=tuple(lot.random() for _ in seats),
                slowest=tuple(lot.random() for _ in seats),
            )
        )
    return found


def stood(cup: Cup, counted: Sequence[Counted]) -> tuple[tuple[Row, ...], Ratings]:
    """The standings, and the ratings behind them."""
    ratings = rate(counted)
    return standings(cup.players, counted, (), ratings), ratings


def played(folder: Path, *players: Entrant, games: int) -> tuple[Cup, list[Counted]]:
    """A tournament that was really played, with its journals, each pair in turn."""
    cup = Cup(game="fish", players=players, format=RoundRobin(), seed=SEED, parameters={"rows": 4, "columns": 4})
    pairs = [(one, other) for one in players for other in players if one is not other]
    counted = []
    for deal in range(games):
        seats = pairs[deal % len(pairs)]
        spec = replace(cup.match(seats, deal), id=f"m{deal}", journal=str(folder / "matches"))
        result = run(spec).result
        assert result is not None
        out = {ejected.seat: ejected.fault for ejected in result.ejected}
        counted.append(
            Counted(
                match=spec.id,
                deal=deal,
                names=(seats[0].name, seats[1].name),
                places=places_of(result, 2),
                scores=result.scores or (),
                faults=(out.get(0), out.get(1)) if out else (),
                receipt=str(result.receipt),
            )
        )
    return cup, counted
