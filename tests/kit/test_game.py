"""Test the base class of simple games: it keeps the laws of all games, and its own promises."""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
import pytest

from examples.games.connect_four import ConnectFour, Drop
from examples.games.tic_tac_toe import Board, Mark, TicTacToe
from fairplay import BadRequest, Game, IllegalAction, Moment
from fairplay.kit import BoardGame, Player, State
from fairplay.testing.conformance import check_game
from tests.kit.nim import Heaps, Pass, Table, Take

X, O, N = 0, 1, None  # noqa: E741  # as players say it; N: nobody
GAMES: dict[str, BoardGame[Any, Any]] = {
    "tic-tac-toe": TicTacToe(),
    "connect four": ConnectFour(),
    "a small connect four": ConnectFour(columns=4, height=5),
    "heaps": Heaps(),
}


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_every_law_of_games_holds(game: BoardGame[Any, Any]) -> None:
    check_game(game)


class NeverOver(TicTacToe, frozen=True):
    def winner(self, position: Board) -> int | None:
        return None

    def moves(self, position: Board, seat: int) -> Iterator[Mark]:
        return (Mark(*divmod(square, 3)) for square in range(9))


class SixInARow(ConnectFour, frozen=True):
    def moves(self, position: tuple[str, ...], seat: int) -> Iterator[Drop]:
        return (Drop(column) for column, discs in enumerate(position) if len(discs) <= self.height)

    def rows(self, position: tuple[str, ...]) -> list[str]:
        return [discs.ljust(self.height, ".") for discs in position]


class SaysOnlyWhether(TicTacToe, frozen=True):
    def winner(self, position: Board) -> int | None:
        return True if super().winner(position) is not None else None


class Ragged(TicTacToe, frozen=True):
    def rows(self, position: Board) -> list[str]:
        first, *others = super().rows(position)
        return [f"{first}.", *others]


BROKEN = {
    NeverOver: "every match comes to its end: the game is not over",
    SixInARow: "its board has another size",
    SaysOnlyWhether: "True, the winner of tic-tac-toe, is not a seat",
    Ragged: "its rows differ in length",
}


