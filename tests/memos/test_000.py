"""Check memo 000, the referee of Tsuro, sentence by sentence and along its diagram."""

import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from fairplay import Acted, BadRequest, Ejected, Ended, Event, Fault, HostFault, IllegalAction, Started
from fairplay.core.chance import seed_from_text
from fairplay.core.events import Result
from fairplay.core.match import Match
from fairplay.games.tsuro import Action, Lay, Place, Rules, Stage, State, Tsuro, View
from fairplay.games.tsuro.pieces import TILES
from fairplay.referee.referee import Referee, seats_by_age

TsuroMatch = Match[State, View, Action]

SEED = bytes(range(32))
NAMES = ("ann", "bob", "cyd", "dan", "eve")
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
    """A good player that notes when it is called, and keeps what it is shown and told."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.seen: list[View] = []
        self.results: list[Result] = []
        self.changes: list[View] = []  # of which it was told

    def start(self, seat: int, names: tuple[str, ...], view: View) -> None:
        LINES.append(f"{self.name} start")

    def changed(self, view: View) -> None:
        self.changes.append(view)

    def take_turn(self, view: View) -> Action:
        move = "makeInitialMove()" if view.table.stage is Stage.PLACING else "makeIntermediateMove()"
        LINES.append(f"{self.name} {move}")
        self.seen.append(view)
        return self.choose(view)

    def tell(self, news: Any) -> None:
        raise AssertionError("Tsuro has no news")

    def end(self, result: Result) -> None:
        LINES.append(f"{self.name} end")
        self.results.append(result)

    def choose(self, view: View) -> Action:
        something = Lay(view.dealt[0], 0)
        return next(GAME.actions(view), something)


class Cheat(Player):
    """Good for so many moves, and then it plays a tile that it was not dealt."""

    def __init__(self, name: str, moves: int) -> None:
        super().__init__(name)
        self._moves = moves

    def choose(self, view: View) -> Action:
        if len(self.seen) <= self._moves:
            return super().choose(view)
        tile = next(tile for tile in range(TILES) if tile not in view.dealt)
        return Place(tile, 0, "C", (0, 0)) if view.table.stage is Stage.PLACING else Lay(tile, 0)


class Watcher:
    """An observer that keeps every event, and the master board after it."""

    def __init__(self) -> None:
        self.heard: list[tuple[Event, State]] = []

    def observe(self, event: Event, match: TsuroMatch) -> None:
        LINES.append(f"* {type(event).__name__}")
        self.heard.append((event, match.state))


GAME = Tsuro(size=6, rules=Watchful())


@pytest.fixture(autouse=True)
def nothing_is_noted_yet() -> None:
    LINES.clear()


def players(count: int) -> list[Any]:
    return [Player(name) for name in NAMES[:count]]


def run(table: list[Any], watcher: Watcher | None = None, **options: Any) -> TsuroMatch:
    referee = Referee()
    referee.subscribe(watcher or Watcher())
    names = [player.name for player in table]
    return referee.run(options.pop("game", GAME), table, **{"names": names, "seed": SEED, **options})


# new Referee(RuleChecker, [List-of Player], Iterator<ITile>).


def test_a_referee_uses_the_set_of_rules_in_the_rule_checker() -> None:
    class NotInTheNorth(Rules, frozen=True):
        def check_place(self, view: View, place: Place) -> None:
            if place.at[1] == 0:
                raise IllegalAction("3.3", "not in the north")
            super().check_place(view, place)

    match = run(players(3), game=Tsuro(size=6, rules=NotInTheNorth()))  # they place in the first row

    assert [(out.seat, out.fault, out.why) for out in match.result.ejected] == [
        (seat, Fault.ILLEGAL, "rule 3.3: not in the north") for seat in range(3)
    ]


@pytest.mark.parametrize("verdict", [False, True])
def test_a_rule_checker_that_returns_something_instead_of_raising_is_refused(verdict: bool) -> None:
    class SaysByValue(Rules, frozen=True):
        def check_place(self, view: View, place: Place) -> None:
            return verdict  # type: ignore[return-value]  # which is the mistake

    with pytest.raises(
        HostFault, match=f"a rule checker returned {verdict}: it must return None or raise IllegalAction"
    ):
        run(players(3), game=Tsuro(size=6, rules=SaysByValue()))


@pytest.mark.parametrize("count", [3, 4, 5])
def test_it_monitors_the_game_played_by_the_players(count: int) -> None:
    table = players(count)

    match = run(table)

    assert match.names == NAMES[:count]
    assert all(player.seen for player in table)


def test_the_players_are_in_order_of_age_oldest_first() -> None:
    table = players(4)

    match = run(table, ages=[20, 50, 30, 40])

    assert match.names == ("bob", "dan", "cyd", "ann")
    assert [line for line in LINES if "Initial" in line and " " in line] == [
        f"{name} makeInitialMove()" for name in ("bob", "dan", "cyd", "ann")
    ]
    assert match.state.table.colours[0] == "white"


def test_the_result_is_of_the_players_that_were_handed_in_wherever_they_sit() -> None:
    table, ages = players(4), [20, 50, 30, 40]

    match = run(table, ages=ages)
    seating = seats_by_age(match.game, len(table), ages)

    assert [NAMES[index] for index in seating] == list(match.names)
    ranked = [{table[seating[seat]].name for seat in group} for group in match.result.ranking]
    assert ranked == [{match.names[seat] for seat in group} for group in match.result.ranking]
    assert ranked and all(ranked)


def test_the_iterator_is_a_strategy_for_choosing_tiles_to_give_to_the_players() -> None:
    def by_threes() -> Iterator[int]:
        number = 0
        while True:
            yield number % TILES
            number += 3

    table = players(3)

    run(table, game=Tsuro.with_tiles(by_threes(), seats=3, size=6))

    assert [player.seen[0].dealt for player in table] == [(0, 3, 6), (9, 12, 15), (18, 21, 24)]
    assert [player.seen[1].dealt for player in table] == [(27, 30), (33, 1), (4, 7)]


# List<Set<Player>> startGame().


def test_one_method_starts_a_game_with_the_players_and_the_rules() -> None:
    parameters = list(inspect.signature(Referee.run).parameters)

    match = Referee().run(GAME, players(3))

    assert parameters[:3] == ["self", "game", "players"]
    assert match.turn is None


def test_the_result_is_an_ordered_list_of_sets() -> None:
    result = run(players(5)).result

    out = {ejected.seat for ejected in result.ejected}
    assert isinstance(result.ranking, tuple)
    assert len(result.ranking) > 1
    assert all(isinstance(group, frozenset) and group for group in result.ranking)
    assert sorted(seat for group in result.ranking for seat in group) == sorted(set(range(5)) - out)


@pytest.mark.parametrize("count", [3, 4, 5])
def test_the_last_player_or_players_left_are_in_the_set_at_the_first_index(count: int) -> None:
    for number in range(20):
        match = run(players(count), seed=seed_from_text(str(number)))

        if not match.result.ranking:
            assert len(match.result.ejected) == count
            continue
        table = match.state.table
        survivors = {seat for seat, avatar in enumerate(table.avatars) if avatar >= 0}
        last = max(table.fell)
        assert match.result.ranking[0] == (
            survivors or {seat for seat, round in enumerate(table.fell) if round == last}
        )


def test_several_players_in_a_set_were_eliminated_at_the_same_time() -> None:
    ties = 0

    for number in range(40):
        match = run(players(5), seed=seed_from_text(str(number)))
        for group in match.result.ranking:
            rounds = {match.state.table.fell[seat] for seat in group}
            assert len(rounds) == 1
            ties += len(group) > 1

    assert ties


def test_whoever_was_kicked_is_in_no_set() -> None:
    match = run([Player("ann"), Cheat("bob", 1), Player("cyd")])

    assert [out.seat for out in match.result.ejected] == [1]
    assert {seat for group in match.result.ranking for seat in group} == {0, 2}


@pytest.mark.parametrize("count", [2, 6])
def test_a_game_of_tsuro_is_for_three_to_five(count: int) -> None:
    with pytest.raises(BadRequest, match="tsuro is for 3 to 5 players"):
        Referee().run(GAME, [Player() for _ in range(count)])


# The rule checker, and the master board.


def test_the_rule_checker_is_consulted_after_every_move() -> None:
    table = players(4)

    run(table)

    moves = [line for line in LINES if line.endswith("()")]
    asked, consulted = moves[::2], moves[1::2]
    assert len(moves) == 2 * sum(len(player.seen) for player in table)
    assert [line.partition(" ")[2].removeprefix("make") for line in asked] == [
        line.removeprefix("isValid") for line in consulted
    ]


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_the_referee_performs_a_move_on_its_own_board_if_it_is_valid_else_kicks(moves: int) -> None:
    table, watcher = [Player("ann"), Cheat("bob", moves), Player("cyd")], Watcher()

    match = run(table, watcher)

    for (_, before), (event, after) in pairwise(watcher.heard):
        if isinstance(event, Acted):
            assert after == GAME.apply(before, event.action)
        if isinstance(event, Ejected):
            assert after.table.board == before.table.board
    assert [(out.seat, out.fault) for out in match.result.ejected] == [(1, Fault.ILLEGAL)]
    assert len(table[1].seen) == moves + 1


def test_the_referee_constructs_its_own_board() -> None:
    watcher = Watcher()

    run(players(3), watcher)

    event, master = watcher.heard[0]
    assert isinstance(event, Started)
    assert master == GAME.deal(3, SEED)


def test_boards_are_immutable_so_players_cannot_mess_with_the_referees_copy() -> None:
    refused: list[str] = []

    class Vandal(Player):
        def choose(self, view: View) -> Action:
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
                with pytest.raises((AttributeError, TypeError)) as caught:
                    ruin()
                refused.append(str(caught.value))
            return super().choose(view)

    honest, watcher = Watcher(), Watcher()
    run(players(3), honest)

    match = run([Vandal("ann"), Player("bob"), Player("cyd")], watcher)

    assert len(refused) >= 9
    assert [state for _, state in watcher.heard] == [state for _, state in honest.heard]
    assert watcher.heard[1:] == honest.heard[1:]  # the start has a commitment, which no other match has
    assert match.result.ejected == ()


# The diagram.


def diagram() -> list[str]:
    """The calls between referee, rule checker and players."""
    return [line for line in LINES if not line.startswith("*")]


def test_all_make_their_initial_moves_in_the_order_of_age_and_each_is_checked() -> None:
    run(players(5))

    calls = [line for line in diagram() if line.endswith("()")]
    assert calls[:10] == [line for name in NAMES for line in (f"{name} makeInitialMove()", "isValidInitialMove()")]
    assert not any("Initial" in line for line in calls[10:])


def test_then_they_make_intermediate_moves_round_by_round_and_each_is_checked() -> None:
    watcher = Watcher()

    run(players(3), watcher)

    calls = [line for line in diagram() if line.endswith("()")][6:]
    assert calls[:6] == [
        line for name in NAMES[:3] for line in (f"{name} makeIntermediateMove()", "isValidIntermediateMove()")
    ]
    rounds: dict[int, list[int]] = {}
    for (_, before), (event, _) in pairwise(watcher.heard):
        if isinstance(event, Acted | Ejected):
            rounds.setdefault(before.table.round, []).append(event.seat)
    assert all(seats == sorted(set(seats)) for seats in rounds.values())
    assert [f"{NAMES[seat]} makeIntermediateMove()" for round in list(rounds)[1:] for seat in rounds[round]] == calls[
        ::2
    ]


def test_a_move_is_checked_and_performed_before_the_next_player_is_asked() -> None:
    run(players(4))

    asked = [number for number, line in enumerate(LINES) if " make" in line]
    assert all(LINES[number + 1].startswith("isValid") for number in asked)
    assert all(LINES[number + 2] in ("* Acted", "* Ejected") for number in asked)


def test_it_continues_until_all_but_one_are_eliminated() -> None:
    for number in range(20):
        watcher = Watcher()
        run(players(4), watcher, seed=seed_from_text(str(number)))

        states = [state for event, state in watcher.heard if not isinstance(event, Ended)]
        begins = [after for before, after in pairwise(states) if after.table.round > before.table.round]
        assert all(len(state.table.alive) > 1 for state in begins)  # no round begins with one
        assert len(states[-1].table.alive) <= 1


def test_after_its_elimination_communication_with_a_player_is_discontinued_until_the_end() -> None:
    eliminated = 0

    for number in range(20):
        LINES.clear()
        table, watcher = players(5), Watcher()
        match = run(table, watcher, seed=seed_from_text(str(number)))
        for seat, player in enumerate(table):
            fell = match.state.table.fell[seat]
            assert [view.table.round for view in player.seen] == list(range(len(player.seen)))
            if fell > 0:
                eliminated += 1
                calls = [line for line in diagram() if line.startswith(player.name)]
                assert len(player.seen) <= fell + 1  # no turn in a later round
                assert calls[-1] == f"{player.name} end"
                assert player.results == [match.result]  # told once, when all is over
                assert all(seen.table.fell[seat] == 0 for seen in player.changes)

    assert eliminated > 20


def test_a_kicked_player_hears_no_more() -> None:
    table = [Player("ann"), Cheat("bob", 1), Player("cyd")]

    run(table)

    assert [line for line in diagram() if line.startswith("bob")] == [
        "bob start",
        "bob makeInitialMove()",
        "bob makeIntermediateMove()",
    ]


def test_the_ranking_is_returned_when_all_is_done() -> None:
    watcher = Watcher()

    match = run(players(3), watcher)

    assert watcher.heard[-1] == (Ended(match.result), match.state)
    assert LINES[-1] == "* Ended"
