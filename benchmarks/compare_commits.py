"""Compare the benchmarks of this tree with those of another commit, run in turns, as ratios of time.

Each side runs its own benchmark files on its own sources, both with the same options. A benchmark that the other commit
does not have is run by this tree's file on both sources; what cannot be run there is left out, and named. A file that
cannot list its benchmarks is older than these options: then both sides run all of theirs, and what was not asked for is
left out.

All benchmarks run on one core: for two processes that exchange messages, their cores make more difference than their
code.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
FILES = ("run.py", "distances.py")
RUN_PAIRS = 6
ROUNDS = 10  # of each benchmark in a run; the best round of a run counts, and the best run
RATIO_BENCHMARKS = ("q.growth",)  # ratios of two times

Times = dict[str, float]  # of each benchmark, in microseconds


class CannotMeasure(Exception):
    """The reason why nothing can be measured."""


class Ratio(NamedTuple):
    """A benchmark on both sides, in microseconds: the best runs, and the ratios of single pairs of runs."""

    here: float
    there: float
    lowest: float
    highest: float

    @property
    def ratio(self) -> float:
        """How many times as long it takes here."""
        return self.here / self.there


@contextmanager
def checked_out_commit(commit: str) -> Iterator[tuple[Path, Path]]:
    """This tree, and that of another commit in a temporary worktree.

    Their paths are equally long: where strings are in memory depends on that, and with it the speed of a turn, by half.
    """
    with tempfile.TemporaryDirectory(prefix="against-") as directory:
        here, tree = Path(directory) / "here", Path(directory) / "tree"
        here.symlink_to(ROOT)
        git = ("git", "-C", str(ROOT), "-c", "core.hooksPath=/dev/null", "worktree")
        try:
            run_command([*git, "add", "--quiet", "--detach", str(tree), commit], f"{commit} cannot be checked out")
            yield here, tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], capture_output=True, check=False)


def resolve_commit(revision: str) -> str:
    """The full hash of a commit."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    return run_command(command, f"there is no commit {revision!r}").strip()


