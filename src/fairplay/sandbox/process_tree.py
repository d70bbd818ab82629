"""Kill a program with all its processes when it ends, or we do.

A process namespace dies with its first process, and that one is told to die with us. Where namespaces are forbidden,
a subreaper does what it can: it adopts processes that lose their parent, and kills until none are left.
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

PROBE_TIMEOUT_S = 20  # for a probe of this machine

PARENT_CHECK_SCRIPT = (  # stop if we died before the outer processes could ask to die with us
    "read -r a a a parent a </proc/self/stat && read -r a a a referee a </proc/$parent/stat && "
    'test "$referee" = "$0" && exec "$@"'
)
MOUNT_SCRIPT = (
    'mount -t proc proc /proc 2>/dev/null && exec "$@"; '
    "echo 'no /proc can be mounted here, as parts of the one that exists are masked' >&2; exit 1"
)
NEEDED_CAPABILITIES = (6, 7, 18, 21)  # CAP_SETGID, CAP_SETUID, CAP_SYS_CHROOT, CAP_SYS_ADMIN


def namespace_command(*, proc: bool = False) -> list[str]:
    """The prefix that runs a command in a process namespace that dies with this process.

    With a /proc of its own, the command is root in a namespace of users: only root mounts.
    """
    user = [] if is_privileged() else ["--user", "--map-root-user" if proc else "--map-current-user"]
    options = [*user, *(["--mount"] if proc else []), "--pid", "--fork", "--kill-child"]
    inside = ["sh", "-c", MOUNT_SCRIPT, "sh"] if proc else []
    outside = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", *options, "--"]
    return [*outside, "sh", "-c", PARENT_CHECK_SCRIPT, own_pid(), *inside]


@cache
def is_privileged() -> bool:
    """Are we root, with the rights to make namespaces and to become other users? Root of a container may lack them."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return all(int(status["CapEff"], 16) >> capability & 1 for capability in NEEDED_CAPABILITIES)


@cache
def why_no_namespace() -> str:
    """Why this machine has no process namespaces; "" if it has."""
    if sys.platform != "linux":
        return f"there are no namespaces on {sys.platform}"
    return capture_output([*namespace_command(), "true"])[1]


def subreaper_command() -> list[str]:
    """The prefix that runs a command and kills what it leaves, in a namespace or without one."""
    return [sys.executable, "-I", "-S", "-c", subreaper_source(), own_pid()]


@cache
def subreaper_source() -> str:
    """The source of the subreaper. It avoids contextlib and pathlib, which take longer to load than it runs."""
    functions = (prefer_oom_kill, close_standard_streams, kill_descendants, descendants, reap, run_subreaper)
    sources = [inspect.getsource(function) for function in functions]
    return "\n".join(["import os, signal, sys, time", *sources, "run_subreaper()"])


def run_subreaper() -> None:
    """Run a command as its subreaper: when it ends, or the referee does, kill all that is left."""
    referee, *command = sys.argv[1:]
    is_namespace_init = os.getpid() == 1  # then the namespace ends with us
    awaited = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    if not is_namespace_init and sys.platform == "linux":
        import ctypes  # start-up: only the supervisor of programs needs it

        prctl = ctypes.CDLL(None).prctl
        prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: processes that lose their parent become our children
        prctl(1, int(signal.SIGTERM), 0, 0, 0)  # PR_SET_PDEATHSIG: a signal when the referee dies
        if os.getppid() != int(referee):  # it died before we asked
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
    if not is_namespace_init:
        kill_descendants(codes)
    code = codes.get(child, 0)
    sys.exit(code if code >= 0 else 128 - code)


def prefer_oom_kill() -> None:
    """Let the kernel kill this process first where memory runs out."""
    try:  # noqa: SIM105 - contextlib takes long to load
        os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"1000")
    except OSError:
        pass


def close_standard_streams() -> None:
    """Close stdin, stdout and stderr here, which are for the program alone."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)


def reap(codes: dict[int, int]) -> None:
    """Collect the exit codes of children that have ended."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            codes[ended[0]] = os.waitstatus_to_exitcode(ended[1])
    except ChildProcessError:
        pass  # all of them


def kill_descendants(codes: dict[int, int], *groups: int) -> None:
    """Kill all processes below this one. Groups, by their negative ids, come first: none in them can fork meanwhile."""
    while left := descendants(os.getpid()):
        for pid in (*groups, *left):
            try:  # noqa: SIM105 - contextlib takes long to load
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.001)
        reap(codes)


def descendants(root: int) -> set[int]:
    """The processes below one, as far as they are visible."""
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
    """The id of this process, as /proc has it."""
    return str(Path("/proc/self").readlink()) if sys.platform == "linux" else str(os.getpid())


def capture_output(command: Sequence[str], inherited: Sequence[int] = ()) -> tuple[str, str]:
    """The output of a command, and why it failed ("" if it did not)."""
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
    errors = done.stderr.strip().splitlines()
    return done.stdout, errors[-1] if errors else f"{command[0]} ended with exit code {done.returncode}"
