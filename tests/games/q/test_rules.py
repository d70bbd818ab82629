"""Test the rules of Q, clause by clause."""

from importlib.resources import files
from typing import Any

import pytest

from fairplay.core.errors import IllegalAction, NotOnTurn
from fairplay.core.events import Fault
from fairplay.core.game import Moment, News, Seat
from fairplay.games.q import Action, Exchange, Pass, Place, Placement, State
from fairplay.games.q.draft import draft_of
from fairplay.games.q.pieces import NAMES
from fairplay.referee.drivers import play
from fairplay.testing.scripted import ScriptedChannel, script_from_answers, strategy_script
from tests.games.q.positions import (
    QGAME,
    make_match,
    make_placement,
    make_position,
    parse_tiles,
    placed_tiles,
    play_actions,
    tile_column,
    tile_names,
    tile_row,
)

DIRECTORY = files("fairplay.games.q")
RULES = DIRECTORY.joinpath("RULES.md").read_text()

START = make_position(
    {(0, 0): "red star"},
    ["red circle, red circle, blue star, blue circle, green clover, red square", "yellow star, red diamond"],
    "purple star, purple circle, purple clover, orange star, orange clover, orange square, green star",
)
DONE = make_position({(0, 0): "red star"}, ["red circle", "red square"], done=True)
FEW = make_position({(0, 0): "red star"}, ["red circle, blue star", "red square"], "green star")
SQUEEZE = make_position(  # one free place between shapes and colours in its row, one in its column
    {
        **tile_row((0, 0), "red star, -, red circle"),
        **tile_column((-1, 1), "blue clover, -, blue star"),
        (0, 3): "red diamond",
    },
    ["red star, blue star, blue circle", "red star"],
)


def one(name: str, at: tuple[int, int]) -> Place:
    return Place((Placement(name, at),))


# For each clause that an action can break: a position, the seat that acts, and what it does.
BROKEN: list[tuple[str, State, Seat | None, Action]] = [
    ("2.1", START, 1, one("yellow star", (0, 1))),
    ("2.1", START, 1, Pass()),
    ("2.1", START, None, Pass()),
    ("2.1", START, None, one("red circle", (0, 1))),
    ("2.1", DONE, 0, one("red circle", (0, 1))),
    ("2.1", DONE, 0, Pass()),
    ("2.1", DONE, 1, Exchange()),
    ("3.1", START, 0, Place(())),
    ("3.2", START, 0, one("red diamond", (0, 1))),
    ("3.2", START, 0, one("red star", (0, 1))),
    ("3.2", START, 0, make_placement(tile_row((0, 1), "red square, red square"))),
    ("3.2", START, 0, make_placement(tile_row((0, 1), "red circle, red circle, red circle"))),
    ("3.2", START, 0, one("purple star", (0, 1))),  # it is first in the pile
    ("3.2", make_position({(0, 0): "red star"}, ["", "red star"]), 0, one("red star", (0, 1))),
    ("3.3", START, 0, make_placement({(0, 1): "red circle", (1, 0): "blue star"})),
    ("3.3", START, 0, make_placement({(0, 1): "red circle", (0, 2): "red circle", (1, 2): "blue circle"})),
    ("3.3", START, 0, make_placement({(0, 1): "red circle", (1, 1): "blue circle", (1, 2): "red circle"})),
    ("3.4", START, 0, one("red circle", (0, 0))),
    ("3.4", START, 0, one("red circle", (1, 1))),
    ("3.4", START, 0, one("red circle", (0, 2))),
    ("3.4", START, 0, one("red circle", (-5, -5))),
    ("3.4", START, 0, one("red circle", (2**31 - 1, -(2**31)))),
    ("3.4", START, 0, make_placement({(0, 2): "red circle", (0, 1): "red circle"})),  # in the other order it is fine
    ("3.4", START, 0, Place((Placement("red circle", (0, 1)), Placement("red circle", (0, 1))))),
    ("3.5", START, 0, one("blue circle", (0, 1))),
    ("3.5", START, 0, one("green clover", (-1, 0))),
    ("3.5", START, 0, make_placement(tile_row((0, 1), "red circle, green clover"))),
    ("3.5", START, 0, make_placement(tile_row((0, 1), "red circle, blue star"))),
    ("3.5", SQUEEZE, 0, one("red star", (0, 1))),  # fits its row, but in its column only one neighbour
    ("3.5", SQUEEZE, 0, one("blue star", (0, 1))),  # fits its column, but in its row only one neighbour
    ("3.5", SQUEEZE, 0, one("blue circle", (0, 1))),
    ("3.6", FEW, 0, Exchange()),
    ("3.6", make_position({(0, 0): "red star"}, ["red circle", "red star"]), 0, Exchange()),
]
broken = pytest.mark.parametrize(
    ("clause", "state", "seat", "action"), BROKEN, ids=[f"{bug[0]} {bug[3]}" for bug in BROKEN]
)


