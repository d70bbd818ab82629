"""Test logs of bots: in order with the headers, bounded, private, and safe for any terminal."""

import asyncio
import os
import re
import select
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.players import bot_log
from fairplay.players.bot_log import (
    MAX_FIRST_BYTES,
    MAX_LAST_BYTES,
    BotLog,
    get_log_directory,
    log_path,
    open_log,
    prepare_log_directory,
)
from fairplay.protocol import wire
from fairplay.transport.connection import acquire, receive
from tests.players.programs import running

MAX_BYTES = MAX_FIRST_BYTES + MAX_LAST_BYTES


class Logs:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = self.path_of("ann")

    def path_of(self, bot: str, match_id: str = "m1") -> Path:
        return log_path(str(self.directory), bot, match_id)

    def open(self, bot: str = "ann") -> BotLog:
        log = open_log(str(self.directory), bot, "m1")
        assert log is not None
        return log

    def write(self, *texts: bytes, begun: bool = True) -> None:
        """Write a whole log: messages to the bot in JSON, and what it says on stderr."""
        log = self.open()
        if begun:
            log.begin()
        for text in texts:
            (log.log_message if text.startswith(b"{") else log.write_stderr)(text)
        log.close()

    def read(self) -> str:
        """What is in the log, with all times alike."""
        return re.sub(r"\d+\.\d{3} s", "T s", re.sub(r"hello, .* UTC", "hello, NOW", self.path.read_text()))


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Logs]:
    get_log_directory.cache_clear()
    yield Logs(tmp_path)
    get_log_directory.cache_clear()


def message(kind: str, **fields: object) -> bytes:
    return wire.encode({"type": kind, "match": "m1", **fields}) + b"\n"


HELLO = message("hello")
TURN = message("take_turn", turn=1)
OUT = message("goodbye", fault="timed_out", why="no answer\x1b within 5 s")

# What is in it.


def test_headers_say_which_messages_the_bot_got_and_when(logs: Logs) -> None:
    logs.write(HELLO, b"loaded\n", message("start"), TURN, b"thinking", b" hard", message("tell", turn=1), begun=False)
    logs.write(message("changed"), message("take_turn", turn=2), OUT)  # as the match was resumed

    assert logs.read().splitlines() == [
        "-- hello, NOW",
        "loaded",
        "-- start, T s",
        "-- turn 1, T s",
        "thinking hard",
        "-- news, T s",
        "-- turn 2, T s",
        "-- ejected, timed out: no answer\N{REPLACEMENT CHARACTER} within 5 s, T s",
    ]


def test_without_a_directory_or_with_only_a_hello_there_is_no_log(logs: Logs) -> None:
    logs.write(HELLO, b"loaded\n", begun=False)

    assert list((logs.directory / "ann").iterdir()) == []
    assert open_log(None, "ann", "m1") is None


@pytest.mark.parametrize("odd", [{"turn": "abc"}, {"why": 5}, {"fault": None}], ids=str)
def test_unknown_or_unreadable_messages_of_a_host_are_not_logged(odd: dict[str, object], logs: Logs) -> None:
    logs.write(HELLO, b"loaded\n", message("tell", **odd), b"told\n", begun=False)

    assert logs.read() == "-- hello, NOW\nloaded\ntold\n"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (b"plain\ttext\n", "plain\ttext\n"),
        ("Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}\n".encode(), "Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}\n"),
        (b"\x1b[2J\x07\x00\n", "\\x1b[2J\\x07\\x00\n"),
        (b"\xff\xfe\x80\n", "\\xff\\xfe\\x80\n"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}abc\n".encode(), "\\u202eabc\n"),
        (b"dos\r\nbar 10%\rbar 20%\r\n", "dos\nbar 10%\\rbar 20%\n"),
    ],
    ids=["plain", "letters", "escapes", "junk", "direction", "returns"],
)
def test_unprintable_characters_in_a_log_are_escaped(said: bytes, text: str, logs: Logs) -> None:
    logs.write(said)

    assert logs.read() == text


def test_a_character_that_comes_in_two_pieces_is_logged_whole_and_at_once(logs: Logs) -> None:
    log = logs.open()
    log.begin()
    for byte in "\N{SNOWMAN}!\n".encode():
        log.write_stderr(bytes([byte]))

    assert logs.read() == "\N{SNOWMAN}!\n"  # before it is closed, as before a crash
    log.close()


# How much.


