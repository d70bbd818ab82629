"""Test that the log of a tournament survives crashes, and that tampering is noticed."""

from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.core.version import VERSION
from fairplay.journal.append_file import AppendFile, Disk
from fairplay.journal.lines import NO_HASH, line_hash
from fairplay.journal.options import InUse
from fairplay.tournament import tournament_log
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.layout import LOG_FILE
from fairplay.tournament.tournament_log import (
    AttemptDiscarded,
    BotVerdict,
    DealRevealed,
    MatchCounted,
    RoundOpened,
    TournamentClosed,
)
from tests.nonempty import nonempty
from tests.tournament.small_tournaments import make_tournament

TOURNAMENT = make_tournament()
COUNTED = CountedMatch(match="m00001", deal=0, names=("a", "b"), places=(1, 2), scores=(3, None))
STEPS = (
    BotVerdict(name="bob", failure="it does not start"),
    BotVerdict(name="ann"),
    RoundOpened(number=1, players=TOURNAMENT.players),
    AttemptDiscarded(match="m00001", attempt="m00001", why="the disk was full", host_fault=True),
    MatchCounted(counted=COUNTED),
    DealRevealed(deal=0, seed="00"),
    TournamentClosed(ranking=(("a",), ("b",))),
)


def written(directory: Path) -> bytes:
    with tournament_log.create_log(directory, TOURNAMENT, random_seed=True) as log:
        for step in STEPS:
            log.write(step)
    return (directory / LOG_FILE).read_bytes()


def known(log: tournament_log.TournamentLog) -> object:
    opening, closed = log.opening, log.closed
    return (
        (opening.spec, opening.random_seed, log.bot_failures, log.rounds),
        (log.counted, {id: len(them) for id, them in log.attempts.items()}, log.revealed),
        None if closed is None else closed.ranking,
    )


def test_all_steps_of_a_log_are_read_back(tmp_path: Path) -> None:
    written(tmp_path)

    for log in (tournament_log.read_log(tmp_path), tournament_log.reopen_log(tmp_path)):
        with log:
            assert known(log) == (
                (TOURNAMENT, True, {"bob": "it does not start", "ann": ""}, {1: TOURNAMENT.players}),
                ({"m00001": COUNTED}, {"m00001": 1}, {0}),
                (("a",), ("b",)),
            )


def test_the_log_file_is_private(tmp_path: Path) -> None:
    written(tmp_path)

    assert (tmp_path / LOG_FILE).stat().st_mode & 0o777 == 0o600  # the seed is in it


def test_a_log_that_was_torn_anywhere_is_resumed_after_its_last_whole_line(tmp_path: Path) -> None:
    whole = written(tmp_path)
    ends = {at + one for at, byte in enumerate(whole, 1) if byte == ord("\n") for one in (-2, -1, 0, 1, 2)}
    inside = range(whole.index(b"\n") + 1, len(whole))
    for size in nonempty(size for size in sorted(ends | set(range(0, len(whole), 41))) if size in inside):
        (tmp_path / LOG_FILE).write_bytes(whole[:size])
        done = whole[:size].count(b"\n") - 1

        with tournament_log.reopen_log(tmp_path, now=lambda: 0.0) as log:
            for step in STEPS[done:]:
                log.write(step)

        with tournament_log.read_log(tmp_path) as again:
            assert again.counted == {"m00001": COUNTED}
            assert again.closed is not None
        assert (tmp_path / LOG_FILE).read_bytes().startswith(whole[: whole.rindex(b"\n", 0, size) + 1])


def test_a_log_without_a_whole_first_line_does_not_exist(tmp_path: Path) -> None:
    whole = written(tmp_path)
    (tmp_path / LOG_FILE).write_bytes(whole[: whole.index(b"\n")])

    assert not tournament_log.log_exists(tmp_path)
    with tournament_log.create_log(tmp_path, TOURNAMENT) as log:
        assert log.counted == {}
    assert tournament_log.log_exists(tmp_path)


def test_a_log_with_changed_missing_or_moved_lines_is_refused(tmp_path: Path) -> None:
    lines = written(tmp_path).splitlines(keepends=True)
    for number in nonempty(range(len(lines))):
        flipped = lines[number].replace(b"a", b"e", 1)
        for others in ([flipped, *lines[number + 1 :]], lines[number + 1 :], lines[number:][::-1]):
            changed = [*lines[:number], *others]
            if changed == lines[: len(changed)]:  # a prefix, or the whole
                continue
            (tmp_path / LOG_FILE).write_bytes(b"".join(changed))

            with pytest.raises(BadRequest, match=f"{LOG_FILE}: line {number + 1} "):
                tournament_log.read_log(tmp_path)


