"""Eject players of Q at every moment, and look where their tiles are."""

import pytest

from fairplay.core.events import Acted
from fairplay.core.game import Moment
from fairplay.core.messages import Start
from fairplay.games.q import Action, Exchange, Pass, State
from fairplay.referee.drivers import play
from tests.games.q.positions import QGAME, lying, match_of, named, pieces, row, then, tiles
from tests.games.q.seating import PILE, out, right, seat, table
from tests.some import some


def test_who_fails_at_the_greeting_gives_back_its_hand_and_those_after_it_see_that() -> None:
    state = table(3)
    later = seat()

    final = play(match_of(state), [seat(), seat(fails=Moment.GREETING), later])

    greeting = later.heard[0]
    assert isinstance(greeting, Start)
    assert (greeting.view.order, greeting.view.left) == ((0, 2), 6 + 3)
    assert final.state.pile == state.pile + state.hands[1]
    assert (final.state.hands[1], final.state.lost) == ((), ())


def test_who_fails_on_its_turn_gives_back_its_hand_in_its_order() -> None:
    state = table(2)

    after = match_of(state).after(out(0, Moment.TURN)).state

    assert named(after.pile[-3:]) == ["red circle", "blue clover", "red circle"]
    assert (after.hands[0], after.map, after.lost) == ((), state.map, ())


def test_who_fails_to_take_new_tiles_loses_them_and_gives_back_the_rest() -> None:
    state = table(2)

    match = match_of(state).after(Acted(0, right(1))).after(out(0, Moment.NEWS))

    after: State = match.state
    assert lying(after) == row((0, 0), "red star, red circle")
    assert named(after.lost) == ["green star"]
    assert named(after.pile) == [*named(tiles(PILE)[1:]), "blue clover", "red circle"]
    assert (after.hands[0], after.fresh, match.owed) == ((), (), ())


def test_who_fails_after_an_exchange_has_given_back_its_hand_already() -> None:
    state = table(2)

    after = match_of(state).after(Acted(0, Exchange())).after(out(0, Moment.NEWS)).state

    assert named(after.lost) == ["green star", "green circle", "green clover"]
    assert after.pile == tiles(PILE)[3:] + state.hands[0]


def test_who_fails_when_there_were_no_new_tiles_loses_none() -> None:
    state = table(2, pile="")

    after = match_of(state).after(Acted(0, right(1))).after(out(0, Moment.NEWS)).state

    assert (after.lost, named(after.pile)) == ((), ["blue clover", "red circle"])


def test_a_later_failure_loses_nothing() -> None:
    state = then(table(2), right(1), Pass())

    after = QGAME.eject(state, 0, Moment.TURN)

    assert (after.lost, after.pile[-3:]) == ((), state.hands[0])


def test_who_fails_at_the_farewell_changes_no_tile_and_no_score() -> None:
    final = play(match_of(table(2, scores=(3, 1))), [seat(fails=Moment.FAREWELL), seat()])

    assert final.result.ranking == (frozenset(), frozenset({1}))
    assert (final.state.hands, final.state.pile) == (table(2).hands, tiles(PILE))


def test_the_score_of_the_ejected_is_kept_but_not_ranked() -> None:
    after = QGAME.eject(table(3, scores=(9, 5, 5)), 0, Moment.TURN)

    assert after.scores == (9, 5, 5)
    assert QGAME.ranking(after) == (frozenset({1, 2}),)


@pytest.mark.parametrize("moment", list(Moment))
def test_no_ejection_loses_count_of_a_tile(moment: Moment) -> None:
    state = table(3)
    actions: list[Action] = [right(1), Exchange()]

    for first in some(actions):
        final = play(match_of(state), [seat(first, fails=moment), seat(), seat()])

        assert pieces(final.state) == pieces(state)
        assert [ejected.moment for ejected in final.ejected] == [moment]
