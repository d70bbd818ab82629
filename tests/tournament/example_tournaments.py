"""Make tournaments and matches for tests: some at random, and some that are played."""

import random
from collections.abc import Sequence
from pathlib import Path
from random import Random

from fairplay import Entrant
from fairplay.core.events import Fault
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating.ratings import Rating, Ratings, rate_players
from fairplay.tournament.rating.standings import StandingsRow, standings
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import TournamentSpec
from tests.tournament.small_tournaments import run_small_tournament

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
    ratings = rate_players(counted)
    return standings(tournament.players, counted, (), ratings), ratings


def play_tournament(directory: Path, *players: Entrant, games: int) -> tuple[TournamentSpec, list[CountedMatch]]:
    """A tournament that was really played, with its journals."""
    small, settings = {"rows": 4, "columns": 4}, RoundRobin(games=games)
    tournament = TournamentSpec(game="fish", players=players, format=settings, seed=SEED, parameters=small)
    return tournament, list(run_small_tournament(tournament, directory)[0])


NAMES = ("ann", "bob", "cyd", "dan", "eve", "fay")


def duel_matches(wins: int, losses: int, *names: str, deal: int = 0) -> list[CountedMatch]:
    """So many wins of the first and of the second, half of them from either seat."""
    found = []
    for number, order in enumerate([names[:2]] * wins + [names[1::-1]] * losses):
        turn = (-1) ** number
        found.append(CountedMatch(match="", deal=deal + number, names=order[::turn], places=(1, 2)[::turn]))
    return found


def random_tables(lots: Random, count: int, players: int = 5) -> list[CountedMatch]:
    """Matches at tables of several sizes, some of one deal; players later in the alphabet are better."""
    found = []
    for number in range(count):
        seated = lots.sample(range(players), min(lots.choice((2, 3, 4)), players))
        shown = [round(lots.gauss(0.3 * who - 0.1 * seat, 1)) for seat, who in enumerate(seated)]
        places = tuple(1 + sum(other > mine for other in shown) for mine in shown)
        names = tuple(NAMES[who] for who in seated)
        found.append(CountedMatch(match=f"{number}", deal=number // 2, names=names, places=places))
    return found


def ratings_by_name(ratings: Ratings) -> dict[str, Rating]:
    return {one.name: one for one in ratings.players}
