"""Run programs under the filter of system calls only, and evaluate the filter for a call."""

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fairplay.sandbox.seccomp import compile_filter, filter_program, why_no_filter
from tests.players.machine import needs_strict

ALLOW, ERRNO, KILL_PROCESS = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
I386, ARM = 0x4000_0003, 0x4000_0028
HERE = Path(__file__).parent
UPPER_BITS = 0xDEAD_BEEF << 32  # what may stand above an int, and means nothing

needs_filter = [
    needs_strict,
    pytest.mark.skipif(bool(why_no_filter()), reason=f"no filter can be compiled here: {why_no_filter()}"),
]


def require_program(*tools: str) -> pytest.MarkDecorator:
    """Skip a test where one of these is not installed."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"there is no {', '.join(missing)}")


def run_filtered(
    command: Sequence[str], own: Path | None = None, *, free: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command in bubblewrap under the filter or free of it, to its end. It may write in its own directory."""
    users = [] if os.geteuid() == 0 else ["--unshare-user"]
    tree = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unsetenv", "TMPDIR"]
    for place in (sys.base_prefix, sys.prefix, str(HERE)):  # each may lie in /tmp, which is empty in there
        tree += ["--ro-bind", place, place]
    tree += ["--bind", str(own), str(own), "--chdir", str(own)] if own else []
    with os.fdopen(os.memfd_create("filter"), "w+b", buffering=0) as file:
        file.write(filter_program())
        file.seek(0)
        filtering = [] if free else ["--seccomp", str(file.fileno())]
        sandboxed = [
            "bwrap",
            *users,
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--new-session",
            *tree,
            *filtering,
        ]
        return subprocess.run(
            [*sandboxed, "--", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            pass_fds=[file.fileno()],
        )


def run_python(text: str, *arguments: str, own: Path | None = None, free: bool = False) -> Any:
    """The JSON that a program in Python prints."""
    done = run_filtered([sys.executable, "-I", "-c", text, *arguments], own, free=free)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


CALLS = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
results = []
for number, *arguments in json.loads(sys.argv[1]):
    ctypes.set_errno(0)
    result = libc.syscall(*(ctypes.c_ulong(each) for each in (number, *arguments, *[0] * (6 - len(arguments)))))
    results.append(-ctypes.get_errno() if result == -1 else result)
print(json.dumps(results))
"""


def call_results(calls: Sequence[Sequence[int]], *, free: bool = False) -> list[int]:
    """What comes of system calls, one after the other in one process: a result, or an errno below zero."""
    found: list[int] = run_python(CALLS, json.dumps(calls), free=free)
    return found


@cache
def filter_instructions(machine: str, *, own_user: bool) -> tuple[tuple[int, int, int, int], ...]:
    """The filter for a machine."""
    return tuple(struct.iter_unpack("=HBBI", compile_filter(machine, own_user=own_user)))


def evaluate_filter(machine: str, number: int, *arguments: int, architecture: int = 0, own_user: bool = True) -> int:
    """What the filter for a machine says of a call: the instructions of classic BPF, as far as filters have them."""
    known = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *known)
    program = filter_instructions(machine, own_user=own_user)
    at = value = 0
    while True:
        code, if_so, if_not, constant = program[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, constant)
        elif code == 0x54:
            value &= constant
        elif code == 0x05:
            at += constant
        elif code in (0x15, 0x25, 0x35):
            held = {0x15: value == constant, 0x25: value > constant, 0x35: value >= constant}[code]
            at += if_so if held else if_not
        elif code == 0x06:
            return constant
        else:
            raise AssertionError(f"an instruction {code:#x}, which this does not know")
