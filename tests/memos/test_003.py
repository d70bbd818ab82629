"""Check memo 003, the referee of Fish, sentence by sentence."""

from itertools import pairwise
from typing import Any

import pytest

from fairplay import Acted, BadRequest, Ejected, Ended, Event, Fault, Started
from fairplay.core.chance import seed_commitment
from fairplay.core.match import Match
from fairplay.games.fish import Action, Fish, Move, Place, Stage, State, View
from fairplay.games.fish.tree import Node
from fairplay.referee.referee import Referee
from tests.match_ids import without_id
from tests.memos.story import SEED, Story, watch_match

FishMatch = Match[State, View, Action]

GAME = Fish(rows=4, columns=5)


class Player:
    """A player that keeps what it was asked; after so many good turns it fails in its way, if it has one."""

    def __init__(self, fault: Fault | None = None, turns: int = 0) -> None:
        self.asked: list[View] = []
        self._fault, self._turns = fault, turns

    def take_turn(self, view: View) -> Action:
        if self._fault is not None and len(self.asked) == self._turns:
            if self._fault is Fault.CRASHED:
                raise RuntimeError("no more")
            return Place((-1, -1))
        self.asked.append(view)
        return next(GAME.actions(view))

    def stages(self) -> list[Stage]:
        return [view.state.stage for view in self.asked]


def cheat(turns: int) -> Player:
    return Player(Fault.ILLEGAL, turns)


def crash(turns: int) -> Player:
    return Player(Fault.CRASHED, turns)


def players(count: int) -> list[Any]:
    return [Player() for _ in range(count)]


def run(table: list[Any], story: Story | None = None, game: Fish = GAME, **options: Any) -> Story:
    return watch_match(game, table, story, **options)


# The referee's interface.


def test_a_subscription_returns_true_when_it_is_successful() -> None:
    assert Referee().subscribe(Story()) is True


def test_an_observer_that_is_subscribed_already_is_not_subscribed_twice() -> None:
    referee, watcher = Referee(), Story()

    assert (referee.subscribe(watcher), referee.subscribe(watcher)) == (True, False)
    referee.run(GAME, players(2), seed=SEED)
    assert [type(event) for event in watcher.events].count(Started) == 1


def test_the_observer_is_called_with_all_updates_as_the_game_is_run() -> None:
    story = run(players(2))

    assert isinstance(story.events[0], Started)
    assert story.events[-1] == Ended(story.match.result)
    assert len(story.events) > 10


def test_removing_returns_true_if_the_observer_was_there_and_false_if_it_is_not_found() -> None:
    referee, watcher = Referee(), Story()
    referee.subscribe(watcher)

    assert [referee.remove(one) for one in (Story(), watcher, watcher)] == [False, True, False]


def test_a_removed_observer_receives_no_more_updates() -> None:
    referee, stays, leaves = Referee(), Story(), Story()
    referee.subscribe(stays)
    referee.subscribe(leaves)
    referee.remove(leaves)

    referee.run(GAME, players(2), seed=SEED)

    assert stays.events
    assert leaves.events == []


# run-game.


@pytest.mark.parametrize(("rows", "columns"), [(2, 4), (3, 7), (8, 5)])
def test_the_board_has_as_many_rows_and_columns_as_the_manager_says(rows: int, columns: int) -> None:
    board = run(players(2), game=Fish(rows=rows, columns=columns)).states[0].grid

    assert (board.rows, board.columns) == (rows, columns)


def test_the_referee_may_remove_some_tiles_creating_holes_on_the_initial_board() -> None:
    state = run(players(2), game=Fish(rows=4, columns=5, holes=6)).states[0]

    assert [state.fish_on(position) for position in state.grid.positions].count(0) == 6


def test_the_play_order_starts_with_the_lowest_age_and_is_round_robin() -> None:
    story = run(players(3), ages=[40, 10, 25])

    assert story.match.names == ("bob", "cyd", "ann")
    assert [event.seat for event in story.events[1:10]] == [0, 1, 2] * 3


@pytest.mark.parametrize("count", [2, 3, 4])
def test_placements_are_asked_from_each_player_six_minus_n_times(count: int) -> None:
    table = players(count)

    run(table)

    assert [player.stages().count(Stage.PLACING) for player in table] == [6 - count] * count


