"""Test that a match read from its journal is the match as it was played."""

from pathlib import Path

import pytest

from fairplay import BadJournal, BadRequest, Entrant
from fairplay.core.match import Match
from fairplay.games import register
from fairplay.games.fish.examples import EXAMPLES
from fairplay.hosting.run import run
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal, replay_facts
from fairplay.journal.verification import verify
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from tests.cli.command import refusal_line, run_fairplay
from tests.games.external_games import forget_external_games
from tests.journal.journals import (
    GAME,
    TABLES,
    EventCollector,
    built_in_players,
    cut_journal,
    first_action,
    read_lines,
    record_match,
)
from tests.kit import countdown
from tests.kit.countdown import EXPECTED_ERROR, FIXED_NEXT, GAME_ADDRESS

__all__ = ["forget_external_games"]


@pytest.mark.parametrize("table", TABLES)
def test_after_any_number_of_facts_the_match_is_as_it_was_then(table: str, tmp_path: Path) -> None:
    watcher = EventCollector()
    path, final = record_match(tmp_path, TABLES[table](), watcher)

    recorded = read_journal(path)

    assert list(recorded.facts) == watcher.facts
    assert [recorded.match_after(facts) for facts in range(len(recorded.facts) + 1)] == watcher.matches
    assert recorded.match_after(None) == verify(recorded) == final
    assert replay_facts(recorded.opening, recorded.entries) == final  # which needs nothing else
    assert recorded.closing is not None
    assert recorded.closing.result == final.result
    for facts in (-1, len(recorded.facts) + 1):
        why = f"there is no position after {facts} facts: the match has {len(recorded.facts)}"
        with pytest.raises(BadRequest, match=why):
            recorded.match_after(facts)

    for lines in range(len(read_lines(path)) - 1, 0, -1):
        cut_journal(path, lines)
        recorded = read_journal(str(path))
        assert recorded.closing is None
        assert recorded.match_after(None) == watcher.matches[max(0, lines - 2)]  # all players sit on the second line


def test_from_any_fact_the_match_can_be_played_on(tmp_path: Path) -> None:
    path, final = record_match(tmp_path, TABLES["three of the server"]())

    recorded = read_journal(path)

    for facts in range(len(recorded.facts) + 1):
        channels = [LocalChannel(player, GAME) for player in TABLES["three of the server"]()]
        assert play(recorded.match_after(facts), channels) == final


@pytest.mark.parametrize("name", ["start", "placing", "star", "stuck", "freed by an ejection", "tie"])
def test_a_match_from_a_given_state_is_read_as_it_was_played(name: str, tmp_path: Path) -> None:
    state = EXAMPLES[name]
    match = Match(GAME, state, tuple(f"player-{seat}" for seat in range(len(state.scores))), id="given")

    with Journal(tmp_path).begin(match) as begun:
        final = play(match, [LocalChannel(first_action, GAME) for _ in match.names], begun)

    recorded = read_journal(begun.path)
    assert recorded.opening.seed is None
    assert read_lines(begun.path)[0]["state"] == GAME.pack_state(state)
    assert recorded.match_after(0) == match
    assert verify(recorded) == recorded.match_after(None) == final


def test_the_same_match_has_the_same_facts_whenever_it_is_played(tmp_path: Path) -> None:
    once, _ = record_match(tmp_path, built_in_players("random", "random", "greedy"))
    again, _ = record_match(tmp_path, built_in_players("random", "random", "greedy"))

    assert once != again
    assert read_journal(once).facts == read_journal(again).facts


def test_an_exception_of_the_rules_names_the_line_of_the_fact(
    tmp_path: Path, forget_external_games: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(GAME_ADDRESS)
    with pytest.MonkeyPatch.context() as patch:  # the match was played when the rules had no mistake yet
        patch.setattr(countdown, "NEXT", FIXED_NEXT)
        assert run(MatchSpec(game="countdown", entrants=(Entrant("random"),) * 2, journal=str(tmp_path))).result
    [path] = tmp_path.glob("*.jsonl")
    recorded, stuck = read_journal(path), f"line 5: the match cannot continue here: {EXPECTED_ERROR}"

    with pytest.raises(BadJournal) as verified:
        verify(recorded)
    with pytest.raises(BadJournal) as replayed:
        recorded.match_after(None)

    assert str(verified.value) == str(replayed.value) == stuck
    assert recorded.match_after(2).state.position == 3
    for verb in ("verify", "replay", "why", "resume"):
        assert refusal_line(run_fairplay(verb, str(path))) == f"{path}: {stuck}"

    def fail(*_: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(countdown.Countdown, "start", fail)
    with pytest.raises(BadJournal, match=r"line 1: no match can start like this: ZeroDivisionError\(\) in "):
        read_journal(path).match_after(0)
