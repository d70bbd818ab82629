"""Test that interrupted matches are resumed, and no others: neither those of another spec, nor forged ones."""

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay import BadRequest, HostFault, Moment
from fairplay.hosting import records
from fairplay.hosting.records import open_journal, recorded_outcome
from fairplay.hosting.run import new_match, run, run_async
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.key import load_key, user_key_file
from fairplay.journal.options import Durability, WithoutMac
from fairplay.journal.record import Journal, MatchRecord
from fairplay.journal.replay import read_journal
from fairplay.journal.unfinished_matches import find_unfinished
from fairplay.journal.verification import verify
from fairplay.referee.referee import deal_match
from tests.cli.command import run_fairplay
from tests.hosting.specs import (
    SEED,
    EventCollector,
    both_ways,
    count_turns,
    interrupted_journal,
    journal_files,
    make_spec,
    run_awaited,
)
from tests.journal_files import read_lines
from tests.players.machine import needs_strict
from tests.tournament.players import Shy
from tests.tournament.small_tournaments import MISBEHAVING_PLAYERS

OTHERS = {
    "game": make_spec("q", "dag", "dag"),
    "parameters": make_spec("fish", parameters={"rows": 5, "columns": 4}),
    "players": make_spec("fish", "greedy", "random", "lookahead:2"),
    "seats": make_spec("fish", "random", "greedy", "lookahead:1"),
    "labels": make_spec("fish", "ann=greedy", "random", "lookahead:1"),
    "seed": make_spec("fish", seed=SEED[::-1]),
    "no seed": make_spec("fish", seed=None),
    "seal": make_spec("fish", sealed=True),
}
PLAY = ("play", "fish", "ann=greedy", "bob=random", "--set", "rows=4", "--set", "columns=4", "--quiet")


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
    assert outcome.result is not None and whole.result is not None
    assert verify(again, outcome.result.receipt).result == replace(whole.result, receipt=None)
    assert len(listening.events) == 2 + len(again.facts) - 5


