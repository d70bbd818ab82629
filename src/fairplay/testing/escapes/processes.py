"""Try to have too many processes, to outlive the match, to harm other processes, and to gain rights."""

from fairplay.core.events import Fault
from fairplay.testing.escapes.escape_attempt import EscapeAttempt, Language

PROCESS_ATTEMPTS = (
    EscapeAttempt(
        name="bombs with forks",
        tries="processes without end",
        starts_processes=True,
        alone=True,
        fault=Fault.TIMED_OUT,
        turn="""
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.001)
""",
    ),
    EscapeAttempt(
        name="bombs with threads",
        tries="threads without end",
        starts_processes=True,
        turn="""
import threading
try:
    for _ in range(outside["processes"]):
        threading.Thread(target=wait, daemon=True).start()
except RuntimeError:
    os._exit(7)
got_out("has more threads than it may have")
""",
    ),
    EscapeAttempt(
        name="leaves a grandchild that holds the line",
        tries="to end, and to be there all the same",
        turn="""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        wait()
os._exit(7)
""",
    ),
    EscapeAttempt(
        name="stays after the match",
        tries="processes in sessions of their own that let go of everything, change their names and ignore all signals",
        turn="""
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)
            os.closerange(0, 256)
            os.chdir("/")
            libc.prctl(1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG: none
            os.execv("/bin/sh", ["kworker/0:1", "-c", "while :; do sleep 1; done"])
        os._exit(0)
time.sleep(0.2)
os._exit(7)
""",
    ),
    EscapeAttempt(
        name="ignores every signal",
        tries="not to go when it is told to",
        fault=Fault.TIMED_OUT,
        turn="""
for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
wait()
""",
    ),
    EscapeAttempt(
        name="turns into a shell",
        tries="to become another program on its turn",
        fault=Fault.TIMED_OUT,
        turn="""os.execv("/bin/sh", ["sh", "-c", "trap '' TERM HUP; sleep 60", outside["marker"]])""",
    ),
    EscapeAttempt(name="spins", tries="to compute for ever", fault=Fault.TIMED_OUT, turn="while True:\n    pass"),
    EscapeAttempt(
        name="kills itself",
        tries="to look like a fault of the host (SIGKILL)",
        code=None,
        turn="os.kill(os.getpid(), signal.SIGKILL)\nwait()",
    ),
    EscapeAttempt(
        name="kills those above it",
        tries="the first process of its namespace, its parents, its group and all processes, with every signal",
        code=None,
        turn="""
if os.getpid() > 99 and outside["namespaces"]:
    got_out("has a number of the host's, so it had better not go on")
def kill(number, signal, heard=False):
    os.kill(number, signal)
    return heard
parents = {1, os.getppid()} - {0, os.getpid()}
def is_own(number):  # in a container the host's numbers are as small as those of its own namespace
    return outside["namespaces"] and os.path.exists(f"/proc/{number}")
attempt(*(lambda it=it: kill(outside[it], 0, True) for it in ("referee", "parent") if not is_own(outside[it])),
        *(lambda it=it, number=number: kill(it, number) for number in (15, 2, 1, 3, 19, 20, 11, 9) for it in parents),
        lambda: kill(-1, 19), lambda: kill(-1, 9))
""",
    ),
    EscapeAttempt(
        name="traces others",
        tries="ptrace, the memory and the open files of its parents and of the referee",
        language=Language.C,
        turn=r"""
#include <sys/ptrace.h>
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#define SYS_pidfd_getfd 438
#endif
static void one(pid_t pid) {
    if (pid <= 0 || pid == getpid()) return;
    char there[8], here[8];
    struct iovec local = {here, sizeof here}, remote = {there, sizeof there};
    TRY(ptrace(PTRACE_SEIZE, pid, 0, 0));
    TRY(process_vm_readv(pid, &local, 1, &remote, 1, 0));
    TRY(process_vm_writev(pid, &local, 1, &remote, 1, 0));
    int held = syscall(SYS_pidfd_open, pid, 0);
    if (held >= 0) TRY(syscall(SYS_pidfd_getfd, held, 0, 0));
    TRY(syscall(SYS_kcmp, pid, getpid(), 0, 0, 1));
}
static void turn(void) {
    one(getppid());
    one(1);
    if (getpid() < 100) one(2);
    one(number("referee"));
    one(number("parent"));
}
""",
    ),
    EscapeAttempt(
        name="becomes root",
        tries="other users and groups, capabilities, set-user-id programs and another root",
        turn="""
import subprocess
def runs(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
def able(name):
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(status[name], 16) != 0
def capable():
    given = ctypes.create_string_buffer(24)  # effective, permitted and inheritable capabilities, twice
    call({"x86_64": 125, "aarch64": 90}[os.uname().machine], struct.pack("Ii", 0x20080522, 0), given)
    return any(given.raw)
was_root = outside["root"] and not outside["namespaces"]  # then it has the number of root, and nothing else of it
attempt(lambda: os.getuid() == 0 and not was_root, capable, lambda: able("CapEff"), lambda: able("CapPrm"),
        lambda: able("CapAmb"), lambda: libc.prctl(39, 0, 0, 0, 0) != 1,  # PR_GET_NO_NEW_PRIVS
        lambda: os.setuid(0) or not was_root, lambda: os.setgid(0) or not was_root, lambda: os.setuid(1),
        lambda: os.setgroups([0]), lambda: os.chroot("/tmp"),
        lambda: runs("sudo", "-n", "true"), lambda: runs("su", "-c", "true"), lambda: runs("unshare", "-r", "true"),
        lambda: runs("mount", "-t", "tmpfs", "none", "/tmp"))
""",
    ),
    EscapeAttempt(
        name="pushes ahead",
        tries="a better place in the queue for processors and disks",
        turn="""
def deadline():
    times = struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 10 ** 7, 10 ** 8, 10 ** 8)
    return call(314, 0, times, 0) == 0  # sched_setattr
attempt(lambda: os.nice(-1), lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
        *(lambda how=how: os.sched_setscheduler(0, how, os.sched_param(1)) for how in (os.SCHED_FIFO, os.SCHED_RR)),
        *([deadline] if os.uname().machine == "x86_64" else []),
        lambda: call(251, 1, 0, 1 << 13) == 0 if os.uname().machine == "x86_64" else False)  # ioprio_set: real time
""",
    ),
    EscapeAttempt(
        name="looks for secrets in its surroundings",
        tries="our environment, the host's name, processes of others, and what else was left to it",
        beyond_landlock="the name of the host is known",
        turn="""
def knows_secret(name):
    try:
        return outside["secret"].encode() in open(f"/proc/{name}/environ", "rb").read()
    except OSError:
        return False
try:
    numbers = [name for name in os.listdir("/proc") if name.isdigit()]
except OSError:  # there is no /proc for it
    numbers = []
known = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "PWD", "LC_CTYPE", "TMPDIR"}
attempt(lambda: any(map(knows_secret, [*numbers, "self"])), lambda: len(numbers) > 5,
        lambda: os.uname().nodename == outside["host"], lambda: socket.gethostname() == outside["host"],
        lambda: outside["host"] in open("/proc/sys/kernel/hostname").read().split(),
        lambda: bool({name for name in os.environ if not name.startswith("PYTHON")} - known))
""",
    ),
)
