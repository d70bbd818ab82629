"""Test that the seed of a sealed match stays secret, and that its journal proves the deal nevertheless."""

import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from fairplay import Ended, Event, built_in_strategy
from fairplay.core.chance import seed_commitment
from fairplay.games.tsuro import Tsuro
from fairplay.games.tsuro.pieces import TILES
from fairplay.journal.record import Journal, branch_match
from fairplay.journal.replay import read_journal
from fairplay.journal.summary import summarise_journal
from fairplay.journal.verification import verify
from fairplay.observers.feed import EventFeed
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee, deal_match
from tests.journal.forging import edit_line, refusal_of_forgery, rewrite_opening
from tests.journal.journals import GAME, SEED, AnyMatch, first_action, read_lines


class Listening:
    """A good player that keeps the result as it was told."""

    def __init__(self) -> None:
        self.result: Any = None

    def take_turn(self, view: Any) -> Any:
        return first_action(view)

    def end(self, result: Any) -> None:
        self.result = result


class Played:
    """All that came out of a match, for whoever looks for the seed in it."""

    def __init__(self, directory: Path, *, sealed: bool) -> None:
        self.players = [Listening(), Listening()]
        self.events: list[Event] = []
        self.fed: list[str] = []
        match = deal_match(GAME, ["ann", "bob"], SEED, match_id=f"sealed-{sealed}", sealed=sealed)
        with Journal(directory).begin(match) as record:
            self.final: AnyMatch = play(match, [LocalChannel(one, GAME) for one in self.players], record, self._inform)
        self.path = record.path

    def _inform(self, event: Event, match: AnyMatch) -> None:
        self.events.append(event)
        EventFeed(self.fed.append).observe(event, match)


def test_the_seed_of_a_sealed_match_stays_hidden(tmp_path: Path) -> None:
    played = Played(tmp_path, sealed=True)

    assert played.final.result.seed is None
    assert [player.result.seed for player in played.players] == [None, None]
    assert [event.result.seed for event in played.events if isinstance(event, Ended)] == [None]
    assert json.loads(played.fed[-1])["seed"] is None
    assert SEED.hex() not in repr([played.events, played.fed, [player.result for player in played.players]])
    assert "seed" not in read_lines(played.path)[-1]["result"]


def test_the_seed_of_any_other_match_is_revealed_with_the_result(tmp_path: Path) -> None:
    played = Played(tmp_path, sealed=False)

    assert {player.result.seed for player in played.players} == {played.final.result.seed} == {SEED.hex()}
    assert json.loads(played.fed[-1])["seed"] == SEED.hex()
    assert read_lines(played.path)[-1]["result"]["seed"] == SEED.hex()
    assert "sealed" not in read_lines(played.path)[0]


def test_the_journal_of_a_sealed_match_proves_the_deal(tmp_path: Path) -> None:
    played = Played(tmp_path, sealed=True)

    assert verify(read_journal(played.path)) == played.final
    assert read_journal(played.path).opening.seed == SEED.hex()  # it is private, until whoever runs the match shows it
    assert played.events[0].commitment == seed_commitment(SEED, "sealed-True")  # type: ignore[union-attr]


def test_a_journal_does_not_lie_about_the_seal(tmp_path: Path) -> None:
    played = Played(tmp_path, sealed=True)
    last = len(read_lines(played.path))
    whole, result = played.path.read_bytes(), read_lines(played.path)[-1]["result"]

    assert refusal_of_forgery(played.path, rewrite_opening(sealed=False)) == (
        last,
        "this is not the result of the match",
    )
    played.path.write_bytes(whole)
    assert refusal_of_forgery(played.path, edit_line(last, result={**result, "seed": SEED.hex()}))[0] == last


@pytest.mark.parametrize("sealed", [True, False])
def test_a_match_stays_sealed_when_it_is_resumed_and_when_others_play_on(sealed: bool, tmp_path: Path) -> None:
    played = Played(tmp_path, sealed=sealed)
    lines = played.path.read_bytes().splitlines(keepends=True)
    played.path.write_bytes(b"".join(lines[:7]))

    again, recorded = Journal(tmp_path).resume(played.path)
    with again:
        resumed = Referee().resume(recorded.match_after(None), [first_action, first_action], record=again)
    match = branch_match(read_journal(played.path), 3, ("x", "y"))
    with Journal(tmp_path).branch(match, read_journal(played.path), 3) as other:
        branch = Referee().resume(match, [first_action, first_action], record=other)

    assert (resumed.result.seed is None, branch.result.seed is None) == (sealed, sealed)
    assert verify(read_journal(played.path)) == resumed
    assert verify(read_journal(other.path)) == branch


@pytest.mark.parametrize("sealed", [False, True])
def test_the_library_tells_nothing_that_matches_of_the_same_deal_still_hide(sealed: bool, tmp_path: Path) -> None:
    game = Tsuro.with_tiles(cycle(range(TILES)), 3, size=5)
    match = deal_match(game, ["ann", "bob", "cyd"], SEED, sealed=sealed)
    table = [LocalChannel(built_in_strategy("tsuro", "first"), game) for _ in match.names]
    with Journal(tmp_path).begin(match) as record:
        play(match, table, record)

    told = summarise_journal(record.path).parameters["tiles"]

    assert told == ("given" if sealed else game.parameters()["tiles"])
    assert game.parameters()["tiles"] != "given"
