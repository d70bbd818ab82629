"""Test the tiles of Tsuro against the rule book, and how they are dealt: from the bag, the cycle, or an iterator."""

import json
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import pytest

from fairplay import BadJournal, BadRequest, HostFault
from fairplay.core.chance import seed_from_text
from fairplay.core.events import Ejected
from fairplay.core.match import Match
from fairplay.games.tsuro import Tsuro
from fairplay.games.tsuro.game import max_tiles
from fairplay.games.tsuro.pieces import CODES, DEGREES, EXITS, PORTS, TILES, code_of, exits_of
from fairplay.journal.record import Journal
from fairplay.journal.reenactment import Unfinished
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.observers.feed import EventFeed
from fairplay.referee.drivers import play
from fairplay.referee.referee import Referee
from fairplay.testing.scripted import ScriptedChannel, strategy_script
from tests.games.tsuro.positions import EventLog, first_action, match_from, referee_match
from tests.journal.journals import read_lines, seal_lines
from tests.journal_files import newest_journal
from tests.nonempty import nonempty

Matching = frozenset[frozenset[str]]

# The tiles as the course numbers them.
COURSE = """
    AE BF CH DG | AE BF CG DH | AF BE CH DG | AE BD CG FH | AH BC DE FG | AE BC DH FG | AE BC DG FH
    AD BG CF EH | AD BF CG EH | AD BE CH FG | AD BE CG FH | AD BC EH FG | AC BH DF EG | AC BH DE FG
    AC BG DF EH | AC BG DE FH | AC BF DH EG | AC BF DG EH | AC BE DH FG | AC BE DG FH | AC BD EH FG
    AC BD EG FH | AB CH DG EF | AB CH DF EG | AB CH DE FG | AB CG DH EF | AB CG DF EH | AB CG DE FH
    AB CF DH EG | AB CF DG EH | AB CE DH FG | AB CE DG FH | AB CD EH FG | AB CD EG FH | AB CD EF GH
"""


