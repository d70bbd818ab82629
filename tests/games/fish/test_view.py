"""Test views of Fish, as players read them."""

import pytest

from fairplay.core.errors import BadRequest, NotOnTurn
from fairplay.games.fish import Fish, Move, Stage
from fairplay.games.fish.state import state_of
from fairplay.games.fish.view import Player, View

STATE = state_of(
    [[1, 2, 3], [4, 0, 5], [1, 1, 1]],
    [[(0, 0), (2, 2)], [(0, 2)], []],
    scores=[7, 9, 4],
    order=[1, 0],
)
FISH = Fish(rows=3, columns=3)
VIEW = View(0, STATE)


def test_players_are_known_by_seat_colour_score_and_penguins() -> None:
    red, white, brown = (
        Player(0, "red", 7, ((0, 0), (2, 2))),
        Player(1, "white", 9, ((0, 2),)),
        Player(2, "brown", 4, ()),
    )

    assert (VIEW.me, VIEW.opponents, VIEW.players) == (red, (white,), (red, white, brown))
    assert VIEW.scores == {0: 7, 1: 9, 2: 4}
    assert (VIEW.turn, VIEW.stage, VIEW.penguins) == (1, Stage.PLAYING, {(0, 0): 0, (2, 2): 0, (0, 2): 1})
    with pytest.raises(BadRequest, match="this is the view of a spectator, which has no player"):
        _ = View(None, STATE).me


def test_opponents_come_in_the_order_in_which_they_move_and_neighbours_are_free() -> None:
    state = state_of([[1, 2, 3, 1]], [[(0, 0)], [(0, 1)], [(0, 3)]], order=[2, 0, 1])
    view = View(0, state_of([[1, 1], [1, 1], [1, 1], [1, 1], [1, 1]], [[(0, 0)], [(4, 0)]]))

    assert [player.seat for player in View(0, state).opponents] == [2, 1]
    assert [player.seat for player in View(None, state).opponents] == [2, 0, 1]
    assert view.neighbours((0, 0)) == ((1, 0), (2, 0))
    assert view.reach((0, 0)) == tuple(move.to for move in Fish().actions(view) if isinstance(move, Move))
    with pytest.raises(BadRequest, match="off the board"):
        view.reach((9, 9))


def test_the_board_tells_the_fish_at_each_position() -> None:
    board = VIEW.board

    assert (board[0, 0], board[0, 2], board[1, 1]) == (1, 3, 0)
    assert (board.rows, board.columns, len(board)) == (3, 3, 9)
    assert sum(board.values()) == 18
    assert max(board, key=lambda position: board[position]) == (1, 2)
    with pytest.raises(KeyError, match=r"\(3, 0\) is off the board, which has 3 rows and 3 columns"):
        board[3, 0]


def test_a_view_is_read_and_drawn() -> None:
    assert repr(VIEW) == (
        "View(seat=0, turn=1, stage='playing', scores={0: 7, 1: 9, 2: 4}, board=[[1, 2, 3], [4, 0, 5], [1, 1, 1]], "
        "penguins={0: [(0, 0), (2, 2)], 1: [(0, 2)], 2: []})"
    )
    assert "W  white  white    9 fish  to move" in str(VIEW)
    assert len(str(VIEW).splitlines()) > 5


def test_an_imagined_state_of_fish_is_the_real_one_and_can_be_played_on() -> None:
    state = FISH.imagine(VIEW)
    turn = FISH.turn(state)

    after = FISH.apply(state, next(FISH.actions(FISH.view(state, turn))))

    assert state == STATE
    assert (turn, FISH.turn(after)) == (1, 0)
    assert FISH.scores(after) == (7, 9 + 3, 4)


def test_asking_for_actions_out_of_turn_explains_how_to_look_ahead() -> None:
    with pytest.raises(NotOnTurn) as error:
        FISH.actions(VIEW)

    assert str(error.value) == (
        "there are no actions in what seat 0 sees, as it is the turn of seat 1; to look ahead: "
        "state = game.imagine(view), then game.actions(game.view(state, game.turn(state)))"
    )
