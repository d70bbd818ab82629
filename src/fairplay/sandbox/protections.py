"""Shut a program in: what it may see, use and reach, and what this machine can do about it.

docs/sandbox.md says what is promised. Everything is done by command lines, of tools that every Linux has and of
bubblewrap; nothing of ours runs in a forked copy of this process.
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
from fairplay.sandbox.policy import MEGABYTE, SandboxLevel, SandboxPolicy
from fairplay.sandbox.process_tree import capture_output, namespace_command, subreaper_command, why_no_namespace
from fairplay.sandbox.seccomp import open_filter, why_no_filter

RESERVED_ADDRESS_BYTES = (
    4096 * MEGABYTE
)  # of addresses, besides the memory: Java and Node reserve as much and never touch it
MAX_PENDING_SIGNALS = 256  # that wait for a program: hundreds of programs leave enough of those that a user may have
MIN_BUBBLEWRAP_VERSION = (0, 8)
TOOLS = {"bwrap": "bubblewrap", "prlimit": "prlimit", "setpriv": "setpriv", "unshare": "unshare"}

JAVA = ("java", "-Xmx256m", "-XX:+UseSerialGC")  # which would take more than a sandbox has
INTERPRETERS: dict[str, tuple[str, ...]] = {  # what runs a file with this ending
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
SHELL_SAFE = re.compile(r"[\w./ :=+@%,-]+")  # words that a shell takes as they are between double quotes


class Protection(msgspec.Struct, frozen=True):
    """Something that a strict sandbox keeps from a program, if this machine can do it."""

    name: str
    about: str
    why_not: str  # "": it is enforced


def parse_sandbox(text: str, warn: Callable[[str], None] = print_warning) -> SandboxPolicy:
    """The sandbox that a person means: auto, strict or none. Auto is strict, or else none with a warning."""
    if text not in ("auto", *(level.value for level in SandboxLevel)):
        raise BadRequest(f"there is no sandbox {text!r}; there is auto, strict and none")
    if text == SandboxLevel.NONE.value:
        return SandboxPolicy(SandboxLevel.NONE)
    lacking = why_not_strict()
    if lacking and text == SandboxLevel.STRICT.value:
        raise BadRequest(f"{lacking}; `fairplay doctor` says more")
    if lacking:
        warn(f"programs run WITHOUT A SANDBOX: {lacking}; `fairplay doctor` says more")
    return SandboxPolicy(SandboxLevel.NONE if lacking else SandboxLevel.STRICT)


def wrap_command(
    command: Sequence[str], sandbox: SandboxPolicy, *, around: Sequence[str] = (), options: Sequence[str] = ()
) -> list[str]:
    """The command line that runs a command, shut in; BadRequest if there is no such program or sandbox.

    If it is strict, there may be words around it, and more options of bubblewrap.
    """
    name = command[0] if command else ""
    program = shutil.which(name)
    if program is None:
        if "/" in name and Path(name).is_file():
            raise BadRequest(f"{name} may not be executed; {suggest_command(command)}")
        hint = "; if a label stands before the =, it may hold neither / nor :" if "=" in name else ""
        raise BadRequest(f"there is no program {name!r}{hint}")
    if sandbox.level is SandboxLevel.NONE:
        kept = subreaper_command() if why_no_namespace() else [*namespace_command(), *subreaper_command()]
        return [*kept, *prlimit_command(sandbox), program, *command[1:]]
    if lacking := why_not_strict():
        raise BadRequest(lacking)
    return wrap_strictly(program, command[1:], sandbox, around, options)


def suggest_command(command: Sequence[str]) -> str:
    """What to write instead for a file that is no program: what runs such files, or else how it becomes one.

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
    """The same for a strict sandbox, without asking whether there is one."""
    inside = bubblewrap_command(program, arguments, sandbox, limits_command=prlimit_command(sandbox), options=options)
    path = os.environ.get("PATH", os.defpath)
    return ["env", "-i", f"PATH={path}", *namespace_command(), *around, *inside]


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
    """What runs a command within limits."""
    if shutil.which("prlimit") is None:
        return []
    wanted = {
        "cpu": sandbox.cpu,
        "data": sandbox.memory,
        "as": sandbox.memory + RESERVED_ADDRESS_BYTES,
        "nofile": sandbox.open_files,
        "fsize": sandbox.file_size,
    }
    if sandbox.level is SandboxLevel.STRICT:  # or else all that the same user runs would count
        wanted |= {"nproc": sandbox.processes, "sigpending": MAX_PENDING_SIGNALS}
    else:
        wanted["core"] = CORE_DUMP_BYTES  # in a strict sandbox its keeper sees to that, and nobody can undo it
    bounds = [f"--{name}={cap_limit(RLIMITS[name], most)}" for name, most in wanted.items()]
    return ["prlimit", *bounds, "--"]


def cap_limit(which: int, wanted: int) -> int:
    """A limit that does not go beyond our own."""
    own = resource.getrlimit(which)[1]
    return wanted if own == resource.RLIM_INFINITY else min(wanted, own)


