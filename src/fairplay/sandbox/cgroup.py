"""Put a program with all its processes into control groups: limits for them together, a freezer, and a sure end.

docs/sandbox.md says where these can be had. The names of groups tell whose they are: those of a referee that died are
removed by the next one.
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

REMOVE_TIMEOUT_S = 1.0  # seconds for killed processes to be gone
REMOVE_STALE_TIMEOUT_S = 0.1  # the same, for those of a dead referee
REMOVE_RETRY_INTERVAL_S = 0.001
MEMORY_MARGIN_BYTES = 1024 * 1024  # bytes below a limit that may be kept back when it is reached; only in version 1
GROUP_NAME_PATTERN = re.compile(r"fairplay-(\d+)-(\d+)-(\d+)-\d+")
CPU_WEIGHT = (
    50  # of a program on the processors, with all it has started; everybody else has 100, and we are one of them
)
CONTROL_FILES = {"freezer": "cgroup.freeze", "memory": "memory.max", "pids": "pids.max", "cpu": "cpu.weight"}
CONTROL_FILES_V1 = {"memory": "memory.limit_in_bytes", "pids": "pids.max", "cpu": "cpu.shares"}  # of version 1
ENTER_SCRIPT = 'while test "$1" != --; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'
GROUP_COUNTER = itertools.count()


class CgroupSupport(msgspec.Struct, frozen=True):
    """What a program as a whole can be held by on this machine."""

    freezer: bool
    memory: bool
    pids: bool
    cpu: bool
    missing: str  # what is missing, and how a host gets it; "": nothing is


class GroupParent(NamedTuple):
    """A directory where groups are made, and what holds those who are in them."""

    directory: Path
    controllers: frozenset[str]


class MemoryKills(msgspec.Struct, frozen=True):
    """What the lack of memory did to a program."""

    killed: int  # processes of it, whoever ran out of memory
    at_limit: bool  # it came to its own limit


class ControlGroup:
    """The control groups of one program, one in each hierarchy. Whoever makes one has to close it."""

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
        """Groups for a program and whoever shuts it in, who counts too; None: there are none on this machine."""
        found, _ = find_group_parents()
        if not found:
            return None
        name, made = new_group_name(), []
        try:
            for place in found:
                directory = place.directory / name
                directory.mkdir()
                made.append(directory)
                write_limits(directory, place.controllers, memory, processes)
            return cls(made)
        except OSError as error:
            remove_groups(made, REMOVE_TIMEOUT_S)
            raise HostFault(f"a program cannot have a control group: {error}") from error

    @property
    def can_freeze(self) -> bool:
        """Can it be stopped?"""
        return self._freezer >= 0

    def enter_command(self) -> list[str]:
        """What runs a command in here, with all that it will start."""
        return enter_groups_command(self.procs_files)

    def freeze(self) -> None:
        """Stop everybody in here, where there is a freezer.

        Nobody gets back to its own code from now on. We do not wait until the kernel has put the last of them aside:
        that takes milliseconds, and they compute nothing meanwhile.
        """
        self._set_freezer(b"1")

    def thaw(self) -> None:
        """Let them go on."""
        self._set_freezer(b"0")

    def _set_freezer(self, text: bytes) -> None:
        if self._freezer < 0:
            return
        try:
            os.pwrite(self._freezer, text, 0)
        except OSError as error:
            raise HostFault(f"a program cannot be frozen or thawed: {error.strerror}") from error

    def memory_kills(self) -> MemoryKills | None:
        """What the lack of memory did to it so far; None: nobody counts. To be asked before it is closed."""
        for directory in self._directories:
            if (events := directory / "memory.events").exists():
                counts = read_counters(events)
                return MemoryKills(counts["oom_kill"], counts["oom"] > 0)
            if (control := directory / "memory.oom_control").exists():
                most, limit = (
                    int((directory / f"memory.{name}_in_bytes").read_text()) for name in ("max_usage", "limit")
                )  # there is a count of failures too, but newer kernels leave it at 0
                return MemoryKills(read_counters(control).get("oom_kill", 0), most > limit - MEMORY_MARGIN_BYTES)
        return None

    def close(self) -> None:
        """Kill all processes in the group and remove it. Waits at most REMOVE_TIMEOUT_S, and only if there were any."""
        if self._freezer >= 0:
            os.close(self._freezer)
            self._freezer = -1
        remove_groups(self._directories, REMOVE_TIMEOUT_S)
        self._directories = ()


def enter_groups_command(entrances: Sequence[str]) -> list[str]:
    """What runs a command in the groups that have these entrances."""
    return ["sh", "-c", ENTER_SCRIPT, "sh", *entrances, "--"]


def cgroup_support() -> CgroupSupport:
    """What there is on this machine: tried out when first asked."""
    found, why = find_group_parents()
    held = {name for place in found for name in place.controllers}
    missing = [name for name in CONTROL_FILES if name not in held]
    about = f"no {', '.join(missing)}: {why}" if missing else ""
    return CgroupSupport(**{name: name in held for name in CONTROL_FILES}, missing=about)


@cache
def find_group_parents() -> tuple[tuple[GroupParent, ...], str]:
    """Where groups are made on this machine, and why there is no more of them."""
    found, why = find_v2_parent()
    held = {name for place in found for name in place.controllers}
    if os.geteuid() == 0:
        for own in find_own_cgroups():
            if wanted := (own.controllers & set(CONTROL_FILES_V1)) - held:
                place, _ = probe_directory(own.directory, {name: CONTROL_FILES_V1[name] for name in wanted})
                found += [place] if place else []
                held |= wanted if place else set()
    for place in found:
        remove_stale(place.directory)
    return tuple(found), why


def find_v2_parent() -> tuple[list[GroupParent], str]:
    """The best place in a hierarchy of version 2, and what it lacks; empty: there is none."""
    why = "cgroup version 2 is not mounted; root can do it: `mount -t cgroup2 none DIRECTORY`"
    for own in (one for one in find_own_cgroups() if not one.controllers):
        looks = []
        for directory in v2_candidates(own):
            delegate_controllers(directory, CONTROL_FILES)
            looks.append(probe_directory(directory, CONTROL_FILES))
        if found := [place for place, _ in looks if place]:
            best = max(found, key=lambda place: len(place.controllers))
            return [best], f"{best.directory} does not hand them on; docs/sandbox.md says how it would"
        why = looks[0][1]
    return [], why


def probe_directory(directory: Path, files: dict[str, str]) -> tuple[GroupParent | None, str]:
    """What a group in this directory is held by, if there can be one and a process can enter it; and why not."""
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
            return None, f"{directory}: no process may enter a group in there"
        return (GroupParent(directory, controllers) if controllers else None), f"{directory} has no {', '.join(files)}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"{directory}: {error}"
    finally:
        remove_groups([group], REMOVE_TIMEOUT_S)


def write_limits(directory: Path, controllers: Iterable[str], memory: int, processes: int) -> None:
    """Write down the limits of a group; those of version 1 have other names."""
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
    """Write to a file that not every kernel has."""
    if path.exists():
        path.write_text(text)


def kill_group(directory: Path) -> None:
    """Kill everybody in a group; who starts others meanwhile may have to be killed again, where the kernel is old."""
    with suppress(OSError):
        if (directory / "cgroup.kill").exists():
            (directory / "cgroup.kill").write_text("1")
            return
        for number in map(int, (directory / "cgroup.procs").read_text().split()):
            if number > 0:  # 0 is whoever we cannot see, and to kill it would mean ourselves
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(number, signal.SIGKILL)


def remove_groups(directories: Iterable[Path], within: float) -> None:
    """Remove groups, with whoever is in them and whatever groups these have made. Never raises."""
    until = time.monotonic() + within
    left = [directory for directory in directories if not remove_empty_group(directory)]
    while left and time.monotonic() < until:  # whoever hangs in the kernel is left to the next referee
        for directory in left:
            for below, _, _ in os.walk(directory, topdown=False):
                kill_group(Path(below))
                remove_empty_group(Path(below))
        time.sleep(REMOVE_RETRY_INTERVAL_S)
        left = [directory for directory in left if not remove_empty_group(directory)]


def remove_empty_group(directory: Path) -> bool:
    """Remove an empty group; is it gone?"""
    try:
        directory.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def new_group_name() -> str:
    """A name that nobody else uses, and that tells whose group it is: ours, as long as we are there."""
    number = own_pid()
    return f"fairplay-{pid_namespace_id()}-{number}-{process_start_time(number)}-{next(GROUP_COUNTER)}"


def remove_stale(directory: Path) -> None:
    """Remove the groups of referees that are not there any more."""
    with suppress(OSError):
        for group in directory.iterdir():
            found = GROUP_NAME_PATTERN.fullmatch(group.name)
            if found and int(found[1]) == pid_namespace_id() and process_start_time(found[2]) != found[3]:
                remove_groups([group], REMOVE_STALE_TIMEOUT_S)


def pid_namespace_id() -> int:
    """The namespace in which the numbers of processes mean something to us."""
    return Path("/proc/self/ns/pid").stat().st_ino


def process_start_time(number: str) -> str:
    """When a process was started, in ticks since the machine was; "": there is none."""
    try:
        return Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except OSError:
        return ""


def machine_oom_kills() -> int:
    """How many processes were killed on this machine because memory ran out, of it or of a group."""
    try:
        return read_counters(Path("/proc/vmstat")).get("oom_kill", 0)
    except OSError:
        return 0


def is_machine_oom_kill(number: int, machine_kills: int, own: MemoryKills | None) -> bool:
    """Was a program that ended by a signal killed because the machine ran out of memory, and not by its own doing?

    Anybody can send itself a SIGKILL, so it has to be proven: the machine has killed since the program was started;
    and if the program's own kills are counted, that was one of its processes, which never came to their own limit.
    """
    if number != signal.SIGKILL or machine_kills <= 0:
        return False
    return own is None or (own.killed > 0 and not own.at_limit)


def read_counters(path: Path) -> dict[str, int]:
    """A file of lines with a word and a number."""
    return {word: int(number) for word, number in map(str.split, path.read_text().splitlines())}
