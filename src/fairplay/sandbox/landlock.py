"""Confine a program where namespaces are refused: by Landlock, a stricter filter of system calls, and limits.

docs/sandbox.md says what this level promises, and what it does not. The program runs below a supervisor of ours
(landlock_supervisor.py), which restricts it before its first instruction, stops and continues it, and ends all of its
processes.
"""

import ctypes
import marshal
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from fairplay.core.errors import BadRequest, HostFault
from fairplay.sandbox.bubblewrap import DEVICES, environment
from fairplay.sandbox.landlock_supervisor import supervisor_source
from fairplay.sandbox.policy import SandboxPolicy
from fairplay.sandbox.process_tree import capture_output, own_pid
from fairplay.sandbox.seccomp import filter_program, open_memory_file, signal_call_numbers, why_no_filter
from fairplay.sandbox.visible_files import VisibleFiles, common_files, find_visible_files, is_below, normalize_path

MIN_ABI_FOR_SIGNALS = 6  # from which on Landlock itself confines signals
CREATE_RULESET = 444  # the number of landlock_create_ruleset on every architecture
GET_VERSION = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
MAKE_CHARACTER_DEVICE, MAKE_BLOCK_DEVICE, IOCTL_DEVICE = 1 << 6, 1 << 11, 1 << 15
ALL_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # from an ABI on
ALL_TCP_RIGHTS = {4: 3}  # to bind, and to connect
ALL_SCOPES = {6: 3}  # abstract sockets, and signals
MODULES = ".modules"  # in the directory of a program: links to what it may import
READ_ONLY = EXECUTE | READ_FILE | READ_DIR
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | IOCTL_DEVICE  # those that make sense for a file
NOT_IN_OWN_DIRECTORY = MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE | IOCTL_DEVICE

PROBE = """
import os, socket, sys
def possible(name, action):
    try:
        action()
    except OSError:
        return
    print(name)
print("tried")
home, outside = sys.argv[1:]
possible("reading", lambda: os.listdir(home))
possible("listing", lambda: os.listdir(outside))
possible("writing", lambda: open(outside + "/file", "a"))
possible("making files", lambda: open(outside + "/new", "w"))
possible("sockets", lambda: socket.socket(socket.AF_UNIX))
possible("signals", lambda: os.kill(os.getppid(), 0))
"""

Rule = tuple[str, int, int, int]  # a path, its device and inode, and the rights that a program has below it


@cache
def landlock_abi() -> int:
    """The version of Landlock that this machine has; 0: none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), GET_VERSION)))


@cache
def why_no_landlock() -> str:
    """Why programs cannot be confined by Landlock here; "" if they can."""
    if sys.platform != "linux":
        return f"there is no Landlock on {sys.platform}"
    if not landlock_abi():
        return "this kernel has no Landlock, or it is switched off (it takes Linux 5.13, and landlock in the list lsm=)"
    return why_no_filter() or probe_landlock()


def probe_landlock() -> str:
    """What a program could do from inside that this level denies, or why it does not start; "" if all is well."""
    with tempfile.TemporaryDirectory(prefix="fairplay-") as outside:
        Path(outside, "file").touch()
        command = [sys.executable, "-I", "-S", "-c", PROBE, str(Path.home()), outside]
        visible = VisibleFiles(set(common_files()[0]), {}, set(), [], [])
        config = landlock_config(command, visible, limits={}, directory=tempfile.mkdtemp(prefix="fairplay-"))
        config_fd = open_memory_file(config)
        try:
            output, why = capture_output(landlock_command(config_fd), [config_fd])
        finally:
            os.close(config_fd)
    if why or not output:
        return why or "a test from inside said nothing"
    possible = output.split()[1:]
    return f"a test from inside shows that it does not hold: {', '.join(possible)}" if possible else ""


def handled_rights(abi: int) -> tuple[int, int, int]:
    """The rights that an ABI can deny: to files, to TCP, and beyond the program's own processes."""
    fs, net, scopes = (
        max((rights for since, rights in known.items() if since <= abi), default=0)
        for known in (ALL_FILE_RIGHTS, ALL_TCP_RIGHTS, ALL_SCOPES)
    )
    return fs, net, scopes


