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
from fairplay.sandbox.hierarchy import candidates, hand_on, mounted, why_not_writable
from fairplay.sandbox.process_tree import PATIENCE, own_number

REMOVE_WAIT = 1.0  # seconds for killed processes to be gone
STALE_WAIT = 0.1  # the same, for those of a dead referee
PAUSE = 0.001
NEARLY = 1024 * 1024  # bytes below a limit that may be kept back when it is reached; only in version 1
NAME = re.compile(r"fairplay-(\d+)-(\d+)-(\d+)-\d+")
WEIGHT = 50  # of a program on the processors, with all it has started; everybody else has 100, and we are one of them
FILES = {"freezer": "cgroup.freeze", "memory": "memory.max", "pids": "pids.max", "cpu": "cpu.weight"}
OLD_FILES = {"memory": "memory.limit_in_bytes", "pids": "pids.max", "cpu": "cpu.shares"}  # of version 1
ENTER = 'while test "$1" != --; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'
COUNT = itertools.count()


class Available(msgspec.Struct, frozen=True):
    """What a program as a whole can be held by on this machine."""

    freezer: bool
    memory: bool
    pids: bool
    cpu: bool
    why: str  # what is missing, and how a host gets it; "": nothing is


class Place(NamedTuple):
    """A folder where groups are made, and what holds those who are in them."""

    folder: Path
    controllers: frozenset[str]


class MemoryKills(msgspec.Struct, frozen=True):
    """What the lack of memory did to a program."""

    killed: int  # processes of it, whoever ran out of memory
    at_limit: bool  # it came to its own limit


