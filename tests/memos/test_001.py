"""Check memo 001, the state of Q's referee, sentence by sentence and along its diagram."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairplay import Acted, Ejected, Fault, IllegalAction, Moment
from fairplay.core.chance import SeededRandom, seed_from_text
from fairplay.core.match import Match
from fairplay.core.messages import Answered, End, Start, TakeTurn
from fairplay.games.q import Action, Exchange, Pass, Place, Placement, Q, State, View
from fairplay.referee.conversation import Call, conversation
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.testing.scripted import ScriptedChannel, strategy_script
from tests.games.q.positions import all_tiles, make_match, make_position, reshuffle, tile_names
from tests.nonempty import nonempty

GAME = Q()
NAMES = ("ann", "bob", "cyd")
OFF_THE_MAP = Place((Placement("red star", (99, 99)),))


def few_tiles(seats: int = 3) -> State:
    """A deal with a short pile, so that the game is over soon."""
    state = GAME.deal(seats, bytes(range(32)))
    return msgspec.structs.replace(state, pile=state.pile[:20])


def match() -> Match[State, View, Action]:
    return Match(GAME, few_tiles(), NAMES)


def place_or_pass(view: View) -> Action:
    return next((action for action in GAME.actions(view) if isinstance(action, Place)), Pass())


def channels(*strategies: Callable[[View], Action]) -> list[ScriptedChannel]:
    return [ScriptedChannel(strategy_script(strategy)) for strategy in strategies]


def good_channels() -> list[ScriptedChannel]:
    return channels(*[place_or_pass] * 3)


# The interface.


def test_kick_player_removes_the_player_from_the_game() -> None:
    state = few_tiles()

    after = GAME.eject(state, 1, Moment.TURN)

    assert GAME.order(after) == (0, 2)
    assert {seat for group in GAME.ranking(after) for seat in group} == {0, 2}
    assert all_tiles(after) == all_tiles(state)


def test_is_game_over_determines_if_the_game_is_over() -> None:
    going, over = few_tiles(2), GAME.apply(GAME.apply(few_tiles(2), Pass()), Pass())

    assert (GAME.turn(going) is None, GAME.turn(over) is None) == (False, True)


def test_commit_action_commits_the_action_to_the_state() -> None:
    state = few_tiles()
    action = place_or_pass(GAME.view(state, 0))

    after = GAME.apply(state, action)

    assert isinstance(action, Place)
    assert len(after.map.tiles) == len(state.map.tiles) + len(action.tiles)
    assert after.scores[0] > state.scores[0]


def test_public_info_is_what_all_players_or_spectators_could_see() -> None:
    state, lots = few_tiles(), SeededRandom(bytes(32))

    public = GAME.view(state, None)

    assert (public.map, public.points, public.left, public.order) == (state.map, (0, 0, 0), 20, (0, 1, 2))
    assert all(GAME.view(reshuffle(state, None, lots), None) == public for _ in range(20))
    for seat in range(3):
        seen = GAME.view(state, seat)
        assert (seen.map, seen.scores, seen.left) == (public.map, public.scores, public.left)


def test_turn_info_has_the_map_and_the_tiles_of_the_current_player_and_its_id() -> None:
    state = GAME.apply(few_tiles(), Pass())

    info = GAME.view(state, GAME.turn(state))

    assert (info.seat, info.map, info.kinds) == (1, state.map, state.hands[1])


# The sequence.


def test_every_turn_brings_the_current_list_of_tiles_as_the_first_one_does() -> None:
    table, states = good_channels(), list[State]()

    play(match(), table, on_event=lambda event, match: states.append(match.state))

    shown = [iter([said.view for said in channel.heard if isinstance(said, TakeTurn)]) for channel in table]
    turns = [(state, turn) for state in states if (turn := GAME.turn(state)) is not None]
    assert len(turns) > 6
    for state, turn in turns:
        view = next(shown[turn])
        assert (view.seat, view.kinds, view.map) == (turn, state.hands[turn], state.map)
    assert [list(rest) for rest in shown] == [[], [], []]


def test_the_tiles_come_with_the_greeting_too_which_the_memo_does_not_want_and_the_course_does() -> None:
    table = good_channels()

    play(match(), table)

    for seat, channel in nonempty(enumerate(table)):
        assert isinstance(channel.heard[0], Start)
        assert channel.heard[0].view.kinds == few_tiles().hands[seat]


def test_the_referee_need_not_keep_track_of_the_turn_order() -> None:
    script = conversation(match())
    request, turns = next(script), 0

    while isinstance(request, Call) and not isinstance(request.message, End):
        answer: Any = None
        if isinstance(request.message, TakeTurn):
            turns += 1
            assert request.message.view.seat == request.seat == request.message.view.order[0]
            answer = place_or_pass(request.message.view)
        request = script.send(Answered(answer))

    assert turns > 10


def test_turn_information_is_sent_to_the_appropriate_player_and_its_response_awaited() -> None:
    calls: list[str] = []

    def noting(name: str) -> ScriptedChannel:
        def answer(message: Any) -> Answered:
            calls.append(f"{name} {type(message).__name__}")
            return Answered(Pass() if isinstance(message, TakeTurn) else None)

        return ScriptedChannel(answer)

    play(match(), [noting(name) for name in NAMES])

    assert calls == [f"{name} {message}" for message in ("Start", "TakeTurn", "End") for name in NAMES]


def test_actions_need_only_the_known_turn_info_to_be_validated() -> None:
    """What came over a wire is enough to decide, and it decides the same whatever is hidden."""
    lots, verdicts = SeededRandom(seed_from_text("001")), set()
    state = few_tiles()

    for number in range(40):
        turn = GAME.turn(state)
        if turn is None:
            break
        view = GAME.view(state, turn)
        wired = GAME.unpack(msgspec.json.decode(msgspec.json.encode(GAME.pack(view))))
        elsewhere = GAME.view(reshuffle(state, turn, lots), turn)
        legal = place_or_pass(view)
        wrong = Place((Placement("red star", (number % 5 - 2, number % 3)),))
        for action in (legal, wrong, OFF_THE_MAP, Pass(), Exchange(), Place(())):
            said = {verdict(shown, action) for shown in (view, wired, elsewhere)}
            assert len(said) == 1
            verdicts |= said
        state = GAME.apply(state, legal)

    assert {"fine", "3.1", "3.2"} < verdicts


def verdict(view: View, action: Action) -> str:
    try:
        GAME.check(view, action)
    except IllegalAction as illegal:
        return illegal.clause
    return "fine"


def test_an_invalid_action_gets_a_player_kicked_told_and_cut_off() -> None:
    table, events = channels(place_or_pass, lambda view: OFF_THE_MAP, place_or_pass), list[Any]()

    final = play(match(), table, on_event=lambda event, match: events.append((event, match)))

    kicked, after = next((event, match) for event, match in events if isinstance(event, Ejected))
    assert (kicked.seat, kicked.fault, kicked.moment) == (1, Fault.ILLEGAL, Moment.TURN)
    assert 1 not in GAME.order(after.state)  # the state was notified
    assert table[1].closed == [kicked]  # so was the player, and its line is cut
    assert [type(message) for message in table[1].heard] == [Start, TakeTurn]
    assert final.result.ejected == (kicked,)


def test_a_player_in_this_process_is_notified_of_its_kick_too() -> None:
    heard: list[Any] = []

    class Kicked:
        def take_turn(self, view: View) -> Action:
            return OFF_THE_MAP

        def ejected(self, fault: Fault, why: str) -> None:
            heard.append((fault, why))

    final = play(match(), [LocalChannel(Kicked(), GAME), *good_channels()[1:]])

    (out,) = final.result.ejected
    assert heard == [(Fault.ILLEGAL, out.why)]


def test_a_valid_action_is_committed() -> None:
    story = [match().state]

    def follow(event: Any, match: Any) -> None:
        if isinstance(event, Acted):
            assert match.state == GAME.apply(story[-1], event.action)
            story.append(match.state)

    final = play(match(), good_channels(), on_event=follow)

    assert len(story) > 10
    assert story[-1] == final.state


def test_when_the_game_is_over_the_winner_is_determined_from_public_information_and_all_are_notified() -> None:
    table = good_channels()

    final = play(match(), table)

    scores = final.view(None).scores
    assert final.result.ranking[0] == {seat for seat, score in scores.items() if score == max(scores.values())}
    assert [channel.heard[-1] for channel in table] == [End(final.result)] * 3
    assert [channel.closed for channel in table] == [[None]] * 3


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_play_continues_as_before_until_the_state_says_that_the_game_has_ended(rounds: int) -> None:
    state = make_position({(0, 0): "red star"}, ["red circle, blue clover"] * 2, "red circle, red circle, red circle")
    left = dict.fromkeys(range(2), rounds - 1)

    def places_so_often(view: View) -> Action:
        assert view.seat is not None
        left[view.seat] -= 1
        return place_or_pass(view) if left[view.seat] >= 0 else Pass()

    table = channels(places_so_often, places_so_often)
    play(make_match(state), table)

    turns = [sum(isinstance(message, TakeTurn) for message in channel.heard) for channel in table]
    assert turns == [rounds, rounds]
    assert tile_names(state.hands[0]) == ["red circle", "blue clover"]
