"""Supervise a program that Landlock confines: restrict it before it starts, stop and continue it, end all of it.

What runs is the source of these functions, in a Python without `site`; nothing of fairplay is imported there.
"""

import _thread
import ctypes
import inspect
import marshal
import os
import resource
import signal
import struct
import sys
import time
from functools import cache
from typing import Any

from fairplay.sandbox.freezer import handle_commands
from fairplay.sandbox.process_tree import close_standard_streams, descendants, kill_descendants, prefer_oom_kill, reap

REMOVAL_WAIT_S = 0.3  # for the directory of a program to be gone, before its exit code is reported
IMPORTS = "import _thread, ctypes, marshal, os, resource, select, signal, struct, sys, time"


@cache
def supervisor_source() -> str:
    """The source of the supervisor. It avoids typing, contextlib and pathlib, which take long to load."""
    parts = (prefer_oom_kill, close_standard_streams, kill_descendants, descendants, reap, handle_commands)
    own = (run_supervisor, remove_files, run_confined, confine, make_ruleset, drop_capabilities)
    source = "\n".join(inspect.getsource(part) for part in (*parts, *own, own_signals_filter, check))
    return "\n".join(["from __future__ import annotations", IMPORTS, source, f"run_supervisor({REMOVAL_WAIT_S})"])


def run_supervisor(removal_s: float) -> None:
    """Run a program below Landlock as its supervisor. When it ends, or the referee does, kill all that is left.

    The program and its processes are one process group, which no system call of theirs can leave.
    """
    referee, config_fd = int(sys.argv[1]), int(sys.argv[2])
    with open(config_fd, "rb") as file:
        config = marshal.load(file)
    for fd in (config["control_fd"], config["status_fd"]):
        if fd >= 0:
            os.set_inheritable(fd, False)
    awaited = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: processes that lose their parent become our children
    libc.prctl(1, int(signal.SIGTERM), 0, 0, 0)  # PR_SET_PDEATHSIG: a signal when the referee dies
    if os.getppid() != referee:  # it died before we asked
        sys.exit(0)
    progress, report = os.pipe()
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
        run_confined(libc, config, report)
    os.close(report)
    close_standard_streams()
    os.read(progress, 1)  # until it is the leader of its group
    if config["control_fd"] >= 0:
        arguments = config["control_fd"], int(signal.SIGSTOP), int(signal.SIGCONT), -child
        _thread.start_new_thread(handle_commands, arguments)
    codes: dict[int, int] = {}
    while child not in codes and signal.sigwait(awaited) == signal.SIGCHLD:
        reap(codes)
    kill_descendants(codes, -child)
    if config["status_fd"] >= 0 and not os.read(progress, 1):
        os.write(config["status_fd"], b"exit-code")
    remove_files(config["directory"], config["modules"], removal_s)
    code = codes.get(child, 0)
    os._exit(code if code >= 0 else 128 - code)


def remove_files(directory: str, modules: str, removal_s: float) -> None:
    """Remove the directory of the program. If it wrote something, that may go on in a session of its own."""
    try:
        for name in os.listdir(modules):  # noqa: PTH208
            os.unlink(f"{modules}/{name}")  # noqa: PTH108
        os.rmdir(modules)  # noqa: PTH106
        os.rmdir(directory)  # noqa: PTH106
    except OSError:
        script = 'chmod -R u+rwX "$0"; exec rm -rf "$0"'
        remover = os.posix_spawn("/bin/sh", ["sh", "-c", script, directory], {}, setsid=True)
        until = time.monotonic() + removal_s
        while os.waitpid(remover, os.WNOHANG) == (0, 0) and time.monotonic() < until:
            time.sleep(0.001)


def run_confined(libc: Any, config: dict[str, Any], report: int) -> None:
    """Become the program. A byte in the pipe says that its group exists, another that it could not be confined."""
    command = config["command"]
    try:
        os.setsid()
        os.write(report, b"g")
        os.mkdir(config["modules"])  # noqa: PTH102
        for name, target in config["links"].items():
            os.symlink(target, f"{config['modules']}/{name}")  # noqa: PTH211
        confine(libc, config)
    except BaseException as error:
        os.write(2, f"cannot confine {command[0]}: {error}\n".encode(errors="replace"))
        os.write(report, b"f")
        os._exit(1)
    try:
        os.execve(command[0], command, config["environment"])
    except OSError as error:
        os.write(2, f"cannot run {command[0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(127)


def confine(libc: Any, config: dict[str, Any]) -> None:
    """Restrict this process, which is to become the program, for good."""
    for procs_file in config["procs_files"]:
        with open(procs_file, "w") as file:  # noqa: PTH123
            file.write("0")
    prefer_oom_kill()
    keyctl = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
    libc.syscall(keyctl, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING: a new, empty one
    for which, most in config["limits"]:
        resource.setrlimit(which, (most, most))
    check(libc.prctl(38, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")
    ruleset = make_ruleset(libc, config["handled"], config["rules"])
    drop_capabilities(libc)
    libc.prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG: with the supervisor
    check(libc.syscall(446, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)
    filters = [own_signals_filter(config["signal_calls"], os.getpid())] if config["signal_calls"] else []
    for instructions in (*filters, config["filter"]):
        buffer = ctypes.create_string_buffer(instructions, len(instructions))
        program = struct.pack("HxxxxxxP", len(instructions) // 8, ctypes.addressof(buffer))
        check(libc.prctl(22, 2, program, 0, 0), "prctl(PR_SET_SECCOMP)")


def make_ruleset(libc: Any, handled: tuple[int, int, int], rules: list[tuple[str, int, int, int]]) -> int:
    """A ruleset of Landlock, which is not in force yet."""
    size = 24 if handled[2] else 16 if handled[1] else 8
    ruleset = int(libc.syscall(444, struct.pack("QQQ", *handled), ctypes.c_size_t(size), 0))
    check(ruleset, "landlock_create_ruleset")
    for path, device, inode, rights in rules:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        status = os.fstat(fd)
        if (status.st_dev, status.st_ino) != (device, inode):
            raise RuntimeError(f"{path} was replaced while the program was started")
        rule = struct.pack("=Qi", rights & handled[0], fd)
        check(libc.syscall(445, ruleset, 1, rule, 0), f"landlock_add_rule for {path}")
        os.close(fd)
    return ruleset


def drop_capabilities(libc: Any) -> None:
    """Give up what root may do beyond other users, for good."""
    for capability in range(64):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    capset = {"x86_64": 126, "aarch64": 91}[os.uname().machine]
    check(libc.syscall(capset, struct.pack("Ii", 0x20080522, 0), bytes(24)), "capset")


def own_signals_filter(calls: tuple[int, ...], pid: int) -> bytes:
    """A filter under which a process can signal itself and its group alone, as Landlock has it from ABI 6 on.

    `calls` are the numbers of kill, of tgkill, and of the others, which fail.
    """
    allow, fail = (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)
    code = [(0x20, 0, 0, 0)]  # load the number of the call
    for other in calls[2:]:
        code += [(0x15, 0, 1, other), fail]
    for call, targets in zip(calls[:2], ((0, pid, -pid & 0xFFFFFFFF), (pid,)), strict=True):
        matches = [(0x15, len(targets) - index, 0, target) for index, target in enumerate(targets)]
        code += [(0x15, 0, len(targets) + 3, call), (0x20, 0, 0, 16), *matches, fail, allow]
    return b"".join(struct.pack("=HBBI", *each) for each in (*code, allow))


def check(result: int, call: str) -> None:
    """Raise what went wrong in a call of the C library."""
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{call}: {os.strerror(ctypes.get_errno())}")
