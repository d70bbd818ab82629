"""Test that interrupted matches are resumed, and no others."""

import asyncio
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay import BadRequest, HostFault, Moment
from fairplay.hosting import records
from fairplay.hosting.run import run, run_async
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.hosting.table import Table
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal, MatchRecord
from fairplay.journal.replay import read_journal
from fairplay.journal.unfinished_matches import find_unfinished
from fairplay.journal.verification import verify
from fairplay.referee.referee import deal_match
from tests.cli.command import CommandResult, run_fairplay
from tests.hosting.specs import (
    SEED,
    EventCollector,
    count_turns,
    interrupted_journal,
    journal_files,
    make_spec,
    write_module,
)
from tests.journal_files import read_lines

PLAY = ("play", "fish", "ann=greedy", "bob=random", "--set", "rows=4", "--set", "columns=4", "--quiet")


def awaited(spec: MatchSpec, observers: Any = ()) -> Outcome:
    return asyncio.run(run_async(spec, observers))


both_ways = pytest.mark.parametrize("way", [run, awaited], ids=["played", "awaited"])


# By the id of a spec.


@both_ways
@pytest.mark.parametrize("game", ["fish", "tsuro", "q"])
def test_a_spec_resumes_its_interrupted_match(way: Any, game: str, tmp_path: Path) -> None:
    whole = run(make_spec(game, id="m", journal=str(tmp_path / "whole")))
    spec = make_spec(game, id="m", journal=str(tmp_path / "again"))
    path, listening = interrupted_journal(spec, actions=5), EventCollector()
    left = path.read_bytes()

    outcome = way(spec, [listening])

    again, before = read_journal(path), read_journal(whole.journal or "")
    assert path.read_bytes().startswith(left)
    assert (outcome.id, outcome.journal, outcome.names) == ("m", str(path), whole.names)
    assert (again.facts, again.resumptions) == (before.facts, (5,))
    assert count_turns(outcome) == count_turns(whole) == len(again.facts)
    assert outcome.result is not None
    assert whole.result is not None
    assert verify(again, outcome.result.receipt).result == replace(whole.result, receipt=None)
    assert len(listening.events) == 2 + len(again.facts) - 5


SHY = """
from fairplay.games.fish import Fish

made = []

class Player:
    def __init__(self):
        made.append(self)

    def start(self, seat, names, view):
        if len(made) > 1:
            raise RuntimeError("not again")

    def take_turn(self, view):
        return next(Fish().actions(view))
"""


