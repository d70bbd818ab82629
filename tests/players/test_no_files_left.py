"""Test programs that start when file descriptors run out: a host fault, and nothing is left open."""

import asyncio
import os
import resource
from pathlib import Path
from typing import Any

from fairplay.core.errors import HostFault
from fairplay.players.process import ProgramConnection
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy

MOST_NEEDED = 40  # files that a start takes, at most


def numbers() -> list[int]:
    """The descriptors of this process, and one more by which they are found."""
    return [int(path.name) for path in Path("/proc/self/fd").iterdir()]


def open_files() -> int:
    """How many files this process has open."""
    return len(numbers()) - 1


def test_a_program_start_without_file_descriptors_is_a_host_fault_and_leaves_nothing() -> None:
    complaints: list[Any] = []

    async def start_with(more: int) -> bool:
        """Can a program be started with so many more files?"""
        before, (soft, hard) = open_files(), resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (before + more, hard))
        try:
            program = await ProgramConnection.start(["cat"], sandbox=SandboxPolicy(SandboxLevel.NONE))
        except HostFault:
            program = None
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if program is not None:
            await program.close(b"", 0)
        await asyncio.sleep(0)
        assert open_files() == before
        return program is not None

    async def start_all() -> list[bool]:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        program = await ProgramConnection.start(
            ["cat"], sandbox=SandboxPolicy(SandboxLevel.NONE)
        )  # so that all modules are loaded
        await program.close(b"", 0)
        highest, holes = max(numbers()), [os.open(os.devnull, os.O_RDONLY)]
        while holes[-1] < highest:
            holes.append(os.open(os.devnull, os.O_RDONLY))
        try:
            found = [await start_with(more) for more in range(1, MOST_NEEDED)]
        finally:
            for number in holes:
                os.close(number)
        await asyncio.sleep(1.1)  # in which a forgotten timer would look for an exit code
        return found

    found = asyncio.run(start_all())

    assert (found[0], found[-1]) == (False, True)
    assert found == sorted(found)
    assert complaints == []
