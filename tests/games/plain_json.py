"""Make JSON that is no position, and spoil JSON that is one."""

from typing import Any

from hypothesis import strategies as st


def plain_json(*words: str) -> st.SearchStrategy[Any]:
    """JSON with any values in it, and now and then with these words, which a position may have."""
    atoms = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(words)
    return st.recursive(
        atoms,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
        max_leaves=12,
    )


def spoil(plain: Any, data: st.DataObject, others: st.SearchStrategy[Any]) -> Any:
    """The same JSON, but one value, at any depth, is replaced by another, dropped or doubled."""
    if not isinstance(plain, dict | list) or not plain or data.draw(st.integers(0, 4)) == 0:
        return data.draw(others | st.integers(-3, 8))
    if isinstance(plain, dict):
        key = data.draw(st.sampled_from(sorted(plain)))
        rest = {other: value for other, value in plain.items() if other != key}
        return {**rest, key: spoil(plain[key], data, others)} if data.draw(st.integers(0, 5)) else rest
    index = data.draw(st.integers(0, len(plain) - 1))
    spoilt = spoil(plain[index], data, others)
    ways: tuple[list[Any], ...] = ([spoilt], [spoilt], [], [plain[index]] * 2)
    return [*plain[:index], *ways[data.draw(st.integers(0, 3))], *plain[index + 1 :]]
