"""Test that tokens are made, checked and revoked, and that guests get different names."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.protocol.wire import MAX_TOKEN_CHARS
from fairplay.server.sign_in import tokens as tokens_module
from fairplay.server.sign_in.labels import look_alike_key, unique_label
from fairplay.server.sign_in.tokens import (
    TOKENS_FILE,
    ReconnectTokens,
    Tokens,
    edit_hashes,
    make_token,
    read_hashes,
    revoke_token,
)
from tests.nonempty import nonempty

OTHERS = ["", "x", "0" * 32, "~" * 64, "ünsinn", "\U0001f427" * 16]


def test_a_token_is_valid_for_its_name_alone(tmp_path: Path) -> None:
    ann, bob = make_token(tmp_path, "ann"), make_token(tmp_path, "bob")
    tokens = Tokens(tmp_path)

    assert tokens.is_valid("ann", ann)
    assert tokens.is_valid("bob", bob)
    for name, token in (("ann", bob), ("bob", ann), ("cyd", ann), ("Ann", ann), ("", ann), ("ann", ann.upper())):
        assert not tokens.is_valid(name, token)
    for other in (*OTHERS, *nonempty(read_hashes(tmp_path / TOKENS_FILE).values())):
        assert not tokens.is_valid("ann", other)
        assert not tokens.is_valid("cyd", other)
    assert (tokens.has("ann"), tokens.has("cyd"), tokens.has("")) == (True, False, False)


def test_changes_of_the_tokens_file_take_effect_at_once(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    assert not tokens.has("ann")
    old = make_token(tmp_path, "ann")
    assert tokens.is_valid("ann", old)
    assert look_alike_key("ann") in tokens.look_alike_keys
    revoke_token(tmp_path, "ann")
    assert not tokens.has("ann")
    assert tokens.look_alike_keys == frozenset()
    (tmp_path / TOKENS_FILE).unlink()
    assert not tokens.has("ann")


def test_a_renewed_token_replaces_the_old_one_if_no_check_came_between(tmp_path: Path) -> None:
    tokens, old = Tokens(tmp_path), make_token(tmp_path, "ann")
    assert tokens.is_valid("ann", old)
    size = (tmp_path / TOKENS_FILE).stat().st_size

    revoke_token(tmp_path, "ann")
    new = make_token(tmp_path, "ann")

    assert (tmp_path / TOKENS_FILE).stat().st_size == size
    assert (tokens.is_valid("ann", old), tokens.is_valid("ann", new)) == (False, True)


def test_tokens_are_long_and_unique_and_no_two_versions_of_their_file_have_the_same_time(
    tmp_path: Path,
) -> None:
    found, times = set[str](), set[int]()
    for number in range(50):
        found.add(make_token(tmp_path, f"p{number}"))
        times.add((tmp_path / TOKENS_FILE).stat().st_mtime_ns)

    assert {len(bytes.fromhex(token)) * 8 for token in found} == {128}
    assert (len(found), len(times)) == (50, 50)


@pytest.mark.parametrize(
    "text", ["ann\n", "ann 00\n", "~a {hash}\n", "ann {hash}\nann {hash}\n", "ann  {hash}\n", "\0\n"]
)
def test_a_damaged_tokens_file_raises_once_and_the_tokens_before_it_count(text: str, tmp_path: Path) -> None:
    token, tokens = make_token(tmp_path, "ann"), Tokens(tmp_path)
    assert tokens.has("ann")
    good = (tmp_path / TOKENS_FILE).read_text()
    (tmp_path / TOKENS_FILE).write_text(text.format(hash="0" * 64))

    with pytest.raises(BadRequest, match=r"tokens: line \d: "):
        tokens.has("ann")
    assert tokens.is_valid("ann", token)
    (tmp_path / TOKENS_FILE).write_text(good)
    revoke_token(tmp_path, "ann")
    assert not tokens.has("ann")


def test_only_the_owner_may_read_the_tokens_file(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_token(tmp_path, "ann")
    finally:
        os.umask(before)

    assert (tmp_path / TOKENS_FILE).stat().st_mode & 0o777 == 0o600


def test_processes_that_make_tokens_at_once_lose_none(tmp_path: Path) -> None:
    code = "import sys, pathlib; from fairplay.server.sign_in.tokens import make_token\n"
    code += "for number in range(10): print(make_token(pathlib.Path(sys.argv[1]), sys.argv[2] * (number + 1)))"
    names = ["a", "b", "c", "d"]

    def run(name: str) -> list[str]:
        command = [sys.executable, "-c", code, str(tmp_path), name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    with ThreadPoolExecutor() as threads:
        found = dict(zip(names, threads.map(run, names), strict=True))

    tokens = Tokens(tmp_path)
    for name, made in found.items():
        assert [tokens.is_valid(name * (number + 1), token) for number, token in enumerate(made)] == [True] * 10
    assert [path.name for path in tmp_path.iterdir()] == [TOKENS_FILE]


def test_a_lock_on_the_tokens_that_is_never_released_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens_module, "TOKENS_LOCK_TIMEOUT_S", 0.0)

    with edit_hashes(tmp_path), pytest.raises(BadRequest, match="is locked by another process"):
        make_token(tmp_path, "ann")


def test_a_failed_write_leaves_the_tokens_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = make_token(tmp_path, "ann")

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadRequest, match="No space left on device"):
        make_token(tmp_path, "bob")
    assert Tokens(tmp_path).is_valid("ann", token)
    assert [path.name for path in tmp_path.iterdir()] == [TOKENS_FILE]


# Reconnect tokens


def test_a_reconnect_token_has_its_id_and_cannot_be_made_without_the_key() -> None:
    ours, theirs = ReconnectTokens(b"k" * 32), ReconnectTokens(b"l" * 32)
    id = ours.new_id()
    text = ours.create(id)

    assert ours.client_id(text) == id
    assert theirs.client_id(text) is None
    assert len(text) <= MAX_TOKEN_CHARS
    for index in range(len(text)):
        for sign in "0f~.":
            changed = text[:index] + sign + text[index + 1 :]
            assert changed == text or ours.client_id(changed) is None
    for other in [*OTHERS, id, f"{id}.", text[:-1], text + "0", text.upper() + " "]:
        assert ours.client_id(other) is None
    assert len({ours.new_id() for _ in range(1000)}) == 1000


# Names


def test_look_alike_names_have_the_same_key() -> None:
    for group in (["ann", "Ann", "a-n-n", "_ANN"], ["Illl", "1l1I", "lllI"], ["O0", "o-o"], ["mw", "rnvv", "MW"]):
        for one, other in nonempty(pairwise(group)):
            assert look_alike_key(one) == look_alike_key(other)
    different = ["ann", "anna", "bob", "player1", "player2", "a", "b", "guest"]
    assert len({look_alike_key(name) for name in different}) == len(different)


def test_a_thousand_guests_of_one_name_get_different_names() -> None:
    taken: set[str] = set()
    reconnect_tokens = ReconnectTokens(bytes(32))
    for _ in range(1000):
        name = unique_label("m" * 20, reconnect_tokens.new_id()[1:], taken)
        assert (len(name) <= 20, look_alike_key(name) in taken) == (True, False)
        taken.add(look_alike_key(name))


def test_a_name_is_found_though_all_predictable_ones_are_taken() -> None:
    digits = "c0ffee00c0ffee00"
    taken = {look_alike_key("ann"), *(look_alike_key(f"ann-{digits[:length]}") for length in range(len(digits) + 1))}

    found = [unique_label("ann", each, taken) for each in (digits, "ann", "")]

    assert not {look_alike_key(name) for name in found} & taken
    assert all(name.startswith("ann-") and len(name) <= 20 for name in found)