@pytest.mark.parametrize("count", [2, 3, 4])
def test_movements_are_asked_from_the_current_player_until_there_are_no_valid_moves(count: int) -> None:
    table = players(count)

    story = run(table)

    for (_, before), event in zip(story.heard, story.events[1:-1], strict=False):
        assert isinstance(event, Acted)
        assert event.seat == before.turn
    assert all(player.stages() == sorted(player.stages(), key=list(Stage).index) for player in table)
    assert story.match.turn is None
    assert not any(story.match.state.can_move(seat) for seat in range(count))


@pytest.mark.parametrize("turns", [0, 2, 3, 5])
@pytest.mark.parametrize("fault", [Fault.CRASHED, Fault.ILLEGAL])
def test_a_player_that_fails_or_cheats_is_kicked_and_the_game_resumes_without_it_and_its_penguins(
    turns: int, fault: Fault
) -> None:
    table = [Player(), Player(fault, turns), Player()]

    story = run(table)

    kick, _ = story.the_only(Ejected)
    before, after = story.states[kick - 1 : kick + 1]
    assert [(out.seat, out.fault) for out in story.match.result.ejected] == [(1, fault)]
    assert after.penguins == (before.penguins[0], (), before.penguins[2])
    assert after.fish == before.fish  # the tiles stay
    assert 1 not in after.order
    assert len(table[1].asked) == turns
    assert {event.seat for event in story.events[kick + 1 : -1]} == {0, 2}
    assert story.match.turn is None


def test_finally_the_end_of_the_game_and_the_kicked_players_are_returned() -> None:
    match = run([cheat(1), Player(), crash(2), Player()]).match

    assert match.state.stage is Stage.DONE
    assert {match.names[out.seat] for out in match.result.ejected} == {"ann", "cyd"}
    assert sorted(seat for group in match.result.ranking for seat in group) == [1, 3]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_manager_must_provide_between_two_and_four_players(count: int) -> None:
    story = Story()

    with pytest.raises(BadRequest, match=f"fish is for 2 to 4 players, not for {count}"):
        run(players(count), story)

    assert story.events == []


# The five events.


def test_every_observer_is_called_once_for_each_event() -> None:
    referee, table, one, other = Referee(), [Player(), cheat(2), Player()], Story(), Story()
    referee.subscribe(one)
    referee.subscribe(other)

    referee.run(GAME, table, seed=SEED)

    kinds = [type(event) for event in one.events]
    assert one.heard == other.heard
    assert kinds.count(Acted) == sum(len(player.asked) for player in table)
    assert (kinds.count(Started), kinds.count(Ejected), kinds.count(Ended)) == (1, 1, 1)


def test_the_start_event_has_the_starting_board_and_the_colours_of_those_who_play() -> None:
    event, match = run(players(3)).heard[0]

    assert event == Started(("ann", "bob", "cyd"), seed_commitment(SEED, match.id))
    assert match.state == GAME.deal(3, SEED)
    assert match.state.colours == ("red", "white", "brown")


def test_a_place_event_has_the_state_after_it_the_position_and_the_color_of_the_player() -> None:
    event, match = run(players(2)).heard[1]

    assert isinstance(event, Acted) and isinstance(event.action, Place)
    assert match.state.colours[event.seat] == "red"
    assert match.state.grid.cell(event.action.at) in match.state.penguins[event.seat]


def test_a_move_event_has_the_game_after_it_the_move_and_the_color_of_the_player() -> None:
    story = run(players(2))

    (_, earlier), (event, later) = next(pair for pair in pairwise(story.heard) if is_move(pair[1][0]))
    before, after, action = earlier.state, later.state, event.action
    assert after.colours[event.seat] == "red"
    assert after.grid.cell(action.start) not in after.penguins[event.seat]
    assert after.grid.cell(action.to) in after.penguins[event.seat]
    assert after.fish_on(action.start) == 0
    assert after.scores[event.seat] == before.scores[event.seat] + before.fish_on(action.start)


def is_move(event: Any) -> bool:
    return isinstance(event, Acted) and isinstance(event.action, Move)


