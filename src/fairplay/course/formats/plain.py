"""Convert plain JSON to values of a course, with short errors."""

from collections.abc import Callable
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest

MAX_ERROR_VALUE_CHARS = 200  # an error may quote a long input


def read(plain: Any, kind: Any, what: str) -> Any:
    """Convert plain JSON to a value of the course. Raises BadRequest if it is none."""
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        why = str(error).encode("unicode_escape")[:MAX_ERROR_VALUE_CHARS].decode()  # always on one line
        raise BadRequest(f"not {what}: {why}") from None
    except ValueError:  # half a character, as in "\ud800", or a number too long to be quoted
        raise BadRequest(f"not {what}: it has characters or numbers that cannot be represented") from None


def reader(kind: Any, what: str) -> Callable[[Any], Any]:
    """Make a converter to one type once, as inspecting a type takes longer than converting a value."""
    holder = msgspec.defstruct("Holder", [("value", kind)], array_like=True)  # msgspec caches structs

    def read_one(plain: Any) -> Any:
        return read((plain,), holder, what).value

    return read_one


def action_reader(kind: Any, what: str) -> Callable[[Any], Any]:
    """Make a converter for the answers of our players, values or plain JSON; a value is reduced to plain data first."""
    read_one = reader(kind, what)

    def read_action(action: Any) -> Any:
        try:
            plain = msgspec.to_builtins(action)
        except (TypeError, ValueError, RecursionError):  # a foreign object, a huge number, a list within itself
            raise BadRequest(f"not {what}: it is not plain data") from None
        return read_one(plain)

    return read_action