def run_command(command: Sequence[str], otherwise: str, tree: Path = ROOT, pair: int = 0) -> str:
    """The output of a command. If it fails, raises Unable with its last line of stderr."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONHASHSEED": str(pair)}  # the same order of sets
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotMeasure(": ".join([otherwise, *done.stderr.strip().splitlines()[-1:]]))
    return done.stdout


def list_benchmarks(tree: Path, file: str) -> list[str] | None:
    """The benchmarks in a file, as it lists them itself; None: it cannot, as it is too old."""
    try:
        return run_command([sys.executable, str(tree / "benchmarks" / file), "--list"], "", tree).split()
    except CannotMeasure:
        return None


def run_benchmarks(tree: Path, file: Path, options: Sequence[str], pair: int) -> Times:
    """The times of a benchmark file on the sources of a tree; bare code counts as a benchmark."""
    command = [sys.executable, str(file), "--json", *options]
    times: Times = {}
    for name, figure in json.loads(run_command(command, f"{tree}: {file.name} fails", tree, pair)).items():
        if "us" in figure:
            times[name] = figure["us"]
        else:
            times[name], times[f"{name}.bare"] = figure["ours"] * 1e6, figure["bare"] * 1e6
    return {name: time for name, time in times.items() if name not in RATIO_BENCHMARKS}


def can_run(tree: Path, file: Path, name: str) -> bool:
    """Whether a benchmark of another tree runs on the sources of this one."""
    try:
        return name in run_benchmarks(tree, file, ["--rounds", "1", name], 0)
    except CannotMeasure:
        return False


class Plan(NamedTuple):
    """A plan for one benchmark file: names, the file of each side, and options."""

    names: list[str]
    files: dict[Path, Path]  # by tree: here, and there
    options: list[str]


def make_plan(here: Path, other: Path, file: str, names: Sequence[str]) -> list[Plan]:
    """The plan that measures both sides with one benchmark file, as far as possible."""
    ours, theirs = here / "benchmarks" / file, other / "benchmarks" / file
    files = {here: ours, other: theirs}
    there = list_benchmarks(other, file) if theirs.is_file() else []
    if there is None:
        return [Plan([*names], files, [])]
    rounds = ["--rounds", str(ROUNDS)]
    shared = [name for name in names if name in there]
    new = [name for name in names if name not in there and can_run(other, ours, name)]
    plans = (Plan(shared, files, [*rounds, *shared]), Plan(new, {here: ours, other: ours}, [*rounds, *new]))
    return [plan for plan in plans if plan.names]


def run_pairs(here: Path, other: Path, plan: Plan, pairs: int) -> list[tuple[Times, Times]]:
    """Runs of one benchmark file on both sides, in the order A B B A, so that no side is always first."""
    found = []
    for pair in range(pairs):
        trees = (here, other) if pair % 2 == 0 else (other, here)
        sides = {tree: run_benchmarks(tree, plan.files[tree], plan.options, pair) for tree in trees}
        found.append((sides[here], sides[other]))
    return found


def compute_ratios(pairs: Sequence[tuple[Times, Times]], names: Sequence[str]) -> dict[str, Ratio]:
    """The ratios of the requested benchmarks that both sides have; calls and bare code show how steady it is."""
    ratios = {}
    for name in pairs[0][0].keys() & pairs[0][1].keys() if pairs else ():
        if name in names or name == "call" or name.removesuffix(".bare") in names:
            here, there = [one[name] for one, _ in pairs], [other[name] for _, other in pairs]
            single = [one / other for one, other in zip(here, there, strict=True)]
            ratios[name] = Ratio(min(here), min(there), min(single), max(single))
    return ratios


def measure(revision: str, names: Sequence[str], pairs: int) -> tuple[dict[str, Ratio], list[str]]:
    """The ratios of the benchmarks with these names, or of all; and the names that were left out."""
    known = {file: list_benchmarks(ROOT, file) or [] for file in FILES}
    unknown = set(names) - {name for some in known.values() for name in some}
    if unknown:
        raise CannotMeasure(f"there is no benchmark {', '.join(sorted(unknown))}")
    ratios: dict[str, Ratio] = {}
    with checked_out_commit(resolve_commit(revision)) as (here, other):
        for tree in (here, other):
            where = run_command([sys.executable, "-c", "import fairplay; print(fairplay.__file__)"], f"{tree}", tree)
            if not Path(where.strip()).is_relative_to(tree):
                raise CannotMeasure(f"{tree} would be measured on the sources in {where.strip()}")
        wanted = {file: [name for name in some if not names or name in names] for file, some in known.items()}
        plans = [plan for file, some in wanted.items() for plan in make_plan(here, other, file, some)]
        planned = {name for plan in plans for name in plan.names}
        check_complete(planned, names, revision)
        for plan in plans:
            ratios |= compute_ratios(run_pairs(here, other, plan, pairs), plan.names)
    check_complete(ratios, names, revision)
    return dict(sorted(ratios.items())), [name for some in wanted.values() for name in some if name not in ratios]


def check_complete(found: Container[str], names: Sequence[str], revision: str) -> None:
    """Raise Unable if a requested benchmark does not exist."""
    if missing := [name for name in names if name not in found]:
        raise CannotMeasure(f"{revision} has no benchmark {', '.join(missing)}")


def stay_on_one_core() -> None:
    """Pin this process and its children to one core, where the system supports it."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def raise_interrupt(*_: object) -> NoReturn:
    """Exit as after Ctrl-C, so that the worktree is removed."""
    raise KeyboardInterrupt


def main() -> None:
    """Print the ratios as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description="Measure this tree against another commit.")
    parser.add_argument("revision", metavar="REV", help="another commit, as git names it")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a benchmark (default: all)")
    parser.add_argument("--pairs", type=int, default=RUN_PAIRS, metavar="N", help="how often both sides are run")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, raise_interrupt)
    stay_on_one_core()
    try:
        ratios, left_out = measure(asked.revision, asked.names, max(asked.pairs, 1))
    except CannotMeasure as error:
        print(f"against: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    if asked.json:
        print(json.dumps({name: {**ratio._asdict(), "ratio": ratio.ratio} for name, ratio in ratios.items()}))
        return
    print(f"{'':<26}{'us here':>12}{'us there':>12}{'ratio':>8}   of single pairs")
    for name, (here, there, lowest, highest) in ratios.items():
        print(f"{name:<26}{here:>12.3f}{there:>12.3f}{here / there:>8.2f}   {lowest:.2f} to {highest:.2f}")
    if left_out:
        print(f"{asked.revision} has no {', '.join(left_out)}")


if __name__ == "__main__":
    main()
