"""Test logs of bots: in order with the headers, bounded, private, and safe for any terminal."""

import asyncio
import os
import re
import select
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.messages import Answered, Tell
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
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.transport.connection import acquire, receive
from tests.players.programs import PYTHON
from tests.toy import Toy

ALIKE = ("a/ ://b", "a,,!% b")  # of the same words, with the same first 32 bits of a hash
SECONDS = re.compile(r"\d+\.\d{3} s")


@pytest.fixture(autouse=True)
def _counted_anew() -> None:
    get_log_directory.cache_clear()


def log_in(directory: Path, bot: str = "ann", match_id: str = "m1") -> BotLog:
    log = open_log(str(directory), bot, match_id)
    assert log is not None
    log.begin()
    return log


def kept(directory: Path, bot: str = "ann", match_id: str = "m1") -> str:
    """What is in a log, with all times alike."""
    text = log_path(str(directory), bot, match_id).read_text()
    return SECONDS.sub("T s", re.sub(r"hello, .* UTC", "hello, NOW", text))


def message(kind: str, **fields: object) -> bytes:
    return wire.encode({"type": kind, "match": "m1", **fields}) + b"\n"


def test_headers_say_which_messages_the_bot_got_and_when(tmp_path: Path) -> None:
    log = log_in(tmp_path)

    log.log_message(message("hello"))
    log.write_stderr(b"loaded\n")
    log.log_message(message("start"))
    log.log_message(message("take_turn", turn=1))
    log.write_stderr(b"thinking")
    log.write_stderr(b" hard")
    log.log_message(message("tell", turn=1))
    log.log_message(message("changed"))
    log.log_message(message("take_turn", turn=2))
    log.log_message(message("goodbye", fault="timed_out", why="no answer\x1b within 5 s"))
    log.close()

    assert kept(tmp_path).splitlines() == [
        "-- hello, NOW",
        "loaded",
        "-- start, T s",
        "-- turn 1, T s",
        "thinking hard",
        "-- news, T s",
        "-- turn 2, T s",
        "-- ejected, timed out: no answer\N{REPLACEMENT CHARACTER} within 5 s, T s",
    ]


@pytest.mark.parametrize("odd", [{"turn": "abc"}, {"why": 5}, {"fault": None}], ids=str)
def test_unknown_or_unreadable_messages_of_a_host_are_not_logged(odd: dict[str, object], tmp_path: Path) -> None:
    log = open_log(str(tmp_path), "ann", "m1")
    assert log is not None
    log.log_message(message("hello"))
    log.write_stderr(b"loaded\n")
    log.log_message(message("tell", **odd))
    log.write_stderr(b"told\n")
    log.close()

    assert kept(tmp_path) == "-- hello, NOW\nloaded\ntold\n"


