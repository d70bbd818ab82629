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
from fairplay.sandbox.concealed_files import scan_directory
from fairplay.sandbox.policy import SandboxPolicy
from fairplay.sandbox.proc_files import fixed_proc_files
from fairplay.sandbox.visible_files import (
    NamedFile,
    VisibleFiles,
    find_visible_files,
    normalize_path,
    refuse_hidden_interpreter,
)

CONCEALED_PROC_FILES = (  # in /proc: keys, and counts through which two programs could exchange messages
    *("keys", "key-users", "kcore", "timer_list", "sched_debug", "latency_stats", "locks", "vmstat", "zoneinfo"),
    *("buddyinfo", "pagetypeinfo", "slabinfo", "schedstat", "interrupts", "softirqs", "diskstats", "loadavg", "uptime"),
    *("cgroups", "crypto", "mdstat", "modules", "swaps", "fs", "irq", "driver", "pressure", *fixed_proc_files()),
    *("sys/kernel/pty/nr", "sys/fs/file-nr", "sys/fs/inode-nr", "sys/fs/inode-state", "sys/fs/dentry-state"),
    *("sys/fs/aio-nr", "sys/fs/quota"),
)
DEVICES = ("full", "null", "random", "urandom", "zero")  # no terminals: there are only so many on a machine
STREAM_LINKS = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
SANDBOX_ROOT = "/jail"  # root's programs change their root once more: whoever did that makes no user namespaces
EXISTING_DIRECTORIES = ("/", "/dev", "/dev/shm", "/proc", "/tmp")  # directories that are there before all others
UNUSED_USER_IDS = range(0x7000_0000, 0x7800_0000)  # user ids that nobody gives to anybody
MAX_OPENED_FILES = 100  # files in a directory that is closed to strangers; each is a mount


def bubblewrap_command(
    program: str,
    arguments: Sequence[str],
    sandbox: SandboxPolicy,
    *,
    limits_command: Sequence[str],
    options: Sequence[str],
) -> list[str]:
    """What runs a program shut in. The words that limit it are run inside.

    More options of bubblewrap come behind those that make the tree.
    The environment has to be cleared outside: it could be read in /proc where bubblewrap was given it.
    """
    root, cwd = os.geteuid() == 0, Path.cwd()
    program, *arguments = map(normalize_path, (program, *arguments))
    shown = find_visible_files(program, (*arguments, *sandbox.visible_paths), sandbox.hidden_paths, cwd)
    variables = environment(shown.tools)
    if any(one.path == Path(program).absolute() for one in shown.named):
        refuse_hidden_interpreter(Path(program), shown, variables["PATH"])
    flags = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    flags += ["--die-with-parent", "--new-session", "--hostname", "player"]
    for name, value in variables.items():
        flags += ["--setenv", name, value]
    jail = SANDBOX_ROOT if root else ""
    inside = [*check_unchanged_command(shown.named, jail), *limits_command]
    if root:
        refuse_unreadable_program(Path(program).absolute(), shown.named)
        uid = str(unused_user_id())
        inside += ["unshare", "--root", SANDBOX_ROOT, "--wd", str(cwd), "--setgid", uid, "--setuid", uid, "--"]
        expose_unreadable_directories(shown)
    else:
        flags += ["--unshare-user", "--disable-userns", "--chdir", str(cwd)]
    made = [*file_tree_options(shown, cwd, jail, sandbox.space), *options, "--remount-ro", "/"]
    return ["bwrap", *flags, *made, "--", *inside, program, *arguments]


def proc_file_options(opened: Mapping[str, int]) -> Iterator[str]:
    """The options that put files into /proc, which bubblewrap reads from descriptors."""
    jail = SANDBOX_ROOT if os.geteuid() == 0 else ""
    for name, number in opened.items():
        yield from ("--perms", "0444", "--ro-bind-data", str(number), f"{jail}/proc/{name}")