def test_a_kick_event_has_the_game_after_the_penguins_were_removed_and_the_color() -> None:
    story = run([Player(), crash(5)])

    number, event = story.the_only(Ejected)
    match = story.heard[number][1]
    assert match.state.colours[event.seat] == "white"
    assert match.state.penguins[event.seat] == ()
    assert match.ejected == (event,)


def test_the_game_tree_of_a_move_event_is_made_from_its_match() -> None:
    moves = [(event, match.state) for event, match in run(players(2)).heard if is_move(event)]

    assert len(moves) > 5
    for (_, state), (event, later) in pairwise(moves):
        tree = Node(state)
        assert event.action in tree.branches()
        grown = tree.child(event.action).state
        assert (grown.penguins, grown.scores, grown.fish) == (later.penguins, later.scores, later.fish)
    assert list(Node(moves[-1][1]).branches()) == []


def test_the_game_tree_of_a_kick_event_is_made_from_its_match_without_the_kicked_player() -> None:
    story = run([Player(), crash(5), Player()])

    number, event = story.the_only(Ejected)
    below = list(Node(story.states[number]).map_children(lambda node: node.state))
    assert below
    assert all(state.penguins[event.seat] == () and event.seat not in state.order for state in below)


def test_the_end_event_has_the_final_game_and_those_who_were_kicked() -> None:
    story = run([crash(1), Player(), Player(), cheat(1)])

    event, match = story.heard[-1]
    assert isinstance(event, Ended)
    assert match == story.match
    assert [match.state.colours[out.seat] for out in event.result.ejected] == ["red", "black"]


def test_the_events_come_in_the_order_in_which_things_happen() -> None:
    events = run([Player(), Player(), cheat(4)]).events

    kinds = [type(event.action if isinstance(event, Acted) else event).__name__ for event in events]
    assert kinds[:10] == ["Started", *["Place"] * 9]
    assert kinds[10:-1].count("Ejected") == 1
    assert set(kinds[10:-1]) == {"Move", "Ejected"}
    assert kinds[-1] == "Ended"


# The order of calls.


def test_the_functions_may_be_called_at_any_point() -> None:
    referee, watcher = Referee(), Story()

    referee.run(GAME, players(2), seed=SEED)
    referee.subscribe(watcher)
    referee.run(GAME, players(3), seed=SEED)
    referee.remove(watcher)
    referee.run(GAME, players(4), seed=SEED)

    assert [len(event.names) for event in watcher.events if isinstance(event, Started)] == [3]


def test_who_hears_of_a_game_is_fixed_when_it_is_run() -> None:
    referee, late = Referee(), Story()

    class Fickle(Story):
        def observe(self, event: Event, match: Any) -> None:
            super().observe(event, match)
            assert referee.remove(self) is (len(self.heard) == 1)
            referee.subscribe(late)

    fickle = Fickle()
    referee.subscribe(fickle)

    first = referee.run(GAME, players(2), seed=SEED)
    second = referee.run(GAME, players(3), seed=SEED)

    assert fickle.events[-1] == Ended(first.result)
    assert late.events[0] == Started(second.names, seed_commitment(SEED, second.id))
    assert late.events[-1] == Ended(second.result)


def test_a_referee_may_be_used_to_run_any_number_of_games() -> None:
    referee, watcher = Referee(), Story()
    referee.subscribe(watcher)

    matches = [referee.run(GAME, players(2 + number % 3), seed=SEED) for number in range(12)]

    assert [event for event in watcher.events if isinstance(event, Ended)] == [Ended(one.result) for one in matches]


def test_a_referee_has_no_notion_of_concurrency() -> None:
    referee, refused = Referee(), []

    class Impatient(Player):
        def take_turn(self, view: View) -> Action:
            with pytest.raises(BadRequest, match="another one at the same time needs another referee") as caught:
                referee.run(GAME, players(2))
            refused.append(caught.value)
            return super().take_turn(view)

    match = referee.run(GAME, [Impatient(), Player()], seed=SEED)

    assert refused
    assert match.result.ejected == ()


def test_games_at_the_same_time_take_several_referees() -> None:
    others: list[FishMatch] = []

    class Impatient(Player):
        def take_turn(self, view: View) -> Action:
            others.append(run(players(2)).match)
            return super().take_turn(view)

    match = run([Impatient(), Player()]).match

    assert others
    assert all(without_id(other) == without_id(match) for other in others)
