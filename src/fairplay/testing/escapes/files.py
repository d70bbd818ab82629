"""Try to read files of others, and to write where nothing may be written."""

from fairplay.testing.escapes.escape_attempt import EscapeAttempt, Language

WALK_FILES = """
def look(top):
    for place, directories, names in os.walk(top):
        directories[:] = [it for it in directories if os.path.join(place, it) not in ("/proc", "/usr", "/dev", "/sys")]
        for name in names:
            if name.endswith(".jsonl"):
                try:
                    print(open(os.path.join(place, name)).read(2000), file=sys.stderr)
                except OSError as error:
                    print(error, file=sys.stderr)
                got_out(f"sees {place}/{name}")
    return False
own, around = os.path.dirname(sys.argv[0]), outside["directory"]
attempt(lambda: look("/"), *(lambda top=top: look(top) for top in (own, os.path.realpath(own), around, os.getcwd())),
        *(lambda top=top: look(f"{around}/{top}") for top in ("den", "link", "self/den", "self/link", "journal")))
"""

FILE_ATTEMPTS = (
    EscapeAttempt(
        name="reads what is not its own",
        tries="journals, passwords, disks, logs and the files of other players",
        turn="""
home, own = outside["home"], outside["directory"]
places = [f"{own}/journal", f"{own}/other", f"{own}/other/kept", f"{own}/writable", "/etc/shadow", "/etc/passwd",
          "/proc/kcore", "/dev/mem", "/dev/vda", "/dev/sda", "/dev/kmsg", f"{home}/.ssh", f"{home}/.bashrc", "/var/log",
          "/run", "/sys/kernel", "/boot", f"/proc/{outside['referee']}/environ"]
def read(place):
    found = os.listdir(place) if os.path.isdir(place) else open(place, "rb").read(200)
    print(found, file=sys.stderr)
    return bool(found)
attempt(*(lambda place=place: read(place) for place in places))
""",
    ),
    EscapeAttempt(
        name="reads the seed beside itself",
        tries="the journal of this match, in its own directory",
        turn=WALK_FILES,
        journal="den/games",
    ),
    EscapeAttempt(
        name="reads the seed below itself",
        tries="the journal of this match, deep below its own directory",
        turn=WALK_FILES,
        journal="den/some/where/games",
    ),
    EscapeAttempt(
        name="reads the seed, started through a link",
        tries="the journal of this match, where a link leads to its own directory",
        turn=WALK_FILES,
        program="link/bot",
        journal="den/games",
    ),
    EscapeAttempt(
        name="reads the seed below itself, started through a link",
        tries="the journal of this match, deep below where a link leads to its own directory",
        turn=WALK_FILES,
        program="link/bot",
        journal="den/some/where/games",
    ),
    EscapeAttempt(
        name="reads the seed, started in a roundabout way",
        tries="the journal of this match, where a link leads to the directory above its own",
        turn=WALK_FILES,
        program="self/den/bot",
        journal="den/games",
    ),
    EscapeAttempt(
        name="reads the seed, recorded in a roundabout way",
        tries="the journal of this match, which is named by a link to the directory above its own",
        turn=WALK_FILES,
        journal="self/link/games",
    ),
    EscapeAttempt(
        name="reads the seed, recorded through a link",
        tries="the journal of this match, which is named by a link to its own directory",
        turn=WALK_FILES,
        journal="link/games",
    ),
    EscapeAttempt(
        name="widens its view",
        tries="a first line that names the program of another player as if it were its interpreter",
        first_line="#!/usr/bin/env -S -u {other} python3 -I -S",
        turn="""
own = outside["directory"] + "/other"
attempt(lambda: print(open(f"{own}/kept").read(), file=sys.stderr), lambda: os.listdir(own))
""",
    ),
    EscapeAttempt(
        name="writes wherever it can",
        tries="beside itself, to its own program, into Python, to the settings of the kernel",
        turn="""
here, around = os.path.dirname(os.path.abspath(sys.argv[0])), outside["directory"]
places = [here, os.path.dirname(sys.executable), os.path.dirname(os.__file__), f"{around}/journal",
          f"{around}/writable", "/", "/etc", "/usr", "/usr/bin", "/root", "/home", "/dev", "/proc/sys/kernel",
          "/var/tmp", "/run", "/sys/fs/cgroup"]
def write(place):
    open(f"{place}/written", "w").close()
    return not place.startswith(own + "/")  # a path in its own directory may be no escape
attempt(*(lambda place=place: write(place) for place in places),
        lambda: open(sys.argv[0], "a"), lambda: os.unlink(sys.argv[0]),
        lambda: os.chmod(sys.argv[0], 0) or not os.access(sys.argv[0], os.R_OK),
        lambda: os.setxattr(sys.argv[0], "user.note", b"x"),
        lambda: open("/proc/sys/kernel/hostname", "w"), lambda: open("/proc/sysrq-trigger", "w"),
        lambda: open("/proc/sys/kernel/core_pattern", "w"), lambda: open("/proc/self/exe", "r+b"),
        lambda: os.mknod(f"{own}/disk", 0o60666, os.makedev(254, 0)))
""",
    ),
    EscapeAttempt(
        name="changes times and attributes",
        tries="to leave a note in the times, rights, owners and flags of files that others see, devices among them",
        beyond_landlock="reading a file leaves its time",
        turn="""
import fcntl
devices = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx")]
places = [*devices, sys.argv[0], sys.executable, os.__file__, "/usr/bin/env", "/usr", "/proc/keys", "/dev", "/"]
def traits(place):
    found, notes = os.stat(place), ()
    try:
        notes = os.listxattr(place)
    except OSError:
        pass
    accessed = found.st_atime_ns if place in devices else 0  # others read files too
    return found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, found.st_ctime_ns, accessed, notes
before = {place: traits(place) for place in places if os.path.exists(place)}
utime, utimes, futimesat, utimensat = {"x86_64": (132, 235, 261, 280)}.get(os.uname().machine, (-1, -1, -1, 88))
NOW, OMIT = (1 << 30) - 1, (1 << 30) - 2
def ways(place):
    path, times = place.encode() + b"\\0", [struct.pack("4q", 0, some, 0, other) for some in (NOW, OMIT, 5)
                                             for other in (NOW, OMIT, 5)]
    yield from (lambda which=which: call(which, path, 0) for which in (utime, utimes))
    yield lambda: call(utime, path, struct.pack("2q", 5, 5))
    yield lambda: call(utimes, path, struct.pack("4q", 5, 5, 5, 5))
    yield lambda: call(futimesat, -100, path, 0)
    yield from (lambda which=which: call(utimensat, -100, path, which, 0) for which in (0, *times))
    opened = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    yield from (lambda which=which: call(utimensat, opened, 0, which, 0) for which in (0, *times))
    yield lambda: call(futimesat, opened, 0, 0)
    yield lambda: os.utime(place, (5, 5))
    yield lambda: os.utime(opened)
    mode = before[place][0] & 0o7777  # to set what is set already leaves its time
    yield lambda: os.chmod(place, mode)
    yield lambda: os.fchmod(opened, mode)
    yield lambda: call(452, -100, path, mode, 0)  # fchmodat2
    yield lambda: os.chown(place, -1, -1)
    yield lambda: os.fchown(opened, os.getuid(), os.getgid())
    for name in ("user.note", "security.note", "trusted.note", "system.posix_acl_access"):
        yield lambda name=name: os.setxattr(place, name, b"\\2\\0\\0\\0")
        yield lambda name=name: os.removexattr(opened, name)
    for command in (0x40086602, 0x401c5820, 0x40087602):  # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION
        yield lambda command=command: fcntl.ioctl(opened, command, bytes(64))
    yield lambda: os.truncate(place, os.stat(place).st_size)
    yield lambda: os.posix_fallocate(opened, 0, 1)
    yield lambda: os.read(opened, 1)
    yield lambda: os.listdir(place)
for place in before:
    try:
        for way in ways(place):
            try:
                way()
            except OSError:
                pass
    except OSError as error:
        print(error, file=sys.stderr)
if changed := [place for place in before if traits(place) != before[place]]:
    got_out(f"changed {changed}")
os._exit(7)
""",
    ),
    EscapeAttempt(
        name="links out of its /tmp",
        tries="symbolic and hard links to what lies outside, and paths that go up",
        turn="""
around = outside["directory"]
kept, up = f"{around}/other/kept", own + "/.." * 20
os.symlink(kept, f"{own}/soft")
os.symlink("/proc/self/root", f"{own}/root")
os.symlink("/proc/1/root", f"{own}/first")
def read(place):
    print(open(place).read(), file=sys.stderr)
attempt(lambda: os.link(kept, f"{own}/hard"), lambda: os.link(sys.argv[0], f"{own}/own"), lambda: read(f"{own}/soft"),
        lambda: os.link("/usr/bin/env", f"{own}/env"), lambda: os.rename(sys.argv[0], f"{own}/moved"),
        *(lambda top=top: read(f"{top}{kept}") for top in (f"{own}/root", f"{own}/first", up, "/proc/self/cwd/../../..",
                                                 "/proc/thread-self/root", "/sandbox/..", "/proc/self/root/..")))
""",
    ),
    EscapeAttempt(
        name="goes through /proc",
        tries="the roots, memories, environments and open files of all processes that it sees",
        turn="""
kept, secret = outside["directory"] + "/other/kept", outside["secret"].encode()
try:
    numbers = {name for name in os.listdir("/proc") if name.isdigit()} - {str(os.getpid())}
except OSError:  # there is no /proc for it
    numbers = set()
numbers |= {str(outside[name]) for name in ("referee", "parent")}
def read(place):
    print(open(place).read(), file=sys.stderr)
def knows_secret(number):
    return secret in open(f"/proc/{number}/environ", "rb").read()
def opens(number, name, mode):
    os.close(os.open(f"/proc/{number}/{name}", mode))
attempt(*(lambda it=it: read(f"/proc/{it}/root{kept}") for it in (*numbers, "self")),
        *(lambda it=it: read(f"/proc/{it}/cwd/{kept}") for it in numbers),
        *(lambda it=it: knows_secret(it) for it in (*numbers, "self")),
        *(lambda it=it: opens(it, "mem", os.O_RDWR) for it in numbers),
        *(lambda it=it: opens(it, "oom_score_adj", os.O_WRONLY) for it in numbers),
        lambda: len(numbers) > 5)
""",
    ),
    EscapeAttempt(
        name="fills its disk",
        tries="more in /tmp and /dev/shm than it may have",
        beyond_landlock="only the size of each file is limited",
        turn="""
written = 0
for place in (own, "/dev/shm"):
    try:
        for number in range(100):
            with open(f"{place}/{number}", "wb", buffering=0) as file:
                written += file.write(bytes(2 ** 22))
    except OSError as error:
        print(place, error, file=sys.stderr)
if written > 2 * outside["space"]:
    got_out(f"wrote {written / 2 ** 20:.0f} MB")
os._exit(7)
""",
    ),
    EscapeAttempt(
        name="makes files without end",
        tries="files that are empty, but with names and notes for which the kernel needs memory",
        language=Language.C,
        alone=True,
        held_by_group=True,
        beyond_landlock="the number of files is not limited",
        turn=r"""
#include <sys/stat.h>
#include <sys/xattr.h>
static void turn(void) {
    static char name[256], note[60000];
    const char *own = getenv("TMPDIR");
    long grown = 0, made = 0;
    for (; made < 400000 && grown < number("together") / 4 * 5; made++) {
        snprintf(name, sizeof name, "%s/%0200ld", own ? own : "/tmp", made);
        if (mknod(name, S_IFREG | 0600, 0)) break;
        grown += 1000;  /* for its name, and what else is known of it */
        if (setxattr(name, "user.note", note, sizeof note, 0) == 0) grown += sizeof note;
    }
    fprintf(stderr, "%ld files, for which the kernel keeps %ld MB\n", made, grown >> 20);
    reached("so many files that they take more memory than it may have", grown < number("together") ? -1 : grown);
}
""",
    ),
    EscapeAttempt(
        name="opens files without end",
        tries="more open files than it may have",
        turn="""
held = []
try:
    while len(held) < 2000:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    os._exit(7)
got_out("opened 2000 files")
""",
    ),
    EscapeAttempt(
        name="leaves its memory behind",
        tries="a core dump in a directory of the host, or handed to a program of the host that takes them from a pipe",
        turn="""
import resource
given = resource.getrlimit(resource.RLIMIT_CORE)
libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE
for wanted in ((2 ** 20, 2 ** 20), (0, 1), (0, 0)):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, wanted)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
    setrlimit = {"x86_64": 160, "aarch64": 164}[os.uname().machine]
    call(setrlimit, resource.RLIMIT_CORE, struct.pack("2q", *wanted))
if resource.getrlimit(resource.RLIMIT_CORE) != given or given[1] > 1:
    got_out(f"may leave a core dump: {given}, {resource.getrlimit(resource.RLIMIT_CORE)}")
os.chdir(own)
os.abort()
""",
    ),
)
