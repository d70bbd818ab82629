"""Set up targets for an escape attempt: listeners, files and secrets; and find out whether it reached them."""

import ctypes
import os
import platform
import secrets
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from fairplay.core.events import Event, Started
from fairplay.core.match import Match
from fairplay.sandbox.bubblewrap import DEVICES, can_set_hostname
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy

SECRET_VARIABLE = "FAIRPLAY_SECRET"  # in our environment
KEYRING_SECRET = secrets.token_hex(12).encode()  # a key in the keyring of our session
ADD_KEY, KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(platform.machine(), (-1, -1))
STRICT_POLICY = SandboxPolicy(SandboxLevel.STRICT)


class EscapeTargets:
    """The targets around an escape attempt, in a directory; use it in a `with` statement.

    Only the sandbox protects them: the files are readable and writable for all users.
    """

    def __init__(self, directory: Path, sandbox: str = SandboxLevel.STRICT.value) -> None:
        self.directory = directory
        self.sandbox = sandbox
        self.marker = f"fairplay-escape-{secrets.token_hex(8)}"  # in the command line of every process of this attempt
        self.seed = secrets.token_bytes(32)
        self.canaries = {name: secrets.token_hex(12) for name in ("journal", "other", "writable")}
        self._open = ExitStack()
        self._namespaces: dict[str, int] = {}
        self._before: set[str] = set()
        self._traits: dict[Path, tuple[int, ...]] = {}

    def __enter__(self) -> "EscapeTargets":
        for name in ("den", "second", *self.canaries):
            (self.directory / name).mkdir()
            (self.directory / name).chmod(0o777)
        (self.directory / "link").symlink_to("den")
        (self.directory / "self").symlink_to(".")
        for name, canary in self.canaries.items():
            (self.directory / name / "kept").write_text(f"#!/bin/sh\n# {canary}\n")
            (self.directory / name / "kept").chmod(0o755)
        with self._open:
            self.tcp = self._listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
            self.udp = self._listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
            self.abstract = self._listen(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.marker}")
            self.path = self._listen(socket.AF_UNIX, socket.SOCK_STREAM, str(self.directory / "socket"))
            self._open = self._open.pop_all()
        (self.directory / "socket").chmod(0o777)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._namespaces.values():
            os.close(number)
        self._open.close()

    @property
    def description(self) -> dict[str, Any]:
        """What the attempt is told about its targets."""
        return {
            "marker": self.marker,
            "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "abstract": self.marker,
            "directory": str(self.directory),
            "referee": os.getpid(),
            "parent": os.getppid(),
            "group": os.getpgid(0),
            "namespaces": self.sandbox != SandboxLevel.LANDLOCK.value,
            "root": os.geteuid() == 0,
            "home": str(Path.home()),
            "host": os.uname().nodename if can_set_hostname() else "unknown",  # or else it is not hidden
            "secret": SECRET_VARIABLE,
            "memory": STRICT_POLICY.memory,  # for a process
            "together": STRICT_POLICY.memory
            + 2 * STRICT_POLICY.space,  # for all of them, with what lies in /tmp and /dev/shm
            "space": STRICT_POLICY.space,
            "processes": STRICT_POLICY.processes,
        }

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Once the match has started, note which files there are, and hold the namespaces of the attempt."""
        if not isinstance(event, Started):
            return
        self._before = self._files()
        seen = [*(Path("/dev", name) for name in DEVICES), *(self.directory / "den").iterdir()]
        self._traits = {path: file_metadata(path) for path in seen if not path.is_dir()}
        ours = namespace_name(Path("/proc/self/ns/pid"))
        for process in self._marked_processes():
            path = process / "ns" / "pid"
            name = namespace_name(path)
            if name not in ("", ours, *self._namespaces):
                with suppress(OSError):
                    self._namespaces[name] = os.open(path, os.O_RDONLY)

    def survivors(self) -> list[str]:
        """The processes that are left of the attempt."""
        inside = [
            path.parents[1] for path in Path("/proc").glob("[0-9]*/ns/pid") if namespace_name(path) in self._namespaces
        ]
        return sorted({path.name for path in (*inside, *self._marked_processes())})

    def find_damage(self, stderr: str) -> list[str]:
        """What an attempt did that should be impossible, and which secrets are in its stderr."""
        damage = [f"{name} heard it" for name in ("tcp", "udp", "abstract", "path") if was_reached(getattr(self, name))]
        damage += [f"{name} is new" for name in sorted(self._files() - self._before)]
        damage += [
            f"the times of {path.name} were changed"
            for path, known in self._traits.items()
            if file_metadata(path) != known
        ]
        for name, canary in self.canaries.items():
            kept = self.directory / name / "kept"
            if not kept.exists() or kept.read_text() != f"#!/bin/sh\n# {canary}\n":
                damage.append(f"a file in {name} was changed")
        known = {"the seed": self.seed.hex(), **{f"a file in {name}": it for name, it in self.canaries.items()}}
        known |= {"our environment": os.environ.get(SECRET_VARIABLE, ""), "a key of ours": KEYRING_SECRET.decode()}
        return damage + [f"it knows {name}" for name, canary in known.items() if canary and canary in stderr]

    def _files(self) -> set[str]:
        return {str(path.relative_to(self.directory)) for path in self.directory.rglob("*")}

    def _marked_processes(self) -> list[Path]:
        marker = self.marker.encode()
        return [path.parent for path in Path("/proc").glob("[0-9]*/cmdline") if marker in read_proc_file(path)]

    def _listen(self, family: int, kind: int, address: Any) -> socket.socket:
        found = self._open.enter_context(socket.socket(family, kind))
        found.bind(address)
        found.setblocking(False)
        if kind == socket.SOCK_STREAM:
            found.listen()
        return found


def ensure_session_key() -> None:
    """Make a keyring for our session, as a login does, with a key in it, if the kernel has keyrings."""
    call = ctypes.CDLL(None).syscall
    if KEYCTL > 0 and call(KEYCTL, 1, None) > 0:  # KEYCTL_JOIN_SESSION_KEYRING: a new one
        call(ADD_KEY, b"user", SECRET_VARIABLE.encode(), KEYRING_SECRET, ctypes.c_size_t(len(KEYRING_SECRET)), -3)


def was_reached(listener: socket.socket) -> bool:
    """Was there a connection, or did data come?"""
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(1)
    except BlockingIOError:
        return False
    return True


def file_metadata(path: Path) -> tuple[int, ...]:
    """The changeable metadata of a file; empty if it is gone."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mode, found.st_uid, found.st_gid, found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns


def namespace_name(path: Path) -> str:
    """The name of a namespace; "": its process has ended, or belongs to another user."""
    try:
        return str(path.readlink())
    except OSError:
        return ""


def read_proc_file(path: Path) -> bytes:
    """The content of a file in /proc; empty if its process has ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
