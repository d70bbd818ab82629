"""Compare the kernels with Python on many positions, and run them and hostile calls under sanitizers."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import hatch_build
from fairplay.games.fish import kernel as fish_kernel
from fairplay.games.q import kernel as q_kernel
from fairplay.games.tsuro import kernel as tsuro_kernel
from fairplay.kernels import kernels, unavailable_reason
from tests.kernels.comparing import TRIALS, run_trials
from tests.reliability.readings import Bug, Meter, Reading, make_reading

POSITIONS = 10_000  # of each game
SANITIZED_ROUNDS = 1_000
SANITIZERS = (
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-O1",
    "-g",
    "-Werror",
)
SANITIZER_TIMEOUT_S = 1200  # seconds


def measure_answers(numbers: range, seed: bytes) -> Reading:
    """A number is a position of each game."""
    if kernels is None:
        return Reading(len(numbers), 1, (f"there are no kernels: {unavailable_reason}",))
    return make_reading(failure for game in TRIALS for failure in run_trials(game, numbers, seed))


def measure_sanitized(numbers: range, seed: bytes) -> Reading:
    """A number is some hostile calls, and a position of each game."""
    with TemporaryDirectory() as directory:
        library = Path(directory) / "_kernels.so"
        if cannot := hatch_build.build(library, SANITIZERS):
            return Reading(len(numbers), 1, (f"the kernels cannot be built with sanitizers: {cannot}",))
        return run_with_library(library, numbers, seed)


def run_with_library(library: Path, numbers: range, seed: bytes) -> Reading:
    """What a process finds with these kernels, or what ended it."""
    compiler = shlex.split(os.environ.get("CC") or "cc")
    preloaded = subprocess.run([*compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    env = {
        **{name: value for name, value in os.environ.items() if name != "FAIRPLAY_PURE"},
        "LD_PRELOAD": preloaded.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps much till its end
        "PYTHONMALLOC": "malloc",  # so that each piece of memory is watched
    }
    command = [sys.executable, "-m", "tests.kernels.sanitizer_run", str(library), seed.hex()]
    command += map(str, (numbers.start, numbers.stop, numbers.step))
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=SANITIZER_TIMEOUT_S)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) < len(numbers):
        said = [line for line in done.stderr.splitlines() if "rror" in line] or [f"exit code {done.returncode}"]
        found.append(f"ended at number {numbers[len(found)]}: {said[0]}")
    return make_reading(found)


def planted_missing_fish() -> AbstractContextManager[object]:
    """The kernel gets a board without fish."""
    real = fish_kernel.packed_fish
    return patch.object(fish_kernel, "packed_fish", lambda state: bytes(len(real(state))))


def planted_tile_codes() -> AbstractContextManager[object]:
    """The kernel gets the codes of a tile in another order."""
    return patch.object(tsuro_kernel, "TURNED", tuple(codes[::-1] for codes in tsuro_kernel.TURNED))


def planted_missing_bonus() -> AbstractContextManager[object]:
    """The kernel does not get the bonus for a Q."""

    assert kernels is not None
    find, play = kernels.q_best_placement, kernels.q_playouts

    def stingy(tiles: Any, edge: Any, hand: Any, q_bonus: int, *others: int) -> Any:
        return find(tiles, edge, hand, 0, *others)

    return patch.object(q_kernel, "kernels", SimpleNamespace(q_best_placement=stingy, q_playouts=play))


@contextmanager
def built_with_bug(file: str, before: str, after: str) -> Iterator[None]:
    """The kernels are built from sources with a bug in one of them."""
    with TemporaryDirectory() as directory:
        copy = Path(shutil.copytree(hatch_build.SOURCES[0].parent, Path(directory) / "kernels"))
        text = (copy / file).read_text()
        assert before in text
        (copy / file).write_text(text.replace(before, after))
        with patch.object(hatch_build, "SOURCES", sorted(copy.glob("*.c"))):
            yield


ANSWER_METER = Meter(
    unit="positions",
    measure=measure_answers,
    full=range(POSITIONS),
    least=POSITIONS * len(TRIALS),
    small=range(30),
    bugs=(
        Bug("fish are forgotten", planted_missing_fish),
        Bug("tiles are turned", planted_tile_codes),
        Bug("bonuses are forgotten", planted_missing_bonus),
    ),
    parts=20,
)

SANITIZER_METER = Meter(
    unit="rounds",
    measure=measure_sanitized,
    full=range(SANITIZED_ROUNDS),
    least=SANITIZED_ROUNDS,
    small=range(12),
    bugs=(
        Bug(
            "cells are not checked",
            lambda: built_with_bug("fish_board.c", "0, position->board->cells - 1", "0, 9 * CELLS"),
        ),
        Bug(
            "spots are not checked",
            lambda: built_with_bug("tsuro.c", "OUT, PORTS * table->size * table->size", "OUT, 2 << 20"),
        ),
        Bug(
            "memory is freed too soon",
            lambda: built_with_bug("q_search.c", " sweep(search", " PyMem_Free(search->spots), sweep(search"),
        ),
    ),
    parts=4,
)