@both_ways
def test_a_failure_in_a_resumed_match_that_was_over_is_one_at_the_end(
    way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shy = write_module(tmp_path, SHY, "Player", monkeypatch)
    spec = make_spec("fish", shy, "greedy", id="m", journal=str(tmp_path))
    whole = run(replace(spec, id="whole"))
    sys.modules[shy.split(":")[1]].made.clear()
    path = interrupted_journal(spec, actions=count_turns(whole))
    assert read_journal(path).match_after(None).turn is None

    outcome = way(spec)

    assert outcome.result is not None
    assert whole.result is not None
    assert [(out.seat, out.moment) for out in outcome.result.ejected] == [(0, Moment.END)]
    assert outcome.result.ranking == tuple(group - {0} for group in whole.result.ranking)
    assert verify(read_journal(path)).result.ranking == outcome.result.ranking


def test_a_match_with_a_drawn_seed_is_resumed_with_it(tmp_path: Path) -> None:
    spec = make_spec(id="m", seed=None, journal=str(tmp_path))
    path = interrupted_journal(spec)

    outcome = run(spec)

    assert outcome.result is not None
    assert outcome.result.seed == read_journal(path).opening.seed
    assert read_journal(path).resumptions == (5,)


OTHERS = {
    "game": replace(make_spec("q", "dag", "dag", id="m")),
    "parameters": make_spec("fish", id="m", parameters={"rows": 5, "columns": 4}),
    "players": make_spec("fish", "greedy", "random", "lookahead:2", id="m"),
    "seats": make_spec("fish", "random", "greedy", "lookahead:1", id="m"),
    "labels": make_spec("fish", "ann=greedy", "random", "lookahead:1", id="m"),
    "seed": make_spec("fish", id="m", seed=SEED[::-1]),
    "no seed": make_spec("fish", id="m", seed=None),
    "seal": make_spec("fish", id="m", sealed=True),
}


@both_ways
@pytest.mark.parametrize("other", OTHERS)
def test_another_spec_with_the_same_id_is_refused_and_the_file_is_unchanged(
    way: Any, other: str, tmp_path: Path
) -> None:
    path = interrupted_journal(make_spec(id="m", journal=str(tmp_path)))
    left = path.read_bytes()

    with pytest.raises(BadRequest, match="this journal is of another match than the spec"):
        way(replace(OTHERS[other], journal=str(tmp_path)))

    assert path.read_bytes() == left
    assert journal_files(replace(OTHERS[other], journal=str(tmp_path))) == [path]


@both_ways
def test_a_spec_whose_match_has_ended_has_the_recorded_outcome(way: Any, tmp_path: Path) -> None:
    spec = make_spec(id="m", journal=str(tmp_path))
    first = run(spec)
    left = (tmp_path / "m.jsonl").read_bytes()

    again = way(spec)

    assert again == replace(first, took=again.took, turns=again.turns)
    assert count_turns(again) == count_turns(first)
    assert again.result is not None
    assert (tmp_path / "m.jsonl").read_bytes() == left
    with pytest.raises(BadRequest, match="of another match than the spec"):
        way(replace(spec, seed=bytes(32)))


CHEATS_LATER = """
from fairplay.games.fish import Fish

class Player:
    turns = 0

    def take_turn(self, view):
        self.turns += 1
        return next(Fish().actions(view)) if self.turns < 3 else "junk"
"""


def test_the_recorded_outcome_counts_the_turn_of_an_ejection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = make_spec(
        "fish", write_module(tmp_path, CHEATS_LATER, "Player", monkeypatch), "greedy", id="m", journal=str(tmp_path)
    )
    first = run(spec)

    again = run(spec)

    assert first.result is not None
    assert [out.moment for out in first.result.ejected] == [Moment.TURN]
    assert [turns.count for turns in again.turns] == [turns.count for turns in first.turns]
    assert again.turns[0].count == 3


@both_ways
@pytest.mark.parametrize("there", [b"", b'{"type":"opening","se'], ids=["empty", "torn"])
def test_a_match_with_a_torn_opening_begins_again_in_its_file(way: Any, there: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_bytes(there)

    outcome = way(make_spec(id="m", journal=str(tmp_path)))

    assert outcome.result is not None
    assert verify(read_journal(tmp_path / "m.jsonl"), outcome.result.receipt).result.ranking == outcome.result.ranking


def test_the_table_of_a_resumed_match_gets_the_times_of_turns_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = make_spec(id="m", journal=str(tmp_path))
    path, told, seated = interrupted_journal(spec, actions=7), [], Table.seat_players
    entries = read_journal(path).entries

    def spy(table: Table, *arguments: Any, **rest: Any) -> Any:
        told.append(rest["turn_times"])
        return seated(table, *arguments, **rest)

    monkeypatch.setattr(Table, "seat_players", spy)
    awaited(spec)

    assert len(entries) == 7
    assert told == [{seat: [one.took for one in entries if one.fact.seat == seat] for seat in range(3)}]


def test_a_match_of_another_format_or_other_rules_is_not_resumed(tmp_path: Path) -> None:
    spec = make_spec(journal=str(tmp_path))
    opening = read_journal(interrupted_journal(spec)).opening

    assert records.matches_spec(spec, opening)
    assert not records.matches_spec(spec, replace(opening, format=2))
    assert not records.matches_spec(spec, replace(opening, rules="0"))


def test_a_cancelled_match_is_cancelled_even_if_its_journal_cannot_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(record: MatchRecord) -> None:
        raise HostFault("the disk is gone")

    async def cancelled() -> bool:
        task = asyncio.create_task(run_async(make_spec("fish", "tcp:0", "greedy", journal=str(tmp_path))))
        while not list(tmp_path.iterdir()):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    monkeypatch.setattr(MatchRecord, "close", fail)

    assert asyncio.run(cancelled())


@both_ways
def test_a_spec_whose_match_is_being_played_is_refused(way: Any, tmp_path: Path) -> None:
    spec = make_spec(id="m", journal=str(tmp_path))
    path = interrupted_journal(spec)
    record, _ = Journal(tmp_path).resume(path)

    with record, pytest.raises(BadRequest, match="another process is playing this match"):
        way(spec)

    assert way(spec).result is not None  # no other process plays it any more


def test_without_an_id_every_run_is_a_new_match(tmp_path: Path) -> None:
    spec = make_spec(journal=str(tmp_path))
    interrupted_journal(spec)

    ids = {run(spec).id for _ in range(2)}

    assert len(ids) == 2
    assert len(journal_files(spec)) == 3


# What fails before the table is ready.


def taken(directory: Path, listener: socket.socket) -> Path:
    """An unfinished match whose guest is expected at a port that is taken."""
    address = f"tcp:{listener.getsockname()[1]}"
    match = deal_match(make_spec().load_game(), [address, "bob"], SEED)
    with records.open_journal(directory, Durability.OFF).begin(match, players=(address, "random")) as record:
        return record.path


@pytest.mark.parametrize("verb", ["play", "resume"])
def test_a_failed_resumption_leaves_no_line_in_the_journal(verb: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        path = taken(tmp_path, listener)
        left, address = path.read_bytes(), read_journal(path).opening.players[0]
        play = ("play", "fish", address, "bob=random", *PLAY[4:], "--seed", SEED.hex(), "--journal", str(tmp_path))

        for _ in range(3):
            done = run_fairplay(*play) if verb == "play" else run_fairplay("resume", str(path))
            assert "cannot listen" in last_line(done)
            assert ("resuming" in done.err) == (verb == "play")

    assert path.read_bytes() == left
    assert list(tmp_path.glob("*.jsonl")) == [path]


def last_line(done: CommandResult) -> str:
    """What is said when a command is refused, whatever was said before."""
    assert (done.code, done.out) == (2, "")
    return done.err.splitlines()[-1]


@both_ways
def test_a_failed_resumption_of_a_spec_leaves_no_line_in_the_journal(way: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        path = taken(tmp_path, listener)
        left, recorded = path.read_bytes(), read_journal(path)
        spec = make_spec("fish", recorded.opening.players[0], "bob=random", id=recorded.opening.match)

        for _ in range(2):
            with pytest.raises(BadRequest, match="cannot listen"):
                way(replace(spec, journal=str(tmp_path)))

    assert path.read_bytes() == left


# Between the scan and the opening.


def test_a_match_that_ends_after_it_was_found_is_skipped_and_a_new_one_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = make_spec("fish", "ann=greedy", "bob=random", seed=None, journal=str(tmp_path))
    path = interrupted_journal(spec)
    found = find_unfinished(tmp_path, lambda opening: True)
    assert (found, run_fairplay("resume", str(path), "--quiet").code) == ([path], 0)  # another process was quicker
    ended = path.read_bytes()
    monkeypatch.setattr(records, "find_unfinished", lambda *_: found)

    done = run_fairplay(*PLAY, "--journal", str(tmp_path))

    [new] = set(journal_files(spec)) - {path}
    assert (done.code, done.err) == (0, "")
    assert path.read_bytes() == ended
    assert read_journal(new).resumptions == ()
    assert verify(read_journal(new)).turn is None


def test_a_match_that_another_process_plays_is_skipped_and_the_next_is_resumed(tmp_path: Path) -> None:
    spec = make_spec("fish", "ann=greedy", "bob=random", seed=None, journal=str(tmp_path))
    first, second = interrupted_journal(spec), interrupted_journal(spec)
    left = first.read_bytes()
    record, _ = Journal(tmp_path).resume(first)

    with record:
        done = run_fairplay(*PLAY, "--journal", str(tmp_path))

    assert (done.code, done.err) == (0, f"fairplay: resuming {second}\n")
    assert first.read_bytes() == left
    assert [line["type"] for line in read_lines(second)].count("resumed") == 1
