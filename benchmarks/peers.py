"""Compare fairplay with other libraries for games, and write docs/benchmarks.md with its plot.

The others are installed into an environment of their own, .peers. Libraries that cannot be installed are left out.
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

ROUNDS = 100  # of each library, in turns; the best round counts
PEERS = ROOT / ".peers"
PYTHON = PEERS / "bin" / "python"
SCRIPT = ROOT / "benchmarks" / "peer_worker.py"
PINNED = ROOT / "requirements" / "peers.txt"
PAGE, PLOT = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "benchmarks.svg"
EXTRA_PACKAGES = {"pettingzoo": ("pygame",)}  # that a package needs for connect four without declaring it
INSTALL_TIMEOUT_S = 900.0  # for a package


class CannotMeasure(Exception):
    """The reason why a library cannot be measured."""


class Peer:
    """Another library in its own process; calling it plays a round."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [str(PYTHON), str(SCRIPT), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def read_line(self) -> str:
        """Its next line."""
        assert self._process.stdout is not None
        if not (line := self._process.stdout.readline().strip()):
            raise CannotMeasure(f"{self.name} has ended with exit code {self._process.wait()}")
        return line

    def __call__(self) -> int:
        """Play a round, and return the number of moves."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self.read_line())

    def end(self) -> None:
        """End its process."""
        self._process.kill()
        self._process.communicate()


def install(package: str) -> None:
    """Install a package in its pinned version, only from wheels; raises Unable if that fails."""
    if not PYTHON.is_file():
        run_command(sys.executable, "-m", "venv", "--clear", str(PEERS))
    wheels = ("--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--constraint", str(PINNED))
    run_command(str(PYTHON), "-m", "pip", "install", *wheels, package, *EXTRA_PACKAGES.get(package, ()))


def run_command(*command: str) -> None:
    """Run a command; if it fails, raises Unable with its last line of stderr."""
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=INSTALL_TIMEOUT_S)
    except subprocess.CalledProcessError as error:
        raise CannotMeasure(error.stderr.strip().rpartition("\n")[2]) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotMeasure(str(error)) from None


@contextmanager
def start_peers(names: Sequence[str]) -> Iterator[tuple[dict[str, Peer], dict[str, str]]]:
    """The libraries that can be installed, and the versions of their packages; they end with this context."""
    with ExitStack() as ends:
        ready: dict[str, Peer] = {}
        versions: dict[str, str] = {}
        for name in names:
            package, _ = peer_worker.PEERS[name]
            print(f"peers: preparing {name}", file=sys.stderr)
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
    """The benchmarks of fairplay; without the kernels in C there are no batches."""
    known: dict[str, Callable[[], Benchmark]] = {
        **run.make_benchmarks(journals),
        "fish.batch": lambda: run_batch(run.SMALL, 1),
        "fish.batch.two": lambda: run_batch(run.SMALL, 2),
    }
    return {
        name: peer_worker.repeat_for_round(known[name]()) for name in OURS if kernels is not None or "batch" not in name
    }


def alternate(one: dict[str, Benchmark], other: dict[str, Benchmark]) -> dict[str, Benchmark]:
    """Both sides, in alternating order."""
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
        benchmarks = alternate(dict(peers), fairplay_benchmarks(Path(journals)))
        print(f"peers: measuring; {load:.2f} processes wanted a core before", file=sys.stderr)
        figures = measure(benchmarks, rounds)
    return Run(
        microseconds={name: figures[name]["us"] for name in benchmarks},
        versions={"fairplay": VERSION, **versions},
        rounds=rounds,
        cores=len(os.sched_getaffinity(0)),
        load=load,
        python=platform.python_version(),
        day=datetime.now(UTC).date().isoformat(),
    )


def main() -> None:
    """Measure, and write the page and its plot."""
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
