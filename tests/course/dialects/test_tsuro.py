"""Test the calls of the course's Tsuro, word for word, with a player of the course and with one of ours."""

from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Result
from fairplay.core.game import Moment
from fairplay.core.messages import End, Start, TakeTurn
from fairplay.course.dialects.tsuro import TsuroCallee, TsuroCaller
from fairplay.games.tsuro.actions import Action, Lay, Place
from fairplay.games.tsuro.board import OUT
from fairplay.games.tsuro.game import Tsuro
from fairplay.games.tsuro.state import PLACING, PLAYING, STILL_IN, State, encode_ejection_round
from fairplay.games.tsuro.view import View
from tests.course.dialects.relay import hear, wire

GAME = Tsuro(tiles="cycle")
PLACES: tuple[Action, ...] = (Place(2, 90, "E", (3, 0)), Place(5, 90, "A", (9, 9)), Place(6, 0, "D", (0, 4)))


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


TWO_PLACED = '["initial",[[[[5,90],"black","A",9,9],[[2,0],"white","E",3,0]],6,7,8]]'


@pytest.mark.parametrize(
    ("state", "called"),
    [
        (after(), '["initial",[[],0,1,2]]'),
        (after(*PLACES[:2]), TWO_PLACED),  # newest first, with the fewest degrees
        (GAME.eject(after(*PLACES[:2]), 0, Moment.GREETING), TWO_PLACED),  # as after an interruption
        (
            after(*PLACES),
            '["take-turn",[[[[2,0],"white","E",3,0],[[6,0],"red","D",0,4],[[5,90],"black","A",9,9]],9,10]]',
        ),
        (
            after(*PLACES, Lay(9, 0)),  # tile 9 leads from B to E, and a tile is left behind
            '["take-turn",[[[[2,0],3,0],[[9,0],"white","E",3,1],[[6,0],"red","D",0,4],[[5,90],"black","A",9,9]],11,12]]',
        ),
    ],
    ids=["the first to place", "the third to place", "one has left", "the first turn", "the second turn"],
)
def test_a_turn_shows_the_placements_and_then_the_board_row_by_row(state: State, called: str) -> None:
    assert spoken(TsuroCallee(GAME, ""), state) == [called]


def test_a_tile_comes_once_for_each_avatar_on_it_in_the_order_of_the_colours() -> None:
    state = after(*PLACES)
    white = state.table.avatars[0]
    together = msgspec.structs.replace(state.table, avatars=(white, OUT, white - 1))
    view = View(2, msgspec.structs.replace(together, waiting=(2,)), (1, 2))

    assert wire(TsuroCallee(GAME, "").calls(TakeTurn(view))) == [
        '["take-turn",[[[[2,0],"white","E",3,0],[[2,0],"red","D",3,0],[[6,0],0,4],[[5,90],9,9]],1,2]]'
    ]


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


NO_FIRST_TILES: list[Any] = [
    "void", None, [2, 90], [[2, 90], "E", 3], [[2, 90], "E", 3, 0, 0], [[2, 45], "E", 3, 0], [[35, 90], "E", 3, 0],
    [[2, 90], "I", 3, 0], [[2, 90], "e", 3, 0], [[2, 90], 4, 3, 0], [[2, 90], "E", 10, 0], [[2, 90], "E", -1, 0],
    [[2, 90], "E", 3.0, 0], [[2, 90], "E", True, 0], [[2, 90.0], "E", 3, 0], [[2, 90], "E", [3, 0]],
]  # fmt: skip
NO_TILES: list[Any] = [
    9, [9], [9, 0, 0], [9, False], [9.0, 0], [9, 0.0], ["9", 0], [-1, 0], [9, 360], [10**400, 0], [9, 10**400],
    [[2, 90], "E", 3, 0], {"tile": 9, "degrees": 0},
]  # fmt: skip


@pytest.mark.parametrize(
    ("state", "kind", "reply"),
    [
        *((after(), "a first tile", reply) for reply in NO_FIRST_TILES),
        *((after(*PLACES), "a tile", reply) for reply in NO_TILES),
    ],
    ids=lambda value: str(value)[:20],
)
def test_an_invalid_reply_is_refused(state: State, kind: str, reply: Any) -> None:
    callee = TsuroCallee(GAME, "")
    spoken(callee, state)

    with pytest.raises(BadRequest, match=f"not {kind} of Tsuro"):
        callee.action(reply)


GREETING = '["playing-as",["black"]]', '["others",["white","red"]]'


