"""Check memo 002, the state of Q's referee: its wish list and its ten steps."""

from collections.abc import Callable

import msgspec
import pytest

from fairplay import Acted, Ended, Event, Fault, IllegalAction
from fairplay.core.chance import seed_from_text
from fairplay.core.match import Match
from fairplay.core.messages import End, TakeTurn
from fairplay.games.q import Action, Exchange, Pass, Place, Placement, Q, View, draft_of
from fairplay.games.q.draw import svg
from fairplay.journal.record import Journal
from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.referee.drivers import play
from fairplay.referee.referee import Referee
from fairplay.testing.scripted import ScriptedChannel, strategy_script
from tests.games.q.positions import (
    Laid,
    make_match,
    make_placement,
    make_position,
    placed_tiles,
    play_actions,
    tile_names,
    tile_row,
    transpose,
)
from tests.journal_files import newest_journal
from tests.match_ids import without_id
from tests.memos.story import Story, watch_match

GAME = Q()
NAMES = ("ann", "bob", "cyd")
START = make_position(
    {(0, 0): "red star"},
    ["red circle, blue clover, red square", "green star, red circle", "blue star, red star"],
    "purple star, purple circle, purple clover, orange star",
    scores=(5, 3, 0),
)
ANN = GAME.view(START, 0)
ENOUGH = 14  # turns


class Mixed:
    """Places, exchanges and passes by turns, where it can, until it has had enough."""

    def __init__(self, first: int) -> None:
        self._turns = first

    def take_turn(self, view: View) -> Action:
        self._turns += 1
        if self._turns > ENOUGH:
            return Pass()
        placement = next((action for action in GAME.actions(view) if isinstance(action, Place)), None)
        if self._turns % 5 == 0 and view.left >= len(view.kinds):
            return Exchange()
        return placement if placement and self._turns % 4 else Pass()


