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

FishMatch = Match[State, View, Action]

GAME = Fish(rows=4, columns=5)
SEED = bytes(range(32))
NAMES = ("ann", "bob", "cyd", "dee")


class Watcher:
    """An observer that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[Event, FishMatch]] = []

    def observe(self, event: Event, match: FishMatch) -> None:
        self.heard.append((event, match))

    @property
    def events(self) -> list[Event]:
        return [event for event, _ in self.heard]


class Player:
    """A good player that keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[View] = []

    def take_turn(self, view: View) -> Action:
        self.asked.append(view)
        return next(GAME.actions(view))

    def stages(self) -> list[Stage]:
        return [view.state.stage for view in self.asked]


class Failing(Player):
    """Good for so many turns, and then it raises."""

    def __init__(self, turns: int) -> None:
        super().__init__()
        self._turns = turns

    def take_turn(self, view: View) -> Action:
        if len(self.asked) == self._turns:
            raise RuntimeError("no more")
        return super().take_turn(view)


class Cheating(Player):
    """Good for so many turns, and then it does what is not allowed."""

    def __init__(self, turns: int) -> None:
        super().__init__()
        self._turns = turns

    def take_turn(self, view: View) -> Action:
        return Place((-1, -1)) if len(self.asked) == self._turns else super().take_turn(view)


def players(count: int) -> list[Any]:
    return [Player() for _ in range(count)]


def run(table: list[Any], *observers: Watcher, game: Fish = GAME) -> FishMatch:
    referee = Referee()
    for observer in observers:
        referee.subscribe(observer)
    return referee.run(game, table, names=NAMES[: len(table)], seed=SEED)


# The referee's interface.


def test_a_subscription_returns_true_when_it_is_successful() -> None:
    assert Referee().subscribe(Watcher()) is True


def test_an_observer_that_is_subscribed_already_is_not_subscribed_twice() -> None:
    referee, watcher = Referee(), Watcher()

    assert (referee.subscribe(watcher), referee.subscribe(watcher)) == (True, False)
    referee.run(GAME, players(2), seed=SEED)
    assert [type(event) for event in watcher.events].count(Started) == 1


def test_the_observer_is_called_with_all_updates_as_the_game_is_run() -> None:
    watcher = Watcher()

    match = run(players(2), watcher)

    assert isinstance(watcher.events[0], Started)
    assert watcher.events[-1] == Ended(match.result)
    assert len(watcher.events) > 10


def test_removing_returns_true_if_the_observer_was_there_and_false_if_it_is_not_found() -> None:
    referee, watcher = Referee(), Watcher()
    referee.subscribe(watcher)

    assert referee.remove(Watcher()) is False
    assert referee.remove(watcher) is True
    assert referee.remove(watcher) is False


def test_a_removed_observer_receives_no_more_updates() -> None:
    referee, stays, leaves = Referee(), Watcher(), Watcher()
    referee.subscribe(stays)
    referee.subscribe(leaves)
    referee.remove(leaves)

    referee.run(GAME, players(2), seed=SEED)

    assert stays.events
    assert leaves.events == []


# run-game.


@pytest.mark.parametrize(("rows", "columns"), [(2, 4), (3, 7), (8, 5)])
def test_the_board_has_as_many_rows_and_columns_as_the_manager_says(rows: int, columns: int) -> None:
    watcher = Watcher()

    run(players(2), watcher, game=Fish(rows=rows, columns=columns))

    board = watcher.heard[0][1].state.grid
    assert (board.rows, board.columns) == (rows, columns)


def test_the_referee_may_remove_some_tiles_creating_holes_on_the_initial_board() -> None:
    watcher = Watcher()

    run(players(2), watcher, game=Fish(rows=4, columns=5, holes=6))

    state = watcher.heard[0][1].state
    assert [state.fish_on(position) for position in state.grid.positions].count(0) == 6


def test_the_play_order_starts_with_the_lowest_age_and_is_round_robin() -> None:
    watcher = Watcher()
    referee = Referee()
    referee.subscribe(watcher)

    match = referee.run(GAME, players(3), names=NAMES[:3], ages=[40, 10, 25], seed=SEED)

    assert match.names == ("bob", "cyd", "ann")
    assert [event.seat for event in watcher.events[1:10] if isinstance(event, Acted)] == [0, 1, 2] * 3


