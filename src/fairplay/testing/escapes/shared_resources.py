"""Try to use up resources that programs of a user or of the machine share: terminals, signals, pipes, descriptors.

Where an ally takes all it can, the attempt checks whether anything is left.
"""

from fairplay.testing.escapes.escape_attempt import EscapeAttempt

EXIT_SOON = "time.sleep(0.1)\nos._exit(7)"
QUEUE_SIGNALS = """
first = signal.SIGRTMIN + 1
signal.pthread_sigmask(signal.SIG_BLOCK, [first])
def queue(most):
    held = 0
    while held < most and libc.sigqueue(os.getpid(), first, None) == 0:
        held += 1
    return held
"""
PASS_DESCRIPTORS = """
def pass_on(most):
    held = 0
    while held < most:
        pairs.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        pairs[-1][0].setblocking(False)
        try:
            while held < most:
                socket.send_fds(pairs[-1][0], [b"x"], [0])
                held += 1
        except BlockingIOError:  # this one is full
            pass
    return held
global pairs
pairs = []
"""

SHARED_RESOURCE_ATTEMPTS = (
    EscapeAttempt(
        name="takes terminals",
        tries="a pseudo-terminal: there are only so many on a machine",
        turn="""
attempt(lambda: os.openpty(), *(lambda place=place: os.open(place, os.O_RDWR | os.O_NOCTTY)
                      for place in ("/dev/ptmx", "/dev/pts/ptmx", "/dev/pts/0", "/dev/tty", "/dev/console")),
        lambda: os.listdir("/dev/pts"))
""",
    ),
    EscapeAttempt(
        name="queues signals without end",
        tries="all signals that a user may have queued, so that a neighbour has none left",
        beyond_landlock="they are counted for the user, of whom the neighbour is one too",
        ally_start=QUEUE_SIGNALS + "print(queue(10 ** 6), 'queued', file=sys.stderr)",
        ally=EXIT_SOON,
        start=QUEUE_SIGNALS + "global left\nleft = queue(100)",
        turn="if left < 100:\n    got_out(f'only {left} of 100 signals were left to a neighbour')\nos._exit(7)",
    ),
    EscapeAttempt(
        name="keeps descriptors in flight",
        tries="to send as many descriptors as a user may have under way, so that a neighbour can send none",
        ally_start=PASS_DESCRIPTORS
        + """
try:
    pass_on(10 ** 5)
except OSError as error:
    print(error, file=sys.stderr)
""",
        ally=EXIT_SOON,
        start=PASS_DESCRIPTORS
        + """
import errno
global taken
taken = ""
try:
    pass_on(10)
except OSError as error:
    taken = "" if error.errno == errno.EPERM else error.strerror  # what is denied to all cannot be used up
""",
        turn="if taken:\n    got_out(f'a neighbour can send no descriptor: {taken}')\nos._exit(7)",
    ),
    EscapeAttempt(
        name="widens its pipes",
        tries="pipes of a megabyte: of such pages a user has only so many",
        turn="""
import fcntl
ends = os.pipe()
def widen(size):
    fcntl.fcntl(ends[0], 1031, size)  # F_SETPIPE_SZ
    return fcntl.fcntl(ends[0], 1032) > 65536  # F_GETPIPE_SZ
attempt(*(lambda size=size: widen(size) for size in (2 ** 20, 2 ** 17)))
""",
    ),
)
