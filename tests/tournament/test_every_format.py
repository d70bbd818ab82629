"""Test every format with any results: it ends, and the same seed gives the same matches."""

from collections.abc import Sequence
from random import Random

import pytest

from fairplay.hosting.spec import Entrant
from fairplay.tournament.courses import FishCourse, TsuroCourse
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss, Versus
from fairplay.tournament.spec import FormatSettings
from tests.nonempty import nonempty
from tests.tournament.format_runs import (
    Judge,
    MatchVerdict,
    all_tie,
    entrant_names,
    expel_all,
    lower_number_wins,
    make_spec,
    run_format,
    void_match,
)

OF_TWO: list[FormatSettings] = [Swiss(6, 2), KnockOut(2, 2), Ladder(6)]
OF_THREE: list[FormatSettings] = [KnockOut(3, 3), Ladder(6, 3), Duplicate(9, 3)]
FORMATS: list[tuple[str, int, FormatSettings]] = [
    *(("fish", players, settings) for players in (2, 3, 7, 16) for settings in (RoundRobin(20, 2), Duplicate(20, 2))),
    *(("fish", players, settings) for players in (2, 5, 9, 16) for settings in OF_TWO),
    *(("tsuro", players, settings) for players in (4, 5, 11) for settings in (RoundRobin(20, 4), Swiss(6, 4))),
    *(("tsuro", players, settings) for players in (3, 10) for settings in OF_THREE),
    *(("fish", players, FishCourse()) for players in (2, 5, 13)),
    *(("tsuro", players, TsuroCourse()) for players in (3, 6, 13)),
    *(("fish", players, Versus(games=300, table=players)) for players in (2, 4)),
]
DECIDED_BY_RATINGS = (RoundRobin, Duplicate, Versus)


def at_random(seed: str) -> Judge:
    random = Random(seed)

    def judged(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        if random.random() < 0.2:
            return (), [name for name in seats if random.random() < 0.2]
        return tuple(random.randint(1, 2) for _ in seats), [name for name in seats if random.random() < 0.1]

    return judged


@pytest.mark.parametrize(("game", "players", "settings"), FORMATS)
def test_every_format_ends_for_any_results(game: str, players: int, settings: FormatSettings) -> None:
    tournament = make_spec(players, settings, game=game)
    judges = [void_match, all_tie, expel_all, lower_number_wins, *map(at_random, "abcdefgh")]

    def newcomers(turn: int) -> Sequence[Entrant]:
        return [Entrant("random", f"new {turn}")]

    for judge in nonempty(judges):
        for arriving in (newcomers, lambda turn: ()):
            rounds, ranking = run_format(tournament, judge, arriving)

            assert rounds
            ranked = [name for rank in ranking for name in rank]
            assert len(set(ranked)) == len(ranked)
            if isinstance(settings, DECIDED_BY_RATINGS):
                assert ranking == ()
            else:
                assert ranking


@pytest.mark.parametrize(("game", "players", "settings"), FORMATS)
def test_an_expelled_player_is_not_ranked(game: str, players: int, settings: FormatSettings) -> None:
    rounds, ranking = run_format(make_spec(players, settings, game=game), expel_all)

    seated = {name for matches in rounds for spec in matches for name in entrant_names(spec)}
    assert seated.isdisjoint(name for rank in ranking for name in rank)


@pytest.mark.parametrize(("game", "players", "settings"), FORMATS)
def test_the_same_seed_gives_the_same(game: str, players: int, settings: FormatSettings) -> None:
    one, other = (run_format(make_spec(players, settings, game=game), at_random("x")) for _ in range(2))

    assert one == other
    another = run_format(make_spec(players, settings, game=game, seed="another"), at_random("x"))
    assert {spec.seed for spec in one[0][0]}.isdisjoint(spec.seed for spec in another[0][0])
