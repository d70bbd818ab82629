"""Say how one plain value differs from another, and make the other from that; spectators are told so.

A value is what JSON has. A change is `[path, value]`: what the path leads to is this now. Or it is
`[path, start, end, items]`: of the list there, the items from start up to end are replaced by these. A path is a list
of keys and indices. Changes are made in their order.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest

Key = str | int
Path = tuple[Key, ...]
Change = Sequence[Any]  # (path, value) or (path, start, end, items)
CONTAINERS = (dict, list)
encode = msgspec.json.Encoder().encode


def changes_between(before: Any, after: Any, path: Path = ()) -> Iterator[Change]:
    """What has to be changed so that one becomes the other."""
    if alike(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        for key, value in after.items():
            yield from changes_between(before[key], value, (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from changes_in_list(before, after, path)
    else:
        yield path, after


def alike(before: Any, after: Any) -> bool:
    """Are they the same, as JSON has it? Here 1 equals true, too."""
    return bool(before == after) and encode(before) == encode(after)


def changes_in_list(before: list[Any], after: list[Any], path: Path) -> Iterator[Change]:
    """The same of two lists that differ: what they begin and end with alike is left alone."""
    start, shorter = 0, min(len(before), len(after))
    while start < shorter and alike(before[start], after[start]):
        start += 1
    end, new_end = len(before), len(after)
    while min(end, new_end) > start and alike(before[end - 1], after[new_end - 1]):
        end, new_end = end - 1, new_end - 1
    old, new = before[start:end], after[start:new_end]
    if len(old) == len(new) and all(isinstance(item, CONTAINERS) for item in (*old, *new)):
        for index, (was, item) in enumerate(zip(old, new, strict=True), start):
            yield from changes_between(was, item, (*path, index))
    else:
        yield path, start, end, new


def after_patch(snapshot: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The snapshot after a patch to it. Raises BadRequest if another patch comes before."""
    if patch["seq"] != snapshot["seq"] + 1:
        raise BadRequest(f"after event {snapshot['seq']} comes {snapshot['seq'] + 1}, and not {patch['seq']}")
    now = {**snapshot, **{key: patch[key] for key in ("seq", "at", "event")}}
    return dict(changed(now, patch["changes"]))


def changed(whole: Any, changes: Sequence[Change]) -> Any:
    """A value with these changes made, which is left as it was itself.

    >>> changed({"order": [0, 1], "done": False}, [[["order"], 0, 2, [1]], [["done"], True]])
    {'order': [1], 'done': True}
    """
    for path, *change in changes:
        whole = changed_at(whole, path, change)
    return whole


def changed_at(whole: Any, path: Sequence[Key], change: Sequence[Any]) -> Any:
    """A value with one change made where the path leads."""
    if path:
        copy = whole.copy()
        copy[path[0]] = changed_at(whole[path[0]], path[1:], change)
        return copy
    if len(change) == 1:
        return change[0]
    start, end, items = change
    return [*whole[:start], *items, *whole[end:]]
