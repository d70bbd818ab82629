"""Test the rules of Q, clause by clause, its rounds to their end, and where tiles go when players are ejected."""

from typing import Any

import pytest

from fairplay.core.errors import NotOnTurn
from fairplay.core.events import Acted, Ejected, Fault
from fairplay.core.game import Moment, News, Seat
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.games.q import Action, Exchange, Pass, Place, Placement, State
from fairplay.referee.drivers import play
from fairplay.testing.scripted import ScriptedChannel
from tests.games.q.positions import (
    QGAME,
    all_tiles,
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
from tests.nonempty import nonempty

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


# For each clause that an action can break: a position, the seat that acts, and what it does. They are tried in
# tests/every_game/test_rule_books.py.
BROKEN: list[tuple[str, State, Seat | None, Action]] = [
    ("2.1", START, 1, one("yellow star", (0, 1))),
    ("2.1", START, None, Pass()),
    ("2.1", DONE, 0, Pass()),
    ("3.1", START, 0, Place(())),
    ("3.2", START, 0, one("red diamond", (0, 1))),
    ("3.2", START, 0, one("purple star", (0, 1))),  # it is first in the pile
    ("3.2", make_position({(0, 0): "red star"}, ["", "red star"]), 0, one("red star", (0, 1))),
    ("3.3", START, 0, make_placement({(0, 1): "red circle", (1, 0): "blue star"})),
    ("3.4", START, 0, one("red circle", (0, 0))),
    ("3.4", START, 0, one("red circle", (2**31 - 1, -(2**31)))),
    ("3.4", START, 0, make_placement({(0, 2): "red circle", (0, 1): "red circle"})),  # in the other order it is fine
    ("3.4", START, 0, Place((Placement("red circle", (0, 1)), Placement("red circle", (0, 1))))),
    ("3.5", START, 0, one("blue circle", (0, 1))),
    ("3.5", SQUEEZE, 0, one("red star", (0, 1))),  # fits its row, but in its column only one neighbour
    ("3.5", SQUEEZE, 0, one("blue star", (0, 1))),  # fits its column, but in its row only one neighbour
    ("3.6", FEW, 0, Exchange()),
]


# 3 A turn: placements.


@pytest.mark.parametrize(
    ("pile", "drawn"),
    [("purple star, green star, red star", ["purple star", "green star"]), ("green star", ["green star"]), ("", [])],
    ids=["enough", "one left", "none left"],
)
def test_a_placement_extends_the_map_and_its_player_alone_is_told_the_refill_from_the_front_of_the_pile(
    pile: str, drawn: list[str]
) -> None:
    state = make_position({(0, 0): "red star"}, ["red circle, blue star, red square, green star", "red star"], pile)
    frontier, edge = dict(state.map.frontier), tuple(state.map.edge)
    action = make_placement({(0, 1): "red circle", (0, -1): "red square"})

    after = play_actions(state, action)

    assert placed_tiles(after) == tile_row((0, -1), "red square, red star, red circle")
    assert tile_names(after.hands[0]) == [*drawn, "blue star", "green star"]  # the new tiles come first
    assert (after.pile, tile_names(after.fresh)) == (state.pile[len(drawn) :], drawn)
    assert (after.hands[1], after.order) == (state.hands[1], (1, 0))
    assert QGAME.news(state, action, after) == (News(0, tuple(drawn)),)
    assert (dict(state.map.frontier), state.map.edge, len(state.map.tiles)) == (frontier, edge, 1)  # the old map


def test_lines_have_gaps_and_repeat_tiles_and_are_longer_than_six() -> None:
    comb = {**tile_row((0, 0), "red star, blue star, red star"), (1, 0): "red circle", (1, 2): "red clover"}
    gap = make_position(comb, ["red square, red diamond, blue star", "red star"])
    long = make_position(tile_row((0, 0), ", ".join(["red star"] * 7)), ["red star, red star", "red star"])

    assert len(play_actions(gap, make_placement({(2, 0): "red square", (2, 2): "red diamond"})).map.tiles) == 7
    assert len(play_actions(long, one("red star", (0, 7))).map.tiles) == 8


# 3 A turn: to exchange, and to pass.


def test_an_exchange_takes_from_the_front_and_gives_back_to_the_end() -> None:
    after = play_actions(START, Exchange())

    assert (after.hands[0], after.fresh) == (START.pile[:6], START.pile[:6])
    assert after.pile == START.pile[6:] + START.hands[0]
    assert (after.scores, after.order, after.map) == ((0, 0), (1, 0), START.map)
    assert QGAME.news(START, Exchange(), after) == (News(0, tuple(tile_names(START.pile[:6]))),)


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


def test_simple_actions_are_offered_first() -> None:
    state = make_position({(0, 0): "red star"}, ["red circle, red square", "red star"], "red star, red star")

    offered = list(QGAME.actions(QGAME.view(state, 0)))

    sizes = [len(action.tiles) for action in offered if isinstance(action, Place)]
    assert offered[:2] == [Pass(), Exchange()]
    assert sizes == sorted(sizes)
    assert set(sizes) == {1, 2}


@pytest.mark.parametrize("other", [None, "pass", {"type": "pass"}])
def test_what_is_no_action_is_not_allowed(other: Any) -> None:
    with pytest.raises(TypeError, match="is not an action of Q"):
        QGAME.check(QGAME.view(START, 0), other)


LEFT = Failed(Fault.GONE, "left")
MESSAGE_TYPES = {Moment.GREETING: Start, Moment.TURN: TakeTurn, Moment.NEWS: Tell, Moment.END: End}
PILE_TILES = "green star, green circle, green clover, green square, green diamond, green 8star"


def make_seat(*actions: Action, fails: Moment | None = None) -> ScriptedChannel:
    """A player that does these things, passes when it has done them, and fails at a moment if that is said."""
    todo = list(actions)

    def answer(message: Message) -> Answer:
        if fails is not None and isinstance(message, MESSAGE_TYPES[fails]):
            return LEFT
        if isinstance(message, TakeTurn):
            return Answered(todo.pop(0) if todo else Pass())
        return Answered(None)

    return ScriptedChannel(answer)


def right_end_tile(column: int) -> Place:
    """A tile at the right end of the row that starts at [0, 0]."""
    return Place((Placement("red circle", (0, column)),))


def make_state(seats: int, pile: str = PILE_TILES, **more: Any) -> State:
    """Everybody has the same tiles, of which red circles always fit at the end of the row."""
    return make_position({(0, 0): "red star"}, ["red circle, blue clover, red circle"] * seats, pile, **more)


def turns_taken(channel: ScriptedChannel) -> int:
    return sum(isinstance(message, TakeTurn) for message in channel.heard)


def news_received(channel: ScriptedChannel) -> list[Any]:
    return [message.news for message in channel.heard if isinstance(message, Tell)]


def expected_ejection(seat: int, moment: Moment) -> Ejected:
    return Ejected(seat, Fault.GONE, moment, "left")


# Rounds.

Seats = list[tuple[list[Action], Moment | None]]  # for each what it does before it passes, and when it fails
PLACES: list[Action] = [right_end_tile(1)]
EXCHANGES: list[Action] = [Exchange()]
ROUNDS: dict[str, tuple[Seats, list[int]]] = {  # and how many turns each of them takes
    "two pass": ([([], None)] * 2, [1, 1]),
    "four pass": ([([], None)] * 4, [1, 1, 1, 1]),
    "one exchanges": ([(EXCHANGES, None), ([], None)], [1, 1]),
    "one places": ([([], None), (PLACES, None), ([], None)], [2, 2, 2]),
    "one places, and is left alone": ([([], Moment.TURN), (PLACES, None), ([], Moment.GREETING)], [1, 2, 0]),
    "ejections are neutral": (
        [([], None), ([], Moment.TURN), (EXCHANGES, None), ([], Moment.TURN)],
        [1, 1, 1, 1],
    ),
    "one places, and another is ejected": ([(PLACES, None), ([], Moment.TURN), ([], None)], [2, 1, 2]),
    "one places, and fails at the news": ([(PLACES, Moment.NEWS), ([], None), ([], None)], [1, 2, 2]),
    "the last one places, and fails at the news": ([([], None), ([], None), (PLACES, Moment.NEWS)], [2, 2, 1]),
    "one exchanges, and fails at the news": ([(EXCHANGES, Moment.NEWS), ([], None), ([], None)], [1, 1, 1]),
    "all are ejected": ([([], Moment.TURN)] * 2, [1, 1]),
    "all fail the greeting": ([([], Moment.GREETING)] * 3, [0, 0, 0]),
}


@pytest.mark.parametrize("what", ROUNDS)
def test_a_round_without_a_placement_ends_the_game(what: str) -> None:
    seats, turns = ROUNDS[what]
    channels = [make_seat(*actions, fails=fails) for actions, fails in seats]

    final = play(make_match(make_state(len(seats))), channels)

    assert [turns_taken(channel) for channel in channels] == turns
    assert sorted(ejected.seat for ejected in final.ejected) == [seat for seat, (_, fails) in enumerate(seats) if fails]
    assert final.turn is None
    assert {seat for group in final.result.ranking for seat in group} == {
        seat for seat, (_, fails) in enumerate(seats) if fails is None
    }


def test_the_turn_goes_round_without_tiles_to_draw_and_a_placement_does_not_count_in_the_next_round() -> None:
    state, turns = make_state(3, pile=""), list[int | None]()

    for action in (right_end_tile(1), Pass(), right_end_tile(2), right_end_tile(3), Pass(), Pass()):
        turns.append(QGAME.turn(state))
        state = play_actions(state, action)

    assert turns == [0, 1, 2, 0, 1, 2]
    assert (state.to_act, state.placed, state.done) == (3, False, False)
    again = QGAME.unpack_state(QGAME.pack_state(state))
    assert play_actions(again, Pass(), Pass(), Pass()).done


# The finish.


def test_placing_all_tiles_ends_the_game_at_once_without_new_tiles() -> None:
    state = make_position({(0, 0): "red star"}, ["red star, red square", "red circle", "red star"], PILE_TILES)
    first, finisher, third = make_seat(), make_seat(right_end_tile(1)), make_seat()

    final = play(make_match(state), [first, finisher, third])

    assert (news_received(finisher), turns_taken(first), turns_taken(third)) == ([], 1, 0)
    assert (final.state.scores, final.state.hands[1]) == ((0, 1 + 2 + 4, 0), ())
    assert (final.state.pile, QGAME.order(final.state)) == (parse_tiles(PILE_TILES), (1, 2, 0))
    for anybody in (0, 1, None):
        with pytest.raises(NotOnTurn, match="the game is over"):
            QGAME.actions(QGAME.view(final.state, anybody))


# Ejections, and what they do to rounds.


@pytest.mark.parametrize("gone", [0, 1, 2, 3])
@pytest.mark.parametrize("acted", [0, 1, 2, 3])
def test_after_any_ejection_the_rest_of_the_round_has_its_turns(gone: int, acted: int) -> None:
    state = play_actions(make_state(4), *[Pass()] * acted)
    due = [seat for seat in range(acted, 4) if seat != gone]

    state = QGAME.eject(state, gone, Moment.GREETING)

    seen = []
    while (turn := QGAME.turn(state)) is not None:
        seen.append(turn)
        state = play_actions(state, Pass())
    assert seen == due


def test_who_fails_at_the_greeting_gives_back_its_hand_and_those_after_it_see_that() -> None:
    state = make_state(3)
    later = make_seat()

    final = play(make_match(state), [make_seat(), make_seat(fails=Moment.GREETING), later])

    greeting = later.heard[0]
    assert isinstance(greeting, Start)
    assert (greeting.view.order, greeting.view.left) == ((0, 2), 6 + 3)
    assert final.state.pile == state.pile + state.hands[1]
    assert (final.state.hands[1], final.state.lost) == ((), ())


ONE = right_end_tile(1)
NEWS = ["green star", "green circle", "green clover"]


@pytest.mark.parametrize(
    ("actions", "pile", "moment", "lost", "given_back"),
    [
        ([], PILE_TILES, Moment.TURN, [], ["red circle", "blue clover", "red circle"]),
        ([ONE], PILE_TILES, Moment.NEWS, ["green star"], ["blue clover", "red circle"]),
        ([Exchange()], PILE_TILES, Moment.NEWS, NEWS, ["red circle", "blue clover", "red circle"]),
        ([ONE], "", Moment.NEWS, [], ["blue clover", "red circle"]),
        ([ONE, Pass()], PILE_TILES, Moment.TURN, [], ["green star", "blue clover", "red circle"]),
    ],
    ids=["on its turn", "after a placement", "after an exchange", "without new tiles", "a turn later"],
)
def test_new_tiles_are_lost_if_they_are_not_taken_and_the_rest_is_given_back(
    actions: list[Action], pile: str, moment: Moment, lost: list[str], given_back: list[str]
) -> None:
    match = make_match(make_state(2, pile=pile, scores=(9, 5)))
    for seat, action in enumerate(actions):
        match = match.after(Acted(seat, action))

    after = match.after(expected_ejection(0, moment))

    state: State = after.state
    assert (tile_names(state.lost), tile_names(state.pile)[-len(given_back) :]) == (lost, given_back)
    assert all_tiles(state) == all_tiles(match.state)
    assert (state.hands[0], state.fresh, after.pending_news) == ((), (), ())
    assert placed_tiles(state) == tile_row((0, 0), "red star, red circle" if ONE in actions else "red star")
    assert (state.scores, QGAME.ranking(state)) == (match.state.scores, (frozenset({1}),))


@pytest.mark.parametrize("moment", list(Moment))
def test_no_ejection_loses_count_of_a_tile(moment: Moment) -> None:
    state = make_state(3)
    actions: list[Action] = [right_end_tile(1), Exchange()]

    for first in nonempty(actions):
        final = play(make_match(state), [make_seat(first, fails=moment), make_seat(), make_seat()])

        assert all_tiles(final.state) == all_tiles(state)
        assert [ejected.moment for ejected in final.ejected] == [moment]
