"""Test views of Q, as players read them, and the imagined states behind them."""

import json
from collections import Counter

import msgspec
import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.game import Moment
from fairplay.games.q import Pass, Place, Placement, Q
from fairplay.games.q.game import ALL_TILES
from fairplay.games.q.pieces import COLOURS, HAND_SIZE, SHAPES
from fairplay.games.q.view import Player, Tile
from fairplay.referee.local_channel import action_decoder
from tests.games.q.positions import make_position
from tests.nonempty import nonempty

GAME = Q()
STATE = make_position(
    {(0, 0): "red star", (0, 1): "red circle"},
    ["blue star, red square", "green star", "blue circle"],
    "orange star",
    scores=(5, 8, 3),
    order=(1, 2, 0),
    to_act=2,
    placed=True,
)


def test_players_are_known_by_seat_and_score() -> None:
    view = GAME.view(STATE, 0)

    assert (view.me, view.opponents) == (Player(0, 5), (Player(1, 8), Player(2, 3)))
    assert (view.scores, view.turn, view.left) == ({0: 5, 1: 8, 2: 3}, 1, 1)
    with pytest.raises(BadRequest, match="this is the view of a spectator, which has no player"):
        _ = GAME.view(STATE, None).me
    with pytest.raises(BadRequest, match="seat 2 is out"):
        _ = GAME.view(GAME.eject(STATE, 2, Moment.GREETING), 2).me


def test_tiles_are_names_that_know_their_shape_and_colour() -> None:
    hand = GAME.view(STATE, 0).hand

    assert hand == ("blue star", "red square")
    assert [(tile.colour, tile.shape) for tile in hand] == [("blue", "star"), ("red", "square")]
    assert {tile.colour for tile in Tile} == set(COLOURS)
    assert {tile.shape for tile in Tile} == set(SHAPES)
    assert f"{hand[0]}, {hand!r}" == "blue star, ('blue star', 'red square')"
    assert {"blue star": 1}[hand[0]] == 1


def test_a_tile_may_stand_in_an_action() -> None:
    view = GAME.view(GAME.apply(GAME.apply(STATE, Pass()), Pass()), 0)
    action = Place((Placement(view.hand[0], (1, 0)),))
    plain = Place((Placement("blue star", (1, 0)),))

    GAME.check(view, action)

    assert action == plain
    assert hash(action) == hash(plain)
    assert action_decoder(Q)(msgspec.json.encode(action)) == plain
    assert json.loads(json.dumps(view.hand)) == ["blue star", "red square"]


def test_the_board_tells_which_tile_lies_where_and_where_one_fits() -> None:
    board = GAME.view(STATE, None).board

    assert dict(board) == {(0, 0): "red star", (0, 1): "red circle"}
    assert (board[0, 1].shape, len(board), board.get((9, 9)), (0, 1) in board) == ("circle", 2, None, True)
    with pytest.raises(KeyError, match=r"no tile lies at \(-1, 4\)"):
        board[-1, 4]
    view = GAME.view(STATE, 0)
    assert view.fits("blue star") == ((-1, 0), (0, -1), (1, 0))
    assert view.fits("red square") == ((-1, 0), (-1, 1), (0, -1), (0, 2), (1, 0), (1, 1))


def test_a_view_is_read_and_drawn() -> None:
    assert repr(GAME.view(STATE, 0)) == (
        "View(seat=0, turn=1, scores={1: 8, 2: 3, 0: 5}, left=1, hand=('blue star', 'red square'), "
        "board={(0, 0): 'red star', (0, 1): 'red circle'})"
    )
    assert len(str(GAME.view(STATE, 0)).splitlines()) > 3


def test_what_is_imagined_has_every_tile_once() -> None:
    state = GAME.deal(3, seed_from_text("tiles"))
    for number in range(12):
        seat = number % 3
        imagined = GAME.imagine(GAME.view(state, seat), bytes([number]))
        held = [kind for hand in imagined.hands for kind in hand]
        everything = (*imagined.map.tiles.values(), *held, *imagined.pile, *imagined.lost)
        assert Counter(everything) == Counter(ALL_TILES)
        assert [len(hand) for hand in imagined.hands] == [HAND_SIZE] * 3
        assert len({GAME.imagine(GAME.view(state, seat), bytes([other])).hands for other in range(9)}) == 9
        assert imagined.hands[seat] == state.hands[seat]
        assert (imagined.to_act, len(imagined.pile)) == (state.to_act, len(state.pile))
        view = GAME.view(state, seat)
        state = GAME.apply(state, next(action for action in GAME.actions(view) if isinstance(action, Place)))


def test_an_unknown_placement_in_this_round_is_assumed() -> None:
    begun = GAME.view(STATE, 1)
    fresh = GAME.view(msgspec.structs.replace(STATE, order=(0, 1, 2), to_act=3), 0)

    assert {GAME.imagine(begun, bytes([number])).placed for number in range(20)} == {True, False}
    assert {GAME.imagine(fresh, bytes([number])).placed for number in range(20)} == {False}


def test_when_the_pile_is_empty_the_others_share_what_is_not_seen() -> None:
    view = msgspec.structs.replace(GAME.view(STATE, 0), left=len(ALL_TILES) - 2 - 2 - 7)

    for number in nonempty(range(10)):
        sizes = [len(hand) for hand in GAME.imagine(view, bytes([number])).hands]
        assert (sizes[0], sizes[1] + sizes[2]) == (2, 7)
        assert min(sizes) >= 1
