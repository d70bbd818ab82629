"""Test the calls of the course's Fish, word for word, with a player of the course and with one of ours."""

import re
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Result
from fairplay.core.game import Moment
from fairplay.core.messages import End, Start, TakeTurn, Tell
from fairplay.course.dialects.dialect import Call
from fairplay.course.dialects.fish import DIALECT, FishCallee, FishCaller
from fairplay.games.fish.actions import Move, Place
from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import PLACING, PLAYING, State, state_of
from fairplay.games.fish.view import View

GAME = Fish(rows=2, columns=5, fish=2)
RED = {"color": "red", "score": 0, "places": [[0, 0]]}
WHITE = {"color": "white", "score": 0, "places": []}
BROWN = {"color": "brown", "score": 0, "places": []}
BOARD = [[2, 2, 2, 2, 2], [2, 2, 2, 2, 2]]
FULL = [[3] * 7 for _ in range(5)]


def wire(calls: Any) -> list[str]:
    return [msgspec.json.encode(call).decode() for call in calls]


def call(text: str) -> Call:
    return msgspec.json.decode(text, type=Call)


def spoken(callee: FishCallee, state: State) -> list[str]:
    return wire(callee.calls(TakeTurn(View(state.order[0], state))))


def playing(*penguins: Any) -> State:
    return state_of(FULL, penguins, each=1)


def test_the_greeting_names_the_own_colour_and_then_the_others_in_their_order() -> None:
    state = GAME.deal(4, bytes(32))
    start = Start(1, ("a", "b", "c", "d"), View(1, state))

    assert wire(FishCallee(GAME, "b").calls(start)) == [
        '["playing-as",["white"]]',
        '["playing-with",[["red","brown","black"]]]',
    ]


def test_playing_with_names_players_that_failed_at_the_greeting() -> None:
    state = GAME.eject(GAME.deal(3, bytes(32)), 0, Moment.GREETING)

    assert wire(FishCallee(GAME, "c").calls(Start(2, ("a", "b", "c"), View(2, state)))) == [
        '["playing-as",["brown"]]',
        '["playing-with",[["red","white"]]]',
    ]


def test_a_state_begins_with_the_called_player_and_has_no_more_fields() -> None:
    state = GAME.apply(GAME.deal(3, bytes(32)), Place((0, 0)))

    assert spoken(FishCallee(GAME, "b"), state) == [
        '["setup",[{"players":[{"color":"white","score":0,"places":[]},{"color":"brown","score":0,"places":[]},'
        '{"color":"red","score":0,"places":[[0,0]]}],"board":[[2,2,2,2,2],[2,2,2,2,2]]}]]'
    ]


def test_the_first_take_turn_has_no_moves_and_the_next_those_of_the_others() -> None:
    game, callee = Fish(rows=5, columns=7, fish=3), FishCallee(GAME, "a")
    first = playing([(0, 0)], [(0, 2)], [(0, 4)])
    then = game.apply(game.apply(first, Move((0, 0), (2, 0))), Move((0, 2), (4, 2)))
    now = game.apply(then, Move((0, 4), (2, 4)))

    board = "[[3,3,3,3,3,3,3],[3,3,3,3,3,3,3],[3,3,3,3,3,3,3],[3,3,3,3,3,3,3],[3,3,3,3,3,3,3]]"
    assert spoken(callee, first) == [
        '["take-turn",[{"players":[{"color":"red","score":0,"places":[[0,0]]},'
        '{"color":"white","score":0,"places":[[0,2]]},{"color":"brown","score":0,"places":[[0,4]]}],'
        f'"board":{board}}},[]]]'
    ]
    assert spoken(callee, now) == [
        '["take-turn",[{"players":[{"color":"red","score":3,"places":[[2,0]]},'
        '{"color":"white","score":3,"places":[[4,2]]},{"color":"brown","score":3,"places":[[2,4]]}],'
        '"board":[[0,3,0,3,0,3,3],[3,3,3,3,3,3,3],[3,3,3,3,3,3,3],[3,3,3,3,3,3,3],[3,3,3,3,3,3,3]]},'
        "[[[0,2],[4,2]],[[0,4],[2,4]]]]]"
    ]


def moves_heard(*states: State) -> Any:
    callee = FishCallee(GAME, "a")
    [last] = [callee.calls(TakeTurn(View(0, state))) for state in states][-1]
    return last.arguments[1]


def test_after_an_ejection_take_turn_lists_no_moves() -> None:
    game, first = Fish(rows=5, columns=7, fish=3), playing([(0, 0)], [(0, 2)], [(0, 4)])
    then = game.apply(game.apply(first, Move((0, 0), (2, 0))), Move((0, 2), (4, 2)))
    now = game.eject(then, 2, Moment.TURN)
    later = game.apply(game.apply(now, Move((2, 0), (4, 0))), Move((4, 2), (2, 2)))

    assert moves_heard(first, now) == []
    assert moves_heard(first, now, later) == [[[4, 2], [2, 2]]]


