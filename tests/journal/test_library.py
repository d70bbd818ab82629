"""Test searches in a library of journals."""

from pathlib import Path

import pytest

from fairplay import BadRequest, Fault
from fairplay.journal.library import Query, find_match, find_matches
from fairplay.journal.summary import Status
from tests.journal.libraries import (
    DAY,
    FISH,
    NOON,
    fill_directory,
    first_action_strategy,
    game_names,
    match_ids,
    record_match,
)
from tests.nonempty import nonempty


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


HOSTILE_NAMES = [
    "'; drop table matches; --",
    '" or "1"="1',
    "%",
    "_",
    "?",
    ":game",
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnorw",
    "安 🐧 é",
    '["ann"]',
    "a\nb",
    "x" * 10_000,
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_name_is_looked_for_as_it_is_and_does_nothing_else(name: str, tmp_path: Path) -> None:
    path = record_match(
        tmp_path, FISH, [first_action_strategy(FISH)] * 2, (name, "bob"), addresses=(f"./{name}", "random")
    )
    record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2, ("ann", "bob"))

    for query in (Query(players=(name,)), Query(players=(f"./{name}",)), Query(players=("bob", name))):
        assert match_ids(find_matches(tmp_path, query)) == [path.stem]
    assert len(find_matches(tmp_path, Query(winner=name))) + len(find_matches(tmp_path, Query(winner="bob"))) >= 1
    for query in (Query(game=name), Query(parameters={name: name}), Query(parameters={"rows": name})):
        assert find_matches(tmp_path, query) == []
    assert len(find_matches(tmp_path)) == 2


def test_an_id_is_shortened_as_far_as_it_stays_the_only_one(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    for name in ("0123456789a", "0123456789b", "fff", "fffe"):
        (tmp_path / f"{name}.jsonl").write_bytes(path.read_bytes())
    path.unlink()

    found = find_matches(tmp_path)

    assert {one.id: one.short for one in found} == {
        "0123456789a": "0123456789a",
        "0123456789b": "0123456789b",
        "fff": "fff",
        "fffe": "fffe",
    }
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
    (path,) = [directory / one.file for one in find_matches(directory, Query(game="fish"))]
    for number in range(5):
        (directory / f"same-{number}.jsonl").write_bytes(path.read_bytes())

    with pytest.raises(BadRequest, match=r"^5 matches in .* begin with 'same': same-0, same-1, same-2, same-3, \.\.\."):
        find_match(directory, "same")