# Illegal actions, and the rule book.


@broken
def test_an_illegal_action_names_the_clause_that_it_breaks(
    clause: str, state: State, seat: Seat | None, action: Action
) -> None:
    with pytest.raises(IllegalAction) as illegal:
        QGAME.check(QGAME.view(state, seat), action)

    assert illegal.value.clause == clause
    assert illegal.value.why


@broken
def test_a_refusal_names_no_tile(clause: str, state: State, seat: Seat | None, action: Action) -> None:
    with pytest.raises(IllegalAction) as illegal:
        QGAME.check(QGAME.view(state, seat), action)

    assert not [name for name in NAMES if name in str(illegal.value)]


@broken
def test_what_is_illegal_is_not_offered(clause: str, state: State, seat: Seat | None, action: Action) -> None:
    view = QGAME.view(state, seat)

    if view.turn == seat and seat is not None:
        assert action not in list(QGAME.actions(view))
    else:
        with pytest.raises(NotOnTurn):
            QGAME.actions(view)


# 2 The players.


def test_a_view_has_the_own_hand_the_scores_in_order_and_the_number_of_tiles_left() -> None:
    state = make_position({(0, 0): "red star"}, ["red circle", "blue star", ""], "red star, red star", scores=(3, 5, 8))
    state = play_actions(state, Pass())

    view = QGAME.view(state, 1)

    assert (view.seat, view.hand, view.order, view.points) == (1, ("blue star",), (1, 2, 0), (5, 8, 3))
    assert (view.left, view.map, view.done) == (2, state.map, False)


def test_spectators_see_no_hand() -> None:
    view = QGAME.view(START, None)

    assert (view.seat, view.kinds) == (None, ())
    with pytest.raises(NotOnTurn, match="what spectators see, as it is the turn of seat 0"):
        QGAME.actions(view)


# 3 A turn: placements.


def test_a_placement_extends_the_map_and_is_refilled_from_the_front_of_the_pile() -> None:
    after = play_actions(START, make_placement(tile_row((0, 1), "red circle, red circle")))

    assert placed_tiles(after) == tile_row((0, 0), "red star, red circle, red circle")
    assert tile_names(after.hands[0]) == [  # the new tiles come first
        *("purple star", "purple circle"),
        *("blue star", "blue circle", "green clover", "red square"),
    ]
    assert after.pile == START.pile[2:]
    assert (after.fresh, after.hands[1], after.order) == (
        parse_tiles("purple star, purple circle"),
        START.hands[1],
        (1, 0),
    )


def test_only_the_player_that_placed_is_told_its_new_tiles() -> None:
    action = make_placement(tile_row((0, 1), "red circle, red circle"))

    news = QGAME.news(START, action, play_actions(START, action))

    assert news == (News(0, ("purple star", "purple circle")),)


