"""Test that pipes, devices, sockets and endless files are refused as journals."""

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from fairplay.core.errors import BadJournal
from fairplay.journal import files
from fairplay.journal.files import open_journal_file, read_content
from fairplay.journal.replay import read_journal
from fairplay.journal.summary import Status, summarise_journal
from fairplay.journal.unfinished_matches import find_unfinished
from tests.journal.journals import first_action, record_match


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def a_large_file(path: Path) -> None:
    path.touch()
    os.truncate(path, files.MAX_JOURNAL_BYTES + 1)  # which takes no room on the disk


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a named pipe": (os.mkfifo, "it is a named pipe, not a file"),
    "a socket": (a_socket, "it is a socket, not a file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "it is a device, not a file"),
    "a terminal": (lambda path: path.symlink_to("/dev/tty"), "it is a device, not a file"),
    "a directory": (Path.mkdir, "Is a directory"),
    "a link to itself": (lambda path: path.symlink_to(path), os.strerror(errno.ELOOP)),
    "a large file": (a_large_file, "it is larger than 256 MB"),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_file_that_cannot_be_a_journal_is_refused_before_it_is_read(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, (make, why) = tmp_path / "odd.jsonl", ODD[kind]
    path.touch()
    plain = path.stat()
    path.unlink()
    make(path)

    with pytest.raises(OSError) as refused:
        open_journal_file(path)
    with pytest.raises(BadJournal) as unread:
        read_journal(path)
    one = summarise_journal(path)

    assert refused.value.strerror == why
    assert str(unread.value) == one.reason == f"cannot be read: {why}"
    assert one.status is Status.UNREADABLE
    assert find_unfinished(tmp_path, lambda opening: True) == []
    if kind == "a named pipe":  # it was not even opened
        with pytest.raises(OSError) as alone:
            os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        assert alone.value.errno == errno.ENXIO

    monkeypatch.setattr(Path, "stat", lambda path: plain)  # as if it took the place of a file at the last moment
    if kind in ("a named pipe", "a device", "a large file"):
        open_files = len(list(Path("/proc/self/fd").iterdir()))
        with pytest.raises(OSError) as late:
            open_journal_file(path)
        assert late.value.strerror == why
        assert len(list(Path("/proc/self/fd").iterdir())) == open_files


def test_a_file_that_grows_is_read_to_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    written, look = path.read_bytes(), os.fstat

    def grown(file: int) -> os.stat_result:
        status = look(file)
        with path.open("ab") as more:
            more.write(b"more")
        return status

    monkeypatch.setattr(os, "fstat", grown)
    text = read_content(path)

    assert text.removesuffix(b"more") == written  # which was appended when it was opened, and once more since
    assert len(path.read_bytes()) > len(text)


def test_a_link_to_a_journal_is_one(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    (tmp_path / "link.jsonl").symlink_to(path)

    assert read_content(tmp_path / "link.jsonl") == path.read_bytes()
