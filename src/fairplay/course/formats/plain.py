"""Read plain JSON as a value of a course, or say in a few words what is wrong with it."""

from collections.abc import Callable
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest

MAX_ERROR_VALUE_CHARS = 200  # characters: an error may quote what somebody sent, and that may be long


def read(plain: Any, kind: Any, what: str) -> Any:
    """Plain JSON as a value of the course's, if it is one."""
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        said = str(error).encode("unicode_escape")[:MAX_ERROR_VALUE_CHARS].decode()  # on one line, whatever it quotes
        raise BadRequest(f"not {what}: {said}") from None
    except ValueError:  # half a character, as in "\ud800", or a number with more digits than an error can name
        raise BadRequest(f"not {what}: there is something in it that cannot be written down") from None


def reader(kind: Any, what: str) -> Callable[[Any], Any]:
    """What reads plain JSON as values of one kind: made once, as to look at a kind takes longer than to read one."""
    holder = msgspec.defstruct("Holder", [("value", kind)], array_like=True)  # msgspec remembers all about a struct

    def read_one(plain: Any) -> Any:
        return read((plain,), holder, what).value

    return read_one


def action_reader(kind: Any, what: str) -> Callable[[Any], Any]:
    """The same for what players of ours answer, values or plain JSON: taken apart, so that it is nothing else."""
    read_one = reader(kind, what)

    def read_action(action: Any) -> Any:
        try:
            plain = msgspec.to_builtins(action)
        except (TypeError, ValueError, RecursionError):  # a foreign object, a huge number, a list within itself
            raise BadRequest(f"not {what}: it is no plain data") from None
        return read_one(plain)

    return read_action