@pytest.mark.parametrize("said", [b"0123456\n", bytes(range(256))], ids=["text", "junk"])
def test_a_flood_of_stderr_is_logged_by_its_beginning_and_end(said: bytes, logs: Logs) -> None:
    log = logs.open()
    log.log_message(TURN)
    log.write_stderr(b"first words\n")
    for _ in range(3 * MAX_BYTES // len(said)):
        log.write_stderr(said)
        assert len(log._last) <= 3 * MAX_LAST_BYTES  # which are in memory
    log.log_message(TURN)
    log.write_stderr(b"last words\n")
    log.close()

    text = logs.read()
    assert text.startswith("-- turn 1, T s\nfirst words\n")
    assert text.endswith("-- turn 1, T s\nlast words\n")
    assert len(re.findall(r"\n-- \d+ bytes left out\n", text)) == 1
    assert MAX_BYTES <= logs.path.stat().st_size <= MAX_BYTES + 100


def test_a_log_that_fits_is_complete_and_a_larger_one_says_how_many_bytes_were_left_out(logs: Logs) -> None:
    lines = [b"%07d\n" % number for number in range(MAX_BYTES // 8)]

    logs.write(*lines)
    assert logs.path.read_bytes() == b"".join(lines)

    logs.path.unlink()
    logs.write(*lines, *lines[:500])
    assert re.findall(r"-- (\d+) bytes left out", logs.read()) == ["4000"]


def test_no_more_logs_are_written_for_a_bot_whose_logs_are_too_large(
    logs: Logs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bot_log, "MAX_BOT_LOGS_BYTES", 1000)
    logs.write(b"x" * 1000)

    assert open_log(str(logs.directory), "ann", "m2") is None
    get_log_directory.cache_clear()  # as in another process
    assert open_log(str(logs.directory), "ann", "m3") is None
    assert open_log(str(logs.directory), "ann", "m4") is None
    assert capsys.readouterr().err.count("no more logs are written to") == 1
    assert [path.name for path in (logs.directory / "ann").iterdir()] == ["m1.log"]
    logs.open("bob")  # has room of its own


# Where.


def test_logs_are_private(tmp_path: Path) -> None:
    logs = Logs(Path(prepare_log_directory(str(tmp_path / "deep" / "logs"))))
    before = os.umask(0)
    try:
        logs.write(TURN)
    finally:
        os.umask(before)

    modes = [stat.S_IMODE(path.stat().st_mode) for path in (logs.path, logs.path.parent, logs.directory)]
    assert modes == [0o600, 0o700, 0o700]


def test_a_link_with_the_name_of_a_log_is_not_followed(logs: Logs, capsys: pytest.CaptureFixture[str]) -> None:
    logs.path.parent.mkdir()
    logs.path.symlink_to(logs.directory / "treasure")

    logs.write(b"x")

    assert not (logs.directory / "treasure").exists()
    assert f"cannot write the log {logs.path}: " in capsys.readouterr().err


def test_a_full_disk_raises_no_error_for_a_log(tmp_path: Path) -> None:
    log = BotLog(Path("/dev/full"), bot_log.LogDirectory(str(tmp_path)))
    log.write_stderr(b"x" * 100)
    log.log_message(TURN)
    log.write_stderr(b"x" * 3 * MAX_FIRST_BYTES)
    log.close()
    log.close()


@pytest.mark.parametrize("odd", ["", ".", "..", "../up", "/etc/passwd", "a b", "exec:node bot.js", "\udc80", "x" * 300])
def test_a_bot_with_any_name_has_its_directory_below_that_for_logs(odd: str, logs: Logs) -> None:
    path = logs.path_of(odd, odd)

    assert path.parent.parent == logs.directory
    assert path.parent.name not in ("", ".", "..")
    assert re.fullmatch(r"[A-Za-z0-9_.-]+", path.parent.name + path.name)
    assert len(path.name) < 100


def test_no_two_bots_share_a_log_directory(logs: Logs) -> None:
    alike = ["a/ ://b", "a,,!% b"]  # of the same words, with the same first 32 bits of a hash
    assert len({sha256(name.encode()).hexdigest()[:8] for name in alike}) == 1
    names = [
        *("a/b", "a b", "a-b", "a.b", "/a/b", "ab", "A-B", "a--b", "-a-b", "x" * 61, "x" * 62, "./bot.py", ""),
        *alike,
    ]

    for _ in range(3):  # and bots that are named like the directories of these
        names += [logs.path_of(name).parent.name for name in names]

    names = list(dict.fromkeys(names))
    assert len({logs.path_of(name).parent for name in names}) == len(names)


def test_a_log_directory_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BadRequest, match="cannot create"):
            prepare_log_directory(str(place))


# The order of what a program says and hears.


def test_stderr_after_an_answer_is_logged_before_the_header_of_the_next_question(logs: Logs) -> None:
    async def ask_on() -> None:
        async with running(["sh", "-c", "echo thinking >&2; cat"], log=logs.open()) as program:
            program._stderr.pause_reading()  # the event loop has no time for it
            while not select.select([program._stderr.get_extra_info("pipe")], [], [], 0)[0]:
                await asyncio.sleep(0.001)
            await acquire(program)
            program.send(TURN)
            await receive(program)

    asyncio.run(ask_on())

    assert logs.read().splitlines() == ["thinking", "-- turn 1, T s"]
