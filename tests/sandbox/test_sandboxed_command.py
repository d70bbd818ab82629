"""Test the control group of a program, and who is to blame when all its processes are killed."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from fairplay.core.errors import HostFault
from fairplay.players.process import ProgramConnection, child_pids
from fairplay.sandbox.cgroup import ControlGroup, MemoryKills, write_limits
from fairplay.sandbox.policy import MEGABYTE, SandboxLevel, SandboxPolicy
from fairplay.sandbox.sandboxed_command import SandboxedCommand
from fairplay.transport.connection import ConnectionClosed, acquire, receive
from tests.players.machine import needs_strict
from tests.sandbox.groups import require_controller

LIMITS = ("memory.max", "memory.limit_in_bytes")  # of version 2, and of version 1


@needs_strict
@require_controller("memory")
def test_the_limit_of_a_group_leaves_room_for_both_disks_of_a_program() -> None:
    cell = SandboxedCommand(["true"], SandboxPolicy(SandboxLevel.STRICT, memory=100 * MEGABYTE, space=10 * MEGABYTE))
    try:
        assert cell.group is not None
        files = [Path(entrance).parent / name for entrance in cell.group.procs_files for name in LIMITS]
        found = [int(path.read_text()) for path in files if path.exists()]
    finally:
        cell.close()

    assert found == [120 * MEGABYTE]


def test_a_group_of_version_2_has_no_swap_and_dies_as_a_whole(tmp_path: Path) -> None:
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.weight"):
        (tmp_path / name).touch()

    write_limits(tmp_path, ("memory", "pids", "cpu"), 1234, 56)

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "memory.max": "1234",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "56",
        "cpu.weight": "50",
    }


def test_a_group_of_version_1_has_no_swap_either(tmp_path: Path) -> None:
    for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
        (tmp_path / name).touch()

    write_limits(tmp_path, ("memory",), 1234, 56)

    assert {path.read_text() for path in tmp_path.iterdir()} == {"1234"}


@needs_strict
@require_controller("memory")
@pytest.mark.parametrize(
    "kills", [MemoryKills(3, True), MemoryKills(0, False)], ids=["at its limit", "by another process"]
)
def test_a_program_killed_with_its_sandbox_is_to_blame_only_if_it_ran_out_of_its_memory(
    kills: MemoryKills, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel kills a group of version 2 as a whole: the program, and those who would tell how it ended."""
    monkeypatch.setattr(ControlGroup, "memory_kills", lambda group: kills)

    async def fault() -> str:
        program = await ProgramConnection.start(["cat"], sandbox=SandboxPolicy(SandboxLevel.STRICT))
        try:
            await acquire(program)
            program.send(b"there\n")
            await receive(program)
            (first,) = child_pids(program._transport.get_pid())
            for number in child_pids(first):
                os.kill(number, signal.SIGKILL)
            await receive(program)
        except ConnectionClosed as closed:
            return str(closed)
        except HostFault as error:
            return str(error)
        finally:
            program.release()
            await program.close(b"", 0)
        return ""

    why = asyncio.run(fault())

    own, ours = "the program was killed by signal 9", "the sandbox of a program could not be started, or was killed"
    assert why == (own if kills.killed else ours)
