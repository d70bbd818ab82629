"""Test that the example positions of Tsuro are what their names say."""

from fairplay.core.errors import IllegalAction
from fairplay.games.tsuro.examples import EXAMPLES
from fairplay.games.tsuro.game import Tsuro
from fairplay.games.tsuro.rules import FINE, LOOP, SUICIDE, Kind, kind_of, options_of
from fairplay.games.tsuro.view import View

TSURO = Tsuro()


def seen(name: str) -> View:
    state = EXAMPLES[name]
    return TSURO.view(state, TSURO.turn(state))


def kinds(name: str) -> set[Kind]:
    return {kind_of(seen(name), option) for option in options_of(seen(name).dealt)}


def legal(name: str) -> int:
    return len(list(TSURO.actions(seen(name))))


def test_a_choice_has_one_way_out() -> None:
    assert (kinds("a choice"), legal("a choice")) == ({FINE, SUICIDE}, 4)


def test_what_is_forced_is_legal() -> None:
    assert (kinds("forced suicide"), legal("forced suicide")) == ({SUICIDE}, 4)
    assert (kinds("forced loop"), legal("forced loop")) == ({LOOP}, 4)


def test_where_nothing_is_legal_every_option_breaks_clause_4_5() -> None:
    view = seen("no legal option")
    broken = []
    for option in options_of(view.dealt):
        try:
            TSURO.check(view, option)
        except IllegalAction as illegal:
            broken.append(illegal.clause)

    assert kinds("no legal option") == {LOOP, SUICIDE}
    assert broken == ["4.5"] * 8


def test_two_stand_together_and_move_together() -> None:
    state = EXAMPLES["together"]

    after = TSURO.apply(state, next(TSURO.actions(seen("together"))))

    assert state.table.avatars[0] == state.table.avatars[1]
    assert after.table.avatars[0] == after.table.avatars[1] != state.table.avatars[0]


def test_the_last_one_has_its_turn_and_then_it_is_over() -> None:
    state = EXAMPLES["the last one"]

    after = TSURO.apply(state, next(TSURO.actions(seen("the last one"))))

    assert (TSURO.turn(state), TSURO.turn(after)) == (1, None)
