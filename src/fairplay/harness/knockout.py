"""Run the tournament of the Tsuro course: knock-out rounds by age, until one last game decides."""

from collections.abc import Sequence
from typing import Any

import msgspec

from fairplay.core.chance import SEED_BYTES
from fairplay.core.match import Match
from fairplay.core.roles import Strategy
from fairplay.games.tsuro.game import Tsuro
from fairplay.referee.drivers import play
from fairplay.referee.local import Local

GAME = Tsuro(tiles="cycle")
LEAST, MOST = GAME.seats[0], GAME.seats[-1]


class Entrant(msgspec.Struct, frozen=True):
    """Who takes part; the oldest comes first."""

    age: int  # its place in the list
    name: str
    strategy: Strategy[Any, Any]


class Standing(msgspec.Struct, frozen=True):
    """How a game or a tournament came out."""

    ranks: tuple[tuple[Entrant, ...], ...]  # best first
    cheaters: tuple[Entrant, ...]


def tournament(entrants: Sequence[Entrant]) -> Standing:
    """Whoever comes first or second in a game goes on, until there are few enough for one game."""
    left, cheaters = tuple(entrants), tuple[Entrant, ...]()
    while len(left) > MOST:
        standings = [played(group) for group in groups(left)]
        on = [entrant for standing in standings for rank in standing.ranks[:2] for entrant in rank]
        cheaters += tuple(cheater for standing in standings for cheater in standing.cheaters)
        if len(on) == len(left):  # nobody is out, and nobody would be in the next round
            return Standing((left,), cheaters)
        left = tuple(sorted(on, key=lambda entrant: entrant.age))
    if len(left) < LEAST:
        return Standing((left,) if left else (), cheaters)
    last = played(left)
    return Standing(last.ranks, cheaters + last.cheaters)


def groups(entrants: Sequence[Entrant]) -> list[Sequence[Entrant]]:
    """The games of a round, in order of age: fives, and at the end threes and fours so that nobody is left over."""
    rest = len(entrants) % MOST
    tail = {0: [], 1: [3, 3], 2: [4, 3], 3: [3], 4: [4]}[rest]
    sizes = [MOST] * ((len(entrants) - sum(tail)) // MOST) + tail
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    return [entrants[start : start + size] for start, size in zip(starts, sizes, strict=True)]


def played(entrants: Sequence[Entrant]) -> Standing:
    """One game, with the endless cycle of tiles."""
    state = GAME.deal(len(entrants), bytes(SEED_BYTES))  # nothing is drawn: any seed will do
    match = Match(GAME, state, tuple(entrant.name for entrant in entrants))
    result = play(match, [Local(entrant.strategy, GAME) for entrant in entrants]).result
    ranks = tuple(tuple(entrants[seat] for seat in sorted(rank)) for rank in result.ranking if rank)
    return Standing(ranks, tuple(entrants[ejected.seat] for ejected in result.ejected))
