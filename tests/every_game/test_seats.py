"""Test that a seat that does not exist is refused in one line, in every game."""

from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game, Moment
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from tests.kit.nim import Heaps


@pytest.mark.parametrize("seat", [3, -1, 99])
@pytest.mark.parametrize("game", [Fish(), Tsuro(), Q(), Heaps()], ids=lambda game: game.name)
def test_an_unknown_seat_cannot_be_ejected(game: Game[Any, Any, Any], seat: int) -> None:
    state = game.deal(3, bytes(32))

    with pytest.raises(BadRequest, match=f"there is no seat {seat}: the seats of this match are 0 to 2"):
        game.eject(state, seat, Moment.TURN)


def test_a_seat_of_q_cannot_be_ejected_twice() -> None:
    once = Q().eject(Q().deal(3, bytes(32)), 1, Moment.TURN)

    with pytest.raises(BadRequest, match="seat 1 is out already"):
        Q().eject(once, 1, Moment.TURN)
