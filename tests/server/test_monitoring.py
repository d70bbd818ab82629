"""Test the metrics and logs of a server: they agree with what happened, and hold no secrets."""

import asyncio
import json
import logging
import secrets
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from fairplay import built_in_strategy
from fairplay.core.events import Acted, Event
from fairplay.core.match import Match
from fairplay.games.fish import Fish
from fairplay.journal.append_file import AppendFile, Disk, create_file, max_unsynced_age_s
from fairplay.journal.options import Durability
from fairplay.referee.referee import Referee
from fairplay.server import logs
from fairplay.server.logs import LOG, MAX_QUEUED_LINES, log_event, log_to, log_warning
from fairplay.server.metrics import ServerCounts, format_metrics, make_registry
from fairplay.server.status import OfferStatus, RoomStatus, ServerStatus, WaitingStatus
from tests.hostile_names import NAMES
from tests.nonempty import nonempty

# Metrics

ROOM = RoomStatus("r1", "fish-1", "fish", ("ann", "bob"), "playing", 3, 0, (1, 2), (), 7)
STATUS = ServerStatus(
    name="server",
    version="1",
    started_at=1.0,
    uptime_s=5.0,
    offers=(OfferStatus("fish", {}, 2, 4), OfferStatus("q", {}, 2, 4)),
    rooms=(ROOM, ROOM),
    waiting=(WaitingStatus("cyd", "", 2.0),),
    players=("ann", "bob", "cyd"),
)


def read_metrics(counts: ServerCounts, status: ServerStatus = STATUS) -> dict[Any, float]:
    """The metrics that a monitor reads, by name and label."""

    async def asked() -> bytes:
        return format_metrics(make_registry(lambda: status, counts))

    text = asyncio.run(asked()).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_metrics_count_what_happened() -> None:
    counts, turns = ServerCounts(), 0

    class Counting:
        def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
            nonlocal turns
            turns += isinstance(event, Acted)

    def bad(view: Any) -> Any:
        raise RuntimeError("a bad day")

    referee = Referee()
    for observer in (counts, Counting()):
        referee.subscribe(observer)
    good = built_in_strategy("fish", "greedy")
    for players in nonempty(([good, good], [good, bad])):
        referee.run(Fish(rows=4, columns=4), players, seed=secrets.token_bytes(32))
    counts.refused["too many"] += 2

    read = read_metrics(counts)

    assert turns > 8
    expected = {
        ("fairplay_turns_total",): turns,
        ("fairplay_matches_total",): 2,
        ("fairplay_ejections_total", "crashed"): 1,
        ("fairplay_ejections_total", "timed_out"): 0,
        ("fairplay_refused_connections_total", "too many"): 2,
        ("fairplay_rooms", "fish"): 2,
        ("fairplay_rooms", "q"): 0,
        ("fairplay_players",): 3,
        ("fairplay_waiting_players",): 1,
        ("fairplay_spectators",): 14,
    }
    assert {name: read[name] for name in expected} == expected
    assert read["fairplay_loop_delay_seconds_total",] >= 0
    assert read["process_resident_memory_bytes",] > 2**20


def test_metrics_count_rooms_of_games_that_are_not_offered() -> None:
    resumed = replace(ROOM, game="tsuro")  # begun when the game was still offered

    read = read_metrics(ServerCounts(), replace(STATUS, rooms=(ROOM, resumed)))

    assert {game: read["fairplay_rooms", game] for game in ("fish", "q", "tsuro")} == {"fish": 1, "q": 0, "tsuro": 1}


class Hanging(Disk):
    """A disk that never syncs, with a clock that the test sets."""

    time = 100.0

    def sync_later(self, file: AppendFile) -> None:
        pass

    def clock(self) -> float:
        return self.time


def test_metrics_tell_the_age_of_unsynced_journal_lines(tmp_path: Path) -> None:
    disk = Hanging()
    file = create_file(tmp_path, "a.jsonl", disk, Durability.BATCH)
    file.append(b"one\n")
    disk.time += 2000.0

    assert read_metrics(ServerCounts())["fairplay_journal_unsynced_seconds",] == max_unsynced_age_s() == 2000.0
    file.sync()
    assert max_unsynced_age_s() < 1000.0
    file.append(b"two\n")
    disk.time += 2000.0
    assert max_unsynced_age_s() == 2000.0
    file.close()
    assert max_unsynced_age_s() < 1000.0


@pytest.mark.parametrize("sync", [Durability.ALWAYS, Durability.OFF])
def test_unsynced_lines_have_no_age_with_sync_always_or_off(tmp_path: Path, sync: Durability) -> None:
    disk = Hanging()
    file = create_file(tmp_path, "a.jsonl", disk, sync)

    file.append(b"one\n")
    disk.time += 2000.0

    assert max_unsynced_age_s() < 1000.0
    file.close()


