"""Try every way to be continued while stopped, as a program of its own, and print the results.

In every trial there is one that arranges something and stops itself, and its parent, which does what was arranged.
"""

import ctypes
import fcntl
import json
import os
import select
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path

CONT = int(signal.SIGCONT)
NUMBERS: dict[str, int] = json.loads(sys.argv[1]) if __name__ == "__main__" else {}
F_SETSIG = 10
PR_SET_PDEATHSIG = 1
PTRACE_ATTACH, PTRACE_CONT, ALL_CHILDREN = 16, 7, 0x4000_0000  # for ptrace
WAIT_TIMEOUT_S = 20  # seconds for what was arranged
TIMER_NS = 50_000_000  # nanoseconds, again and again

libc = ctypes.CDLL(None, use_errno=True)
reading, writing = os.pipe()


def system_call(name: str, *arguments: int | bytes) -> int:
    """Make a system call; bytes are passed by their address."""
    words = [each if isinstance(each, bytes) else ctypes.c_long(each) for each in arguments]
    result = int(libc.syscall(NUMBERS[name], *words))
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def queued_signal() -> bytes:
    """The signal, as any process may queue it."""
    return struct.pack("iii", CONT, 0, -1).ljust(128, b"\0")


def signal_event() -> bytes:
    """An event that brings the signal."""
    return struct.pack("Pii", 0, CONT, 0).ljust(64, b"\0")


# What is arranged before the stop.


def arrange_nothing() -> None:
    """The other one does it all."""


def a_timer_goes_off() -> None:
    which = bytes(4)
    system_call("timer_create", 1, signal_event(), which)
    system_call(
        "timer_settime", int.from_bytes(which, sys.byteorder), 0, struct.pack("4q", 0, TIMER_NS, 0, TIMER_NS), 0
    )


def a_message_comes() -> None:
    queue = system_call("mq_open", b"way\0", os.O_CREAT | os.O_RDWR, 0o600, 0)
    system_call("mq_notify", queue, signal_event())


def a_child_ends() -> None:
    if system_call("clone", CONT, 0, 0, 0, 0) == 0:
        os.read(reading, 1)
        os._exit(0)


def input_comes() -> None:
    fcntl.fcntl(reading, F_SETSIG, CONT)
    fcntl.fcntl(reading, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)


def a_parent_ends() -> None:
    system_call("prctl", PR_SET_PDEATHSIG, CONT)


def a_group_is_orphaned() -> None:
    os.setpgid(0, 0)


# What the other one does then.


def trace(pid: int) -> None:
    system_call("ptrace", PTRACE_ATTACH, pid, 0, 0)
    while os.WIFSTOPPED(os.waitpid(pid, ALL_CHILDREN)[1]):
        system_call("ptrace", PTRACE_CONT, pid, 0, 0)


def write(_: int) -> None:
    os.write(writing, b"x")


def send(_: int) -> None:
    system_call("mq_timedsend", system_call("mq_open", b"way\0", os.O_RDWR, 0, 0), b"x", 1, 0, 0)


def end(_: int) -> None:
    """It ends anyway."""


CONTINUE_WAYS: dict[str, tuple[Callable[[], None], Callable[[int], object]]] = {
    "kill": (arrange_nothing, lambda pid: os.kill(pid, CONT)),
    "kill all": (arrange_nothing, lambda pid: os.kill(-1, CONT)),
    "killpg": (arrange_nothing, lambda pid: os.killpg(0, CONT)),
    "tkill": (arrange_nothing, lambda pid: system_call("tkill", pid, CONT)),
    "tgkill": (arrange_nothing, lambda pid: system_call("tgkill", pid, pid, CONT)),
    "rt_sigqueueinfo": (arrange_nothing, lambda pid: system_call("rt_sigqueueinfo", pid, CONT, queued_signal())),
    "rt_tgsigqueueinfo": (
        arrange_nothing,
        lambda pid: system_call("rt_tgsigqueueinfo", pid, pid, CONT, queued_signal()),
    ),
    "pidfd_send_signal": (arrange_nothing, lambda pid: signal.pidfd_send_signal(os.pidfd_open(pid), CONT)),
    "ptrace": (arrange_nothing, trace),
    "timer_create": (a_timer_goes_off, end),
    "mq_notify": (a_message_comes, send),
    "clone": (a_child_ends, write),
    "F_SETSIG": (input_comes, write),
    "PR_SET_PDEATHSIG": (a_parent_ends, end),
    "an orphaned group": (a_group_is_orphaned, end),
}


def outcome(arrange: Callable[[], None], do: Callable[[int], object]) -> str:
    """Try one way: "continued", "stopped", or the error of the process that failed."""
    told, tell = os.pipe()
    between = os.fork()
    if between == 0:
        os.setsid()  # a group is orphaned if no other process of its session is a parent
        stopped = os.fork()
        if stopped == 0:
            os.write(tell, f"{os.getpid()} ".encode())
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # orphans get that too
            report_error(tell, arrange)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.write(tell, b"continued")
            os._exit(0)
        if os.WIFSTOPPED(os.waitpid(stopped, os.WUNTRACED)[1]):
            report_error(tell, lambda: do(stopped))
        os._exit(0)
    os.waitpid(between, 0)
    pid, _, text = os.read(told, 100).decode().partition(" ")
    if (
        not text
        and (arrange is not a_group_is_orphaned or process_state(pid) != "T")
        and select.select([told], [], [], WAIT_TIMEOUT_S)[0]
    ):
        text = os.read(told, 100).decode()
    os.close(told)
    os.close(tell)
    if process_state(pid) == "T":
        os.kill(int(pid), signal.SIGKILL)
    return text or "stopped"


def report_error(tell: int, work: Callable[[], object]) -> None:
    """Do something, or tell of the error and end."""
    try:
        work()
    except OSError as error:
        os.write(tell, str(error.strerror).encode())
        os._exit(0)


def process_state(pid: str) -> str:
    """The letter for what a process does, if it is there."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


if __name__ == "__main__":
    print(json.dumps({name: outcome(*way) for name, way in CONTINUE_WAYS.items()}))