def test_after_a_skip_take_turn_lists_no_moves() -> None:
    rows = [[1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 1, 1, 0]]
    game, first = Fish(rows=5, columns=5), state_of(rows, [[(0, 0)], [(4, 2)], [(0, 3)]], each=1)
    then = game.apply(first, Move((0, 0), (2, 0)))
    assert then.order == (2, 0, 1)  # whoever is second cannot move

    assert moves_heard(first, game.apply(then, Move((0, 3), (2, 3)))) == []


def test_nothing_is_said_of_news_or_of_the_end_of_a_match() -> None:
    callee = FishCallee(GAME, "a")

    assert callee.calls(End(Result((frozenset({0}),), ()))) == ()
    assert callee.calls(Tell(None)) == ()


def test_replies_become_actions() -> None:
    callee = FishCallee(GAME, "a")

    spoken(callee, GAME.deal(3, bytes(32)))
    assert callee.action([1, 2]) == {"type": "place", "at": [1, 2]}

    spoken(callee, playing([(0, 0)], [(0, 2)]))
    assert callee.action([[0, 0], [2, 0]]) == {"type": "move", "from": [0, 0], "to": [2, 0]}


NO_POSITIONS: list[Any] = [
    "void", False, None, 1, [], [1], [1, 2, 3], [1.0, 2], [True, 2], ["1", 2], [[1, 2], [1, 2]],
    [2**31, 0], {"row": 1, "column": 2}, [None, 0],
]  # fmt: skip


@pytest.mark.parametrize("reply", NO_POSITIONS)
def test_an_invalid_position_is_no_placement(reply: Any) -> None:
    callee = FishCallee(GAME, "a")
    spoken(callee, GAME.deal(3, bytes(32)))

    with pytest.raises(BadRequest, match="not a position of Fish"):
        callee.action(reply)


@pytest.mark.parametrize(
    "reply", [False, "skip", [0, 0], [[0, 0]], [[0, 0], [2, 0.0]], [[0, 0], [2, 0], []], [[0, 0], [10**20, 0]]]
)
def test_an_invalid_pair_of_positions_is_no_move(reply: Any) -> None:
    callee = FishCallee(GAME, "a")
    spoken(callee, playing([(0, 0)], [(0, 2)]))

    with pytest.raises(BadRequest, match="not a move of Fish"):
        callee.action(reply)


def greeted(colour: str = "white", others: str = '["red","brown"]') -> FishCaller:
    caller = FishCaller("me")
    for text in ('["start",[true]]', f'["playing-as",["{colour}"]]', f'["playing-with",[{others}]]'):
        assert list(caller.messages(call(text))) == []
    return caller


SETUP = Call("setup", ({"players": [WHITE, BROWN, RED], "board": BOARD},))


def test_our_player_is_greeted_with_the_first_state() -> None:
    caller = greeted()
    start, turn = caller.messages(SETUP)

    assert isinstance(start, Start)
    assert isinstance(turn, TakeTurn)
    assert (start.seat, start.names) == (1, ("red", "white", "brown"))
    assert start.view == turn.view
    state = turn.view.state
    assert (state.stage, state.order, state.each) == (PLACING, (1, 2, 0), 3)
    assert (state.colours, state.penguins) == (("red", "white", "brown"), ((0,), (), ()))
    assert caller.game == Fish(rows=2, columns=5, holes="random")
    assert caller.reply(Place((1, 1))) == (1, 1)
    assert caller.reply({"type": "place", "at": [1, 1]}) == (1, 1)


def test_then_it_takes_turns_and_keeps_what_it_saw_of_those_who_left() -> None:
    caller = greeted()
    caller.messages(SETUP)
    players = [{"color": "white", "score": 2, "places": [[0, 2]]}, {"color": "red", "score": 4, "places": [[0, 0]]}]
    [turn] = caller.messages(Call("take-turn", ({"players": players, "board": BOARD}, ["skip", [[0, 0], [1, 0]]])))
    [later] = caller.messages(Call("take-turn", ({"players": players[:1], "board": BOARD}, [])))

    assert isinstance(turn, TakeTurn)
    assert isinstance(later, TakeTurn)
    assert (turn.view.seat, turn.view.state.stage, turn.view.state.order) == (1, PLAYING, (1, 0))
    assert (later.view.state.order, later.view.state.scores) == ((1,), (4, 2, 0))
    assert caller.reply(Move((0, 2), (1, 2))) == [(0, 2), (1, 2)]


