"""Test the calls of the course's Tsuro, word for word, with a player of the course and with one of ours."""

from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Result
from fairplay.core.game import Moment
from fairplay.core.messages import End, Start, TakeTurn, Tell
from fairplay.course.dialects.dialect import Call
from fairplay.course.dialects.tsuro import DIALECT, TsuroCallee, TsuroCaller
from fairplay.games.tsuro.actions import Action, Lay, Place
from fairplay.games.tsuro.board import OUT
from fairplay.games.tsuro.game import Tsuro
from fairplay.games.tsuro.state import PLACING, PLAYING, STILL_IN, State, encode_ejection_round
from fairplay.games.tsuro.view import View

GAME = Tsuro(tiles="cycle")
PLACES: tuple[Action, ...] = (Place(2, 90, "E", (3, 0)), Place(5, 90, "A", (9, 9)), Place(6, 0, "D", (0, 4)))


def wire(calls: Any) -> list[str]:
    return [msgspec.json.encode(call).decode() for call in calls]


def call(text: str) -> Call:
    return msgspec.json.decode(text, type=Call)


def after(*actions: Action) -> State:
    state = GAME.deal(3, bytes(32))
    for action in actions:
        state = GAME.apply(state, action)
    return state


def spoken(callee: TsuroCallee, state: State) -> list[str]:
    return wire(callee.calls(TakeTurn(GAME.view(state, GAME.turn(state)))))


def test_the_greeting_names_the_own_colour_and_then_the_others() -> None:
    state = GAME.eject(GAME.deal(4, bytes(32)), 0, Moment.GREETING)  # who is still named

    assert wire(TsuroCallee(GAME, "").calls(Start(2, ("a", "b", "c", "d"), GAME.view(state, 2)))) == [
        '["playing-as",["red"]]',
        '["others",["white","black","green"]]',
    ]


def test_the_first_to_place_sees_an_empty_board_and_three_tiles() -> None:
    assert spoken(TsuroCallee(GAME, ""), after()) == ['["initial",[[],0,1,2]]']


def test_placements_come_newest_first_with_the_fewest_degrees() -> None:
    assert spoken(TsuroCallee(GAME, ""), after(*PLACES[:2])) == [
        '["initial",[[[[5,90],"black","A",9,9],[[2,0],"white","E",3,0]],6,7,8]]'
    ]


def test_a_turn_shows_the_board_row_by_row_and_two_tiles() -> None:
    state = after(*PLACES)
    assert spoken(TsuroCallee(GAME, ""), state) == [
        '["take-turn",[[[[2,0],"white","E",3,0],[[6,0],"red","D",0,4],[[5,90],"black","A",9,9]],9,10]]'
    ]
    moved = GAME.apply(state, Lay(9, 0))  # tile 9 leads from B to E, and a tile is left behind
    assert spoken(TsuroCallee(GAME, ""), moved) == [
        '["take-turn",[[[[2,0],3,0],[[9,0],"white","E",3,1],[[6,0],"red","D",0,4],[[5,90],"black","A",9,9]],11,12]]'
    ]


def test_a_tile_comes_once_for_each_avatar_on_it_in_the_order_of_the_colours() -> None:
    state = after(*PLACES)
    white = state.table.avatars[0]
    together = msgspec.structs.replace(state.table, avatars=(white, OUT, white - 1))
    view = View(2, msgspec.structs.replace(together, waiting=(2,)), (1, 2))

    assert wire(TsuroCallee(GAME, "").calls(TakeTurn(view))) == [
        '["take-turn",[[[[2,0],"white","E",3,0],[[2,0],"red","D",3,0],[[6,0],0,4],[[5,90],9,9]],1,2]]'
    ]


def test_nothing_is_said_of_news_or_of_the_end_of_a_match() -> None:
    assert TsuroCallee(GAME, "").calls(End(Result((frozenset({0}),), ()))) == ()
    assert TsuroCallee(GAME, "").calls(Tell(None)) == ()


def test_another_board_is_not_the_course_s() -> None:
    with pytest.raises(BadRequest, match="10 x 10"):
        TsuroCallee(Tsuro(size=9), "")


def test_replies_become_actions() -> None:
    callee = TsuroCallee(GAME, "")

    spoken(callee, after())
    placed = {"type": "place", "tile": 2, "degrees": 90, "port": "E", "at": [3, 0]}
    assert callee.action([[2, 90], "E", 3, 0]) == placed

    spoken(callee, after(*PLACES))
    assert callee.action([9, 270]) == {"type": "lay", "tile": 9, "degrees": 270}


