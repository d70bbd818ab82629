"""Test how a match is recorded, with its id, seed, players and conditions, and what happens if it cannot be."""

import errno
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay import (
    Acted,
    BadRequest,
    Ejected,
    Ended,
    Event,
    Fault,
    HostFault,
    Moment,
    Receipt,
    Started,
    __version__,
    built_in_strategy,
)
from fairplay.core.chance import seed_commitment, seed_from_text
from fairplay.core.match import Match
from fairplay.core.messages import End
from fairplay.games.fish.examples import EXAMPLES
from fairplay.games.tsuro import Tsuro
from fairplay.games.tsuro.pieces import TILES
from fairplay.journal.append_file import Disk
from fairplay.journal.ejection_report import ejection_reports
from fairplay.journal.library import Query, find_matches
from fairplay.journal.lines import Resumed, Seated
from fairplay.journal.record import Journal, branch_match
from fairplay.journal.replay import are_valid_names, find_seat, read_journal
from fairplay.journal.summary import Status, summarise_journal
from fairplay.journal.verification import verify
from fairplay.observers.feed import EventFeed
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee, deal_match
from tests.journal.forging import edit_line, refusal_of_forgery, rewrite_opening
from tests.journal.journals import (
    GAME,
    SEED,
    TABLES,
    AnyMatch,
    EventCollector,
    RecordFactory,
    Spy,
    cut_journal,
    first_action,
    good_then,
    play_illegal_action,
    read_lines,
    read_verified,
    record_match,
    resume_match,
)

TWO = [first_action, first_action]
EXISTS = "a journal of a match with this id exists already"
COMMON = {"type", "seq", "at"}
FACT = COMMON | {"took", "fact"}
OPENING = COMMON | {"format", "fairplay", "match", "game", "rules", "parameters", "names", "seed", "commitment"}


