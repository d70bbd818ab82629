"""Compare the kernels with Python on many positions, and run them and hostile calls under sanitizers."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
from tests.reliability.readings import Meter, Plant, Reading, make_reading

POSITIONS = 10_000  # of each game
SANITIZED_ROUNDS = 1_000
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
SANITIZERS += ["-O1", "-g", "-Werror"]
SANITIZER_TIMEOUT_S = 1200
pack_fish = fish_kernel.packed_fish


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
        compiler = [*shlex.split(os.environ.get("CC") or "cc"), "-print-file-name=libasan.so"]
        env = {
            **{name: value for name, value in os.environ.items() if name != "FAIRPLAY_PURE"},
            "LD_PRELOAD": subprocess.check_output(compiler, text=True).strip(),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps much till its end
            "PYTHONMALLOC": "malloc",  # so that each piece of memory is watched
        }
        command = [sys.executable, "-m", "tests.kernels.sanitizer_run", str(library), seed.hex()]
        command += map(str, (numbers.start, numbers.stop, numbers.step))
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=SANITIZER_TIMEOUT_S)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) < len(numbers):
        said = [line for line in done.stderr.splitlines() if "rror" in line] or [f"exit code {done.returncode}"]
        found.append(f"ended at number {numbers[len(found)]}: {said[0]}")
    return make_reading(found)


def q_kernels_without_bonus() -> SimpleNamespace:
    assert kernels is not None
    find, play = kernels.q_best_placement, kernels.q_playouts

    def stingy(tiles: Any, edge: Any, hand: Any, q_bonus: int, *others: int) -> Any:
        return find(tiles, edge, hand, 0, *others)

    return SimpleNamespace(q_best_placement=stingy, q_playouts=play)


def build_with_bug(file: str, before: str, after: str) -> Plant:
    @contextmanager
    def plant() -> Iterator[None]:
        with TemporaryDirectory() as directory:
            copy = Path(shutil.copytree(hatch_build.SOURCES[0].parent, Path(directory) / "kernels"))
            text = (copy / file).read_text()
            assert before in text
            (copy / file).write_text(text.replace(before, after))
            with patch.object(hatch_build, "SOURCES", sorted(copy.glob("*.c"))):
                yield

    return plant


ANSWER_METER = Meter(
    "positions",
    measure_answers,
    full=range(POSITIONS),
    least=POSITIONS * len(TRIALS),
    small=range(30),
    parts=20,
    bugs={
        "fish are forgotten": lambda: patch.object(
            fish_kernel, "packed_fish", lambda state: bytes(len(pack_fish(state)))
        ),
        "tiles are turned": lambda: patch.object(
            tsuro_kernel, "TURNED", tuple(codes[::-1] for codes in tsuro_kernel.TURNED)
        ),
        "bonuses are forgotten": lambda: patch.object(q_kernel, "kernels", q_kernels_without_bonus()),
    },
)

SANITIZER_METER = Meter(
    "rounds",
    measure_sanitized,
    full=range(SANITIZED_ROUNDS),
    least=SANITIZED_ROUNDS,
    small=range(12),
    parts=4,
    bugs={
        "cells are not checked": build_with_bug("fish_board.c", "0, position->board->cells - 1", "0, 9 * CELLS"),
        "spots are not checked": build_with_bug("tsuro.c", "OUT, PORTS * table->size * table->size", "OUT, 2 << 20"),
        "memory is freed too soon": build_with_bug(
            "q_search.c", " sweep(search", " PyMem_Free(search->spots), sweep(search"
        ),
    },
)
