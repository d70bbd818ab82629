"""Try out that what differs between two values is told in full, and as little more as can be."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairplay.core.errors import BadRequest
from fairplay.server.spectating.patches import after_patch, changed, changes_between

LEAVES = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([0.0, 1.0]) | st.sampled_from(["", "a", "b"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)
BOARD = [[row * 8 + column for column in range(8)] for row in range(8)]
SNAPSHOT = {"type": "snapshot", "seq": 7, "at": 1.0, "event": {"type": "started"}, "turn": 0, "names": ["ann", "bob"]}


def over_the_wire(before: Any, after: Any) -> Any:
    """The changes as somebody elsewhere reads them."""
    return json.loads(json.dumps(list(changes_between(before, after))))


@given(VALUES, VALUES)
def test_a_value_with_the_changes_to_another_is_the_other(before: Any, after: Any) -> None:
    kept = json.dumps(before)

    made = changed(before, over_the_wire(before, after))

    assert json.dumps(made, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert json.dumps(before) == kept


@given(VALUES)
def test_between_a_value_and_itself_nothing_is_told(value: Any) -> None:
    assert over_the_wire(value, json.loads(json.dumps(value))) == []


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [[["b"], 3]]),
        ({"a": 1}, {"b": 1}, [[[], {"b": 1}]]),
        ([1, 2, 3], [1, 2, 3, 4], [[[], 3, 3, [4]]]),
        ([1, 2, 3], [2, 3], [[[], 0, 1, []]]),
        ([1, 2, 3], [1, 5, 6, 3], [[[], 1, 2, [5, 6]]]),
        ([0, 0], [0, 0, 0], [[[], 2, 2, [0]]]),
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], [[[1], 1, 2, [5]]]),
        ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}, {"b": 3}]}, [[["a", 1, "b"], 3]]),
        ([{"a": 1}, 2], [{"a": 2}, 2], [[[0, "a"], 2]]),
        (1, True, [[[], True]]),
        ({"a": [0, 1]}, {"a": [0, 1.0]}, [[["a"], 1, 2, [1.0]]]),
        ([{"a": False}, 2], [{"a": 0}, 2], [[[0, "a"], 0]]),
        (1, [1], [[[], [1]]]),
    ],
)
def test_this_is_told(before: Any, after: Any, told: Any) -> None:
    assert over_the_wire(before, after) == told


def test_of_a_board_only_the_square_is_told_that_is_different() -> None:
    after = [row.copy() for row in BOARD]
    after[3][5] = 0

    assert over_the_wire({"board": BOARD}, {"board": after}) == [[["board", 3], 5, 6, [0]]]


def test_a_patch_makes_the_next_snapshot_and_leaves_this_one_alone() -> None:
    patch = {"type": "patch", "seq": 8, "at": 2.0, "event": {"type": "acted"}, "changes": [[["turn"], 1]]}

    assert after_patch(SNAPSHOT, patch) == {
        **SNAPSHOT,
        "seq": 8,
        "at": 2.0,
        "event": {"type": "acted"},
        "turn": 1,
    }
    assert SNAPSHOT["turn"] == 0


@pytest.mark.parametrize("seq", [6, 7, 9])
def test_a_patch_that_is_not_the_next_one_is_refused(seq: int) -> None:
    with pytest.raises(BadRequest, match=f"after event 7 comes 8, and not {seq}"):
        after_patch(SNAPSHOT, {"type": "patch", "seq": seq, "at": 2.0, "event": {}, "changes": []})
