"""Test that a legal journal is verified, and that any change of its bytes is detected."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairplay import BadJournal
from fairplay.journal.record import Journal
from fairplay.journal.reenactment import Unfinished
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import read_legal, verify
from tests.journal.journals import TABLES, first_action, read_lines, record_match, seal_lines
from tests.nonempty import nonempty

JUNK = {
    "nothing": b"",
    "an empty line": b"\n",
    "binary": bytes(range(256)) * 20,
    "zeros": bytes(5000),
    "invalid UTF-8": b'{"type":"opening","\xff\xfe":1,"hash":"' + b"0" * 64 + b'"}\n',
    "not JSON": b"once upon a time\n",
    "JSON of something else": b'{"hello": "world"}\n',
    "a list": b"[1, 2, 3]\n",
    "deep nesting": b'{"type":' + b"[" * 200_000 + b"]" * 200_000 + b',"hash":"' + b"0" * 64 + b'"}\n',
    "a deeper object": b'{"a":' * 100_000 + b"1" + b"}" * 99_999 + b',"hash":"' + b"0" * 64 + b'"}\n',
    "a huge number": b'{"type":"opening","seq":' + b"9" * 10_000 + b',"hash":"' + b"0" * 64 + b'"}\n',
    "a long line without an end": b"{" * 1_000_000,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record_match(tmp_path, TABLES["one at each moment"]())[0]


def check(path: Path) -> BadJournal:
    """What verify has to say about a file that is not as it should be."""
    with pytest.raises(BadJournal) as caught:
        verify(read_journal(path))
    return caught.value


@pytest.mark.parametrize("table", TABLES)
def test_a_legal_and_finished_match_passes(table: str, tmp_path: Path) -> None:
    path, final = record_match(tmp_path, TABLES[table]())

    assert verify(read_journal(path)) == final


def test_a_chain_made_anew_without_any_change_passes(path: Path) -> None:
    final = verify(read_journal(path))

    path.write_bytes(seal_lines(read_lines(path)))

    assert verify(read_journal(path)) == final


def test_a_changed_byte_is_found_in_its_line_wherever_it_is(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)

    for number, line in nonempty(enumerate(lines, 1)):
        for place in nonempty(range(0, len(line), 7)):
            changed = line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]
            path.write_bytes(b"".join([*lines[: number - 1], changed, *lines[number:]]))
            assert check(path).line == number, changed


@pytest.mark.parametrize("byte", [b"\n", b"\r", b"\0", b" ", b'"', b"\xff"])
def test_a_byte_put_between_others_is_found_in_its_line(byte: bytes, path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)

    for number, line in nonempty(enumerate(lines, 1)):
        for place in nonempty(range(0, len(line) - 1, 29)):
            changed = line[:place] + byte + line[place:]
            path.write_bytes(b"".join([*lines[: number - 1], changed, *lines[number:]]))
            assert check(path).line == number, changed


def test_a_missing_line_is_found_where_it_was(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)

    for index in nonempty(range(len(lines) - 1)):
        path.write_bytes(b"".join([*lines[:index], *lines[index + 1 :]]))
        assert check(path).line == index + 1


def test_a_line_that_stands_there_twice_is_found(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)

    for index, line in nonempty(enumerate(lines)):
        path.write_bytes(b"".join([*lines[: index + 1], line, *lines[index + 1 :]]))
        assert check(path).line == index + 2


def test_two_lines_that_were_swapped_are_found(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)

    for index in nonempty(range(len(lines) - 1)):
        path.write_bytes(b"".join([*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]))
        assert check(path).line == index + 1


def test_a_line_of_another_match_is_found_even_if_the_same_happened_there(path: Path, tmp_path: Path) -> None:
    other, _ = record_match(tmp_path, TABLES["one at each moment"]())
    lines, others = (file.read_bytes().splitlines(keepends=True) for file in (path, other))

    for index in nonempty(range(len(lines))):
        path.write_bytes(b"".join([*lines[:index], others[index], *lines[index + 1 :]]))
        assert check(path).line == max(2, index + 1)  # a whole opening is found out by what follows
        path.write_bytes(b"".join([*lines[: index + 1], *others[index + 1 :]]))
        assert index == len(lines) - 1 or check(path).line == index + 2


def test_a_match_that_was_cut_after_any_fact_is_unfinished(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)

    for facts, kept in ((0, 1), *enumerate(range(2, len(lines)))):  # everybody sits on the second line
        path.write_bytes(b"".join(lines[:kept]))
        error = check(path)
        assert isinstance(error, Unfinished)
        assert str(error) == f"unfinished after fact {facts}"
        assert len(read_legal(path).facts) == facts  # good enough to be looked at


def test_a_torn_last_line_is_left_out_wherever_it_is_torn(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)

    for place, line in nonempty(enumerate(lines[1:], 1)):
        facts = max(0, place - 2)  # the opening and the seating come before
        for length in {1, 2, len(line) // 2, len(line) - 67, len(line) - 2, len(line) - 1}:
            path.write_bytes(b"".join([*lines[:place], line[:length]]))
            assert str(check(path)) == f"unfinished after fact {facts}; {length} bytes of a torn line follow"
            assert len(read_legal(path).facts) == facts


def test_a_match_whose_opening_is_torn_never_began(path: Path) -> None:
    first = path.read_bytes().splitlines(keepends=True)[0]

    for length in nonempty(range(1, len(first))):
        path.write_bytes(first[:length])
        assert str(check(path)) == "line 1 (byte 0): the match never started"


def test_a_last_line_that_lost_its_end_to_another_byte_is_not_torn(path: Path) -> None:
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1

    for byte in (b"\0", b" ", b"x"):
        path.write_bytes(whole[:-1] + byte)
        assert check(path).byte == last


def test_damage_is_named_by_the_byte_at_which_its_line_begins(path: Path) -> None:
    whole = path.read_bytes()
    begins = 0

    for line in nonempty(whole.splitlines(keepends=True)):
        path.write_bytes(whole[: begins + 20] + b"#" + whole[begins + 21 :])
        assert check(path).byte == begins
        begins += len(line)


def test_line_ends_of_another_system_are_no_journal(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert check(path).line == 1


@pytest.mark.parametrize("junk", JUNK)
def test_a_file_that_is_no_journal_is_refused_in_one_line(junk: str, tmp_path: Path) -> None:
    path = tmp_path / "junk.jsonl"
    path.write_bytes(JUNK[junk])

    error = check(path)

    assert error.line == (1 if JUNK[junk] else 0)
    assert "\n" not in str(error)


def missing(directory: Path) -> Path:
    return directory / "missing.jsonl"


def no_name_for_a_file(directory: Path) -> Path:
    return directory / "a\0b"


def below_a_file(directory: Path) -> Path:
    (directory / "file").write_text("")
    return directory / "file" / "journal.jsonl"


@pytest.mark.parametrize("where", [Path, missing, no_name_for_a_file, below_a_file])
def test_an_unreadable_receipt_is_refused(where: Callable[[Path], Path], tmp_path: Path) -> None:
    error = check(where(tmp_path))

    assert error.line == 0
    assert "cannot be read" in str(error)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A journal that is always of the same length."""
    journal = Journal(tmp_path_factory.mktemp("whole"), clock=lambda: 0.0, now=lambda: 0.0)
    return record_match(Path(), [first_action, first_action], journal=journal)[0].read_bytes()


@given(data=st.data())
@settings(derandomize=True, max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_mutation_passes_for_a_match(data: st.DataObject, whole: bytes, tmp_path: Path) -> None:
    mutant = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(mutant)))
        length = data.draw(st.one_of(st.integers(0, 3), st.integers(0, 600)))
        mutant[start : start + length] = data.draw(st.one_of(st.binary(max_size=8), st.just(whole[start:])))
    path = tmp_path / "mutant.jsonl"
    path.write_bytes(mutant)

    if mutant == whole:
        verify(read_journal(path))
    else:
        check(path)
