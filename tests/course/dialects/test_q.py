"""Test the calls of the course's Q, word for word, with a player of the course and with one of ours."""

import json
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Result
from fairplay.core.messages import End, Message, Start, TakeTurn, Tell
from fairplay.course.dialects.dialect import Call
from fairplay.course.dialects.q import QCallee, QCaller
from fairplay.course.formats.frame import MAX_COORDINATE
from fairplay.games.q.actions import Place, Placement
from fairplay.games.q.board import map_of
from fairplay.games.q.game import Q
from fairplay.games.q.pieces import KINDS
from fairplay.games.q.view import View
from tests.course.dialects.relay import hear, wire

GAME = Q()
STAR, CLOVER, DIAMOND = KINDS["red star"], KINDS["red clover"], KINDS["blue diamond"]
MAP = map_of([((0, 0), STAR), ((0, -1), CLOVER), ((-2, 0), DIAMOND)])
RED_STAR = '{"color":"red","shape":"star"}'
RED_CLOVER = '{"color":"red","shape":"clover"}'
BLUE_DIAMOND = '{"color":"blue","shape":"diamond"}'
PLAIN_MAP = f"[[-2,[0,{BLUE_DIAMOND}]],[0,[-1,{RED_CLOVER}],[0,{RED_STAR}]]]"


def seen(order: tuple[int, ...] = (1, 2, 0), scores: tuple[int, ...] = (7, 5, 0)) -> View:
    """What seat 1 sees."""
    return View(1, MAP, (CLOVER, CLOVER), order, scores, 30)


def greeted_callee() -> QCallee:
    callee = QCallee(GAME, "bob")
    callee.calls(Start(1, ("ann", "bob", "cyd"), seen()))
    return callee


PUBLIC = (
    f'{{"map":{PLAIN_MAP},"players":[{{"name":"bob","score":7,"tile*":[{RED_CLOVER},{RED_CLOVER}]}},5,0],"tile*":30}}'
)


SETUP = f'["setup",[{PUBLIC},[{RED_CLOVER},{RED_CLOVER}]]]'
START = Start(1, ("ann", "bob", "cyd"), seen((0, 1, 2), (0, 7, 5)))


def test_the_greeting_lists_the_player_itself_first() -> None:
    assert wire(QCallee(GAME, "bob").calls(START)) == [SETUP]


def end(*ranking: set[int]) -> End:
    return End(Result(tuple(map(frozenset, ranking)), ()))


@pytest.mark.parametrize(
    ("message", "called"),
    [
        (TakeTurn(seen()), f'["take-turn",[{PUBLIC}]]'),
        (Tell(("blue diamond", "red star")), f'["new-tiles",[[{BLUE_DIAMOND},{RED_STAR}]]]'),
        (Tell(()), '["new-tiles",[[]]]'),
        *((end(*ranking), '["win",[true]]') for ranking in ([{1}], [{0, 1}, {2}])),
        *((end(*ranking), '["win",[false]]') for ranking in ([{0}, {1, 2}], [set[int](), {1}], [])),
    ],
)
def test_a_message_is_a_call_and_players_in_the_first_group_have_won(message: Message, called: str) -> None:
    assert wire(greeted_callee().calls(message)) == [called]


def placement(row: Any = 0, column: Any = 1, tile: Any = None) -> dict[str, Any]:
    return {"coordinate": {"row": row, "column": column}, "1tile": tile or {"color": "red", "shape": "clover"}}


def test_replies_become_actions() -> None:
    callee = greeted_callee()

    assert callee.action("pass") == {"type": "pass"}
    assert callee.action("replace") == {"type": "exchange"}
    placed = callee.action([placement(), placement(-1, 0)])
    assert msgspec.json.decode(msgspec.json.encode(placed)) == {
        "type": "place",
        "tiles": [{"tile": "red clover", "at": [0, 1]}, {"tile": "red clover", "at": [-1, 0]}],
    }


@pytest.mark.parametrize(
    "reply",
    [
        "void", "PASS", None, False, 0, {}, placement(), [[]], ["pass"], [placement(0.0)], [placement(True)],
        [placement("0")], [placement(3 * MAX_COORDINATE)], [placement(10**400)],
        [placement(tile={"color": "red"})], [placement(tile={"color": "red", "shape": "cross"})],
        [placement(tile={"color": "red", "shape": "star", "more": 1})], [{**placement(), "more": 1}],
        [{"coordinate": {"row": 0, "column": 1}, "tile": {"color": "red", "shape": "star"}}],
    ],
    ids=lambda reply: str(reply)[:40],
)  # fmt: skip
def test_an_invalid_choice_is_refused(reply: Any) -> None:
    with pytest.raises(BadRequest):
        greeted_callee().action(reply)


def greeted() -> QCaller:
    caller = QCaller("bob")
    hear(caller, SETUP)
    return caller


def test_our_player_sits_first_and_the_others_behind() -> None:
    caller, view = QCaller("bob"), View(0, MAP, (CLOVER, CLOVER), (0, 1, 2), (7, 5, 0), 30)

    assert hear(caller, SETUP) == [Start(0, ("bob", "player 1", "player 2"), view)]
    assert hear(caller, f'["take-turn",[{PUBLIC}]]') == [TakeTurn(view)]
    assert caller.game == Q()


def test_new_tiles_are_news_and_win_is_the_end() -> None:
    caller = greeted()

    assert hear(caller, f'["new-tiles",[[{BLUE_DIAMOND}]]]') == [Tell(("blue diamond",))]
    assert hear(caller, '["win",[true]]') == [End(Result((frozenset({0}),), ()))]
    assert hear(caller, '["win",[false]]') == [End(Result((frozenset(), frozenset({0})), ()))]


def test_a_map_far_away_is_moved_for_our_player_and_back_for_the_server() -> None:
    far, caller = 10**20, greeted()
    public = PUBLIC.replace("[-2,[", f"[{far - 2},[").replace("[0,[-1,", f"[{far},[-1,")
    [turn] = caller.messages(Call("take-turn", (json.loads(public),)))

    assert isinstance(turn, TakeTurn)
    assert turn.view.map == map_of([((2, 0), STAR), ((2, -1), CLOVER), ((0, 0), DIAMOND)])
    assert caller.reply(Place((Placement("red clover", (2, 1)),))) == [placement(far)]


@pytest.mark.parametrize(
    "text",
    [
        f'["setup",[{PUBLIC}]]',
        f'["setup",[{PUBLIC},["red clover"]]]',
        f'["setup",[{PUBLIC[:-1]},"more":1}},[]]]',
        '["setup",[{"map":[],"players":[1],"tile*":30},[]]]',
        '["take-turn",[{}]]',
        '["new-tiles",["red clover"]]',
        '["new-tiles",[]]',
        '["win",[1]]',
        '["end",[true]]',
    ],
)
def test_a_call_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        hear(greeted(), text)


@pytest.mark.parametrize("text", [f'["take-turn",[{PUBLIC}]]', f'["new-tiles",[[{RED_CLOVER}]]]', '["win",[true]]'])
def test_nothing_makes_sense_before_the_greeting(text: str) -> None:
    with pytest.raises(BadRequest, match="at this time"):
        hear(QCaller("bob"), text)


def test_a_greeting_that_was_refused_has_not_begun_a_match() -> None:
    caller = QCaller("bob")
    with pytest.raises(BadRequest):
        hear(caller, '["setup",[{},[]]]')

    with pytest.raises(BadRequest, match="at this time"):
        hear(caller, '["win",[true]]')