Recorded = tuple[RecordedMatch, Story]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A whole match, written down, and what an observer heard of it."""
    directory = tmp_path_factory.mktemp("memo")
    seed, record = seed_from_text("002"), Journal(directory).begin
    story = watch_match(GAME, [Mixed(0), Mixed(1), Mixed(2)], names=NAMES, seed=seed, record=record)
    return read_journal(newest_journal(directory), GAME), story


def passing() -> list[ScriptedChannel]:
    return [ScriptedChannel(strategy_script(lambda view: Pass())) for _ in NAMES]


# The wish list.


@pytest.mark.parametrize(
    ("wish", "told", "expected"),
    [
        ("public info", (ANN.seat, ANN.map, ANN.scores, ANN.left), (0, START.map, {0: 5, 1: 3, 2: 0}, 4)),
        ("current map", placed_tiles(START), {(0, 0): "red star"}),
        ("available tiles of the active player", ANN.hand, ("red circle", "blue clover", "red square")),
        ("players' scores", START.scores, (5, 3, 0)),
        ("players' remaining tiles", tuple(map(len, START.hands)), (3, 2, 2)),
        ("referee's remaining tiles", (ANN.left, len(START.pile)), (4, 4)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_get(wish: str, told: object, expected: object) -> None:
    assert told == expected, wish


def test_place_tile_for_the_active_player() -> None:
    after = play_actions(START, draft_of(ANN).place("red circle", (0, 1)).action)

    assert placed_tiles(after) == tile_row((0, 0), "red star, red circle")


def test_is_valid_move() -> None:
    draft = draft_of(ANN).place("red circle", (0, 1))

    assert draft.is_valid("red square", (0, 2))
    assert not draft.is_valid("red square", (5, 5))  # shares no side with a tile
    assert not draft.is_valid("blue clover", (0, 2))  # matches neither shape nor colour
    assert not draft.is_valid("red square", (1, 0))  # not in the same row or column as the one before
    assert not draft.is_valid("red circle", (0, 2))  # placed already
    assert not draft.is_valid("red square", (0, 0))  # there is a tile


def test_exchange_tiles_takes_all_of_them() -> None:
    after = play_actions(START, Exchange())

    assert tile_names(after.hands[0]) == ["purple star", "purple circle", "purple clover"]
    assert tile_names(after.pile) == ["orange star", "red circle", "blue clover", "red square"]


def test_end_turn_replaces_the_tiles_and_the_next_player_follows() -> None:
    after = play_actions(START, make_placement(tile_row((0, 1), "red circle, red square")))

    assert tile_names(after.hands[0]) == ["purple star", "purple circle", "blue clover"]
    assert GAME.turn(after) == 1


@pytest.mark.parametrize(("first", "second"), [((0, 1), (0, 2)), ((1, 0), (2, 0))], ids=["a row", "a column"])
def test_is_in_same_row_or_column(first: tuple[int, int], second: tuple[int, int]) -> None:
    draft = draft_of(ANN).place("red circle", first)

    assert draft.is_in_line(second)
    assert not draft.is_in_line((7, 7))


def test_render_game_state_as_an_image() -> None:
    picture = svg(ANN, NAMES)

    assert picture.startswith("<svg")
    assert all(name in picture for name in NAMES)
    assert picture != svg(GAME.view(play_actions(START, Exchange()), 0), NAMES)


def test_turn_score() -> None:
    draft = draft_of(ANN).place("red circle", (0, 1)).place("red square", (0, 2))

    after = play_actions(START, draft.action)

    assert draft.score(GAME.q_bonus, GAME.finish_bonus) == after.scores[0] - START.scores[0] == 2 + 3


@pytest.mark.parametrize("turn", [dict, transpose], ids=["a row", "a column"])
def test_what_was_pointed_already_on_a_row_or_a_column_is_not_pointed_again(turn: Callable[[Laid], Laid]) -> None:
    tiles = {(0, 0): "red star", **turn({(1, 1): "red circle", (1, 2): "red square"})}
    state = make_position(tiles, ["red circle, red square, blue clover", "green star"], "red star")

    after = play_actions(state, make_placement(turn(tile_row((0, 1), "red circle, red square"))))

    assert after.scores[0] == 2 + 3 + 2 + 2  # two tiles, one line of three that both are on, and two lines across


def test_the_moves_that_players_make_are_kept(recorded: Recorded) -> None:
    record, story = recorded

    moves = [fact.action for fact in record.facts if isinstance(fact, Acted)]

    assert {type(action) for action in moves} == {Place, Exchange, Pass}
    assert len(moves) == len(record.facts)
    placed = sum(len(action.tiles) for action in moves if isinstance(action, Place))
    assert placed == len(story.match.state.map.tiles) - 1


def test_the_game_can_be_started_at_any_moment_that_has_been_played(recorded: Recorded) -> None:
    record, story = recorded

    saved = [record.match_after(number).state for number in range(len(record.facts) + 1)]

    assert saved == story.states[:-1]
    for number in range(0, len(saved), max(1, len(saved) // 5)):
        again = Match(GAME, GAME.unpack_state(GAME.pack_state(saved[number])), NAMES, seed=story.match.seed)
        for fact in record.facts[number:]:
            again = again.after(fact)
        assert (again.state, again.result) == (story.match.state, story.match.result)


def test_a_saved_state_is_played_on_and_drawn(recorded: Recorded) -> None:
    record, _ = recorded
    middle = record.match_after(len(record.facts) // 2)

    final = Referee().resume(middle, [Mixed(0), Mixed(1), Mixed(2)])

    assert final.turn is None
    assert svg(middle.view(None), NAMES).startswith("<svg")


# The ten steps.


def test_1_and_2_the_players_are_in_order_with_their_tiles_and_one_tile_is_on_the_map() -> None:
    state = GAME.deal(3, bytes(32))

    assert GAME.order(state) == (0, 1, 2)
    assert [len(hand) for hand in state.hands] == [6, 6, 6]
    assert list(placed_tiles(state)) == [(0, 0)]


def test_1_the_oldest_is_first() -> None:
    match = Referee().run(GAME, [lambda view: Pass()] * 3, names=NAMES, ages=[20, 40, 30])

    assert match.names == ("bob", "cyd", "ann")


def test_3_the_active_player_plays_its_turn() -> None:
    asked: list[int | None] = []

    def note_and_pass(view: View) -> Action:
        asked.append(view.seat)
        return Pass()

    play(make_match(START), [ScriptedChannel(strategy_script(note_and_pass)) for _ in NAMES])

    assert asked == [0, 1, 2]


def test_4_1_an_invalid_move_gets_a_player_kicked_and_the_others_reordered() -> None:
    wrong = Place((Placement("blue clover", (0, 1)),))

    final = play(make_match(START), [ScriptedChannel(strategy_script(lambda view: wrong)), *passing()[1:]])

    assert [(out.seat, out.fault) for out in final.ejected] == [(0, Fault.ILLEGAL)]
    assert GAME.order(final.state) == (1, 2)
    assert final.state.map == START.map


def test_4_2_a_valid_move_is_placed_on_the_map() -> None:
    assert placed_tiles(play_actions(START, make_placement({(0, 1): "red circle"})))[0, 1] == "red circle"


def test_4_3_an_exchange_replaces_all_tiles_and_is_invalid_when_the_pile_has_fewer_than_the_hand() -> None:
    few = msgspec.structs.replace(START, pile=START.pile[:2])

    assert len(play_actions(START, Exchange()).hands[0]) == 3
    with pytest.raises(IllegalAction, match=r"rule 3\.6"):
        GAME.check(GAME.view(few, 0), Exchange())


def test_4_4_to_pass_moves_on_to_the_next_player_without_any_modification() -> None:
    after = play_actions(START, Pass())

    assert (after.hands, after.scores, GAME.turn(after)) == (START.hands, START.scores, 1)


def test_4_5_the_score_of_the_move_is_added_to_the_running_score() -> None:
    assert play_actions(START, make_placement({(0, 1): "red circle"})).scores == (5 + 3, 3, 0)


def test_5_and_6_the_state_is_updated_and_saved_after_every_move(recorded: Recorded) -> None:
    record, story = recorded

    assert list(record.facts) == story.events[1:-1]
    for before, event, after in zip(story.states, record.facts, story.states[1:], strict=False):
        assert isinstance(event, Acted)
        assert after == GAME.apply(before, event.action)


def test_7_and_8_at_the_end_of_each_round_it_is_checked_whether_the_game_is_over(recorded: Recorded) -> None:
    record, story = recorded
    placed = [isinstance(fact, Acted) and isinstance(fact.action, Place) for fact in record.facts]

    rounds = [any(placed[number : number + 3]) for number in range(0, len(placed), 3)]

    assert all(rounds[:-1])
    assert not rounds[-1] or not story.match.state.hands[story.match.state.order[0]]


def test_9_the_winner_and_the_rankings_are_announced() -> None:
    table, events = passing(), list[Event]()

    final = play(make_match(START), table, on_event=lambda event, match: events.append(event))

    assert events[-1] == Ended(final.result)
    assert final.result.ranking == (frozenset({0}), frozenset({1}), frozenset({2}))
    assert all(channel.heard[-1] == End(final.result) for channel in table)


def test_10_the_next_game_starts_from_nothing() -> None:
    referee, tables = Referee(), [[Mixed(0), Mixed(1)], [Mixed(0), Mixed(1)]]

    first, second = (referee.run(GAME, table, seed=bytes(32)) for table in tables)

    assert without_id(first) == without_id(second)
    assert first.state.scores == second.state.scores


def test_the_referee_contacts_the_state_whenever_it_gets_the_players_input() -> None:
    table = passing()

    play(make_match(START), table)

    turns = [[message.view for message in one.heard if isinstance(message, TakeTurn)] for one in table]
    assert [[view.order for view in views] for views in turns] == [[(0, 1, 2)], [(1, 2, 0)], [(2, 0, 1)]]
