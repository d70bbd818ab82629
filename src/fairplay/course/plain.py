"""Read plain JSON as a value of a course, or say in a few words what is wrong with it."""

from typing import Any

import msgspec

from fairplay.core.errors import BadRequest

MOST_SAID = 200  # characters: an error may quote what somebody sent, and that may be long


def read(plain: Any, kind: Any, what: str) -> Any:
    """Plain JSON as a value of the course's, if it is one."""
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"not {what}: {str(error)[:MOST_SAID]}") from None
    except ValueError:  # half a character, as in "\ud800", or a number with more digits than an error can name
        raise BadRequest(f"not {what}: there is something in it that cannot be written down") from None


def read_action(action: Any, kind: Any, what: str) -> Any:
    """What a player of ours answered, a value or plain JSON, as an action; taken apart, so that it is nothing else."""
    try:
        plain = msgspec.to_builtins(action)
    except (TypeError, ValueError, RecursionError):  # a foreign object, a huge number, a list within itself
        raise BadRequest(f"not {what}: it is no plain data") from None
    return read(plain, kind, what)
