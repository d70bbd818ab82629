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
from fairplay.referee.host import complain
from fairplay.render.words import quoted
from fairplay.sandbox.bubblewrap import environment, shut_in
from fairplay.sandbox.filter import opened, why_no_filter
from fairplay.sandbox.freezing import NO_CORE, keeper
from fairplay.sandbox.level import MEGABYTE, Level, Sandbox
from fairplay.sandbox.process_tree import namespace, output_of, subreaper, why_no_namespace

RESERVED = 4096 * MEGABYTE  # of addresses, besides the memory: Java and Node reserve as much and never touch it
SIGNALS = 256  # that wait for a program: hundreds of programs leave enough of those that a user may have
OLDEST_BUBBLEWRAP = (0, 8)
TOOLS = {"bwrap": "bubblewrap", "prlimit": "prlimit", "setpriv": "setpriv", "unshare": "unshare"}

JAVA = ("java", "-Xmx256m", "-XX:+UseSerialGC")  # which would take more than a sandbox has
RUNNERS: dict[str, tuple[str, ...]] = {  # what runs a file with this ending
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
PLAIN = re.compile(r"[\w./ :=+@%,-]+")  # words that a shell takes as they are between double quotes


class Measure(msgspec.Struct, frozen=True):
    """Something that a strict sandbox keeps from a program, if this machine can do it."""

    name: str
    about: str
    why_not: str  # "": it is enforced


def sandbox_from(text: str, warn: Callable[[str], None] = complain) -> Sandbox:
    """The sandbox that a person means: auto, strict or none. Auto is strict, or else none with a warning."""
    if text not in ("auto", *(level.value for level in Level)):
        raise BadRequest(f"there is no sandbox {text!r}; there is auto, strict and none")
    if text == Level.NONE.value:
        return Sandbox(Level.NONE)
    lacking = why_not_strict()
    if lacking and text == Level.STRICT.value:
        raise BadRequest(f"{lacking}; `fairplay doctor` says more")
    if lacking:
        warn(f"programs run WITHOUT A SANDBOX: {lacking}; `fairplay doctor` says more")
    return Sandbox(Level.NONE if lacking else Level.STRICT)


def wrap(
    command: Sequence[str], sandbox: Sandbox, *, around: Sequence[str] = (), options: Sequence[str] = ()
) -> list[str]:
    """The command line that runs a command, shut in; BadRequest if there is no such program or sandbox.

    If it is strict, there may be words around it, and more options of bubblewrap.
    """
    name = command[0] if command else ""
    program = shutil.which(name)
    if program is None:
        if "/" in name and Path(name).is_file():
            raise BadRequest(f"{name} may not be executed; {how_to_run(command)}")
        hint = "; if a label stands before the =, it may hold neither / nor :" if "=" in name else ""
        raise BadRequest(f"there is no program {name!r}{hint}")
    if sandbox.level is Level.NONE:
        kept = subreaper() if why_no_namespace() else [*namespace(), *subreaper()]
        return [*kept, *limits(sandbox), program, *command[1:]]
    if lacking := why_not_strict():
        raise BadRequest(lacking)
    return strictly(program, command[1:], sandbox, around, options)


def how_to_run(command: Sequence[str]) -> str:
    """What to write instead for a file that is no program: what runs such files, or else how it becomes one.

    >>> print(how_to_run(["./bot.js", "--fast"]))
    write exec:"node ./bot.js --fast"
    >>> print(how_to_run(["./bot"]))
    to make it a program: chmod +x ./bot
    """
    runner = RUNNERS.get(Path(command[0]).suffix.lower())
    if runner is None:
        return f"to make it a program: chmod +x {quoted(command[0])}"
    words = shlex.join([*runner, *command])
    return f'write exec:"{words}"' if PLAIN.fullmatch(words) else f"write {quoted(f'exec:{words}')}"


def strictly(
    program: str, arguments: Sequence[str], sandbox: Sandbox, around: Sequence[str], options: Sequence[str]
) -> list[str]:
    """The same for a strict sandbox, without asking whether there is one."""
    inside = shut_in(program, arguments, sandbox, within_limits=limits(sandbox), options=options)
    path = os.environ.get("PATH", os.defpath)
    return ["env", "-i", f"PATH={path}", *namespace(), *around, *inside]


BOUNDS = {
    "core": resource.RLIMIT_CORE,
    "cpu": resource.RLIMIT_CPU,
    "data": resource.RLIMIT_DATA,
    "as": resource.RLIMIT_AS,
    "nofile": resource.RLIMIT_NOFILE,
    "fsize": resource.RLIMIT_FSIZE,
    "nproc": resource.RLIMIT_NPROC,
    "sigpending": resource.RLIMIT_SIGPENDING,
}


def limits(sandbox: Sandbox) -> list[str]:
    """What runs a command within limits."""
    if shutil.which("prlimit") is None:
        return []
    wanted = {
        "cpu": sandbox.cpu,
        "data": sandbox.memory,
        "as": sandbox.memory + RESERVED,
        "nofile": sandbox.open_files,
        "fsize": sandbox.file_size,
    }
    if sandbox.level is Level.STRICT:  # or else all that the same user runs would count
        wanted |= {"nproc": sandbox.processes, "sigpending": SIGNALS}
    else:
        wanted["core"] = NO_CORE  # in a strict sandbox its keeper sees to that, and nobody can undo it
    bounds = [f"--{name}={most_allowed(BOUNDS[name], most)}" for name, most in wanted.items()]
    return ["prlimit", *bounds, "--"]


def most_allowed(which: int, wanted: int) -> int:
    """A limit that does not go beyond our own."""
    own = resource.getrlimit(which)[1]
    return wanted if own == resource.RLIM_INFINITY else min(wanted, own)


USUAL = Sandbox(Level.STRICT)
MEASURES = {
    "files": "sees the system, Python and what its command names, and writes nowhere but in a /tmp of its own",
    "network": "reaches nobody, not even on this machine",
    "processes": "sees and signals only its own, and dies with all of them",
    "user": "is nobody in particular, with no rights and no way to get some",
    "filter": "makes no system calls that reach beyond its own processes, or undo what stops them",
    "environment": "knows none of our environment variables",
    "memory": f"has {USUAL.memory // MEGABYTE} MB for each process, and is the first to lose them when none are left",
    "computing": f"has {USUAL.cpu} s for each process",
    "space": f"has {USUAL.open_files} open files, and {USUAL.space // MEGABYTE} MB in /tmp and /dev/shm each",
    "threads": f"has {USUAL.processes} threads and processes, all together",
}


@cache
def what_can_be_enforced() -> tuple[Measure, ...]:
    """What a strict sandbox keeps from a program on this machine: tried out from inside of one, when first asked."""
    held, why_none = tried()
    return tuple(
        Measure(name, about, why_none or ("" if held[name] else "tried from inside, it does not hold"))
        for name, about in MEASURES.items()
    )


def why_not_strict() -> str:
    """Why this machine has no strict sandbox; "" if it has one."""
    lacking = [measure for measure in what_can_be_enforced() if measure.why_not]
    if not lacking:
        return ""
    name = "" if len(lacking) == len(MEASURES) else f"{lacking[0].name}: "
    return f"there is no strict sandbox here ({name}{lacking[0].why_not})"


def tried() -> tuple[dict[str, bool], str]:
    """What holds in a strict sandbox, or why there is none at all."""
    if missing := [package for tool, package in TOOLS.items() if shutil.which(tool) is None]:
        return {}, f"{', '.join(missing)}: not installed"
    said, why = output_of(["bwrap", "--version"])
    version = re.search(r"(\d+)\.(\d+)[.\d]*", said)
    if version is None:
        return {}, f"bubblewrap does not say its version: {why or said.strip()}"
    if tuple(map(int, version.groups())) < OLDEST_BUBBLEWRAP:
        return {}, f"bubblewrap {version[0]} is too old; it takes {'.'.join(map(str, OLDEST_BUBBLEWRAP))} or later"
    if why := why_no_namespace() or why_no_filter():
        return {}, why
    sandbox = Sandbox(Level.STRICT, memory=256 * MEGABYTE, processes=8, space=MEGABYTE)
    known = {
        "namespaces": {path.name: str(path.readlink()) for path in Path("/proc/self/ns").iterdir()},
        "variables": [*environment(), "PWD"],
        **msgspec.to_builtins(sandbox),
    }
    imports = "import json, os, resource, signal, sys\nfrom pathlib import Path\nfrom typing import Any"
    source = f"{imports}\n{inspect.getsource(look)}\nlook()"
    rules = opened()
    try:
        look_around = ["-I", "-S", "-c", source, json.dumps(known)]
        words = strictly(sys.executable, look_around, sandbox, keeper(-1), ["--seccomp", str(rules)])
        said, why = output_of(words, [rules])
    finally:
        os.close(rules)
    return ({}, why) if why else (json.loads(said), "")


def look() -> None:
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
