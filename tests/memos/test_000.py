"""Check memo 000, the referee of Tsuro, sentence by sentence and along its diagram."""

import inspect
from itertools import pairwise
from typing import Any

import pytest

from fairplay import Acted, BadRequest, Ejected, Ended, Event, Fault, HostFault, IllegalAction, Started
from fairplay.core.chance import seed_from_text
from fairplay.core.events import Result
from fairplay.games.tsuro import Action, Lay, Place, Rules, Stage, Tsuro, View
from fairplay.games.tsuro.pieces import TILES
from fairplay.referee.referee import Referee, seats_by_age
from tests.memos.story import NAMES, SEED, Story, watch_match

SEEDS = [seed_from_text(str(number)) for number in range(40)]
LINES: list[str] = []  # of the diagram: who called whom, in order


class Watchful(Rules, frozen=True):
    """The rule checker, which notes when it is consulted."""

    def check_place(self, view: View, place: Place) -> None:
        LINES.append("isValidInitialMove()")
        super().check_place(view, place)

    def check_lay(self, view: View, lay: Lay) -> None:
        LINES.append("isValidIntermediateMove()")
        super().check_lay(view, lay)


class Player:
    """A player that notes when it is called; after so many good moves it plays a tile that it was not dealt."""

    def __init__(self, name: str = "", good_moves: int = TILES) -> None:
        self.name = name
        self.seen: list[View] = []
        self.results: list[Result] = []
        self.changes: list[View] = []  # of which it was told
        self._good_moves = good_moves

    def start(self, seat: int, names: tuple[str, ...], view: View) -> None:
        LINES.append(f"{self.name} start")

    def changed(self, view: View) -> None:
        self.changes.append(view)

    def take_turn(self, view: View) -> Action:
        placing = view.table.stage is Stage.PLACING
        LINES.append(f"{self.name} make{'Initial' if placing else 'Intermediate'}Move()")
        self.seen.append(view)
        if len(self.seen) <= self._good_moves:
            return self.choose(view)
        tile = next(tile for tile in range(TILES) if tile not in view.dealt)
        return Place(tile, 0, "C", (0, 0)) if placing else Lay(tile, 0)

    def tell(self, news: Any) -> None:
        raise AssertionError("Tsuro has no news")

    def end(self, result: Result) -> None:
        LINES.append(f"{self.name} end")
        self.results.append(result)

    def choose(self, view: View) -> Action:
        return next(GAME.actions(view), Lay(view.dealt[0], 0))


class NotingStory(Story):
    def observe(self, event: Event, match: Any) -> None:
        LINES.append(f"* {type(event).__name__}")
        super().observe(event, match)


GAME = Tsuro(size=6, rules=Watchful())


def players(count: int) -> list[Any]:
    return [Player(name) for name in NAMES[:count]]


def players_with_a_cheat(good_moves: int) -> list[Any]:
    return [Player("ann"), Player("bob", good_moves), Player("cyd")]


def run(table: list[Any], game: Tsuro = GAME, **options: Any) -> Story:
    LINES.clear()
    return watch_match(game, table, NotingStory(), **options)


# new Referee(RuleChecker, [List-of Player], Iterator<ITile>).


def test_a_referee_uses_the_set_of_rules_in_the_rule_checker() -> None:
    class NotInTheNorth(Rules, frozen=True):
        def check_place(self, view: View, place: Place) -> None:
            raise IllegalAction("3.3", f"not in the north: {place.at[1]}")

    match = run(players(3), Tsuro(size=6, rules=NotInTheNorth())).match  # they place in the first row

    assert [(out.seat, out.fault, out.why) for out in match.result.ejected] == [
        (seat, Fault.ILLEGAL, "rule 3.3: not in the north: 0") for seat in range(3)
    ]


@pytest.mark.parametrize("verdict", [False, True])
def test_a_rule_checker_that_returns_something_instead_of_raising_is_refused(verdict: bool) -> None:
    class SaysByValue(Rules, frozen=True):
        def check_place(self, view: View, place: Place) -> None:
            return verdict  # type: ignore[return-value]  # which is the mistake

    why = f"a rule checker returned {verdict}: it must return None or raise IllegalAction"
    with pytest.raises(HostFault, match=why):
        run(players(3), Tsuro(size=6, rules=SaysByValue()))


@pytest.mark.parametrize("count", [3, 4, 5])
def test_it_monitors_the_game_played_by_the_players(count: int) -> None:
    table = players(count)

    assert run(table).match.names == NAMES[:count]
    assert all(player.seen for player in table)


