"""Test the calls of the course's Fish, word for word, with a player of the course and with one of ours."""

from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Result
from fairplay.core.game import Moment
from fairplay.core.messages import End, Start, TakeTurn
from fairplay.course.dialects.dialect import Call
from fairplay.course.dialects.fish import FishCallee, FishCaller
from fairplay.games.fish.actions import Move, Place
from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import PLACING, PLAYING, State, state_of
from fairplay.games.fish.view import View
from tests.course.dialects.relay import hear, wire

GAME = Fish(rows=2, columns=5, fish=2)
LARGE = Fish(rows=5, columns=7, fish=3)
RED: dict[str, Any] = {"color": "red", "score": 0, "places": [[0, 0]]}
WHITE: dict[str, Any] = {"color": "white", "score": 0, "places": []}
BROWN: dict[str, Any] = {"color": "brown", "score": 0, "places": []}
BOARD = [[2, 2, 2, 2, 2], [2, 2, 2, 2, 2]]


def playing(*penguins: Any) -> State:
    return state_of([[3] * 7 for _ in range(5)], penguins, each=1)


def spoken(callee: FishCallee, *states: State) -> list[str]:
    """The calls of the last of these turns."""
    return [wire(callee.calls(TakeTurn(View(state.order[0], state)))) for state in states][-1]


# Calls of our referee.


def test_the_greeting_names_the_own_colour_and_then_the_others_in_their_order_also_one_that_failed() -> None:
    state = GAME.eject(GAME.deal(3, bytes(32)), 0, Moment.GREETING)

    assert wire(FishCallee(GAME, "b").calls(Start(1, ("a", "b", "c"), View(1, state)))) == [
        '["playing-as",["white"]]',
        '["playing-with",[["red","brown"]]]',
    ]


def test_a_state_begins_with_the_called_player_and_has_no_more_fields() -> None:
    state = GAME.apply(GAME.deal(3, bytes(32)), Place((0, 0)))

    assert spoken(FishCallee(GAME, "b"), state) == [
        '["setup",[{"players":[{"color":"white","score":0,"places":[]},{"color":"brown","score":0,"places":[]},'
        '{"color":"red","score":0,"places":[[0,0]]}],"board":[[2,2,2,2,2],[2,2,2,2,2]]}]]'
    ]


def test_the_first_take_turn_has_no_moves_and_the_next_those_of_the_others() -> None:
    first = playing([(0, 0)], [(0, 2)], [(0, 4)])
    then = LARGE.apply(LARGE.apply(first, Move((0, 0), (2, 0))), Move((0, 2), (4, 2)))
    now = LARGE.apply(then, Move((0, 4), (2, 4)))

    assert spoken(FishCallee(GAME, "a"), first)[0].endswith("[3,3,3,3,3,3,3]]},[]]]")
    assert spoken(FishCallee(GAME, "a"), first, now) == [
        '["take-turn",[{"players":[{"color":"red","score":3,"places":[[2,0]]},'
        '{"color":"white","score":3,"places":[[4,2]]},{"color":"brown","score":3,"places":[[2,4]]}],'
        '"board":[[0,3,0,3,0,3,3],[3,3,3,3,3,3,3],[3,3,3,3,3,3,3],[3,3,3,3,3,3,3],[3,3,3,3,3,3,3]]},'
        "[[[0,2],[4,2]],[[0,4],[2,4]]]]]"
    ]


def test_after_a_skip_take_turn_lists_no_moves() -> None:
    rows = [[1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 1, 1, 0]]
    game, first = Fish(rows=5, columns=5), state_of(rows, [[(0, 0)], [(4, 2)], [(0, 3)]], each=1)
    then = game.apply(first, Move((0, 0), (2, 0)))
    assert then.order == (2, 0, 1)  # whoever is second cannot move

    assert spoken(FishCallee(GAME, "a"), first, game.apply(then, Move((0, 3), (2, 3))))[0].endswith("},[]]]")


# Replies to our referee.

PLACING_STATE, PLAYING_STATE = GAME.deal(3, bytes(32)), playing([(0, 0)], [(0, 2)])


@pytest.mark.parametrize(
    ("state", "reply", "action"),
    [
        (PLACING_STATE, [1, 2], {"type": "place", "at": [1, 2]}),
        (PLAYING_STATE, [[0, 0], [2, 0]], {"type": "move", "from": [0, 0], "to": [2, 0]}),
    ],
)
def test_replies_become_actions(state: State, reply: Any, action: Any) -> None:
    callee = FishCallee(GAME, "a")
    spoken(callee, state)

    assert callee.action(reply) == action


NO_POSITIONS: list[Any] = [
    "void", False, None, 1, [], [1], [1, 2, 3], [[1, 2], [1, 2]], [2**31, 0], [1.0, 2], [True, 2], ["1", 2],
    {"row": 1, "column": 2}, [None, 0],
]  # fmt: skip
NO_MOVES: list[Any] = [False, "skip", [0, 0], [[0, 0]], [[0, 0], [2, 0.0]], [[0, 0], [2, 0], []], [[0, 0], [10**20, 0]]]


