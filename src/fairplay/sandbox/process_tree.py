"""Tie the life of a program to ours: when it ends, or we do, whatever it has started ends too.

A namespace of processes dies with its first process, and that one is told to die with us. Where nobody may have
namespaces a subreaper does what it can: it adopts whoever loses its parent, and kills until nobody is left.
"""

import inspect
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

PROBE_TIMEOUT_S = 20  # seconds for a look at this machine

PARENT_CHECK_SCRIPT = (  # we may have died before the others could ask to die with us: then go no further
    "read -r a a a parent a </proc/self/stat && read -r a a a referee a </proc/$parent/stat && "
    'test "$referee" = "$0" && exec "$@"'
)


def namespace_command() -> list[str]:
    """What runs a command in a namespace of processes that dies with this process."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
    outside = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", *user, "--pid", "--fork", "--kill-child", "--"]
    return [*outside, "sh", "-c", PARENT_CHECK_SCRIPT, own_pid()]


@cache
def why_no_namespace() -> str:
    """Why there is no such namespace on this machine; "" if there is."""
    if sys.platform != "linux":
        return f"there are no namespaces on {sys.platform}"
    return capture_output([*namespace_command(), "true"])[1]


def subreaper_command() -> list[str]:
    """What runs a command and cleans up behind it, in a namespace or without one."""
    return [sys.executable, "-I", "-S", "-c", subreaper_source(), own_pid()]


@cache
def subreaper_source() -> str:
    """The text of the subreaper. It does without contextlib and pathlib, which take longer to load than it runs."""
    parts = [
        inspect.getsource(part) for part in (prefer_oom_kill, close_standard_streams, descendants, reap, run_subreaper)
    ]
    return "\n".join(["import os, signal, sys, time", *parts, "run_subreaper()"])


def run_subreaper() -> None:
    """Be the subreaper: run a command, and when it ends, or the referee does, end whatever is left."""
    referee, *command = sys.argv[1:]
    alone = os.getpid() == 1  # in a namespace that ends with us
    awaited = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    if not alone and sys.platform == "linux":
        import ctypes  # start-up: only the supervisor of programs needs it

        prctl = ctypes.CDLL(None).prctl
        prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: whoever loses its parent becomes our child
        prctl(1, int(signal.SIGTERM), 0, 0, 0)  # PR_SET_PDEATHSIG: how we hear that the referee died
        if os.getppid() != int(referee):  # before we asked
            sys.exit(0)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
        os.environ.setdefault("PYTHONUNBUFFERED", "1")
        prefer_oom_kill()
        os.execvp(command[0], command)
    close_standard_streams()
    codes: dict[int, int] = {}
    while child not in codes and signal.sigwait(awaited) == signal.SIGCHLD:
        reap(codes)
    while not alone and (left := descendants(os.getpid())):
        for number in left:
            try:  # noqa: SIM105
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.001)
        reap(codes)
    code = codes.get(child, 0)
    sys.exit(code if code >= 0 else 128 - code)


def prefer_oom_kill() -> None:
    """Be whom the machine kills where memory runs out."""
    try:  # noqa: SIM105 - contextlib takes long to load
        os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"1000")
    except OSError:
        pass


def close_standard_streams() -> None:
    """Close stdin, stdout and stderr here: they are the program's alone."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)


def reap(codes: dict[int, int]) -> None:
    """Note the exit codes of the children that have ended."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            codes[ended[0]] = os.waitstatus_to_exitcode(ended[1])
    except ChildProcessError:
        pass  # all of them


def descendants(root: int) -> set[int]:
    """The processes below one, as far as they can be seen."""
    parents: dict[int, int] = {}
    for name in filter(str.isdecimal, os.listdir("/proc") if sys.platform == "linux" else ()):  # noqa: PTH208
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123
                parents[int(name)] = int(stat.read().rpartition(b")")[2].split()[1])
        except OSError:
            pass  # it has ended
    found: set[int] = set()
    while more := {one for one, parent in parents.items() if one not in found and parent in {root, *found}}:
        found |= more
    return found


def own_pid() -> str:
    """The number of this process, as it stands in /proc."""
    return str(Path("/proc/self").readlink()) if sys.platform == "linux" else str(os.getpid())


def capture_output(command: Sequence[str], inherited: Sequence[int] = ()) -> tuple[str, str]:
    """What a command prints, and why it failed; "" if it did not."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT_S,
            check=False,
            pass_fds=inherited,
        )
    except OSError as error:
        return "", f"{command[0]}: {error.strerror}"
    except subprocess.TimeoutExpired:
        return "", f"{command[0]} did not end within {PROBE_TIMEOUT_S} s"
    if done.returncode == 0:
        return done.stdout, ""
    said = done.stderr.strip().splitlines()
    return done.stdout, said[-1] if said else f"{command[0]} ended with exit code {done.returncode}"
