"""Try to reach the host, the network, or an ally at another seat of the same match."""

from fairplay.testing.escapes.escape_attempt import EscapeAttempt

SHARED_FILE = """
def shared_file():
    library = os.path.dirname(os.__file__)
    names = sorted(name for name in os.listdir(library) if name.endswith(".py"))
    return os.path.join(library, names[sum(map(ord, ally_marker())) % len(names)])
def ally_marker():
    return outside["marker"]
"""
READ_PROC_FIGURES = """
def figures():
    found = {}
    for place, directories, names in os.walk("/proc"):
        if place == "/proc":  # what its own processes do it may know; and every look at a uuid brings another
            directories[:] = [it for it in directories if not it.isdigit() and it not in ("self", "thread-self", "net")]
        for name in names:
            if name not in ("uuid", "kmsg"):
                try:
                    opened = os.open(f"{place}/{name}", os.O_RDONLY | os.O_NONBLOCK)
                except OSError:
                    continue
                try:
                    found[f"{place}/{name}"] = os.read(opened, 2 ** 20)
                except OSError:
                    pass
                os.close(opened)
    return found
"""
KEYRING = """
ADD, KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(os.uname().machine, (-1, -1))
name = outside["marker"].encode()
"""

CHANNEL_ATTEMPTS = (
    EscapeAttempt(
        name="opens connections",
        tries="to reach listeners on this and other machines: TCP, UDP, UNIX sockets with a path and without",
        turn="""
def tcp():
    socket.create_connection(("127.0.0.1", outside["tcp"]), 1).send(b"out")
def other_machine():
    socket.create_connection(("192.0.2.1", 80), 0.2)
def abstract():
    socket.socket(socket.AF_UNIX).connect("\\0" + outside["abstract"])
def path():
    socket.socket(socket.AF_UNIX).connect(outside["directory"] + "/socket")
def udp():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"out", ("127.0.0.1", outside["udp"]))
    return False  # the result is visible only at the other end
attempt(udp, tcp, other_machine, abstract, path,
        lambda: socket.socket(socket.AF_UNIX).connect("/run/dbus/system_bus_socket"),
        lambda: socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock"))
""",
    ),
    EscapeAttempt(
        name="meets a friend in the network",
        tries="abstract and loopback sockets on which another player of this match listens",
        ally_start="""
global listening
listening = [socket.socket(socket.AF_UNIX)]
listening[0].bind("\\0friend" + outside["marker"])
try:
    loopback = socket.socket()
    loopback.bind(("127.0.0.1", 40000 + sum(map(ord, outside["marker"])) % 9999))
    listening.append(loopback)
except OSError as error:
    print(error, file=sys.stderr)
for it in listening:
    it.listen()
""",
        ally="time.sleep(0.1)\nos._exit(7)",
        start="""
def abstract():
    socket.socket(socket.AF_UNIX).connect("\\0friend" + outside["marker"])
def loopback():
    socket.create_connection(("127.0.0.1", 40000 + sum(map(ord, outside["marker"])) % 9999), 1)
global met
met = []
for work in (abstract, loopback):
    try:
        work()
        met.append(work.__name__)
    except OSError as error:
        print(error, file=sys.stderr)
""",
        turn="attempt(lambda: bool(met))",
    ),
    EscapeAttempt(
        name="meets a friend in files",
        tries="what another player of this match wrote to /tmp, /dev/shm and /var/tmp",
        beyond_landlock="whether a path exists can be asked",
        ally_start="""
for place in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue", os.path.dirname(sys.argv[0])):
    try:
        open(f"{place}/{outside['marker']}", "w").write("hello")
    except OSError:
        pass
""",
        ally="os._exit(7)",
        start="""
global found
places = ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue", outside["directory"] + "/second")
found = [place for place in places if os.path.exists(f"{place}/{outside['marker']}")]
found += [place for place in places[-1:] if os.path.exists(place)]
""",
        turn="if found:\n    got_out(f'found something in {found}')\nos._exit(7)",
    ),
    EscapeAttempt(
        name="meets a friend in System V",
        tries="shared memory and message queues that another player of this match made",
        ally_start="""
key = sum(ord(letter) * 31 ** at for at, letter in enumerate(outside["marker"])) % 2 ** 30
libc.shmget(key, 4096, 0o1666)
libc.msgget(key, 0o1666)
libc.semget(key, 1, 0o1666)
""",
        ally="os._exit(7)",
        start="""
global met
key = sum(ord(letter) * 31 ** at for at, letter in enumerate(outside["marker"])) % 2 ** 30
met = [libc.shmget(key, 4096, 0) >= 0, libc.msgget(key, 0) >= 0, libc.semget(key, 1, 0) >= 0]
""",
        turn="attempt(lambda: any(met))",
    ),
    EscapeAttempt(
        name="signals a friend by file locks",
        tries="flock and fcntl locks on a file of Python's, which another player of this match holds",
        ally_start=SHARED_FILE
        + """
import fcntl
global held
held = [open(shared_file(), "rb") for _ in range(2)]
for lock in (lambda: fcntl.flock(held[0], fcntl.LOCK_EX), lambda: fcntl.lockf(held[1], fcntl.LOCK_SH)):
    try:
        lock()
    except OSError as error:
        print(error, file=sys.stderr)
""",
        ally="time.sleep(0.1)\nos._exit(7)",
        start=SHARED_FILE
        + """
import fcntl
global heard
heard = []
file = open(shared_file(), "rb")
try:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    heard.append("flock")
except OSError as error:
    print("flock", error, file=sys.stderr)
for name, command in (("fcntl", fcntl.F_GETLK), ("open file description", 36)):
    try:
        found = fcntl.fcntl(file, command, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        if struct.unpack("hhqqi4x", found)[0] != fcntl.F_UNLCK:
            heard.append(name)
    except OSError as error:
        print(name, error, file=sys.stderr)
""",
        turn="if heard:\n    got_out(f'heard a friend by {heard}')\nos._exit(7)",
    ),
    EscapeAttempt(
        name="signals a friend by watching files",
        tries="inotify on a file of Python's, which another player of this match opens",
        ally=SHARED_FILE
        + """
for _ in range(5):
    open(shared_file(), "rb").read(1)
    time.sleep(0.02)
os._exit(7)
""",
        start=SHARED_FILE
        + """
global watching
watching = libc.inotify_init1(os.O_NONBLOCK)
libc.inotify_add_watch(watching, shared_file().encode(), 0x21)  # opened, or read
""",
        turn="""
time.sleep(0.05)
attempt(lambda: os.read(watching, 4096))
""",
    ),
    EscapeAttempt(
        name="signals a friend by keys",
        tries="a key in the session's keyring, which another player of this match put there",
        ally_start=KEYRING
        + """
for ring in (-3, -4, -5):
    key = call(ADD, b"user\\0", name + b"\\0", b"hello", 5, ring)
    if key > 0:
        call(KEYCTL, 5, key, 0x3f3f3f3f)  # KEYCTL_SETPERM: for all users
        call(KEYCTL, 15, key, 20)  # KEYCTL_SET_TIMEOUT, so that it is soon gone
""",
        ally="time.sleep(0.1)\nos._exit(7)",
        start=KEYRING
        + """
global found
found = [ring for ring in (-3, -4, -5) if call(KEYCTL, 10, ring, b"user\\0", name + b"\\0", 0) > 0]  # KEYCTL_SEARCH
""",
        turn="if found:\n    got_out(f'found the key in {found}')\nos._exit(7)",
    ),
    EscapeAttempt(
        name="reads what a friend does in /proc",
        tries="figures of the whole machine that change while another player of this match computes and keeps things",
        ally="""
import threading
held = [threading.Thread(target=time.sleep, args=(5,), daemon=True) for _ in range(30)]
for it in held:
    it.start()
held += [bytearray(2 ** 26), os.urandom(2 ** 20), *(os.pipe() for _ in range(50))]
until = time.monotonic() + 0.3
while time.monotonic() < until:
    os.stat("/usr")
os._exit(7)
""",
        start=READ_PROC_FIGURES + "global before\nbefore = figures()",
        turn=READ_PROC_FIGURES
        + """
after = figures()
if changed := sorted(place for place in {*before, *after} if before.get(place) != after.get(place)):
    got_out(f"{len(changed)} figures changed, such as {changed[:5]}")
print(len(after), "figures", file=sys.stderr)
os._exit(7)
""",
    ),
    EscapeAttempt(
        name="asks what is in the page cache",
        tries="whether others have read a part of a file of Python's: preadv2 with RWF_NOWAIT, mincore, cachestat",
        turn=SHARED_FILE
        + """
file = os.open(shared_file(), os.O_RDONLY)
def at_once():
    try:
        os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
    except BlockingIOError:  # which is an answer
        pass
def resident():
    libc.mmap.restype = ctypes.c_void_p
    at = libc.mmap(None, 4096, 1, 1, file, 0)
    return libc.mincore(ctypes.c_void_p(at), 4096, ctypes.create_string_buffer(1)) == 0
attempt(at_once, resident, lambda: call(451, file, bytes(16), ctypes.create_string_buffer(64), 0) == 0)
""",
    ),
    EscapeAttempt(
        name="reads numbers that are given to all",
        tries="the cookies of sockets, which are counted for the whole machine",
        turn="""
one = socket.socketpair()[0]
attempt(*(lambda which=which: one.getsockopt(socket.SOL_SOCKET, which, 8) for which in (57, 71)))
""",
    ),
    EscapeAttempt(
        name="uses the keyrings of the host",
        tries="to list, to add to and to revoke keys of the host's user (add_key, keyctl, request_key)",
        turn=KEYRING
        + """
room = ctypes.create_string_buffer(4096)
def added(ring):
    key = call(ADD, b"user\\0", name + b"2\\0", b"hello", 5, ring)
    return key > 0 and (call(KEYCTL, 9, key, ring), call(KEYCTL, 3, key))  # unlinked and revoked again
if KEYCTL < 0:
    os._exit(7)
key = call(KEYCTL, 10, -3, b"user\\0", outside["secret"].encode() + b"\\0", 0)  # KEYCTL_SEARCH
if key > 0 and call(KEYCTL, 11, key, room, 4096) > 0:  # KEYCTL_READ
    got_out(f"the key of the host says {room.value}")
attempt(*(lambda ring=ring: call(KEYCTL, 0, ring, 0) > 0 for ring in (-3, -4, -5)),  # KEYCTL_GET_KEYRING_ID
        *(lambda ring=ring: call(KEYCTL, 11, ring, room, 4096) > 0 for ring in (-3, -4, -5)),  # KEYCTL_READ
        *(lambda ring=ring: added(ring) for ring in (-3, -4, -5)),
        lambda: call(KEYCTL, 1, 0) > 0)  # KEYCTL_JOIN_SESSION_KEYRING
""",
    ),
    EscapeAttempt(
        name="lists the keys of the host",
        tries="the names of keys in /proc/keys",
        turn="attempt(lambda: outside['secret'] in open('/proc/keys').read())",
    ),
)
