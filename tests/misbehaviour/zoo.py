"""Keep programs that try to get out of their sandbox, or to bring the referee down; each says what it is ejected for.

All are honest until their first turn. What they are told about the outside stands in `outside`: where somebody listens,
who the referee is, where there is something to read or to write. Whoever gets out ends with the exit code OUT.
"""

import msgspec

from fairplay.core.events import Fault

REFUSED, OUT = 7, 42  # exit codes

BEGINNING = """
outside = json.loads(sys.argv[1])

def attempt(*works):
    for work in works:
        try:
            if work() is not False:
                print("this worked:", work.__code__.co_firstlineno, file=sys.stderr)
                os._exit(42)
        except Exception as error:
            print(type(error).__name__, error, file=sys.stderr)
    os._exit(7)

def wait():
    while True:
        time.sleep(60)
"""


class Beast(msgspec.Struct, frozen=True):
    """A program that misbehaves on its turn, and what is to become of it."""

    name: str
    fault: Fault
    turn: str  # the body of its function
    code: int | None = None  # its exit code, if that is certain
    says: str = ""  # what must stand at the end of its stderr

    @property
    def body(self) -> str:
        """For a script."""
        lines = "\n".join(f"    {line}" for line in self.turn.strip().splitlines())
        return f"{BEGINNING}\ndef turn(view):\n{lines}\n"


