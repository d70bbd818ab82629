"""Build sandboxed commands, and test which protections work on this machine.

docs/sandbox.md says what is promised. All of it is done by command lines, of tools that every Linux has and of
bubblewrap; none of our code runs in a fork of this process.
"""

import inspect
import json
import os
import re
import resource
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.referee.referee import print_warning
from fairplay.render.formatting import shell_quote
from fairplay.sandbox.bubblewrap import bubblewrap_command, environment
from fairplay.sandbox.freezer import CORE_DUMP_BYTES, supervisor_command
from fairplay.sandbox.landlock import readable_files, why_no_landlock
from fairplay.sandbox.policy import MEGABYTE, SandboxLevel, SandboxPolicy, parse_levels
from fairplay.sandbox.process_tree import capture_output, namespace_command, subreaper_command, why_no_namespace
from fairplay.sandbox.seccomp import open_filter, why_no_filter
from fairplay.sandbox.visible_files import VisibleFiles

RESERVED_ADDRESS_BYTES = 4096 * MEGABYTE  # besides the memory: Java and Node reserve so many addresses, mostly unused
SPARE_THREADS = 4  # programs that share our user with all else may start so many times their processes
MAX_PENDING_SIGNALS = 256  # of a program: with hundreds of programs, a user still has enough of them
MIN_BUBBLEWRAP_VERSION = (0, 8)
TOOLS = {"bwrap": "bubblewrap", "prlimit": "prlimit", "setpriv": "setpriv", "unshare": "unshare"}

