"""Make and apply JSON Patches (RFC 6902), which show spectators the changes of an event."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from fairplay.core.errors import BadRequest

Pointer = Annotated[str, msgspec.Meta(pattern=r"\A(/([^~/]|~[01])*)*\Z")]  # RFC 6901
ARRAY_INDEX = re.compile("0|[1-9][0-9]*")
ARRAYS = (list, tuple)  # in packed views
encode = msgspec.json.Encoder().encode


class Operation(msgspec.Struct, frozen=True):
    """A change at a path; the empty path is the whole document."""

    op: Literal["add", "remove", "replace"]
    path: Pointer
    value: Any = msgspec.UNSET

    def __post_init__(self) -> None:
        if self.value is msgspec.UNSET and self.op != "remove":
            raise ValueError(f"no `value` to {self.op}")


def make_patch(before: Any, after: Any, path: str = "") -> Iterator[Operation]:
    """The operations that turn one document into another."""
    if is_same_json(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from (Operation("remove", join_pointer(path, key)) for key in before if key not in after)
        for key, value in after.items():
            member = join_pointer(path, key)
            yield from make_patch(before[key], value, member) if key in before else [Operation("add", member, value)]
    elif isinstance(before, ARRAYS) and isinstance(after, ARRAYS):
        operations, whole = list(array_operations(before, after, path)), [Operation("replace", path, after)]
        yield from min(operations, whole, key=lambda patch: len(encode(patch)))
    else:
        yield Operation("replace", path, after)


def is_same_json(before: Any, after: Any) -> bool:
    """Are they the same in JSON? In Python, 1 equals true."""
    return bool(before == after) and encode(before) == encode(after)


def array_operations(before: Sequence[Any], after: Sequence[Any], path: str) -> Iterator[Operation]:
    """The operations item by item, without the common start and end."""
    start, shorter = 0, min(len(before), len(after))
    while start < shorter and is_same_json(before[start], after[start]):
        start += 1
    end, new_end = len(before), len(after)
    while min(end, new_end) > start and is_same_json(before[end - 1], after[new_end - 1]):
        end, new_end = end - 1, new_end - 1
    common = min(end, new_end)
    for index in range(start, common):
        yield from make_patch(before[index], after[index], f"{path}/{index}")
    yield from (Operation("remove", f"{path}/{common}") for _ in range(common, end))
    yield from (Operation("add", f"{path}/{index}", after[index]) for index in range(common, new_end))


def join_pointer(path: str, key: Any) -> str:
    """The path of a member, whose key becomes text in JSON."""
    return f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"


def apply_patch_line(snapshot: Mapping[str, Any], line: Mapping[str, Any]) -> dict[str, Any]:
    """The snapshot after a line with a patch. Raises BadRequest if the line does not fit, or is not the next one."""
    missing = [key for key in ("seq", "at", "event", "patch") if key not in line]
    if missing:
        raise BadRequest(f"not a line with a patch: it has no {missing[0]!r}")
    if line["seq"] != snapshot["seq"] + 1:
        raise BadRequest(f"expected event {snapshot['seq'] + 1} after {snapshot['seq']}, not {line['seq']}")
    patched = apply_patch(snapshot, line["patch"])
    if not isinstance(patched, dict):
        raise BadRequest("the patch does not fit: the result is not an object")
    return {**patched, **{key: line[key] for key in ("seq", "at", "event")}}


def apply_patch(document: Any, patch: Sequence[Any]) -> Any:
    """The document after a JSON Patch (RFC 6902), as a new value.

    The operations are those that fairplay sends: add, remove and replace. Raises BadRequest for any other operation,
    and for one that does not fit.

    >>> patch = [{"op": "remove", "path": "/order/0"}, {"op": "add", "path": "/a~1b", "value": [1]}]
    >>> apply_patch({"order": [0, 1]}, patch)
    {'order': [1], 'a/b': [1]}
    """
    try:
        operations = msgspec.convert(patch, list[Operation])
    except msgspec.ValidationError as error:
        raise BadRequest(f"not a JSON Patch: {error}") from None
    for operation in operations:
        try:
            document = apply_operation(document, operation)
        except (AttributeError, LookupError, ValueError):
            raise BadRequest(f"the patch does not fit: cannot {operation.op} {operation.path!r}") from None
    return document


def apply_operation(document: Any, operation: Operation) -> Any:
    """The document after one operation. Raises an AttributeError, LookupError or ValueError if it does not fit."""
    *way, last = [token.replace("~1", "/").replace("~0", "~") for token in operation.path.split("/")]
    top: dict[str, Any] = {"": document}  # whose key is the empty path
    parent: Any = top
    for token in way:
        key = resolve_token(parent, token)
        parent[key] = parent[key].copy()
        parent = parent[key]
    key = resolve_token(parent, last, adds=operation.op == "add")
    if operation.op == "remove":
        del parent[key]
    elif operation.op == "add" and isinstance(parent, list):
        parent.insert(key, operation.value)
    else:
        parent[key] = operation.value
    return top[""]


def resolve_token(parent: Any, token: str, *, adds: bool = False) -> Any:
    """The index or the key that a token names. Raises LookupError if nothing is there and nothing can be added."""
    if isinstance(parent, list):
        index = len(parent) if adds and token == "-" else int(token) if ARRAY_INDEX.fullmatch(token) else -1
        if index not in range(len(parent) + adds):
            raise LookupError(token)
        return index
    if token not in parent and not adds:
        raise LookupError(token)
    return token
