"""Test that JSON values are found however their bytes are split, and invalid ones at the first invalid byte."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairplay.course.channel import values
from fairplay.course.channel.values import MAX_BLANK_BYTES, IllFormed, Scanner
from fairplay.protocol import wire
from fairplay.transport.connection import TooMuchData
from tests.nonempty import nonempty

MOST = wire.MAX_LINE_BYTES
FINE = [
    b'"void"',
    b'""',
    b"[]",
    b"{}",
    b"[[0,1],[2,3]]",
    b"[ [ 0 ,\t1 ] ,\r\n[ 2 , -3 ] ]",
    b'{"coordinate":{"row":0,"column":-1},"1tile":{"color":"red","shape":"8star"}}',
    b'[true,false,null,0,-0,10,"a"]',
    b'["\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00"]',
    '["é","\u2603","\U0001f600"]'.encode(),
    b'{"a":{"b":[{}]},"c":"d"}',
    b"[123456789012345678,-123456789012345678]",
    b"[" * wire.MAX_JSON_DEPTH + b"]" * wire.MAX_JSON_DEPTH,
    b"[" + b"[{}]," * 40 + b"[]]",
    b'["' + b"[" * 40 + b'"]',
    b'"' + b"1" * 40 + b'"',
]
# What is wrong, and at which byte that can be known.
WRONG: list[tuple[bytes, int, str]] = [
    (b"void", 0, "not a JSON string, list or object"),
    (b" \n5", 2, "not a JSON string, list or object"),
    (b"null", 0, "not a JSON string, list or object"),
    (b"]", 0, "not a JSON string, list or object"),
    (b"\xff", 0, "not UTF-8"),
    (b"[void]", 1, "not JSON"),
    (b"[1.5]", 2, "not an integer"),
    (b"[1.0]", 2, "not an integer"),
    (b"[1e5]", 2, "not an integer"),
    (b"[-0E1]", 3, "not an integer"),
    (b"[NaN]", 1, "not JSON"),
    (b"[-Infinity]", 2, "not JSON"),
    (b"[01]", 2, "not JSON"),
    (b"[+1]", 1, "not JSON"),
    (b"[-]", 2, "not JSON"),
    (b"[1-2]", 2, "not JSON"),
    (b"[.5]", 1, "not JSON"),
    (b"[1234567890123456789]", 19, "more than 18 digits"),
    (b"[trie]", 3, "not JSON"),
    (b"[truest]", 5, "not JSON"),
    (b"[true false]", 6, "not JSON"),
    (b"[1,]", 3, "not JSON"),
    (b"[,1]", 1, "not JSON"),
    (b"[1 2]", 3, "not JSON"),
    (b"[1}", 2, "not JSON"),
    (b"{]", 1, "not JSON"),
    (b"{1:2}", 1, "not JSON"),
    (b'{"a" 1}', 5, "not JSON"),
    (b'{"a":}', 5, "not JSON"),
    (b'{"a":1,}', 7, "not JSON"),
    (b'{"a":1 "b"}', 7, "not JSON"),
    (b'{"a","b"}', 4, "not JSON"),
    (b'["a" "b"]', 5, "not JSON"),
    (b'["\\x"]', 3, "not JSON"),
    (b'["\\u00g0"]', 6, "not JSON"),
    (b'["\\u00e"]', 7, "not JSON"),
    (b'["a\nb"]', 3, "not JSON"),
    (b'["\x00"]', 2, "not JSON"),
    (b'["\xff"]', 2, "not UTF-8"),
    (b'["\xc3"]', 3, "not UTF-8"),
    (b'["\xed\xa0\x80"]', 4, "not UTF-8"),
    (b"[" * 33, 32, "nested more than 32 deep"),
    (b"[" * 33 + b"]" * 33, 32, "nested more than 32 deep"),
    (b'{"a":1,"a":1}', 12, "a key occurs twice"),
    (b'["\\ud800"]', 9, "half a character"),
]


def scanned(*pieces: bytes, most: int = MOST) -> tuple[list[bytes], str, bytes]:
    """What is found in these pieces, what is wrong with them, and what is left."""
    scanner, found = Scanner(most), list[bytes]()
    for piece in pieces:
        found += scanner.feed(piece)
    wrong = scanner.wrong
    said = "" if wrong is None else f"{type(wrong).__name__}: {wrong}"
    return found, said, b"" if wrong else scanner.unfinished


def singly(text: bytes) -> list[bytes]:
    return [text[at : at + 1] for at in range(len(text))]


@pytest.mark.parametrize("text", FINE, ids=lambda text: text[:20].decode())
@pytest.mark.parametrize(
    "around", [(b"", b""), (b" \n\t\r", b"\n"), (b" " * 5000, b"\n\n")], ids=["bare", "", "blanks"]
)
def test_a_value_is_found_wherever_it_is_cut(text: bytes, around: tuple[bytes, bytes]) -> None:
    whole = around[0] + text + around[1]
    cuts = range(max(0, len(around[0]) - 2), len(whole) + 1)

    assert scanned(whole) == ([text], "", b"")
    assert scanned(*singly(whole)) == ([text], "", b"")
    for cut in nonempty(cuts):
        assert scanned(whole[:cut], whole[cut:]) == ([text], "", b""), cut
        assert scanned(whole[:cut])[0] == ([] if cut < len(around[0] + text) else [text])


@pytest.mark.parametrize("gap", [b"", b" ", b"\n", b" \r\n\t "], ids=repr)
def test_values_come_back_to_back(gap: bytes) -> None:
    whole = gap.join(FINE)

    assert scanned(*singly(whole)) == (FINE, "", b"")
    for cut in nonempty(range(len(whole))):
        assert scanned(whole[:cut], whole[cut:]) == (FINE, "", b""), cut


@pytest.mark.parametrize(("text", "at", "why"), WRONG, ids=[text[:20].decode(errors="replace") for text, *_ in WRONG])
def test_invalid_json_is_noticed_at_its_first_invalid_byte(text: bytes, at: int, why: str) -> None:
    found, wrong, _ = scanned(text)
    assert found == [] and wrong.startswith("IllFormed: ") and why in wrong

    for cut in range(len(text) + 1):
        assert scanned(text[:cut], text[cut:]) == ([], wrong, b"")
    assert scanned(*singly(text)) == ([], wrong, b"")
    assert scanned(*singly(text[: at + 1]))[1] == wrong
    assert scanned(*singly(text[:at]))[1] == scanned(text[:at])[1] == ""
    assert scanned(b'"void" ' + text)[:2] == scanned(b'"void"\n', text)[:2] == ([b'"void"'], wrong)


def test_nothing_more_is_found_after_something_wrong_and_its_text_includes_what_follows() -> None:
    scanner = Scanner()

    assert [scanner.feed(piece) for piece in (b"[0,", b"one]", b'"void"')] == [[], [], []]
    assert isinstance(scanner.wrong, IllFormed) and scanner.wrong.text == b"[0,one]"


# Too much.


@pytest.mark.parametrize("size", [1, 7, 100_000], ids="in pieces of {}".format)
@pytest.mark.parametrize(
    "begin", [b'"' + b"x" * MOST, b"[" + b" " * MOST, b'"' + b"\\n" * MOST, b"[" + b"1," * MOST], ids=repr
)
def test_a_value_that_never_ends_is_too_much_in_any_pieces(begin: bytes, size: int) -> None:
    pieces = [begin[at : at + size] for at in range(0, len(begin), size)]
    scanner = Scanner()
    for piece in pieces:
        assert scanner.feed(piece) == []

    assert isinstance(scanner.wrong, TooMuchData) and scanner.wrong.text == begin[:MOST]


@pytest.mark.parametrize("cut", [0, 1, 5000, MOST - 1, MOST, MOST + 1])
def test_the_largest_value_is_taken_and_no_larger_one(cut: int) -> None:
    largest, larger = (b'"' + b"x" * size + b'"' for size in (MOST - 2, MOST - 1))

    assert scanned(largest[:cut], largest[cut:])[0] == [largest]
    assert scanned(larger[:cut], larger[cut:])[:2] == ([], "TooMuchData: too much data")


@pytest.mark.parametrize("size", [1, 1000, 2 * MAX_BLANK_BYTES], ids="in pieces of {}".format)
def test_white_space_is_bounded_between_two_values(size: int) -> None:
    def pieces(blanks: int, text: bytes = b"") -> list[bytes]:
        whole = b" " * blanks + text
        return [whole[at : at + size] for at in range(0, len(whole), size)]

    too_much = "TooMuchData: too much data"
    twice = pieces(MAX_BLANK_BYTES, b'"a"') + pieces(MAX_BLANK_BYTES, b'"b"')
    assert scanned(*twice) == ([b'"a"', b'"b"'], "", b"")
    assert scanned(*pieces(MAX_BLANK_BYTES + 1, b'"a"')) == ([], too_much, b"")
    assert scanned(b'"a"', *pieces(MAX_BLANK_BYTES + 1)) == ([b'"a"'], too_much, b"")
    assert scanned(b'"a"' + b" " * (MAX_BLANK_BYTES + 1)) == ([b'"a"'], too_much, b"")


def test_every_byte_is_looked_at_a_few_times_however_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, end_of = 0, values.run_end

    def counting(run: re.Pattern[bytes], piece: bytes, at: int, stop: int) -> int:
        nonlocal looked
        end = end_of(run, piece, at, stop)
        looked += 1 + end - at
        return end

    monkeypatch.setattr(values, "run_end", counting)
    text = b'{"a":["' + b"\\n" * 1000 + b"x" * 1000 + b'",' + b"12345,true," * 100 + b"0]}"
    for size in (1, 3, 50, len(text)):
        looked = 0
        scanner = Scanner()
        found = [one for at in range(0, len(text), size) for one in scanner.feed(text[at : at + size])]
        assert found == [text] and 0 < looked + (size == len(text)) <= 3 * len(text), size


# Whatever anybody may send.


def cut_up(draw: Any, text: bytes) -> list[bytes]:
    """The text in pieces."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


signs = st.sampled_from([b"[", b"]", b"{", b"}", b'"', b":", b",", b"1", b"-", b".", b"true", b"null", b" ", b"\\"])


@given(st.lists(signs | st.binary(max_size=2), max_size=12).map(b"".join), st.data())
@example(b'["a"]\xff', None)
@example(b"[0-]", None)
def test_any_bytes_are_judged_as_json_judges_them(text: bytes, data: Any) -> None:
    found, wrong, left = scanned(text)
    pieces = singly(text) if data is None else cut_up(data.draw, text)

    assert scanned(*pieces) == (found, wrong, left)
    for value in found:
        assert wire.find_strict_json_error(value) is None
    bare = text.strip(values.WHITE_SPACE)
    if bare[:1] in (b'"', b"[", b"{") and wire.find_strict_json_error(bare) is None:
        assert found == [bare]
    elif found == [bare]:
        raise AssertionError("taken, although it is odd")