@both_ways
def test_a_failure_after_the_end_is_one_at_the_end(way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = make_spec("fish", f"{MISBEHAVING_PLAYERS}Shy", "greedy", id="m", journal=str(tmp_path))
    monkeypatch.setattr(Shy, "starts", 0)
    whole = run(replace(spec, id="whole"))
    monkeypatch.setattr(Shy, "starts", 0)
    path = interrupted_journal(spec, actions=count_turns(whole))
    assert read_journal(path).match_after(None).turn is None

    outcome = way(spec)

    assert outcome.result is not None and whole.result is not None
    assert [(out.seat, out.moment) for out in outcome.result.ejected] == [(0, Moment.END)]
    assert outcome.result.ranking == tuple(group - {0} for group in whole.result.ranking)
    assert verify(read_journal(path)).result.ranking == outcome.result.ranking


@both_ways
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_another_spec_with_the_same_id_is_refused(way: Any, other: MatchSpec, tmp_path: Path) -> None:
    path, other = interrupted_journal(make_spec(id="m", journal=str(tmp_path))), replace(other, journal=str(tmp_path))
    left = path.read_bytes()

    with pytest.raises(BadRequest, match="this journal is of another match than the spec"):
        way(replace(other, id="m"))

    assert path.read_bytes() == left
    assert journal_files(other) == [path]


@both_ways
def test_an_ended_match_has_its_recorded_outcome(way: Any, tmp_path: Path) -> None:
    spec = make_spec("fish", f"{MISBEHAVING_PLAYERS}LeavesBeforeLosing", "greedy", id="m", journal=str(tmp_path))
    first = run(spec)
    left = (tmp_path / "m.jsonl").read_bytes()

    again = way(spec)

    assert again == replace(first, took=again.took, turns=again.turns)
    assert again.result is not None and [out.moment for out in again.result.ejected] == [Moment.TURN]
    assert [turns.count for turns in again.turns] == [turns.count for turns in first.turns]
    assert again.turns[0].count == 4  # with the one that led to the ejection
    assert (tmp_path / "m.jsonl").read_bytes() == left
    with pytest.raises(BadRequest, match="of another match than the spec"):
        way(replace(spec, seed=bytes(32)))


@both_ways
@pytest.mark.parametrize("there", [b"", b'{"type":"opening","se'], ids=["empty", "torn"])
def test_a_match_with_a_torn_opening_begins_again_in_its_file(way: Any, there: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_bytes(there)

    outcome = way(make_spec(id="m", journal=str(tmp_path)))

    assert outcome.result is not None
    assert verify(read_journal(tmp_path / "m.jsonl"), outcome.result.receipt).result.ranking == outcome.result.ranking


def test_a_match_of_another_format_or_other_rules_is_not_resumed(tmp_path: Path) -> None:
    spec = make_spec(journal=str(tmp_path))
    opening = read_journal(interrupted_journal(spec)).opening

    assert records.matches_spec(spec, opening)
    assert not records.matches_spec(spec, replace(opening, format=2))
    assert not records.matches_spec(spec, replace(opening, rules="0"))


def test_a_match_is_cancelled_if_its_journal_cannot_be_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    spec = make_spec(id="m", seed=None, journal=str(tmp_path))
    path = interrupted_journal(spec)
    record, _ = Journal(tmp_path).resume(path)

    with record, pytest.raises(BadRequest, match="another process is playing this match"):
        way(spec)

    assert way(spec).result.seed == read_journal(path).opening.seed  # no other process plays it any more
    assert read_journal(path).resumptions == (5,)


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
        left, opening = path.read_bytes(), read_journal(path).opening
        play = ("play", "fish", opening.players[0], "bob=random", *PLAY[4:], "--seed", SEED.hex())

        for _ in range(2):
            done = (
                run_fairplay(*play, "--journal", str(tmp_path)) if verb == "play" else run_fairplay("resume", str(path))
            )
            assert (done.code, done.out) == (2, "")
            assert "cannot listen" in done.err.splitlines()[-1]
            assert ("resuming" in done.err) == (verb == "play")
        for way in (run, run_awaited):
            spec = make_spec("fish", opening.players[0], "bob=random", id=opening.match, journal=str(tmp_path))
            with pytest.raises(BadRequest, match="cannot listen"):
                way(spec)

    assert path.read_bytes() == left
    assert list(tmp_path.glob("*.jsonl")) == [path]


def test_a_match_that_ended_after_it_was_found_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@both_ways
def test_planted_results_and_matches_are_not_accepted(way: Any, tmp_path: Path) -> None:
    ended, begun = (make_spec(id=id, journal=str(tmp_path)) for id in ("ended", "begun"))
    run(replace(ended, key=str(tmp_path / "of another host")))  # it is sound, and of this very spec
    match = deal_match(begun.load_game(), begun.labels, SEED, match_id="begun")
    Journal(tmp_path).begin(match, players=begun.addresses).close()
    left = (tmp_path / "begun.jsonl").read_bytes()

    for planted in (ended, begun):
        with pytest.raises(WithoutMac, match="was not recorded with your key"):
            way(planted)
    with pytest.raises(WithoutMac, match="was not recorded with your key"):
        recorded_outcome(ended)  # which reads the file again, and it may be another one by then

    assert (tmp_path / "begun.jsonl").read_bytes() == left


@both_ways
@pytest.mark.parametrize("actions", [5, None], ids=["interrupted", "finished"])
def test_a_directory_with_a_key_of_its_own_can_be_moved_to_another_machine(
    way: Any, actions: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    spec = make_spec(id="m", journal=str(here), key=str(here / "key"))
    whole = run(replace(spec, id="whole"))
    run(spec) if actions is None else interrupted_journal(spec, actions)
    here.rename(there)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))

    outcome = way(replace(spec, journal=str(there), key=str(there / "key")))

    assert outcome.result is not None and whole.result is not None
    assert outcome.result.ranking == whole.result.ranking
    assert not (tmp_path / "another").exists()  # no other key was needed
    with pytest.raises(WithoutMac):
        way(replace(spec, journal=str(there), key=None))


def test_a_missing_key_is_refused(tmp_path: Path) -> None:
    outcome = run(make_spec(journal=str(tmp_path / "games"), key="/proc/nowhere/key"))

    assert outcome.result is None
    assert outcome.host_fault == "cannot store a journal key in /proc/nowhere/key: No such file or directory"
    with pytest.raises(BadRequest, match="cannot be used as a key: it is not a file"):
        run(make_spec(journal=str(tmp_path / "games"), key=str(tmp_path)))
    assert not (tmp_path / "games").exists()


@pytest.mark.parametrize("by_mode", [True, False], ids=["it may be read", "it belongs to another"])
def test_a_cached_key_is_refused_once_others_may_read_it(by_mode: bool, tmp_path: Path) -> None:
    if not by_mode and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    key = tmp_path / "key"
    load_key(key)
    open_journal(tmp_path, Durability.OFF, str(key))

    if by_mode:
        key.chmod(0o640)
    else:
        os.chown(key, 12345, 12345)

    why = r"other users may access it \(mode 0640\)" if by_mode else "it belongs to another user"
    with pytest.raises(BadRequest, match=why):
        open_journal(tmp_path, Durability.OFF, str(key))


SPIES = """
from contextlib import suppress
from pathlib import Path
from fairplay.games.fish import Fish

def take_turn(view):
    with suppress(OSError):
        if Path({key!r}).read_bytes():
            raise RuntimeError("there it is")
    return next(Fish().actions(view))
"""


@needs_strict
@pytest.mark.parametrize("place", ["key", "games/key"])
def test_no_program_sees_the_key_of_a_directory(place: str, tmp_path: Path) -> None:
    bot, key = tmp_path / "bot.py", tmp_path / place
    bot.write_text(SPIES.format(key=str(key)))
    spec = make_spec("fish", str(bot), "greedy", journal=str(tmp_path / "games"), key=str(key), sandbox="strict")
    load_key(user_key_file())  # there are two then

    outcome, sandbox = run(spec), new_match(spec).conditions.sandbox

    assert outcome.result is not None and sandbox is not None
    assert outcome.result.ejected == ()
    assert "there it is" in str(run(replace(spec, sandbox="none")).evidence)
    assert {spec.key, str(user_key_file().parent)} <= set(sandbox.hidden_paths)
