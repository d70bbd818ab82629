"""Make ready what one program is started in: the words that start it, what it inherits, and who stops it."""

import os
from collections.abc import Sequence

from fairplay.sandbox.bubblewrap import proc_file_options
from fairplay.sandbox.cgroup import ControlGroup, cgroup_support, is_machine_oom_kill, machine_oom_kills
from fairplay.sandbox.freezer import CgroupFreezer, Freezer, NoFreezer, SignalFreezer, supervisor_command
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.proc_files import fixed_proc_files
from fairplay.sandbox.protections import Protection, prlimit_command, why_not_strict, wrap_command
from fairplay.sandbox.seccomp import open_filter, open_memory_file

MAX_STATUS_BYTES = 4096  # bytes
SUPERVISOR_PROCESSES = 16  # processes and threads in a group that are not the program's: those who shut it in


def optional_protections() -> tuple[Protection, ...]:
    """What goes beyond a strict sandbox, and is not to be had everywhere."""
    groups, lacking = cgroup_support(), "it takes a strict sandbox" if why_not_strict() else ""
    way = "by a control group" if groups.freezer else "by signals"
    return (
        Protection("cgroup", "has a limit of memory for all of its processes", "" if groups.memory else groups.missing),
        Protection("freezing", f"is stopped while others are asked, {way}", lacking),
    )


class SandboxedCommand:
    """What one program is started in. Whoever makes one has to close it; once it has started, `leave` it."""

    def __init__(self, command: Sequence[str], sandbox: SandboxPolicy) -> None:
        self.freezer: Freezer = NoFreezer()
        self.group: ControlGroup | None = None
        self.inherited_fds: list[int] = []  # descriptors
        self.enforced: list[str] = []
        self._machine_kills = machine_oom_kills()
        self._status_fd = -1  # of bubblewrap: whether it came to an end with the program
        self._status = b""  # of that
        try:
            if sandbox.level is SandboxLevel.STRICT:
                self.words = self._strict_command(command, sandbox)
            else:
                self.enforced += ["limits"] if prlimit_command(sandbox) else []
                self.words = wrap_command(command, sandbox)
        except BaseException:
            self.close()
            raise

    def close_inherited(self) -> None:
        """Close here what the program has inherited."""
        for number in self.inherited_fds:
            os.close(number)
        self.inherited_fds.clear()

    def host_fault(self, number: int) -> str:
        """Why it is our fault that a program ended, by this signal if any; "": it is its own."""
        own = None if self.group is None else self.group.memory_kills()
        if is_machine_oom_kill(number, machine_oom_kills() - self._machine_kills, own):
            return "the machine ran out of memory, and killed a program that was within its own limits"
        if self._has_supervisor_died() and not (own and own.killed):
            return "a program could not be shut in, or not be kept"
        return ""

    def _has_supervisor_died(self) -> bool:
        """Did those end who shut a program in, and not the program?"""
        if self._status_fd < 0:
            return False
        try:
            self._status += os.read(self._status_fd, MAX_STATUS_BYTES)
        except BlockingIOError:  # somebody of them is still there
            return False
        return b"exit-code" not in self._status

    def close(self) -> None:
        """Let go of all of it."""
        self.close_inherited()
        self.freezer.close()
        if self._status_fd >= 0:
            os.close(self._status_fd)
            self._status_fd = -1
        if self.group is not None:
            self.group.close()

    def _strict_command(self, command: Sequence[str], sandbox: SandboxPolicy) -> list[str]:
        self.enforced = ["namespaces", "filter", "limits"]
        self._status_fd, telling = os.pipe()
        os.set_blocking(self._status_fd, False)
        self.inherited_fds += [telling, rules := open_filter()]
        seen = {name: open_memory_file(text) for name, text in fixed_proc_files().items()}
        self.inherited_fds += seen.values()
        options = ["--seccomp", str(rules), "--json-status-fd", str(telling), *proc_file_options(seen)]
        self.group = ControlGroup.make(sandbox.memory + 2 * sandbox.space, sandbox.processes + SUPERVISOR_PROCESSES)
        around = supervisor_command(-1)
        if self.group is not None and cgroup_support().memory:
            self.enforced.append("cgroup")
        if not sandbox.pondering:
            self.enforced.append("freezing")
            if self.group is not None and self.group.can_freeze:
                self.freezer = CgroupFreezer(self.group)
            else:
                self.freezer = kept = SignalFreezer()
                self.inherited_fds.append(end := kept.supervisor_end.detach())
                around = supervisor_command(end)
        if self.group is not None:
            around += self.group.enter_command()
        return wrap_command(command, sandbox, around=around, options=options)