JAVA = ("java", "-Xmx256m", "-XX:+UseSerialGC")  # by default it takes more than a sandbox has
INTERPRETERS: dict[str, tuple[str, ...]] = {  # which run files with this suffix
    ".py": ("python3",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".cjs": ("node",),
    ".java": JAVA,
    ".jar": (*JAVA, "-jar"),
    ".rb": ("ruby",),
    ".pl": ("perl",),
    ".lua": ("lua",),
    ".php": ("php",),
    ".sh": ("sh",),
}
WARNINGS = {
    SandboxLevel.LANDLOCK: "programs are confined by Landlock, and not strictly",
    SandboxLevel.NONE: "programs run WITHOUT A SANDBOX",
}
SHELL_SAFE = re.compile(r"[\w./ :=+@%,-]+")  # text that a shell does not change between double quotes


class Protection(msgspec.Struct, frozen=True):
    """Something that a strict sandbox denies to a program, if this machine can do that."""

    name: str
    about: str
    why_not: str  # "": it is enforced


def parse_sandbox(text: str, warn: Callable[[str], None] = print_warning) -> SandboxPolicy:
    """Parse names of levels: the first that this machine has. Auto is the best one, with a warning if not strict."""
    lacking: list[str] = []
    for level in parse_levels(text):
        if why := why_no_level(level):
            lacking.append(why)
            continue
        if lacking and text == "auto":
            warn(f"{WARNINGS[level]}: {'; '.join(lacking)}; `fairplay doctor` says more")
        return SandboxPolicy(level)
    raise BadRequest(f"{'; '.join(lacking)}; `fairplay doctor` says more")


def why_no_level(level: SandboxLevel) -> str:
    """Why this machine has no sandbox of this level; "" if it has one."""
    if level is SandboxLevel.STRICT:
        return why_not_strict()
    if level is SandboxLevel.LANDLOCK and (why := why_no_landlock()):
        return f"there is no Landlock here ({why})"
    return ""


def check_command(command: Sequence[str], sandbox: SandboxPolicy) -> None:
    """Raise BadRequest if there is no such program or sandbox, or if the program could see what it may not."""
    if sandbox.level is SandboxLevel.LANDLOCK:
        find_landlock_files(command, sandbox)
    else:
        wrap_command(command, sandbox)


def find_landlock_files(command: Sequence[str], sandbox: SandboxPolicy) -> tuple[list[str], VisibleFiles]:
    """A command with the path of its program, and the files that Landlock lets it read."""
    words = [find_program(command), *command[1:]]
    if lacking := why_no_level(SandboxLevel.LANDLOCK):
        raise BadRequest(lacking)
    return words, readable_files(words, sandbox)


def find_program(command: Sequence[str]) -> str:
    """The path of the program of a command; BadRequest if there is none."""
    name = command[0] if command else ""
    program = shutil.which(name)
    if program is not None:
        return program
    if "/" in name and Path(name).is_file():
        raise BadRequest(f"{name} may not be executed; {suggest_command(command)}")
    hint = "; if a label stands before the =, it may hold neither / nor :" if "=" in name else ""
    raise BadRequest(f"there is no program {name!r}{hint}")


def wrap_command(
    command: Sequence[str], sandbox: SandboxPolicy, *, around: Sequence[str] = (), options: Sequence[str] = ()
) -> list[str]:
    """The command line that runs a command in a sandbox; BadRequest if there is no such program or sandbox.

    For a strict sandbox, `around` is a prefix of bubblewrap, and `options` are added to it.
    """
    program = find_program(command)
    if sandbox.level is SandboxLevel.NONE:
        supervised = subreaper_command() if why_no_namespace() else [*namespace_command(), *subreaper_command()]
        return [*supervised, *prlimit_command(sandbox), program, *command[1:]]
    if lacking := why_not_strict():
        raise BadRequest(lacking)
    return wrap_strictly(program, command[1:], sandbox, around, options)


def suggest_command(command: Sequence[str]) -> str:
    """What to write for a file that is not executable: a command with its interpreter, or how to make it executable.

    >>> print(suggest_command(["./bot.js", "--fast"]))
    write exec:"node ./bot.js --fast"
    >>> print(suggest_command(["./bot"]))
    to make it a program: chmod +x ./bot
    """
    runner = INTERPRETERS.get(Path(command[0]).suffix.lower())
    if runner is None:
        return f"to make it a program: chmod +x {shell_quote(command[0])}"
    words = shlex.join([*runner, *command])
    return f'write exec:"{words}"' if SHELL_SAFE.fullmatch(words) else f"write {shell_quote(f'exec:{words}')}"


def wrap_strictly(
    program: str, arguments: Sequence[str], sandbox: SandboxPolicy, around: Sequence[str], options: Sequence[str]
) -> list[str]:
    """The same for a strict sandbox, without checking that there is one."""
    inside = bubblewrap_command(program, arguments, sandbox, limits_command=prlimit_command(sandbox), options=options)
    path = os.environ.get("PATH", os.defpath)
    return ["env", "-i", f"PATH={path}", *namespace_command(proc=True), *around, *inside]


RLIMITS = {
    "core": resource.RLIMIT_CORE,
    "cpu": resource.RLIMIT_CPU,
    "data": resource.RLIMIT_DATA,
    "as": resource.RLIMIT_AS,
    "nofile": resource.RLIMIT_NOFILE,
    "fsize": resource.RLIMIT_FSIZE,
    "nproc": resource.RLIMIT_NPROC,
    "sigpending": resource.RLIMIT_SIGPENDING,
}


def prlimit_command(sandbox: SandboxPolicy) -> list[str]:
    """The prefix that runs a command within limits."""
    if shutil.which("prlimit") is None:
        return []
    bounds = [f"--{name}={cap_limit(RLIMITS[name], most)}" for name, most in resource_limits(sandbox).items()]
    return ["prlimit", *bounds, "--"]


def resource_limits(sandbox: SandboxPolicy) -> dict[str, int]:
    """The limits of a process."""
    wanted = {
        "cpu": sandbox.cpu,
        "data": sandbox.memory,
        "as": sandbox.memory + RESERVED_ADDRESS_BYTES,
        "nofile": sandbox.open_files,
        "fsize": sandbox.file_size,
    }
    if sandbox.level is SandboxLevel.STRICT:  # otherwise all processes of our user would count
        wanted["nproc"] = sandbox.processes
    else:
        wanted["core"] = CORE_DUMP_BYTES  # in a strict sandbox its supervisor does this, and no program can undo it
    if sandbox.level is not SandboxLevel.NONE:
        wanted["sigpending"] = MAX_PENDING_SIGNALS
    if sandbox.level is SandboxLevel.LANDLOCK:
        wanted["nproc"] = running_threads() + SPARE_THREADS * sandbox.processes
    return wanted


def running_threads() -> int:
    """How many threads this machine runs, at least as many as our user: so many count for its limit."""
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])


def cap_limit(which: int, wanted: int) -> int:
    """A limit, at most our own."""
    own = resource.getrlimit(which)[1]
    return wanted if own == resource.RLIM_INFINITY else min(wanted, own)


DEFAULT_POLICY = SandboxPolicy(SandboxLevel.STRICT)
PROTECTIONS = {
    "files": "sees the system, Python and what its command names, and writes nowhere but in a /tmp of its own",
    "network": "has no network, not even on this machine",
    "processes": "sees and signals only its own, and dies with all of them",
    "user": "is a user without rights, and with no way to get some",
    "filter": "makes no system calls that affect other processes, or continue it while it is stopped",
    "environment": "knows none of our environment variables",
    "memory": f"has {DEFAULT_POLICY.memory // MEGABYTE} MB for each process, "
    "and is killed first when the machine has none left",
    "computing": f"has {DEFAULT_POLICY.cpu} s for each process",
    "space": f"has {DEFAULT_POLICY.open_files} open files, "
    f"and {DEFAULT_POLICY.space // MEGABYTE} MB in /tmp and /dev/shm each",
    "threads": f"has {DEFAULT_POLICY.processes} threads and processes, all together",
}