def test_a_new_match_begins_with_a_new_colour() -> None:
    caller = greeted()
    caller.messages(SETUP)
    caller.messages(call('["playing-as",["red"]]'))
    caller.messages(call('["playing-with",[["white"]]]'))
    start, _ = caller.messages(Call("setup", ({"players": [RED, WHITE], "board": [[1, 1, 1]] * 3},)))

    assert isinstance(start, Start)
    assert (start.seat, start.names) == (0, ("red", "white"))
    assert caller.game == Fish(rows=3, columns=3, holes="random")


def test_a_state_of_a_new_match_is_refused_before_its_others_are_named() -> None:
    caller = greeted()
    caller.messages(SETUP)
    caller.messages(call('["playing-as",["white"]]'))

    with pytest.raises(BadRequest, match="not a state of Fish for white"):
        caller.messages(SETUP)


def test_a_new_match_forgets_the_scores_of_the_one_before() -> None:
    caller = greeted()
    players = [{**WHITE, "score": 2, "places": [[0, 2]]}, {**RED, "score": 4}]
    caller.messages(Call("take-turn", ({"players": players, "board": BOARD}, [])))
    caller.messages(call('["playing-as",["white"]]'))
    caller.messages(call('["playing-with",[["red","brown"]]]'))
    turn = caller.messages(Call("setup", ({"players": [WHITE], "board": BOARD},)))[-1]

    assert isinstance(turn, TakeTurn)
    assert turn.view.state.scores == (0, 0, 0)


def test_the_end_says_whether_it_has_won() -> None:
    caller = greeted()
    assert list(caller.messages(call('["end",[true]]'))) == []  # of what?
    caller.messages(SETUP)

    assert list(caller.messages(call('["end",[true]]'))) == [End(Result((frozenset({1}),), ()))]
    assert list(caller.messages(call('["end",[false]]'))) == [End(Result((frozenset(), frozenset({1})), ()))]


@pytest.mark.parametrize(
    "refused",
    [
        Call("setup", ()),
        Call("setup", ({"players": [RED, WHITE], "board": BOARD},)),  # we are white
        Call("setup", ({"players": [], "board": BOARD},)),
        Call("setup", ({"players": [WHITE, WHITE], "board": BOARD},)),
        Call("setup", ({"players": [WHITE, {**RED, "color": "black"}], "board": BOARD},)),  # who is that?
        Call("setup", ({"players": [WHITE, {**RED, "places": [[9, 9]]}], "board": BOARD},)),
        Call("setup", ({"players": [WHITE], "board": BOARD, "more": 1},)),
        Call("take-turn", ({"players": [WHITE], "board": BOARD},)),
        Call("take-turn", ({"players": [WHITE], "board": BOARD}, [])),  # with what penguin?
        Call("playing-as", ("green",)),
        Call("playing-with", ("red", "brown")),
        Call("end", (1,)),
        Call("win", (True,)),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(refused: Call) -> None:
    with pytest.raises(BadRequest):
        greeted().messages(refused)


def test_before_anything_is_shown_the_board_is_likely_to_be_the_usual_one() -> None:
    assert greeted().game == Fish(rows=5, columns=5, holes="random")


def test_the_board_of_the_next_match_is_likely_to_be_that_of_the_last_one() -> None:
    caller = greeted()
    caller.messages(SETUP)
    last = caller.game
    caller.messages(Call("playing-as", ("white",)))

    assert caller.game == last != FishCaller("me").game


def test_without_a_colour_nothing_makes_sense() -> None:
    with pytest.raises(BadRequest, match="a player without colour"):
        FishCaller("me").messages(SETUP)


def test_the_calls_of_a_tournament_and_the_valid_names() -> None:
    assert wire([DIALECT.opening]) == ['["start",[true]]']
    assert DIALECT.closing == "end"
    assert all(re.search(DIALECT.name or "", name) for name in ("a", "Zebra", "abcdefghijkl"))
    assert not any(re.search(DIALECT.name or "", name) for name in ("", "a1", "a b", "é", "abcdefghijklm", "abc\n"))


def test_a_server_may_have_more_penguins_placed_than_our_rules_would() -> None:
    """As the course's own does, if somebody fails at the greeting; we go on placing as long as we are asked to."""
    white = {**WHITE, "places": [[0, 1], [0, 2], [0, 3]]}
    turn = greeted().messages(Call("setup", ({"players": [white, RED], "board": BOARD},)))[-1]

    assert isinstance(turn, TakeTurn)
    state = turn.view.state
    assert (state.stage, state.each) == (PLACING, 4)
    assert GAME.unpack(GAME.pack(turn.view)) == turn.view


def test_a_player_that_was_shown_more_penguins_of_another_expects_as_many() -> None:
    red = {**RED, "places": [[0, 0], [0, 1], [0, 2], [0, 3]]}
    turn = greeted().messages(Call("setup", ({"players": [WHITE, red], "board": BOARD},)))[-1]

    assert isinstance(turn, TakeTurn)
    assert turn.view.state.each == 4
