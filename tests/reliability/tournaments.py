"""Kill the manager of a tournament, or a worker, for real, and demand the same standings, each match counted once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.journal.replay import read
from tests.reliability.readings import Bug, Meter, Reading, lots_for, reading

ROOT = Path(__file__).parent.parent.parent
COMMAND: tuple[str, ...] = (str(Path(sys.executable).parent / "fairplay"),)
FORGETFUL = (sys.executable, "-m", "tests.reliability.forgetful")
PATIENCE = 120  # seconds after which a tournament that does not end is a failure, and not waited for
VICTIMS = {"manager": "pool", "dask worker": "dask", "worker": "pool"}  # and how the matches are played
CUP = """
game = "fish"
seed = "kills"
parameters = { rows = 4, columns = 4 }
format = { kind = "swiss", rounds = 2 }
gate = "skip"
faults = { malformed = "forfeit", crashed = "replay" }
players = [
    { name = "ann", player = "in-process:tests.reliability.thinkers:Thinker" },
    { name = "bob", player = "in-process:tests.reliability.thinkers:Crasher" },
    { name = "cyd", player = "in-process:tests.reliability.thinkers:Cheat" },
    { name = "dan", player = "greedy" },
    { name = "eve", player = "in-process:tests.reliability.thinkers:Loser" },
    { name = "fay", player = "random" },
]
"""


class Final(msgspec.Struct, frozen=True):
    """What a tournament came to."""

    standings: Any
    facts: dict[str, Any]  # of each match
    counted: dict[str, int]  # how often each match was
    seconds: float = 0.0


def tournaments(numbers: range, seed: bytes) -> Reading:
    """A number is a tournament in which somebody is killed once."""
    return reading(killing(number, seed) for number in numbers)


def killing(number: int, seed: bytes) -> str:
    """Kill somebody at a random moment, let it go on, and say what is wrong in the end."""
    victim, lots = list(VICTIMS)[number % len(VICTIMS)], lots_for(seed, number)
    expected = undisturbed(VICTIMS[victim])
    moment = (0.2 + 0.8 * lots.below(1000) / 1000) * expected.seconds
    with TemporaryDirectory() as name:
        said = run(name, VICTIMS[victim], victim, moment, lots.below(100))
        if victim == "manager":
            said = run(name, VICTIMS[victim])
        what = f"tournament {number}, {victim} killed after {moment:.2f} s"
        if said:
            return f"{what}: {said}"
        found = final_in(Path(name, "cup"))
    for part in ("standings", "facts"):
        if getattr(found, part) != getattr(expected, part):
            return f"{what}: the {part} are not those of an undisturbed one"
    twice = [match for match, times in found.counted.items() if times > 1]
    return f"{what}: {', '.join(twice)} counted more than once" if twice else ""


@cache
def undisturbed(executor: str) -> Final:
    """The same without a kill."""
    with TemporaryDirectory() as name:
        since = time.monotonic()
        said = run(name, executor)
        assert not said, said
        return msgspec.structs.replace(final_in(Path(name, "cup")), seconds=time.monotonic() - since)


def run(directory: str, executor: str, victim: str = "", moment: float = 0.0, choice: int = 0) -> str:
    """Run the tournament, and kill somebody at this moment; what went wrong, if anything did."""
    Path(directory, "cup.toml").write_text(CUP)
    command = [*COMMAND, "tournament", f"{directory}/cup.toml", "--jobs", "2", "--executor", executor, "--quiet"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        with suppress(subprocess.TimeoutExpired):
            if victim:
                process.wait(moment)
        if victim == "manager":
            process.kill()
        elif victim and (workers := workers_of(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(workers[choice % len(workers)], signal.SIGKILL)
        try:
            _, said = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"it did not come to an end in {PATIENCE} seconds"
    return "" if process.returncode in (0, -signal.SIGKILL) else f"exit code {process.returncode}: {said[-300:]}"


def workers_of(pid: int) -> Sequence[int]:
    """The processes in which its matches are played."""
    with suppress(FileNotFoundError, ProcessLookupError):
        children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    return []


def final_in(folder: Path) -> Final:
    """What the tournament in a folder came to."""
    steps = [json.loads(line) for line in (folder / "tournament.jsonl").read_bytes().splitlines()]
    return Final(
        json.loads((folder / "results.json").read_bytes())["standings"],
        {path.stem: read(path).facts for path in (folder / "matches").glob("*.jsonl")},
        dict(Counter(step["counted"]["match"] for step in steps if step["type"] == "match")),
    )


def forgetting() -> Any:
    """The bug of a manager that does not remember."""
    return patch(f"{__name__}.COMMAND", FORGETFUL)


TOURNAMENTS = Meter(
    "kills",
    tournaments,
    full=range(60),
    least=60,
    small=range(1),
    bugs=(Bug("forgets what was counted", forgetting),),
    parts=6,
)