def test_a_refill_is_all_that_is_left_if_that_is_less() -> None:
    action = make_placement(tile_row((0, 1), "red circle, red square, red square"))
    state = make_position(
        {(0, 0): "red star"}, ["red circle, red square, red square, blue star", "red star"], "green star"
    )

    after = play_actions(state, action)

    assert (tile_names(after.hands[0]), after.pile) == (["green star", "blue star"], ())
    assert QGAME.news(state, action, after) == (News(0, ("green star",)),)


def test_a_refill_from_an_empty_pile_is_told_as_well() -> None:
    action = one("red circle", (0, 1))
    state = make_position({(0, 0): "red star"}, ["red circle, blue star", "red star"])

    after = play_actions(state, action)

    assert tile_names(after.hands[0]) == ["blue star"]
    assert QGAME.news(state, action, after) == (News(0, ()),)


def test_tiles_may_be_placed_on_both_ends_of_a_line() -> None:
    after = play_actions(START, make_placement({(0, 1): "red circle", (0, -1): "red square"}))

    assert sorted(placed_tiles(after)) == [(0, -1), (0, 0), (0, 1)]


def test_there_may_be_gaps_between_the_tiles() -> None:
    comb = {**tile_row((0, 0), "red star, blue star, red star"), (1, 0): "red circle", (1, 2): "red clover"}
    state = make_position(comb, ["red square, red diamond, blue star", "red star"])

    after = play_actions(state, make_placement({(2, 0): "red square", (2, 2): "red diamond"}))

    assert len(after.map.tiles) == 7


def test_a_tile_counts_for_those_that_follow_it_in_the_same_turn() -> None:
    after = play_actions(START, make_placement(tile_column((1, 0), "red circle, blue circle")))

    assert placed_tiles(after)[2, 0] == "blue circle"


def test_row_and_column_may_match_in_different_ways() -> None:
    state = make_position({(0, 1): "red star", (1, 0): "blue circle"}, ["red circle, red star", "red star"])

    after = play_actions(state, one("red circle", (1, 1)))

    assert placed_tiles(after)[1, 1] == "red circle"


def test_a_line_may_repeat_tiles_and_may_be_longer_than_six() -> None:
    state = make_position(tile_row((0, 0), ", ".join(["red star"] * 7)), ["red star, red star", "red star"])

    after = play_actions(state, one("red star", (0, 7)))

    assert len(after.map.tiles) == 8


@broken
def test_nothing_of_an_illegal_placement_stays_on_the_map(
    clause: str, state: State, seat: Seat | None, action: Action
) -> None:
    if seat != QGAME.turn(state) or not isinstance(action, Place):
        return
    before = placed_tiles(state)

    with pytest.raises(IllegalAction):
        QGAME.check(QGAME.view(state, seat), action)

    assert placed_tiles(state) == before


def test_a_placement_that_is_legal_but_for_its_last_tile_leaves_nothing_behind() -> None:
    partly = make_placement(tile_row((0, 1), "red circle, red circle, green clover"))
    channels = [
        ScriptedChannel(strategy_script(lambda view: partly)),
        ScriptedChannel(strategy_script(lambda view: Pass())),
    ]

    final = play(make_match(START), channels)

    assert [(out.seat, out.fault, out.moment) for out in final.ejected] == [(0, Fault.ILLEGAL, Moment.TURN)]
    assert final.ejected[0].why == "rule 3.5: the tile does not fit at [0, 3]"
    assert (placed_tiles(final.state), final.state.scores) == (placed_tiles(START), (0, 0))
    assert final.state.pile == START.pile + START.hands[0]


def test_a_draft_is_not_on_the_map() -> None:
    before = placed_tiles(START)

    draft = draft_of(QGAME.view(START, 0)).place("red circle", (0, 1))

    assert len(draft.map.tiles) == 2
    assert placed_tiles(START) == before


def test_an_old_map_does_not_change_when_play_goes_on() -> None:
    frontier, edge = dict(START.map.frontier), tuple(START.map.edge)

    after = play_actions(START, one("red circle", (0, 1)))

    assert after.map != START.map
    assert (dict(START.map.frontier), START.map.edge, len(START.map.tiles)) == (frontier, edge, 1)


