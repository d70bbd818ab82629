"""Try to crash the referee over the connection, or to keep it waiting."""

from fairplay.core.events import Fault
from fairplay.testing.escapes.escape_attempt import EscapeAttempt

CONNECTION_ATTEMPTS = (
    EscapeAttempt(
        name="floods its stdout",
        tries="a line without an end",
        fault=Fault.FLOOD,
        turn='while True:\n    os.write(1, b"x" * 65536)',
    ),
    EscapeAttempt(
        name="floods its stdout with lines",
        tries="lines without end",
        fault=Fault.MALFORMED,
        turn='while True:\n    os.write(1, b"x\\n" * 30000)',
    ),
    EscapeAttempt(
        name="floods its stderr",
        tries="to fill the memory in which the referee keeps stderr",
        fault=Fault.TIMED_OUT,
        turn='while True:\n    os.write(2, b"y" * 65536)',
        says="yyyy",
    ),
    EscapeAttempt(
        name="drips",
        tries="a byte at a time, so that it always seems to be busy",
        fault=Fault.TIMED_OUT,
        turn="""
for letter in json.dumps({"nonce": line["nonce"], "answer": {"type": "pass"}}):
    os.write(1, letter.encode())
    time.sleep(0.05)
""",
    ),
    EscapeAttempt(
        name="closes its stdout and lingers",
        tries="to be waited for when it can say nothing any more",
        fault=Fault.TIMED_OUT,
        turn="os.close(1)\nwait()",
    ),
    EscapeAttempt(
        name="types for the host",
        tries="to put words into the host's terminal (TIOCSTI)",
        turn=r"""
import fcntl
def types(place):
    descriptor = place if isinstance(place, int) else os.open(place, os.O_RDWR | os.O_NOCTTY)
    for letter in b"echo typed by a player\n":
        fcntl.ioctl(descriptor, 0x5412, bytes([letter]))  # TIOCSTI
places = (0, 1, 2, "/dev/tty", "/dev/console", "/dev/tty1", "/dev/ptmx")
attempt(*(lambda place=place: types(place) for place in places))
""",
    ),
    EscapeAttempt(
        name="answers for the referee",
        tries="to find other ends of its pipes, or pipes of others, among open descriptors",
        turn="""
import stat
def kept(name):
    try:
        return name, os.fstat(int(name)).st_mode
    except OSError:
        return name, 0  # that of the listing itself
def strange():
    open_ones = [(name, mode) for name, mode in map(kept, os.listdir("/proc/self/fd")) if mode]
    others = [name for name, mode in open_ones if int(name) > 2 and os.readlink(f"/proc/self/fd/{name}") != sys.argv[0]]
    kinds = [mode for name, mode in open_ones if int(name) < 3 and not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))]
    print("open:", open_ones, file=sys.stderr)
    return bool(others or kinds)
def of_others():
    own = {os.readlink(f"/proc/self/fd/{name}") for name in range(3)} | {"/dev/null"}
    for process in filter(str.isdigit, os.listdir("/proc")):
        for name in os.listdir(f"/proc/{process}/fd") if int(process) != os.getpid() else ():
            place = f"/proc/{process}/fd/{name}"
            if os.readlink(place) not in own:
                os.close(os.open(place, os.O_RDWR | os.O_NONBLOCK))
                got_out(f"opened {place}, which is {os.readlink(place)}")
    return False
attempt(strange, of_others)
""",
    ),
)
