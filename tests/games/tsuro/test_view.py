"""Test views of Tsuro, as players read them, and the imagined states behind them."""

import json
from collections.abc import Iterator

import msgspec
import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.games.tsuro import Lay, Place, Stage, Tsuro
from fairplay.games.tsuro.pieces import TILES
from fairplay.games.tsuro.view import LaidTile, Tile, View
from fairplay.referee.local_channel import action_decoder
from tests.games.tsuro.positions import TSURO, legal_actions, play_actions
from tests.nonempty import nonempty

GAME = Tsuro()
SEED = seed_from_text("a view")


START = TSURO.deal(3, bytes(32))
STATE = play_actions(START, Place(2, 0, "C", (0, 0)), Place(3, 0, "G", (9, 0)), Place(6, 0, "A", (0, 9)))


def positions(game: Tsuro) -> Iterator[tuple[int, View, tuple[int, ...]]]:
    """Whoever is on turn in a whole match, what it sees, and the tiles that really come, from those dealt now."""
    state = game.deal(4, SEED)
    while (seat := game.turn(state)) is not None:
        view = game.view(state, seat)
        yield seat, view, state.source[state.drawn :]
        state = game.apply(state, next(iter(game.actions(view))))


def test_players_have_avatars_that_face_a_square_and_follow_paths() -> None:
    view, later = TSURO.view(STATE, 0), TSURO.view(play_actions(STATE, legal_actions(STATE)[0]), None)
    avatar, stands = view.avatar, later.players[0].avatar

    assert avatar is not None and stands is not None
    assert avatar == view.me.avatar == view.players[0].avatar
    assert (avatar.square, avatar.port, avatar.facing) == ((0, 0), "C", (1, 0))
    assert (view.me.colour, [player.seat for player in view.opponents]) == ("white", [1, 2])
    assert (view.turn, view.stage, view.round, view.scores) == (0, Stage.PLAYING, 1, {0: 1, 1: 1, 2: 1})
    assert (TSURO.view(START, 0).avatar, TSURO.view(START, 0).paths) == (None, {})
    assert view.paths[0] == ((0, 0),)
    assert (later.paths[0][:2], later.paths[0][-1]) == (((0, 0), (1, 0)), stands.square)
    with pytest.raises(BadRequest, match="spectator"):
        _ = TSURO.view(START, None).avatar


def test_the_board_tells_which_tile_lies_where() -> None:
    board = TSURO.view(STATE, None).board

    assert {at: (laid.tile, laid.degrees) for at, laid in board.items()} == {
        (0, 0): (2, 0),
        (9, 0): (3, 0),
        (0, 9): (6, 0),
    }
    assert (len(board), board.size, board.get((5, 5))) == (3, 10, None)
    assert board[9, 0] == LaidTile(Tile(3), 0)
    with pytest.raises(KeyError, match="no tile lies at"):
        board[5, 5]
    with pytest.raises(KeyError, match=r"\(10, 0\) is off the board"):
        board[10, 0]


def test_tiles_are_numbers_that_know_their_connections() -> None:
    view = GAME.view(GAME.deal(3, SEED), 0)
    tile = view.tiles[0]

    assert view.tiles == view.dealt
    assert len(tile.connections) == 4
    assert LaidTile(Tile(0), 90).exit("A") == Tile(0).exit("A", 90) == "F"
    assert all(tile.exit(pair[0]) == pair[1] for tile in Tile for pair in tile.connections)
    assert f"{tile}" == str(int(tile))


def test_a_tile_may_stand_in_an_action() -> None:
    action = Lay(Tile(7), 90)

    assert action == Lay(7, 90)
    assert hash(action) == hash(Lay(7, 90))
    assert action_decoder(Tsuro)(msgspec.json.encode(action)) == Lay(7, 90)
    assert json.loads(json.dumps(Tile(7))) == 7


def test_a_view_is_read_and_drawn_and_imagined_with_other_tiles_by_other_seeds() -> None:
    view = GAME.view(GAME.deal(3, SEED), 0)

    assert len({GAME.imagine(view, bytes([number])).source for number in range(20)}) == 20
    assert repr(view) == (
        f"View(seat=0, turn=0, stage='placing', round=0, tiles={view.dealt}, avatars={{0: None, 1: None, 2: None}}, "
        "board={})"
    )
    assert "placing" in str(view)


def test_no_tile_of_the_first_bag_comes_twice() -> None:
    for seat, view, _ in nonempty(positions(GAME)):
        gone = {laid.tile for laid in view.board.values()}
        drawn = 3 * sum(player.avatar is not None for player in view.players)
        drawn += 2 * (len(gone) - drawn // 3)
        if drawn + len(view.dealt) > TILES or len(gone) < len(view.board):
            break
        state = GAME.imagine(view, bytes([seat]))
        rest = state.source[: TILES - drawn]
        assert rest[: len(view.dealt)] == view.dealt
        assert len(set(rest)) == len(rest)
        assert not gone & set(rest)


def test_of_the_cycle_everything_is_known() -> None:
    game = Tsuro(size=5, tiles="cycle")

    for _, view, coming in nonempty(positions(game)):
        imagined = game.imagine(view).source
        assert imagined[: len(coming)] == coming[: len(imagined)]


def test_a_stage_can_be_compared_with_its_name() -> None:
    assert (TSURO.view(STATE, 0).stage, TSURO.view(START, 0).stage) == ("playing", "placing")
