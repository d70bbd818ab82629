"""Run a format without playing: a test gives the results of its matches."""

from collections.abc import Callable, Sequence
from itertools import count

from fairplay.core.chance import seed_from_text
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.tournament.counted_match import CountedMatch, Ranking, Round, RoundResult
from fairplay.tournament.formats import start_format
from fairplay.tournament.spec import FormatSettings, TournamentSpec

MatchVerdict = tuple[tuple[int, ...], Sequence[str]]  # places by seat, and who is expelled
Judge = Callable[[tuple[str, ...], int], MatchVerdict]  # of names by seat, and the round
MAX_FORMAT_ROUNDS = 1000


def make_spec(
    players: int,
    settings: FormatSettings,
    *,
    game: str = "fish",
    seed: str = "cup",
    parameters: dict[str, int] | None = None,
) -> TournamentSpec:
    return TournamentSpec(
        game=game,
        players=tuple(Entrant("random", f"p{number:02}") for number in range(players)),
        format=settings,
        seed=seed_from_text(seed),
        parameters=parameters or {},
    )


def entrant_names(spec: MatchSpec) -> tuple[str, ...]:
    return tuple(entrant.name for entrant in spec.entrants)


def run_format(
    spec: TournamentSpec,
    judge: Judge,
    arriving: Callable[[int], Sequence[Entrant]] = lambda turn: (),
    stored: list[CountedMatch] | None = None,
) -> tuple[list[Round], Ranking]:
    """All rounds and the ranking; asserts that it ends, no expelled player plays, and no deal is in two rounds.

    After each round some may arrive; how matches counted is stored, if a list is given for that.
    """
    tournament, players, numbers, seats = start_format(spec), spec.players, count(), spec.rules().seats
    rounds: list[Round] = []
    deals: dict[bytes | None, int] = {}
    try:
        matches = next(tournament)
        while True:
            assert len(rounds) < MAX_FORMAT_ROUNDS and matches
            assert all(set(one.entrants) <= set(players) for one in matches)
            assert all(len(set(one.entrants)) == len(one.entrants) in seats for one in matches)
            assert not any(one.seed in deals for one in matches)
            rounds.append(matches)
            gone: set[str] = set()
            counted = []
            for one in matches:
                places, expelled = (
                    ((), ()) if gone & set(entrant_names(one)) else judge(entrant_names(one), len(rounds) - 1)
                )
                gone |= set(expelled)
                deal = deals.setdefault(one.seed, len(deals))
                counted.append(
                    CountedMatch(match=str(next(numbers)), deal=deal, names=entrant_names(one), places=places)
                )
            players = tuple(one for one in players if one.name not in gone)
            players += tuple(one for one in arriving(len(rounds)) if one not in players)
            if stored is not None:
                stored += counted
            matches = tournament.send(RoundResult(tuple(counted), players))
    except StopIteration as end:
        return rounds, end.value


def lower_number_wins(seats: tuple[str, ...], turn: int) -> MatchVerdict:
    return tuple(sorted(seats).index(name) + 1 for name in seats), ()


def all_tie(seats: tuple[str, ...], turn: int) -> MatchVerdict:
    return (1,) * len(seats), ()


def void_match(seats: tuple[str, ...], turn: int) -> MatchVerdict:
    return (), ()


def expel_all(seats: tuple[str, ...], turn: int) -> MatchVerdict:
    return (1,) * len(seats), seats