DEFAULT_POLICY = SandboxPolicy(SandboxLevel.STRICT)
PROTECTIONS = {
    "files": "sees the system, Python and what its command names, and writes nowhere but in a /tmp of its own",
    "network": "reaches nobody, not even on this machine",
    "processes": "sees and signals only its own, and dies with all of them",
    "user": "is nobody in particular, with no rights and no way to get some",
    "filter": "makes no system calls that reach beyond its own processes, or undo what stops them",
    "environment": "knows none of our environment variables",
    "memory": f"has {DEFAULT_POLICY.memory // MEGABYTE} MB for each process, "
    "and is the first to lose them when none are left",
    "computing": f"has {DEFAULT_POLICY.cpu} s for each process",
    "space": f"has {DEFAULT_POLICY.open_files} open files, "
    f"and {DEFAULT_POLICY.space // MEGABYTE} MB in /tmp and /dev/shm each",
    "threads": f"has {DEFAULT_POLICY.processes} threads and processes, all together",
}


@cache
def enforceable_protections() -> tuple[Protection, ...]:
    """What a strict sandbox keeps from a program on this machine: tried out from inside of one, when first asked."""
    held, why_none = probe_sandbox()
    return tuple(
        Protection(name, about, why_none or ("" if held[name] else "tried from inside, it does not hold"))
        for name, about in PROTECTIONS.items()
    )


def why_not_strict() -> str:
    """Why this machine has no strict sandbox; "" if it has one."""
    lacking = [measure for measure in enforceable_protections() if measure.why_not]
    if not lacking:
        return ""
    name = "" if len(lacking) == len(PROTECTIONS) else f"{lacking[0].name}: "
    return f"there is no strict sandbox here ({name}{lacking[0].why_not})"


def probe_sandbox() -> tuple[dict[str, bool], str]:
    """What holds in a strict sandbox, or why there is none at all."""
    if missing := [package for tool, package in TOOLS.items() if shutil.which(tool) is None]:
        return {}, f"{', '.join(missing)}: not installed"
    said, why = capture_output(["bwrap", "--version"])
    version = re.search(r"(\d+)\.(\d+)[.\d]*", said)
    if version is None:
        return {}, f"bubblewrap does not say its version: {why or said.strip()}"
    if tuple(map(int, version.groups())) < MIN_BUBBLEWRAP_VERSION:
        return {}, f"bubblewrap {version[0]} is too old; it takes {'.'.join(map(str, MIN_BUBBLEWRAP_VERSION))} or later"
    if why := why_no_namespace() or why_no_filter():
        return {}, why
    sandbox = SandboxPolicy(SandboxLevel.STRICT, memory=256 * MEGABYTE, processes=8, space=MEGABYTE)
    known = {
        "namespaces": {path.name: str(path.readlink()) for path in Path("/proc/self/ns").iterdir()},
        "variables": [*environment(), "PWD"],
        **msgspec.to_builtins(sandbox),
    }
    imports = "import json, os, resource, signal, sys\nfrom pathlib import Path\nfrom typing import Any"
    source = f"{imports}\n{inspect.getsource(probe)}\nprobe()"
    rules = open_filter()
    try:
        look_around = ["-I", "-S", "-c", source, json.dumps(known)]
        words = wrap_strictly(sys.executable, look_around, sandbox, supervisor_command(-1), ["--seccomp", str(rules)])
        said, why = capture_output(words, [rules])
    finally:
        os.close(rules)
    return ({}, why) if why else (json.loads(said), "")


def probe() -> None:
    """Try from inside what should not be possible, and say what was not. This is a program of its own."""
    known: dict[str, Any] = json.loads(sys.argv[1])
    own = {
        path.name for path in Path("/proc/self/ns").iterdir() if str(path.readlink()) != known["namespaces"][path.name]
    }
    status = Path("/proc/self/status").read_text().split()
    most = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1] for name in ("CPU", "NOFILE", "FSIZE")}
    room = [os.statvfs(place) for place in ("/tmp", "/dev/shm")]

    def fails(work: Any) -> bool:
        try:
            work()
        except (OSError, MemoryError):
            return True
        return False

    def fork() -> None:
        waiting, going = os.pipe()
        for _ in range(known["processes"]):
            if os.fork() == 0:
                os.close(going)
                os.read(waiting, 1)  # until the first of us ends
                os._exit(0)

    held = {
        "files": "mnt" in own
        and not Path("/etc/passwd").exists()
        and not any(os.access(place, os.W_OK) for place in ("/", "/dev", "/usr", sys.prefix)),
        "network": "net" in own,
        "processes": own >= {"pid", "ipc", "uts"},
        "user": os.getuid() != 0
        and int(status[status.index("CapEff:") + 1], 16) == 0
        and status[status.index("NoNewPrivs:") + 1] == "1"
        and os.system("unshare --user true 2>/dev/null") != 0,
        "filter": fails(lambda: os.memfd_create("x")) and fails(lambda: os.kill(0, signal.SIGCONT)),
        "environment": set(os.environ) <= set(known["variables"]),
        "memory": fails(lambda: bytearray(known["memory"]))
        and int(Path("/proc/self/oom_score_adj").read_text()) == 1000,
        "computing": 0 <= most["CPU"] <= known["cpu"],  # and not -1, which is no limit
        "space": 0 <= most["NOFILE"] <= known["open_files"]
        and 0 <= most["FSIZE"] <= known["file_size"]
        and all(disk.f_blocks * disk.f_frsize <= known["space"] for disk in room),
        "threads": fails(fork),
    }
    print(json.dumps(held))
