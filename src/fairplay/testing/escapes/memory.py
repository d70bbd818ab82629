"""Try to use more memory than allowed, also in ways that process limits do not count."""

from fairplay.testing.escapes.escape_attempt import EscapeAttempt, Language

HOLD_MEMORY = """
most, piece = outside["together"] * 5 // 4, 2 ** 24
def hold(take):
    held = []
    try:
        for _ in range(most // piece):
            held.append(take(piece))
    except (MemoryError, OSError, ValueError) as error:
        print(type(error).__name__, error, f"after {len(held) * piece >> 20} MB", file=sys.stderr, flush=True)
        os._exit(7)
    got_out(f"holds {len(held) * piece >> 20} MB of {outside['together'] >> 20} MB")
"""

MEMORY_ATTEMPTS = (
    EscapeAttempt(
        name="bombs with memory",
        tries="more memory than it may have",
        alone=True,
        turn=HOLD_MEMORY + "hold(lambda size: bytearray(b'x') * size)",
    ),
    EscapeAttempt(
        name="leaks memory slowly",
        tries="the same, a little at a time",
        alone=True,
        turn=HOLD_MEMORY + 'hold(lambda size: (time.sleep(0.005), b"x" * size))',
    ),
    EscapeAttempt(
        name="keeps shared memory",
        tries="memory that is shared, and so is not its data",
        alone=True,
        held_by_group=True,
        turn=HOLD_MEMORY
        + """
def shared(size):
    found = mmap.mmap(-1, size)
    for at in range(0, size, 4096):
        found[at] = 1
    return found
hold(shared)
""",
    ),
    EscapeAttempt(
        name="keeps memory in files that have no name",
        tries="memfd_create, file by file, written and mapped",
        alone=True,
        turn=HOLD_MEMORY
        + """
def nameless(size):
    file = os.memfd_create("held")
    for _ in range(16):
        os.write(file, b"x" * (size // 16))
    return file
hold(nameless)
""",
    ),
    EscapeAttempt(
        name="keeps memory in segments",
        tries="shared memory of System V",
        alone=True,
        language=Language.C,
        turn=r"""
#include <sys/shm.h>
static void turn(void) {
    long piece = 16L << 20, most = number("together") / 4 * 5, held = 0;
    while (held < most) {
        int id = shmget(IPC_PRIVATE, piece, IPC_CREAT | 0600);
        char *at = id < 0 ? (char *)-1 : shmat(id, 0, 0);
        if (at == (char *)-1) { perror("shm"); _exit(7); }
        memset(at, 1, piece);
        shmdt(at);  /* it stays, and is in no address space */
        held += piece;
    }
    reached("segments with more memory than it may have", held);
}
""",
    ),
    EscapeAttempt(
        name="keeps memory in many processes",
        tries="four processes, each of which may have nearly all of it",
        alone=True,
        held_by_group=True,
        turn="""
share, ready = outside["memory"] * 2 // 5, mmap.mmap(-1, 4)
children = []
for place in range(4):
    child = os.fork()
    if child == 0:
        try:
            held = bytearray(share)
            for at in range(0, share, 4096):
                held[at] = 1
            ready[place] = 1
            wait()
        finally:
            os._exit(1)
    children.append(child)
while all(os.waitpid(child, os.WNOHANG) == (0, 0) for child in children):
    if ready[:] == b"\\1" * 4:
        got_out(f"holds {4 * share >> 20} MB of {outside['together'] >> 20} MB in four processes")
    time.sleep(0.01)
os._exit(7)
""",
    ),
    EscapeAttempt(
        name="keeps memory in pipes and sockets",
        tries="the buffers of the kernel, as full as they get",
        alone=True,
        turn=r"""
import fcntl
held, size, what = [], 0, b"x" * 2 ** 20
def fill(end):
    nonlocal size
    os.set_blocking(end, False)
    try:
        while True:
            size += os.write(end, what)
    except BlockingIOError:
        pass
try:
    while True:
        held.append(os.pipe())
        try:
            fcntl.fcntl(held[-1][1], 1031, 2 ** 20)  # F_SETPIPE_SZ
        except OSError:
            pass
        fill(held[-1][1])
        pair = socket.socketpair()
        held.append(pair)
        pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 ** 26)
        fill(pair[0].fileno())
except (OSError, MemoryError) as error:
    print(error, f"with {size >> 20} MB in buffers", file=sys.stderr)
if size > outside["together"]:
    got_out(f"keeps {size >> 20} MB in buffers")
os._exit(7)
""",
    ),
    EscapeAttempt(
        name="raises its own limits",
        tries="every limit it has",
        turn="""
import resource
def more(which):
    return now(which, resource.getrlimit(which)[1] + 1)
def unlimited(which):
    return now(which, resource.RLIM_INFINITY)
def now(which, most):
    resource.setrlimit(which, (most, most))
    return resource.getrlimit(which)[1] == most
limited = [which for which in range(16) if resource.getrlimit(which)[1] != resource.RLIM_INFINITY]
attempt(lambda: not limited, *(lambda which=which: more(which) for which in limited),
        *(lambda which=which: unlimited(which) for which in limited))
""",
    ),
    EscapeAttempt(
        name="lets others go first",
        tries="not to be killed first where memory runs out",
        turn="""
def stays(value):
    os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), value)
attempt(*(lambda value=value: stays(value) for value in (b"-1000", b"-1", b"0", b"999")))
""",
    ),
)
