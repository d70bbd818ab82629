"""Test searches in a library of journals, and the summaries of matches and of all other kinds of files."""

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
    match_ids,
    record_match,
    truncate_journal,
)
from tests.nonempty import nonempty
from tests.privileges import without_privileges

TWO = [first_action_strategy(FISH)] * 2


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return fill_directory(tmp_path)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (Query(), ["q", "tsuro", "fish"]),
        (Query(game="tsuro"), ["tsuro"]),
        (Query(game="chess"), []),
        (Query(players=("bob",)), ["tsuro", "fish"]),
        (Query(players=("./bob.py",)), ["fish"]),
        (Query(players=("ann", "bob")), ["tsuro", "fish"]),
        (Query(players=("ann", "bob", "eve")), []),
        (Query(players=("cyd",), game="fish"), []),
        (Query(winner="ann", game="q"), ["q"]),
        (Query(winner="eve"), []),
        (Query(winner="bob", game="tsuro"), []),
        (Query(any_fault=True), ["q", "tsuro"]),
        (Query(fault=Fault.CRASHED), ["q", "tsuro"]),
        (Query(fault=Fault.ILLEGAL), []),
        (Query(any_fault=True, players=("ann",)), []),
        (Query(any_fault=True, players=("bob",)), ["tsuro"]),
        (Query(any_fault=True, players=("ann", "eve")), ["q"]),
        (Query(since=NOON + DAY), ["q", "tsuro"]),
        (Query(until=NOON + DAY), ["fish"]),
        (Query(since=NOON + DAY, until=NOON + 2 * DAY), ["tsuro"]),
        (Query(status=Status.UNFINISHED), []),
        (Query(status=Status.FINISHED, limit=2), ["q", "tsuro"]),
        (Query(parameters={"rows": "4"}), ["fish"]),
        (Query(parameters={"rows": "4", "CRAMPED": "false"}), []),
        (Query(parameters={"rows": "4", "cramped": "False"}), ["fish"]),
        (Query(parameters={"fish": "RANDOM", "columns": "4"}), ["fish"]),
        (Query(parameters={"rows": "5"}), []),
        (Query(parameters={"tiles": "bag", "size": "10"}), ["tsuro"]),
        (Query(limit=10**30), ["q", "tsuro", "fish"]),
    ],
)
def test_matches_are_found_by_what_is_true_of_them(query: Query, found: list[str], directory: Path) -> None:
    assert game_names(find_matches(directory, query)) == found


STRANGE_NAMES = ["'; drop table matches; --", '" or "1"="1', "%", "_", "?", ":game", "安 🐧 é", '["ann"]', "a\nb"]
STRANGE_NAMES += ["\x1b[2J\x1b]0;title\x07", "\u202egnorw", "x" * 10_000]


@pytest.mark.parametrize("name", STRANGE_NAMES)
def test_a_name_is_looked_for_as_it_is_and_does_nothing_else(name: str, tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, TWO, (name, "bob"), addresses=(f"./{name}", "random"))
    record_match(tmp_path, FISH, TWO)

    for query in (Query(players=(name,)), Query(players=(f"./{name}",)), Query(players=("bob", name))):
        assert match_ids(find_matches(tmp_path, query)) == [path.stem]
    assert len(find_matches(tmp_path, Query(winner=name))) + len(find_matches(tmp_path, Query(winner="bob"))) >= 1
    for query in (Query(game=name), Query(parameters={name: name}), Query(parameters={"rows": name})):
        assert find_matches(tmp_path, query) == []
    assert len(find_matches(tmp_path)) == 2


def test_an_id_is_shortened_as_far_as_it_stays_the_only_one(tmp_path: Path) -> None:
    path, ids = record_match(tmp_path, FISH, TWO), ["0123456789a", "0123456789b", "fff", "fffe"]
    for name in ids:
        (tmp_path / f"{name}.jsonl").write_bytes(path.read_bytes())
    path.unlink()

    found = find_matches(tmp_path)

    assert {one.id: one.short for one in found} == dict(zip(ids, ids, strict=True))
    assert all(find_match(tmp_path, one.short) == one for one in found)


def test_any_beginning_that_only_one_match_has_is_enough(directory: Path) -> None:
    for one in nonempty(find_matches(directory)):
        assert one.short == one.id[:7]
        assert all(find_match(directory, one.id[:length]) == one for length in range(7, 33))


@pytest.mark.parametrize("prefix", ["zzz", "%", "_", "*", "../", "\0", "'"])
def test_an_unknown_id_is_refused(prefix: str, directory: Path) -> None:
    with pytest.raises(BadRequest, match=r"no match in .* has an id that begins with"):
        find_match(directory, prefix)


def test_an_id_that_several_have_is_refused_and_some_of_them_are_named(directory: Path) -> None:
    path = journal_of_game(directory, "fish")
    for number in range(5):
        (directory / f"same-{number}.jsonl").write_bytes(path.read_bytes())

    with pytest.raises(BadRequest, match=r"^5 matches in .* begin with 'same': same-0, same-1, same-2, same-3, \.\.\."):
        find_match(directory, "same")


# Summaries.


