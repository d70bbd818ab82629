"""Test the filter of system calls: what it says of each call, what it denies in a sandbox, and that bots can work."""

import errno
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.errors import HostFault
from fairplay.sandbox import seccomp as filters
from fairplay.sandbox.seccomp import compile_filter, filter_program, why_no_filter
from tests.nonempty import nonempty
from tests.players.machine import needs_strict

ALLOW, ERRNO, KILL_PROCESS = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
I386, ARM = 0x4000_0003, 0x4000_0028
UPPER_BITS = 0xDEAD_BEEF << 32  # what may stand above an int, and means nothing

pytestmark = [
    needs_strict,
    pytest.mark.skipif(bool(why_no_filter()), reason=f"no filter can be compiled here: {why_no_filter()}"),
]


def require_program(*tools: str) -> pytest.MarkDecorator:
    """Skip a test where one of these is not installed."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"there is no {', '.join(missing)}")


def run_filtered(
    command: Sequence[str], own: Path | None = None, *, free: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command in bubblewrap under the filter or free of it, to its end. It may write in its own directory."""
    users = [] if os.geteuid() == 0 else ["--unshare-user"]
    tree = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unsetenv", "TMPDIR"]
    for place in (sys.base_prefix, sys.prefix):  # each may lie in /tmp, which is empty in there
        tree += ["--ro-bind", place, place]
    tree += ["--bind", str(own), str(own), "--chdir", str(own)] if own else []
    with os.fdopen(os.memfd_create("filter"), "w+b", buffering=0) as file:
        file.write(filter_program())
        file.seek(0)
        filtering = [] if free else ["--seccomp", str(file.fileno())]
        unshared = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--new-session"]
        words = ["bwrap", *users, *unshared, *tree, *filtering, "--", *command]
        options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "pass_fds": [file.fileno()], "timeout": 100}
        return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def run_python(text: str, *arguments: str, free: bool = False) -> Any:
    """The JSON that a program in Python prints."""
    done = run_filtered([sys.executable, "-I", "-c", text, *arguments], free=free)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


CALLS = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
results = []
for number, *arguments in json.loads(sys.argv[1]):
    ctypes.set_errno(0)
    result = libc.syscall(*(ctypes.c_ulong(each) for each in (number, *arguments, *[0] * (6 - len(arguments)))))
    results.append(-ctypes.get_errno() if result == -1 else result)
print(json.dumps(results))
"""


def call_results(calls: Sequence[Sequence[int]], *, free: bool = False) -> list[int]:
    """What comes of system calls, one after the other in one process: a result, or an errno below zero."""
    found: list[int] = run_python(CALLS, json.dumps(calls), free=free)
    return found


@cache
def filter_instructions(machine: str, *, own_user: bool) -> tuple[tuple[int, int, int, int], ...]:
    """The filter for a machine."""
    return tuple(struct.iter_unpack("=HBBI", compile_filter(machine, own_user=own_user)))


def evaluate_filter(machine: str, number: int, *arguments: int, architecture: int = 0, own_user: bool = True) -> int:
    """What the filter for a machine says of a call: the instructions of classic BPF, as far as filters have them."""
    known = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *known)
    program = filter_instructions(machine, own_user=own_user)
    at = value = 0
    while True:
        code, if_so, if_not, constant = program[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, constant)
        elif code == 0x54:
            value &= constant
        elif code == 0x05:
            at += constant
        elif code in (0x15, 0x25, 0x35):
            held = {0x15: value == constant, 0x25: value > constant, 0x35: value >= constant}[code]
            at += if_so if held else if_not
        elif code == 0x06:
            return constant
        else:
            raise AssertionError(f"an instruction {code:#x}, which this does not know")


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
DENIED: tuple[tuple[str, tuple[int, ...], int], ...] = (  # a call, its arguments, and how it fails; 0: it does nothing
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
    ("flock", (0, 6), 0),
    *(("fcntl", (0, command), 0) for command in (6, 7, 37, 38)),
    *((call, (0, 0), 0) for call in ("setsid", "setpgid", "sync", "syncfs", "utime", "utimes", "futimesat")),
    *((call, (0, 0), 0) for call in ("utimensat", "chown", "fchown", "lchown", "fchownat")),
    ("fadvise64", (0, 0, 0, 4), 0),
    ("setrlimit", (4, 0), 0),
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


def evaluate_call(machine: str, call: str, *arguments: int) -> int | None:
    """What the filter says of a call; None if the machine has no such call."""
    found = number(call, machine)
    missing = ("inotify_init", "utime", "utimes", "futimesat", "chown", "lchown") if machine == "aarch64" else ()
    assert (found < 0) is (call in missing), call
    return None if found < 0 else evaluate_filter(machine, found, *arguments)


def variants(arguments: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The same arguments in their lower halves."""
    return {tuple(each | above for each in arguments) for above in (0, 1 << 32, UPPER_BITS)}