# Logs

TIMEOUT_S = 60.0


def logged(*, as_json: bool, **fields: object) -> list[str]:
    lines: list[str] = []
    with log_to(lines.append, as_json=as_json):
        log_event("a room was opened", **fields)
    return lines


def test_json_logs_have_one_object_a_line() -> None:
    [line] = logged(as_json=True, room="r1", names=["ann", "bob"], seats=2)

    entries = json.loads(line)

    assert line.endswith("}\n")
    assert entries.pop("at").endswith("Z")
    fields = {"room": "r1", "names": ["ann", "bob"], "seats": 2}
    assert entries == {"level": "info", "event": "a room was opened", **fields}


def test_a_field_replaces_no_standard_field_of_a_log_line() -> None:
    [line] = logged(as_json=True, at="never", level="loud", event="nothing")

    entries = json.loads(line)

    assert entries["at"].endswith("Z")
    assert (entries["level"], entries["event"]) == ("info", "a room was opened")


def test_text_logs_have_short_lines_without_empty_fields() -> None:
    ranking = frozenset({2, 1}), frozenset({0})
    [line] = logged(as_json=False, room="r1", names=["ann", "bob"], ranking=ranking)
    [short] = logged(as_json=False, room="", names=[], seats=0, match=None)

    assert line[8:] == " a room was opened, room r1, names ann bob, ranking 1 2 0\n"
    assert short[8:] == " a room was opened, seats 0\n"


@pytest.mark.parametrize("as_json", [True, False], ids=["JSON", "text"])
def test_no_name_moves_a_terminal_or_begins_a_line_and_no_secret_is_logged(as_json: bool) -> None:
    for name in nonempty(NAMES):
        [line] = logged(as_json=as_json, name=name)
        assert line.endswith("\n")
        assert line[:-1].isprintable()
    hidden = dict.fromkeys(("token", "reconnect_token", "key", "seed"), "CANARY")
    [line] = logged(as_json=as_json, name="ann", **hidden)
    assert "ann" in line
    assert "CANARY" not in line


def test_warnings_of_libraries_are_logged_too() -> None:
    lines: list[str] = []

    with log_to(lines.append, as_json=True):
        try:
            raise ValueError("a bad\nday")
        except ValueError:
            logging.getLogger("asyncio").exception("not caught")
        logging.getLogger("asyncio").info("a detail")

    [entries] = [json.loads(line) for line in lines]
    assert (entries["level"], entries["event"]) == ("error", "not caught")
    assert entries["error"] == "ValueError: a bad�day"


def test_a_stuck_log_reader_delays_no_match_and_dropped_lines_are_counted_once() -> None:
    lines: list[str] = []
    taken, goes_on, written = threading.Event(), threading.Event(), threading.Event()
    dropped = 100

    def write(line: str) -> None:
        taken.set()
        goes_on.wait()
        lines.append(line)
        if "the end" in line:
            written.set()

    with log_to(write, as_json=True):
        log_event("a turn", number=0)
        assert taken.wait(TIMEOUT_S)  # one line is being written, and none is queued
        for number in range(1, 1 + MAX_QUEUED_LINES + dropped):  # which would block if logging waited
            log_event("a turn", number=number)
        taken.clear()
        goes_on.set()
        assert taken.wait(TIMEOUT_S)  # the queue has room again
        for _ in range(2):
            written.clear()
            log_warning("the end")
            assert written.wait(TIMEOUT_S)

    entries = [json.loads(line) for line in lines]
    assert [line["number"] for line in entries[:-2]] == list(range(1 + MAX_QUEUED_LINES))
    assert [line.get("dropped") for line in entries[-2:]] == [dropped, None]


def test_a_log_line_that_cannot_be_written_is_lost_alone() -> None:
    lines: list[str] = []

    def write(line: str) -> None:
        if "second" in line:
            raise OSError("no space left on device")
        lines.append(line)

    with log_to(write, as_json=True):
        for event in ("first", "second", "third"):
            log_event(event)

    assert [json.loads(line)["event"] for line in lines] == ["first", "third"]


def test_a_stuck_log_reader_does_not_delay_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LOG_FLUSH_TIMEOUT_S", 0.01)
    taken, goes_on = threading.Event(), threading.Event()

    def write(line: str) -> None:
        taken.set()
        goes_on.wait()

    with log_to(write, as_json=True):
        log_event("a turn")
        assert taken.wait(TIMEOUT_S)
        for _ in range(MAX_QUEUED_LINES):
            log_event("a turn")

    assert not goes_on.is_set()
    goes_on.set()


def test_log_handlers_are_removed_afterwards(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, LOG.name):
        before = list(logging.getLogger().handlers), LOG.level

        logged(as_json=True)

        assert (list(logging.getLogger().handlers), LOG.level) == before
