"""Test that random playouts in batches and threads are the same as one by one."""

from typing import Any

import pytest

from fairplay import BadRequest, Game, Moment, playouts
from fairplay.core.chance import Dice, derive_seed
from fairplay.games.fish import Fish
from fairplay.games.fish.state import state_of
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.hosting.playouts import MAX_BATCH_PLAYOUTS
from tests.toy import Toy

FISH = Fish(rows=4, columns=4)
SEED = bytes(range(32))
AnyGame = Game[Any, Any, Any]


def by_hand(game: AnyGame, state: Any, number: int) -> tuple[int, ...] | None:
    dice = Dice(derive_seed(SEED, "playouts"), number)
    while (seat := game.turn(state)) is not None:
        action = game.random_action(game.view(state, seat), dice)
        if action is None:
            state = game.eject(state, seat, Moment.TURN)
        else:
            game.check(game.view(state, seat), action)
            state = game.apply(state, action)
    return game.scores(state)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    "game", [FISH, Fish(rows=9, columns=9), Tsuro(size=4), Q()], ids=["fish", "fish 9x9", "tsuro", "q"]
)
def test_playouts_equal_those_played_by_hand(game: AnyGame, threads: int) -> None:
    state = game.deal(3, SEED)

    assert playouts(game, state, 4, SEED, threads) == [by_hand(game, state, number) for number in range(4)]


def test_playouts_do_not_depend_on_batches_and_threads() -> None:
    state, many = FISH.deal(2, SEED), 2 * MAX_BATCH_PLAYOUTS + 7

    one_by_one = playouts(FISH, state, many, SEED)

    assert playouts(FISH, state, many, SEED, threads=3) == one_by_one
    assert playouts(FISH, state, 3, SEED) == one_by_one[:3]
    assert len(set(one_by_one)) > 10
    assert playouts(FISH, state, 3, bytes(32)) != one_by_one[:3]


def test_all_moves_of_playouts_are_equally_likely() -> None:
    state = state_of([[1, 2], [0, 0], [3, 4], [0, 0], [5, 1]], [[(0, 0)], [(0, 1)]])  # each goes on by a tile or by two

    scores = playouts(FISH, state, 4000, SEED)

    assert {score[0] for score in scores} == {1 + 3, 1 + 5}  # after two tiles at once it comes back by one
    assert abs(sum(score[0] == 1 + 3 for score in scores) - 2000) < 200


def test_a_playout_of_a_finished_game_has_its_scores() -> None:
    class Short(Fish, frozen=True):
        """A variant, which has to be played by its own rules."""

        def turn(self, state: Any) -> int | None:
            return None

    state = state_of([[1, 2]], [[(0, 0)], [(0, 1)]], scores=[7, 9])

    assert playouts(FISH, state, 2, SEED) == [(7, 9), (7, 9)]
    assert playouts(FISH, state, 0, SEED) == []
    assert playouts(Short(), Short().deal(2, SEED), 1, SEED) == [(0, 0)]


@pytest.mark.parametrize(("n", "threads"), [(-1, 1), (1, 0)])
def test_impossible_numbers_of_playouts_and_games_without_scores_are_refused(n: int, threads: int) -> None:
    class Silent(Toy, frozen=True):
        def scores(self, state: Any) -> None:  # type: ignore[override]
            return None

    with pytest.raises(BadRequest, match="cannot run"):
        playouts(FISH, FISH.deal(2, SEED), n, SEED, threads)
    with pytest.raises(BadRequest, match="has no scores"):
        playouts(Silent(), Silent().deal(2, SEED), 1, SEED)
