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
from tests.nonempty import nonempty
from tests.tournament.small_tournaments import make_tournament

TOURNAMENT = make_tournament()
COUNTED = CountedMatch(match="m00001", deal=0, names=("a", "b"), places=(1, 2), scores=(3, None))
STEPS = (
    tournament_log.BotVerdict(name="bob", failure="it does not start"),
    tournament_log.BotVerdict(name="ann"),
    tournament_log.RoundOpened(number=1, players=TOURNAMENT.players),
    tournament_log.AttemptDiscarded(match="m00001", attempt="m00001", why="the disk was full", host_fault=True),
    tournament_log.MatchCounted(counted=COUNTED),
    tournament_log.DealRevealed(deal=0, seed="00"),
    tournament_log.TournamentClosed(ranking=(("a",), ("b",))),
)


def written(directory: Path) -> bytes:
    with tournament_log.create_log(directory, TOURNAMENT, random_seed=True) as log:
        for step in STEPS:
            log.write(step)
    return (directory / LOG_FILE).read_bytes()


def test_all_steps_of_a_log_are_read_back(tmp_path: Path) -> None:
    written(tmp_path)

    assert (tmp_path / LOG_FILE).stat().st_mode & 0o777 == 0o600  # the seed is in it
    for log in (tournament_log.read_log(tmp_path), tournament_log.reopen_log(tmp_path)):
        with log:
            assert (log.opening.spec, log.opening.random_seed) == (TOURNAMENT, True)
            assert (log.bot_failures, log.rounds) == ({"bob": "it does not start", "ann": ""}, {1: TOURNAMENT.players})
            assert (log.counted, log.revealed) == ({"m00001": COUNTED}, {0})
            assert {id: len(them) for id, them in log.attempts.items()} == {"m00001": 1}
            assert log.closed is not None and log.closed.ranking == (("a",), ("b",))


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


OPENING = b'{"type":"opening","format":%d,"fairplay":"0.1\\n","spec":{"names":["of","another","time"]}'
OTHER_FORMAT = f"its format is {{}}, and fairplay {VERSION} reads only format 2; use fairplay 0.1\ufffd, which wrote it"
STRANGE: dict[str, tuple[int, bytes, str]] = {  # the number of a line, the line, and what is wrong with it
    "bytes that are no text": (2, b'{"type":"seed_revealed","deal":0,"seed":"\xff"', "is not a step of a tournament"),
    "values too deep in one another": (
        2,
        b'{"type":"seed_revealed","deal":0,"seed":"","more":' + b"[" * 10**5 + b"]" * 10**5,
        "is not a step of a tournament",
    ),
    "an unknown step": (2, b'{"type":"party"', "is not a step of a tournament"),
    "no opening": (1, b'{"type":"seed_revealed","deal":0,"seed":"00"', "is not an opening"),
    "an older format": (0, OPENING % 1, OTHER_FORMAT.format(1)),
    "a newer format": (
        0,
        OPENING % (tournament_log.LOG_FORMAT + 1),
        OTHER_FORMAT.format(tournament_log.LOG_FORMAT + 1),
    ),
}


@pytest.mark.parametrize(("number", "body", "why"), STRANGE.values(), ids=STRANGE)
def test_a_chained_line_that_is_not_a_step_is_refused(number: int, body: bytes, why: str, tmp_path: Path) -> None:
    first = written(tmp_path).partition(b',"hash":')[0]
    (tmp_path / LOG_FILE).write_bytes(chained(first, body) if number == 2 else chained(body))

    for read in (tournament_log.read_log, tournament_log.reopen_log):
        with pytest.raises(BadRequest) as refused:
            read(tmp_path)
        assert str(refused.value).startswith(f"{tmp_path / LOG_FILE}: {f'line {number} ' if number else ''}{why}")
        assert str(refused.value).isprintable()


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


def test_a_log_is_refused_while_it_is_in_use_damaged_or_missing(tmp_path: Path) -> None:
    with tournament_log.create_log(tmp_path / "used", TOURNAMENT), pytest.raises(InUse):
        tournament_log.reopen_log(tmp_path / "used")
    whole = written(tmp_path)
    (tmp_path / LOG_FILE).write_bytes(whole.replace(b'"end"', b'"fin"'))
    with pytest.raises(BadRequest, match="was changed"):
        tournament_log.reopen_log(tmp_path)
    (tmp_path / LOG_FILE).write_bytes(whole)
    with tournament_log.reopen_log(tmp_path) as log:  # which nobody uses now
        assert log.closed is not None

    (tmp_path / "directory" / LOG_FILE).mkdir(parents=True)
    for name in ("directory", "nowhere"):
        with pytest.raises(BadRequest, match=LOG_FILE):
            tournament_log.read_log(tmp_path / name)


def test_a_match_that_was_played_again_is_revealed_with_its_deal(tmp_path: Path) -> None:
    with tournament_log.create_log(tmp_path, TOURNAMENT) as log:
        log.write(tournament_log.MatchCounted(counted=replace(COUNTED, attempt="m00001-3")))
        log.write(tournament_log.DealRevealed(deal=0, seed="00"))

    names = {"matches/m00001": True, "matches/m00001-3": True, "matches/m00002": False, "others/m00001": False}
    assert {name: tournament_log.is_seed_revealed(tmp_path / f"{name}.jsonl") for name in names} == names
