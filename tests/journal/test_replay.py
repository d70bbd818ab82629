"""Test that a match read from its journal is the match as it was played."""

from pathlib import Path

import pytest

from fairplay import BadRequest
from fairplay.core.match import Match
from fairplay.games.fish.examples import EXAMPLES
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal, replay_facts
from fairplay.journal.verification import verify
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from tests.journal.journals import (
    GAME,
    TABLES,
    AnyMatch,
    EventCollector,
    built_in_players,
    first_action,
    read_lines,
    record_match,
)


def record_from(match: AnyMatch, directory: Path) -> tuple[Path, AnyMatch]:
    """Play a given match to its end with good players, and write it down."""
    with Journal(directory).begin(match) as begun:
        return begun.path, play(match, [LocalChannel(first_action, GAME) for _ in match.names], begun)


@pytest.mark.parametrize("table", TABLES)
def test_after_any_number_of_facts_the_match_is_as_it_was_then(table: str, tmp_path: Path) -> None:
    watcher = EventCollector()
    path, final = record_match(tmp_path, TABLES[table](), watcher)

    recorded = read_journal(path)

    assert list(recorded.facts) == watcher.facts
    assert [recorded.match_after(facts) for facts in range(len(recorded.facts) + 1)] == watcher.matches
    assert recorded.match_after(None) == final
    assert recorded.closing is not None
    assert recorded.closing.result == final.result


@pytest.mark.parametrize("table", TABLES)
def test_any_prefix_of_a_journal_is_a_match_that_can_be_replayed(table: str, tmp_path: Path) -> None:
    watcher = EventCollector()
    path, _ = record_match(tmp_path, TABLES[table](), watcher)
    lines = path.read_bytes().splitlines(keepends=True)

    for kept, match in ((1, watcher.matches[0]), *enumerate(watcher.matches, 2)):  # everybody sits on the second line
        path.write_bytes(b"".join(lines[:kept]))
        recorded = read_journal(path)
        assert recorded.closing is None
        assert recorded.match_after(None) == match


def test_any_prefix_of_a_journal_can_be_resumed(tmp_path: Path) -> None:
    watcher = EventCollector()
    path, final = record_match(tmp_path, built_in_players("random", "greedy", "lookahead:1"), watcher)

    recorded = read_journal(path)

    for facts in range(len(recorded.facts) + 1):
        channels = [LocalChannel(player, GAME) for player in built_in_players("random", "greedy", "lookahead:1")]
        assert play(recorded.match_after(facts), channels) == final


def test_replay_needs_only_the_opening_and_the_facts(tmp_path: Path) -> None:
    path, final = record_match(tmp_path, TABLES["one at each moment"]())
    recorded = read_journal(path)

    match = replay_facts(recorded.opening, recorded.entries)

    assert match == final
    assert len(match.ejected) == 3


@pytest.mark.parametrize("name", ["start", "placing", "star", "stuck", "freed by an ejection", "tie"])
def test_a_match_from_a_given_state_is_read_as_it_was_played(name: str, tmp_path: Path) -> None:
    state = EXAMPLES[name]
    match = Match(GAME, state, tuple(f"player-{seat}" for seat in range(len(state.scores))), id="given")

    path, final = record_from(match, tmp_path)

    recorded = read_journal(path)
    assert recorded.opening.seed is None
    assert read_lines(path)[0]["state"] == GAME.pack_state(state)
    assert recorded.match_after(0) == match
    assert verify(recorded) == recorded.match_after(None) == final


@pytest.mark.parametrize("facts", [-1, 1000])
def test_there_is_nothing_before_the_first_fact_and_after_the_last(facts: int, tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    recorded = read_journal(path)

    with pytest.raises(
        BadRequest, match=f"there is no position after {facts} facts: the match has {len(recorded.facts)}"
    ):
        recorded.match_after(facts)


def test_the_same_match_has_the_same_facts_whenever_it_is_played(tmp_path: Path) -> None:
    once, _ = record_match(tmp_path, built_in_players("random", "random", "greedy"))
    again, _ = record_match(tmp_path, built_in_players("random", "random", "greedy"))

    assert once != again
    assert read_journal(once).facts == read_journal(again).facts


def test_a_path_may_be_text(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])

    assert read_journal(str(path)) == read_journal(path)
