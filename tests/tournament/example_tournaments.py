"""Make tournaments for tests: some at random, and some that are played."""

import random
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from fairplay import Entrant
from fairplay.core.events import Fault
from fairplay.hosting.run import run
from fairplay.tournament.counted_match import CountedMatch, places_by_seat
from fairplay.tournament.rating.ratings import Ratings, rate_players
from fairplay.tournament.rating.standings import StandingsRow, standings
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import TournamentSpec

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
BAD_PLAYERS = """
class Cheat:
    def take_turn(self, view):
        return {"type": "place", "at": [99, 99]}

class Crash:
    def take_turn(self, view):
        raise RuntimeError("a <b>bad</b> day</pre>")
"""


def make_spec(names: Sequence[str]) -> TournamentSpec:
    """A tournament of players with these names."""
    players = tuple(Entrant(f"./bots/{number}.py", name) for number, name in enumerate(names))
    return TournamentSpec(game="fish", players=players, format=RoundRobin(games=9), seed=SEED, parameters={"rows": 5})


def random_matches(
    names: Sequence[str], games: int = 60, table: int = 2, *, bad: str = "", seed: int = 1
) -> list[CountedMatch]:
    """Matches between players, the first of which is best; `bad` is always ejected."""
    lot, found = random.Random(seed), []
    for game in range(games):
        seats = lot.sample(list(names), table)
        scores = [20 - 3 * names.index(name) + lot.randrange(12) for name in seats]
        faults = tuple(Fault.CRASHED if name == bad else None for name in seats)
        ranked = [-99 if fault else score for score, fault in zip(scores, faults, strict=True)]
        found.append(
            CountedMatch(
                match=f"m{game}",
                deal=game,
                names=tuple(seats),
                places=tuple(1 + sum(other > mine for other in ranked) for mine in ranked),
                scores=tuple(scores),
                faults=faults if any(faults) else (),
                turns=(10,) * table,
                thinking_s=tuple(lot.random() for _ in seats),
                slowest_turn_s=tuple(lot.random() for _ in seats),
            )
        )
    return found


def compute_standings(
    tournament: TournamentSpec, counted: Sequence[CountedMatch]
) -> tuple[tuple[StandingsRow, ...], Ratings]:
    """The standings, and the ratings behind them."""
    ratings = rate_players(counted)
    return standings(tournament.players, counted, (), ratings), ratings


def play_tournament(directory: Path, *players: Entrant, games: int) -> tuple[TournamentSpec, list[CountedMatch]]:
    """A tournament that was really played, with its journals, each pair in turn."""
    tournament = TournamentSpec(
        game="fish", players=players, format=RoundRobin(), seed=SEED, parameters={"rows": 4, "columns": 4}
    )
    pairs = [(one, other) for one in players for other in players if one is not other]
    counted = []
    for deal in range(games):
        seats = pairs[deal % len(pairs)]
        spec = replace(tournament.match_spec(seats, deal), id=f"m{deal}", journal=str(directory / "matches"))
        result = run(spec).result
        assert result is not None
        out = {ejected.seat: ejected.fault for ejected in result.ejected}
        counted.append(
            CountedMatch(
                match=spec.id,
                deal=deal,
                names=(seats[0].name, seats[1].name),
                places=places_by_seat(result, 2),
                scores=result.scores or (),
                faults=(out.get(0), out.get(1)) if out else (),
                receipt=str(result.receipt),
            )
        )
    return tournament, counted
