"""Say how a program is to be shut in: how much is kept from it, and how much of the machine it may use."""

from enum import Enum

import msgspec

MEGABYTE = 1024 * 1024


class SandboxLevel(Enum):
    """How much is kept from a program."""

    STRICT = "strict"  # it has files, network and processes of its own, and is nobody
    NONE = "none"  # it is whoever runs us; only its use of the machine is limited


class SandboxPolicy(msgspec.Struct, frozen=True):
    """How a program is shut in. Limits are for each of its processes, if nothing else is said."""

    level: SandboxLevel
    memory: int = 512 * MEGABYTE  # bytes
    cpu: int = 3600  # seconds of computing
    processes: int = 64  # threads too, all together; only if strict
    open_files: int = 256
    file_size: int = 64 * MEGABYTE  # bytes of a file that it writes
    space: int = 64 * MEGABYTE  # bytes in /tmp, which is its home too, and as many in /dev/shm; only if strict
    pondering: bool = False  # may it think while others are asked?
    visible_paths: tuple[
        str, ...
    ] = ()  # what it sees besides what its command names: the files of its game; only if strict
    hidden_paths: tuple[str, ...] = ()  # what it may not see, even if it lies beside it: journals; only if strict
