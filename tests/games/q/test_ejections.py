"""Test that tiles of Q go to the right place when players are ejected at any moment."""

import pytest

from fairplay.core.events import Acted
from fairplay.core.game import Moment
from fairplay.core.messages import Start
from fairplay.games.q import Action, Exchange, Pass, State
from fairplay.referee.drivers import play
from tests.games.q.positions import (
    QGAME,
    all_tiles,
    make_match,
    parse_tiles,
    placed_tiles,
    play_actions,
    tile_names,
    tile_row,
)
from tests.games.q.seating import PILE_TILES, expected_ejection, make_seat, make_state, right_end_tile
from tests.nonempty import nonempty


def test_who_fails_at_the_greeting_gives_back_its_hand_and_those_after_it_see_that() -> None:
    state = make_state(3)
    later = make_seat()

    final = play(make_match(state), [make_seat(), make_seat(fails=Moment.GREETING), later])

    greeting = later.heard[0]
    assert isinstance(greeting, Start)
    assert (greeting.view.order, greeting.view.left) == ((0, 2), 6 + 3)
    assert final.state.pile == state.pile + state.hands[1]
    assert (final.state.hands[1], final.state.lost) == ((), ())


def test_who_fails_on_its_turn_gives_back_its_hand_in_its_order() -> None:
    state = make_state(2)

    after = make_match(state).after(expected_ejection(0, Moment.TURN)).state

    assert tile_names(after.pile[-3:]) == ["red circle", "blue clover", "red circle"]
    assert (after.hands[0], after.map, after.lost) == ((), state.map, ())


def test_who_fails_to_take_new_tiles_loses_them_and_gives_back_the_rest() -> None:
    state = make_state(2)

    match = make_match(state).after(Acted(0, right_end_tile(1))).after(expected_ejection(0, Moment.NEWS))

    after: State = match.state
    assert placed_tiles(after) == tile_row((0, 0), "red star, red circle")
    assert tile_names(after.lost) == ["green star"]
    assert tile_names(after.pile) == [*tile_names(parse_tiles(PILE_TILES)[1:]), "blue clover", "red circle"]
    assert (after.hands[0], after.fresh, match.pending_news) == ((), (), ())


def test_who_fails_after_an_exchange_has_given_back_its_hand_already() -> None:
    state = make_state(2)

    after = make_match(state).after(Acted(0, Exchange())).after(expected_ejection(0, Moment.NEWS)).state

    assert tile_names(after.lost) == ["green star", "green circle", "green clover"]
    assert after.pile == parse_tiles(PILE_TILES)[3:] + state.hands[0]


def test_who_fails_when_there_were_no_new_tiles_loses_none() -> None:
    state = make_state(2, pile="")

    after = make_match(state).after(Acted(0, right_end_tile(1))).after(expected_ejection(0, Moment.NEWS)).state

    assert (after.lost, tile_names(after.pile)) == ((), ["blue clover", "red circle"])


def test_a_later_failure_loses_nothing() -> None:
    state = play_actions(make_state(2), right_end_tile(1), Pass())

    after = QGAME.eject(state, 0, Moment.TURN)

    assert (after.lost, after.pile[-3:]) == ((), state.hands[0])


def test_who_fails_at_the_end_changes_no_tile_and_no_score() -> None:
    final = play(make_match(make_state(2, scores=(3, 1))), [make_seat(fails=Moment.END), make_seat()])

    assert final.result.ranking == (frozenset(), frozenset({1}))
    assert (final.state.hands, final.state.pile) == (make_state(2).hands, parse_tiles(PILE_TILES))


def test_the_score_of_the_ejected_is_kept_but_not_ranked() -> None:
    after = QGAME.eject(make_state(3, scores=(9, 5, 5)), 0, Moment.TURN)

    assert after.scores == (9, 5, 5)
    assert QGAME.ranking(after) == (frozenset({1, 2}),)


@pytest.mark.parametrize("moment", list(Moment))
def test_no_ejection_loses_count_of_a_tile(moment: Moment) -> None:
    state = make_state(3)
    actions: list[Action] = [right_end_tile(1), Exchange()]

    for first in nonempty(actions):
        final = play(make_match(state), [make_seat(first, fails=moment), make_seat(), make_seat()])

        assert all_tiles(final.state) == all_tiles(state)
        assert [ejected.moment for ejected in final.ejected] == [moment]