def test_the_players_are_in_order_of_age_oldest_first() -> None:
    match = run(players(4), ages=[20, 50, 30, 40]).match

    assert match.names == ("bob", "dan", "cyd", "ann")
    assert [line.removesuffix(" makeInitialMove()") for line in LINES if " makeInitial" in line] == list(match.names)
    assert match.state.table.colours[0] == "white"


def test_the_result_is_of_the_players_that_were_handed_in_wherever_they_sit() -> None:
    match = run(players(4), ages=[20, 50, 30, 40]).match

    assert [NAMES[index] for index in seats_by_age(GAME, 4, [20, 50, 30, 40])] == list(match.names)
    assert {seat for group in match.result.ranking for seat in group} == set(range(4))


def test_the_iterator_is_a_strategy_for_choosing_tiles_to_give_to_the_players() -> None:
    table, by_threes = players(3), (number % TILES for number in range(0, 10_000, 3))

    run(table, Tsuro.with_tiles(by_threes, seats=3, size=6))

    assert [player.seen[0].dealt for player in table] == [(0, 3, 6), (9, 12, 15), (18, 21, 24)]
    assert [player.seen[1].dealt for player in table] == [(27, 30), (33, 1), (4, 7)]


# List<Set<Player>> startGame().


def test_one_method_starts_a_game_with_the_players_and_the_rules() -> None:
    assert list(inspect.signature(Referee.run).parameters)[:3] == ["self", "game", "players"]
    assert Referee().run(GAME, players(3)).turn is None


def test_the_result_is_an_ordered_list_of_sets() -> None:
    result = run(players(5)).match.result

    assert isinstance(result.ranking, tuple) and len(result.ranking) > 1
    assert all(isinstance(group, frozenset) and group for group in result.ranking)
    out = [ejected.seat for ejected in result.ejected]
    assert sorted([*out, *(seat for group in result.ranking for seat in group)]) == list(range(5))


@pytest.mark.parametrize("count", [3, 4, 5])
def test_the_last_player_or_players_left_are_in_the_set_at_the_first_index(count: int) -> None:
    for seed in SEEDS[:20]:
        match = run(players(count), seed=seed).match
        table, last = match.state.table, max(match.state.table.fell)
        survivors = {seat for seat, avatar in enumerate(table.avatars) if avatar >= 0}
        if match.result.ranking:
            assert match.result.ranking[0] == (survivors or {seat for seat in range(count) if table.fell[seat] == last})
        else:
            assert len(match.result.ejected) == count


def test_several_players_in_a_set_were_eliminated_at_the_same_time() -> None:
    matches = [run(players(5), seed=seed).match for seed in SEEDS]
    groups = [(match.state.table.fell, group) for match in matches for group in match.result.ranking]

    assert all(len({fell[seat] for seat in group}) == 1 for fell, group in groups)
    assert any(len(group) > 1 for _, group in groups)


def test_whoever_was_kicked_is_in_no_set() -> None:
    result = run(players_with_a_cheat(1)).match.result

    assert [out.seat for out in result.ejected] == [1]
    assert {seat for group in result.ranking for seat in group} == {0, 2}


@pytest.mark.parametrize("count", [2, 6])
def test_a_game_of_tsuro_is_for_three_to_five(count: int) -> None:
    with pytest.raises(BadRequest, match="tsuro is for 3 to 5 players"):
        Referee().run(GAME, [Player() for _ in range(count)])


# The rule checker, and the master board.


def test_the_rule_checker_is_consulted_after_every_move() -> None:
    table = players(4)

    run(table)

    moves = [line for line in LINES if line.endswith("()")]
    assert len(moves) == 2 * sum(len(player.seen) for player in table)
    for asked, consulted in zip(moves[::2], moves[1::2], strict=True):
        assert asked.partition(" make")[2] == consulted.removeprefix("isValid")


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_the_referee_performs_a_move_on_its_own_board_if_it_is_valid_else_kicks(moves: int) -> None:
    table = players_with_a_cheat(moves)

    heard = run(table)

    for before, event, after in zip(heard.states, heard.events[1:], heard.states[1:], strict=False):
        if isinstance(event, Acted):
            assert after == GAME.apply(before, event.action)
        if isinstance(event, Ejected):
            assert after.table.board == before.table.board
    assert [(out.seat, out.fault) for out in heard.match.result.ejected] == [(1, Fault.ILLEGAL)]
    assert len(table[1].seen) == moves + 1


