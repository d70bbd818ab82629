"""Test the built-in players of games of the kit: they are deterministic, and look ahead."""

from collections.abc import Sequence
from typing import Any

import pytest

from examples.games.connect_four import ConnectFour, Drop
from examples.games.tic_tac_toe import Mark, TicTacToe
from fairplay import BadRequest
from fairplay.core.roles import AnyStrategy
from fairplay.kit import Action, BoardGame, State
from fairplay.kit.built_in import BUILT_IN
from fairplay.referee.referee import Referee
from tests.kit.nim import Heaps
from tests.nonempty import nonempty

GAMES: dict[str, BoardGame[Any, Any]] = {"tic-tac-toe": TicTacToe(), "connect four": ConnectFour(), "heaps": Heaps()}
N = None


def player(name: str, key: bytes = bytes(32)) -> AnyStrategy:
    kind, _, parameter = name.partition(":")
    return BUILT_IN[kind].make(parameter, key)


def won(game: BoardGame[Any, Any], names: Sequence[str], number: int) -> frozenset[int]:
    players = [player(name, bytes([number, seat] * 16)) for seat, name in enumerate(names)]
    match = Referee().run(game, players, seed=bytes(32))
    assert match.result.ejected == ()
    return match.result.ranking[0]


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_lookahead_beats_random(game: BoardGame[Any, Any]) -> None:
    first = [won(game, ["lookahead:300", "random"], number) for number in range(8)]
    second = [won(game, ["random", "lookahead:300"], number) for number in range(8)]

    assert first.count(frozenset({0})) >= 6
    assert second.count(frozenset({1})) >= 5


def test_it_knows_the_parameters_that_are_played_by() -> None:
    game = ConnectFour(columns=4, height=4)
    view = game.view(State(("RRR", "YYY", "Y", ""), (0, 1), 2), 0)

    assert player("lookahead")(view) == Drop(0)
    for key in range(9):
        assert player("random", bytes([key] * 32))(view).column < 4


@pytest.mark.parametrize(
    ("board", "action"),
    [
        ((0, 0, N, 1, 1, N, N, N, N), Mark(0, 2)),  # it wins
        ((1, 1, N, 0, N, N, 0, N, N), Mark(0, 2)),  # or else the other would
        ((0, 1, N, N, N, N, 1, N, 0), Mark(1, 1)),  # rather now than later
    ],
)
def test_it_sees_what_is_near(board: tuple[int | None, ...], action: Mark) -> None:
    game = TicTacToe()
    for key in range(5):
        assert player("lookahead:200", bytes([key] * 32))(game.view(State(board, (0, 1), 2), 0)) == action
    assert len({player("random", bytes([key] * 32))(game.view(game.deal(2, bytes(32)), 0)) for key in range(20)}) > 1


def test_perfect_players_come_to_a_draw_and_points_count() -> None:
    assert won(TicTacToe(), ["lookahead:1000000"] * 2, 0) == {0, 1}
    for number in nonempty(range(4)):
        assert 0 in won(Heaps(), ["lookahead:2000", "random", "random"], number)
    with pytest.raises(BadRequest, match="lookahead evaluates 1 to 1000000 positions"):
        player("lookahead:many")


class Go(Action, frozen=True):
    """Go on to another place."""

    to: str


class Tale(BoardGame[str, Go], frozen=True):
    """Places that lead to one another; at some of them somebody has won, and where no way leads on it is a draw."""

    name = "tale"
    ways = {  # noqa: RUF012 - nobody changes it
        "fork": ("draw", "detour", "win"),
        "no quick win": ("draw", "detour"),
        "trap": ("loss", "long way down"),
        "detour": ("detour 2",),
        "detour 2": ("win",),
        "long way down": ("long way down 2",),
        "long way down 2": ("long way down 3",),
        "long way down 3": ("loss",),
    }

    def start(self, seats: int) -> str:
        return "fork"

    def moves(self, position: str, seat: int) -> list[Go]:
        return [Go(to) for to in self.ways.get(position, ())]

    def after(self, position: str, seat: int, action: Go) -> str:
        return action.to

    def winner(self, position: str) -> int | None:
        return {"win": 0, "loss": 1}.get(position)

    def rows(self, position: str) -> list[str]:
        return ["."]


@pytest.mark.parametrize(
    ("place", "to"),
    [("fork", "win"), ("no quick win", "detour"), ("trap", "long way down")],
    ids=["a quick win", "a late win rather than a draw", "a late loss rather than a quick one"],
)
def test_it_prefers(place: str, to: str) -> None:
    game = Tale()

    for key in range(9):
        assert player("lookahead:200", bytes([key] * 32))(game.view(State(place, (0, 1), 2), 0)) == Go(to)
