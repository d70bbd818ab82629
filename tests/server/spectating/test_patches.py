"""Test that JSON Patches are made and applied as RFC 6902 says: complete, short, and refused if they do not fit."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairplay import BadRequest
from fairplay.server.spectating.patches import apply_patch, apply_patch_line, make_patch

LEAVES = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([0.0, 1.0]) | st.sampled_from(["", "a", "~/é"])
KEYS = st.sampled_from(["", "a", "b", "/", "~", "~1", "~0", "a/b", "0", "-", "\n", "é"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=16,
)
BOARD = [[row * 8 + column for column in range(8)] for row in range(8)]
CHANGED_BOARD = [[0 if number == 29 else number for number in row] for row in BOARD]
SNAPSHOT = {"type": "snapshot", "seq": 7, "at": 1.0, "event": {"type": "started"}, "turn": 0, "names": ["ann", "bob"]}
PATCH = {"type": "patch", "seq": 8, "at": 2.0, "event": {"type": "acted"}}
EXAMPLE = {"": {"": 0}, "a": [1, {"b": 2}], "c/d": 3, "e~f": 4, "g~1h": 5, "7": 6, "-": 7, "n": None}


def decoded_patch(before: Any, after: Any) -> Any:
    return json.loads(msgspec.json.encode(list(make_patch(before, after))))


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def remove(path: str) -> dict[str, Any]:
    return {"op": "remove", "path": path}


def replace(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


@given(VALUES, VALUES)
def test_a_patch_turns_a_document_into_another(before: Any, after: Any) -> None:
    kept = json.dumps(before)

    made = apply_patch(before, decoded_patch(before, after))

    assert json.dumps(made, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert json.dumps(before) == kept


@given(st.lists(st.integers(0, 2), max_size=12), st.lists(st.integers(0, 2), max_size=12))
def test_a_patch_covers_lists_that_grow_or_shrink_anywhere(before: list[int], after: list[int]) -> None:
    assert apply_patch({"a": before}, decoded_patch({"a": before}, {"a": after})) == {"a": after}


@given(VALUES)
def test_the_patch_between_a_document_and_itself_is_empty(document: Any) -> None:
    assert decoded_patch(document, json.loads(json.dumps(document))) == []


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [replace("/b", 3)]),
        ({"a": 1}, {"b": 1}, [remove("/a"), add("/b", 1)]),
        ({}, {"": {"x/y": 1}}, [add("/", {"x/y": 1})]),
        ({"": {"x/y": 1, "~1": 0}}, {"": {"x/y": 2, "~1": 1}}, [replace("//x~1y", 2), replace("//~01", 1)]),
        ([1, 2, 3], [1, 2, 3, 4], [add("/3", 4)]),
        ({"a": [*range(20)]}, {"a": [*range(21)]}, [add("/a/20", 20)]),
        ({"a": [*range(20)]}, {"a": [*range(1, 20)]}, [remove("/a/0")]),
        ({"a": [*range(20)]}, {"a": [*range(9), 9, 9, *range(10, 20)]}, [add("/a/10", 9)]),
        ({"a": [*range(40)]}, {"a": [*range(38)]}, [remove("/a/38"), remove("/a/38")]),
        ({"a": [0, 1, 2]}, {"a": [1, 2, 0]}, [replace("/a", [1, 2, 0])]),
        ({"a": [{"b": "x" * 40}, {"b": 2}]}, {"a": [{"b": "x" * 40}, {"b": 3}]}, [replace("/a/1/b", 3)]),
        (1, True, [replace("", True)]),
        ({"a": {"b": 0}}, {"a": {"b": 0.0}}, [replace("/a/b", 0.0)]),
        ({"a": {"b": False}, "c": 2}, {"a": {"b": 0}, "c": 2}, [replace("/a/b", 0)]),
        ({"a": [None]}, {"a": None}, [replace("/a", None)]),
        (1, [1], [replace("", [1])]),
        ({"board": BOARD}, {"board": CHANGED_BOARD}, [replace("/board/3/5", 0)]),
    ],
)
def test_a_patch_has_the_expected_operations(before: Any, after: Any, patch: Any) -> None:
    assert decoded_patch(before, after) == patch


def test_numbers_as_keys_and_tuples_are_patched_as_in_json() -> None:
    before, after = {"at": {1: "a", 12: "b"}, "row": (0, 1) * 20}, {"at": {1: "c"}, "row": (0, 1) * 20 + (2,)}
    read = json.loads(msgspec.json.encode(before))

    assert decoded_patch(before, after) == [remove("/at/12"), replace("/at/1", "c"), add("/row/40", 2)]
    assert apply_patch(read, decoded_patch(before, after)) == json.loads(msgspec.json.encode(after))


@pytest.mark.parametrize(
    ("patch", "changed"),
    [
        ([], {}),
        ([add("/x", [1])], {"x": [1]}),
        ([add("/a", 0)], {"a": 0}),
        ([add("/a/0", 0)], {"a": [0, 1, {"b": 2}]}),
        ([add("/a/1", 0)], {"a": [1, 0, {"b": 2}]}),
        ([add("/a/2", 0)], {"a": [1, {"b": 2}, 0]}),
        ([add("/a/-", [0])], {"a": [1, {"b": 2}, [0]]}),
        ([add("/a/1/c", None)], {"a": [1, {"b": 2, "c": None}]}),
        ([remove("/a/0")], {"a": [{"b": 2}]}),
        ([remove("/a/1/b")], {"a": [1, {}]}),
        ([replace("/a/1", [3])], {"a": [1, [3]]}),
        ([replace("/n", 1)], {"n": 1}),
        ([replace("//", 1)], {"": {"": 1}}),
        ([replace("/", 1)], {"": 1}),
        ([replace("/c~1d", 9)], {"c/d": 9}),
        ([replace("/e~0f", 9)], {"e~f": 9}),
        ([replace("/g~01h", 9)], {"g~1h": 9}),
        ([replace("/7", 9), replace("/-", 9)], {"7": 9, "-": 9}),
        ([add("/x", {}), add("/x/y", []), add("/x/y/-", 1), replace("/x/y/0", 2)], {"x": {"y": [2]}}),
        ([{**replace("/n", 1), "from": 7, "more": "unknown"}], {"n": 1}),
    ],
)
def test_an_operation_does_what_rfc_6902_says(patch: Any, changed: dict[str, Any]) -> None:
    kept = json.dumps(EXAMPLE)

    assert apply_patch(EXAMPLE, patch) == {**EXAMPLE, **changed}
    assert json.dumps(EXAMPLE) == kept


@pytest.mark.parametrize(
    ("document", "operation", "expected"),
    [(EXAMPLE, add("", 5), 5), (EXAMPLE, replace("", 5), 5), ({"a": 1, "b": 2}, remove("/a"), {"b": 2})],
    ids=["a new document", "another document", "without a member"],
)
def test_an_operation_may_replace_or_remove_all(document: Any, operation: Any, expected: Any) -> None:
    assert apply_patch(document, [operation]) == expected


LONG_INDEX = "/a/" + "9" * 5000
NOT_THERE = [
    *(add(path, 1) for path in ("/x/y", "/a/3", "/a/01", "/a/-1", "/a/b", LONG_INDEX, "/a/\u0661", "/n/x", "/7/0")),
    *(remove(path) for path in ("", "/x", "/a/2", "/a/-", "/a/-1")),
    *(replace(path, 1) for path in ("/x", "/a/2", "/a/-", "/a/00", "/a/-/b", "/c/d")),
]


@pytest.mark.parametrize("operation", NOT_THERE, ids=lambda operation: f"{operation['op']} {operation['path'][:9]!r}")
def test_an_operation_that_does_not_fit_is_refused_by_name(operation: Any) -> None:
    with pytest.raises(BadRequest) as refused:
        apply_patch(EXAMPLE, [operation])

    assert str(refused.value) == f"the patch does not fit: cannot {operation['op']} {operation['path']!r}"


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        (3, "Expected `array`, got `int`"),
        ([7], "Expected `object`, got `int` - at `$[0]`"),
        ([{"path": "/a"}], "Object missing required field `op` - at `$[0]`"),
        ([remove("/7"), {"op": "remove"}], "Object missing required field `path` - at `$[1]`"),
        ([{"op": "add", "path": "/x"}], "no `value` to add - at `$[0]`"),
        ([{"op": "replace", "path": "/a"}], "no `value` to replace - at `$[0]`"),
        ([{"op": "move", "from": "/a", "path": "/x"}], "Invalid enum value 'move' - at `$[0].op`"),
        ([{"op": "copy", "from": "/a", "path": "/x"}], "Invalid enum value 'copy' - at `$[0].op`"),
        ([{"op": "test", "path": "/7", "value": 6}], "Invalid enum value 'test' - at `$[0].op`"),
        ([{"op": "spam", "path": "/7"}], "Invalid enum value 'spam' - at `$[0].op`"),
        ([{**remove("/a"), "path": ["a"]}], "Expected `str`, got `array` - at `$[0].path`"),
        *(
            ([replace(path, 1)], r"Expected `str` matching regex '\\A(/([^~/]|~[01])*)*\\Z' - at `$[0].path`")
            for path in ("a", "a/b", "/e~f", "/e~2f", "/e~", "#/a")
        ),
    ],
)
def test_an_invalid_patch_is_refused(patch: Any, why: str) -> None:
    with pytest.raises(BadRequest) as refused:
        apply_patch(EXAMPLE, patch)

    assert str(refused.value) == f"not a JSON Patch: {why}"


def test_a_patch_makes_the_next_snapshot_and_leaves_this_one_alone() -> None:
    assert apply_patch_line(SNAPSHOT, {**PATCH, "patch": [replace("/turn", 1)]}) == {
        **SNAPSHOT,
        "seq": 8,
        "at": 2.0,
        "event": {"type": "acted"},
        "turn": 1,
    }
    assert SNAPSHOT["turn"] == 0


@pytest.mark.parametrize("seq", [6, 7, 9])
def test_a_patch_that_is_not_the_next_one_is_refused(seq: int) -> None:
    with pytest.raises(BadRequest, match=f"expected event 8 after 7, not {seq}"):
        apply_patch_line(SNAPSHOT, {**PATCH, "seq": seq, "patch": []})


@pytest.mark.parametrize(
    "line",
    [{"seq": 2}, {**PATCH, "patch": [{"op": "replace", "path": "", "value": 5}]}],
    ids=["without a patch", "that leaves no snapshot"],
)
def test_a_hostile_line_of_a_patch_is_a_bad_request(line: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        apply_patch_line(SNAPSHOT, line)