# On paper.


@every_machine
def test_denied_calls_fail_whatever_the_upper_half_of_an_argument(machine: str) -> None:
    for call, arguments, fails in DENIED:
        for each in nonempty(variants(arguments)):
            assert evaluate_call(machine, call, *each) in (ERRNO | fails, None), (call, each)


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
        assert evaluate_call(machine, call, *arguments) == ALLOW, (call, arguments)


@every_machine
def test_only_listed_calls_are_denied(machine: str) -> None:
    named = {number(call, machine) for call, *_ in DENIED}

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


@as_root
def test_the_tools_of_the_sandbox_work_under_the_filter() -> None:
    tools = ["prlimit", "--nproc=64", "--core=0", "--"]
    user = ["unshare", "--root", "/", "--wd", "/usr", "--setgid", "1879048192", "--setuid", "1879048192", "--"]

    done = run_filtered([*tools, *user, "sh", "-c", "pwd; id -u; ulimit -c"])

    assert (done.returncode, done.stdout, done.stderr) == (0, "/usr\n1879048192\n0\n", "")


# Bots at work.


def test_threads_and_processes_of_python() -> None:
    text = """
import concurrent.futures, json, multiprocessing, os, signal, subprocess, sys
from multiprocessing import shared_memory

def square(number):
    return number * number

with concurrent.futures.ThreadPoolExecutor(8) as pool:
    squares = list(pool.map(square, range(3)))
context = multiprocessing.get_context("fork")
with context.Pool(2) as pool:
    squares += pool.map(square, range(3, 5))
with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
    squares += pool.map(square, range(5, 6))
queue = context.Queue()
context.Process(target=queue.put, args=("hello",)).start()
memory = shared_memory.SharedMemory(create=True, size=100)
memory.buf[0] = 7
own = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, start_new_session=True, text=True)
group = subprocess.run(["echo", "2"], capture_output=True, process_group=0, text=True)
stopped = subprocess.Popen(["sleep", "1000"])
stopped.send_signal(signal.SIGSTOP)
os.waitpid(stopped.pid, os.WUNTRACED)
stopped.terminate()
stopped.kill()
print(json.dumps([squares, queue.get(), memory.buf[0], own.stdout, group.stdout, stopped.wait()]))
memory.close()
memory.unlink()
"""
    assert run_python(text) == [[0, 1, 4, 9, 16, 25], "hello", 7, "1\n", "2\n", -9]


def test_sqlite_with_a_journal_and_with_a_log_and_two_who_write() -> None:
    text = """
import json, sqlite3, threading
counts = []
for mode in ("delete", "wal"):
    path = f"/tmp/{mode}.db"
    first = sqlite3.connect(path)
    mode_now = first.execute(f"pragma journal_mode={mode}").fetchone()[0]
    first.execute("create table moves (text)")
    first.commit()
    second = sqlite3.connect(path)
    for number in range(50):
        for each in (first, second):
            each.execute("insert into moves values (?)", (number,))
            each.commit()
    counts.append([mode_now, first.execute("select count(*) from moves").fetchone()[0]])
    counts.append(second.execute("pragma integrity_check").fetchone()[0])
print(json.dumps(counts))
"""
    assert run_python(text) == [["delete", 100], "ok", ["wal", 100], "ok"]