def landlock_command(config_fd: int) -> list[str]:
    """The command line of the supervisor, which reads what to run, and how, from a descriptor."""
    return [sys.executable, "-I", "-S", "-c", supervisor_source(), own_pid(), str(config_fd)]


def landlock_config(
    command: Sequence[str],
    visible: VisibleFiles,
    *,
    limits: Mapping[int, int],
    directory: str,
    procs_files: Sequence[str] = (),
    control_fd: int = -1,
    status_fd: int = -1,
) -> bytes:
    """What the supervisor has to know: the program may write in the directory, and joins groups by their files."""
    abi = landlock_abi()
    handled = handled_rights(abi)
    config = {
        "command": [normalize_path(word) for word in command],
        "environment": program_variables(visible, directory),
        "directory": directory,
        "modules": f"{directory}/{MODULES}",
        "links": {path.name: str(path) for path in module_paths(visible)},
        "handled": handled,
        "rules": list(rules(visible, directory, handled[0])),
        "filter": filter_program(namespaces=False),
        "signal_calls": () if abi >= MIN_ABI_FOR_SIGNALS else signal_call_numbers(),
        "limits": list(limits.items()),
        "procs_files": list(procs_files),
        "control_fd": control_fd,
        "status_fd": status_fd,
    }
    return marshal.dumps(config)


def program_variables(visible: VisibleFiles, directory: str) -> dict[str, str]:
    """The environment of a program."""
    variables = environment(visible.tools)
    modules = [f"{directory}/{MODULES}", *filter(None, [variables.get("PYTHONPATH")])]
    variables |= {"HOME": directory, "TMPDIR": directory, "PYTHONPATH": ":".join(modules)}
    return {**variables, "OPENSSL_CONF": os.devnull}  # a setting that exists but is not readable ends node


def module_paths(visible: VisibleFiles) -> list[Path]:
    """What Python may import but would not find, as it looks for modules in directories that it may not list."""
    return [Path(__file__).parents[1], *(file.real for file in visible.named)]


def readable_files(command: Sequence[str], sandbox: SandboxPolicy) -> VisibleFiles:
    """The files that a program may read; BadRequest if it could read there what it may not."""
    program, *arguments = map(normalize_path, command)
    visible = find_visible_files(program, (*arguments, *sandbox.visible_paths), sandbox.hidden_paths, Path.cwd())
    for path in sorted(visible.concealed):
        if path.exists() and is_below(path, visible.paths):
            raise BadRequest(
                f"a program could read {path}: without namespaces nothing can be hidden inside a directory that it sees"
            )
    return visible


def rules(visible: VisibleFiles, directory: str, handled: int) -> Iterator[Rule]:
    """The rules for files: read-only what a program sees, and a directory of its own."""
    identities = {file.real: file.identity for file in visible.named}
    yield (directory, *identity(directory), handled & ~NOT_IN_OWN_DIRECTORY)
    for name in DEVICES:
        yield (f"/dev/{name}", *identity(f"/dev/{name}"), READ_FILE | WRITE_FILE)
    for path in sorted(visible.paths):
        rights = READ_ONLY if path.is_dir() else READ_ONLY & FILE_RIGHTS
        yield (str(path), *identities.get(path, identity(path)), rights)


def identity(path: str | Path) -> tuple[int, int]:
    """The device and inode of a path."""
    try:
        status = os.stat(path)  # noqa: PTH116 - paths of the rules are texts
    except OSError as error:
        raise HostFault(f"cannot show {path} to a program: {error.strerror}") from error
    return status.st_dev, status.st_ino
