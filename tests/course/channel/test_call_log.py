"""Test the log of the calls of a course's server: one line for each call and answer, with its time."""

import re
import time

import pytest

from fairplay.course.channel.call_log import MAX_SHOWN_CHARACTERS, CallLog


def test_an_answer_is_logged_with_the_time_since_its_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now, told = iter([10.0, 10.25, 20.0, 20.5]), list[str]()
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    log = CallLog(told.append, "ann")

    log.log_sent(b'"ann"\n')
    log.log_received(b'["start",[true]]')
    log.log_sent(b'"void"\n')
    log.log_received(b'["end",[true]]')
    log.log_sent(b'"void"\n')

    assert all(re.match(r"ann \d\d:\d\d:\d\d\.\d{6} ", line) for line in told)
    assert [line.split(" ", 2)[2] for line in told] == [
        '> "ann"',
        '< ["start",[true]]',
        '> "void" after 0.250 s',
        '< ["end",[true]]',
        '> "void" after 0.500 s',
    ]


def test_received_bytes_are_logged_on_one_short_line_without_control_codes() -> None:
    told = list[str]()

    CallLog(told.append).log_received(b'["\x1b[2J\r\n\xff' + b"x" * 5000)

    [line] = told
    assert line.isprintable()
    assert len(line) < MAX_SHOWN_CHARACTERS + 30