@pytest.mark.parametrize(("rules", "why"), BROKEN.items(), ids=lambda one: getattr(one, "__name__", ""))
def test_a_planted_bug_is_noticed(rules: type[Game[Any, Any, Any]], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        check_game(rules())


@pytest.mark.parametrize("said", [{"signs": "XX"}, {"signs": "X."}, {"colours": ()}], ids=str)
def test_a_game_must_have_distinct_signs_and_some_colours(said: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="Alike"):
        type("Alike", (TicTacToe,), said, frozen=True)


FOUR = ConnectFour()
TIC = TicTacToe()


@pytest.mark.parametrize(
    ("game", "board", "winner"),
    [
        (TIC, (X, X, X, O, O, N, N, N, N), X),
        (TIC, (O, X, X, O, X, N, O, N, N), O),
        (TIC, (X, O, N, O, X, N, N, N, X), X),
        (TIC, (X, X, O, N, O, X, O, N, N), O),
        (TIC, (X, O, X, X, O, O, O, X, X), None),
        (FOUR, ("RRRR", "YYY", "", "", "", "", ""), X),
        (FOUR, ("R", "R", "R", "YYY", "Y", "Y", "Y"), O),
        (FOUR, ("R", "YR", "YYR", "YRYR", "", "", ""), X),
        (FOUR, ("RRRY", "RRY", "RY", "Y", "", "", ""), O),
        (FOUR, ("RYRYRY", "RRR", "YYY", "", "R", "R", ""), None),
    ],
)
def test_lines_win_and_full_boards_are_draws(game: BoardGame[Any, Any], board: Any, winner: int | None) -> None:
    state = State(board, (1, 0), 2)

    assert game.winner(board) == winner
    assert (game.turn(state) is None) == (winner is not None or game is TIC)
    first = {0, 1} if winner is None else {winner}
    assert game.ranking(state) == tuple(frozenset(group) for group in (first, {0, 1} - first) if group)


def test_what_cannot_be_done_now_is_illegal() -> None:
    view = FOUR.view(State(("RYRYRY", *[""] * 6), (0, 1), 2), 0)

    assert Drop(0) not in list(FOUR.actions(view))
    with pytest.raises(IllegalAction, match="it cannot be done now: drops a disc into column 0"):
        FOUR.check(view, Drop(0))


def test_the_others_play_on_and_points_are_kept() -> None:
    alone = TIC.eject(TIC.deal(2, bytes(32)), 0, Moment.TURN)
    assert (TIC.turn(alone), TIC.ranking(alone)) == (None, (frozenset({1}),))  # the last one left has won

    game = Heaps()
    assert game.turn(game.deal(1, bytes(32))) == 0  # but not who was alone from the start
    state = game.apply(game.deal(3, bytes(32)), Take(3, 3))

    state = game.eject(state, 1, Moment.TURN)

    assert (game.turn(state), game.order(state), game.scores(state)) == (2, (2, 0), (3, 0, 0))
    state = game.apply(state, Pass())
    assert game.turn(state) == 0
    assert game.ranking(state) == (frozenset({0}), frozenset({2}))


def test_a_view_says_who_sees_it_and_draws_itself() -> None:
    game = Heaps()
    view = game.view(game.deal(3, bytes(32)), 1)

    assert view.me == Player(1, "blue", "b", 0)
    assert [player.seat for player in view.opponents] == [0, 2]
    assert view.scores == {0: 0, 1: 0, 2: 0}
    assert TIC.view(TIC.deal(2, bytes(32)), 0).scores == {}
    assert (view.turn, view.position.heaps, view.board[0, 0], view.board[0, 1]) == (0, (1, 2, 3, 4), "a", ".")
    with pytest.raises(KeyError, match=r"\(4, 0\) is off the board"):
        _ = view.board[4, 0]
    assert (view.board.get((4, 0)), (0, 1) in view.board, len(view.board)) == (None, True, 16)
    with pytest.raises(BadRequest, match="which has no player"):
        _ = game.view(view.state, None).me
    assert game.imagine(view) is view.state
    assert "3  a  |  |  |" in str(view)
    assert view._repr_svg_().startswith("<svg")


def test_the_ejected_are_no_opponents() -> None:
    game = Heaps()
    state = game.eject(game.deal(3, bytes(32)), 2, Moment.TURN)

    assert [player.seat for player in game.view(state, 1).opponents] == [0]
    assert [player.seat for player in game.view(state, 1).players] == [0, 1, 2]


class Endless(Heaps, frozen=True):
    """Offers moves without end."""

    def moves(self, position: Table, seat: int) -> Iterator[Take | Pass]:
        yield from (Take(0, count) for count in range(1, 100_000))
        raise AssertionError("all of the moves are listed")


def test_a_position_with_moves_without_end_is_read() -> None:
    game = Endless()
    plain = game.pack_state(game.deal(2, bytes(32)))

    assert game.unpack_state(plain) == game.deal(2, bytes(32))


def test_types_are_taken_from_the_class_and_actions_are_called_by_theirs() -> None:
    assert TicTacToe.action is Mark
    assert Heaps.action == Take | Pass
    assert msgspec.json.encode(Take(1, 2)) == b'{"type":"take","heap":1,"count":2}'
    assert (str(Take(1, 2)), str(Pass())) == ("takes 1 2", "passes")


HALF = {"position": ["R", "", "", "", "", "", ""], "order": [1, 0], "seats": 2}
NONSENSE: dict[str, Any] = {
    "another board": {**HALF, "position": ["R", ""]},
    "four discs of nobody's": {**HALF, "position": ["ZZZZ", "", "", "", "", "", ""]},
    "a seat twice": {**HALF, "order": [1, 1]},
    "a seat that is not there": {**HALF, "order": [2]},
    "too many seats": {**HALF, "seats": 7},
    "something else too": {**HALF, "more": 1},
    "no position": {"order": [0, 1], "seats": 2},
}


@pytest.mark.parametrize("plain", NONSENSE.values(), ids=NONSENSE)
def test_what_makes_no_sense_is_refused_in_one_line(plain: Any) -> None:
    game = ConnectFour()
    assert game.unpack_state(HALF).order == (1, 0)

    with pytest.raises(BadRequest, match="not a position of connect-four"):
        game.unpack_state(plain)
    with pytest.raises(BadRequest, match="not a position of connect-four"):
        game.unpack({"seat": 0, **plain})


class Undescribed(TicTacToe, frozen=True):
    length: int = 9
    side: Literal["left", "right"] = "left"


def test_a_parameter_without_a_description_is_told_by_its_type() -> None:
    assert Undescribed.parameter_descriptions() == {"length": "int", "side": "Literal"}
    with pytest.raises(BadRequest, match=r"cannot be played with length=long \(length: int\)"):
        Undescribed.with_parameters({"length": "long"})
