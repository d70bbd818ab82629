"""Test denied system calls: by evaluating the filter for both architectures, and really in bubblewrap."""

import errno
import json
import os
import signal
import subprocess
import sys

import pytest

from fairplay.core.errors import HostFault
from fairplay.sandbox import seccomp as filters
from tests.nonempty import nonempty
from tests.sandbox import continuing
from tests.sandbox.filter_runs import (
    ALLOW,
    ARCHITECTURES,
    ARM,
    ERRNO,
    I386,
    KILL_PROCESS,
    UPPER_BITS,
    call_results,
    evaluate_filter,
    needs_filter,
    run_filtered,
    run_python,
)

pytestmark = needs_filter
CONT = int(signal.SIGCONT)
every_machine = pytest.mark.parametrize("machine", ARCHITECTURES)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root's programs pass through these tools")

ALWAYS = (
    *("memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify"),
    *("mq_getsetattr", "keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("io_setup", "inotify_init", "inotify_init1", "fanotify_init", "ptrace", "process_vm_readv", "process_vm_writev"),
    *("pidfd_getfd", "kcmp", "userfaultfd", "bpf", "perf_event_open", "syslog", "mount", "umount2", "move_mount"),
    *("fsopen", "fsmount", "fsconfig", "fspick", "open_tree", "mount_setattr", "pivot_root", "setns", "timer_create"),
    *("sched_setattr", "sched_setscheduler", "process_madvise", "mincore"),
)
FAMILIES = (1, 16)
PERSONALITIES = (0, 0x40000, 0xFFFFFFFF)


def near(kept: tuple[int, ...]) -> list[int]:
    """The numbers that differ from one of these in a single bit, and are none of them."""
    return sorted({each ^ 1 << bit for each in kept for bit in range(32)} - set(kept))


CHLD, VM = int(signal.SIGCHLD), 0x100
DENIED: tuple[tuple[str, tuple[int, ...], int], ...] = (  # a call, its arguments, and how it fails
    *((call, (), errno.EPERM) for call in ALWAYS),
    ("clone3", (), errno.ENOSYS),
    ("kill", (1, CONT), errno.EPERM),
    ("tkill", (1, CONT), errno.EPERM),
    ("tgkill", (1, 1, CONT), errno.EPERM),
    ("rt_sigqueueinfo", (1, CONT), errno.EPERM),
    ("rt_tgsigqueueinfo", (1, 1, CONT), errno.EPERM),
    ("pidfd_send_signal", (0, CONT), errno.EPERM),
    *(("clone", (flags | CONT,), errno.EPERM) for flags in (0, VM, 0x8000)),
    ("clone", (0x20000 | CHLD,), errno.EPERM),
    *(("clone", (0x2000000 << bit | CHLD,), errno.EPERM) for bit in range(6)),
    *(("unshare", (1 << bit,), errno.EPERM) for bit in range(32)),
    ("prctl", (1, CONT), errno.EPERM),
    ("prctl", (1, 9), errno.EPERM),
    ("prctl", (62, 1), errno.EPERM),
    *(("fcntl", (0, command), errno.EPERM) for command in (10, 1024, 1026, 1031, 1036, 1040)),
    *(("ioctl", (0, command), errno.EPERM) for command in (0x5412, 0x541C, 0x540E)),
    *(("personality", (number,), errno.EPERM) for number in near(PERSONALITIES)),
    *(("socket", (family, 1), errno.EAFNOSUPPORT) for family in (*near(FAMILIES), 2, 9, 10, 15, 38, 40, 44, 45)),
    *((call, (16, 3, number), errno.EAFNOSUPPORT) for call in ("socket", "socketpair") for number in near((0,))),
    *(("madvise", (0, 4096, advice), errno.EINVAL) for advice in (22, 23, 25)),
    ("mmap", (0, 4096, 3, 0x8022), errno.EINVAL),
    *(("socketpair", (family, 1), errno.EAFNOSUPPORT) for family in near(FAMILIES)),
    *(("preadv2", (0, 0, 0, 0, 0, flags), errno.EOPNOTSUPP) for flags in (8, 9, 0x18)),
    *(("getsockopt", (0, 1, which), errno.ENOPROTOOPT) for which in (57, 71)),
)
PRETENDED: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("flock", (0, 6)),
    *(("fcntl", (0, command)) for command in (6, 7, 37, 38)),
    ("setsid", ()),
    ("setpgid", (0, 0)),
    ("sync", ()),
    ("syncfs", (0,)),
    *((call, ()) for call in ("utime", "utimes", "futimesat", "utimensat", "chown", "fchown", "lchown", "fchownat")),
    ("fadvise64", (0, 0, 0, 4)),
    ("setrlimit", (4, 0)),
)
ALLOWED: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("kill", (1, 19)),
    ("kill", (CONT, 0)),
    ("tgkill", (CONT, CONT, 6)),
    ("clone", (CHLD,)),
    ("clone", (0x3D0F00,)),  # as glibc makes a thread
    ("clone", (0x4111,)),  # as posix_spawn makes a process
    ("unshare", (0,)),
    ("prctl", (15, 1)),
    ("prctl", (36, 1)),
    *(("fcntl", (0, command)) for command in (0, 1, 2, 3, 4, 5, 8, 15, 36, 1025, 1030, 1032)),
    *(("ioctl", (0, command)) for command in (0x5401, 0x5413, 0x5421, 0x541B)),
    *(("personality", (number,)) for number in PERSONALITIES),
    *(("socket", (family, 1)) for family in FAMILIES),
    *(("madvise", (0, 4096, advice)) for advice in (3, 4, 8, 14, 21)),
    ("mmap", (0, 4096, 3, 0x22)),
    *(("preadv2", (0, 0, 0, 0, 0, flags)) for flags in (0, 1, 4)),
    *(("getsockopt", (0, *which)) for which in ((1, 3), (1, 17), (6, 57))),
    *(("fadvise64", (0, 0, 0, advice)) for advice in (0, 1, 2, 3)),
    ("setrlimit", (7, 0)),
    *((call, ()) for call in ("fchmod", "fchmodat", "sysinfo", "sendmsg", "sendto", "recvmsg")),
    *((call, ()) for call in ("read", "write", "futex", "mmap", "execve", "wait4", "chroot", "setuid", "setgid")),
    *((call, ()) for call in ("prlimit64", "setitimer", "timerfd_create", "eventfd2", "epoll_create1", "seccomp")),
)


