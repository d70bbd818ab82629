"""Build the kernels in C for a wheel or for the source tree; if that fails, warn and go on without them."""

import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SOURCES = sorted((ROOT / "src/fairplay/kernels").glob("*.c"))
BUILT = ROOT / "src/fairplay/_kernels.abi3.so"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror=implicit-function-declaration")
# No contraction of floating-point operations: sums must be the same as in Python, to the last bit.
FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off", *WARNINGS)


class KernelsHook(BuildHookInterface[Any]):
    """Put the kernels into a wheel, which then is for this platform and any Python from 3.11 on."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the kernels before a wheel is built, or an editable installation."""
        error = build(BUILT)
        if error:
            self.app.display_warning(describe_build(error))
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["artifacts"].append(BUILT.relative_to(ROOT).as_posix())


def build(to: Path, more: Sequence[str] = ()) -> str:
    """Compile the kernels, with additional flags; return an error, or an empty text."""
    compiler = shlex.split(os.environ.get("CC") or "cc")
    mac = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
    fresh = to.with_suffix(f".{os.getpid()}")  # another process may be using the old one
    include = f"-I{sysconfig.get_path('include')}"
    command = [*compiler, *FLAGS, *mac, *more, include, *map(str, SOURCES), "-o", str(fresh)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        to.unlink(missing_ok=True)
        return f"{compiler[0]}: {getattr(error, 'strerror', None) or error}"
    if done.returncode:
        to.unlink(missing_ok=True)
        return next((line for line in done.stderr.splitlines() if " error: " in line), f"{compiler[0]} fails")
    fresh.replace(to)
    return ""


def describe_build(error: str) -> str:
    """The result of a build, for people."""
    return f"without the faster kernels in C ({error})" if error else "with the kernels in C"


if __name__ == "__main__":
    print(describe_build(build(BUILT)))