@pytest.mark.parametrize(("game", "day"), [("fish", 0), ("tsuro", 1), ("q", 2)])
def test_a_summary_says_what_the_journal_says(game: str, day: int, directory: Path) -> None:
    path = journal_of_game(directory, game)
    recorded = read_journal(path)
    assert recorded.closing is not None
    result = recorded.closing.result

    one = find_match(directory, path.stem)

    assert (one.match, one.id, one.game, one.rules) == (path.stem, path.stem, game, recorded.opening.rules)
    assert (one.status, one.facts) == (Status.FINISHED, len(recorded.entries))
    assert one.parameters == recorded.opening.parameters
    assert (one.started, one.last, one.ended) == (NOON + day * DAY, recorded.entries[-1].at, recorded.closing.at)
    assert [seated.name for seated in one.seats] == list(recorded.opening.names)
    assert tuple(seated.score for seated in one.seats) == result.scores
    out = {ejected.seat: ejected for ejected in result.ejected}
    for seat, seated in enumerate(one.seats):
        assert (seated.rank is None) == (seat in out)
        if seat in out:
            assert (seated.fault, seated.moment, seated.why) == (out[seat].fault, out[seat].moment, out[seat].why)


@pytest.mark.parametrize(("winner_fails", "ranks"), [(False, [2, 1, 2]), (True, [2, None, 2])])
def test_ties_share_a_rank_and_a_winner_that_fails_leaves_an_empty_one(
    winner_fails: bool, ranks: list[int | None], tmp_path: Path
) -> None:
    game = Fish(rows=2, columns=5, fish=1)  # bob wins, ann and cyd come second
    good = first_action_strategy(game)
    path = record_match(tmp_path, game, [good, crashing_player(game, Moment.END) if winner_fails else good, good])

    assert [seated.rank for seated in find_match(tmp_path, path.stem).seats] == ranks
    assert find_matches(tmp_path, Query(winner="ann")) == []
    assert len(find_matches(tmp_path, Query(winner="bob"))) == ranks.count(1)


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


def test_only_files_with_a_journal_name_are_indexed(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, TWO)
    for name in (".hidden.jsonl", "other.json", "\x1b[2J.jsonl", os.fsdecode(b"\xff.jsonl")):
        (tmp_path / name).write_bytes(path.read_bytes())
    (tmp_path / "directory.jsonl").mkdir()
    (tmp_path / "link.jsonl").symlink_to(path)
    os.mkfifo(tmp_path / "pipe.jsonl")

    assert match_ids(find_matches(tmp_path)) == [path.stem]


def change_opening(path: Path, **fields: Any) -> bytes:
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
        (lambda path: change_opening(path, rules="999"), Status.UNREADABLE, "recorded with version 999"),
        (lambda path: change_opening(path, format=999), Status.UNREADABLE, "journal format 999 is not supported"),
        (lambda path: change_opening(path, game="chess"), Status.UNREADABLE, "there is no game 'chess'"),
        (lambda path: change_opening(path, parameters={"rows": -1}), Status.UNREADABLE, "rows=-1"),
    ],
)
def test_a_summary_says_what_is_wrong_with_a_file(
    make: Callable[[Path], bytes], status: Status, why: str, tmp_path: Path
) -> None:
    path = record_match(tmp_path, FISH, TWO)
    path.write_bytes(make(path))

    (one,) = find_matches(tmp_path)

    assert one.status is status
    assert why in one.reason
    assert one.facts is None


def test_the_summary_of_a_damaged_match_has_the_fields_of_its_opening(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, TWO, addresses=("greedy", "random"))
    path.write_bytes(path.read_bytes().replace(b'"seq":3', b'"seq":4'))

    (one,) = find_matches(tmp_path, Query(status=Status.DAMAGED, game="fish", players=("bob",)))

    assert one.seats == (SeatSummary("ann", "greedy"), SeatSummary("bob", "random"))
    assert one.started == NOON


def test_the_summary_of_an_unfinished_match_has_its_ejections(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [cheating_strategy, *TWO])
    truncate_journal(path, 5)
    path.write_bytes(path.read_bytes() + b'{"type":"fact","se')

    (one,) = find_matches(tmp_path, Query(fault=Fault.ILLEGAL, status=Status.UNFINISHED))

    assert [seated.fault for seated in one.seats] == [Fault.ILLEGAL, None, None]
    assert (one.facts, one.ended) == (3, None)


def test_impossible_seats_in_an_unverified_journal_are_ignored(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [cheating_strategy, *TWO])
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
    path = record_match(tmp_path, FISH, TWO)
    with monkeypatch.context() as patch:
        patch.setattr(files, "MAX_JOURNAL_BYTES", 100)
        (one,) = find_matches(tmp_path)
        assert (one.status, one.reason) == (Status.UNREADABLE, "cannot be read: it is larger than 0 MB")

    assert [one.status for one in find_matches(tmp_path)] == [Status.FINISHED]
    assert find_match(tmp_path, path.stem).facts == len(read_journal(path).facts)


def test_a_file_that_we_may_not_read_is_unreadable(tmp_path: Path) -> None:
    record_match(tmp_path, FISH, TWO).chmod(0)

    with without_privileges():
        found = find_matches(tmp_path)

    assert [(one.status, one.reason) for one in found] == [(Status.UNREADABLE, "cannot be read: Permission denied")]


def test_a_directory_that_is_none_is_refused_and_an_empty_one_has_no_matches(tmp_path: Path) -> None:
    assert find_matches(tmp_path) == []
    (tmp_path / "file").write_text("")

    with pytest.raises(BadRequest, match="nowhere cannot be read: No such file or directory"):
        find_matches(tmp_path / "nowhere")
    with pytest.raises(BadRequest, match="file cannot be read: Not a directory"):
        find_matches(tmp_path / "file")