@pytest.mark.parametrize(
    "reply",
    [
        "void", None, [2, 90], [[2, 90], "E", 3], [[2, 90], "E", 3, 0, 0], [[2, 45], "E", 3, 0], [[35, 90], "E", 3, 0],
        [[2, 90], "I", 3, 0], [[2, 90], "e", 3, 0],
        [[2, 90], "E", 10, 0], [[2, 90], "E", -1, 0], [[2, 90], "E", 3.0, 0],
        [[2, 90], "E", True, 0], [[2, 90.0], "E", 3, 0], [[2, 90], 4, 3, 0], [[2, 90], "E", [3, 0]],
    ],
)  # fmt: skip
def test_an_invalid_first_tile_is_refused(reply: Any) -> None:
    callee = TsuroCallee(GAME, "")
    spoken(callee, after())

    with pytest.raises(BadRequest, match="not a first tile of Tsuro"):
        callee.action(reply)


@pytest.mark.parametrize(
    "reply",
    [9, [9], [9, 0, 0], [9, False], [9.0, 0], [9, 0.0], ["9", 0], [-1, 0], [9, 360], [10**400, 0], [9, 10**400],
     [[2, 90], "E", 3, 0], {"tile": 9, "degrees": 0}],
    ids=lambda reply: str(reply)[:20],
)  # fmt: skip
def test_an_invalid_tile_is_refused(reply: Any) -> None:
    callee = TsuroCallee(GAME, "")
    spoken(callee, after(*PLACES))

    with pytest.raises(BadRequest, match="not a tile of Tsuro"):
        callee.action(reply)


def greeted() -> TsuroCaller:
    caller = TsuroCaller("")
    assert list(caller.messages(call('["playing-as",["black"]]'))) == []
    assert list(caller.messages(call('["others",["white","red"]]'))) == []
    return caller


INITIAL = call('["initial",[[[[2,0],"white","E",3,0]],3,4,5]]')
TURN = call('["take-turn",[[[[2,0],"white","E",3,0],[[6,0],"red","D",0,4],[[5,90],"black","A",9,9]],9,10]]')


def test_our_player_is_greeted_when_it_is_to_place() -> None:
    caller = greeted()
    start, turn = caller.messages(INITIAL)

    assert isinstance(start, Start)
    assert isinstance(turn, TakeTurn)
    assert (start.seat, start.names) == (1, ("white", "black", "red"))
    assert start.view == turn.view
    placed = GAME.view(after(PLACES[0]), 1)
    assert turn.view == placed
    assert caller.game == Tsuro()
    assert caller.reply(PLACES[1]) == [[5, 90], "A", 9, 9]
    assert caller.reply({"type": "lay", "tile": 9, "degrees": 90}) == [9, 90]


def test_a_player_that_did_not_place_before_us_is_out() -> None:
    turn = greeted().messages(call('["initial",[[],3,4,5]]'))[-1]

    assert isinstance(turn, TakeTurn)
    assert (turn.view.table.stage, turn.view.table.alive, turn.view.table.waiting) == (PLACING, (1, 2), (1, 2))
    assert turn.view.table.fell == (encode_ejection_round(0), STILL_IN, STILL_IN)


def test_rounds_are_counted_and_who_is_missed_has_fallen() -> None:
    caller = greeted()
    caller.messages(INITIAL)
    [turn] = caller.messages(TURN)
    [later] = caller.messages(call('["take-turn",[[[[5,90],"black","A",9,9],[[6,0],"red","D",0,4],[[2,0],3,0]],9,10]]'))

    assert isinstance(turn, TakeTurn)
    assert isinstance(later, TakeTurn)
    table = turn.view.table
    assert (turn.view.seat, turn.view.dealt, table.stage) == (1, (9, 10), PLAYING)
    assert (table.round, table.waiting, table.fell) == (1, (1, 2), (STILL_IN,) * 3)
    assert (later.view.table.round, later.view.table.waiting, later.view.table.fell) == (2, (1, 2), (2, 0, 0))
    assert later.view.table.board == table.board


def test_the_end_of_the_tournament_says_whether_it_has_won() -> None:
    caller = greeted()
    assert list(caller.messages(call('["end-of-tournament",[true]]'))) == []  # without a match
    caller.messages(INITIAL)

    assert list(caller.messages(call('["end-of-tournament",[true]]'))) == [End(Result((frozenset({1}),), ()))]
    lost = End(Result((frozenset(), frozenset({1})), ()))
    assert list(caller.messages(call('["end-of-tournament",[false]]'))) == [lost]


@pytest.mark.parametrize(
    "text",
    [
        '["initial",[[],3,4]]',
        '["initial",[[],3,4,35]]',
        '["initial",[[[[5,90],"black","A",9,9]],3,4,5]]',  # that is us
        '["initial",[[[[5,90],"red","E",9,9]],3,4,5]]',  # which does not face the board
        '["take-turn",[[],3,4]]',  # where are we?
        '["take-turn",[[[[5,90],"black","A",9,9]],3]]',
        '["take-turn",[[[[5,90],"black","A",9,9]],3,true]]',
        '["take-turn",[{},3,4]]',
        '["take-turn",[]]',
        '["playing-as",["brown"]]',
        '["end-of-tournament",["void"]]',
        '["start",[true]]',
    ],
)
def test_a_call_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        greeted().messages(call(text))


