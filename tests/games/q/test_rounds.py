"""Test the rounds of Q: the order of turns, the end, the result, and the messages about them."""

from collections.abc import Callable

import pytest

from fairplay.core.errors import NotOnTurn
from fairplay.core.events import Ended, Event
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, End, Message
from fairplay.games.q import Exchange, Pass, Place, Placement, State
from fairplay.games.q.pieces import KINDS
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play
from fairplay.testing.scripted import ScriptedChannel
from tests.games.q.positions import (
    QGAME,
    make_match,
    make_placement,
    make_position,
    parse_tiles,
    placed_tiles,
    play_actions,
    tile_names,
    tile_row,
)
from tests.games.q.seating import (
    PILE_TILES,
    expected_ejection,
    make_seat,
    make_state,
    news_received,
    right_end_tile,
    turns_taken,
)

# Rounds.


def test_the_turn_goes_round_in_the_order_of_the_seats() -> None:
    state, seen = make_state(3), []

    for column in range(1, 7):
        seen.append(QGAME.turn(state))
        state = play_actions(state, right_end_tile(column))

    assert seen == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_round_of_passes_ends_the_game(seats: int) -> None:
    channels = [make_seat() for _ in range(seats)]

    final = play(make_match(make_state(seats)), channels)

    assert [turns_taken(channel) for channel in channels] == [1] * seats
    assert final.turn is None


def test_an_exchange_counts_as_no_placement() -> None:
    state = make_state(2)

    after = play_actions(state, Exchange(), Pass())

    assert QGAME.turn(after) is None


def test_one_placement_keeps_the_game_going_for_another_round() -> None:
    channels = [make_seat(), make_seat(right_end_tile(1)), make_seat()]

    final = play(make_match(make_state(3)), channels)

    assert [turns_taken(channel) for channel in channels] == [2, 2, 2]
    assert final.turn is None


def test_a_placement_of_the_round_before_does_not_count_in_the_next() -> None:
    state = play_actions(make_state(2), right_end_tile(1), Pass())
    assert (state.to_act, state.placed, state.done) == (2, False, False)

    after = play_actions(state, Pass(), Pass())

    assert after.done


def test_an_empty_pile_does_not_end_the_game() -> None:
    after = play_actions(make_state(2, pile=""), right_end_tile(1), right_end_tile(2))

    assert QGAME.turn(after) == 0


def test_an_exchange_as_the_last_act_is_told_before_the_game_is_over() -> None:
    last = make_seat(Exchange())

    final = play(make_match(make_state(2)), [make_seat(), last])

    assert news_received(last) == [("green star", "green circle", "green clover")]
    assert [type(message).__name__ for message in last.heard] == ["Start", "TakeTurn", "Tell", "End"]
    assert final.turn is None


def test_a_player_that_fails_after_such_an_exchange_is_out_and_the_others_are_ranked() -> None:
    state = make_state(3, scores=(5, 9, 7))

    final = play(make_match(state), [make_seat(), make_seat(), make_seat(Exchange(), fails=Moment.NEWS)])

    assert final.ejected == (expected_ejection(2, Moment.NEWS),)
    assert final.result.ranking == (frozenset({1}), frozenset({0}))
    assert tile_names(final.state.lost) == ["green star", "green circle", "green clover"]
    assert final.state.pile == parse_tiles(PILE_TILES)[3:] + state.hands[2]


# The finish.


def test_placing_all_tiles_ends_the_game_at_once_without_new_tiles() -> None:
    state = make_position({(0, 0): "red star"}, ["red circle", "red star", "red star"], PILE_TILES)
    finisher, second, third = make_seat(right_end_tile(1)), make_seat(), make_seat()

    final = play(make_match(state), [finisher, second, third])

    assert (news_received(finisher), turns_taken(second), turns_taken(third)) == ([], 0, 0)
    assert (final.state.scores, final.state.hands[0], final.state.pile) == (
        (1 + 2 + 4, 0, 0),
        (),
        parse_tiles(PILE_TILES),
    )