class Group:
    """The control groups of one program, one in each hierarchy. Whoever makes one has to close it."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self.entrances = [str(folder / "cgroup.procs") for folder in folders]
        freezers = [folder / FILES["freezer"] for folder in folders if (folder / FILES["freezer"]).exists()]
        self._freezer = os.open(freezers[0], os.O_WRONLY) if freezers else -1

    @classmethod
    def make(cls, memory: int, processes: int) -> "Group | None":
        """Groups for a program and whoever shuts it in, who counts too; None: there are none on this machine."""
        found, _ = places()
        if not found:
            return None
        name, made = new_name(), []
        try:
            for place in found:
                folder = place.folder / name
                folder.mkdir()
                made.append(folder)
                limit(folder, place.controllers, memory, processes)
            return cls(made)
        except OSError as error:
            remove(made, REMOVE_WAIT)
            raise HostFault(f"a program cannot have a control group: {error}") from error

    @property
    def can_freeze(self) -> bool:
        """Can it be stopped?"""
        return self._freezer >= 0

    def enter(self) -> list[str]:
        """What runs a command in here, with all that it will start."""
        return entering(self.entrances)

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
        for folder in self._folders:
            if (events := folder / "memory.events").exists():
                counts = numbers(events)
                return MemoryKills(counts["oom_kill"], counts["oom"] > 0)
            if (control := folder / "memory.oom_control").exists():
                most, limit = (
                    int((folder / f"memory.{name}_in_bytes").read_text()) for name in ("max_usage", "limit")
                )  # there is a count of failures too, but newer kernels leave it at 0
                return MemoryKills(numbers(control).get("oom_kill", 0), most > limit - NEARLY)
        return None

    def close(self) -> None:
        """Kill everybody in here and remove it. Waits no longer than REMOVE_WAIT, and only if somebody was left."""
        if self._freezer >= 0:
            os.close(self._freezer)
            self._freezer = -1
        remove(self._folders, REMOVE_WAIT)
        self._folders = ()


def entering(entrances: Sequence[str]) -> list[str]:
    """What runs a command in the groups that have these entrances."""
    return ["sh", "-c", ENTER, "sh", *entrances, "--"]


def available() -> Available:
    """What there is on this machine: tried out when first asked."""
    found, why = places()
    held = {name for place in found for name in place.controllers}
    missing = [name for name in FILES if name not in held]
    about = f"no {', '.join(missing)}: {why}" if missing else ""
    return Available(**{name: name in held for name in FILES}, why=about)


@cache
def places() -> tuple[tuple[Place, ...], str]:
    """Where groups are made on this machine, and why there is no more of them."""
    found, why = newest()
    held = {name for place in found for name in place.controllers}
    if os.geteuid() == 0:
        for own in mounted():
            if wanted := (own.controllers & set(OLD_FILES)) - held:
                place, _ = tried(own.folder, {name: OLD_FILES[name] for name in wanted})
                found += [place] if place else []
                held |= wanted if place else set()
    for place in found:
        remove_stale(place.folder)
    return tuple(found), why


def newest() -> tuple[list[Place], str]:
    """The best place in a hierarchy of version 2, and what it lacks; empty: there is none."""
    why = "cgroup version 2 is not mounted; root can do it: `mount -t cgroup2 none DIRECTORY`"
    for own in (one for one in mounted() if not one.controllers):
        looks = []
        for folder in candidates(own):
            hand_on(folder, FILES)
            looks.append(tried(folder, FILES))
        if found := [place for place, _ in looks if place]:
            best = max(found, key=lambda place: len(place.controllers))
            return [best], f"{best.folder} does not hand them on; docs/sandbox.md says how it would"
        why = looks[0][1]
    return [], why


def tried(folder: Path, files: dict[str, str]) -> tuple[Place | None, str]:
    """What a group in this folder is held by, if there can be one and a process can enter it; and why not."""
    group = folder / new_name()
    try:
        group.mkdir()
    except OSError as error:
        return None, why_not_writable(folder, error)
    try:
        controllers = frozenset(name for name, file in files.items() if (group / file).exists())
        words = [*entering([str(group / "cgroup.procs")]), "true"]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
        if done.returncode != 0:
            return None, f"{folder}: no process may enter a group in there"
        return (Place(folder, controllers) if controllers else None), f"{folder} has no {', '.join(files)}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"{folder}: {error}"
    finally:
        remove([group], REMOVE_WAIT)


def limit(folder: Path, controllers: Iterable[str], memory: int, processes: int) -> None:
    """Write down the limits of a group; those of version 1 have other names."""
    if "memory" in controllers:
        if (folder / "memory.max").exists():
            (folder / "memory.max").write_text(str(memory))
            write_if_there(folder / "memory.swap.max", "0")
            write_if_there(folder / "memory.oom.group", "1")
        else:
            (folder / "memory.limit_in_bytes").write_text(str(memory))
            write_if_there(folder / "memory.memsw.limit_in_bytes", str(memory))
    if "pids" in controllers:
        (folder / "pids.max").write_text(str(processes))
    if "cpu" in controllers:
        write_if_there(folder / "cpu.weight", str(WEIGHT))
        write_if_there(folder / "cpu.shares", str(1024 * WEIGHT // 100))


def write_if_there(path: Path, text: str) -> None:
    """Write to a file that not every kernel has."""
    if path.exists():
        path.write_text(text)


def kill(folder: Path) -> None:
    """Kill everybody in a group; who starts others meanwhile may have to be killed again, where the kernel is old."""
    with suppress(OSError):
        if (folder / "cgroup.kill").exists():
            (folder / "cgroup.kill").write_text("1")
            return
        for number in map(int, (folder / "cgroup.procs").read_text().split()):
            if number > 0:  # 0 is whoever we cannot see, and to kill it would mean ourselves
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(number, signal.SIGKILL)


def remove(folders: Iterable[Path], within: float) -> None:
    """Remove groups, with whoever is in them and whatever groups these have made. Never raises."""
    until = time.monotonic() + within
    left = [folder for folder in folders if not removed(folder)]
    while left and time.monotonic() < until:  # whoever hangs in the kernel is left to the next referee
        for folder in left:
            for below, _, _ in os.walk(folder, topdown=False):
                kill(Path(below))
                removed(Path(below))
        time.sleep(PAUSE)
        left = [folder for folder in left if not removed(folder)]


def removed(folder: Path) -> bool:
    """Remove an empty group; is it gone?"""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def new_name() -> str:
    """A name that nobody else uses, and that tells whose group it is: ours, as long as we are there."""
    number = own_number()
    return f"fairplay-{namespace_number()}-{number}-{started(number)}-{next(COUNT)}"


def remove_stale(folder: Path) -> None:
    """Remove the groups of referees that are not there any more."""
    with suppress(OSError):
        for group in folder.iterdir():
            found = NAME.fullmatch(group.name)
            if found and int(found[1]) == namespace_number() and started(found[2]) != found[3]:
                remove([group], STALE_WAIT)


def namespace_number() -> int:
    """The namespace in which the numbers of processes mean something to us."""
    return Path("/proc/self/ns/pid").stat().st_ino


def started(number: str) -> str:
    """When a process was started, in ticks since the machine was; "": there is none."""
    try:
        return Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except OSError:
        return ""


def machine_oom_kills() -> int:
    """How many processes were killed on this machine because memory ran out, of it or of a group."""
    try:
        return numbers(Path("/proc/vmstat")).get("oom_kill", 0)
    except OSError:
        return 0


def was_the_machine(number: int, machine_kills: int, own: MemoryKills | None) -> bool:
    """Was a program that ended by a signal killed because the machine ran out of memory, and not by its own doing?

    Anybody can send itself a SIGKILL, so it has to be proven: the machine has killed since the program was started;
    and if the program's own kills are counted, that was one of its processes, which never came to their own limit.
    """
    if number != signal.SIGKILL or machine_kills <= 0:
        return False
    return own is None or (own.killed > 0 and not own.at_limit)


def numbers(path: Path) -> dict[str, int]:
    """A file of lines with a word and a number."""
    return {word: int(number) for word, number in map(str.split, path.read_text().splitlines())}