@pytest.mark.parametrize("count", [2, 3, 4])
def test_placements_are_asked_from_each_player_six_minus_n_times(count: int) -> None:
    table = players(count)

    run(table)

    assert [player.stages().count(Stage.PLACING) for player in table] == [6 - count] * count


@pytest.mark.parametrize("count", [2, 3, 4])
def test_movements_are_asked_from_the_current_player_until_there_are_no_valid_moves(count: int) -> None:
    table, watcher = players(count), Watcher()

    match = run(table, watcher)

    for before, after in zip(watcher.heard, watcher.heard[1:-1], strict=False):
        assert isinstance(after[0], Acted)
        assert after[0].seat == before[1].turn
    assert all(player.stages() == sorted(player.stages(), key=list(Stage).index) for player in table)
    assert match.turn is None
    assert not any(match.state.can_move(seat) for seat in range(count))


@pytest.mark.parametrize("turns", [0, 2, 3, 5])
@pytest.mark.parametrize(("kind", "fault"), [(Failing, Fault.CRASHED), (Cheating, Fault.ILLEGAL)])
def test_a_player_that_fails_or_cheats_is_kicked_and_the_game_resumes_without_it_and_its_penguins(
    turns: int, kind: type[Any], fault: Fault
) -> None:
    table, watcher = [Player(), kind(turns), Player()], Watcher()

    match = run(table, watcher)

    kick = next(index for index, event in enumerate(watcher.events) if isinstance(event, Ejected))
    before, after = watcher.heard[kick - 1][1].state, watcher.heard[kick][1].state
    assert [(out.seat, out.fault) for out in match.result.ejected] == [(1, fault)]
    assert after.penguins == (before.penguins[0], (), before.penguins[2])
    assert after.fish == before.fish  # the tiles stay
    assert 1 not in after.order
    assert len(table[1].asked) == turns
    assert {event.seat for event in watcher.events[kick + 1 :] if isinstance(event, Acted)} == {0, 2}
    assert match.turn is None


def test_finally_the_end_of_the_game_and_the_kicked_players_are_returned() -> None:
    match = run([Cheating(1), Player(), Failing(2), Player()])

    assert match.state.stage is Stage.DONE
    assert {match.names[out.seat] for out in match.result.ejected} == {"ann", "cyd"}
    assert sorted(seat for group in match.result.ranking for seat in group) == [1, 3]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_manager_must_provide_between_two_and_four_players(count: int) -> None:
    watcher = Watcher()

    with pytest.raises(BadRequest, match=f"fish is for 2 to 4 players, not for {count}"):
        run(players(count), watcher)

    assert watcher.events == []


# The five events.


def test_every_observer_is_called_once_for_each_event() -> None:
    table, one, other = [Player(), Cheating(2), Player()], Watcher(), Watcher()

    run(table, one, other)

    kinds = [type(event) for event in one.events]
    assert one.heard == other.heard
    assert kinds.count(Acted) == sum(len(player.asked) for player in table)
    assert (kinds.count(Started), kinds.count(Ejected), kinds.count(Ended)) == (1, 1, 1)


def test_the_start_event_has_the_starting_board_and_the_colours_of_those_who_play() -> None:
    watcher = Watcher()

    run(players(3), watcher)

    event, match = watcher.heard[0]
    assert event == Started(("ann", "bob", "cyd"), seed_commitment(SEED, match.id))
    assert match.state == GAME.deal(3, SEED)
    assert match.state.colours == ("red", "white", "brown")


def test_a_place_event_has_the_state_after_it_the_position_and_the_color_of_the_player() -> None:
    watcher = Watcher()

    run(players(2), watcher)

    event, match = watcher.heard[1]
    assert isinstance(event, Acted)
    assert isinstance(event.action, Place)
    assert match.state.colours[event.seat] == "red"
    assert match.state.grid.cell(event.action.at) in match.state.penguins[event.seat]


def test_a_move_event_has_the_game_after_it_the_move_and_the_color_of_the_player() -> None:
    watcher = Watcher()

    run(players(2), watcher)

    index, event = next(
        (index, event)
        for index, event in enumerate(watcher.events)
        if isinstance(event, Acted) and isinstance(event.action, Move)
    )
    before, after = watcher.heard[index - 1][1].state, watcher.heard[index][1].state
    gain = before.fish_on(event.action.start)
    assert after.colours[event.seat] == "red"
    assert after.grid.cell(event.action.start) not in after.penguins[event.seat]
    assert after.grid.cell(event.action.to) in after.penguins[event.seat]
    assert after.fish_on(event.action.start) == 0
    assert after.scores[event.seat] == before.scores[event.seat] + gain


