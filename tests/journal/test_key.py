"""Test that a key is made only once, and that MACs protect a journal."""

import os
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

import pytest

from fairplay import BadRequest
from fairplay.journal.key import KEY_BYTES, NoKey, load_key, user_key_file
from fairplay.journal.lines import NO_HASH, MacKey
from fairplay.journal.options import WithoutMac
from fairplay.journal.record import Journal
from fairplay.journal.replay import has_valid_mac, read_journal
from tests.journal.journals import cut_journal, first_action, record_match
from tests.nonempty import nonempty

KEY, OTHER = bytes(range(32)), bytes(32)
RACING = "import sys; from fairplay.journal.key import load_key; sys.stdin.read(1); print(load_key(sys.argv[1]).hex())"


def test_of_many_processes_at_once_all_have_the_same_key(tmp_path: Path) -> None:
    path, pipe = tmp_path / "state" / "fairplay" / "key", subprocess.PIPE
    command = [sys.executable, "-c", RACING, str(path)]
    racers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(8)]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("!")
        racer.stdin.flush()

    keys = {racer.communicate(timeout=60)[0] for racer in racers}

    assert keys == {f"{path.read_bytes().hex()}\n"}
    assert list(path.parent.iterdir()) == [path]


def test_of_two_processes_that_create_a_key_both_use_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def overtake(made: Path, path: Path) -> None:
        """Make a key when another process has found none, and is about to put its own there."""
        path.write_bytes(KEY)
        path.chmod(0o600)
        link(made, path)

    monkeypatch.setattr(os, "link", overtake)

    assert load_key(tmp_path / "key") == KEY
    assert list(tmp_path.iterdir()) == [tmp_path / "key"]


def test_keys_are_drawn(tmp_path: Path) -> None:
    keys = {load_key(tmp_path / name) for name in "abc"}

    assert [len(key) for key in keys] == [KEY_BYTES] * 3


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o610, 0o604, 0o602, 0o601])
def test_a_key_that_the_group_or_others_may_use_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "key"
    load_key(path)
    path.chmod(mode)

    with pytest.raises(BadRequest, match=rf"other users may access it \(mode {mode:04o}\); set its mode to 0600"):
        load_key(path)


@pytest.mark.parametrize(
    ("state", "directory"), [("/state", "/state"), ("", "/me/.local/state"), ("a", "/me/.local/state")]
)
def test_the_key_is_kept_with_the_state_of_the_user(
    state: str, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/me")
    monkeypatch.setenv("XDG_STATE_HOME", state)
    assert user_key_file() == Path(directory, "fairplay", "key")

    monkeypatch.delenv("XDG_STATE_HOME")
    for home in ("here", "."):
        monkeypatch.setenv("HOME", home)
        with pytest.raises(NoKey, match="there is no home directory"):
            user_key_file()


def test_a_mac_depends_on_key_place_match_and_line() -> None:
    marks, body = MacKey(KEY), b'{"seq":0'
    mark = marks.mac_field(NO_HASH + b"m" + body)
    line = body + mark

    assert mark == b',"mac":"%b"' % blake2b(NO_HASH + b"m" + body, digest_size=16, key=KEY).hexdigest().encode()
    assert marks.verify(NO_HASH, b"m", line)
    assert not MacKey(OTHER).verify(NO_HASH, b"m", line)
    assert not marks.verify(b"1" * 64, b"m", line)
    assert not marks.verify(NO_HASH, b"n", line)
    assert not marks.verify(NO_HASH, b"m", line.replace(b"0", b"1", 1))
    assert not marks.verify(NO_HASH, b"m", body)


def test_every_line_stands_for_all_before_it(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action], journal=Journal(tmp_path, key=KEY))
    whole, match = path.read_bytes(), path.stem.encode()
    lines = whole.splitlines(keepends=True)

    for end in nonempty(range(1, len(lines) + 1)):
        text = b"".join(lines[:end])
        assert has_valid_mac(text, match, MacKey(KEY))
        assert has_valid_mac(text + b'{"torn', match, MacKey(KEY))
        assert not has_valid_mac(text, match, MacKey(OTHER))
    assert not has_valid_mac(lines[0] + lines[2], match, MacKey(KEY))
    assert not has_valid_mac(lines[0][:-1], match, MacKey(KEY))
    assert not has_valid_mac(b"", match, MacKey(KEY))
    assert read_journal(path).closing is not None


def test_a_journal_with_a_key_resumes_its_own_matches_alone(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action], journal=Journal(tmp_path, key=KEY))
    left = cut_journal(path, 6, b'{"torn')

    with pytest.raises(WithoutMac):
        Journal(tmp_path, key=OTHER).resume(path)
    with pytest.raises(WithoutMac):
        Journal(tmp_path).resume(path, trusted=False)
    assert path.read_bytes() == left

    for key, trusted in ((KEY, False), (OTHER, True)):
        Journal(tmp_path, key=key).resume(path, trusted=trusted)[0].close()
