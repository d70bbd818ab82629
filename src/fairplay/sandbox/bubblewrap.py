"""Build the command line of bubblewrap: a file tree with the paths of the host, but few of its files.

Root makes no user namespace, as the number of processes would not be limited in one. The program runs as another user
instead, with an unused user id; the files that it needs have to be readable for all users.
"""

import os
import secrets
import shlex
import site
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from fairplay.core.errors import BadRequest
from fairplay.sandbox.concealed_files import scan_directory
from fairplay.sandbox.policy import SandboxPolicy
from fairplay.sandbox.proc_files import fixed_proc_files
from fairplay.sandbox.process_tree import capture_output, is_privileged
from fairplay.sandbox.visible_files import (
    NamedFile,
    VisibleFiles,
    find_visible_files,
    normalize_path,
    refuse_hidden_interpreter,
)

CONCEALED_PROC_FILES = (  # in /proc: keys, and counters through which two programs could exchange messages
    *("keys", "key-users", "kcore", "timer_list", "sched_debug", "latency_stats", "locks", "vmstat", "zoneinfo"),
    *("buddyinfo", "pagetypeinfo", "slabinfo", "schedstat", "interrupts", "softirqs", "diskstats", "loadavg", "uptime"),
    *("cgroups", "crypto", "mdstat", "modules", "swaps", "fs", "irq", "driver", "pressure", *fixed_proc_files()),
    *("sys/kernel/pty/nr", "sys/fs/file-nr", "sys/fs/inode-nr", "sys/fs/inode-state", "sys/fs/dentry-state"),
    *("sys/fs/aio-nr", "sys/fs/quota"),
)
DEVICES = ("full", "null", "random", "urandom", "zero")  # no terminals, as a machine has a limited number
STREAM_LINKS = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
SANDBOX_ROOT = "/sandbox"  # programs of root change their root once more, after which they can make no user namespaces
EXISTING_DIRECTORIES = ("/", "/dev", "/dev/shm", "/proc", "/tmp")  # directories that bubblewrap makes itself
UNPRIVILEGED_ID = 65534  # the number of root that may not become another user
UNUSED_USER_IDS = range(0x7000_0000, 0x7800_0000)  # ids that no system assigns
MAX_OPENED_FILES = 100  # in a directory that other users may not read; each is a mount


def bubblewrap_command(
    program: str,
    arguments: Sequence[str],
    sandbox: SandboxPolicy,
    *,
    limits_command: Sequence[str],
    options: Sequence[str],
) -> list[str]:
    """The command line that runs a program in a sandbox. `limits_command` runs inside.

    `options` of bubblewrap come after those that make the file tree. The caller has to clear the environment, as the
    program could read that of bubblewrap in /proc.
    """
    is_root, cwd = is_privileged(), Path.cwd()
    program, *arguments = map(normalize_path, (program, *arguments))
    visible = find_visible_files(program, (*arguments, *sandbox.visible_paths), sandbox.hidden_paths, cwd)
    variables = environment(visible.tools)
    if any(file.path == Path(program).absolute() for file in visible.named):
        refuse_hidden_interpreter(Path(program), visible, variables["PATH"])
    flags = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    flags += ["--die-with-parent", "--new-session", *(["--hostname", "player"] if can_set_hostname() else [])]
    for name, value in variables.items():
        flags += ["--setenv", name, value]
    root = SANDBOX_ROOT if is_root else ""
    inside = [*check_unchanged_command(visible.named, root), *limits_command]
    if is_root:
        refuse_unreadable_program(Path(program).absolute(), visible.named)
        uid = str(unused_user_id())
        inside += ["unshare", "--root", SANDBOX_ROOT, "--wd", str(cwd), "--setgid", uid, "--setuid", uid, "--"]
        expose_unreadable_directories(visible)
    else:
        own = ["--uid", str(os.geteuid() or UNPRIVILEGED_ID), "--gid", str(os.getegid() or UNPRIVILEGED_ID)]
        flags += ["--unshare-user", "--disable-userns", *own, "--chdir", str(cwd)]
    tree = [*file_tree_options(visible, cwd, root, sandbox.space), *options, "--remount-ro", "/"]
    return ["bwrap", *flags, *tree, "--", *inside, program, *arguments]


@cache
def can_set_hostname() -> bool:
    """Can a program get a host name of its own? In containers that is denied even inside of its namespace."""
    namespaces = ["--unshare-uts"] if is_privileged() else ["--unshare-user", "--unshare-uts"]
    return not capture_output(["bwrap", *namespaces, "--hostname", "player", "--ro-bind", "/", "/", "true"])[1]


def proc_file_options(fds: Mapping[str, int]) -> Iterator[str]:
    """The options that put files into /proc, which bubblewrap reads from descriptors."""
    root = SANDBOX_ROOT if is_privileged() else ""
    for name, fd in fds.items():
        yield from ("--perms", "0444", "--ro-bind-data", str(fd), f"{root}/proc/{name}")