def test_asyncio_with_programs_timers_and_sockets() -> None:
    text = """
import asyncio, json, os, signal

async def main():
    loop = asyncio.get_running_loop()
    alarmed = asyncio.Event()
    loop.add_signal_handler(signal.SIGALRM, alarmed.set)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    program = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    said, _ = await program.communicate(b"hello")
    server = await asyncio.start_unix_server(lambda reader, writer: writer.close(), "/tmp/socket")
    reader, writer = await asyncio.open_unix_connection("/tmp/socket")
    end = await reader.read()
    writer.close()
    await asyncio.wait_for(alarmed.wait(), 30)
    print(json.dumps([said.decode(), end.decode()]))

asyncio.run(main())
"""
    assert run_python(text) == ["hello", ""]


@require_program("node")
def test_workers_and_programs_of_node() -> None:
    text = """
const { Worker } = require("worker_threads")
const { execFileSync, spawn } = require("child_process")
const fs = require("fs")
const code = "require('worker_threads').parentPort.postMessage(require('worker_threads').workerData ** 2)"
const work = (number) => new Promise((done) => new Worker(code, { eval: true, workerData: number }).on("message", done))
const alone = () => new Promise((done) => spawn("true", { detached: true }).on("exit", done))
const read = () => fs.promises.readFile("/proc/self/comm", "utf8")
Promise.all([work(3), work(4), alone(), read()]).then((results) => {
    let watched = "watched"
    try { fs.watch("/tmp") } catch (error) { watched = error.code }
    console.log(JSON.stringify([...results, execFileSync("echo", ["hello"]).toString(), watched]))
})
"""
    done = run_filtered(["node", "-e", text])

    assert (done.returncode, done.stdout) == (0, '[9,16,0,"node\\n","hello\\n","EPERM"]\n'), done


@require_program("java", "javac")
def test_streams_locks_and_programs_of_java(tmp_path: Path) -> None:
    (tmp_path / "Work.java").write_text("""
import java.nio.channels.*;
import java.nio.file.*;
import java.util.stream.*;

public class Work {
    public static void main(String[] arguments) throws Exception {
        long sum = LongStream.range(0, 1_000_000).parallel().map(each -> each % 7).sum();
        FileChannel file = new java.io.RandomAccessFile("/tmp/locked", "rw").getChannel();
        boolean locked = file.lock().isValid();
        Process program = new ProcessBuilder("echo", "hello").start();
        String said = new String(program.getInputStream().readAllBytes()).strip();
        String watched = "watched";
        try {
            FileSystems.getDefault().newWatchService();
        } catch (java.io.IOException error) {
            watched = error.getMessage();
        }
        System.out.println(sum + " " + locked + " " + said + " " + program.waitFor() + " " + watched);
    }
}
""")
    done = run_filtered(["java", "-Xmx256m", "Work.java"], tmp_path)

    assert (done.returncode, done.stdout) == (0, "2999997 true hello 0 Operation not permitted\n"), done


