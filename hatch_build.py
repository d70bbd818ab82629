"""Build the kernels in C, for a wheel and for the tree itself; where they cannot be built, say so and do without."""

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
# Fractions are not to be contracted: sums have to be those of Python, to the last bit.
FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off", *WARNINGS)


class KernelsHook(BuildHookInterface[Any]):
    """Put the kernels into a wheel, which then fits this kind of machine and any Python from 3.11 on."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built; one that is installed for work on the tree, too."""
        why_not = build(BUILT)
        if why_not:
            self.app.display_warning(told(why_not))
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["artifacts"].append(BUILT.relative_to(ROOT).as_posix())


def build(to: Path, more: Sequence[str] = ()) -> str:
    """Compile the kernels, with more flags if there are any; why that cannot be done, or nothing."""
    compiler = shlex.split(os.environ.get("CC") or "cc")
    mac = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
    fresh = to.with_suffix(f".{os.getpid()}")  # somebody may be using the one that is there
    include = f"-I{sysconfig.get_path('include')}"
    command = [*compiler, *FLAGS, *mac, *more, include, *map(str, SOURCES), "-o", str(fresh)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        to.unlink(missing_ok=True)
        return f"{compiler[0]}: {getattr(error, 'strerror', None) or error}"
    if done.returncode:
        to.unlink(missing_ok=True)
        return next((line for line in done.stderr.splitlines() if "error" in line), f"{compiler[0]} fails")
    fresh.replace(to)
    return ""


def told(why_not: str) -> str:
    """What people are told of the kernels."""
    return f"without the kernels in C, which would be faster ({why_not})" if why_not else "with the kernels in C"


if __name__ == "__main__":
    print(told(build(BUILT)))