@pytest.mark.parametrize(
    ("state", "kind", "reply"),
    [
        *((PLACING_STATE, "position", reply) for reply in NO_POSITIONS),
        *((PLAYING_STATE, "move", reply) for reply in NO_MOVES),
    ],
)
def test_an_invalid_reply_is_refused(state: State, kind: str, reply: Any) -> None:
    callee = FishCallee(GAME, "a")
    spoken(callee, state)

    with pytest.raises(BadRequest, match=f"not a {kind} of Fish"):
        callee.action(reply)


# Calls to our player.


def setup(*players: dict[str, Any], board: Any = BOARD, **more: Any) -> Call:
    return Call("setup", ({"players": [*players], "board": board, **more},))


def take_turn(*players: dict[str, Any], moves: Any = ()) -> Call:
    return Call("take-turn", ({"players": [*players], "board": BOARD}, [*moves]))


SETUP = setup(WHITE, BROWN, RED)


def greeted() -> FishCaller:
    caller = FishCaller("me")
    for text in ('["start",[true]]', '["playing-as",["white"]]', '["playing-with",[["red","brown"]]]'):
        assert hear(caller, text) == []
    return caller


def test_then_it_takes_turns_and_keeps_what_it_saw_of_those_who_left() -> None:
    caller = greeted()
    white, red = {**WHITE, "score": 2, "places": [[0, 2]]}, {**RED, "score": 4}
    [turn] = hear(caller, SETUP, take_turn(white, red, moves=["skip", [[0, 0], [1, 0]]]))
    [later] = hear(caller, take_turn(white))

    assert (turn.view.seat, turn.view.state.stage, turn.view.state.order) == (1, PLAYING, (1, 0))
    assert (later.view.state.order, later.view.state.scores) == ((1,), (4, 2, 0))
    assert caller.reply(Move((0, 2), (1, 2))) == [(0, 2), (1, 2)]


def test_a_new_match_begins_with_a_new_colour_and_may_have_another_board() -> None:
    caller = greeted()
    hear(caller, SETUP, '["playing-as",["red"]]')
    assert caller.game == Fish(rows=2, columns=5, holes="random")  # likely that of the last match

    start, _ = hear(caller, '["playing-with",[["white"]]]', setup(RED, WHITE, board=[[1, 1, 1]] * 3))
    assert (start.seat, start.names) == (0, ("red", "white"))
    assert caller.game == Fish(rows=3, columns=3, holes="random")


def test_a_state_of_a_new_match_is_refused_before_its_others_are_named() -> None:
    with pytest.raises(BadRequest, match="not a state of Fish for white"):
        hear(greeted(), SETUP, '["playing-as",["white"]]', SETUP)


def test_a_new_match_forgets_the_scores_of_the_one_before() -> None:
    greeting = '["playing-as",["white"]]', '["playing-with",[["red","brown"]]]'
    first = take_turn({**WHITE, "score": 2, "places": [[0, 2]]}, {**RED, "score": 4})

    assert hear(greeted(), first, *greeting, setup(WHITE))[-1].view.state.scores == (0, 0, 0)


def test_the_end_says_whether_it_has_won() -> None:
    caller = greeted()
    assert hear(caller, '["end",[true]]') == []  # of what?

    assert hear(caller, SETUP, '["end",[true]]') == [End(Result((frozenset({1}),), ()))]
    assert hear(caller, '["end",[false]]') == [End(Result((frozenset(), frozenset({1})), ()))]


@pytest.mark.parametrize(
    "refused",
    [
        Call("setup", ()),
        setup(RED, WHITE),  # we are white
        setup(),
        setup(WHITE, WHITE),
        setup(WHITE, {**RED, "color": "black"}),  # who is that?
        setup(WHITE, {**RED, "places": [[9, 9]]}),
        setup(WHITE, more=1),
        Call("take-turn", ({"players": [WHITE], "board": BOARD},)),
        take_turn(WHITE),  # with what penguin?
        Call("playing-as", ("green",)),
        Call("playing-with", ("red", "brown")),
        Call("end", (1,)),
        Call("win", (True,)),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(refused: Call) -> None:
    with pytest.raises(BadRequest):
        greeted().messages(refused)


def test_without_a_colour_nothing_makes_sense() -> None:
    with pytest.raises(BadRequest, match="a player without colour"):
        FishCaller("me").messages(SETUP)


def test_before_anything_is_shown_the_board_is_likely_to_be_the_usual_one() -> None:
    assert greeted().game == Fish(rows=5, columns=5, holes="random")


def test_a_server_may_have_more_penguins_placed_than_our_rules_would() -> None:
    """As the course's own does, if somebody fails at the greeting; we go on placing as long as we are asked to."""
    turn = hear(greeted(), setup({**WHITE, "places": [[0, 1], [0, 2], [0, 3]]}, RED))[-1]

    assert (turn.view.state.stage, turn.view.state.each) == (PLACING, 4)
    assert GAME.unpack(GAME.pack(turn.view)) == turn.view


def test_a_player_that_was_shown_more_penguins_of_another_expects_as_many() -> None:
    turn = hear(greeted(), setup(WHITE, {**RED, "places": [[0, 0], [0, 1], [0, 2], [0, 3]]}))[-1]

    assert turn.view.state.each == 4
