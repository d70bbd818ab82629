"""Put a program with all its processes into control groups: common limits, a freezer, and a reliable kill.

docs/sandbox.md says where they are available. The name of a group identifies its referee: groups of a referee that
died are removed by the next one.
"""

import itertools
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from fairplay.core.errors import HostFault
from fairplay.sandbox.cgroup_mounts import delegate_controllers, find_own_cgroups, v2_candidates, why_not_writable
from fairplay.sandbox.process_tree import PROBE_TIMEOUT_S, own_pid

REMOVE_TIMEOUT_S = 1.0  # for killed processes to be gone
REMOVE_STALE_TIMEOUT_S = 0.1  # the same, for groups of a dead referee
REMOVE_RETRY_INTERVAL_S = 0.001
MEMORY_MARGIN_BYTES = 1024 * 1024  # the kernel may stop this far below a limit; only in version 1
GROUP_NAME_PATTERN = re.compile(r"fairplay-(\d+)-(\d+)-(\d+)-\d+")
CPU_WEIGHT = 50  # of a program with all its processes; the default is 100, which we have too
CONTROL_FILES = {"freezer": "cgroup.freeze", "memory": "memory.max", "pids": "pids.max", "cpu": "cpu.weight"}
CONTROL_FILES_V1 = {"memory": "memory.limit_in_bytes", "pids": "pids.max", "cpu": "cpu.shares"}  # of version 1
ENTER_SCRIPT = 'while test "$1" != --; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'
GROUP_COUNTER = itertools.count()


class CgroupSupport(msgspec.Struct, frozen=True):
    """What control groups can do for a whole program on this machine."""

    freezer: bool
    memory: bool
    pids: bool
    cpu: bool
    missing: str  # what is missing, and how to get it; "": nothing is


class GroupParent(NamedTuple):
    """A directory where groups are made, and the controllers that they have."""

    directory: Path
    controllers: frozenset[str]


class MemoryKills(msgspec.Struct, frozen=True):
    """The processes of a program that were killed for lack of memory."""

    killed: int  # whether the program or the machine ran out of memory
    at_limit: bool  # did the program reach its own limit?


