"""Test the logs of a server: whole lines, no secrets, and no wait for a reader."""

import json
import logging
from threading import Event

import pytest

from fairplay.server import logs
from fairplay.server.logs import LOG, MAX_QUEUED_LINES, log_event, log_to, log_warning
from tests.hostile_names import NAMES
from tests.nonempty import nonempty

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
    assert entries == {
        "level": "info",
        "event": "a room was opened",
        "room": "r1",
        "names": ["ann", "bob"],
        "seats": 2,
    }


def test_a_field_replaces_no_standard_field_of_a_log_line() -> None:
    [line] = logged(as_json=True, at="never", level="loud", event="nothing")

    entries = json.loads(line)

    assert entries["at"].endswith("Z")
    assert (entries["level"], entries["event"]) == ("info", "a room was opened")


def test_text_logs_have_short_lines() -> None:
    [line] = logged(as_json=False, room="r1", names=["ann", "bob"], ranking=(frozenset({2, 1}), frozenset({0})))

    assert line[8:] == " a room was opened, room r1, names ann bob, ranking 1 2 0\n"


def test_empty_fields_are_left_out_of_log_lines() -> None:
    [line] = logged(as_json=False, room="", names=[], seats=0, match=None)

    assert line[8:] == " a room was opened, seats 0\n"


def test_no_name_in_a_log_moves_a_terminal_or_begins_a_line() -> None:
    for name in nonempty(NAMES):
        for as_json in (True, False):
            [line] = logged(as_json=as_json, name=name)
            assert line.endswith("\n")
            assert line[:-1].isprintable()


def test_secrets_are_never_logged() -> None:
    for as_json in (True, False):
        [line] = logged(
            as_json=as_json, name="ann", token="CANARY", reconnect_token="CANARY", key="CANARY", seed="CANARY"
        )
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
    taken, goes_on, written = Event(), Event(), Event()
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
    taken, goes_on = Event(), Event()

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
