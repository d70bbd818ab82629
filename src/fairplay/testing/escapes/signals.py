"""Try to compute while not asked: a program has to rest then, with all its processes."""

from fairplay.core.events import Fault
from fairplay.testing.escapes.escape_attempt import SLEEP_THEN_EXIT, EscapeAttempt

BURN_IN_CHILD = """
def burns(place, before=lambda: None):
    child = os.fork()
    if child == 0:
        try:
            before()
        except OSError as error:  # then it burns all the same
            print(error, file=sys.stderr, flush=True)
        burn(place)
    return child
"""
SET_TIMER = """
def timer(number, after, every=0.0):
    made = ctypes.c_void_p()
    def parts(seconds):
        return int(seconds), int(seconds % 1 * 1e9)
    try:
        libcall("timer_create", 1, struct.pack("qii48x", 0, number, 0), ctypes.byref(made))
        libcall("timer_settime", made.value or 0, 0, struct.pack("qqqq", *parts(every), *parts(after)), 0)
    except OSError as error:
        print(error, file=sys.stderr, flush=True)
"""

SIGNAL_ATTEMPTS = (
    EscapeAttempt(
        name="burns while others think",
        tries="58 processes in sessions of their own that compute while another is asked",
        start=BURN_IN_CHILD
        + """
for place in range(58):
    burns(place, os.setsid)
""",
        turn="rested_or_out()",
        alone=True,
        ally=SLEEP_THEN_EXIT,
    ),
    EscapeAttempt(
        name="thinks in a thread while others think",
        tries="to compute on while another is asked",
        start="import threading\nthreading.Thread(target=burn, daemon=True).start()",
        turn="rested_or_out()",
        alone=True,
        ally=SLEEP_THEN_EXIT,
    ),
    EscapeAttempt(
        name="is woken by a timer",
        tries="timers that send SIGCONT, to undo a stop",
        start=BURN_IN_CHILD
        + SET_TIMER
        + """
burns(0, lambda: timer(signal.SIGCONT, 0.02, 0.02))
timer(signal.SIGCONT, 0.02, 0.02)
""",
        turn="rested_or_out()",
        alone=True,
        ally=SLEEP_THEN_EXIT,
    ),
    EscapeAttempt(
        name="is woken by a death",
        tries="SIGCONT when its parent dies, whom a timer kills",
        start=BURN_IN_CHILD
        + SET_TIMER
        + """
for place in range(5):
    if os.fork() == 0:
        timer(signal.SIGKILL, 0.05 + place * 0.1)
        burns(place, lambda: libc.prctl(1, signal.SIGCONT, 0, 0, 0))  # PR_SET_PDEATHSIG
        wait()
""",
        turn="rested_or_out()",
        alone=True,
        ally=SLEEP_THEN_EXIT,
    ),
    EscapeAttempt(
        name="is woken by a pipe",
        tries="SIGCONT when a pipe is closed (F_SETSIG), whose holder a timer kills",
        start=BURN_IN_CHILD
        + SET_TIMER
        + """
import fcntl
for place in range(5):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        timer(signal.SIGKILL, 0.05 + place * 0.1)
        wait()
    def before():
        os.close(writing)
        fcntl.fcntl(reading, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(reading, 10, signal.SIGCONT)  # F_SETSIG
        fcntl.fcntl(reading, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
    burns(place, before)
    os.close(writing)
""",
        turn="rested_or_out()",
        alone=True,
        ally=SLEEP_THEN_EXIT,
    ),
    EscapeAttempt(
        name="is woken by its children",
        tries="processes that keep sending SIGCONT to all the others",
        start=BURN_IN_CHILD
        + """
def wake():
    os.setsid()
    if os.fork() == 0:
        while True:
            try:
                os.kill(-1, signal.SIGCONT)
            except OSError:
                time.sleep(0.01)
if os.getpid() < 100:  # or else these are numbers of the host's
    for place in range(8):
        burns(place, wake)
""",
        turn="rested_or_out()",
        alone=True,
        ally=SLEEP_THEN_EXIT,
    ),
    EscapeAttempt(
        name="is woken as an orphan",
        tries="SIGCONT from the kernel for a group of processes whose last relative outside of it ends slowly",
        start="""
(go_read, go_write), (waiting, ready) = os.pipe(), os.pipe()
for place in range(3):
    if os.fork() == 0:
        if os.fork() == 0:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.setpgid(0, 0)
            burn(place)
        held = bytearray(2 ** 27)
        for at in range(0, len(held), 4096):
            held[at] = 1
        os.write(ready, b"x")
        os.read(go_read, 1)
        os._exit(0)  # which takes a while, with so much to give back
for _ in range(3):
    os.read(waiting, 1)
os.write(go_write, b"xxx")
""",
        turn="rested_or_out()",
        alone=True,
        ally=SLEEP_THEN_EXIT,
    ),
    EscapeAttempt(
        name="computes inside the kernel",
        tries="calls that take long and that no stop interrupts: to fill the tables of a large mapping",
        start="""
global calls
calls = []  # of each process: its number, and its place on the board
for place in range(2):
    child = os.fork()
    if child == 0:
        large = mmap.mmap(-1, 2 ** 32 - 2 ** 28, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
        large.madvise(15)  # MADV_NOHUGEPAGE
        while True:
            since, spent = time.monotonic(), time.thread_time()
            struct.pack_into("dd", board, place * 32, since, spent)
            try:
                large.madvise(22)  # MADV_POPULATE_READ: no memory, but a million entries in its tables
            except OSError as error:
                print(error, file=sys.stderr, flush=True)
                os._exit(0)
            struct.pack_into("dd", board, place * 32 + 16, since, time.thread_time() - spent)
            large.madvise(mmap.MADV_DONTNEED)
    calls.append((child, place))
time.sleep(0.02)
""",
        turn="""
burned = 0.0
for child, place in calls:
    since, spent, before, cost = struct.unpack_from("4d", board, place * 32)
    for since, cost in ((since, time.clock_gettime(~child << 3 | 2) - spent), (before, cost)):
        if 0 < since < greeted:  # it was under way when it was no longer asked
            burned += max(0.0, cost - (greeted + 0.1 - since))
print(f"computed for {burned * 1e3:.1f} ms in calls", file=sys.stderr, flush=True)
if burned > 0.025:
    got_out(f"computed for {burned * 1e3:.0f} ms while not asked")
os._exit(7)
""",
        alone=True,
        ally=SLEEP_THEN_EXIT,
    ),
    EscapeAttempt(
        name="runs away from the stop",
        tries="processes that fork and end without pause, so that they cannot be listed",
        start="""
def run():
    spent, place = time.thread_time(), os.getpid() % PROCESSES
    while True:
        now = time.thread_time()
        step = min(STEPS - 1, int((time.monotonic() - began) / STEP))
        at = 4 * (place * STEPS + step)
        struct.pack_into("I", board, at, struct.unpack_from("I", board, at)[0] + int((now - spent) * 1e6))
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            time.sleep(0.001)
        spent = time.thread_time()
        for _ in range(10_000):
            pass
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        run()
""",
        turn="rested_or_out()",
        alone=True,
        ally=SLEEP_THEN_EXIT,
    ),
    EscapeAttempt(
        name="stops itself",
        tries="to be stopped when it is asked, so that it has more time",
        fault=Fault.TIMED_OUT,
        turn="os.kill(os.getpid(), signal.SIGSTOP)\nwait()",
    ),
)
