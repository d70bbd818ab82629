"""Measure fairplay and other libraries for games side by side, and write docs/benchmarks.md with its plot.

The others are installed into an environment of their own, .peers. What cannot be had there is left out, and the page
says so.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import chain, zip_longest
from pathlib import Path

from benchmarks import peer_worker, run
from benchmarks.kernels import run_batch
from benchmarks.peers_page import OURS, UNIT_BENCHMARK, Run, draw_plot, render_page
from benchmarks.run import Benchmark, measure
from fairplay.core.version import VERSION
from fairplay.kernels import kernels
from tools.page_sections import replace_section
from tools.readme_tables import ROOT

ROUNDS = 100  # each is measured so often, ours and theirs by turns; the best round counts
PEERS = ROOT / ".peers"
PYTHON = PEERS / "bin" / "python"
SCRIPT = ROOT / "benchmarks" / "theirs.py"  # which plays there
PINNED = ROOT / "requirements" / "peers.txt"
PAGE, PLOT = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "benchmarks.svg"
EXTRA_PACKAGES = {"pettingzoo": ("pygame",)}  # what a package needs for connect four, and does not say
INSTALL_TIMEOUT_S = 900.0  # seconds, for a package to be installed


class CannotMeasure(Exception):
    """Why somebody cannot be measured."""


class Peer:
    """Another library, at play in a process of its own; to call it is to play a round."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [str(PYTHON), str(SCRIPT), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def read_line(self) -> str:
        """What it says next."""
        assert self._process.stdout is not None
        if not (said := self._process.stdout.readline().strip()):
            raise CannotMeasure(f"{self.name} has ended with exit code {self._process.wait()}")
        return said

    def __call__(self) -> int:
        """Let it play a round, and say how many moves that was."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self.read_line())

    def end(self) -> None:
        """Let it be gone."""
        self._process.kill()
        self._process.communicate()


def install(package: str) -> None:
    """Install a package in the version that is pinned, from wheels alone; Unable if that cannot be."""
    if not PYTHON.is_file():
        run_command(sys.executable, "-m", "venv", "--clear", str(PEERS))
    wheels = ("--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--constraint", str(PINNED))
    run_command(str(PYTHON), "-m", "pip", "install", *wheels, package, *EXTRA_PACKAGES.get(package, ()))


def run_command(*command: str) -> None:
    """Run a command; where it fails, Unable has the last thing that it complained of."""
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=INSTALL_TIMEOUT_S)
    except subprocess.CalledProcessError as error:
        raise CannotMeasure(error.stderr.strip().rpartition("\n")[2]) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotMeasure(str(error)) from None


@contextmanager
def start_peers(names: Sequence[str]) -> Iterator[tuple[dict[str, Peer], dict[str, str]]]:
    """All of these that can be had, and the versions of their packages; they end when this is over."""
    with ExitStack() as ends:
        ready: dict[str, Peer] = {}
        versions: dict[str, str] = {}
        for name in names:
            package, _ = peer_worker.PEERS[name]
            print(f"peers: making {name} ready", file=sys.stderr)
            try:
                install(package)
                peer = Peer(name)
                ends.callback(peer.end)
                versions[package] = peer.read_line()
                ready[name] = peer
            except CannotMeasure as error:
                print(f"peers: without {name}: {error}", file=sys.stderr)
        yield ready, versions


def fairplay_benchmarks(journals: Path) -> dict[str, Benchmark]:
    """What is measured of fairplay; without the kernels in C there are no batches."""
    known: dict[str, Callable[[], Benchmark]] = {
        **run.make_benchmarks(journals),
        "fish.batch": lambda: run_batch(run.SMALL, 1),
        "fish.batch.two": lambda: run_batch(run.SMALL, 2),
    }
    return {
        name: peer_worker.repeat_for_round(known[name]()) for name in OURS if kernels is not None or "batch" not in name
    }


def alternate(one: dict[str, Benchmark], other: dict[str, Benchmark]) -> dict[str, Benchmark]:
    """Both together, in an order in which they take turns."""
    pairs = zip_longest(one.items(), other.items())
    return dict(entry for entry in chain.from_iterable(pairs) if entry is not None)


def measure_all(rounds: int) -> Run:
    """All figures of one run."""
    load = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory(dir=run.SHARED_MEMORY_DIR if run.SHARED_MEMORY_DIR.is_dir() else None) as journals,
        start_peers(list(peer_worker.PEERS)) as (peers, versions),
    ):
        if UNIT_BENCHMARK not in peers:
            raise CannotMeasure("there is nothing to compare with without OpenSpiel")
        everybody = alternate(dict(peers), fairplay_benchmarks(Path(journals)))
        print(f"peers: measuring; {load:.2f} processes wanted a core before", file=sys.stderr)
        figures = measure(everybody, rounds)
    return Run(
        microseconds={name: figures[name]["us"] for name in everybody},
        versions={"fairplay": VERSION, **versions},
        rounds=rounds,
        cores=len(os.sched_getaffinity(0)),
        load=load,
        python=platform.python_version(),
        day=datetime.now(UTC).date().isoformat(),
    )


def main() -> None:
    """Measure, and write the page and its plot anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="how often each is measured")
    asked = parser.parse_args()
    try:
        done = measure_all(max(asked.rounds, 1))
    except CannotMeasure as error:
        print(f"peers: {error}", file=sys.stderr)
        sys.exit(2)
    PLOT.write_text(draw_plot(done), encoding="utf-8")
    PAGE.write_text(replace_section(PAGE, "figures", render_page(done)), encoding="utf-8")


if __name__ == "__main__":
    main()