def number(call: str, machine: str) -> int:
    """The number of a call; below zero if there is none."""
    import pyseccomp  # which fails where there is no filter, and then no test is run

    return int(pyseccomp.resolve_syscall(ARCHITECTURES[machine], call))


def variants(arguments: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The same arguments in their lower halves."""
    return {tuple(each | above for each in arguments) for above in (0, 1 << 32, UPPER_BITS)}


# On paper.


@every_machine
def test_denied_calls_fail_whatever_the_upper_half_of_an_argument(machine: str) -> None:
    for call, arguments, fails in DENIED:
        if number(call, machine) < 0:
            assert (call, machine) == ("inotify_init", "aarch64")
            continue
        for each in nonempty(variants(arguments)):
            assert evaluate_filter(machine, number(call, machine), *each) == ERRNO | fails, (call, each)


@every_machine
def test_no_op_calls_do_nothing_and_succeed(machine: str) -> None:
    for call, arguments in PRETENDED:
        if number(call, machine) < 0:
            assert (call, machine) in {(it, "aarch64") for it in ("utime", "utimes", "futimesat", "chown", "lchown")}
            continue
        for each in nonempty(variants(arguments)):
            assert evaluate_filter(machine, number(call, machine), *each) == ERRNO, (call, each)


@every_machine
def test_the_limit_of_core_dumps_can_be_read_and_not_set(machine: str) -> None:
    prlimit = number("prlimit64", machine)
    for at in (0x1000, 0x10_0000, 0x7FFF_FFFF_F000, 1, 1 << 63):
        assert evaluate_filter(machine, prlimit, 0, 4, at) == ERRNO, hex(at)
        assert evaluate_filter(machine, prlimit, 0, 7, at) == ALLOW, hex(at)
    assert evaluate_filter(machine, prlimit, 0, 4, 0, 0x7FFF_FFFF_F000) == ALLOW


@every_machine
def test_descriptors_are_passed_only_where_each_program_has_a_user_of_its_own(machine: str) -> None:
    for call in ("sendmsg", "sendmmsg"):
        assert evaluate_filter(machine, number(call, machine), own_user=True) == ALLOW
        assert evaluate_filter(machine, number(call, machine), own_user=False) == ERRNO | errno.EPERM


@every_machine
def test_calls_that_programs_need_are_allowed(machine: str) -> None:
    for call, arguments in ALLOWED:
        assert evaluate_filter(machine, number(call, machine), *arguments) == ALLOW, (call, arguments)


@every_machine
def test_only_listed_calls_are_denied(machine: str) -> None:
    named = {number(call, machine) for call in (*(each[0] for each in DENIED), *(each[0] for each in PRETENDED))}

    denied = {each for each in range(451) if evaluate_filter(machine, each) != ALLOW}

    assert denied < named  # some only if they are called in a certain way


@every_machine
def test_unknown_calls_fail_as_not_implemented(machine: str) -> None:
    for unknown in (451, 467, 512, 1000, 0x4000_0000, 0x4000_0027, 0xFFFF_FFFF):  # x32 is among them
        assert evaluate_filter(machine, unknown) == ERRNO | errno.ENOSYS
    assert evaluate_filter(machine, 450) == ALLOW


@every_machine
def test_calls_of_another_architecture_kill(machine: str) -> None:
    others = {I386, ARM, *ARCHITECTURES.values()} - {ARCHITECTURES[machine]}
    assert {evaluate_filter(machine, call, architecture=other) for call in (1, 20, 200) for other in others} == {
        KILL_PROCESS
    }


@pytest.mark.parametrize("kept", [(0,), FAMILIES, PERSONALITIES, (0xFFFFFFFF,)])
def test_masks_match_every_int_except_the_given_ones(kept: tuple[int, ...]) -> None:
    masks = list(filters.masks_except(kept))

    for each in nonempty({*near(kept), *range(300), *kept}):
        assert any(each & mask == bits for mask, bits in masks) == (each not in kept), each


# For real.


def test_denied_calls_fail_in_a_sandbox() -> None:
    machine = os.uname().machine
    denied = [
        (number(call, machine), each, fails)
        for call, arguments, fails in DENIED
        if number(call, machine) >= 0
        for each in variants(arguments)
    ]
    denied += [(451, (), errno.ENOSYS), (0x4000_0027, (), errno.ENOSYS)]

    found = call_results([(call, *arguments) for call, arguments, _ in denied])

    assert found == [-fails for _, _, fails in denied]


def test_without_the_filter_denied_calls_would_not_fail_the_same_way() -> None:
    tried = ("memfd_create", "shmget", "msgget", "io_setup", "inotify_init1", "timer_create", "kcmp", "mq_open")

    found = call_results([(number(call, os.uname().machine),) for call in tried], free=True)

    assert -errno.EPERM not in found


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="only x86_64 has calls of i386")
def test_a_call_of_i386_kills_the_process() -> None:
    getpid = "b814000000cd80c3"  # mov eax, 20; int 0x80; ret
    text = f"""
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("{getpid}"))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print("went on")
"""
    done = run_filtered([sys.executable, "-I", "-c", text])

    assert (done.returncode, done.stdout) == (128 + signal.SIGSYS, "")


PRETENCES = """
import fcntl, json, os
if os.fork() == 0:
    before = os.getsid(0)
    file = open("/tmp/locked", "w")
    fcntl.flock(file, fcntl.LOCK_EX)
    fcntl.lockf(file, fcntl.LOCK_EX)
    inode = f":{os.stat('/tmp/locked').st_ino} "
    locks = [line for line in open("/proc/locks") if inode in line]
    os.setpgid(0, 0)
    alone = os.getpgid(0) == os.getpid()
    if os.fork() == 0:
        os.setsid()
        print(json.dumps([len(locks), alone, os.getsid(0) != before]), flush=True)
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
"""


def test_no_lock_is_taken_and_no_group_or_session_is_made() -> None:
    assert run_python(PRETENCES) == [0, False, False]
    assert run_python(PRETENCES, free=True) == [2, True, True]


@as_root
def test_the_tools_of_the_sandbox_work_under_the_filter() -> None:
    tools = ["prlimit", "--nproc=64", "--core=0", "--"]
    user = ["unshare", "--root", "/", "--wd", "/usr", "--setgid", "1879048192", "--setuid", "1879048192", "--"]

    done = run_filtered([*tools, *user, "sh", "-c", "pwd; id -u; ulimit -c"])

    assert (done.returncode, done.stdout, done.stderr) == (0, "/usr\n1879048192\n0\n", "")


# A program that was stopped stays so.


def ways_tried(*, free: bool) -> dict[str, str]:
    """What came of every way to be continued."""
    names = ["tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "ptrace", "clone", "prctl"]
    names += ["timer_create", "timer_settime", "mq_open", "mq_notify", "mq_timedsend"]
    numbers = {name: number(name, os.uname().machine) for name in names}
    done = run_filtered([sys.executable, "-I", continuing.__file__, json.dumps(numbers)], free=free)
    assert done.returncode == 0, done
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_nothing_continues_a_program_that_was_stopped() -> None:
    denied = os.strerror(errno.EPERM)
    assert ways_tried(free=False) == dict.fromkeys(continuing.CONTINUE_WAYS, denied) | {"an orphaned group": "stopped"}


def test_without_the_filter_each_way_would_continue_a_stopped_program() -> None:
    assert ways_tried(free=True) == dict.fromkeys(continuing.CONTINUE_WAYS, "continued")


# Where there is none.


def in_a_python_where(trouble: str) -> str:
    """What is said of the filter in another Python, which has some trouble."""
    imports = "from fairplay.sandbox.seccomp import filter_program, why_no_filter"
    text = f"{trouble}\n{imports}\nprint(why_no_filter())\nfilter_program()"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"{HostFault.__module__}.HostFault: " + (
        f"there is no filter of system calls ({done.stdout.strip()})"
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ("import sys; sys.modules['pyseccomp'] = None", "pyseccomp: not installed"),
        ("import ctypes.util; ctypes.util.find_library = lambda name: None", "libseccomp: not found by ldconfig"),
        (
            "import pyseccomp; pyseccomp.resolve_syscall = lambda where, call: -1",
            "libseccomp: too old, it does not know memfd_create",
        ),
        (
            "import os; os.uname = lambda: os.uname_result(('', '', '', '', 'riscv64'))",
            "libseccomp: there are filters for x86_64 and aarch64, but this is riscv64",
        ),
    ],
)
def test_a_missing_filter_is_reported_with_the_reason(trouble: str, why: str) -> None:
    assert in_a_python_where(trouble) == why


def test_a_library_without_a_needed_function_is_refused() -> None:
    why = in_a_python_where("import ctypes.util; ctypes.util.find_library = lambda name: 'libc.so.6'")

    assert why.startswith("libseccomp: ")
    assert why.endswith("undefined symbol: seccomp_init")


def test_the_filter_is_compiled_once() -> None:
    assert filters.filter_program() is filters.filter_program()
    assert filters.why_no_filter() == ""
