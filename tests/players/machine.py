"""Find out whether this machine can have strict sandboxes, independently of the code under test."""

import ctypes
import os
import re
import shutil
import subprocess
from functools import cache

import pytest

TOOLS = ("bwrap", "prlimit", "setpriv", "unshare")
NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
FILES = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")
MIN_BWRAP_VERSION = (0, 8)


@cache
def strict_sandbox_problem() -> str:
    """Why this machine can sandbox no program by any means; "" if it can."""
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        return f"there is no {', '.join(missing)}"
    said = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < MIN_BWRAP_VERSION:
        return f"bubblewrap is too old: {said.strip()!r}"
    users = () if os.geteuid() == 0 else ("--unshare-user", "--disable-userns")
    tried = ["bwrap", *NAMESPACES, *users, *FILES, "prlimit", "--core=0", "--", "true"]
    done = subprocess.run(tried, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"bubblewrap does not work: {done.stderr.strip()}"


@cache
def landlock_problem() -> str:
    """Why Landlock can confine no program here; "" if it can."""
    version = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)  # landlock_create_ruleset
    return "" if version > 0 else "this kernel has no Landlock"


needs_landlock = pytest.mark.skipif(bool(landlock_problem()), reason=landlock_problem())
CAN_BE_STRICT = not strict_sandbox_problem()
needs_strict = pytest.mark.skipif(
    not CAN_BE_STRICT, reason=f"no program can be sandboxed here: {strict_sandbox_problem()}"
)
