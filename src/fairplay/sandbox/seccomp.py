"""Compile the filter of system calls for sandboxes; docs/sandbox.md says what it denies, and why.

A program is stopped while it is not asked. Calls that could send it a SIGCONT are denied; and so are calls that reach
beyond its own processes: memory and timers that are not accounted, locks and watches on files that others see too, new
namespaces. The kernel ignores the upper half of an int, but a filter gets all of it: rules check the lower 32 bits.
"""

import errno
import fcntl
import os
import resource
import signal
import socket
import struct
import termios
from collections.abc import Collection, Iterator
from functools import cache
from typing import NamedTuple

from fairplay.core.errors import HostFault
from fairplay.sandbox.process_tree import is_privileged

ALL_BITS = 0xFFFF_FFFF  # all bits of an int
FIRST_UNKNOWN_CALL = 451  # the first call after Linux 5.17; programs do not need newer ones, nor x32 calls far above
DENIED_CALLS = (
    *("memfd_create", "memfd_secret"),
    *("shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop"),
    *("msgget", "msgsnd", "msgrcv", "msgctl"),
    *("mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"),
    *("keyctl", "add_key", "request_key", "syslog"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup"),
    *("inotify_init", "inotify_init1", "fanotify_init"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
    *("userfaultfd", "bpf", "perf_event_open"),
    *("mount", "umount2", "move_mount", "fsopen", "fsmount", "fsconfig", "fspick", "open_tree", "mount_setattr"),
    *("pivot_root", "setns", "process_madvise"),
    *("timer_create", "sched_setattr", "sched_setscheduler"),
    *("mincore",),
)
NO_OP_CALLS = (
    *("flock", "setsid", "setpgid", "sync", "syncfs", "utime", "utimes", "futimesat", "utimensat"),
    *("chown", "fchown", "lchown", "fchownat"),  # even to its own owner: that changes a time
)
FD_PASSING_CALLS = ("sendmsg", "sendmmsg")  # other calls send bytes only
SIGNAL_CALLS = {  # with the index of the argument that is the signal
    "kill": 1,
    "tkill": 1,
    "tgkill": 2,
    "rt_sigqueueinfo": 1,
    "rt_tgsigqueueinfo": 2,
    "pidfd_send_signal": 1,
}
NAMESPACE_FLAGS = (
    0x0002_0000,
    *(0x0200_0000 << bit for bit in range(6)),
)  # CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET
F_OFD_SETLK, F_OFD_SETLKW = 37, 38
F_SETSIG = 10
F_SETPIPE_SZ, F_SET_RW_HINT, F_SETDELEG = 1031, 1036, 1040
LOCK_COMMANDS = (fcntl.F_SETLK, fcntl.F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW)
NOTIFY_COMMANDS = (F_SETSIG, fcntl.F_SETLEASE, fcntl.F_NOTIFY, F_SETDELEG, F_SET_RW_HINT)
RWF_NOWAIT, POSIX_FADV_DONTNEED = 8, 4  # which show what is in the page cache, and remove it
SO_COOKIE, SO_NETNS_COOKIE = 57, 71  # numbers from counters of the whole machine
TIOCLINUX = 0x541C
TERMINAL_REQUESTS = (termios.TIOCSTI, TIOCLINUX, termios.TIOCSCTTY)
PR_SET_PDEATHSIG, PR_SCHED_CORE = 1, 62
ALLOWED_SOCKET_FAMILIES = (socket.AF_UNIX, socket.AF_NETLINK)
NETLINK_ROUTE = 0  # libraries ask for the addresses of this machine there
MAP_POPULATE, POPULATE_ADVICE = 0x8000, (22, 23, 25)  # long work of the kernel, in which a stop is delayed
ALLOWED_PERSONALITIES = (0, 0x0004_0000, ALL_BITS)  # Linux; without random addresses; a query


# For programs without namespaces.
ADDRESS_CALLS = ("connect", "bind", "listen", "accept", "accept4")
ATTRIBUTE_CALLS = ("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr")
TERMINAL_TYPE = 0x54  # of requests to terminals, and of those that libraries make; others change files of the user
F_SETOWN, F_SETOWN_EX = 8, 15
IOPRIO_WHO_PROCESS = 1
PROCESS_CALLS = {  # with the index of the argument that is the id of a process; 0 is the caller
    "prlimit64": 0,
    "sched_setaffinity": 0,
    "sched_setparam": 0,
    "setpriority": 1,
    "ioprio_set": 1,
    "migrate_pages": 0,
    "move_pages": 0,
}


class Rule(NamedTuple):
    """A call that fails with an errno, or is a no-op that succeeds (0): always, or if an argument has these bits."""

    errno: int
    call: str
    argument: int = 0
    mask: int = 0
    bits: int = 0
    also: tuple[int, int, int] | None = None  # another argument: its index, mask and bits


def rules(*, own_user: bool, namespaces: bool = True) -> Iterator[Rule]:
    """All rules. `own_user`: each program has its own user id, and not that of the host."""
    yield from (Rule(errno.EPERM, call) for call in DENIED_CALLS)
    yield from (() if own_user and namespaces else (Rule(errno.EPERM, call) for call in FD_PASSING_CALLS))
    yield from (socket_rules() if namespaces else rules_without_namespaces())
    yield from (Rule(0, call) for call in NO_OP_CALLS)
    yield Rule(errno.ENOSYS, "clone3")  # its flags are in memory, invisible to filters; libraries fall back to clone
    yield from (Rule(errno.EPERM, call, which, ALL_BITS, signal.SIGCONT) for call, which in SIGNAL_CALLS.items())
    yield Rule(errno.EPERM, "clone", 0, 0xFF, signal.SIGCONT)  # what the parent gets when the child ends
    yield from (Rule(errno.EPERM, "clone", 0, flag, flag) for flag in NAMESPACE_FLAGS)
    yield from (Rule(errno.EPERM, "unshare", 0, 1 << bit, 1 << bit) for bit in range(32))
    yield from (Rule(errno.EPERM, "prctl", 0, ALL_BITS, option) for option in (PR_SET_PDEATHSIG, PR_SCHED_CORE))
    yield from (Rule(0, "fcntl", 1, ALL_BITS, command) for command in LOCK_COMMANDS)
    yield from (Rule(errno.EPERM, "fcntl", 1, ALL_BITS, command) for command in (*NOTIFY_COMMANDS, F_SETPIPE_SZ))
    yield from (Rule(errno.EPERM, "ioctl", 1, ALL_BITS, command) for command in TERMINAL_REQUESTS)
    yield from (Rule(errno.EINVAL, "madvise", 2, ALL_BITS, advice) for advice in POPULATE_ADVICE)
    yield Rule(errno.EINVAL, "mmap", 3, MAP_POPULATE, MAP_POPULATE)
    yield Rule(errno.EOPNOTSUPP, "preadv2", 5, RWF_NOWAIT, RWF_NOWAIT)
    yield Rule(0, "fadvise64", 3, ALL_BITS, POSIX_FADV_DONTNEED)
    for name in (SO_COOKIE, SO_NETNS_COOKIE):
        yield Rule(errno.ENOPROTOOPT, "getsockopt", 1, ALL_BITS, socket.SOL_SOCKET, also=(2, ALL_BITS, name))
    yield Rule(0, "setrlimit", 0, ALL_BITS, resource.RLIMIT_CORE)
    for bit in range(64):  # of the pointer to the new limit; it is NULL for a query
        yield Rule(0, "prlimit64", 1, ALL_BITS, resource.RLIMIT_CORE, also=(2, 1 << bit, 1 << bit))
    yield from (Rule(errno.EPERM, "personality", 0, *some) for some in masks_except(ALLOWED_PERSONALITIES))


def socket_rules() -> Iterator[Rule]:
    """The rules for programs in a network of their own: sockets of the kernel's rarer families are denied."""
    yield from (Rule(errno.EAFNOSUPPORT, "socket", 0, *some) for some in masks_except(ALLOWED_SOCKET_FAMILIES))
    yield from (Rule(errno.EAFNOSUPPORT, "socketpair", 0, *some) for some in masks_except(ALLOWED_SOCKET_FAMILIES))
    for mask, bits in masks_except((NETLINK_ROUTE,)):
        for call in ("socket", "socketpair"):
            yield Rule(errno.EAFNOSUPPORT, call, 0, ALL_BITS, socket.AF_NETLINK, also=(2, mask, bits))


def rules_without_namespaces() -> Iterator[Rule]:
    """The rules for programs that see the files, processes and network of the host; Landlock denies only some of it."""
    yield Rule(errno.EAFNOSUPPORT, "socket")
    yield from (Rule(errno.EAFNOSUPPORT, "socketpair", 0, *some) for some in masks_except((socket.AF_UNIX,)))
    yield from (Rule(errno.EPERM, call) for call in ADDRESS_CALLS)
    yield from (Rule(errno.EPERM, "sendto", 4, 1 << bit, 1 << bit) for bit in range(64))  # with an address
    yield from (Rule(0, call) for call in ("chmod", "fchmod", "fchmodat"))  # of any file of the user
    yield from (Rule(errno.EPERM, call) for call in (*ATTRIBUTE_CALLS, "truncate"))
    yield Rule(errno.ENOSYS, "openat2")  # its flags are in memory, invisible to filters
    for call, flags in (("open", 1), ("openat", 2)):  # before its ABI 3, Landlock lets files be emptied that are read
        yield from (Rule(errno.EPERM, call, flags, os.O_TRUNC | os.O_ACCMODE, os.O_TRUNC | mode) for mode in (0, 3))
    for bit in range(8):
        yield Rule(errno.ENOTTY, "ioctl", 1, 1 << 8 + bit, (TERMINAL_TYPE ^ 0xFF) << 8 & 1 << 8 + bit)
    yield from (Rule(errno.EPERM, "fcntl", 1, ALL_BITS, command) for command in (F_SETOWN, F_SETOWN_EX))
    for call, argument in PROCESS_CALLS.items():
        yield from (Rule(errno.EPERM, call, argument, *some) for some in masks_except((0,)))
    for call, own in (("setpriority", os.PRIO_PROCESS), ("ioprio_set", IOPRIO_WHO_PROCESS)):  # not its user, either
        yield from (Rule(errno.EPERM, call, 0, *some) for some in masks_except((own,)))


def masks_except(numbers: Collection[int], mask: int = 0, bits: int = 0) -> Iterator[tuple[int, int]]:
    """Masks, and the bits below them, that match every int but these."""
    if not any(number & mask == bits for number in numbers):
        yield mask, bits
    elif mask != ALL_BITS:
        longer = mask >> 1 | 1 << 31
        yield from masks_except(numbers, longer, bits)
        yield from masks_except(numbers, longer, bits | longer ^ mask)


def filter_program(*, namespaces: bool = True) -> bytes:
    """The filter for this machine, in the format of `bwrap --seccomp`; HostFault if there is none."""
    program, why_none = probe_filter(namespaces=namespaces)
    if why_none:
        raise HostFault(f"there is no filter of system calls ({why_none})")
    return program


def open_filter() -> int:
    """The descriptor of a file with the filter, for one run of bubblewrap."""
    return open_memory_file(filter_program())


def open_memory_file(content: bytes) -> int:
    """The descriptor of an unnamed file with this content, at its beginning."""
    fd = os.memfd_create("fairplay")
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def why_no_filter() -> str:
    """Why this machine has no filter; "" if it has one."""
    return probe_filter()[1]


def signal_call_numbers() -> tuple[int, ...]:
    """The numbers of the calls that send signals: kill, tgkill, and the others."""
    import pyseccomp  # only here, as it runs ldconfig to find its library

    names = ("kill", "tgkill", *sorted({*SIGNAL_CALLS} - {"kill", "tgkill"}))
    return tuple(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) for name in names)


@cache
def probe_filter(*, namespaces: bool = True) -> tuple[bytes, str]:
    """The filter, or why there is none."""
    try:
        return compile_filter(os.uname().machine, own_user=is_privileged(), namespaces=namespaces), ""
    except ImportError:
        return b"", "pyseccomp: not installed"
    except RuntimeError:  # raised by the import of pyseccomp
        return b"", "libseccomp: not found by ldconfig"
    except (OSError, ValueError, AttributeError) as error:  # AttributeError: a function is missing
        return b"", f"libseccomp: {error}"


def compile_filter(machine: str, *, own_user: bool, namespaces: bool = True) -> bytes:
    """The filter for an architecture, which may be another than ours."""
    import pyseccomp  # only here, as it runs ldconfig to find its library

    architectures = {"x86_64": pyseccomp.Arch.X86_64, "aarch64": pyseccomp.Arch.AARCH64}
    if machine not in architectures:
        raise ValueError(f"there are filters for {' and '.join(architectures)}, but this is {machine}")
    seccomp_filter = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    if architectures[machine] != pyseccomp.system_arch():
        seccomp_filter.add_arch(architectures[machine])
        seccomp_filter.remove_arch(pyseccomp.system_arch())
    seccomp_filter.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
    for rule in rules(own_user=own_user, namespaces=namespaces):
        if pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, rule.call) == -1:
            raise ValueError(f"too old, it does not know {rule.call}")
        conditions = [(rule.argument, rule.mask, rule.bits)] if rule.mask else []
        conditions += [rule.also] if rule.also else []
        arguments = [pyseccomp.Arg(index, pyseccomp.MASKED_EQ, mask, bits) for index, mask, bits in conditions]
        seccomp_filter.add_rule(pyseccomp.ERRNO(rule.errno), rule.call, *arguments)
    with os.fdopen(os.memfd_create("filter"), "r+b") as file:
        seccomp_filter.export_bpf(file)
        file.seek(0)
        return unknown_call_instructions(pyseccomp.ERRNO(errno.ENOSYS)) + file.read()


def unknown_call_instructions(action: int) -> bytes:
    """Three instructions with an action for unknown calls, to put before all others, as libseccomp has no ranges."""
    load_number, jump_unless_at_least, leave = (0x20, 0, 0, 0), (0x35, 0, 1, FIRST_UNKNOWN_CALL), (0x06, 0, 0, action)
    return b"".join(struct.pack("=HBBI", *each) for each in (load_number, jump_unless_at_least, leave))