def test_stderr_is_written_to_the_log_at_once(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.write_stderr(b"before a crash\n")

    assert kept(tmp_path) == "before a crash\n"
    log.close()


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
def test_unprintable_characters_in_a_log_are_escaped(said: bytes, text: str, tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.write_stderr(said)
    log.close()

    assert kept(tmp_path) == text


def test_a_character_that_comes_in_two_pieces_is_logged_whole(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    for byte in "\N{SNOWMAN}!\n".encode():
        log.write_stderr(bytes([byte]))
    log.close()

    assert kept(tmp_path) == "\N{SNOWMAN}!\n"


@pytest.mark.parametrize("said", [b"0123456\n", bytes(range(256))], ids=["text", "junk"])
def test_a_flood_of_stderr_is_logged_by_its_beginning_and_end(said: bytes, tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.log_message(message("take_turn", turn=1))
    log.write_stderr(b"first words\n")
    for _ in range(3 * (MAX_FIRST_BYTES + MAX_LAST_BYTES) // len(said)):
        log.write_stderr(said)
        assert len(log._last) <= 3 * MAX_LAST_BYTES  # which are in memory
    log.log_message(message("take_turn", turn=2))
    log.write_stderr(b"last words\n")
    log.close()

    text = kept(tmp_path)
    assert text.startswith("-- turn 1, T s\nfirst words\n")
    assert text.endswith("-- turn 2, T s\nlast words\n")
    assert len(re.findall(r"\n-- \d+ bytes left out\n", text)) == 1
    assert (
        MAX_FIRST_BYTES + MAX_LAST_BYTES
        <= log_path(str(tmp_path), "ann", "m1").stat().st_size
        <= MAX_FIRST_BYTES + MAX_LAST_BYTES + 100
    )


def test_a_log_says_how_many_bytes_were_left_out(tmp_path: Path) -> None:
    log, line = log_in(tmp_path), b"0123456\n"
    for _ in range(100_000):
        log.write_stderr(line)
    log.close()

    [left_out] = re.findall(r"-- (\d+) bytes left out", kept(tmp_path))
    assert int(left_out) == 100_000 * len(line) - MAX_FIRST_BYTES - MAX_LAST_BYTES


def test_a_log_that_fits_is_complete(tmp_path: Path) -> None:
    log, lines = log_in(tmp_path), [b"%07d\n" % number for number in range((MAX_FIRST_BYTES + MAX_LAST_BYTES) // 8)]
    for line in lines:
        log.write_stderr(line)
    log.close()

    assert b"".join(lines) == log_path(str(tmp_path), "ann", "m1").read_bytes()


def test_a_resumed_match_appends_to_its_log(tmp_path: Path) -> None:
    for said in (b"before\n", b"after\n"):
        log = log_in(tmp_path)
        log.write_stderr(said)
        log.close()

    assert kept(tmp_path) == "before\nafter\n"


def test_no_more_logs_are_written_for_a_bot_whose_logs_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bot_log, "MAX_BOT_LOGS_BYTES", 1000)
    log = log_in(tmp_path)
    log.write_stderr(b"x" * 1000)
    log.close()

    assert open_log(str(tmp_path), "ann", "m2") is None
    get_log_directory.cache_clear()  # as in another process
    assert open_log(str(tmp_path), "ann", "m3") is None
    assert open_log(str(tmp_path), "ann", "m4") is None
    assert capsys.readouterr().err.count("no more logs are written to") == 1
    assert [path.name for path in (tmp_path / "ann").iterdir()] == ["m1.log"]
    log_in(tmp_path, "bob").close()  # has room of its own


def test_logs_are_private(tmp_path: Path) -> None:
    logs = prepare_log_directory(str(tmp_path / "deep" / "logs"))
    before = os.umask(0)
    try:
        log_in(Path(logs)).close()
    finally:
        os.umask(before)

    path = log_path(logs, "ann", "m1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(logs).stat().st_mode) == 0o700


def test_a_link_with_the_name_of_a_log_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, treasure = log_path(str(tmp_path), "ann", "m1"), tmp_path / "treasure"
    path.parent.mkdir()
    path.symlink_to(treasure)

    log = log_in(tmp_path)
    log.write_stderr(b"x")
    log.close()

    assert not treasure.exists()
    assert f"cannot write the log {path}: " in capsys.readouterr().err


def test_a_full_disk_raises_no_error_for_a_log(tmp_path: Path) -> None:
    log = BotLog(Path("/dev/full"), bot_log.LogDirectory(str(tmp_path)))
    log.write_stderr(b"x" * 100)
    log.log_message(message("take_turn", turn=1))
    log.write_stderr(b"x" * 3 * MAX_FIRST_BYTES)
    log.close()
    log.close()


def test_a_bot_that_gets_only_a_hello_has_no_log_file(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), "ann", "m1")
    assert log is not None
    log.log_message(message("hello"))
    log.write_stderr(b"loaded\n")
    log.close()

    assert list((tmp_path / "ann").iterdir()) == []


@pytest.mark.parametrize("kind", ["start", "goodbye"])
def test_stderr_before_the_match_is_logged_once_it_begins(kind: str, tmp_path: Path) -> None:
    log = open_log(str(tmp_path), "ann", "m1")
    assert log is not None
    log.log_message(message("hello"))
    log.write_stderr(b"loaded\n")
    log.log_message(message(kind))
    log.close()

    assert kept(tmp_path).startswith("-- hello, NOW\nloaded\n-- ")


@pytest.mark.parametrize("odd", ["", ".", "..", "../up", "/etc/passwd", "a b", "exec:node bot.js", "\udc80", "x" * 300])
def test_a_bot_with_any_name_has_its_directory_below_that_for_logs(odd: str, tmp_path: Path) -> None:
    path = log_path(str(tmp_path), odd, odd)

    assert path.parent.parent == tmp_path
    assert path.parent.name not in ("", ".", "..")
    assert re.fullmatch(r"[A-Za-z0-9_.-]+", path.parent.name + path.name)
    assert len(path.name) < 100


def test_no_two_bots_share_a_log_directory(tmp_path: Path) -> None:
    names = ["a/b", "a b", "a-b", "a.b", "/a/b", "ab", "A-B", "a--b", "-a-b", "x" * 61, "x" * 62]

    assert len({log_path(str(tmp_path), name, "m").parent for name in names}) == len(names)


@pytest.mark.parametrize("victim", ["./bot.py", "a b", "", "x" * 61])
def test_a_bot_named_like_the_log_directory_of_another_has_its_own(victim: str, tmp_path: Path) -> None:
    directories = [log_path(str(tmp_path), victim, "m").parent]
    for _ in range(3):  # and a bot with that name
        directories.append(log_path(str(tmp_path), directories[-1].name, "m").parent)

    assert len(set(directories)) == len(directories)


def test_names_with_similar_hashes_have_different_log_directories(tmp_path: Path) -> None:
    assert len({sha256(name.encode()).hexdigest()[:8] for name in ALIKE}) == 1
    assert len({log_path(str(tmp_path), name, "m").parent for name in ALIKE}) == len(ALIKE)


def test_a_log_directory_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BadRequest, match="cannot create"):
            prepare_log_directory(str(place))


MUCH = """
import json, os, sys, time
for text in sys.stdin:
    line = json.loads(text)
    os.write(2, b"x" * 19_999 + b"\\n")
    time.sleep(0.0005)
    os.write(2, b"that is all\\n")
    os.write(1, json.dumps({"nonce": line["nonce"], "answer": None}).encode() + b"\\n")
"""


def test_stderr_after_an_answer_is_logged_before_the_header_of_the_next_question(tmp_path: Path) -> None:
    log = log_in(tmp_path)

    async def ask_on() -> None:
        program = await ProgramConnection.start(
            ["sh", "-c", "echo thinking >&2; cat"], sandbox=SandboxPolicy(SandboxLevel.NONE), log=log
        )
        program._stderr.pause_reading()  # the event loop has no time for it
        try:
            while not select.select([program._stderr.get_extra_info("pipe")], [], [], 0)[0]:
                await asyncio.sleep(0.001)
            await acquire(program)
            program.send(b'{"type":"take_turn","turn":1}\n')
            await receive(program)
        finally:
            await program.close(b"", 0)

    asyncio.run(ask_on())

    assert kept(tmp_path).splitlines() == ["thinking", "-- turn 1, T s"]


def test_stderr_is_logged_before_the_header_of_the_next_question(tmp_path: Path) -> None:
    log = log_in(tmp_path)

    async def ask_on() -> None:
        program = await ProgramConnection.start(
            [*PYTHON, "-c", MUCH], sandbox=SandboxPolicy(SandboxLevel.NONE), log=log
        )
        remote = RemoteChannel(program, Toy())
        try:
            for number in range(6):
                assert isinstance(await remote.ask(Tell(number)), Answered)
        finally:
            await remote.close(None)

    asyncio.run(ask_on())

    assert re.findall(r"^-- news|^that is all", kept(tmp_path), re.MULTILINE) == ["-- news", "that is all"] * 6


def test_without_a_log_directory_there_are_no_logs(tmp_path: Path) -> None:
    assert open_log(None, "ann", "m1") is None