def greeted() -> TsuroCaller:
    caller = TsuroCaller("")
    assert [hear(caller, text) for text in GREETING] == [[], []]
    return caller


INITIAL = '["initial",[[[[2,0],"white","E",3,0]],3,4,5]]'
TURN = '["take-turn",[[[[2,0],"white","E",3,0],[[6,0],"red","D",0,4],[[5,90],"black","A",9,9]],9,10]]'


def test_a_player_that_did_not_place_before_us_is_out() -> None:
    table = hear(greeted(), '["initial",[[],3,4,5]]')[-1].view.table

    assert (table.stage, table.alive, table.waiting) == (PLACING, (1, 2), (1, 2))
    assert table.fell == (encode_ejection_round(0), STILL_IN, STILL_IN)


def test_rounds_are_counted_and_who_is_missed_has_fallen() -> None:
    caller = greeted()
    [turn] = hear(caller, INITIAL, TURN)
    [later] = hear(caller, '["take-turn",[[[[5,90],"black","A",9,9],[[6,0],"red","D",0,4],[[2,0],3,0]],9,10]]')

    table = turn.view.table
    assert (turn.view.seat, turn.view.dealt, table.stage) == (1, (9, 10), PLAYING)
    assert (table.round, table.waiting, table.fell) == (1, (1, 2), (STILL_IN,) * 3)
    assert (later.view.table.round, later.view.table.waiting, later.view.table.fell) == (2, (1, 2), (2, 0, 0))
    assert later.view.table.board == table.board


def test_the_end_of_the_tournament_says_whether_it_has_won() -> None:
    caller = greeted()
    assert hear(caller, '["end-of-tournament",[true]]') == []  # without a match

    assert hear(caller, INITIAL, '["end-of-tournament",[true]]') == [End(Result((frozenset({1}),), ()))]
    assert hear(caller, '["end-of-tournament",[false]]') == [End(Result((frozenset(), frozenset({1})), ()))]


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
        hear(greeted(), text)


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
    hear(caller, GREETING[0])
    assert caller.warning == ""
    hear(caller, f'["others",{others}]')
    assert caller.warning.startswith(remark)

    start, turn = hear(caller, INITIAL)
    [later] = hear(caller, TURN)

    assert caller.warning == ""
    assert start.names == ("white", "black", "red", "green", "blue")  # who comes after us is not known yet
    assert (start.seat, turn.view.seat, later.view.seat) == (1, 1, 1)
    assert (turn.view.table.alive, later.view.table.alive) == ((0, 1, 2, 3, 4), (0, 1, 2))
    assert caller.reply({"type": "lay", "tile": 9, "degrees": 90}) == [9, 90]


def test_without_others_the_colours_are_taken_from_the_state() -> None:
    caller = TsuroCaller("")
    start, _ = hear(caller, GREETING[0], INITIAL)

    assert (start.seat, len(start.names)) == (1, 5)
    assert caller.warning == "there was no call of others"


def test_a_colour_that_others_did_not_name_takes_part_once_the_state_has_it() -> None:
    caller = greeted()
    [turn] = hear(caller, INITIAL, TURN.replace("red", "blue"))
    assert caller.warning == "others did not name blue, who is in the state"
    [later] = hear(caller, '["take-turn",[[[[5,90],"black","A",9,9],[[6,0],"blue","D",0,4],[[2,0],3,0]],9,10]]')

    assert (turn.view.seat, turn.view.table.alive, turn.view.table.fell) == (1, (0, 1, 4), (0, 0, 1, 1, 0))
    assert (later.view.table.fell, caller.warning) == ((2, 0, 1, 1, 0), "")
    assert GAME.unpack(GAME.pack(later.view)) == later.view


def test_a_new_match_forgets_the_others_of_the_one_before() -> None:
    greeting = '["playing-as",["red"]]', '["others",["white","black"]]'
    start, turn = hear(greeted(), INITIAL, TURN, *greeting, INITIAL)

    assert (start.seat, start.names) == (2, ("white", "black", "red"))
    assert (turn.view.table.round, turn.view.table.alive) == (0, (0, 2))


def test_a_new_match_forgets_the_fallen_of_the_one_before() -> None:
    alone = '["take-turn",[[[[5,90],"black","A",9,9],[[2,0],3,0]],9,10]]'

    assert hear(greeted(), INITIAL, alone, *GREETING, INITIAL)[-1].view.table.fell == (STILL_IN,) * 3


def test_without_a_colour_nothing_makes_sense() -> None:
    with pytest.raises(BadRequest, match="a player without colour"):
        hear(TsuroCaller(""), INITIAL)