def test_a_finish_in_the_middle_of_a_round_ends_it_too() -> None:
    state = make_position({(0, 0): "red star"}, ["red star, red square", "red circle", "red star"], PILE_TILES)
    third = make_seat()

    final = play(make_match(state), [make_seat(), make_seat(right_end_tile(1)), third])

    assert turns_taken(third) == 0
    assert QGAME.order(final.state) == (1, 2, 0)


def test_after_a_finish_no_player_is_on_turn_and_no_action_is_offered() -> None:
    state = make_position({(0, 0): "red star"}, ["red circle", "red star"], PILE_TILES)

    after = play_actions(state, right_end_tile(1))

    assert QGAME.turn(after) is None
    for anybody in (0, 1, None):
        with pytest.raises(NotOnTurn, match="the game is over"):
            QGAME.actions(QGAME.view(after, anybody))


# Ejections, and what they do to rounds.


def test_ejections_are_neutral_so_a_round_of_them_and_of_passes_ends_the_game() -> None:
    channels = [make_seat(), make_seat(fails=Moment.TURN), make_seat(Exchange()), make_seat(fails=Moment.TURN)]

    final = play(make_match(make_state(4)), channels)

    assert [turns_taken(channel) for channel in channels] == [1, 1, 1, 1]
    assert [ejected.seat for ejected in final.ejected] == [1, 3]
    assert final.turn is None


def test_an_ejection_does_not_end_a_round_with_a_placement_in_it() -> None:
    channels = [make_seat(right_end_tile(1)), make_seat(fails=Moment.TURN), make_seat()]

    play(make_match(make_state(3)), channels)

    assert [turns_taken(channel) for channel in channels] == [2, 1, 2]


def test_a_placement_counts_even_if_its_player_fails_to_take_the_new_tiles() -> None:
    channels = [make_seat(right_end_tile(1), fails=Moment.NEWS), make_seat(), make_seat()]

    final = play(make_match(make_state(3)), channels)

    assert [turns_taken(channel) for channel in channels] == [1, 2, 2]
    assert placed_tiles(final.state) == tile_row((0, 0), "red star, red circle")


def test_so_does_the_last_placement_of_a_round() -> None:
    channels = [make_seat(), make_seat(), make_seat(right_end_tile(1), fails=Moment.NEWS)]

    final = play(make_match(make_state(3)), channels)

    assert [turns_taken(channel) for channel in channels] == [2, 2, 1]
    assert final.turn is None


def test_an_exchange_that_is_followed_by_an_ejection_is_no_placement() -> None:
    channels = [make_seat(Exchange(), fails=Moment.NEWS), make_seat(), make_seat()]

    play(make_match(make_state(3)), channels)

    assert [turns_taken(channel) for channel in channels] == [1, 1, 1]


def test_the_others_order_does_not_change() -> None:
    state = play_actions(make_state(4), right_end_tile(1), right_end_tile(2))

    after = QGAME.eject(state, 2, Moment.TURN)

    assert QGAME.order(after) == (3, 0, 1)


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


def test_the_last_player_plays_on() -> None:
    stays = make_seat(*(right_end_tile(column) for column in range(1, 3)))

    final = play(make_match(make_state(3)), [make_seat(fails=Moment.TURN), stays, make_seat(fails=Moment.GREETING)])

    assert turns_taken(stays) == 3
    assert final.result.ranking == (frozenset({1}),)
    assert len(final.state.map.tiles) == 3


def test_when_no_player_is_left_the_game_is_over() -> None:
    final = play(make_match(make_state(2)), [make_seat(fails=Moment.TURN), make_seat(fails=Moment.TURN)])

    assert (final.turn, final.result.ranking) == (None, ())
    assert [ejected.seat for ejected in final.ejected] == [0, 1]


def test_when_all_players_fail_the_greeting_the_game_is_over_before_it_began() -> None:
    channels = [make_seat(fails=Moment.GREETING) for _ in range(3)]

    final = play(make_match(make_state(3)), channels)

    assert (final.turn, final.result.ranking, [turns_taken(channel) for channel in channels]) == (None, (), [0, 0, 0])


# The result.


