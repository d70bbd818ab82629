"""Test the deal of Tsuro: tiles come from the bag, from the cycle, or from an iterator of the caller."""

import json
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import pytest

from fairplay import BadJournal, BadRequest, Event, HostFault
from fairplay.core.chance import seed_from_text
from fairplay.core.events import Ejected
from fairplay.core.match import Match
from fairplay.games.tsuro import Lay, Place, Stage, Tsuro
from fairplay.games.tsuro.game import max_tiles
from fairplay.games.tsuro.pieces import COLOURS
from fairplay.journal.record import Journal
from fairplay.journal.reenactment import Unfinished
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.observers.feed import EventFeed
from fairplay.referee.drivers import play
from fairplay.referee.referee import Referee
from fairplay.testing.scripted import ScriptedChannel, strategy_script
from tests.games.tsuro.positions import EventLog, first_action, match_from
from tests.journal.journals import read_lines, seal_lines
from tests.journal_files import newest_journal

SEED = bytes(range(32))


class Watcher:
    """An observer that keeps what happened."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        match.game.pack(match.view(None))  # what spectators see can always be shown
        self.events.append(event)


def run(game: Tsuro, seats: int = 3, *watchers: Watcher, **options: Any) -> Match[Any, Any, Any]:
    referee = Referee()
    for watcher in watchers:
        referee.subscribe(watcher)
    return referee.run(game, [first_action] * seats, seed=SEED, **options)


# Sitting down.


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_a_match_begins_with_an_empty_board_and_all_players_yet_to_place(seats: int) -> None:
    table = Tsuro().deal(seats, SEED).table

    assert (table.stage, table.round, table.waiting) == (Stage.PLACING, 0, tuple(range(seats)))
    assert table.colours == COLOURS[:seats]
    assert (set(table.board), set(table.avatars), set(table.fell)) == ({255}, {-1}, {0})
    assert len(table.board) == 100


@pytest.mark.parametrize("players", [0, 1, 2, 6])
def test_tsuro_is_for_three_to_five(players: int) -> None:
    with pytest.raises(BadRequest, match=f"tsuro is for 3 to 5 players, not for {players}"):
        run(Tsuro(), players)


def test_a_board_that_has_no_room_for_all_first_tiles_is_refused() -> None:
    assert Tsuro(size=3).deal(4, SEED).table.grid.size == 3
    with pytest.raises(BadRequest, match="a board of 3 x 3 is too small for 5 players"):
        Tsuro(size=3).deal(5, SEED)


@pytest.mark.parametrize("size", [3, 4, 7, 10, 30])
def test_a_board_is_as_large_as_the_host_likes(size: int) -> None:
    match = run(Tsuro(size=size))

    assert match.state.table.stage is Stage.DONE
    assert len(match.state.table.board) == size * size


# Parameters.


@pytest.mark.parametrize(
    "game",
    [Tsuro(), Tsuro(size=4, tiles="cycle"), Tsuro.with_tiles(cycle([3, 1, 4]), seats=3)],
    ids=["bag", "cycle", "given"],
)
def test_a_game_is_made_again_from_its_parameters(game: Tsuro) -> None:
    assert Tsuro.with_parameters(game.parameters()) == game


def test_parameters_may_be_given_as_text() -> None:
    assert Tsuro.with_parameters({"size": "7", "tiles": "cycle", "rules": "standard"}) == Tsuro(size=7, tiles="cycle")


@pytest.mark.parametrize(
    "parameters",
    [
        {"size": 2},
        {"size": 31},
        {"size": "large"},
        {"tiles": "sack"},
        {"tiles": [35]},
        {"tiles": [-1]},
        {"tiles": [1.5]},
        {"tiles": 7},
        {"tiles": None},
        {"rules": "py:somewhere:Else"},
        {"rules": None},
        {"rules": {}},
        {"columns": 10},
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(BadRequest, match="tsuro"):
        Tsuro.with_parameters(parameters)


# Where tiles come from.


def test_the_bag_is_emptied_before_it_is_filled_again() -> None:
    source = Tsuro().deal(5, SEED).source

    bags = [source[start : start + 35] for start in range(0, len(source), 35)]
    assert len(source) >= max_tiles(10, 5)
    assert all(sorted(bag) == list(range(35)) for bag in bags)
    assert len(set(bags)) == len(bags)


def test_the_bag_is_shuffled_by_the_seed() -> None:
    sources = {Tsuro().deal(3, seed_from_text(str(number))).source for number in range(50)}

    assert len(sources) == 50
    assert len({source[0] for source in sources}) > 20
    assert Tsuro().deal(3, SEED) == Tsuro().deal(3, SEED)


def test_the_cycle_goes_from_0_to_34_and_round_again_whatever_the_seed() -> None:
    source = Tsuro(tiles="cycle").deal(3, SEED).source

    assert source[:37] == (*range(35), 0, 1)
    assert source == Tsuro(tiles="cycle").deal(3, bytes(32)).source


def test_only_the_seat_on_turn_sees_the_tiles_that_are_dealt() -> None:
    game = Tsuro(tiles="cycle")
    state = game.deal(3, SEED)

    assert [game.view(state, seat).dealt for seat in (0, 1, 2, None)] == [(0, 1, 2), (), (), ()]


# An iterator of the caller's.


def test_an_iterator_is_drawn_at_once_and_no_further_than_a_match_can_need() -> None:
    numbers = count()

    game = Tsuro.with_tiles((number % 35 for number in numbers), seats=4, size=6)

    assert len(game.tiles) == max_tiles(6, 4)
    assert next(numbers) == max_tiles(6, 4)


def test_a_match_deals_the_tiles_of_the_iterator_in_their_order() -> None:
    table = [ScriptedChannel(strategy_script(first_action)) for _ in range(3)]
    game = Tsuro.with_tiles(cycle([34, 3, 1, 4]), seats=3)

    play(match_from(game.deal(3, SEED), game), table)

    assert [player.heard[1].view.dealt for player in table] == [(34, 3, 1), (4, 34, 3), (1, 4, 34)]  # type: ignore[union-attr]  # turns


@pytest.mark.parametrize("tile", [35, -1, True, "3", 2.0, None], ids=repr)
def test_a_tile_that_does_not_exist_is_refused(tile: Any) -> None:
    with pytest.raises(BadRequest, match=f"there is no tile {tile!r}; tiles are numbered from 0 to 34"):
        Tsuro.with_tiles([0, 1, tile], seats=3)


def test_what_an_iterator_raises_is_its_callers_own() -> None:
    def broken() -> Iterator[int]:
        yield 3
        raise OSError("the box is locked")

    with pytest.raises(OSError, match="the box is locked"):
        Tsuro.with_tiles(broken(), seats=3)


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_a_match_that_ends_before_the_tiles_do_is_not_affected(seats: int) -> None:
    endless = run(Tsuro(tiles="cycle", size=6), seats)
    needed = endless.state.drawn

    match = run(Tsuro.with_tiles(islice(cycle(range(35)), needed), seats, size=6), seats)

    assert (match.state.table, match.result) == (endless.state.table, endless.result)
    assert match.state.drawn == len(match.state.source) == needed


@pytest.mark.parametrize("missing", [1, 2, 3, 10])
def test_tiles_that_run_out_are_a_fault_of_the_host_and_eject_no_player(missing: int) -> None:
    endless = Watcher()
    needed = run(Tsuro(tiles="cycle", size=6), 3, endless).state.drawn
    game = Tsuro.with_tiles(islice(cycle(range(35)), needed - missing), 3, size=6)
    table, told = [ScriptedChannel(strategy_script(first_action)) for _ in range(3)], EventLog()

    with pytest.raises(HostFault, match=f"the tiles have run out after {needed - missing}: the match cannot go on"):
        play(match_from(game.deal(3, SEED), game), table, on_event=told)

    events = [event for event, _ in told.heard]
    assert events[1:] == endless.events[1 : len(events)]  # all went well up to there
    assert len(endless.events) - len(events) == 1 + (missing + 1) // 2
    assert not any(isinstance(event, Ejected) for event in events)
    assert [player.closed for player in table] == [[None]] * 3


@pytest.mark.parametrize("tiles", [[], [3], [3, 1]], ids=str)
def test_tiles_may_run_out_before_the_first_is_placed(tiles: list[int]) -> None:
    watcher = Watcher()

    with pytest.raises(HostFault, match="the tiles have run out"):
        run(Tsuro.with_tiles(tiles, seats=3), 3, watcher)

    assert len(watcher.events) == 1


def test_after_tiles_ran_out_the_referee_runs_the_next_match() -> None:
    referee = Referee()
    with pytest.raises(HostFault):
        referee.run(Tsuro.with_tiles([0] * 9, seats=3), [first_action] * 3, seed=SEED)

    match = referee.run(Tsuro(size=4), [first_action] * 3, seed=SEED)

    assert match.turn is None


# On disk.


def test_the_journal_of_such_a_match_can_be_replayed_and_verified(tmp_path: Path) -> None:
    game = Tsuro.with_tiles(cycle([5, 8, 13, 21, 34, 0, 1, 2, 3]), seats=3, size=5)

    match = run(game, record=Journal(tmp_path).begin)

    recorded = read_journal(newest_journal(tmp_path))
    assert recorded.opening.parameters["tiles"] == list(game.tiles)
    assert recorded.match_after(None) == match
    assert verify(recorded) == match


def test_the_journal_of_a_match_whose_tiles_ran_out_is_unfinished(tmp_path: Path) -> None:
    watcher, begin = Watcher(), Journal(tmp_path).begin
    with pytest.raises(HostFault):
        run(Tsuro.with_tiles(islice(cycle(range(35)), 14), seats=3), 3, watcher, record=begin)

    recorded = read_journal(newest_journal(tmp_path))
    with pytest.raises(Unfinished, match="unfinished after fact 5"):
        verify(recorded)
    assert recorded.facts == tuple(watcher.events[1:])


def test_a_journal_that_goes_on_after_its_tiles_ran_out_is_refused(tmp_path: Path) -> None:
    run(Tsuro.with_tiles(cycle(range(35)), seats=3, size=5), record=Journal(tmp_path).begin)
    path = newest_journal(tmp_path)
    opening, *lines = read_lines(path)
    parameters = {**opening["parameters"], "tiles": opening["parameters"]["tiles"][:12]}

    path.write_bytes(seal_lines([{**opening, "parameters": parameters}, *lines]))

    with pytest.raises(BadJournal, match="line 7: the match cannot continue here: the tiles have run out after 12"):
        verify(read_journal(path))


def test_actions_have_readable_text() -> None:
    assert str(Place(3, 90, "C", (0, 4))) == "places tile 3 (90°) at [0, 4] and stands on port C"
    assert str(Lay(34, 0)) == "lays tile 34 (0°)"


def test_the_tiles_of_the_caller_are_not_published_before_they_are_dealt() -> None:
    lines: list[str] = []
    referee = Referee()
    referee.subscribe(EventFeed(lines.append))

    referee.run(Tsuro.with_tiles(cycle([7, 12, 33]), 3), [first_action, first_action, first_action])

    started = json.loads(lines[0])
    assert started["parameters"]["tiles"] == "given"
    assert "33" not in json.dumps({**started, "commitment": None, "match": None})
