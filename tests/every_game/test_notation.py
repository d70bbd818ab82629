"""Test how actions are typed, printed and previewed in every game, and that unknown seats are refused."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairplay.core.chance import SeededRandom
from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted
from fairplay.core.game import Game, Moment
from fairplay.core.match import Match
from fairplay.games import GAMES, game_info
from fairplay.games.fish import Fish
from fairplay.games.fish.actions import Move
from fairplay.games.fish.actions import Place as PutPenguin
from fairplay.games.fish.notation import parse_action as read_fish
from fairplay.games.q import Exchange, Pass, Place, Placement, Q
from fairplay.games.q.notation import parse_action as read_q
from fairplay.games.q.notation import preview as foresee_q
from fairplay.games.q.view import View as QView
from fairplay.games.tsuro import Lay, Tsuro
from fairplay.games.tsuro import Place as PutTile
from fairplay.games.tsuro.notation import parse_action as read_tsuro
from fairplay.games.tsuro.view import View as TsuroView
from fairplay.testing.playouts import Sampling, play_events
from tests.games.q import positions as q
from tests.kit.nim import Heaps
from tests.nonempty import nonempty


def holding(*tiles: str) -> QView:
    return Q().view(q.make_position({(0, 0): "red star"}, [", ".join(tiles), "red star"]), 0)


SEEDS = [bytes([number]) * 32 for number in range(3)]
MOST = 200  # actions of a position
POSITIONS = 30  # of a match
FISH = Fish().view(Fish().deal(2, SEEDS[0]), 0)
TSURO = Tsuro().view(Tsuro().deal(3, SEEDS[0]), 0)
REDS = holding("red star", "red square")
modest = settings(max_examples=300, deadline=None, derandomize=True, database=None)


def views(game: str, seed: bytes) -> Iterator[Any]:
    """What whoever is on turn sees, in the first positions of a match at random."""
    rules = game_info(game).rules.with_parameters(game_info(game).quick)
    match = Match(rules, rules.deal(rules.seats[-1], seed), tuple("abcde"[: rules.seats[-1]]))
    yield match.view(match.turn)
    for _, after in islice(play_events(match, Sampling(SeededRandom(seed), MOST, 50)), POSITIONS):
        if after.turn is not None:
            yield after.view(after.turn)


@pytest.mark.parametrize("seed", SEEDS, ids=["0", "1", "2"])
@pytest.mark.parametrize("game", GAMES)
def test_whatever_is_written_is_read_as_the_same_action(game: str, seed: bytes) -> None:
    shelf, rules = game_info(game), game_info(game).rules()
    seen = ((view, action) for view in views(game, seed) for action in islice(rules.actions(view), MOST))
    for view, action in nonempty(seen):
        written = shelf.format_action(action)
        assert shelf.parse_action(view, written) == action
        assert shelf.parse_action(view, f"  {written.upper()} ".replace(" ", "  ")) == action


@pytest.mark.parametrize("game", GAMES)
def test_what_is_foreseen_is_what_comes(game: str) -> None:
    shelf = game_info(game)
    rules = shelf.rules.with_parameters(shelf.quick)
    match = Match(rules, rules.deal(rules.seats[-1], SEEDS[0]), tuple("abcde"[: rules.seats[-1]]))
    for fact, after in nonempty(islice(play_events(match, Sampling(SeededRandom(SEEDS[0]), MOST, 50)), POSITIONS)):
        before, then = match.view(fact.seat), after.view(fact.seat)
        match = after
        if isinstance(fact, Acted):
            foreseen = shelf.preview(before, fact.action)
            assert seen(foreseen) == seen(then)


def seen(view: Any) -> object:
    """What can be foreseen of a view: the board."""
    match view:
        case QView():
            return view.map.tiles
        case TsuroView():
            return view.table
        case _:
            return view


@pytest.mark.parametrize("game", GAMES)
@modest
@given(words=st.one_of(st.text(), st.from_regex(r"[-0-9, a-z]{0,20}", fullmatch=True)))
def test_anything_else_is_refused_in_one_line(game: str, words: str) -> None:
    shelf = game_info(game)
    rules = shelf.rules()
    view = rules.view(rules.deal(rules.seats[0], SEEDS[0]), 0)
    try:
        action = shelf.parse_action(view, words)
    except BadRequest as error:
        assert str(error).isprintable()
    else:
        assert shelf.parse_action(view, shelf.format_action(action)) == action


@pytest.mark.parametrize("words", ["2 , 3", "2 3", "[2,3]", "[2, 3]", "[ 2 3 ]"])
def test_fish_takes_positions_as_they_are_typed_or_printed(words: str) -> None:
    assert read_fish(FISH, words) == PutPenguin((2, 3))
    assert read_fish(FISH, f"{words} 4 4") == read_fish(FISH, f"{words}[4, 4]") == Move((2, 3), (4, 4))


def test_tsuro_takes_tiles_turned() -> None:
    assert read_tsuro(TSURO, "12 90°") == Lay(12, 90)
    assert read_tsuro(TSURO, "12 270 3,0 e") == PutTile(12, 270, "E", (3, 0))


@pytest.mark.parametrize(
    ("words", "placed"),
    [
        ("0,1 red star", [("red star", (0, 1))]),
        ("place 0,-1 r st", [("red star", (0, -1))]),
        ("0,1 b s", [("blue square", (0, 1))]),  # of these two only one is in the hand
        ("0,1 2 0,2 1", [("blue square", (0, 1)), ("red star", (0, 2))]),
        ("0,1 o 8 0,2 g ci", [("orange 8star", (0, 1)), ("green circle", (0, 2))]),
    ],
)
def test_q_takes_tiles_by_name_or_number(words: str, placed: list[tuple[str, tuple[int, int]]]) -> None:
    view = holding("red star", "blue square")
    assert read_q(view, words) == Place(tuple(Placement(tile, at) for tile, at in placed))


def test_q_takes_the_other_actions_and_placed_tiles_leave_the_hand() -> None:
    view = holding("red star", "blue square", "red star")

    assert (read_q(view, "ex"), read_q(view, "pass")) == (Exchange(), Pass())
    assert foresee_q(view, read_q(view, "0,1 1")).hand == ("blue square", "red star")


REFUSED: list[tuple[Callable[[Any, str], object], Any, str, str]] = [
    (read_fish, FISH, "", "found 0 positions; write where to place a penguin, as in 2,3"),
    (read_fish, FISH, "2,3 north", "'north' is not a position; write where to place a penguin, as in 2,3"),
    (read_fish, FISH, "[2,3", "'[2,3' is not a position; write where to place a penguin, as in 2,3"),
    (read_fish, FISH, "1,1 2,2 3,3", "found 3 positions; write where to place a penguin, as in 2,3"),
    (read_tsuro, TSURO, "12", "write tile, degrees, square and port, as in 12 90 3,0 E, not '12'"),
    (read_tsuro, TSURO, "35 0", "there is no tile 35; tiles are numbered from 0 to 34"),
    (read_tsuro, TSURO, "3 45", "a tile cannot be turned by 45 degrees; write 0, 90, 180 or 270"),
    (read_tsuro, TSURO, "3 90 0,0 I", "there is no port I; ports are lettered from A to H"),
    (read_q, REDS, "p", "'p' may be place or pass; write more of it"),
    (read_q, REDS, "0,1 red s", "'red s' may be red star or red square; write more of it"),
    (read_q, REDS, "0,1 3", "there is no tile 3 in your hand; they are numbered from 1 to 2"),
    (read_q, REDS, "0,1", "'' is not a tile; write a colour and a shape, or its number in your hand"),
    (read_q, REDS, "pass 1", "unexpected words after 'pass'"),
    (read_q, REDS, "place", "no tile to place; write what to place where, as in 0,1 red star, or exchange, or pass"),
]


@pytest.mark.parametrize(("read", "view", "words", "why"), REFUSED, ids=[why for *_, why in REFUSED])
def test_a_game_says_what_it_expects(read: Callable[[Any, str], object], view: Any, words: str, why: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read(view, words)
    assert str(refused.value) == why


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