class ControlGroup:
    """The control groups of one program, one in each hierarchy. The caller has to close it."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self._directories = directories
        self.procs_files = [str(directory / "cgroup.procs") for directory in directories]
        freezers = [
            directory / CONTROL_FILES["freezer"]
            for directory in directories
            if (directory / CONTROL_FILES["freezer"]).exists()
        ]
        self._freezer = os.open(freezers[0], os.O_WRONLY) if freezers else -1

    @classmethod
    def make(cls, memory: int, processes: int) -> "ControlGroup | None":
        """Make groups for a program and its supervisor, which counts too; None: this machine has none."""
        parents, _ = find_group_parents()
        if not parents:
            return None
        name, made = new_group_name(), []
        try:
            for parent in parents:
                directory = parent.directory / name
                directory.mkdir()
                made.append(directory)
                write_limits(directory, parent.controllers, memory, processes)
            return cls(made)
        except OSError as error:
            remove_groups(made, REMOVE_TIMEOUT_S)
            raise HostFault(f"cannot make a control group for a program: {error}") from error

    @property
    def can_freeze(self) -> bool:
        """Is there a freezer?"""
        return self._freezer >= 0

    def enter_command(self) -> list[str]:
        """The prefix that runs a command, with all its processes, in this group."""
        return enter_groups_command(self.procs_files)

    def freeze(self) -> None:
        """Stop all processes of the group, if there is a freezer.

        From now on none returns to its own code. We do not wait until the kernel has stopped the last of them: that
        takes milliseconds, in which they compute nothing.
        """
        self._set_freezer(b"1")

    def thaw(self) -> None:
        """Continue all processes of the group."""
        self._set_freezer(b"0")

    def _set_freezer(self, text: bytes) -> None:
        if self._freezer < 0:
            return
        try:
            os.pwrite(self._freezer, text, 0)
        except OSError as error:
            raise HostFault(f"cannot freeze or thaw a program: {error.strerror}") from error

    def memory_kills(self) -> MemoryKills | None:
        """Its kills for lack of memory so far; None: they are not counted. Call this before `close`."""
        for directory in self._directories:
            if (events := directory / "memory.events").exists():
                counts = read_counters(events)
                return MemoryKills(counts["oom_kill"], counts["oom"] > 0)
            if (control := directory / "memory.oom_control").exists():
                peak, limit = (
                    int((directory / f"memory.{name}_in_bytes").read_text()) for name in ("max_usage", "limit")
                )  # newer kernels leave the count of failures at 0
                return MemoryKills(read_counters(control).get("oom_kill", 0), peak > limit - MEMORY_MARGIN_BYTES)
        return None

    def close(self) -> None:
        """Kill all processes of the group and remove it. Waits at most REMOVE_TIMEOUT_S, and only if there were any."""
        if self._freezer >= 0:
            os.close(self._freezer)
            self._freezer = -1
        remove_groups(self._directories, REMOVE_TIMEOUT_S)
        self._directories = ()


def enter_groups_command(procs_files: Sequence[str]) -> list[str]:
    """The prefix that runs a command in the groups with these cgroup.procs files."""
    return ["sh", "-c", ENTER_SCRIPT, "sh", *procs_files, "--"]


def cgroup_support() -> CgroupSupport:
    """What control groups can do on this machine, found by trying at the first call."""
    parents, why = find_group_parents()
    available = {name for parent in parents for name in parent.controllers}
    missing = [name for name in CONTROL_FILES if name not in available]
    about = f"no {', '.join(missing)}: {why}" if missing else ""
    return CgroupSupport(**{name: name in available for name in CONTROL_FILES}, missing=about)


@cache
def find_group_parents() -> tuple[tuple[GroupParent, ...], str]:
    """The directories where groups are made on this machine, and why controllers are missing."""
    parents, why = find_v2_parent()
    available = {name for parent in parents for name in parent.controllers}
    if os.geteuid() == 0:
        for own in find_own_cgroups():
            if wanted := (own.controllers & set(CONTROL_FILES_V1)) - available:
                added, _ = probe_directory(own.directory, {name: CONTROL_FILES_V1[name] for name in wanted})
                parents += [added] if added else []
                available |= wanted if added else set()
    for parent in parents:
        remove_stale(parent.directory)
    return tuple(parents), why


def find_v2_parent() -> tuple[list[GroupParent], str]:
    """The best directory of version 2, and what it lacks; empty: there is none."""
    why = "cgroup version 2 is not mounted; root can do it: `mount -t cgroup2 none DIRECTORY`"
    for own in (one for one in find_own_cgroups() if not one.controllers):
        probes = []
        for directory in v2_candidates(own):
            delegate_controllers(directory, CONTROL_FILES)
            probes.append(probe_directory(directory, CONTROL_FILES))
        if parents := [parent for parent, _ in probes if parent]:
            best = max(parents, key=lambda parent: len(parent.controllers))
            return [best], f"{best.directory} does not delegate them; docs/sandbox.md says how to change that"
        why = probes[0][1]
    return [], why


def probe_directory(directory: Path, files: dict[str, str]) -> tuple[GroupParent | None, str]:
    """The controllers of a group in this directory, if one can be made and entered; or else why not."""
    group = directory / new_group_name()
    try:
        group.mkdir()
    except OSError as error:
        return None, why_not_writable(directory, error)
    try:
        controllers = frozenset(name for name, file in files.items() if (group / file).exists())
        words = [*enter_groups_command([str(group / "cgroup.procs")]), "true"]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_TIMEOUT_S, check=False
        )
        if done.returncode != 0:
            return None, f"{directory}: no process may enter a group in it"
        return (GroupParent(directory, controllers) if controllers else None), f"{directory} has no {', '.join(files)}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"{directory}: {error}"
    finally:
        remove_groups([group], REMOVE_TIMEOUT_S)


def write_limits(directory: Path, controllers: Iterable[str], memory: int, processes: int) -> None:
    """Set the limits of a group; in version 1 their files have other names."""
    if "memory" in controllers:
        if (directory / "memory.max").exists():
            (directory / "memory.max").write_text(str(memory))
            write_if_there(directory / "memory.swap.max", "0")
            write_if_there(directory / "memory.oom.group", "1")
        else:
            (directory / "memory.limit_in_bytes").write_text(str(memory))
            write_if_there(directory / "memory.memsw.limit_in_bytes", str(memory))
    if "pids" in controllers:
        (directory / "pids.max").write_text(str(processes))
    if "cpu" in controllers:
        write_if_there(directory / "cpu.weight", str(CPU_WEIGHT))
        write_if_there(directory / "cpu.shares", str(1024 * CPU_WEIGHT // 100))


def write_if_there(path: Path, text: str) -> None:
    """Write to a file if the kernel has it."""
    if path.exists():
        path.write_text(text)


def kill_group(directory: Path) -> None:
    """Kill all processes of a group; on old kernels, those that fork meanwhile may have to be killed again."""
    with suppress(OSError):
        if (directory / "cgroup.kill").exists():
            (directory / "cgroup.kill").write_text("1")
            return
        for pid in map(int, (directory / "cgroup.procs").read_text().split()):
            if pid > 0:  # 0 is a process that we cannot see; to kill 0 would kill ourselves
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)


def remove_groups(directories: Iterable[Path], within: float) -> None:
    """Remove groups with all their processes and subgroups. Never raises."""
    until = time.monotonic() + within
    left = [directory for directory in directories if not remove_empty_group(directory)]
    while left and time.monotonic() < until:  # a process that hangs in the kernel is left to the next referee
        for directory in left:
            for subgroup, _, _ in os.walk(directory, topdown=False):
                kill_group(Path(subgroup))
                remove_empty_group(Path(subgroup))
        time.sleep(REMOVE_RETRY_INTERVAL_S)
        left = [directory for directory in left if not remove_empty_group(directory)]


def remove_empty_group(directory: Path) -> bool:
    """Remove an empty group; False: it is not empty."""
    try:
        directory.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def new_group_name() -> str:
    """A unique name that identifies this process, so that others see whether the group is still in use."""
    pid = own_pid()
    return f"fairplay-{pid_namespace_id()}-{pid}-{process_start_time(pid)}-{next(GROUP_COUNTER)}"


def remove_stale(directory: Path) -> None:
    """Remove the groups of referees that have ended."""
    with suppress(OSError):
        for group in directory.iterdir():
            found = GROUP_NAME_PATTERN.fullmatch(group.name)
            if found and int(found[1]) == pid_namespace_id() and process_start_time(found[2]) != found[3]:
                remove_groups([group], REMOVE_STALE_TIMEOUT_S)


def pid_namespace_id() -> int:
    """The id of our process namespace."""
    return Path("/proc/self/ns/pid").stat().st_ino


def process_start_time(pid: str) -> str:
    """When a process was started, in ticks since the boot; "": there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except OSError:
        return ""


def machine_oom_kills() -> int:
    """The number of processes that the kernel killed for lack of memory, of the machine or of a group."""
    try:
        return read_counters(Path("/proc/vmstat")).get("oom_kill", 0)
    except OSError:
        return 0


def is_machine_oom_kill(signal_number: int, machine_kills: int, own: MemoryKills | None) -> bool:
    """Was a program that ended by a signal killed because the machine ran out of memory, through no fault of its own?

    A program can send itself a SIGKILL, so there has to be proof: the kernel has killed since the program was started;
    and if the program's own kills are counted, it lost a process, and never reached its own limit.
    """
    if signal_number != signal.SIGKILL or machine_kills <= 0:
        return False
    return own is None or (own.killed > 0 and not own.at_limit)


def read_counters(path: Path) -> dict[str, int]:
    """The counters in a file: lines with a word and a number."""
    return {word: int(number) for word, number in map(str.split, path.read_text().splitlines())}
