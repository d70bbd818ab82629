"""Sandbox programs for two kinds of hosts: ourselves, and an ordinary user if we are root."""

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec
import pytest

import fairplay
from tests.players.machine import needs_strict

RUN_SCRIPT = """
import json, shutil, subprocess, sys
from fairplay.core.errors import BadRequest
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.protections import wrap_strictly
command, hidden, meanwhile = json.loads(sys.argv[1])
try:
    policy = SandboxPolicy(SandboxLevel.STRICT, hidden_paths=tuple(hidden))
    words = wrap_strictly(shutil.which(command[0]), command[1:], policy, (), ())
except BadRequest as error:
    sys.exit(f"refused: {error}")
subprocess.run(["sh", "-c", meanwhile], check=True)
sys.exit(subprocess.run(words).returncode)
"""


class ProgramResult(msgspec.Struct, frozen=True):
    code: int
    out: str
    err: str


class Host(msgspec.Struct, frozen=True):
    """A user who runs programs, and the directory with their files, which is open to all users."""

    user: int
    home: Path

    def run(
        self, *command: str, cwd: Path | None = None, hidden: Sequence[Path] = (), path: str = "", meanwhile: str = ""
    ) -> ProgramResult:
        """Run a command in a strict sandbox, to its end. Meanwhile: when it was looked at, and has not started yet."""
        task = json.dumps([command, [str(each) for each in hidden], meanwhile])
        return self.run_freely(sys.executable, "-c", RUN_SCRIPT, task, cwd=cwd, path=path)

    def run_freely(self, *command: str, cwd: Path | None = None, path: str = "", within: float = 60) -> ProgramResult:
        environment = {"HOME": str(self.home), "PATH": path + os.environ["PATH"]}
        words = [*self._user_command(), *command]
        done = subprocess.run(
            words, cwd=cwd or self.home, env=environment, capture_output=True, text=True, timeout=within, check=False
        )
        return ProgramResult(done.returncode, done.stdout, done.stderr)

    def take_ownership(self, *paths: Path) -> None:
        for path in paths:
            os.chown(path, self.user, self.user)

    def _user_command(self) -> list[str]:
        """What runs a command as this user, who has the same files where ours are, though they lie in closed places."""
        if self.user == os.geteuid():
            return []
        places = [Path(sys.prefix), Path(sys.base_prefix), Path(str(fairplay.__file__)).parents[2], self.home]
        closed = {place: around for place in places for around in closed_ancestor(place)}
        options = ["--dev-bind", "/", "/"]
        for directory in sorted(set(closed.values())):
            options += ["--perms", "0755", "--tmpfs", str(directory)]
        for place, around in closed.items():
            for parent in reversed(place.parents):
                if parent.is_relative_to(around):
                    options += ["--perms", "0755", "--dir", str(parent)]
            options += ["--bind", str(place), str(place)]
        user = str(self.user)
        return ["bwrap", *options, "--", "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"]


def closed_ancestor(place: Path) -> Iterator[Path]:
    """The outermost directory around this place that others may not enter, if there is one."""
    closed = [parent for parent in place.resolve().parents if parent.stat().st_mode & 0o001 == 0]
    yield from closed[-1:]


def unused_user_id() -> int:
    taken = {user.pw_uid for user in pwd.getpwall()}
    return next(user for user in count(20_000) if user not in taken)


@pytest.fixture(
    params=[pytest.param("ourselves", marks=needs_strict), pytest.param("ordinary user", marks=needs_strict)]
)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    """Ourselves, and an ordinary user."""
    if request.param == "ordinary user" and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    tmp_path.chmod(0o755)
    found = Host(os.geteuid() if request.param == "ourselves" else unused_user_id(), tmp_path)
    found.take_ownership(tmp_path)
    return found
