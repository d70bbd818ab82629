"""Define sandbox policies: what a program is denied, and how much of the machine it may use."""

from enum import Enum

import msgspec

from fairplay.core.errors import BadRequest

MEGABYTE = 1024 * 1024


class SandboxLevel(Enum):
    """How strictly a program is sandboxed."""

    STRICT = "strict"  # it has its own files, network and processes, and an unused user
    LANDLOCK = "landlock"  # it is our own user, and denied by Landlock and a filter to reach beyond its own directory
    NONE = "none"  # it runs as our own user; only its use of the machine is limited


SANDBOXES = ("auto", *(level.value for level in SandboxLevel))


def parse_levels(text: str) -> tuple[SandboxLevel, ...]:
    """The levels to try one after the other: auto, or names with commas between them; BadRequest for other names.

    >>> [level.value for level in parse_levels("strict,landlock")]
    ['strict', 'landlock']
    """
    if text == "auto":
        return tuple(SandboxLevel)
    if (unknown := unknown_level(text)) is not None:
        raise BadRequest(f"there is no sandbox {unknown!r}; there is {', '.join(SANDBOXES[:-1])} and {SANDBOXES[-1]}")
    return tuple(map(SandboxLevel, text.split(",")))


def unknown_level(text: str) -> str | None:
    """The first word of a text that is no level; None if all are."""
    words = [] if text == "auto" else text.split(",")
    return next((word for word in words if word not in SANDBOXES[1:]), None)


class SandboxPolicy(msgspec.Struct, frozen=True):
    """How a program is sandboxed. Limits are per process, if nothing else is said."""

    level: SandboxLevel
    memory: int = 512 * MEGABYTE  # bytes
    cpu: int = 3600  # seconds of computing
    processes: int = 64  # and threads, in total; only if strict
    open_files: int = 256
    file_size: int = 64 * MEGABYTE  # bytes, of each file that it writes
    space: int = 64 * MEGABYTE  # bytes in /tmp, its home, and as many in /dev/shm; only if strict
    pondering: bool = False  # may it compute while others are asked?
    visible_paths: tuple[str, ...] = ()  # besides what its command names: the files of its game; only if strict
    hidden_paths: tuple[str, ...] = ()  # journals, which it may not see even beside itself; only if strict
