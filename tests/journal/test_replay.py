"""Try out that a match read from its journal is the match as it was played."""

from pathlib import Path

import pytest

from fairplay import BadRequest, Journal, Local, Match, play
from fairplay.games.fish.examples import EXAMPLES
from fairplay.journal.replay import read, replay
from fairplay.journal.verify import verify
from tests.journal.journals import GAME, TABLES, AnyMatch, Watcher, first, house, plain, record


def record_from(match: AnyMatch, directory: Path) -> tuple[Path, AnyMatch]:
    """Play a given match to its end with good players, and write it down."""
    with Journal(directory).begin(match) as begun:
        return begun.path, play(match, [Local(first, GAME) for _ in match.names], begun)


@pytest.mark.parametrize("table", TABLES)
def test_after_any_number_of_facts_the_match_is_as_it_was_then(table: str, tmp_path: Path) -> None:
    watcher = Watcher()
    path, final = record(tmp_path, TABLES[table](), watcher)

    recorded = read(path)

    assert list(recorded.facts) == watcher.facts
    assert [recorded.at(facts) for facts in range(len(recorded.facts) + 1)] == watcher.matches
    assert recorded.at(None) == final
    assert recorded.closing is not None
    assert recorded.closing.result == final.result


@pytest.mark.parametrize("table", TABLES)
def test_any_prefix_of_a_journal_is_a_match_that_can_be_replayed(table: str, tmp_path: Path) -> None:
    watcher = Watcher()
    path, _ = record(tmp_path, TABLES[table](), watcher)
    lines = path.read_bytes().splitlines(keepends=True)

    for kept, match in ((1, watcher.matches[0]), *enumerate(watcher.matches, 2)):  # everybody sits on the second line
        path.write_bytes(b"".join(lines[:kept]))
        recorded = read(path)
        assert recorded.closing is None
        assert recorded.at(None) == match


def test_any_prefix_of_a_journal_can_be_resumed(tmp_path: Path) -> None:
    watcher = Watcher()
    path, final = record(tmp_path, house("random", "greedy", "lookahead:1"), watcher)

    recorded = read(path)

    for facts in range(len(recorded.facts) + 1):
        channels = [Local(player, GAME) for player in house("random", "greedy", "lookahead:1")]
        assert play(recorded.at(facts), channels) == final


def test_replay_needs_only_the_opening_and_the_facts(tmp_path: Path) -> None:
    path, final = record(tmp_path, TABLES["one at each moment"]())
    recorded = read(path)

    match = replay(recorded.opening, recorded.entries)

    assert match == final
    assert len(match.ejected) == 3


@pytest.mark.parametrize("name", ["start", "placing", "star", "stuck", "freed by an ejection", "tie"])
def test_a_match_from_a_given_state_is_read_as_it_was_played(name: str, tmp_path: Path) -> None:
    state = EXAMPLES[name]
    match = Match(GAME, state, tuple(f"player-{seat}" for seat in range(len(state.scores))), id="given")

    path, final = record_from(match, tmp_path)

    recorded = read(path)
    assert recorded.opening.seed is None
    assert plain(path)[0]["state"] == GAME.pack_state(state)
    assert recorded.at(0) == match
    assert verify(recorded) == recorded.at(None) == final


@pytest.mark.parametrize("facts", [-1, 1000])
def test_there_is_nothing_before_the_first_fact_and_after_the_last(facts: int, tmp_path: Path) -> None:
    path, _ = record(tmp_path, [first, first])
    recorded = read(path)

    with pytest.raises(BadRequest, match=f"there is nothing after {facts} facts: the match has {len(recorded.facts)}"):
        recorded.at(facts)


def test_the_same_match_has_the_same_facts_whenever_it_is_played(tmp_path: Path) -> None:
    once, _ = record(tmp_path, house("random", "random", "greedy"))
    again, _ = record(tmp_path, house("random", "random", "greedy"))

    assert once != again
    assert read(once).facts == read(again).facts


def test_a_path_may_be_text(tmp_path: Path) -> None:
    path, _ = record(tmp_path, [first, first])

    assert read(str(path)) == read(path)
