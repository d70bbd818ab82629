"""Test views of Tsuro, as players read them, and the imagined states behind them."""

import json
from collections.abc import Iterator

import msgspec
import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted
from fairplay.core.match import Match
from fairplay.games.tsuro import Action, Lay, Place, Stage, State, Tsuro
from fairplay.games.tsuro.pieces import TILES
from fairplay.games.tsuro.view import LaidTile, Tile, View
from fairplay.referee.local_channel import action_decoder
from tests.nonempty import nonempty

GAME = Tsuro()
SEED = seed_from_text("a view")


def placed(seats: int = 3) -> tuple[list[Place], Match[State, View, Action]]:
    """A match in which everybody has placed its first tile, and what was placed."""
    match = Match(GAME, GAME.deal(seats, SEED), tuple("abcde"[:seats]))
    actions = []
    for seat in range(seats):
        action = next(GAME.actions(match.view(seat)))
        assert isinstance(action, Place)
        actions.append(action)
        match = match.after(Acted(seat, action))
    return actions, match


def positions(game: Tsuro) -> Iterator[tuple[int, View, tuple[int, ...]]]:
    """Whoever is on turn in a whole match, what it sees, and the tiles that really come, from those dealt now."""
    state = game.deal(4, SEED)
    while (seat := game.turn(state)) is not None:
        view = game.view(state, seat)
        yield seat, view, state.source[state.drawn :]
        state = game.apply(state, next(iter(game.actions(view))))


def test_players_have_avatars_that_face_a_square() -> None:
    (first, *_), match = placed()
    view = match.view(0)

    assert view.me.colour == "white"
    assert view.avatar == view.me.avatar == view.players[0].avatar
    assert view.avatar is not None
    assert (view.avatar.square, view.avatar.port) == (first.at, first.port)
    assert view.avatar.facing is not None
    assert [player.seat for player in view.opponents] == [1, 2]
    assert (view.turn, view.stage, view.round, view.scores) == (0, Stage.PLAYING, 1, {0: 1, 1: 1, 2: 1})


def test_a_player_off_the_board_has_no_avatar() -> None:
    view = GAME.view(GAME.deal(3, SEED), 0)

    assert view.avatar is None
    assert view.paths == {}
    with pytest.raises(BadRequest, match="spectator"):
        _ = GAME.view(GAME.deal(3, SEED), None).avatar


def test_the_board_tells_which_tile_lies_where() -> None:
    actions, match = placed()
    board = match.view(None).board

    assert {at: (laid.tile, laid.degrees) for at, laid in board.items()} == {
        action.at: (action.tile, action.degrees) for action in actions
    }
    assert (len(board), board.size, board.get((5, 5))) == (3, 10, None)
    assert board[actions[0].at] == LaidTile(Tile(actions[0].tile), actions[0].degrees)
    with pytest.raises(KeyError, match="no tile lies at"):
        board[5, 5]
    with pytest.raises(KeyError, match=r"\(10, 0\) is off the board"):
        board[10, 0]


def test_paths_lead_from_the_first_tile_to_the_avatar() -> None:
    _, match = placed()
    start = match.view(0).avatar
    assert start is not None
    assert match.view(None).paths[0] == (start.square,)

    match = match.after(Acted(0, next(GAME.actions(match.view(0)))))
    view = match.view(None)

    stands = view.players[0].avatar
    assert stands is not None
    assert view.paths[0][:2] == (start.square, start.facing)
    assert view.paths[0][-1] == stands.square


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


def test_a_view_is_read_and_drawn() -> None:
    view = GAME.view(GAME.deal(3, SEED), 0)

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


def test_other_seeds_imagine_other_tiles_and_the_same_ones_the_same() -> None:
    view = GAME.view(GAME.deal(3, SEED), 0)

    assert GAME.imagine(view, b"1") == GAME.imagine(view, b"1")
    assert len({GAME.imagine(view, bytes([number])).source for number in range(20)}) == 20


def test_of_the_cycle_everything_is_known() -> None:
    game = Tsuro(size=5, tiles="cycle")

    for _, view, coming in nonempty(positions(game)):
        imagined = game.imagine(view).source
        assert imagined[: len(coming)] == coming[: len(imagined)]


def test_a_waiting_player_imagines_tiles_for_the_player_on_turn() -> None:
    _, match = placed()

    state = GAME.imagine(match.view(1))

    assert len(state.dealt) == 2
    assert GAME.view(state, 1) == match.view(1)


def test_a_stage_can_be_compared_with_its_name() -> None:
    _, match = placed()

    assert match.view(0).stage == "playing"
    assert GAME.view(GAME.deal(3, SEED), 0).stage == "placing"
