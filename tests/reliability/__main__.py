"""Run the meters of reliability at full size, or with --guards show that each turns red when a bug is planted."""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime

from fairplay.core.chance import seed_from_text
from tests.reliability.meters import METERS, take_reading, write_rows
from tests.reliability.readings import Reading

PARALLEL_JOBS = 2  # processes

Job = tuple[str, range, str]  # a meter, some of its numbers, the bug that is planted
Row = tuple[str, ...]


def main() -> None:
    """Show a table; the exit code is 1 if anything is not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("meters", nargs="*", metavar="METER", help=f"only these: {', '.join(METERS)}")
    parser.add_argument("--guards", action="store_true", help="plant a bug into each, at a small size")
    parser.add_argument("--seed", default="reliability", help="any text; the same seed tries the same")
    chosen = parser.parse_args()
    unknown = set(chosen.meters) - set(METERS)
    if unknown:
        parser.error(f"there is no meter {', '.join(sorted(unknown))}; there is {', '.join(METERS)}")
    since, run = time.monotonic(), check_planted_bugs if chosen.guards else read_meters
    bad = run(chosen.meters or list(METERS), seed_from_text(chosen.seed))
    print(f"\n{time.monotonic() - since:.0f} s with {PARALLEL_JOBS} processes")
    sys.exit(bad)


def read_meters(names: Sequence[str], seed: bytes) -> bool:
    """Take the readings at full size, and write them into the docs; is any of them bad?"""
    jobs = [
        (name, METERS[name].full[part :: METERS[name].parts], "")
        for name in names
        for part in range(METERS[name].parts)
    ]
    readings, seconds = dict.fromkeys(names, Reading()), dict.fromkeys(names, 0.0)
    for (name, _, _), reading, took in run_jobs(jobs, seed):
        readings[name] += reading
        seconds[name] += took
    rows = [
        (name, f"{reading.tried:,} {METERS[name].unit}", str(reading.failed), f"{seconds[name]:.0f} s")
        for name, reading in readings.items()
    ]
    print_table(("meter", "tried", "failed", "work"), rows)
    for name, reading in readings.items():
        for failure in reading.failures:
            print(f"{name}: {failure}")
    write_rows(readings, datetime.now(UTC).date())
    few = [name for name, reading in readings.items() if reading.tried < METERS[name].least]
    for name in few:
        print(f"{name}: too few were tried; {METERS[name].least:,} are the least")
    return bool(few) or any(reading.failed for reading in readings.values())


def check_planted_bugs(names: Sequence[str], seed: bytes) -> bool:
    """Take readings at a small size, without and with each bug; is any not as it should be?"""
    jobs = [(name, METERS[name].small, bug) for name in names for bug in ("", *METERS[name].bugs)]
    found = [(name, bug, reading) for (name, _, bug), reading, _ in run_jobs(jobs, seed)]
    rows = [
        (name, bug or "none", f"{reading.failed} of {reading.tried:,} {METERS[name].unit}")
        for name, bug, reading in found
    ]
    print_table(("meter", "planted bug", "caught"), rows)
    for name, bug, reading in found:
        for failure in reading.failures if not bug else ():
            print(f"{name}: {failure}")
    return any(bool(reading.failed) != bool(bug) for _, bug, reading in found)


def run_jobs(jobs: Sequence[Job], seed: bytes) -> list[tuple[Job, Reading, float]]:
    """What the jobs come to, in their order; two of them are done at once."""
    with ProcessPoolExecutor(PARALLEL_JOBS, multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(take_reading, name, numbers, seed, bug): name for name, numbers, bug in jobs}
        for done, future in enumerate(as_completed(futures), 1):
            failed = future.result()[0].failed
            print(f"{done} of {len(jobs)} parts: {futures[future]}, {failed} failed", file=sys.stderr)
        return [(job, *future.result()) for job, future in zip(jobs, futures, strict=True)]


def print_table(head: Row, rows: Sequence[Row]) -> None:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, tuple("-" * width for width in widths), *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