def test_the_referee_constructs_its_own_board() -> None:
    heard = run(players(3))

    assert isinstance(heard.events[0], Started)
    assert heard.states[0] == GAME.deal(3, SEED)


def test_boards_are_immutable_so_players_cannot_mess_with_the_referees_copy() -> None:
    refused = 0

    class Vandal(Player):
        def choose(self, view: View) -> Action:
            nonlocal refused
            anything: Any = view
            for ruin in (
                lambda: setattr(anything, "dealt", (0, 1, 2)),
                lambda: setattr(anything, "table", None),
                lambda: setattr(anything.table, "board", b""),
                lambda: setattr(anything.table, "avatars", ()),
                lambda: anything.table.board.__setitem__(0, 0),
                lambda: anything.table.avatars.__setitem__(0, 0),
                lambda: anything.table.waiting.clear(),
                lambda: anything.table.grid.ahead.__setitem__(0, 0),
                lambda: delattr(anything.table, "fell"),
            ):
                with pytest.raises((AttributeError, TypeError)):
                    ruin()
                refused += 1
            return super().choose(view)

    honest, heard = run(players(3)), run([Vandal("ann"), *players(3)[1:]])

    assert refused >= 9
    assert heard.states == honest.states
    assert heard.events[1:] == honest.events[1:]  # the start has a commitment, which no other match has
    assert heard.match.result.ejected == ()


# The diagram.


def diagram(end: str = "") -> list[str]:
    """The calls between referee, rule checker and players that end so."""
    return [line for line in LINES if not line.startswith("*") and line.endswith(end)]


def test_all_make_their_initial_moves_in_the_order_of_age_and_each_is_checked() -> None:
    run(players(5))

    calls = diagram("()")
    assert calls[:10] == [line for name in NAMES for line in (f"{name} makeInitialMove()", "isValidInitialMove()")]
    assert not any("Initial" in line for line in calls[10:])


def test_then_they_make_intermediate_moves_round_by_round_and_each_is_checked() -> None:
    heard = run(players(3))

    calls, rounds = diagram("()")[6:], dict[int, list[int]]()
    for before, event in zip(heard.states, heard.events[1:-1], strict=False):
        rounds.setdefault(before.table.round, []).append(event.seat)
    assert all(seats == sorted(set(seats)) for seats in rounds.values())
    turns = [seat for round, seats in rounds.items() if round for seat in seats]
    assert turns[:3] == [0, 1, 2]
    assert calls[::2] == [f"{NAMES[seat]} makeIntermediateMove()" for seat in turns]
    assert set(calls[1::2]) == {"isValidIntermediateMove()"}


def test_a_move_is_checked_and_performed_before_the_next_player_is_asked() -> None:
    run(players(4))

    asked = [number for number, line in enumerate(LINES) if " make" in line]
    assert all(LINES[number + 1].startswith("isValid") for number in asked)
    assert all(LINES[number + 2] in ("* Acted", "* Ejected") for number in asked)


def test_it_continues_until_all_but_one_are_eliminated() -> None:
    for seed in SEEDS[:20]:
        states = run(players(4), seed=seed).states[:-1]
        begins = [after for before, after in pairwise(states) if after.table.round > before.table.round]
        assert all(len(state.table.alive) > 1 for state in begins)  # no round begins with one
        assert len(states[-1].table.alive) <= 1


def test_after_its_elimination_communication_with_a_player_is_discontinued_until_the_end() -> None:
    eliminated = 0

    for seed in SEEDS[:20]:
        table = players(5)
        match = run(table, seed=seed).match
        for player, fell, seat in zip(table, match.state.table.fell, range(5), strict=True):
            assert [view.table.round for view in player.seen] == list(range(len(player.seen)))
            if fell > 0:
                eliminated += 1
                assert len(player.seen) <= fell + 1  # no turn in a later round
                assert [line for line in diagram() if line.startswith(player.name)][-1] == f"{player.name} end"
                assert player.results == [match.result]  # told once, when all is over
                assert all(seen.table.fell[seat] == 0 for seen in player.changes)

    assert eliminated > 20


def test_a_kicked_player_hears_no_more() -> None:
    run(players_with_a_cheat(1))

    calls = [line.removeprefix("bob ") for line in diagram() if line.startswith("bob")]
    assert calls == ["start", "makeInitialMove()", "makeIntermediateMove()"]


def test_the_ranking_is_returned_when_all_is_done() -> None:
    heard = run(players(3))

    assert heard.heard[-1] == (Ended(heard.match.result), heard.match)
    assert LINES[-1] == "* Ended"