@cache
def enforceable_protections() -> tuple[Protection, ...]:
    """The protections of a strict sandbox on this machine, found by trying inside of one at the first call."""
    holds, why_none = probe_sandbox()
    return tuple(
        Protection(name, about, why_none or ("" if holds[name] else "a test from inside shows that it does not hold"))
        for name, about in PROTECTIONS.items()
    )


def why_not_strict() -> str:
    """Why this machine has no strict sandbox; "" if it has one."""
    missing = [protection for protection in enforceable_protections() if protection.why_not]
    if not missing:
        return ""
    name = "" if len(missing) == len(PROTECTIONS) else f"{missing[0].name}: "
    return f"there is no strict sandbox here ({name}{missing[0].why_not})"


def probe_sandbox() -> tuple[dict[str, bool], str]:
    """Which protections hold in a strict sandbox, or why there is none at all."""
    if missing := [package for tool, package in TOOLS.items() if shutil.which(tool) is None]:
        return {}, f"{', '.join(missing)}: not installed"
    output, why = capture_output(["bwrap", "--version"])
    version = re.search(r"(\d+)\.(\d+)[.\d]*", output)
    if version is None:
        return {}, f"bubblewrap does not show its version: {why or output.strip()}"
    if tuple(map(int, version.groups())) < MIN_BUBBLEWRAP_VERSION:
        return (
            {},
            f"bubblewrap {version[0]} is too old; fairplay needs {'.'.join(map(str, MIN_BUBBLEWRAP_VERSION))} or later",
        )
    if why := why_no_namespace() or why_no_filter():
        return {}, why
    sandbox = SandboxPolicy(SandboxLevel.STRICT, memory=256 * MEGABYTE, processes=8, space=MEGABYTE)
    expected = {
        "namespaces": {path.name: str(path.readlink()) for path in Path("/proc/self/ns").iterdir()},
        "variables": [*environment(), "PWD"],
        **msgspec.to_builtins(sandbox),
    }
    imports = "import json, os, resource, signal, sys\nfrom pathlib import Path\nfrom typing import Any"
    source = f"{imports}\n{inspect.getsource(probe)}\nprobe()"
    filter_fd = open_filter()
    try:
        arguments = ["-I", "-S", "-c", source, json.dumps(expected)]
        options = ["--seccomp", str(filter_fd)]
        command = wrap_strictly(sys.executable, arguments, sandbox, supervisor_command(-1), options)
        output, why = capture_output(command, [filter_fd])
    finally:
        os.close(filter_fd)
    return ({}, why) if why else (json.loads(output), "")


def probe() -> None:
    """Try from inside what should not be possible, and print which protections hold. This is a program of its own."""
    expected: dict[str, Any] = json.loads(sys.argv[1])
    own = {
        path.name
        for path in Path("/proc/self/ns").iterdir()
        if str(path.readlink()) != expected["namespaces"][path.name]
    }
    status = Path("/proc/self/status").read_text().split()
    limits = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1] for name in ("CPU", "NOFILE", "FSIZE")}
    disks = [os.statvfs(path) for path in ("/tmp", "/dev/shm")]

    def fails(action: Any) -> bool:
        try:
            action()
        except (OSError, MemoryError):
            return True
        return False

    def fork() -> None:
        read_end, write_end = os.pipe()
        for _ in range(expected["processes"]):
            if os.fork() == 0:
                os.close(write_end)
                os.read(read_end, 1)  # until the first process ends
                os._exit(0)

    holds = {
        "files": "mnt" in own
        and not Path("/etc/passwd").exists()
        and not any(os.access(path, os.W_OK) for path in ("/", "/dev", "/usr", sys.prefix)),
        "network": "net" in own,
        "processes": own >= {"pid", "ipc", "uts"},
        "user": os.getuid() != 0
        and int(status[status.index("CapEff:") + 1], 16) == 0
        and status[status.index("NoNewPrivs:") + 1] == "1"
        and os.system("unshare --user true 2>/dev/null") != 0,
        "filter": fails(lambda: os.memfd_create("x")) and fails(lambda: os.kill(0, signal.SIGCONT)),
        "environment": set(os.environ) <= set(expected["variables"]),
        "memory": fails(lambda: bytearray(expected["memory"]))
        and int(Path("/proc/self/oom_score_adj").read_text()) == 1000,
        "computing": 0 <= limits["CPU"] <= expected["cpu"],  # and not -1, which is no limit
        "space": 0 <= limits["NOFILE"] <= expected["open_files"]
        and 0 <= limits["FSIZE"] <= expected["file_size"]
        and all(disk.f_blocks * disk.f_frsize <= expected["space"] for disk in disks),
        "threads": fails(fork),
    }
    print(json.dumps(holds))