def test_a_kick_event_has_the_game_after_the_penguins_were_removed_and_the_color() -> None:
    watcher = Watcher()

    run([Player(), Failing(5)], watcher)

    ((event, match),) = ((event, match) for event, match in watcher.heard if isinstance(event, Ejected))
    assert match.state.colours[event.seat] == "white"
    assert match.state.penguins[event.seat] == ()
    assert match.ejected == (event,)


def test_the_game_tree_of_a_move_event_is_made_from_its_match() -> None:
    watcher = Watcher()

    run(players(2), watcher)

    moves = [heard for heard in watcher.heard if isinstance(heard[0], Acted) and isinstance(heard[0].action, Move)]
    assert len(moves) > 5
    for (_, match), (event, later) in pairwise(moves):
        tree = Node(match.state)
        assert isinstance(event, Acted)
        assert event.action in tree.branches()
        grown = tree.child(event.action).state
        assert (grown.penguins, grown.scores, grown.fish) == (
            later.state.penguins,
            later.state.scores,
            later.state.fish,
        )
    assert list(Node(moves[-1][1].state).branches()) == []


def test_the_game_tree_of_a_kick_event_is_made_from_its_match_without_the_kicked_player() -> None:
    watcher = Watcher()

    run([Player(), Failing(5), Player()], watcher)

    ((event, match),) = ((event, match) for event, match in watcher.heard if isinstance(event, Ejected))
    tree = Node(match.state)
    below = list(tree.map_children(lambda node: node.state))
    assert below
    assert all(state.penguins[event.seat] == () and event.seat not in state.order for state in below)


def test_the_end_event_has_the_final_game_and_those_who_were_kicked() -> None:
    watcher = Watcher()

    final = run([Failing(1), Player(), Player(), Cheating(1)], watcher)

    event, match = watcher.heard[-1]
    assert isinstance(event, Ended)
    assert match == final
    assert [match.state.colours[out.seat] for out in event.result.ejected] == ["red", "black"]


def test_the_events_come_in_the_order_in_which_things_happen() -> None:
    watcher = Watcher()

    run([Player(), Player(), Cheating(4)], watcher)

    def kind(event: Event) -> str:
        return type(event.action if isinstance(event, Acted) else event).__name__

    kinds = [kind(event) for event in watcher.events]
    moves = kinds[10:-1]
    assert kinds[:10] == ["Started", *["Place"] * 9]
    assert moves.count("Ejected") == 1
    assert set(moves) == {"Move", "Ejected"}
    assert kinds[-1] == "Ended"


# The order of calls.


def test_the_functions_may_be_called_at_any_point() -> None:
    referee, watcher = Referee(), Watcher()

    referee.run(GAME, players(2), seed=SEED)
    referee.subscribe(watcher)
    referee.run(GAME, players(3), seed=SEED)
    referee.remove(watcher)
    referee.run(GAME, players(4), seed=SEED)

    assert [len(event.names) for event in watcher.events if isinstance(event, Started)] == [3]


def test_who_hears_of_a_game_is_fixed_when_it_is_run() -> None:
    referee, late = Referee(), Watcher()

    class Fickle(Watcher):
        def observe(self, event: Event, match: FishMatch) -> None:
            super().observe(event, match)
            assert referee.remove(self) is (len(self.heard) == 1)
            referee.subscribe(late)

    fickle = Fickle()
    referee.subscribe(fickle)

    first = referee.run(GAME, players(2), seed=SEED)
    second = referee.run(GAME, players(3), seed=SEED)

    assert fickle.events[-1] == Ended(first.result)
    assert (late.events[0], late.events[-1]) == (
        Started(second.names, seed_commitment(SEED, second.id)),
        Ended(second.result),
    )


def test_a_referee_may_be_used_to_run_any_number_of_games() -> None:
    referee, watcher = Referee(), Watcher()
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

    table: list[Any] = [Impatient(), Player()]

    match = referee.run(GAME, table, seed=SEED)

    assert refused
    assert match.result.ejected == ()


def test_games_at_the_same_time_take_several_referees() -> None:
    others: list[FishMatch] = []

    class Impatient(Player):
        def take_turn(self, view: View) -> Action:
            others.append(run(players(2)))
            return super().take_turn(view)

    match = run([Impatient(), Player()])

    assert others
    assert all(without_id(other) == without_id(match) for other in others)