@require_program("gcc")
def test_threads_processes_and_shared_memory_of_c(tmp_path: Path) -> None:
    (tmp_path / "work.c").write_text("""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *count(void *counter) { __atomic_fetch_add((int *)counter, 1, __ATOMIC_SEQ_CST); return 0; }

int main(void) {
    int shared = shm_open("/work", O_CREAT | O_RDWR, 0600);
    if (shared < 0 || ftruncate(shared, 4096)) return 1;
    int *counter = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    pthread_t threads[8];
    for (int each = 0; each < 8; each++) if (pthread_create(&threads[each], 0, count, counter)) return 2;
    for (int each = 0; each < 8; each++) pthread_join(threads[each], 0);
    if (fork() == 0) { count(counter); _exit(0); }
    if (vfork() == 0) _exit(0);
    while (wait(0) > 0) ;
    pid_t spawned;
    char *words[] = {"true", 0}, *none[] = {0};
    if (posix_spawnp(&spawned, "true", 0, 0, words, none)) return 3;
    while (wait(0) > 0) ;
    sem_t *semaphore = sem_open("/work", O_CREAT, 0600, 1);
    if (semaphore == SEM_FAILED || sem_wait(semaphore)) return 4;
    FILE *pipe = popen("echo hello", "r");
    char word[6] = "";
    if (!fgets(word, sizeof word, pipe) || pclose(pipe) || system("exit 0")) return 5;
    struct flock lock = {.l_type = F_WRLCK};
    if (fcntl(shared, F_SETLKW, &lock)) return 6;
    printf("%d %s\\n", *counter, word);
    return 0;
}
""")
    made = run_filtered(["gcc", "-O1", "-pthread", "-o", "work", "work.c", "-lrt"], tmp_path)
    assert made.returncode == 0, made  # a compiler works in there too

    done = run_filtered(["./work"], tmp_path)

    assert (done.returncode, done.stdout) == (0, "9 hello\n"), done


@require_program("go")
def test_goroutines_programs_and_profiles_of_go(tmp_path: Path) -> None:
    (tmp_path / "work.go").write_text("""
package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

func main() {
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		panic(err)
	}
	var group sync.WaitGroup
	sums := make([]int, 100)
	for each := range sums {
		group.Add(1)
		go func(each int) {
			defer group.Done()
			for end := time.Now().Add(2 * time.Millisecond); time.Now().Before(end); {
				sums[each] = each
			}
		}(each)
	}
	group.Wait()
	pprof.StopCPUProfile()
	sum := 0
	for _, each := range sums {
		sum += each
	}
	program := exec.Command("echo", "hello")
	program.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	said, err := program.Output()
	dying := exec.Command("true")
	dying.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	fmt.Println(sum, string(bytes.TrimSpace(said)), err, profile.Len() > 0, dying.Run())
}
""")
    environment = ["env", f"GOCACHE={tmp_path}", f"HOME={tmp_path}", "GO111MODULE=off"]
    made = run_filtered([*environment, "go", "build", "-o", "work", "work.go"], tmp_path)
    assert made.returncode == 0, made

    done = run_filtered(["./work"], tmp_path)

    denied = "fork/exec /usr/bin/true: operation not permitted"
    assert (done.returncode, done.stdout) == (0, f"4950 hello <nil> true {denied}\n"), done


# Where there is none.


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ("sys.modules['pyseccomp'] = None", "pyseccomp: not installed"),
        ("ctypes.util.find_library = lambda name: None", "libseccomp: not found by ldconfig"),
        ("ctypes.util.find_library = lambda name: 'libc.so.6'", "libseccomp: .*undefined symbol: seccomp_init"),
        (
            "import pyseccomp; pyseccomp.resolve_syscall = lambda where, call: -1",
            "libseccomp: too old, it does not know memfd_create",
        ),
        (
            "os.uname = lambda: os.uname_result(('', '', '', '', 'riscv64'))",
            "libseccomp: there are filters for x86_64 and aarch64, but this is riscv64",
        ),
    ],
)
def test_a_missing_filter_is_reported_with_the_reason(trouble: str, why: str) -> None:
    imports = "from fairplay.sandbox.seccomp import filter_program, why_no_filter"
    text = f"import ctypes.util, os, sys\n{trouble}\n{imports}\nprint(why_no_filter())\nfilter_program()"

    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)

    said = done.stdout.strip()
    assert done.returncode == 1
    assert re.fullmatch(why, said)
    last = done.stderr.splitlines()[-1]
    assert last == f"{HostFault.__module__}.HostFault: there is no filter of system calls ({said})"


def test_the_filter_is_compiled_once() -> None:
    assert filters.filter_program() is filters.filter_program()
    assert filters.why_no_filter() == ""