def matching(tile: int, degrees: int) -> Matching:
    exits = exits_of(tile, degrees // 90)
    return frozenset(frozenset({PORTS[port], PORTS[exits[port]]}) for port in range(8))


def turned(pairs: Matching) -> Matching:
    return frozenset(frozenset("CDEFGHAB"["ABCDEFGH".index(letter)] for letter in pair) for pair in pairs)


def all_matchings(letters: str = "ABCDEFGH") -> list[Matching]:
    if not letters:
        return [frozenset()]
    one, rest = letters[0], letters[1:]
    return [found | {frozenset({one, other})} for other in rest for found in all_matchings(rest.replace(other, ""))]


def test_the_tiles_are_numbered_as_in_the_course() -> None:
    numbered = [frozenset(frozenset(pair) for pair in tile.split()) for tile in COURSE.replace("\n", "|").split("|")]

    assert [matching(tile, 0) for tile in range(35)] == [tile for tile in numbered if tile]


def test_the_tiles_and_their_rotations_are_all_105_matchings_each_of_one_tile_only() -> None:
    classes = [{matching(tile, degrees) for degrees in DEGREES} for tile in range(TILES)]

    assert len(all_matchings()) == 105
    assert set().union(*classes) == set(all_matchings())
    assert sum(len(found) for found in classes) == 105


def test_rotations_of_a_tile_that_look_the_same_have_one_code_that_of_the_smallest_degrees() -> None:
    for tile in nonempty(range(TILES)):
        lying = [matching(tile, degrees) for degrees in DEGREES]
        assert [turned(before) for before in lying] == [*lying[1:], lying[0]]
        for degrees in DEGREES:
            code = code_of(tile, degrees)
            exits = EXITS[8 * code : 8 * code + 8]
            assert code == CODES[4 * tile + degrees // 90] == 4 * tile + lying.index(matching(tile, degrees))
            assert {frozenset({PORTS[one], PORTS[other]}) for one, other in enumerate(exits)} == lying[degrees // 90]


SEED = bytes(range(32))


def run(game: Tsuro, seats: int = 3, **options: Any) -> Match[Any, Any, Any]:
    return Referee().run(game, [first_action] * seats, seed=SEED, **options)


def test_more_players_than_there_may_be_or_than_a_board_has_room_for_are_refused() -> None:
    for players in (0, 2, 6):
        with pytest.raises(BadRequest, match=f"tsuro is for 3 to 5 players, not for {players}"):
            run(Tsuro(), players)
    table = Tsuro(size=3).deal(4, SEED).table
    assert (set(table.board), set(table.avatars), set(table.fell), len(table.board)) == ({255}, {-1}, {0}, 9)
    with pytest.raises(BadRequest, match="a board of 3 x 3 is too small for 5 players"):
        Tsuro(size=3).deal(5, SEED)


@pytest.mark.parametrize(
    "game",
    [Tsuro(), Tsuro(size=4, tiles="cycle"), Tsuro.with_tiles(cycle([3, 1, 4]), seats=3)],
    ids=["bag", "cycle", "given"],
)
def test_a_game_is_made_again_from_its_parameters(game: Tsuro) -> None:
    assert Tsuro.with_parameters(game.parameters()) == game


@pytest.mark.parametrize(
    "parameters",
    [
        {"size": 2},
        {"size": 31},
        {"tiles": "sack"},
        {"tiles": [35]},
        {"tiles": [1.5]},
        {"tiles": None},
        {"rules": "py:somewhere:Else"},
        {"rules": None},
        {"columns": 10},
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(BadRequest, match="tsuro"):
        Tsuro.with_parameters(parameters)


# Where tiles come from: the bag, the cycle, or an iterator of the caller's.


def test_the_bag_is_emptied_before_it_is_filled_again_and_shuffled_by_the_seed() -> None:
    source = Tsuro().deal(5, SEED).source

    bags = [source[start : start + 35] for start in range(0, len(source), 35)]
    assert len(source) >= max_tiles(10, 5)
    assert all(sorted(bag) == list(range(35)) for bag in bags)
    assert len(set(bags)) == len(bags)
    assert len({Tsuro().deal(3, seed_from_text(str(number))).source[:9] for number in range(50)}) == 50
    assert Tsuro(tiles="cycle").deal(3, SEED).source[:37] == (*range(35), 0, 1)


def test_an_iterator_is_drawn_at_once_and_no_further_than_a_match_can_need() -> None:
    numbers = count()

    game = Tsuro.with_tiles((number % 35 for number in numbers), seats=4, size=6)

    assert len(game.tiles) == next(numbers) == max_tiles(6, 4)
    wrong: list[Any] = [35, -1, True, "3", 2.0, None]
    for tile in wrong:
        with pytest.raises(BadRequest, match=f"there is no tile {tile!r}; tiles are numbered from 0 to 34"):
            Tsuro.with_tiles([0, 1, tile], seats=3)


@pytest.mark.parametrize("seats", [3, 5])
def test_a_match_that_ends_before_the_tiles_do_is_not_affected(seats: int) -> None:
    endless = run(Tsuro(tiles="cycle", size=6), seats)
    needed = endless.state.drawn

    match = run(Tsuro.with_tiles(islice(cycle(range(35)), needed), seats, size=6), seats)

    assert (match.state.table, match.result) == (endless.state.table, endless.result)
    assert match.state.drawn == len(match.state.source) == needed


@pytest.mark.parametrize("missing", [1, 2, 3, 10])
def test_tiles_that_run_out_are_a_fault_of_the_host_and_eject_no_player(missing: int) -> None:
    enough = Tsuro(tiles="cycle", size=6)
    final, _, endless = referee_match(enough.deal(3, SEED), game=enough)
    needed = final.state.drawn
    game = Tsuro.with_tiles(islice(cycle(range(35)), needed - missing), 3, size=6)
    table, told = [ScriptedChannel(strategy_script(first_action)) for _ in range(3)], EventLog()

    with pytest.raises(HostFault, match=f"the tiles have run out after {needed - missing}: the match cannot go on"):
        play(match_from(game.deal(3, SEED), game), table, on_event=told)

    events = [event for event, _ in told.heard]
    assert events[1:] == [event for event, _ in endless.heard][1 : len(events)]  # all went well up to there
    assert len(endless.heard) - len(events) == 1 + (missing + 1) // 2
    assert not any(isinstance(event, Ejected) for event in events)
    assert [player.closed for player in table] == [[None]] * 3


# On disk.


def test_the_journal_of_such_a_match_can_be_verified_unless_it_goes_on_after_its_tiles_ran_out(tmp_path: Path) -> None:
    game = Tsuro.with_tiles(cycle([5, 8, 13, 21, 34, 0, 1, 2, 3]), seats=3, size=5)
    match = run(game, record=Journal(tmp_path).begin)
    path = newest_journal(tmp_path)

    recorded = read_journal(path)
    opening, *lines = read_lines(path)
    parameters = {**opening["parameters"], "tiles": opening["parameters"]["tiles"][:12]}
    path.write_bytes(seal_lines([{**opening, "parameters": parameters}, *lines]))

    assert recorded.opening.parameters["tiles"] == list(game.tiles)
    assert verify(recorded) == match
    with pytest.raises(BadJournal, match="line 7: the match cannot continue here: the tiles have run out after 12"):
        verify(read_journal(path))


def test_the_journal_of_a_match_whose_tiles_ran_out_is_unfinished(tmp_path: Path) -> None:
    with pytest.raises(HostFault):
        run(Tsuro.with_tiles(islice(cycle(range(35)), 14), seats=3), record=Journal(tmp_path).begin)

    recorded = read_journal(newest_journal(tmp_path))
    with pytest.raises(Unfinished, match="unfinished after fact 5"):
        verify(recorded)
    assert len(recorded.facts) == 5


def test_the_tiles_of_the_caller_are_not_published_before_they_are_dealt() -> None:
    lines: list[str] = []
    referee = Referee()
    referee.subscribe(EventFeed(lines.append))

    referee.run(Tsuro.with_tiles(cycle([7, 12, 33]), 3), [first_action, first_action, first_action])

    started = json.loads(lines[0])
    assert started["parameters"]["tiles"] == "given"
    assert "33" not in json.dumps({**started, "commitment": None, "match": None})