@pytest.mark.parametrize(
    ("others", "remark"),
    [
        ('["black"]', 'others ["black"] does not fit black'),  # each player is told its own colour
        ("[]", "others [] does not fit black"),
        ('["white","white"]', 'others ["white","white"] does not fit black'),
        ('[["white","red"]]', "not colours of Tsuro: "),
        ('["brown"]', "not colours of Tsuro: "),
    ],
)
def test_wrong_others_cause_a_warning_and_the_state_tells_the_colours(others: str, remark: str) -> None:
    caller = TsuroCaller("")
    caller.messages(call('["playing-as",["black"]]'))
    assert caller.warning == ""
    caller.messages(call(f'["others",{others}]'))
    assert caller.warning.startswith(remark)

    start, turn = caller.messages(INITIAL)
    [later] = caller.messages(TURN)

    assert isinstance(start, Start) and isinstance(turn, TakeTurn) and isinstance(later, TakeTurn)
    assert caller.warning == ""
    assert start.names == ("white", "black", "red", "green", "blue")  # who comes after us is not known yet
    assert (start.seat, turn.view.seat, later.view.seat) == (1, 1, 1)
    assert (turn.view.table.alive, later.view.table.alive) == ((0, 1, 2, 3, 4), (0, 1, 2))
    assert caller.reply({"type": "lay", "tile": 9, "degrees": 90}) == [9, 90]


def test_without_others_the_colours_are_taken_from_the_state() -> None:
    caller = TsuroCaller("")
    caller.messages(call('["playing-as",["black"]]'))
    start, _ = caller.messages(INITIAL)

    assert isinstance(start, Start)
    assert (start.seat, len(start.names)) == (1, 5)
    assert caller.warning == "there was no call of others"


def test_a_colour_that_others_did_not_name_takes_part_once_the_state_has_it() -> None:
    caller = greeted()
    caller.messages(INITIAL)
    [turn] = caller.messages(
        call('["take-turn",[[[[2,0],"white","E",3,0],[[6,0],"blue","D",0,4],[[5,90],"black","A",9,9]],9,10]]')
    )
    remark = caller.warning
    [later] = caller.messages(
        call('["take-turn",[[[[5,90],"black","A",9,9],[[6,0],"blue","D",0,4],[[2,0],3,0]],9,10]]')
    )

    assert isinstance(turn, TakeTurn) and isinstance(later, TakeTurn)
    assert remark == "others did not name blue, who is in the state"
    assert (turn.view.seat, turn.view.table.alive, turn.view.table.fell) == (1, (0, 1, 4), (0, 0, 1, 1, 0))
    assert (later.view.table.fell, caller.warning) == ((2, 0, 1, 1, 0), "")
    assert GAME.unpack(GAME.pack(later.view)) == later.view


def test_a_new_match_forgets_the_others_of_the_one_before() -> None:
    caller = greeted()
    caller.messages(INITIAL)
    caller.messages(TURN)
    caller.messages(call('["playing-as",["red"]]'))
    caller.messages(call('["others",["white","black"]]'))
    start, turn = caller.messages(INITIAL)

    assert isinstance(start, Start) and isinstance(turn, TakeTurn)
    assert (start.seat, start.names) == (2, ("white", "black", "red"))
    assert (turn.view.table.round, turn.view.table.alive) == (0, (0, 2))


def test_a_new_match_forgets_the_fallen_of_the_one_before() -> None:
    caller = greeted()
    caller.messages(INITIAL)
    caller.messages(call('["take-turn",[[[[5,90],"black","A",9,9],[[2,0],3,0]],9,10]]'))
    caller.messages(call('["playing-as",["black"]]'))
    caller.messages(call('["others",["white","red"]]'))
    turn = caller.messages(INITIAL)[-1]

    assert isinstance(turn, TakeTurn)
    assert turn.view.table.fell == (STILL_IN,) * 3


def test_without_a_colour_nothing_makes_sense() -> None:
    with pytest.raises(BadRequest, match="a player without colour"):
        TsuroCaller("").messages(INITIAL)


def test_no_name_is_sent_and_the_tournament_says_only_its_end() -> None:
    assert (DIALECT.name, DIALECT.opening, DIALECT.closing) == (None, None, "end-of-tournament")


def test_the_placement_of_a_player_that_left_is_still_listed() -> None:
    state = GAME.eject(after(*PLACES[:2]), 0, Moment.GREETING)  # as after an interruption

    assert spoken(TsuroCallee(GAME, ""), state) == [
        '["initial",[[[[5,90],"black","A",9,9],[[2,0],"white","E",3,0]],6,7,8]]'
    ]