def file_tree_options(shown: VisibleFiles, cwd: Path, jail: str, space: int) -> Iterator[str]:
    """The options that make the tree of files, inside of a directory."""
    if jail:
        yield from ("--perms", "0755", "--dir", jail)
        for name in ("usr", "bin", "lib", "lib64", "proc"):  # for the tools on the way there
            yield from ("--symlink", f"{jail[1:]}/{name}", f"/{name}")
    yield from ("--proc", f"{jail}/proc")
    for name in CONCEALED_PROC_FILES:
        if Path("/proc", name).is_dir():
            yield from ("--perms", "0000", "--tmpfs", f"{jail}/proc/{name}", "--remount-ro", f"{jail}/proc/{name}")
        elif Path("/proc", name).exists():
            yield from ("--ro-bind", "/dev/null", f"{jail}/proc/{name}")
    yield from ("--remount-ro", f"{jail}/proc", "--perms", "0755", "--tmpfs", f"{jail}/dev")
    for name in DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"{jail}/dev/{name}")
    for name, target in STREAM_LINKS.items():
        yield from ("--symlink", f"/proc/self/{target}", f"{jail}/dev/{name}")
    yield from ("--size", str(space), "--perms", "1777", "--tmpfs", f"{jail}/dev/shm", "--remount-ro", f"{jail}/dev")
    yield from ("--size", str(space), "--perms", "1777", "--tmpfs", f"{jail}/tmp")
    wanted = {*shown.paths, *shown.links, cwd}
    around = {parent for path in wanted for parent in path.parents}
    emptied = []
    for path in sorted({*wanted, *around, *shown.concealed}):  # what is around something comes before it
        if path in shown.concealed and is_visible(path.parent, shown):
            if path.is_dir():
                yield from ("--perms", "0755", "--tmpfs", f"{jail}{path}")
                emptied.append(path)
            elif path.exists():
                yield from ("--ro-bind", "/dev/null", f"{jail}{path}")
            else:
                raise BadRequest(f"{path} has to exist before a program starts, or it cannot be hidden from it")
        elif is_visible(path.parent, shown) or str(path) in EXISTING_DIRECTORIES:
            continue
        elif path in shown.paths and path not in shown.concealed:
            yield from ("--ro-bind", str(path), f"{jail}{path}")
        elif path in shown.links:
            yield from ("--symlink", str(shown.links[path]), f"{jail}{path}")
        elif path in around or path == cwd:
            yield from ("--perms", "0755", "--dir", f"{jail}{path}")
    for path in emptied:
        yield from ("--remount-ro", f"{jail}{path}")


def is_visible(path: Path, shown: VisibleFiles) -> bool:
    """Is this in a place that is shown, and not in a concealed part of it?"""
    for around in (path, *path.parents):
        if around in shown.concealed:
            return False
        if around in shown.paths:
            return True
    return False


def check_unchanged_command(own: Sequence[NamedFile], jail: str) -> list[str]:
    """What runs a command only if what is shown is what we looked at, where others could have replaced it since."""
    doubtful = [one for one in own if is_replaceable_by_others(one.real)]
    if not doubtful:
        return []
    looks = shlex.join(["stat", "-c", "%d:%i", "--", *(f"{jail}{one.real}" for one in doubtful)])
    identities = "\n".join(f"{device}:{number}" for device, number in (one.identity for one in doubtful))
    otherwise = "{ echo 'somebody replaced the files of this program while it was started' >&2; exit 1; }"
    return ["sh", "-c", f'test "$({looks})" = "$0" || {otherwise}; exec "$@"', identities]


def is_replaceable_by_others(path: Path) -> bool:
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


def unused_user_id() -> int:
    """The id of a user who does not exist; every program has its own, for processes are counted by user."""
    spans = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    first, _, count = max(spans, key=lambda span: span[2])
    ids = UNUSED_USER_IDS
    if UNUSED_USER_IDS[-1] not in range(first, first + count):  # in a container, which has few
        ids = range(first + count * 3 // 4, first + count)
    return ids[secrets.randbelow(len(ids))]


def expose_unreadable_directories(shown: VisibleFiles) -> None:
    """Show what is in a directory that is closed to strangers, instead of the directory; links stay links."""
    for one in shown.named:
        if not one.is_directory or one.real.stat().st_mode & 0o005 == 0o005:
            continue
        shown.paths.discard(one.real)
        entries = list(scan_directory(one.real))
        if len(entries) > MAX_OPENED_FILES:
            raise BadRequest(
                f"{one.path} is closed to others, and programs of root run as somebody else: chmod o+rx it"
            )
        for entry in entries:
            path = Path(entry.path)
            if entry.is_symlink():
                shown.links[path] = path.readlink()
            elif entry.is_file() or entry.is_dir():
                shown.paths.add(path)


def refuse_unreadable_program(program: Path, own: Sequence[NamedFile]) -> None:
    """Say early which file is closed to strangers."""
    for one in own:
        needed = 0o005 if one.path == program else 0o004
        if not one.is_directory and one.real.stat().st_mode & needed != needed:
            raise BadRequest(
                f"{one.path} is closed to others, and programs of root run as somebody else: chmod o+rx {one.path}"
            )
