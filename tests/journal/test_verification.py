"""Test that a legal journal is verified, that any change is detected, and what receipts cover."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairplay import BadJournal, Fault, HostFault, Moment, Receipt
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.journal.reenactment import Unfinished
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import describe_coverage, read_legal, verify
from fairplay.referee.referee import Referee
from tests.journal.forging import forge_journal
from tests.journal.journals import (
    GAME,
    SEED,
    TABLES,
    FailsAtMoment,
    HookedDisk,
    Plain,
    RecordFactory,
    cut_journal,
    fail_io,
    first_action,
    play_illegal_action,
    read_verified,
    record_match,
)
from tests.nonempty import nonempty

Lines = list[bytes]
Changed = Iterator[tuple[Lines, int]]  # with the line in which the change is found

HASH = b',"hash":"' + b"0" * 64 + b'"}\n'
JUNK = {
    "nothing": b"",
    "an empty line": b"\n",
    "binary": bytes(range(256)) * 20,
    "zeros": bytes(5000),
    "invalid UTF-8": b'{"type":"opening","\xff\xfe":1' + HASH,
    "not JSON": b"once upon a time\n",
    "JSON of something else": b'{"hello": "world"}\n',
    "a list": b"[1, 2, 3]\n",
    "deep nesting": b'{"type":' + b"[" * 200_000 + b"]" * 200_000 + HASH,
    "a deeper object": b'{"a":' * 100_000 + b"1" + b"}" * 99_999 + HASH,
    "a huge number": b'{"type":"opening","seq":' + b"9" * 10_000 + HASH,
    "a long line without an end": b"{" * 1_000_000,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record_match(tmp_path, TABLES["one at each moment"]())[0]


def error_of(path: Path) -> BadJournal:
    """What verify has to say about a file that is not as it should be."""
    with pytest.raises(BadJournal) as caught:
        read_verified(path)
    return caught.value


def flip_a_bit(lines: Lines, others: Lines) -> Changed:
    for index, line in enumerate(lines):
        for place in range(0, len(line), 7):
            changed = line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]
            yield [*lines[:index], changed, *lines[index + 1 :]], index + 1


def insert_a_byte(lines: Lines, others: Lines) -> Changed:
    for index, line in enumerate(lines):
        for place in range(0, len(line) - 1, 29):
            byte = b'\n\r\0 "\xff'[place % 6 : place % 6 + 1]
            yield [*lines[:index], line[:place] + byte + line[place:], *lines[index + 1 :]], index + 1


def remove_a_line(lines: Lines, others: Lines) -> Changed:
    for index in range(len(lines) - 1):
        yield [*lines[:index], *lines[index + 1 :]], index + 1


def repeat_a_line(lines: Lines, others: Lines) -> Changed:
    for index, line in enumerate(lines):
        yield [*lines[: index + 1], line, *lines[index + 1 :]], index + 2


def swap_two_lines(lines: Lines, others: Lines) -> Changed:
    for index in range(len(lines) - 1):
        yield [*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]], index + 1


def replace_a_line(lines: Lines, others: Lines) -> Changed:
    """Put the same line of another match there; a whole opening is found out by what follows."""
    for index in range(len(lines)):
        yield [*lines[:index], others[index], *lines[index + 1 :]], max(2, index + 1)


def replace_the_rest(lines: Lines, others: Lines) -> Changed:
    for index in range(len(lines) - 1):
        yield [*lines[: index + 1], *others[index + 1 :]], index + 2


def end_lines_as_other_systems_do(lines: Lines, others: Lines) -> Changed:
    yield [line.replace(b"\n", b"\r\n") for line in lines], 1


@pytest.mark.parametrize(
    "change",
    [
        flip_a_bit,
        insert_a_byte,
        remove_a_line,
        repeat_a_line,
        swap_two_lines,
        replace_a_line,
        replace_the_rest,
        end_lines_as_other_systems_do,
    ],
)
def test_a_change_is_found_in_its_line_wherever_it_is(
    change: Callable[[Lines, Lines], Changed], path: Path, tmp_path: Path
) -> None:
    other, _ = record_match(tmp_path, TABLES["one at each moment"]())
    lines, others = (file.read_bytes().splitlines(keepends=True) for file in (path, other))

    for changed, line in nonempty(change(lines, others)):
        path.write_bytes(b"".join(changed))
        assert error_of(path).line == line, changed[line - 1 : line]


def test_a_match_that_was_cut_anywhere_is_unfinished(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)

    for place, line in nonempty(enumerate(lines[1:], 1)):
        facts = max(0, place - 2)  # the opening and the seating come before
        for length in {0, 1, 2, len(line) // 2, len(line) - 67, len(line) - 2, len(line) - 1}:
            path.write_bytes(b"".join([*lines[:place], line[:length]]))
            error = error_of(path)
            assert isinstance(error, Unfinished)
            torn = f"; {length} bytes of a torn line follow" if length else ""
            assert str(error) == f"unfinished after fact {facts}{torn}"
            assert len(read_legal(path).facts) == facts  # good enough to be looked at


def test_a_match_whose_opening_is_torn_never_began(path: Path) -> None:
    first = path.read_bytes().splitlines(keepends=True)[0]

    for length in nonempty(range(1, len(first))):
        path.write_bytes(first[:length])
        assert str(error_of(path)) == "line 1 (byte 0): the match never started"


def test_damage_is_named_by_the_byte_at_which_its_line_begins(path: Path) -> None:
    whole = path.read_bytes()
    begins = 0

    for line in nonempty(whole.splitlines(keepends=True)):
        path.write_bytes(whole[: begins + 20] + b"#" + whole[begins + 21 :])
        assert error_of(path).byte == begins
        begins += len(line)
    for byte in (b"\0", b" ", b"x"):  # a last line that lost its end to another byte is not torn
        path.write_bytes(whole[:-1] + byte)
        assert error_of(path).byte == begins - len(line)


@pytest.mark.parametrize("junk", JUNK)
def test_a_file_that_is_no_journal_is_refused_in_one_line(junk: str, tmp_path: Path) -> None:
    path = tmp_path / "junk.jsonl"
    path.write_bytes(JUNK[junk])

    error = error_of(path)

    assert error.line == (1 if JUNK[junk] else 0)
    assert "\n" not in str(error)


@pytest.mark.parametrize("name", ["", "missing.jsonl", "a\0b", "file/journal.jsonl"])
def test_a_file_that_cannot_be_read_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    error = error_of(tmp_path / name)

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
        read_verified(path)
    else:
        error_of(path)


# Receipts.


class Keeper:
    """Plays well, and keeps all that it hears once the game is over."""

    def __init__(self, take_turn: Any = first_action) -> None:
        self.heard: list[tuple[Any, ...]] = []
        self.take_turn = take_turn

    def end(self, result: Any) -> None:
        self.heard.append(("end", result.receipt))

    def closing(self, receipt: Receipt) -> None:
        self.heard.append(("closing", receipt))

    def ejected(self, fault: Fault, why: str) -> None:
        self.heard.append(("ejected", fault))


def record(directory: Path, *players: Any) -> Path:
    begin = RecordFactory(Journal(directory, clock=lambda: 0.0, now=lambda: 1.0))  # times that a forger can write too
    Referee().run(GAME, players, seed=SEED, record=begin)
    return begin.path


def time_out_winner(lines: list[Plain]) -> list[Plain]:
    """That the winner did not answer the end, as a host might write afterwards that does not like who won."""
    *before, last = lines
    result = last["result"]
    winner = result["ranking"][0][0]
    out = {"type": "ejected", "seat": winner, "fault": "timed_out", "moment": "end", "why": "no answer within 5 s"}
    fact = {"type": "fact", "seq": len(before), "at": last["at"], "took": 5.0, "fact": out}
    ranking = [[seat for seat in group if seat != winner] for group in result["ranking"]]
    return [*before, fact, {**last, "result": {**result, "ranking": ranking, "ejected": [out]}}]


def test_a_result_that_was_forged_fits_the_first_receipt_and_not_the_closing_one(tmp_path: Path) -> None:
    winner, loser = Keeper(), Keeper()
    path = record(tmp_path, winner, loser)
    before = read_verified(path).result
    assert winner.heard == loser.heard
    (_, early), (_, late) = winner.heard

    forge_journal(path, time_out_winner)

    forged = read_journal(path)
    assert verify(forged, early).result.ranking != before.ranking
    assert describe_coverage(forged, early) == f"it covers the file up to line {early.seq + 1}, not the result"
    with pytest.raises(BadJournal, match="the receipt does not fit"):
        verify(forged, late)


def test_players_that_stay_to_the_end_get_a_receipt_for_the_result(tmp_path: Path) -> None:
    one, two = Keeper(), Keeper()

    path = record(tmp_path, one, two, FailsAtMoment(Moment.END))

    whole = read_journal(path)
    last = len(whole.heads) - 1
    assert one.heard == two.heard
    (told, early), (closed, late) = one.heard
    assert (told, closed) == ("end", "closing")
    assert early.seq == last - 2  # a player failed the end after it
    assert late == Receipt(last, whole.heads[-1])
    assert verify(whole, late) == verify(whole, early)
    assert describe_coverage(whole, late) == f"it covers all {last + 1} lines, the result too"


@pytest.mark.parametrize("lines", [1, 2, 5])
def test_a_record_that_lacks_lines_does_not_fit_its_receipt(lines: int, tmp_path: Path) -> None:
    player = Keeper()
    path = record(tmp_path, player, first_action)
    (_, late) = player.heard[-1]
    whole = len(read_journal(path).heads)

    cut_journal(path, whole - lines)

    missing = f"the receipt is for line {whole}, and the file has {whole - lines}"
    with pytest.raises(BadJournal, match=f"lines are missing: {missing}"):
        verify(read_journal(path), late)


def test_an_ejected_player_hears_why_and_no_more(tmp_path: Path) -> None:
    player = Keeper(play_illegal_action)

    record(tmp_path, player, first_action, first_action)

    assert player.heard == [("ejected", Fault.ILLEGAL)]


def test_without_a_record_there_is_no_receipt_and_nothing_to_close() -> None:
    player = Keeper()

    Referee().run(GAME, [player, first_action], seed=SEED)

    assert player.heard == [("end", None)]


def test_an_exception_about_a_receipt_does_no_harm(tmp_path: Path) -> None:
    class Raiser(Keeper):
        def closing(self, receipt: Receipt) -> None:
            super().closing(receipt)
            raise SystemExit("a bad loser")

    players = [Raiser(), Keeper()]

    path = record(tmp_path, *players)

    assert [len(player.heard) for player in players] == [2, 2]
    assert read_verified(path).ejected == ()


def test_there_is_no_receipt_for_a_result_that_is_not_durable(tmp_path: Path) -> None:
    players = [Keeper(), Keeper()]
    disk = HookedDisk(lambda number: players[1].heard and fail_io())  # once the last player heard the result

    journal = Journal(tmp_path, sync=Durability.ALWAYS, disk=disk)

    with pytest.raises(HostFault):
        Referee().run(GAME, players, seed=SEED, record=journal.begin)

    assert [[what for what, _ in player.heard] for player in players] == [["end"], ["end"]]