def file_tree_options(visible: VisibleFiles, cwd: Path, root: str, space: int) -> Iterator[str]:
    """The options that make the file tree, below a root directory."""
    if root:
        yield from ("--perms", "0755", "--dir", root)
        for name in ("usr", "bin", "lib", "lib64", "proc"):  # for the tools that run before the root is changed
            yield from ("--symlink", f"{root[1:]}/{name}", f"/{name}")
    yield from ("--proc", f"{root}/proc")
    for name in CONCEALED_PROC_FILES:
        if Path("/proc", name).is_dir():
            yield from ("--perms", "0000", "--tmpfs", f"{root}/proc/{name}", "--remount-ro", f"{root}/proc/{name}")
        elif Path("/proc", name).exists():
            yield from ("--ro-bind", "/dev/null", f"{root}/proc/{name}")
    yield from ("--remount-ro", f"{root}/proc", "--perms", "0755", "--tmpfs", f"{root}/dev")
    for name in DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"{root}/dev/{name}")
    for name, target in STREAM_LINKS.items():
        yield from ("--symlink", f"/proc/self/{target}", f"{root}/dev/{name}")
    yield from ("--size", str(space), "--perms", "1777", "--tmpfs", f"{root}/dev/shm", "--remount-ro", f"{root}/dev")
    yield from ("--size", str(space), "--perms", "1777", "--tmpfs", f"{root}/tmp")
    wanted = {*visible.paths, *visible.links, cwd}
    around = {parent for path in wanted for parent in path.parents}
    hidden_directories = []
    for path in sorted({*wanted, *around, *visible.concealed}):  # parents come first
        if path in visible.concealed and is_visible(path.parent, visible):
            if path.is_dir():
                yield from ("--perms", "0755", "--tmpfs", f"{root}{path}")
                hidden_directories.append(path)
            elif path.exists():
                yield from ("--ro-bind", "/dev/null", f"{root}{path}")
            else:
                raise BadRequest(f"{path} has to exist before a program starts, as only existing paths can be hidden")
        elif is_visible(path.parent, visible) or str(path) in EXISTING_DIRECTORIES:
            continue
        elif path in visible.paths and path not in visible.concealed:
            yield from ("--ro-bind", str(path), f"{root}{path}")
        elif path in visible.links:
            yield from ("--symlink", str(visible.links[path]), f"{root}{path}")
        elif path in around or path == cwd:
            yield from ("--perms", "0755", "--dir", f"{root}{path}")
    for path in hidden_directories:
        yield from ("--remount-ro", f"{root}{path}")


def is_visible(path: Path, visible: VisibleFiles) -> bool:
    """Is this path below a visible one, and not in a concealed part of it?"""
    for parent in (path, *path.parents):
        if parent in visible.concealed:
            return False
        if parent in visible.paths:
            return True
    return False


def check_unchanged_command(named: Sequence[NamedFile], root: str) -> list[str]:
    """The prefix that runs a command only if files that other users can replace are still those that we checked."""
    replaceable = [file for file in named if is_replaceable_by_others(file.real)]
    if not replaceable:
        return []
    stat_command = shlex.join(["stat", "-c", "%d:%i", "--", *(f"{root}{file.real}" for file in replaceable)])
    identities = "\n".join(f"{device}:{inode}" for device, inode in (file.identity for file in replaceable))
    otherwise = "{ echo 'the files of this program were replaced while it was started' >&2; exit 1; }"
    return ["sh", "-c", f'test "$({stat_command})" = "$0" || {otherwise}; exec "$@"', identities]


def is_replaceable_by_others(path: Path) -> bool:
    """Could users other than us and root replace this path?"""
    for parent in (path, *path.parents):
        status = parent.stat()
        writable = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
        if status.st_uid not in (0, os.geteuid()) or (writable and parent != path):
            return True
    return False


def environment(tools: Sequence[Path] = ()) -> dict[str, str]:
    """All environment variables of a program. Hashes in Python are fixed, so that answers can be repeated."""
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


# For root only, whose programs run as another user.


def unused_user_id() -> int:
    """An unused user id; every program has its own, as processes are counted by user."""
    spans = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    first, _, count = max(spans, key=lambda span: span[2])
    ids = UNUSED_USER_IDS
    if UNUSED_USER_IDS[-1] not in range(first, first + count):  # in a container, which has few ids
        ids = range(first + count * 3 // 4, first + count)
    return ids[secrets.randbelow(len(ids))]


def expose_unreadable_directories(visible: VisibleFiles) -> None:
    """Mount the entries of a directory that other users may not read, instead of the directory; links stay links."""
    for directory in visible.named:
        if not directory.is_directory or directory.real.stat().st_mode & 0o005 == 0o005:
            continue
        visible.paths.discard(directory.real)
        entries = list(scan_directory(directory.real))
        if len(entries) > MAX_OPENED_FILES:
            raise unreadable_for_others(directory.path)
        for entry in entries:
            path = Path(entry.path)
            if entry.is_symlink():
                visible.links[path] = path.readlink()
            elif entry.is_file() or entry.is_dir():
                visible.paths.add(path)


def refuse_unreadable_program(program: Path, named: Sequence[NamedFile]) -> None:
    """Raise BadRequest for a file that other users may not read, or a program that they may not run."""
    for file in named:
        needed = 0o005 if file.path == program else 0o004
        if not file.is_directory and file.real.stat().st_mode & needed != needed:
            raise unreadable_for_others(file.path)


def unreadable_for_others(path: Path) -> BadRequest:
    """The error for a path that has to be readable for other users."""
    return BadRequest(f"{path} is closed to others, and programs of root run as another user: chmod o+rx {path}")
