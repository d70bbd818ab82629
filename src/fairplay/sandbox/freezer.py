"""Stop a program with all its processes while it is not asked, so that it takes no time from others.

Where control groups are available, a group is frozen. Otherwise a supervisor stops and continues all processes when the
referee says so: it is the first process of the namespace around the sandbox, and invisible to the program.
"""

import _thread
import asyncio
import ctypes
import inspect
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Protocol

from fairplay.core.errors import HostFault
from fairplay.sandbox.cgroup import ControlGroup
from fairplay.sandbox.process_tree import close_standard_streams, prefer_oom_kill

SUPERVISOR_TIMEOUT_S = 10.0  # for its answer: on a machine that is slower than that, no match can be played
SUPERVISOR_WAIT_US = 1000  # for which the event loop waits for it
SUPERVISOR_POLL_INTERVAL_S = 0.001  # after that wait
CORE_DUMP_BYTES = 1  # with 0, the kernel would run a program of the host that takes dumps from a pipe

OnThawed = Callable[[HostFault | None], None]  # called when a program may run, or with why it cannot be continued


class Freezer(Protocol):
    """Stops and continues one program."""

    frozen: bool  # is it stopped?

    def thaw(self, then: OnThawed) -> None:
        """Let it run, and call `then` when it may, or with what went wrong."""

    def freeze(self) -> None:
        """Stop it."""

    def close(self) -> None:
        """Release all resources; the program has ended."""


class NoFreezer:
    """For a program that goes on while others are asked."""

    frozen = False

    def thaw(self, then: OnThawed) -> None:
        then(None)

    def freeze(self) -> None:
        pass

    def close(self) -> None:
        pass


class CgroupFreezer:
    """For a program in a control group that can be frozen."""

    def __init__(self, group: ControlGroup) -> None:
        self._group = group
        self.frozen = False

    def thaw(self, then: OnThawed) -> None:
        fault: HostFault | None = None
        try:
            self._group.thaw()
            self.frozen = False
        except HostFault as error:
            fault = error
        then(fault)

    def freeze(self) -> None:
        self.frozen = True
        self._group.freeze()

    def close(self) -> None:
        pass


class SignalFreezer:
    """For a program with a supervisor, which is told by a socket."""

    def __init__(self) -> None:
        self._socket, self.supervisor_end = socket.socketpair()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, SUPERVISOR_WAIT_US))
        self._pending_replies = 0
        self.frozen = False

    def thaw(self, then: OnThawed) -> None:
        """Wait for the supervisor here, as a rule 30 us: a turn of the event loop takes longer."""
        if self.frozen:
            self.frozen = False
            self._send(b"c")
            self._wait(then, time.monotonic() + SUPERVISOR_TIMEOUT_S)
        else:
            then(None)

    def freeze(self) -> None:
        """Do not wait; the supervisor's answer is read when the program is continued."""
        if not self.frozen:
            self.frozen = True
            self._send(b"s")

    def close(self) -> None:
        self._socket.close()

    def _wait(self, then: OnThawed, until: float) -> None:
        if self._has_answered():
            then(None)
        elif time.monotonic() > until:
            then(HostFault("cannot continue a program: its supervisor does not answer"))
        else:
            asyncio.get_running_loop().call_later(SUPERVISOR_POLL_INTERVAL_S, self._wait, then, until)

    def _send(self, command: bytes) -> None:
        try:
            self._socket.send(command)
            self._pending_replies += 1
        except OSError:  # it has ended, and the program with it
            self._pending_replies = 0

    def _has_answered(self) -> bool:
        try:
            while self._pending_replies:
                replies = self._socket.recv(self._pending_replies)
                self._pending_replies -= len(replies) or self._pending_replies  # none will come if it has ended
        except BlockingIOError:
            return False
        except OSError:
            self._pending_replies = 0
        return True


def supervisor_command(fd: int) -> list[str]:
    """The prefix that runs a command below a supervisor, which stops and continues it as it is told by a socket.

    -1: there is no socket, and a control group stops it, or nothing.
    """
    return [sys.executable, "-I", "-S", "-c", supervisor_source(), str(fd)]


@cache
def supervisor_source() -> str:
    """The source of the supervisor. It avoids contextlib and pathlib, which take longer to load than it runs."""
    parts = [
        inspect.getsource(part) for part in (prefer_oom_kill, close_standard_streams, handle_commands, run_supervisor)
    ]
    run = f"run_supervisor({int(signal.SIGSTOP)}, {int(signal.SIGCONT)}, {CORE_DUMP_BYTES})"
    return "\n".join(["import _thread, ctypes, os, resource, select, sys", *parts, run])


def run_supervisor(stop: int, go_on: int, core_dump_bytes: int) -> None:
    """Run a command as its supervisor, and exit with it.

    This is a program of its own; `stop` and `go_on` are signals.
    """
    fd, command = int(sys.argv[1]), sys.argv[2:]
    if os.getpid() != 1:
        sys.exit("a supervisor has to be the first process of a namespace, or it would stop all processes")
    keyctl = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
    if keyctl:
        ctypes.CDLL(None).syscall(keyctl, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING: a new, empty one
    if fd >= 0:
        os.set_inheritable(fd, False)
    child = os.fork()
    if child == 0:
        os.environ.pop("LC_CTYPE", None)  # Python has set it for itself
        prefer_oom_kill()
        try:  # noqa: SIM105 - core dumps may be forbidden to us
            resource.setrlimit(resource.RLIMIT_CORE, (core_dump_bytes, core_dump_bytes))
        except ValueError:
            pass
        os.execvp(command[0], command)
    close_standard_streams()
    if fd >= 0:
        _thread.start_new_thread(handle_commands, (fd, stop, go_on))
    while True:
        pid, status = os.waitpid(-1, 0)  # processes that lose their parent become our children
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def handle_commands(fd: int, stop: int, go_on: int, target: int = -1) -> None:
    """Stop and continue all processes but ourselves (-1), or those of a group (its negative), and confirm each command.

    A process that is forked at the moment of a stop is stopped too, and misses a SIGCONT that comes too early. So all
    processes are continued again after a while, and again.
    """
    signals = {b"s": stop, b"c": go_on}
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    retry_ms = 0  # 0: not any more
    while True:
        was_told = not retry_ms or bool(poll.poll(retry_ms))
        command = os.read(fd, 1) if was_told else b"c"
        if not command:
            return
        try:  # noqa: SIM105
            os.kill(target, signals[command])
        except ProcessLookupError:
            pass
        if was_told:
            os.write(fd, command)
            retry_ms = 2 if command == b"c" else 0
        else:
            retry_ms = retry_ms * 10 if retry_ms < 1000 else 0
