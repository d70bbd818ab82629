"""Prepare a program to run in a sandbox: its command line, inherited descriptors, control group and freezer."""

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress

from fairplay.sandbox.bubblewrap import proc_file_options
from fairplay.sandbox.cgroup import ControlGroup, cgroup_support, is_machine_oom_kill, machine_oom_kills
from fairplay.sandbox.freezer import CgroupFreezer, Freezer, NoFreezer, SignalFreezer, supervisor_command
from fairplay.sandbox.landlock import landlock_abi, landlock_command, landlock_config, why_no_landlock
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.proc_files import fixed_proc_files
from fairplay.sandbox.protections import (
    RLIMITS,
    Protection,
    cap_limit,
    find_landlock_files,
    prlimit_command,
    resource_limits,
    why_not_strict,
    wrap_command,
)
from fairplay.sandbox.seccomp import open_filter, open_memory_file

MAX_STATUS_BYTES = 4096
SUPERVISOR_PROCESSES = 16  # processes and threads in a group that belong to the sandbox, and not to the program


def optional_protections() -> tuple[Protection, ...]:
    """Protections beyond a strict sandbox, which not every machine has."""
    groups = cgroup_support()
    why_no_freezer = "it takes a sandbox" if why_not_strict() and why_no_landlock() else ""
    way = "by a control group" if groups.freezer else "by signals"
    return (
        Protection("cgroup", "has a limit of memory for all of its processes", "" if groups.memory else groups.missing),
        Protection("freezing", f"is stopped while others are asked, {way}", why_no_freezer),
    )


class SandboxedCommand:
    """A program's command in its sandbox. The caller has to close it, and to call `close_inherited` after the start."""

    def __init__(self, command: Sequence[str], sandbox: SandboxPolicy) -> None:
        self.freezer: Freezer = NoFreezer()
        self.group: ControlGroup | None = None
        self.inherited_fds: list[int] = []
        self.enforced: list[str] = []
        self._machine_kills = machine_oom_kills()
        self._status_fd = -1  # the sandbox writes to it whether it ended with the program
        self._status = b""
        self._directory = ""  # where a program confined by Landlock may write
        try:
            if sandbox.level is SandboxLevel.STRICT:
                self.words = self._strict_command(command, sandbox)
            elif sandbox.level is SandboxLevel.LANDLOCK:
                self.words = self._landlock_command(command, sandbox)
            else:
                self.enforced += ["limits"] if prlimit_command(sandbox) else []
                self.words = wrap_command(command, sandbox)
        except BaseException:
            self.close()
            raise

    def close_inherited(self) -> None:
        """Close our copies of the descriptors that the program has inherited."""
        for fd in self.inherited_fds:
            os.close(fd)
        self.inherited_fds.clear()

    def host_fault(self, signal_number: int) -> str:
        """Why the host is to blame for the end of a program, by this signal if any; "": the program is."""
        own = None if self.group is None else self.group.memory_kills()
        if is_machine_oom_kill(signal_number, machine_oom_kills() - self._machine_kills, own):
            return "the machine ran out of memory, and killed a program that was within its own limits"
        if self._has_supervisor_died() and not (own and own.killed):
            return "the sandbox of a program could not be started, or was killed"
        return ""

    def _has_supervisor_died(self) -> bool:
        """Did the processes of the sandbox end before the program?"""
        if self._status_fd < 0:
            return False
        try:
            self._status += os.read(self._status_fd, MAX_STATUS_BYTES)
        except BlockingIOError:  # one of them is still running
            return False
        return b"exit-code" not in self._status

    def close(self) -> None:
        """Release all resources, and kill all processes in the group."""
        self.close_inherited()
        self.freezer.close()
        if self._status_fd >= 0:
            os.close(self._status_fd)
            self._status_fd = -1
        if self.group is not None:
            self.group.close()
        if self._directory:  # its supervisor has removed it, if there was one
            with suppress(OSError):
                os.rmdir(self._directory)  # noqa: PTH106 - nothing but an empty directory

    def _strict_command(self, command: Sequence[str], sandbox: SandboxPolicy) -> list[str]:
        self.enforced = ["namespaces", "filter", "limits"]
        self.inherited_fds += [status_writer := self._open_status(), filter_fd := open_filter()]
        proc_files = {name: open_memory_file(text) for name, text in fixed_proc_files().items()}
        self.inherited_fds += proc_files.values()
        options = ["--seccomp", str(filter_fd), "--json-status-fd", str(status_writer), *proc_file_options(proc_files)]
        around = supervisor_command(self._open_control(sandbox))
        if self.group is not None:
            around += self.group.enter_command()
        return wrap_command(command, sandbox, around=around, options=options)

    def _landlock_command(self, command: Sequence[str], sandbox: SandboxPolicy) -> list[str]:
        words, visible = find_landlock_files(command, sandbox)
        self.enforced = [f"landlock-{landlock_abi()}", "filter", "limits"]
        self.inherited_fds.append(status_writer := self._open_status())
        control_fd = self._open_control(sandbox)
        self._directory = tempfile.mkdtemp(prefix="fairplay-")
        config = landlock_config(
            words,
            visible,
            limits={RLIMITS[name]: cap_limit(RLIMITS[name], most) for name, most in resource_limits(sandbox).items()},
            directory=self._directory,
            procs_files=[] if self.group is None else self.group.procs_files,
            control_fd=control_fd,
            status_fd=status_writer,
        )
        self.inherited_fds.append(config_fd := open_memory_file(config))
        return landlock_command(config_fd)

    def _open_status(self) -> int:
        """The end of a pipe to which the sandbox writes that it ended with the program."""
        self._status_fd, status_writer = os.pipe()
        os.set_blocking(self._status_fd, False)
        return status_writer

    def _open_control(self, sandbox: SandboxPolicy) -> int:
        """Make control groups and a freezer; the socket by which the supervisor is told to stop, or -1."""
        self.group = ControlGroup.make(sandbox.memory + 2 * sandbox.space, sandbox.processes + SUPERVISOR_PROCESSES)
        if self.group is not None and cgroup_support().memory:
            self.enforced.append("cgroup")
        if sandbox.pondering:
            return -1
        self.enforced.append("freezing")
        if self.group is not None and self.group.can_freeze:
            self.freezer = CgroupFreezer(self.group)
            return -1
        self.freezer = signal_freezer = SignalFreezer()
        self.inherited_fds.append(fd := signal_freezer.supervisor_end.detach())
        return fd