ZOO = (
    Beast(
        "bombs with forks",
        Fault.TIMED_OUT,
        """
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.001)
""",
    ),
    Beast(
        "bombs with threads",
        Fault.TIMED_OUT,
        """
import threading
started = 0
try:
    while True:
        threading.Thread(target=wait).start()
        started += 1
except RuntimeError:
    print("threads:", "few" if started < 64 else "many", file=sys.stderr, flush=True)
wait()
""",
        says="threads: few",
    ),
    Beast(
        "leaves a grandchild that holds the line",
        Fault.CRASHED,
        """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        wait()
os._exit(7)
""",
        REFUSED,
    ),
    Beast("bombs with memory", Fault.CRASHED, "held = [bytearray(2 ** 26) for _ in range(1000)]", 1, "MemoryError"),
    Beast(
        "leaks memory slowly",
        Fault.CRASHED,
        """
held = []
while True:
    held.append(b"x" * 2 ** 24)
    time.sleep(0.001)
""",
        1,
        "MemoryError",
    ),
    Beast(
        "fills its disk",
        Fault.CRASHED,
        """
written = 0
for place in ("/tmp", "/dev/shm"):
    try:
        for number in range(1000):
            with open(f"{place}/{number}", "wb", buffering=0) as file:
                written += file.write(bytes(2 ** 20))
    except OSError:
        continue
    os._exit(42)
print("written:", "little" if written <= 2 * 2 ** 23 else "much", file=sys.stderr)
os._exit(7)
""",
        REFUSED,
        "written: little",
    ),
    Beast(
        "opens files without end",
        Fault.CRASHED,
        """
held = []
while True:
    held.append(os.open("/dev/null", os.O_RDONLY))
""",
        1,
        "Too many open files",
    ),
    Beast(
        "floods its stdout",
        Fault.FLOOD,
        """
while True:
    os.write(1, b"x" * 65536)
""",
    ),
    Beast(
        "floods its stdout with lines",
        Fault.MALFORMED,
        """
while True:
    os.write(1, b"x\\n" * 30000)
""",
    ),
    Beast(
        "floods its stderr",
        Fault.TIMED_OUT,
        """
while True:
    os.write(2, b"y" * 65536)
""",
        says="yyyy",
    ),
    Beast(
        "opens connections",
        Fault.CRASHED,
        """
import socket
def tcp():
    socket.create_connection(("127.0.0.1", outside["tcp"]), 1).send(b"out")
def out_there():
    socket.create_connection(("192.0.2.1", 80), 0.2)
def abstract():
    socket.socket(socket.AF_UNIX).connect("\\0" + outside["abstract"])
def path():
    socket.socket(socket.AF_UNIX).connect(outside["socket"])
def udp():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"out", ("127.0.0.1", outside["udp"]))
    return False  # nobody can tell from here
attempt(udp, tcp, out_there, abstract, path)
""",
        REFUSED,
    ),
    Beast(
        "signals the referee, its parents and everybody",
        Fault.CRASHED,
        """
if os.getpid() > 99:
    os._exit(42)  # these are not its own numbers, so it is out already, and had better not go on
def kill(number, signal=9, heard=True):
    os.kill(number, signal)
    return heard
attempt(lambda: kill(outside["referee"]), lambda: kill(outside["parent"]), lambda: kill(-outside["group"]),
        lambda: kill(1, 15, False), lambda: kill(1, 19, False), lambda: kill(1, 9, False), lambda: kill(-1, 9, False))
""",
    ),
    Beast(
        "reads journals, passwords and other players",
        Fault.CRASHED,
        """
places = [outside["journal"], outside["other"], "/etc/shadow", "/etc/passwd", "/proc/1/root/etc/shadow", "/proc/kcore",
          "/dev/mem", "/dev/vda", f"{outside['home']}/.ssh", f"{outside['home']}/.bashrc", "/var/log", "/run",
          f"/proc/{outside['referee']}/environ", f"/proc/{outside['referee']}/fd/3"]
def read(place):
    return os.listdir(place) if os.path.isdir(place) else open(place, "rb").read(1)
attempt(*(lambda place=place: read(place) for place in places))
""",
        REFUSED,
    ),
    Beast(
        "writes beside itself and elsewhere",
        Fault.CRASHED,
        """
own, python = os.path.dirname(os.path.abspath(sys.argv[0])), os.path.dirname(sys.executable)
places = [own, python, outside["journal"], outside["writable"], "/", "/etc", "/usr", "/usr/bin", "/root",
          "/home", "/dev", "/proc/sys/kernel", "/var/tmp", "/run"]
attempt(*(lambda place=place: open(f"{place}/written", "w") for place in places),
        lambda: open(sys.argv[0], "a"), lambda: os.unlink(sys.argv[0]), lambda: os.chmod(sys.argv[0], 0),
        lambda: open("/proc/sys/kernel/hostname", "w"), lambda: open("/proc/sysrq-trigger", "w"),
        lambda: os.mknod("/tmp/disk", 0o60666, os.makedev(254, 0)))
""",
        REFUSED,
    ),
    Beast(
        "ignores every signal",
        Fault.TIMED_OUT,
        """
import signal
for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
wait()
""",
    ),
    Beast("stops itself", Fault.TIMED_OUT, "os.kill(os.getpid(), 19)\nwait()"),
    Beast(
        "traces the referee",
        Fault.CRASHED,
        """
import ctypes, subprocess
libc = ctypes.CDLL(None)
def gdb():
    command = ["gdb", "-batch", "-p", str(outside["referee"])]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    return b"ptrace: " not in done.stderr and done.returncode == 0
attempt(lambda: libc.ptrace(16, outside["referee"], 0, 0) == 0, gdb,
        lambda: open(f"/proc/{outside['referee']}/mem", "rb"))
""",
        REFUSED,
    ),
    Beast(
        "becomes root",
        Fault.CRASHED,
        """
import ctypes, subprocess
libc = ctypes.CDLL(None)
def runs(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
attempt(lambda: os.getuid() == 0, lambda: os.setuid(0), lambda: os.setgroups([0]), lambda: os.chroot("/tmp"),
        *(lambda kind=kind: libc.unshare(kind) == 0 for kind in (0x10000000, 0x20000, 0x40000000, 0x20000000)),
        lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0, lambda: runs("sudo", "-n", "true"),
        lambda: runs("unshare", "-r", "true"),
        lambda: os.nice(-1), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
""",
        REFUSED,
    ),
    Beast(
        "looks for secrets in its surroundings",
        Fault.CRASHED,
        """
def told(name):
    try:
        return b"FAIRPLAY_SECRET" in open(f"/proc/{name}/environ", "rb").read()
    except OSError:
        return False
numbers = [name for name in os.listdir("/proc") if name.isdigit()]
attempt(lambda: any(map(told, [*numbers, "self"])), lambda: len(numbers) > 3,
        lambda: len(os.listdir("/proc/self/fd")) > 4, lambda: os.uname().nodename == outside["host"])
""",
        REFUSED,
    ),
    Beast("turns into a shell", Fault.TIMED_OUT, """os.execv("/bin/sh", ["sh", "-c", "trap '' TERM HUP; sleep 60"])"""),
    Beast("closes its stdout and lingers", Fault.TIMED_OUT, "os.close(1)\nwait()"),
    Beast("spins", Fault.TIMED_OUT, "while True:\n    pass"),
    Beast(
        "drips",
        Fault.TIMED_OUT,
        """
for letter in json.dumps({"nonce": line["nonce"], "answer": {"type": "pass"}}):
    os.write(1, letter.encode())
    time.sleep(0.05)
""",
    ),
    Beast(
        "raises its own limits",
        Fault.CRASHED,
        """
import resource
def more(which):
    most = resource.getrlimit(which)[1]
    resource.setrlimit(which, (most, most + 1))
limited = [which for which in range(10) if resource.getrlimit(which)[1] != resource.RLIM_INFINITY]
attempt(*(lambda which=which: more(which) for which in limited),
        lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000"))
""",
        REFUSED,
    ),
)
