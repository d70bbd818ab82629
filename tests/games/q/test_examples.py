"""Test that the example positions of Q are what their names say."""

from fairplay.core.game import Moment
from fairplay.games.q import Exchange, Pass, Place, Placement, Q, View
from fairplay.games.q.draft import drafts
from fairplay.games.q.examples import EXAMPLES
from fairplay.games.q.pieces import KINDS

GAME = Q()


def seen(name: str) -> View:
    return GAME.view(EXAMPLES[name], 0)


def test_the_red_diamond_makes_a_q() -> None:
    for at in ((0, -1), (0, 5)):
        after = GAME.apply(EXAMPLES["almost a q"], Place((Placement("red diamond", at),)))

        assert after.scores[0] == 1 + 6 + GAME.q_bonus


def test_nothing_fits_between_two_with_a_trait_from_each() -> None:
    placed = [draft.placed for draft in drafts(seen("between two"))]

    assert placed
    assert all(one.at != (0, 1) for draft in drafts(seen("between two")) for one in draft.action.tiles)


def test_there_may_be_a_gap_between_the_tiles_of_a_placement() -> None:
    action = Place((Placement("green star", (0, -1)), Placement("yellow star", (0, 3))))

    GAME.check(seen("a gap"), action)


def test_the_last_tile_ends_the_game() -> None:
    after = GAME.apply(EXAMPLES["about to finish"], Place((Placement("red circle", (0, 1)),)))

    assert GAME.turn(after) is None
    assert after.scores == (1 + 2 + GAME.finish_bonus, 0)


def test_where_nothing_else_is_left_only_passing_is_legal() -> None:
    assert list(GAME.actions(seen("only passing"))) == [Pass()]


def test_passing_at_the_end_of_an_empty_round_ends_the_game_and_placing_does_not() -> None:
    state = EXAMPLES["last of the round"]

    assert GAME.turn(GAME.apply(state, Pass())) is None
    assert GAME.turn(GAME.apply(state, Exchange())) is None
    assert GAME.turn(GAME.apply(state, Place((Placement("red circle", (0, 1)),)))) == 1


def test_new_tiles_are_lost_if_their_player_does_not_acknowledge_them() -> None:
    state = EXAMPLES["fresh tiles"]
    failed = state.order[-1]

    after = GAME.eject(state, failed, Moment.NEWS)

    assert state.hands[failed] == (KINDS["blue star"], KINDS["red square"])
    assert after.lost == state.fresh == (KINDS["blue star"],)
    assert after.pile == (*state.pile, KINDS["red square"])


def test_the_start_is_the_start() -> None:
    state = EXAMPLES["start"]

    assert (len(state.map.tiles), [len(hand) for hand in state.hands], state.scores) == (1, [6, 6], (0, 0))
