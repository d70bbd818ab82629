"""Test the summaries of matches in a library, and of all other kinds of files."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay import BadRequest, Fault, HostFault, Moment
from fairplay.games.fish import Fish
from fairplay.games.tsuro import Tsuro
from fairplay.journal import files, index
from fairplay.journal.library import Query, find_match, find_matches
from fairplay.journal.replay import read_journal
from fairplay.journal.summary import SeatSummary, Status, Summary
from tests.journal.journals import read_lines, seal_lines
from tests.journal.libraries import (
    DAY,
    FISH,
    NOON,
    cheating_strategy,
    crashing_player,
    fill_directory,
    first_action_strategy,
    game_names,
    journal_of_game,
    record_match,
    truncate_journal,
)
from tests.privileges import without_privileges

NARROW = Fish(rows=2, columns=5, fish=1)  # bob wins, ann and cyd come second


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return fill_directory(tmp_path)


def test_matches_of_all_games_are_listed_the_newest_first(directory: Path) -> None:
    found = find_matches(directory)

    assert game_names(found) == ["q", "tsuro", "fish"]
    assert [one.status for one in found] == [Status.FINISHED] * 3
    assert [one.started for one in found] == [NOON + 2 * DAY, NOON + DAY, NOON]
    assert {f"{one.id}.jsonl" for one in found} == {path.name for path in directory.glob("*.jsonl")}


@pytest.mark.parametrize("game", ["fish", "tsuro", "q"])
def test_a_summary_says_what_the_journal_says(game: str, directory: Path) -> None:
    path = journal_of_game(directory, game)
    recorded = read_journal(path)
    assert recorded.closing is not None

    one = find_match(directory, path.stem)

    assert (one.match, one.game, one.rules) == (path.stem, game, recorded.opening.rules)
    assert one.parameters == recorded.opening.parameters
    assert one.facts == len(recorded.entries)
    assert (one.started, one.last, one.ended) == (
        recorded.opening.at,
        recorded.entries[-1].at,
        recorded.closing.at,
    )
    assert [seated.name for seated in one.seats] == list(recorded.opening.names)
    out = {ejected.seat: ejected for ejected in recorded.closing.result.ejected}
    assert tuple(seated.score for seated in one.seats) == recorded.closing.result.scores
    for seat, seated in enumerate(one.seats):
        assert (seated.rank is None) == (seat in out)
        if seat in out:
            assert (seated.fault, seated.moment, seated.why) == (out[seat].fault, out[seat].moment, out[seat].why)


def test_ties_share_a_rank(tmp_path: Path) -> None:
    path = record_match(tmp_path, NARROW, [first_action_strategy(NARROW)] * 3)

    assert [seated.rank for seated in find_match(tmp_path, path.stem).seats] == [2, 1, 2]
    assert find_matches(tmp_path, Query(winner="ann")) == []


def test_a_winner_that_failed_at_the_end_leaves_an_empty_rank(tmp_path: Path) -> None:
    path = record_match(
        tmp_path,
        NARROW,
        [first_action_strategy(NARROW), crashing_player(NARROW, Moment.END), first_action_strategy(NARROW)],
    )

    assert [seated.rank for seated in find_match(tmp_path, path.stem).seats] == [2, None, 2]
    assert find_matches(tmp_path, Query(winner="bob")) == find_matches(tmp_path, Query(winner="ann")) == []


def test_the_seed_and_the_evidence_stay_in_the_journal(directory: Path) -> None:
    find_matches(directory)

    kept = (directory / index.INDEX_FILE).read_bytes()
    assert b"Misbehaving" not in kept
    assert b"a bad day" not in kept  # what the exception said
    assert bytes(32).hex().encode() not in kept
    assert "seed" not in Summary.__struct_fields__


def test_the_summary_of_an_unfinished_match_has_only_public_parameters(tmp_path: Path) -> None:
    given = Tsuro(tiles=tuple(range(35)))
    with pytest.raises(HostFault, match="the tiles have run out"):
        record_match(tmp_path, given, [first_action_strategy(given)] * 3)

    (one,) = find_matches(tmp_path)

    assert one.status is Status.UNFINISHED
    assert one.parameters == given.public_parameters() != given.parameters()


def no_file(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def hidden(path: Path) -> None:
    path.rename(path.with_name(f".{path.name}"))


def other_ending(path: Path) -> None:
    path.rename(path.with_suffix(".json"))


def escape(path: Path) -> None:
    path.rename(path.with_name("\x1b[2J.jsonl"))


def not_utf_8(path: Path) -> None:
    path.rename(path.with_name(os.fsdecode(b"\xff.jsonl")))


@pytest.mark.parametrize("change", [no_file, link, pipe, hidden, other_ending, escape, not_utf_8])
def test_only_files_with_a_journal_name_are_indexed(change: Callable[[Path], None], tmp_path: Path) -> None:
    path = record_match(tmp_path / "games", FISH, [first_action_strategy(FISH)] * 2)
    change(path)

    assert find_matches(tmp_path / "games") == []


def changed(path: Path, **fields: Any) -> bytes:
    opening, *rest = read_lines(path)
    return seal_lines([{**opening, **fields}, *rest])


@pytest.mark.parametrize(
    ("make", "status", "why"),
    [
        (lambda path: b"", Status.DAMAGED, "the file is empty"),
        (lambda path: b"hello\n", Status.DAMAGED, "not a whole line of a journal"),
        (lambda path: b"\xff\x00" * 5000, Status.DAMAGED, ""),
        (lambda path: b'{"type":' + b"[" * 100_000 + b"\n", Status.DAMAGED, "not a whole line of a journal"),
        (lambda path: path.read_bytes().replace(b'"seq":3', b'"seq":4'), Status.DAMAGED, "line 4"),
        (lambda path: path.read_bytes().replace(b"ann", b"amy"), Status.DAMAGED, "the hash does not fit"),
        (lambda path: changed(path, rules="999"), Status.UNREADABLE, "recorded with version 999"),
        (lambda path: changed(path, format=999), Status.UNREADABLE, "journal format 999 is not supported"),
        (lambda path: changed(path, game="chess"), Status.UNREADABLE, "there is no game 'chess'"),
        (lambda path: changed(path, parameters={"rows": -1}), Status.UNREADABLE, "rows=-1"),
    ],
)
def test_a_summary_says_what_is_wrong_with_a_file(
    make: Callable[[Path], bytes], status: Status, why: str, tmp_path: Path
) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    path.write_bytes(make(path))

    (one,) = find_matches(tmp_path)

    assert one.status is status
    assert why in one.reason
    assert one.facts is None


def test_the_summary_of_a_damaged_match_has_the_fields_of_its_opening(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2, addresses=("greedy", "random"))
    path.write_bytes(path.read_bytes().replace(b'"seq":3', b'"seq":4'))

    (one,) = find_matches(tmp_path, Query(status=Status.DAMAGED, game="fish", players=("bob",)))

    assert one.seats == (SeatSummary("ann", "greedy"), SeatSummary("bob", "random"))
    assert one.started == NOON


def test_a_torn_last_line_leaves_a_match_unfinished(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    truncate_journal(path, 5)
    path.write_bytes(path.read_bytes() + b'{"type":"fact","se')

    (one,) = find_matches(tmp_path)

    assert (one.status, one.facts, one.ended) == (Status.UNFINISHED, 3, None)


def test_the_summary_of_an_unfinished_match_has_its_ejections(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [cheating_strategy, first_action_strategy(FISH), first_action_strategy(FISH)])
    truncate_journal(path, 5)

    (one,) = find_matches(tmp_path, Query(fault=Fault.ILLEGAL, status=Status.UNFINISHED))

    assert [seated.fault for seated in one.seats] == [Fault.ILLEGAL, None, None]


def test_impossible_seats_in_an_unverified_journal_are_ignored(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [cheating_strategy, first_action_strategy(FISH), first_action_strategy(FISH)])
    lines = read_lines(path)
    lines[2]["fact"]["seat"] = 77
    lines[-1]["result"]["ranking"] = [[-1, 99], [2]]
    lines[-1]["result"]["scores"] = [5]
    lines[0]["at"] = 1e300
    path.write_bytes(seal_lines(lines))

    (one,) = find_matches(tmp_path)

    assert [(seated.rank, seated.fault) for seated in one.seats] == [(None, None), (None, None), (3, None)]
    assert [seated.score for seated in one.seats] == [5, None, None]


def test_a_file_that_cannot_be_opened_is_tried_again_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    with monkeypatch.context() as patch:
        patch.setattr(files, "MAX_JOURNAL_BYTES", 100)
        (one,) = find_matches(tmp_path)
        assert (one.status, one.reason) == (Status.UNREADABLE, "cannot be read: it is larger than 0 MB")

    assert [one.status for one in find_matches(tmp_path)] == [Status.FINISHED]
    assert find_match(tmp_path, path.stem).facts == len(read_journal(path).facts)


def test_a_file_that_we_may_not_read_is_unreadable(tmp_path: Path) -> None:
    record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2).chmod(0)

    with without_privileges():
        found = find_matches(tmp_path)

    assert [(one.status, one.reason) for one in found] == [(Status.UNREADABLE, "cannot be read: Permission denied")]


def test_a_directory_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(BadRequest, match="nowhere cannot be read: No such file or directory"):
        find_matches(tmp_path / "nowhere")
    with pytest.raises(BadRequest, match="file cannot be read: Not a directory"):
        find_matches(tmp_path / "file")


def test_an_empty_directory_has_no_matches(tmp_path: Path) -> None:
    assert find_matches(tmp_path) == []
