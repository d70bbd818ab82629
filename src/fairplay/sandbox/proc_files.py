"""Write constant files for a program's /proc, so that no program can leave messages in its figures.

Runtimes size themselves by these files; the real ones count what all programs of the machine do.
"""

import os
from functools import cache

REPORTED_MEMORY_KB = 4 * 1024 * 1024
MEMINFO = {
    **dict.fromkeys(("MemTotal", "MemFree", "MemAvailable"), REPORTED_MEMORY_KB),
    **dict.fromkeys(("Buffers", "Cached", "SwapCached", "Active", "Inactive", "SwapTotal", "SwapFree", "Slab"), 0),
    **dict.fromkeys(("Shmem", "SReclaimable", "SUnreclaim"), 0),
    "Hugepagesize": 2048,
}


@cache
def fixed_proc_files() -> dict[str, bytes]:
    """The text of each file, by its name in /proc."""
    times = " ".join("0" * 10)
    cores = [f"cpu{number}" for number in range(os.cpu_count() or 1)]
    stat = [*(f"{name} {times}" for name in ("cpu ", *cores)), "intr 0", "ctxt 0", "btime 0"]
    stat += ["processes 1", "procs_running 1", "procs_blocked 0"]
    meminfo = [f"{name + ':':<16}{amount:>8} kB" for name, amount in MEMINFO.items()]
    return {"stat": join_lines(stat), "meminfo": join_lines(meminfo)}


def join_lines(lines: list[str]) -> bytes:
    """The bytes of a file with these lines."""
    return "".join(f"{line}\n" for line in lines).encode()
