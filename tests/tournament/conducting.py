"""Conduct a format without playing: whatever a test says comes of its matches."""

from collections.abc import Callable, Sequence
from itertools import count

from fairplay.core.chance import seed_from
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.tournament.counted import Counted, Ranking, Round, Sent
from fairplay.tournament.formats import format_of
from fairplay.tournament.spec import Cup, FormatSettings

Verdict = tuple[tuple[int, ...], Sequence[str]]  # places by seat, and who is expelled
Judge = Callable[[tuple[str, ...], int], Verdict]  # of names by seat, and the round
MOST_ROUNDS = 1000


def cup_of(
    players: int,
    settings: FormatSettings,
    *,
    game: str = "fish",
    seed: str = "cup",
    parameters: dict[str, int] | None = None,
) -> Cup:
    return Cup(game=game, players=entrants(players), format=settings, seed=seed_from(seed), parameters=parameters or {})


def entrants(players: int) -> tuple[Entrant, ...]:
    return tuple(Entrant("random", f"p{number:02}") for number in range(players))


def names(spec: MatchSpec) -> tuple[str, ...]:
    return tuple(entrant.name for entrant in spec.entrants)


def conducted(
    cup: Cup,
    judge: Judge,
    arriving: Callable[[int], Sequence[Entrant]] = lambda turn: (),
    stored: list[Counted] | None = None,
) -> tuple[list[Round], Ranking]:
    """All rounds and the ranking, if it ends; nobody plays who is expelled, and no deal is in two rounds.

    After each round some may arrive; how matches counted is stored, if a list is given for that.
    """
    tournament, players, numbers, seats = format_of(cup), cup.players, count(), cup.rules().seats
    rounds: list[Round] = []
    deals: dict[bytes | None, int] = {}
    try:
        matches = next(tournament)
        while True:
            assert len(rounds) < MOST_ROUNDS and matches
            assert all(set(spec.entrants) <= set(players) for spec in matches)
            assert all(len(set(spec.entrants)) == len(spec.entrants) in seats for spec in matches)
            assert not any(spec.seed in deals for spec in matches)
            rounds.append(matches)
            gone: set[str] = set()
            counted = []
            for spec in matches:
                places, expelled = ((), ()) if gone & set(names(spec)) else judge(names(spec), len(rounds) - 1)
                gone |= set(expelled)
                deal = deals.setdefault(spec.seed, len(deals))
                counted.append(Counted(match=str(next(numbers)), deal=deal, names=names(spec), places=places))
            players = tuple(one for one in players if one.name not in gone)
            players += tuple(one for one in arriving(len(rounds)) if one not in players)
            if stored is not None:
                stored += counted
            matches = tournament.send(Sent(tuple(counted), players))
    except StopIteration as end:
        return rounds, end.value


def by_number(seats: tuple[str, ...], turn: int) -> Verdict:
    """The lower number always wins."""
    return tuple(sorted(seats).index(name) + 1 for name in seats), ()


def all_tied(seats: tuple[str, ...], turn: int) -> Verdict:
    return (1,) * len(seats), ()


def void(seats: tuple[str, ...], turn: int) -> Verdict:
    return (), ()


def all_expelled(seats: tuple[str, ...], turn: int) -> Verdict:
    return (1,) * len(seats), seats