def chained(*bodies: bytes) -> bytes:
    """Lines that are chained as they should be, whatever they say."""
    text, before = b"", NO_HASH
    for body in bodies:
        before = line_hash(before + tournament_log.CHAIN_ID + body)
        text += b'%b,"hash":"%b"}\n' % (body, before)
    return text


STRANGE = {
    "bytes that are no text": b'{"type":"seed_revealed","deal":0,"seed":"\xff"',
    "values too deep in one another": b'{"type":"seed_revealed","deal":0,"seed":"","more":'
    + b"[" * 10**5
    + b"]" * 10**5,
    "an unknown step": b'{"type":"party"',
}


@pytest.mark.parametrize("body", STRANGE.values(), ids=STRANGE)
def test_a_chained_line_that_is_not_a_step_is_refused(body: bytes, tmp_path: Path) -> None:
    first = written(tmp_path).partition(b',"hash":')[0]
    (tmp_path / LOG_FILE).write_bytes(chained(first, body))

    with pytest.raises(BadRequest, match=f"{LOG_FILE}: line 2 is not a step of a tournament"):
        tournament_log.read_log(tmp_path)


def test_a_log_that_does_not_begin_with_its_opening_is_refused(tmp_path: Path) -> None:
    (tmp_path / LOG_FILE).write_bytes(chained(b'{"type":"seed_revealed","deal":0,"seed":"00"'))

    with pytest.raises(BadRequest, match=f"{LOG_FILE}: line 1 is not an opening"):
        tournament_log.read_log(tmp_path)


@pytest.mark.parametrize("format", [1, tournament_log.LOG_FORMAT + 1])
def test_a_log_of_another_format_is_refused_in_one_line(format: int, tmp_path: Path) -> None:
    opening = b'{"type":"opening","format":%d,"fairplay":"0.1\\n","spec":{"names":["of","another","time"]}' % format
    (tmp_path / LOG_FILE).write_bytes(chained(opening))

    for read in (tournament_log.read_log, tournament_log.reopen_log):
        with pytest.raises(BadRequest) as refusal:
            read(tmp_path)
        assert str(refusal.value) == (
            f"{tmp_path / LOG_FILE}: its format is {format}, and fairplay {VERSION} reads only format 2; "
            "use fairplay 0.1�, which wrote it"
        )


def test_a_damaged_log_is_closed_when_it_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path)
    (tmp_path / LOG_FILE).write_bytes(whole.replace(b'"end"', b'"fin"'))
    with pytest.raises(BadRequest, match="was changed"):
        tournament_log.reopen_log(tmp_path)
    (tmp_path / LOG_FILE).write_bytes(whole)

    with tournament_log.reopen_log(tmp_path) as log:
        assert log.closed is not None


def test_steps_wait_for_a_disk_that_is_slow(tmp_path: Path) -> None:
    class Slow(Disk):
        """A second passes between two looks at the clock, and nothing is synced in the background."""

        def __init__(self) -> None:
            self.clock = map(float, count()).__next__
            self.synced = 0

        def sync(self, file: int) -> None:
            self.synced += 1

        def sync_later(self, file: AppendFile) -> None:
            pass

    disk = Slow()
    with tournament_log.create_log(tmp_path, TOURNAMENT, disk=disk) as log:
        before = disk.synced
        for step in STEPS:
            log.write(step)
        after = disk.synced

    assert before < after


def test_two_processes_cannot_run_one_tournament(tmp_path: Path) -> None:
    with tournament_log.create_log(tmp_path, TOURNAMENT), pytest.raises(InUse):
        tournament_log.reopen_log(tmp_path)


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: None], ids=["a directory", "nothing"])
def test_a_missing_log_is_refused_in_one_line(make: object, tmp_path: Path) -> None:
    assert callable(make)
    make(tmp_path / LOG_FILE)

    with pytest.raises(BadRequest, match=LOG_FILE):
        tournament_log.read_log(tmp_path)


def test_a_match_that_was_played_again_is_revealed_with_its_deal(tmp_path: Path) -> None:
    with tournament_log.create_log(tmp_path, TOURNAMENT) as log:
        log.write(MatchCounted(counted=replace(COUNTED, attempt="m00001-3")))
        log.write(DealRevealed(deal=0, seed="00"))

    journals = [tmp_path / "matches" / f"{id}.jsonl" for id in ("m00001", "m00001-3", "m00002")]
    assert [tournament_log.is_seed_revealed(journal) for journal in journals] == [True, True, False]


def test_a_journal_beside_those_of_a_tournament_is_not_revealed_with_them(tmp_path: Path) -> None:
    written(tmp_path)

    journals = [tmp_path / directory / "m00001.jsonl" for directory in ("matches", "others")]
    assert [tournament_log.is_seed_revealed(journal) for journal in journals] == [True, False]
