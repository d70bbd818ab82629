"""Measure a server: saturated, under load with faulty players, its charges for instant bots, and with many spectators.

Each part runs in its own process; `python -m benchmarks.load --help` and so on list its options.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = ("throughput", "load", "charged_time", "spectators")
SHORT = {  # a few seconds each
    "throughput": ("--rooms", "20", "--rounds", "2"),
    "load": ("--rooms", "20", "--warm-up", "2", "--seconds", "2"),
    "charged_time": ("--rooms", "4", "--turns", "200"),
    "spectators": ("--rooms", "3", "--each", "20", "--seconds", "1"),
}


def main() -> None:
    """Print the figures of all parts, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--short", action="store_true", help="run each part for a few seconds, only to show that it works"
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    chosen = parser.parse_args()
    for part in chosen.parts or PARTS:
        if part not in PARTS:
            parser.error(f"there is no part {part}")
        options = SHORT[part] if chosen.short else ()
        subprocess.run([sys.executable, "-m", f"benchmarks.{part}", *options], cwd=ROOT, check=True)
        print(f"({os.getloadavg()[0]:.1f} processes wanted a core at the end)\n", flush=True)


if __name__ == "__main__":
    main()
