"""Test the rounds of Tsuro to their end: turns, eliminations, ranks, and the tiles that are used up."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.events import Acted, Ejected, Ended, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Answered, End, Failed, Message, Start, TakeTurn
from fairplay.games.tsuro import Action, Lay, Place, Stage, State, Tsuro, View
from fairplay.testing.scripted import Script, ScriptedChannel, failing_script, strategy_script
from tests.games.tsuro.positions import (
    CORNERS,
    STRAIGHT,
    TSURO,
    UTURN,
    Spot,
    first_action,
    make_position,
    placed_tiles,
    play_actions,
    referee_match,
    spots,
)
from tests.nonempty import nonempty

GONE = Failed(Fault.GONE, "left the room")
good = strategy_script(first_action)


def leaving(at: int) -> Script:
    """Good, but gone when it is called for the n-th time, counted from 0."""
    return failing_script(at, GONE, good)


def kinds(player: ScriptedChannel) -> list[type[Message]]:
    """What a player was told, in order."""
    return [type(message) for message in player.heard]


def corner(*dealt: int, **given: Any) -> State:
    """White and red each stand in a corner and face south, where corner tiles lead them off; black fell in round 1."""
    tiles = {(0, 0): STRAIGHT, (9, 0): STRAIGHT, (4, 4): CORNERS}
    avatars: list[Spot | None] = [(0, 0, "F"), None, (9, 0, "E")]
    return make_position(tiles, avatars, dealt, **{"round": 3, "fell": [0, 1, 0], **given})


# 2 and 5: rounds, and how they end.


def test_every_player_still_in_acts_once_in_each_round_by_age() -> None:
    _, _, told = referee_match(TSURO.deal(5, bytes(32)))
    rounds: dict[int, list[int]] = {}

    before = told.heard[0][1]
    for event, state in told.heard[1:]:
        if isinstance(event, Acted | Ejected):
            rounds.setdefault(before.table.round, []).append(event.seat)
        before = state

    assert rounds[0] == rounds[1] == [0, 1, 2, 3, 4]
    assert all(seats == sorted(set(seats)) for seats in rounds.values())
    assert list(rounds) == list(range(len(rounds)))
    assert len(rounds) > 3


def test_the_last_one_left_finishes_the_round_and_survives() -> None:
    final, (_, _, red), told = referee_match(corner(CORNERS, CORNERS, STRAIGHT, STRAIGHT))

    assert [event.seat for event, _ in told.heard if isinstance(event, Acted)] == [0, 2]
    assert kinds(red) == [Start, TakeTurn, End]
    assert (spots(final.state)[2], final.state.table.stage) == ((9, 1, "E"), Stage.DONE)
    assert final.result.ranking == (frozenset({2}), frozenset({0}), frozenset({1}))
    assert final.state.drawn == 4


def test_the_last_one_left_finishes_the_round_and_may_die_in_it() -> None:
    final, _, _ = referee_match(corner(CORNERS, CORNERS, CORNERS, CORNERS))

    assert spots(final.state) == [None, None, None]
    assert final.result.ranking == (frozenset({0, 2}), frozenset({1}))  # those of the last round are joint first


def test_the_last_one_left_finishes_the_round_and_may_be_ejected_in_it() -> None:
    final, _, _ = referee_match(
        corner(CORNERS, CORNERS, STRAIGHT, STRAIGHT), [good, good, strategy_script(lambda view: Lay(0, 0))]
    )

    assert [(out.seat, out.fault) for out in final.result.ejected] == [(2, Fault.ILLEGAL)]
    assert final.result.ranking == (frozenset({0}), frozenset({1}))


def test_a_player_that_had_its_turn_is_not_asked_again_when_it_is_the_last_one_left() -> None:
    state = corner(STRAIGHT, STRAIGHT, CORNERS, CORNERS)

    final, (white, _, _), _ = referee_match(state)

    assert kinds(white) == [Start, TakeTurn, End]
    assert final.result.ranking == (frozenset({0}), frozenset({2}), frozenset({1}))


def test_a_player_driven_off_before_its_turn_does_not_get_the_turn() -> None:
    tiles = {(1, 1): STRAIGHT, (2, 0): STRAIGHT, (7, 7): STRAIGHT}
    state = make_position(tiles, [(1, 1, "A"), (2, 0, "H"), (7, 7, "A")], [21, 21, 0, 1])

    after = play_actions(state, Lay(21, 0))

    assert (TSURO.turn(after), TSURO.order(after), after.table.round) == (2, (2, 0), 1)


def test_a_new_round_begins_with_the_oldest_who_is_left() -> None:
    tiles = {(0, 0): STRAIGHT, (9, 0): STRAIGHT, (4, 4): STRAIGHT}
    state = make_position(tiles, [(0, 0, "F"), (9, 0, "E"), (4, 4, "A")], [CORNERS, CORNERS, STRAIGHT, STRAIGHT, 0, 1])

    after = play_actions(state, Lay(CORNERS, 0), Lay(STRAIGHT, 0), Lay(0, 0))

    assert (after.table.round, TSURO.order(after)) == (2, (1, 2))


@pytest.mark.parametrize(
    ("fell", "ranking"),
    [
        ([0, 3, 1, 2], [{0}, {1}, {3}, {2}]),
        ([4, 4, 2, 4], [{0, 1, 3}, {2}]),
        ([2, 2, 2, 2], [{0, 1, 2, 3}]),
        ([-1, 3, 3, 0], [{3}, {1, 2}]),
        ([-5, 3, -1, 2], [{1}, {3}]),
        ([-1, -4, 0, -2], [{2}]),
        ([-1, -4, -5, -1], []),
    ],
)
def test_a_later_round_is_better_and_the_same_round_shares_a_rank(fell: list[int], ranking: list[set[int]]) -> None:
    avatars: list[Spot | None] = [(0, 0, "C") if round == 0 else None for round in fell]
    state = make_position({(0, 0): STRAIGHT}, avatars, stage="done", round=4, waiting=[], fell=fell)

    assert TSURO.ranking(state) == tuple(frozenset(group) for group in ranking)


@pytest.mark.parametrize(
    ("fell", "scores"),
    [
        ([0, 4, 1, 2], (4, 4, 1, 2)),
        ([-1, 3, 3, 0], (0, 3, 3, 4)),
        ([-5, 3, -2, 2], (4, 3, 1, 2)),
        ([-1, -4, -5, -1], (0, 3, 4, 0)),
    ],
)
def test_the_score_is_the_round_that_a_player_survived_to(fell: list[int], scores: tuple[int, ...]) -> None:
    avatars: list[Spot | None] = [(0, 0, "C") if round == 0 else None for round in fell]
    state = make_position({(0, 0): STRAIGHT}, avatars, stage="done", round=4, waiting=[], fell=fell)

    assert TSURO.scores(state) == scores


@pytest.mark.parametrize(("seat", "kept"), [(0, 3), (1, 1)], ids=["still in", "led off in round 1"])
def test_an_ejected_player_keeps_the_round_that_it_survived_to(seat: int, kept: int) -> None:
    before = corner(CORNERS, CORNERS)

    after = TSURO.eject(before, seat, Moment.GREETING)
    again = TSURO.unpack_state(TSURO.pack_state(after))

    assert (TSURO.scores(before)[seat], TSURO.scores(after)[seat]) == (kept, kept)
    assert again == after
    assert seat not in frozenset().union(*TSURO.ranking(after))


def test_forced_loops_and_suicides_are_ranked_like_all_who_leave_the_board() -> None:
    tiles = {(0, 0): UTURN, (9, 0): STRAIGHT, (4, 4): STRAIGHT}
    state = make_position(
        tiles, [(0, 0, "F"), (9, 0, "E"), (4, 4, "A")], [UTURN, UTURN, CORNERS, CORNERS, 0, 1], round=7
    )

    final, _, _ = referee_match(state)

    assert final.result.ranking == (frozenset({2}), frozenset({0, 1}))
    assert final.result.ejected == ()


def test_the_eliminated_get_no_turn_and_no_news_and_exactly_one_end() -> None:
    for seats in (3, 4, 5):
        for number in range(12):
            game = Tsuro(size=6)
            state = game.deal(seats, seed_from_text(f"eliminated {number}"))

            final, table, told = referee_match(state, game=game)

            out = {ejected.seat for ejected in final.result.ejected}
            for seat, player in enumerate(table):
                turns = sum(isinstance(event, Acted | Ejected) and event.seat == seat for event, _ in told.heard)
                assert kinds(player) == [Start, *[TakeTurn] * turns, *([] if seat in out else [End])]
                views = [message.view.table for message in player.heard if isinstance(message, TakeTurn)]
                assert all(table.fell[seat] == 0 for table in views)
            assert {seat for group in final.result.ranking for seat in group} | out == set(range(seats))
            assert isinstance(told.heard[-1][0], Ended)


# 4.5: no legal option.


def test_a_player_without_a_legal_option_is_ejected_whatever_it_does() -> None:
    tiles = {(0, 0): UTURN, (9, 0): STRAIGHT, (4, 4): STRAIGHT}
    state = make_position(tiles, [(0, 0, "F"), (9, 0, "E"), (4, 4, "A")], [UTURN, CORNERS, 0, 1, 2, 3, *range(35)] * 5)

    final, (white, _, _), _ = referee_match(state)

    assert kinds(white) == [Start, TakeTurn]
    assert (final.ejected[0].seat, final.ejected[0].fault) == (0, Fault.ILLEGAL)
    assert final.ejected[0].why.startswith("rule 4.5: no legal option")
    assert all(0 not in group for group in final.result.ranking)


# 6 Ejection, and the tiles that are used up.


def test_tiles_are_dealt_three_for_a_placement_and_two_for_a_turn() -> None:
    final, table, told = referee_match(TSURO.deal(3, bytes(32)))
    dealt = [message.view.dealt for player in table for message in player.heard if isinstance(message, TakeTurn)]

    steps = [after - before for before, after in pairwise(told.tiles_drawn)]
    assert steps == [3, 3, 3, *[2] * (len(steps) - 4), 0]
    assert sum(len(tiles) for tiles in dealt) == final.state.drawn
    assert sorted(tile for tiles in dealt for tile in tiles) == sorted(
        number % 35 for number in range(final.state.drawn)
    )


@pytest.mark.parametrize("seat", range(4))
def test_a_greeting_that_fails_uses_up_no_tiles(seat: int) -> None:
    scripts = [leaving(0) if other == seat else good for other in range(4)]

    final, table, told = referee_match(TSURO.deal(4, bytes(32)), scripts)

    assert told.tiles_drawn[:6] == [0, 0, 3, 6, 9, 11]
    assert kinds(table[seat]) == [Start]
    rest = [player for other, player in enumerate(table) if other != seat]
    asked = [next(message for message in player.heard if isinstance(message, TakeTurn)) for player in rest]
    assert [message.view.dealt for message in asked] == [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
    assert final.ejected[0].moment is Moment.GREETING


def test_a_placement_that_is_refused_uses_up_three_tiles_and_places_none() -> None:
    cheat = strategy_script(lambda view: Place(view.dealt[0], 0, "A", (5, 5)))

    final, (_, _, last), told = referee_match(TSURO.deal(3, bytes(32)), [good, cheat, good])

    before, after = told.heard[1][1], told.heard[2][1]
    assert told.tiles_drawn[:5] == [0, 3, 6, 9, 11]
    assert placed_tiles(before) == placed_tiles(after)
    assert [message.view.dealt for message in last.heard[1:3]] == [(6, 7, 8), (11, 12)]  # type: ignore[union-attr]  # turns
    assert (final.ejected[0].seat, final.ejected[0].fault) == (1, Fault.ILLEGAL)


@pytest.mark.parametrize("answer", [GONE, Answered(Lay(34, 0))], ids=["no answer", "a tile that was not dealt"])
def test_a_turn_that_fails_uses_up_two_tiles_and_lays_none(answer: Answered | Failed) -> None:
    _, _, told = referee_match(TSURO.deal(3, bytes(32)), [good, failing_script(2, answer, good), good])

    before, after = told.heard[4][1], told.heard[5][1]
    assert told.tiles_drawn[:7] == [0, 3, 6, 9, 11, 13, 15]
    assert before.table.board == after.table.board
    assert (spots(before)[1] is None, spots(after)[1]) == (False, None)
    assert (after.table.fell, TSURO.order(after)) == ((0, -2, 0), (2, 0))


def test_the_tiles_of_the_ejected_stay_where_they_lie() -> None:
    _, _, told = referee_match(TSURO.deal(3, bytes(32)), [good, leaving(3), good])

    boards = [placed_tiles(state) for _, state in told.heard]
    for before, after in nonempty(pairwise(boards)):
        assert before.items() <= after.items()


def test_an_ejection_between_turns_changes_neither_the_tiles_nor_who_is_on_turn() -> None:
    state = corner(STRAIGHT, CORNERS)

    after = TSURO.eject(state, 2, Moment.GREETING)

    assert (after.drawn, after.dealt, TSURO.turn(after), TSURO.order(after)) == (0, (STRAIGHT, CORNERS), 0, (0,))


def test_an_eliminated_player_can_still_be_ejected_and_is_not_ranked_then() -> None:
    state = corner(STRAIGHT, CORNERS)

    after = TSURO.eject(state, 1, Moment.GREETING)

    assert TSURO.ranking(after) == (frozenset({0, 2}),)
    assert (after.table.waiting, after.table.stage) == (state.table.waiting, Stage.PLAYING)


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_when_all_players_are_ejected_the_game_is_over_without_a_ranking(at: int) -> None:
    final, table, _ = referee_match(TSURO.deal(5, bytes(32)), [leaving(at) for _ in range(5)])

    assert final.result.ranking == ()
    assert [out.seat for out in final.result.ejected] == [0, 1, 2, 3, 4]
    assert (final.turn, final.state.table.stage) == (None, Stage.DONE)
    assert all(kinds(player) == [Start, TakeTurn, TakeTurn, TakeTurn][: at + 1] for player in table)


def test_one_left_while_placing_still_places_and_then_the_game_is_over() -> None:
    final, (_, _, last), told = referee_match(TSURO.deal(3, bytes(32)), [leaving(1), leaving(1), good])

    assert kinds(last) == [Start, TakeTurn, End]
    assert (told.tiles_drawn, len(placed_tiles(final.state))) == ([0, 3, 6, 9, 9], 1)
    assert (final.state.table.stage, final.state.table.round) == (Stage.DONE, 0)
    assert final.result.ranking == (frozenset({2}),)


def test_one_left_after_it_has_placed_plays_no_turn() -> None:
    final, (white, _, _), _ = referee_match(TSURO.deal(3, bytes(32)), [good, leaving(1), leaving(1)])

    assert kinds(white) == [Start, TakeTurn, End]
    assert (final.state.drawn, final.result.ranking) == (9, (frozenset({0}),))


def test_a_player_that_fails_the_end_is_struck_out_and_no_player_moves_up() -> None:
    state = corner(CORNERS, CORNERS, STRAIGHT, STRAIGHT)

    final, _, told = referee_match(state, [good, good, leaving(2)])

    assert final.result.ranking == (frozenset(), frozenset({0}), frozenset({1}))
    assert final.ejected[0].moment is Moment.END
    assert told.tiles_drawn == [0, 2, 4, 4, 4]


def test_the_end_comes_to_the_winners_first() -> None:
    order: list[int] = []

    def noting(seat: int) -> Any:
        def script(message: Message) -> Any:
            if isinstance(message, End):
                order.append(seat)
            return good(message)

        return script

    referee_match(corner(CORNERS, CORNERS, STRAIGHT, STRAIGHT), [noting(0), noting(1), noting(2)])

    assert order == [2, 0, 1]


def test_a_full_edge_puts_honest_players_out_by_clause_3_6() -> None:
    game = Tsuro(size=3)
    places = iter(
        [Place(0, 0, "C", (0, 0)), Place(0, 0, "H", (2, 1)), Place(0, 0, "A", (1, 2)), Place(0, 0, "A", (2, 2))]
    )

    def place(view: View) -> Action:
        placing = view.table.stage is Stage.PLACING
        return msgspec.structs.replace(next(places), tile=view.dealt[0]) if placing else first_action(view)

    final, _, _ = referee_match(game.deal(4, bytes(32)), [strategy_script(place)] * 4, game)

    assert (final.ejected[0].seat, final.ejected[0].fault) == (3, Fault.ILLEGAL)
    assert final.ejected[0].why.startswith("rule 3.6: no legal option")
