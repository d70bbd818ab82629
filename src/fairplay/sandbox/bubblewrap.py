"""Write the command line of bubblewrap: a tree in which everything is where it is outside, but little of it is there.

As root there is no user namespace, for in one the number of processes would not be limited. The program is a stranger
instead, with a user id that nobody has; whatever it needs has to be open to strangers.
"""

import os
import secrets
import shlex
import site
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fairplay.core.errors import BadRequest
from fairplay.sandbox.figures import figures
from fairplay.sandbox.folder import contents
from fairplay.sandbox.level import Sandbox
from fairplay.sandbox.shown import Named, Shown, refuse_unseen_interpreter, shown_to, straight

OF_THE_HOST = (  # in /proc, whoever looks: its keys, and counts by which two programs could tell each other something
    *("keys", "key-users", "kcore", "timer_list", "sched_debug", "latency_stats", "locks", "vmstat", "zoneinfo"),
    *("buddyinfo", "pagetypeinfo", "slabinfo", "schedstat", "interrupts", "softirqs", "diskstats", "loadavg", "uptime"),
    *("cgroups", "crypto", "mdstat", "modules", "swaps", "fs", "irq", "driver", "pressure", *figures()),
    *("sys/kernel/pty/nr", "sys/fs/file-nr", "sys/fs/inode-nr", "sys/fs/inode-state", "sys/fs/dentry-state"),
    *("sys/fs/aio-nr", "sys/fs/quota"),
)
DEVICES = ("full", "null", "random", "urandom", "zero")  # no terminals: there are only so many on a machine
STREAMS = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
JAIL = "/jail"  # root's programs change their root once more: whoever did that makes no user namespaces
MADE = ("/", "/dev", "/dev/shm", "/proc", "/tmp")  # directories that are there before all others
STRANGERS = range(0x7000_0000, 0x7800_0000)  # user ids that nobody gives to anybody
MOST_OPENED = 100  # files in a folder that is closed to strangers; each is a mount


def shut_in(
    program: str, arguments: Sequence[str], sandbox: Sandbox, *, within_limits: Sequence[str], options: Sequence[str]
) -> list[str]:
    """What runs a program shut in. The words that limit it are run inside.

    More options of bubblewrap come behind those that make the tree.
    The environment has to be cleared outside: it could be read in /proc where bubblewrap was given it.
    """
    root, cwd = os.geteuid() == 0, Path.cwd()
    program, *arguments = map(straight, (program, *arguments))
    shown = shown_to(program, (*arguments, *sandbox.shown), sandbox.hidden, cwd)
    variables = environment(shown.tools)
    if any(one.path == Path(program).absolute() for one in shown.own):
        refuse_unseen_interpreter(Path(program), shown, variables["PATH"])
    flags = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    flags += ["--die-with-parent", "--new-session", "--hostname", "player"]
    for name, value in variables.items():
        flags += ["--setenv", name, value]
    jail = JAIL if root else ""
    inside = [*unchanged(shown.own, jail), *within_limits]
    if root:
        refuse_closed(Path(program).absolute(), shown.own)
        uid = str(stranger())
        inside += ["unshare", "--root", JAIL, "--wd", str(cwd), "--setgid", uid, "--setuid", uid, "--"]
        open_closed(shown)
    else:
        flags += ["--unshare-user", "--disable-userns", "--chdir", str(cwd)]
    made = [*tree(shown, cwd, jail, sandbox.space), *options, "--remount-ro", "/"]
    return ["bwrap", *flags, *made, "--", *inside, program, *arguments]


def with_figures(opened: Mapping[str, int]) -> Iterator[str]:
    """The options that put files into /proc, which bubblewrap reads from descriptors."""
    jail = JAIL if os.geteuid() == 0 else ""
    for name, number in opened.items():
        yield from ("--perms", "0444", "--ro-bind-data", str(number), f"{jail}/proc/{name}")


