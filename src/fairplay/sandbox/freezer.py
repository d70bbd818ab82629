"""Stop a program with all that it has started while nobody asks it, so that it takes no time from whoever is asked.

Where control groups can be had, a group is frozen. Elsewhere a keeper does it: the first process of the namespace
around the sandbox, whom the program cannot see. It stops and continues everybody there, as the referee says.
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

SUPERVISOR_TIMEOUT_S = (
    10.0  # seconds for a keeper to answer: on a machine that is busier than that, no match can be played
)
SUPERVISOR_WAIT_US = 1000  # microseconds for which nothing else is done meanwhile
SUPERVISOR_POLL_INTERVAL_S = 0.001  # seconds until it is asked for again, if it takes longer
CORE_DUMP_BYTES = 1  # byte of a core dump: with 0, a program of the host that takes dumps from a pipe would be run


OnThawed = Callable[[HostFault | None], None]  # called when a program may run; or it cannot be woken


class Freezer(Protocol):
    """What stops one program."""

    frozen: bool  # is it stopped?

    def thaw(self, then: OnThawed) -> None:
        """Let it run, and call this when it may, or with what went wrong."""

    def freeze(self) -> None:
        """Stop it."""

    def close(self) -> None:
        """Let go of whatever stops it; it has ended."""


class NoFreezer:
    """A program that goes on while others are asked."""

    frozen = False

    def thaw(self, then: OnThawed) -> None:
        then(None)

    def freeze(self) -> None:
        pass

    def close(self) -> None:
        pass


class CgroupFreezer:
    """A program in a control group that can be frozen."""

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
    """A program with a keeper, to whom a line leads."""

    def __init__(self) -> None:
        self._socket, self.supervisor_end = socket.socketpair()  # one end is the keeper's
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, SUPERVISOR_WAIT_US))
        self._pending_replies = 0  # answers of the keeper
        self.frozen = False

    def thaw(self, then: OnThawed) -> None:
        """Wait for the keeper, as a rule 30 us: the event loop would take longer to come back to us."""
        if self.frozen:
            self.frozen = False
            self._send(b"c")
            self._wait(then, time.monotonic() + SUPERVISOR_TIMEOUT_S)
        else:
            then(None)

    def freeze(self) -> None:
        """The keeper's answer is heard when the program has to be woken."""
        if not self.frozen:
            self.frozen = True
            self._send(b"s")

    def close(self) -> None:
        self._socket.close()

    def _wait(self, then: OnThawed, until: float) -> None:
        if self._has_answered():
            then(None)
        elif time.monotonic() > until:
            then(HostFault("a program cannot be woken: its keeper does not answer"))
        else:
            asyncio.get_running_loop().call_later(SUPERVISOR_POLL_INTERVAL_S, self._wait, then, until)

    def _send(self, what: bytes) -> None:
        try:
            self._socket.send(what)
            self._pending_replies += 1
        except OSError:  # it has ended, and the program with it
            self._pending_replies = 0

    def _has_answered(self) -> bool:
        try:
            while self._pending_replies:
                heard = self._socket.recv(self._pending_replies)
                self._pending_replies -= len(heard) or self._pending_replies  # who has ended owes nothing
        except BlockingIOError:
            return False
        except OSError:
            self._pending_replies = 0
        return True


def supervisor_command(end: int) -> list[str]:
    """What runs a command as the first process of a namespace, and stops it as it is told at the end of a line.

    -1: there is no line, and somebody else stops it, or nobody.
    """
    return [sys.executable, "-I", "-S", "-c", supervisor_source(), str(end)]


@cache
def supervisor_source() -> str:
    """The text of the keeper. It does without contextlib and pathlib, which take longer to load than it runs."""
    parts = [
        inspect.getsource(part) for part in (prefer_oom_kill, close_standard_streams, handle_commands, run_supervisor)
    ]
    run = f"run_supervisor({int(signal.SIGSTOP)}, {int(signal.SIGCONT)}, {CORE_DUMP_BYTES})"
    return "\n".join(["import _thread, ctypes, os, resource, select, sys", *parts, run])


def run_supervisor(stop: int, go_on: int, core: int) -> None:
    """Be the keeper: run a command, and end with it.

    This is a program of its own, which is told two signals, and how large a core dump may be.
    """
    end, command = int(sys.argv[1]), sys.argv[2:]
    if os.getpid() != 1:
        sys.exit("a keeper has to be the first of a namespace, or it would stop everybody")
    keyctl = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
    if keyctl:
        ctypes.CDLL(None).syscall(keyctl, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING: an empty one of its own
    if end >= 0:
        os.set_inheritable(end, False)
    child = os.fork()
    if child == 0:
        os.environ.pop("LC_CTYPE", None)  # which Python sets for itself
        prefer_oom_kill()
        try:  # noqa: SIM105 - whoever runs us may have forbidden all of it
            resource.setrlimit(resource.RLIMIT_CORE, (core, core))
        except ValueError:
            pass
        os.execvp(command[0], command)
    close_standard_streams()
    if end >= 0:
        _thread.start_new_thread(handle_commands, (end, stop, go_on))
    while True:
        number, status = os.waitpid(-1, 0)  # everybody who loses its parent becomes our child
        if number == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def handle_commands(end: int, stop: int, go_on: int) -> None:
    """Stop and continue everybody but ourselves, and say that it is done.

    Who is forked in the moment of a stop is stopped too, and misses a continuation that comes before it is there. So
    all are continued again after a while, and again.
    """
    signals = {b"s": stop, b"c": go_on}
    line = select.poll()
    line.register(end, select.POLLIN)
    again = 0  # milliseconds; 0: not any more
    while True:
        told = not again or bool(line.poll(again))
        said = os.read(end, 1) if told else b"c"
        if not said:
            return
        try:  # noqa: SIM105
            os.kill(-1, signals[said])
        except ProcessLookupError:
            pass
        if told:
            os.write(end, said)
            again = 2 if said == b"c" else 0
        else:
            again = again * 10 if again < 1000 else 0