@pytest.mark.parametrize(
    ("scores", "ranking"),
    [
        ((1, 2, 3, 4), [{3}, {2}, {1}, {0}]),
        ((5, 5, 5, 5), [{0, 1, 2, 3}]),
        ((0, 7, 0, 7), [{1, 3}, {0, 2}]),
        ((9, 1, 1, 3), [{0}, {3}, {1, 2}]),
    ],
)
def test_players_are_ranked_by_points_and_a_tie_shares_a_rank(scores: tuple[int, ...], ranking: list[set[int]]) -> None:
    state = make_state(4, scores=scores, order=(2, 3, 0, 1))

    assert QGAME.ranking(state) == tuple(frozenset(group) for group in ranking)


def end_order(state: State, *channels: ScriptedChannel) -> list[int]:
    """The seats in the order in which they hear the result."""
    order: list[int] = []

    def noting(seat: int, ask: Callable[[Message], Answer]) -> Callable[[Message], Answer]:
        def answer(message: Message) -> Answer:
            if isinstance(message, End):
                order.append(seat)
            return ask(message)

        return answer

    play(make_match(state), [ScriptedChannel(noting(seat, channel.ask)) for seat, channel in enumerate(channels)])
    return order


def test_winners_are_told_first_and_each_group_starts_with_the_next_to_move() -> None:
    state = make_state(4, scores=(4, 9, 9, 4), order=(2, 3, 0, 1))

    assert end_order(state, make_seat(), make_seat(), make_seat(), make_seat()) == [2, 1, 3, 0]


def test_the_player_that_finished_comes_first_in_its_group() -> None:
    hands = ["red star, red square", "red star, red square", "red circle", "red star"]
    state = make_position({(0, 0): "red star"}, hands, PILE_TILES, scores=(0, 50, 43, 0))

    assert end_order(state, make_seat(), make_seat(), make_seat(right_end_tile(1)), make_seat()) == [2, 1, 3, 0]


def test_no_player_moves_up_when_a_winner_fails_at_the_end() -> None:
    ended: list[Ended] = []

    def inform(event: Event, match: AnyMatch) -> None:
        if isinstance(event, Ended):
            ended.append(event)

    state = make_state(3, scores=(9, 4, 9))

    play(
        make_match(state),
        [make_seat(fails=Moment.END), make_seat(), make_seat(fails=Moment.END)],
        on_event=inform,
    )

    assert ended[0].result.ranking == (frozenset(), frozenset({1}))
    assert [(one.seat, one.moment) for one in ended[0].result.ejected] == [
        (0, Moment.END),
        (2, Moment.END),
    ]


# Positions that nobody dealt.


def test_a_given_position_may_have_hands_of_any_size_and_no_tile_at_the_centre() -> None:
    lying_there = {(-7, 40): "red star", (90, -3): "blue star"}  # not even connected
    state = make_position(lying_there, ["red circle, " * 9, ""], scores=(10**7, 0))

    after = play_actions(
        state, Place((Placement("red circle", (-7, 41)), Placement("red circle", (-7, 39)))), Exchange()
    )

    assert [len(hand) for hand in after.hands] == [7, 0]
    assert after.scores[0] == 10**7 + 2 + 3
    assert QGAME.turn(after) == 0


def test_a_hand_that_is_empty_from_the_start_is_no_finish() -> None:
    state = make_position({(0, 0): "red star"}, ["", ""], PILE_TILES)

    final = play(make_match(state), [make_seat(Exchange()), make_seat(Pass())])

    assert final.state.scores == (0, 0)
    assert final.result.ranking == (frozenset({0, 1}),)


def test_a_match_goes_on_in_the_middle_of_a_round_from_a_state_that_was_written_down() -> None:
    state = play_actions(make_state(4), Pass(), right_end_tile(1), Pass())

    again = QGAME.unpack_state(QGAME.pack_state(state))

    assert again == state
    assert (again.to_act, again.placed, QGAME.turn(again)) == (1, True, 3)
    assert QGAME.turn(play_actions(again, Pass())) == 0  # the round with a placement does not end the game


def test_more_copies_of_a_tile_than_there_are_can_be_played() -> None:
    state = make_position({(0, 0): "red star"}, ["red star, red star", "red star"], [KINDS["red star"]] * 60)

    after = play_actions(state, make_placement(tile_row((0, 1), "red star, red star")))

    assert after.scores[0] == 2 + 3 + 4