class FailingDisk(Disk):
    def __init__(self, at: int, failure: int | None) -> None:
        self._calls = 0
        self._at = at
        self._failure = failure  # an errno; None: a short write

    def write(self, file: int, text: bytes) -> int:
        self._calls += 1
        if self._calls != self._at:
            return super().write(file, text)
        if self._failure is None:
            return super().write(file, text[: len(text) // 2])
        raise OSError(self._failure, os.strerror(self._failure))


def whole_facts(path: Path) -> list[Any]:
    """The facts in a file, whatever stands behind the last whole line."""
    lines = path.read_bytes().splitlines(keepends=True)
    entries = [json.loads(line) for line in lines if line.endswith(b"}\n")]
    return [entry["fact"] for entry in entries if entry["type"] == "fact"]


def test_a_journal_is_private_and_named_by_the_match(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path, _ = record_match(tmp_path / "games" / "today", TWO)  # directories that are not there are made
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path == tmp_path / "games" / "today" / f"{read_lines(path)[0]['match']}.jsonl"
    assert re.fullmatch("[0-9a-f]{32}", path.stem)


def test_the_opening_has_all_that_is_needed_to_begin_again(tmp_path: Path) -> None:
    begin = partial(Journal(tmp_path, now=lambda: 12.5).begin, players=["random", "./b.py"], guessable=True)
    seed = seed_from_text("7")

    match = Referee().run(GAME, TWO, names=["ann", "bob"], seed=seed, record=begin)

    assert read_lines(tmp_path / f"{match.id}.jsonl")[0] == {
        "type": "opening",
        "seq": 0,
        "at": 12.5,
        "format": 5,
        "fairplay": __version__,
        "match": match.id,
        "game": "fish",
        "rules": "1",
        "parameters": {"rows": 4, "columns": 4, "fish": "random", "holes": 0, "colours": "fixed", "cramped": False},
        "names": ["ann", "bob"],
        "players": ["random", "./b.py"],
        "seed": seed.hex(),
        "commitment": sha256(seed + match.id.encode()).hexdigest(),
        "guessable": True,
    }


@pytest.mark.parametrize("table", TABLES)
def test_there_is_one_line_per_fact_between_the_opening_and_the_result(table: str, tmp_path: Path) -> None:
    watcher = EventCollector()

    path, match = record_match(tmp_path, TABLES[table](), watcher)

    opening, seated, *facts, result = read_lines(path)
    assert set(opening) == OPENING
    assert (seated["type"], seated["names"]) == ("seated", list(match.names))
    assert set(seated) == COMMON | {"names"}
    assert [line["type"] for line in facts] == ["fact"] * len(watcher.facts)
    assert all(FACT <= set(line) <= FACT | {"shown", "answer", "evidence"} for line in facts)
    assert set(result) == COMMON | {"result"}
    assert [line["seq"] for line in read_lines(path)] == list(range(len(facts) + 3))
    assert [line["fact"]["seat"] for line in facts] == [fact.seat for fact in read_journal(path).facts]
    assert result["result"]["ranking"] == [sorted(group) for group in match.result.ranking]
    assert [ejected["seat"] for ejected in result["result"]["ejected"]] == [out.seat for out in match.result.ejected]

    before = b"0" * 64  # the chain is the one that the docs describe
    for line in path.read_bytes().splitlines():
        body = line[: line.rindex(b',"hash":"')]
        digest = json.loads(line)["hash"]
        assert digest == sha256(before + path.stem.encode() + body).hexdigest()
        before = digest.encode()


def test_every_fact_has_its_time_and_how_long_the_player_took(tmp_path: Path) -> None:
    time, took = 1000.0, (2.0, 0.5)

    def think(seat: int) -> Callable[[Any], Any]:
        def take_turn(view: Any) -> Any:
            nonlocal time
            time += took[seat]
            return first_action(view)

        return take_turn

    journal = Journal(tmp_path, clock=lambda: time, now=lambda: time)

    path, _ = record_match(tmp_path, [think(0), think(1)], journal=journal)

    now = 1000.0
    opening, seated, *facts, result = read_lines(path)
    assert (opening["at"], seated["at"]) == (now, now)
    for line in facts:
        now += took[line["fact"]["seat"]]
        assert (line["at"], line["took"]) == (now, took[line["fact"]["seat"]])
    assert result["at"] == now


def test_the_evidence_of_a_failure_is_recorded_but_not_public(tmp_path: Path) -> None:
    watcher = EventCollector()

    path, _ = record_match(tmp_path, TABLES["two that crash"](), watcher)

    crashed = [line for line in read_lines(path) if "evidence" in line]
    assert len(crashed) == 2
    assert all("what it said" in line["evidence"]["detail"] for line in crashed)
    assert "what it said" not in repr(watcher.events)


@pytest.mark.parametrize("table", TABLES)
def test_a_fact_is_in_the_file_before_observers_hear_it(table: str, tmp_path: Path) -> None:
    found: list[Event] = []

    class Reader:
        def observe(self, event: Event, match: AnyMatch) -> None:
            (path,) = tmp_path.iterdir()
            recorded = read_journal(path)
            match event:
                case Started(names):
                    assert recorded.opening.names == names
                    assert recorded.seatings == ((0, names),)
                case Acted() | Ejected():
                    assert recorded.facts[-1] == event
                case Ended(result):
                    assert recorded.closing is not None
                    assert recorded.closing.result == replace(result, receipt=None)
                    assert result.receipt == Receipt(len(recorded.heads) - 1, recorded.heads[-1])
            found.append(event)

    watcher = EventCollector()

    record_match(tmp_path, TABLES[table](), Reader(), watcher)

    assert found == watcher.events


@pytest.mark.parametrize("failure", [errno.ENOSPC, errno.EIO, None], ids=["no space", "input/output", "short write"])
def test_a_failing_disk_stops_the_match_and_blames_no_player(failure: int | None, tmp_path: Path) -> None:
    table, clean = TABLES["one at each moment"], EventCollector()
    path, _ = record_match(tmp_path, table(), clean)
    lines = len(path.read_bytes().splitlines())
    facts = whole_facts(path)

    for call in count(1):
        directory, watcher = tmp_path / str(call), EventCollector()
        journal = Journal(directory, disk=FailingDisk(call, failure))
        if call > lines:
            record_match(directory, table(), watcher, journal=journal)
            break
        with pytest.raises(HostFault, match="cannot be written"):
            record_match(directory, table(), watcher, journal=journal)
        assert watcher.facts == clean.facts[: max(0, call - 3)]  # the opening and the seating come before
        assert any(isinstance(event, Started) for event in watcher.events) == (call > 2)
        assert not any(isinstance(event, Ended) for event in watcher.events)
        (left,) = directory.iterdir()
        assert whole_facts(left) == facts[: max(0, call - 3)]

    assert watcher.facts == clean.facts
    assert isinstance(watcher.events[-1], Ended)


@pytest.mark.parametrize("torn", [True, False])
def test_nothing_follows_a_torn_line_or_the_result(torn: bool, tmp_path: Path) -> None:
    begin = RecordFactory(Journal(tmp_path, disk=FailingDisk(5 if torn else 0, None)))
    if torn:
        with pytest.raises(HostFault):
            record_match(tmp_path, TWO, begin=begin)
    else:
        record_match(tmp_path, TWO, begin=begin)
    left = begin.path.read_bytes()
    assert left.endswith(b"\n") != torn

    with pytest.raises(HostFault):
        begin.record.write(Ejected(0, Fault.GONE, Moment.TURN, ""), None, None)

    assert begin.path.read_bytes() == left


def test_after_a_fault_of_the_disk_the_same_referee_and_journal_go_on(tmp_path: Path) -> None:
    referee, journal = Referee(), Journal(tmp_path, disk=FailingDisk(5, errno.ENOSPC))
    with pytest.raises(HostFault):
        referee.run(GAME, TWO, seed=SEED, record=journal.begin)

    match = referee.run(GAME, TWO, seed=SEED, record=journal.begin)

    assert read_verified(tmp_path / f"{match.id}.jsonl") == match


LIMITED_FILE = """
import resource, sys
from fairplay import HostFault
from fairplay.journal.record import Journal
from fairplay.referee.referee import Referee
from fairplay.games.fish import Fish

class Printer:
    def observe(self, event, match):
        print(type(event).__name__, flush=True)

referee = Referee()
referee.subscribe(Printer())
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    players = [lambda view: next(Fish().actions(view))] * 2
    referee.run(Fish(), players, seed=bytes(32), record=Journal(sys.argv[1]).begin)
except HostFault as fault:
    print(fault)
"""


def test_a_file_that_may_not_grow_stops_the_match_too(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED_FILE, tmp_path], capture_output=True, text=True, check=True)

    (path,) = tmp_path.iterdir()
    *told, fault = done.stdout.splitlines()
    assert path.stat().st_size == 2000
    assert told == ["Started", *["Acted"] * len(whole_facts(path))]
    assert "cannot be written: only" in fault
    assert done.stderr == ""


def test_without_a_journal_no_player_is_called(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    called: list[Any] = []
    watcher = EventCollector()

    with pytest.raises(HostFault, match="cannot write journals in"):
        record_match(tmp_path / "file" / "games", [called.append, called.append], watcher)

    assert called == watcher.events == []


def test_a_file_that_is_there_already_is_never_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = record_match(tmp_path, TWO)
    before = path.read_bytes()
    monkeypatch.setattr("fairplay.referee.referee.new_match_id", lambda: path.stem)

    with pytest.raises(BadRequest, match=EXISTS):
        record_match(tmp_path, TWO)

    assert path.read_bytes() == before


# Ids.


def deal(match_id: str) -> AnyMatch:
    return deal_match(GAME, ["ann", "bob"], SEED, match_id=match_id)


@pytest.mark.parametrize("match_id", ["a", "0", "Round-1_table-7", "-rf", "x" * 64])
def test_an_id_that_the_caller_chose_names_the_file(match_id: str, tmp_path: Path) -> None:
    match = deal(match_id)

    with Journal(tmp_path).begin(match) as record:
        final = play(match, [LocalChannel(first_action, GAME), LocalChannel(first_action, GAME)], record)

    assert record.path == tmp_path / f"{match_id}.jsonl"
    recorded = read_journal(record.path)
    assert recorded.opening.match == final.id == match_id
    assert recorded.opening.commitment == match.commitment == seed_commitment(SEED, match_id)
    assert verify(recorded) == final


def test_a_second_match_with_the_same_id_is_refused_and_the_first_can_be_resumed(tmp_path: Path) -> None:
    journal, match = Journal(tmp_path), deal("again")
    with journal.begin(match) as record:
        for _ in range(2):
            with pytest.raises(BadRequest, match="another process is playing this match"):
                journal.begin(deal("again"))
        record.write(Started(match.names), None, None)  # the first goes on as if nothing had been
    with pytest.raises(BadRequest, match=EXISTS):
        Journal(tmp_path).begin(deal("again"))

    resumed, recorded = Journal(tmp_path).resume(record.path)

    resumed.close()
    assert recorded.opening.match == "again"
    assert [line["type"] for line in read_lines(record.path)] == ["opening", "seated"]
    assert read_journal(record.path).torn_bytes == 0


@pytest.mark.parametrize(
    "match_id",
    ["", ".", "..", "a/b", "/a", "../a", "a\\b", "a\0b", "a.b", "a b", "a\n", "ä", "x" * 65, "x" * 5000],
    ids=range(14),
)
def test_an_invalid_match_id_is_refused_and_nothing_is_written(match_id: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"is not a match id: use 1 to 64 letters, digits, - and _$"):
        Journal(tmp_path / "journals").begin(deal(match_id))

    assert list(tmp_path.iterdir()) == []


def test_a_match_from_a_given_state_draws_an_id_if_it_has_none(tmp_path: Path) -> None:
    match = Match(GAME, EXAMPLES["star"], ("ann", "bob"))

    with Journal(tmp_path).begin(match) as one, Journal(tmp_path).begin(match) as two:
        pass

    assert one.path != two.path
    assert [read_journal(path).opening.match for path in (one.path, two.path)] == [one.path.stem, two.path.stem]


# Players and conditions.


GUESTS = ("tcp:4000", "tcp:4000-2")


@pytest.mark.parametrize(("names", "can"), [(("ann", "eve"), True), (("ann", "tcp:1"), True), (("eve", "bob"), False)])
def test_the_labels_that_the_host_gave_are_kept(names: tuple[str, ...], can: bool, tmp_path: Path) -> None:
    path, _ = record_guests(tmp_path)
    opening = replace(read_journal(path).opening, names=("ann", "tcp:1"), players=("tcp:1", "tcp:1"))

    assert are_valid_names(Seated(1, 0.0, names), opening) is can


def record_guests(directory: Path, *, lines: int = 10**6) -> tuple[Path, AnyMatch]:
    """A match of two that were invited by an address, and have names of their own; perhaps only its first lines."""
    match = deal_match(GAME, GUESTS, SEED)
    players = [LocalChannel(first_action, GAME), LocalChannel(good_then(2, play_illegal_action), GAME)]
    with Journal(directory).begin(match, limits={"turn": 5.0}, sandbox="strict") as begun:
        begun.enforced = ("", "strict")
        final = play(replace(match, names=("ann", "bob")), players, begun)
    cut_journal(begun.path, lines)
    return begun.path, final


def resume_guests(path: Path, *names: str, limits: dict[str, float] | None = None, sandbox: str = "") -> AnyMatch:
    again, recorded = Journal(path.parent).resume(path)
    match = replace(recorded.match_after(None), names=names)
    with again:
        again.set_resumed(2 + len(recorded.resumptions), limits, sandbox)
        return Referee().resume(match, [first_action, first_action], record=again)


def test_guests_have_the_names_that_they_sat_down_with(tmp_path: Path) -> None:
    path, final = record_guests(tmp_path)
    recorded = read_journal(path)

    assert recorded.opening.names == GUESTS
    assert recorded.names == recorded.match_after(0).names == verify(recorded).names == final.names == ("ann", "bob")
    assert (find_seat(recorded, "bob"), find_seat(recorded, "0")) == (1, 0)
    assert [line.enforced for line in recorded.middle if isinstance(line, Seated)] == [("", "strict")]

    (found,) = find_matches(tmp_path, Query(players=("bob",)))
    (report,) = ejection_reports(recorded)
    assert [seated.name for seated in found.seats] == ["ann", "bob"]
    assert (found.status, found.seats[1].fault) == (Status.FINISHED, report.fault)
    assert report.name == "bob"

    cut_journal(path, 1)
    assert read_journal(path).names == GUESTS  # nobody sat down yet


def test_a_player_that_returns_with_another_name_keeps_it_and_conditions_stay(tmp_path: Path) -> None:
    path, _ = record_guests(tmp_path, lines=5)

    final = resume_guests(path, "ann", "eve")

    recorded = read_journal(path)
    assert recorded.seatings == ((0, ("ann", "bob")), (3, ("ann", "eve")))
    assert recorded.names == recorded.match_after(None).names == ("ann", "eve")
    assert (recorded.limits, recorded.sandbox) == ({"turn": 5.0}, "strict")
    assert verify(recorded) == final


def test_conditions_that_are_new_since_a_resumption_are_on_record(tmp_path: Path) -> None:
    path, _ = record_guests(tmp_path, lines=5)

    final = resume_guests(path, "ann", "bob", limits={"turn": 9.0}, sandbox="none")

    recorded = read_journal(path)
    assert (recorded.limits, recorded.sandbox) == ({"turn": 9.0}, "none")
    assert recorded.opening.limits == {"turn": 5.0}
    assert [line.epoch for line in recorded.middle if isinstance(line, Resumed)] == [2]
    assert verify(recorded) == final


# Sealed seeds stay secret, and a journal proves the deal nevertheless.


class PlayedMatch:
    """All that came out of a match, to look for the seed in it."""

    def __init__(self, directory: Path, *, sealed: bool) -> None:
        self.events: list[Event] = []
        self.fed: list[str] = []
        players = [Spy(), Spy()]
        match = deal_match(GAME, ["ann", "bob"], SEED, match_id="sealed", sealed=sealed)
        with Journal(directory).begin(match) as record:
            self.final: AnyMatch = play(match, [LocalChannel(one, GAME) for one in players], record, self._inform)
        self.path = record.path
        self.told = [player.heard[-1].result for player in players if isinstance(player.heard[-1], End)]

    def _inform(self, event: Event, match: AnyMatch) -> None:
        self.events.append(event)
        EventFeed(self.fed.append).observe(event, match)


def test_the_seed_of_a_sealed_match_stays_hidden_and_its_journal_proves_the_deal(tmp_path: Path) -> None:
    played = PlayedMatch(tmp_path, sealed=True)

    assert played.final.result.seed is None
    assert [result.seed for result in played.told] == [None, None]
    assert [event.result.seed for event in played.events if isinstance(event, Ended)] == [None]
    assert json.loads(played.fed[-1])["seed"] is None
    assert SEED.hex() not in repr([played.events, played.fed, played.told])
    assert "seed" not in read_lines(played.path)[-1]["result"]

    assert read_verified(played.path) == played.final
    assert read_journal(played.path).opening.seed == SEED.hex()  # it is private, until the host shows it
    assert played.events[0].commitment == seed_commitment(SEED, "sealed")  # type: ignore[union-attr]


def test_the_seed_of_any_other_match_is_revealed_with_the_result(tmp_path: Path) -> None:
    played = PlayedMatch(tmp_path, sealed=False)

    assert {result.seed for result in played.told} == {played.final.result.seed} == {SEED.hex()}
    assert json.loads(played.fed[-1])["seed"] == SEED.hex()
    assert read_lines(played.path)[-1]["result"]["seed"] == SEED.hex()
    assert "sealed" not in read_lines(played.path)[0]


def test_a_journal_does_not_lie_about_the_seal(tmp_path: Path) -> None:
    path = PlayedMatch(tmp_path, sealed=True).path
    whole, lines = path.read_bytes(), read_lines(path)

    for forgery in (rewrite_opening(sealed=False), edit_line(-1, result={**lines[-1]["result"], "seed": SEED.hex()})):
        path.write_bytes(whole)
        assert refusal_of_forgery(path, forgery) == (len(lines), "this is not the result of the match")


@pytest.mark.parametrize("sealed", [True, False])
def test_a_match_stays_sealed_when_it_is_resumed_and_when_others_play_on(sealed: bool, tmp_path: Path) -> None:
    path = PlayedMatch(tmp_path, sealed=sealed).path
    cut_journal(path, 7)

    resumed = resume_match(path, [first_action, first_action])
    match = branch_match(read_journal(path), 3, ("x", "y"))
    with Journal(tmp_path).branch(match, read_journal(path), 3) as other:
        branch = Referee().resume(match, [first_action, first_action], record=other)

    assert (resumed.result.seed is None, branch.result.seed is None) == (sealed, sealed)
    assert read_verified(path) == resumed
    assert read_verified(other.path) == branch


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