# 3 A turn: to exchange, and to pass.


def test_an_exchange_takes_from_the_front_and_gives_back_to_the_end() -> None:
    after = play_actions(START, Exchange())

    assert (after.hands[0], after.fresh) == (START.pile[:6], START.pile[:6])
    assert after.pile == START.pile[6:] + START.hands[0]
    assert (after.scores, after.order, after.map) == ((0, 0), (1, 0), START.map)
    assert QGAME.news(START, Exchange(), after) == (News(0, tuple(tile_names(START.pile[:6]))),)


def test_an_exchange_needs_as_many_tiles_as_are_in_the_hand_and_no_more() -> None:
    state = make_position({(0, 0): "red star"}, ["red circle, blue star", "red star"], "green star, yellow star")

    after = play_actions(state, Exchange())

    assert (tile_names(after.hands[0]), tile_names(after.pile)) == (
        ["green star", "yellow star"],
        ["red circle", "blue star"],
    )


def test_to_pass_changes_nothing_but_the_turn() -> None:
    after = play_actions(START, Pass())

    assert (after.map, after.hands, after.pile, after.scores) == (START.map, START.hands, START.pile, (0, 0))
    assert (after.order, after.fresh, QGAME.news(START, Pass(), after)) == ((1, 0), (), ())


def test_an_empty_hand_may_be_exchanged_for_nothing_which_is_told_and_is_no_finish() -> None:
    state = make_position({(0, 0): "red star"}, ["", "red star"])

    after = play_actions(state, Exchange())

    assert list(QGAME.actions(QGAME.view(state, 0))) == [Pass(), Exchange()]
    assert (after.hands[0], after.scores, after.done) == ((), (0, 0), False)
    assert QGAME.news(state, Exchange(), after) == (News(0, ()),)


def test_an_empty_hand_brings_no_bonus_before_anything_is_placed() -> None:
    view = QGAME.view(make_position({(0, 0): "red star"}, ["", "red star"]), 0)

    assert draft_of(view).score(q_bonus=8, finish_bonus=4) == 0


def test_simple_actions_are_offered_first() -> None:
    state = make_position({(0, 0): "red star"}, ["red circle, red square", "red star"], "red star, red star")

    offered = list(QGAME.actions(QGAME.view(state, 0)))

    sizes = [len(action.tiles) for action in offered if isinstance(action, Place)]
    assert offered[:2] == [Pass(), Exchange()]
    assert sizes == sorted(sizes)
    assert set(sizes) == {1, 2}


# The conversation of one turn.


def heard(channel: ScriptedChannel) -> list[str]:
    return [type(message).__name__ for message in channel.heard]


def test_each_turn_is_asked_and_new_tiles_are_acknowledged_before_the_next() -> None:
    placing: list[Any] = [one("red circle", (0, 1)), Pass()]
    first = ScriptedChannel(strategy_script(lambda view: placing.pop(0)))
    second = ScriptedChannel(strategy_script(lambda view: Pass()))

    play(make_match(START), [first, second])

    assert heard(first) == ["Start", "TakeTurn", "Tell", "TakeTurn", "End"]
    assert heard(second) == ["Start", "TakeTurn", "TakeTurn", "End"]


def test_a_player_that_is_gone_at_once_leaves_its_tiles() -> None:
    final = play(
        make_match(START),
        [ScriptedChannel(script_from_answers([])), ScriptedChannel(strategy_script(lambda view: Pass()))],
    )

    assert [(out.seat, out.moment) for out in final.ejected] == [(0, Moment.GREETING)]
    assert final.state.pile == START.pile + START.hands[0]
    assert final.result.ranking == (frozenset({1}),)


@pytest.mark.parametrize("other", [None, "pass", {"type": "pass"}])
def test_what_is_no_action_is_not_allowed(other: Any) -> None:
    with pytest.raises(TypeError, match="is not an action of Q"):
        QGAME.check(QGAME.view(START, 0), other)
