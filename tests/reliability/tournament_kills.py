"""Kill the manager of a tournament, or a worker, and check for the same standings, with each match counted once."""

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

from fairplay.journal.replay import read_journal
from tests.reliability.readings import Bug, Meter, Reading, make_lots, make_reading

ROOT = Path(__file__).parent.parent.parent
COMMAND: tuple[str, ...] = (str(Path(sys.executable).parent / "fairplay"),)
FORGETFUL = (sys.executable, "-m", "tests.reliability.forgetful_tournament")
TOURNAMENT_TIMEOUT_S = 120  # seconds after which a tournament that does not end is a failure, and not waited for
VICTIMS = {"manager": "pool", "dask worker": "dask", "worker": "pool"}  # and how the matches are played
TOURNAMENT_FILE = """
game = "fish"
seed = "kills"
parameters = { rows = 4, columns = 4 }
format = { kind = "swiss", rounds = 2 }
bot_check = "skip"
penalties = { malformed = "forfeit", crashed = "replay" }
players = [
    { name = "ann", player = "in-process:tests.reliability.slow_players:Thinker" },
    { name = "bob", player = "in-process:tests.reliability.slow_players:Crasher" },
    { name = "cyd", player = "in-process:tests.reliability.slow_players:Cheat" },
    { name = "dan", player = "greedy" },
    { name = "eve", player = "in-process:tests.reliability.slow_players:FailsAtEnd" },
    { name = "fay", player = "random" },
]
"""


class FinalState(msgspec.Struct, frozen=True):
    """What a tournament came to."""

    standings: Any
    facts: dict[str, Any]  # of each match
    counted: dict[str, int]  # how often each match was
    seconds: float = 0.0


def measure_tournament_kills(numbers: range, seed: bytes) -> Reading:
    """A number is a tournament in which a process is killed once."""
    return make_reading(try_kill(number, seed) for number in numbers)


def try_kill(number: int, seed: bytes) -> str:
    """Kill a process at a random moment, resume the tournament, and say what is wrong in the end."""
    victim, lots = list(VICTIMS)[number % len(VICTIMS)], make_lots(seed, number)
    expected = run_undisturbed(VICTIMS[victim])
    moment = (0.2 + 0.8 * lots.below(1000) / 1000) * expected.seconds
    with TemporaryDirectory() as name:
        said = run_tournament(name, VICTIMS[victim], victim, moment, lots.below(100))
        if victim == "manager":
            said = run_tournament(name, VICTIMS[victim])
        what = f"tournament {number}, {victim} killed after {moment:.2f} s"
        if said:
            return f"{what}: {said}"
        found = read_final_state(Path(name, "cup"))
    for part in ("standings", "facts"):
        if getattr(found, part) != getattr(expected, part):
            return f"{what}: the {part} are not those of an undisturbed one"
    twice = [match for match, times in found.counted.items() if times > 1]
    return f"{what}: {', '.join(twice)} counted more than once" if twice else ""


@cache
def run_undisturbed(executor: str) -> FinalState:
    """The same without a kill."""
    with TemporaryDirectory() as name:
        since = time.monotonic()
        said = run_tournament(name, executor)
        assert not said, said
        return msgspec.structs.replace(read_final_state(Path(name, "cup")), seconds=time.monotonic() - since)


def run_tournament(directory: str, executor: str, victim: str = "", moment: float = 0.0, choice: int = 0) -> str:
    """Run the tournament, and kill a process at this moment; what went wrong, if anything did."""
    Path(directory, "cup.toml").write_text(TOURNAMENT_FILE)
    command = [*COMMAND, "tournament", f"{directory}/cup.toml", "--jobs", "2", "--executor", executor, "--quiet"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        with suppress(subprocess.TimeoutExpired):
            if victim:
                process.wait(moment)
        if victim == "manager":
            process.kill()
        elif victim and (workers := worker_processes(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(workers[choice % len(workers)], signal.SIGKILL)
        try:
            _, said = process.communicate(timeout=TOURNAMENT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"it did not come to an end in {TOURNAMENT_TIMEOUT_S} seconds"
    return "" if process.returncode in (0, -signal.SIGKILL) else f"exit code {process.returncode}: {said[-300:]}"


def worker_processes(pid: int) -> Sequence[int]:
    """The processes in which its matches are played."""
    with suppress(FileNotFoundError, ProcessLookupError):
        children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    return []


def read_final_state(directory: Path) -> FinalState:
    """What the tournament in a directory came to."""
    steps = [json.loads(line) for line in (directory / "tournament.jsonl").read_bytes().splitlines()]
    return FinalState(
        json.loads((directory / "results.json").read_bytes())["standings"],
        {path.stem: read_journal(path).facts for path in (directory / "matches").glob("*.jsonl")},
        dict(Counter(step["counted"]["match"] for step in steps if step["type"] == "match")),
    )


def planted_forgetful_manager() -> Any:
    """The bug of a manager that does not remember."""
    return patch(f"{__name__}.COMMAND", FORGETFUL)


TOURNAMENT_METER = Meter(
    "kills",
    measure_tournament_kills,
    full=range(60),
    least=60,
    small=range(1),
    bugs=(Bug("forgets what was counted", planted_forgetful_manager),),
    parts=6,
)