def tree(shown: Shown, cwd: Path, jail: str, space: int) -> Iterator[str]:
    """The options that make the tree of files, inside of a directory."""
    if jail:
        yield from ("--perms", "0755", "--dir", jail)
        for name in ("usr", "bin", "lib", "lib64", "proc"):  # for the tools on the way there
            yield from ("--symlink", f"{jail[1:]}/{name}", f"/{name}")
    yield from ("--proc", f"{jail}/proc")
    for name in OF_THE_HOST:
        if Path("/proc", name).is_dir():
            yield from ("--perms", "0000", "--tmpfs", f"{jail}/proc/{name}", "--remount-ro", f"{jail}/proc/{name}")
        elif Path("/proc", name).exists():
            yield from ("--ro-bind", "/dev/null", f"{jail}/proc/{name}")
    yield from ("--remount-ro", f"{jail}/proc", "--perms", "0755", "--tmpfs", f"{jail}/dev")
    for name in DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"{jail}/dev/{name}")
    for name, target in STREAMS.items():
        yield from ("--symlink", f"/proc/self/{target}", f"{jail}/dev/{name}")
    yield from ("--size", str(space), "--perms", "1777", "--tmpfs", f"{jail}/dev/shm", "--remount-ro", f"{jail}/dev")
    yield from ("--size", str(space), "--perms", "1777", "--tmpfs", f"{jail}/tmp")
    wanted = {*shown.places, *shown.links, cwd}
    around = {parent for path in wanted for parent in path.parents}
    emptied = []
    for path in sorted({*wanted, *around, *shown.concealed}):  # what is around something comes before it
        if path in shown.concealed and is_seen(path.parent, shown):
            if path.is_dir():
                yield from ("--perms", "0755", "--tmpfs", f"{jail}{path}")
                emptied.append(path)
            elif path.exists():
                yield from ("--ro-bind", "/dev/null", f"{jail}{path}")
            else:
                raise BadRequest(f"{path} has to exist before a program starts, or it cannot be hidden from it")
        elif is_seen(path.parent, shown) or str(path) in MADE:
            continue
        elif path in shown.places and path not in shown.concealed:
            yield from ("--ro-bind", str(path), f"{jail}{path}")
        elif path in shown.links:
            yield from ("--symlink", str(shown.links[path]), f"{jail}{path}")
        elif path in around or path == cwd:
            yield from ("--perms", "0755", "--dir", f"{jail}{path}")
    for path in emptied:
        yield from ("--remount-ro", f"{jail}{path}")


def is_seen(path: Path, shown: Shown) -> bool:
    """Is this in a place that is shown, and not in a concealed part of it?"""
    for around in (path, *path.parents):
        if around in shown.concealed:
            return False
        if around in shown.places:
            return True
    return False


def unchanged(own: Sequence[Named], jail: str) -> list[str]:
    """What runs a command only if what is shown is what we looked at, where others could have replaced it since."""
    doubtful = [one for one in own if others_could_replace(one.real)]
    if not doubtful:
        return []
    looks = shlex.join(["stat", "-c", "%d:%i", "--", *(f"{jail}{one.real}" for one in doubtful)])
    identities = "\n".join(f"{device}:{number}" for device, number in (one.identity for one in doubtful))
    otherwise = "{ echo 'somebody replaced the files of this program while it was started' >&2; exit 1; }"
    return ["sh", "-c", f'test "$({looks})" = "$0" || {otherwise}; exec "$@"', identities]


def others_could_replace(path: Path) -> bool:
    """Could anybody but us and root put something else there?"""
    for around in (path, *path.parents):
        status = around.stat()
        writable = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
        if status.st_uid not in (0, os.geteuid()) or (writable and around != path):
            return True
    return False


def environment(tools: Sequence[Path] = ()) -> dict[str, str]:
    """All the variables that it has. Its hashes are the same every time, so that its answers may well be."""
    own = [str(directory) for directory in (*tools, Path(sys.executable).parent)]
    variables = {
        "PATH": ":".join(dict.fromkeys([*own, "/usr/local/bin", "/usr/bin", "/bin"])),
        "HOME": "/tmp",
        "USER": "player",
        "LOGNAME": "player",
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",
    }
    if "PYTHONPATH" in os.environ:
        variables["PYTHONPATH"] = os.environ["PYTHONPATH"]
    if site.ENABLE_USER_SITE:
        variables["PYTHONUSERBASE"] = site.getuserbase()
    return variables


# What root has to see to, as its programs are strangers to its files.


def stranger() -> int:
    """The id of a user who does not exist; every program has its own, for processes are counted by user."""
    spans = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    first, _, count = max(spans, key=lambda span: span[2])
    ids = STRANGERS
    if STRANGERS[-1] not in range(first, first + count):  # in a container, which has few
        ids = range(first + count * 3 // 4, first + count)
    return ids[secrets.randbelow(len(ids))]


def open_closed(shown: Shown) -> None:
    """Show what is in a folder that is closed to strangers, instead of the folder; links stay links."""
    for one in shown.own:
        if not one.is_folder or one.real.stat().st_mode & 0o005 == 0o005:
            continue
        shown.places.discard(one.real)
        entries = list(contents(one.real))
        if len(entries) > MOST_OPENED:
            raise BadRequest(
                f"{one.path} is closed to others, and programs of root run as somebody else: chmod o+rx it"
            )
        for entry in entries:
            path = Path(entry.path)
            if entry.is_symlink():
                shown.links[path] = path.readlink()
            elif entry.is_file() or entry.is_dir():
                shown.places.add(path)


def refuse_closed(program: Path, own: Sequence[Named]) -> None:
    """Say early which file is closed to strangers."""
    for one in own:
        needed = 0o005 if one.path == program else 0o004
        if not one.is_folder and one.real.stat().st_mode & needed != needed:
            raise BadRequest(
                f"{one.path} is closed to others, and programs of root run as somebody else: chmod o+rx {one.path}"
            )
