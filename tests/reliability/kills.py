"""Kill commands again and again, and check that matches and tournaments end as they would have."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any
from unittest.mock import patch

import msgspec

from fairplay.core.chance import SeededRandom
from fairplay.journal.replay import read_journal
from tests.reliability.process_attempts import begun_journals, finished_journals, parse_facts, whole_lines
from tests.reliability.readings import Meter, make_lots, make_seed, measure_each

ROOT = Path(__file__).parent.parent.parent
COMMAND: tuple[str, ...] = (str(Path(sys.executable).parent / "fairplay"),)
BUGGED_COMMAND = (sys.executable, "-m", "tests.reliability.bugged_command")
MATCH_TIMEOUT_S = 120  # after which a match that does not end is a failure, and not waited for
POLL_INTERVAL_S = 0.002  # between two looks at the output
EARLY_KILL_S = 0.5  # hardly more than it takes to begin
MAX_KILLS = 5  # kills of one match, if it lasts that long
SYNCS = ("always", "batch", "off")

MATCHES = tuple(
    match.replace("@", "in-process:tests.reliability.tables:").split()
    for match in (
        "fish @Thinker ann=@Crasher lookahead:2 --set rows=6 --set columns=6",
        "tsuro @Thinker bad=@Cheat survivor @FailsAtEnd --set size=7",
        "q @Thinker @FailsAtEnd @Crasher",
        "fish lookahead:3 @FailsAtEnd --set rows=5 --set columns=6 --set holes=2",
        "tsuro @FailsAtGreeting @Thinker random second --set size=6 --set tiles=cycle",
        "q @FailsAtGreeting @Thinker @Cheat @Thinker --set q_bonus=3",
    )
)


class CommandRun(msgspec.Struct, frozen=True):
    """One process of the command, to its end."""

    output: bytes
    code: int  # negative: it was killed
    seconds: float
    said: str  # on stderr

    @property
    def events(self) -> list[Any]:
        """Those that came out as whole lines."""
        return whole_lines(self.output)


def try_kills(number: int, seed: bytes) -> list[str]:
    """Kill a match at random moments, and go on with the same command, until it is over.

    Every kill is a trial, and the end of the match counts with the last of them.
    """
    lots, place, kills = make_lots(seed, number), number % len(MATCHES), list[str]()
    arguments = (*MATCHES[place], "--seed", make_seed(seed, place).hex(), "--events")
    expected = run_undisturbed(COMMAND, arguments)
    with TemporaryDirectory() as name:
        directory, published = Path(name), list[Any]()
        command = (*COMMAND, "play", *arguments, "--journal", name, "--sync", SYNCS[lots.below(len(SYNCS))])
        while not finished_journals(directory):
            known = len(recorded_facts(directory))
            killed = len(kills) < MAX_KILLS
            run = run_and_kill(command, lots, expected.seconds) if killed else run_until(command)
            published = run.events
            failure = find_unrecorded(run, known, directory)
            if run.code == -signal.SIGKILL:
                kills.append(failure)
            if failure or run.code == 0:
                break
        failure = failure or find_wrong_end(directory, expected, published)
    if failure and not any(kills):
        kills[-1:] = [failure]
    return [
        failure and f"match {number} ({arguments[0]}), kill {place}: {failure}"
        for place, failure in enumerate(kills, 1)
    ]


@cache
def run_undisturbed(command: Sequence[str], arguments: Sequence[str]) -> CommandRun:
    run = run_until((*command, "play", *arguments))
    assert run.code == 0, run.said
    return run


def run_and_kill(command: Sequence[str], lots: SeededRandom, seconds: float) -> CommandRun:
    """Kill it at some moment: often very early, or when it has just published an event."""
    way, lines, part = lots.below(5), 1 + lots.below(15), lots.below(1000) / 1000
    if way < 2:
        return run_until(command, lambda output, since: output.count(b"\n") >= lines)
    return run_until(command, lambda output, since: since >= part * (EARLY_KILL_S if way == 2 else seconds))


def run_until(
    command: Sequence[str], enough: Callable[[bytes, float], bool] = lambda output, seconds: False
) -> CommandRun:
    """Run a command until it ends, or until there is enough output or time and it is killed."""
    with TemporaryFile() as output, TemporaryFile() as errors:
        since = time.monotonic()
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=errors) as process:
            while process.poll() is None:
                seconds = time.monotonic() - since
                if enough(read_all(output), seconds) or seconds > MATCH_TIMEOUT_S:
                    process.kill()
                    break
                with suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_INTERVAL_S)
        seconds, said = time.monotonic() - since, read_all(errors).decode()
        return CommandRun(read_all(output), process.returncode, seconds, said)


def read_all(file: IO[bytes]) -> bytes:
    """All that is in a file; its position is left alone, as the writing process shares it."""
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)


def find_unrecorded(run: CommandRun, known: int, directory: Path) -> str:
    """What a process had published that is not in its journal, or how else it failed."""
    if run.seconds > MATCH_TIMEOUT_S:
        return f"it did not come to an end in {MATCH_TIMEOUT_S} seconds"
    if run.code not in (0, -signal.SIGKILL):
        return f"exit code {run.code}: {run.said}"
    there = recorded_facts(directory)
    published = [event_fact(event) for event in run.events if event["type"] not in ("started", "ended")]
    if there[known : known + len(published)] != published:
        return f"{len(published)} facts were published after {known}, and not all of them are among {len(there)}"
    if any(event["type"] == "ended" for event in run.events) and not finished_journals(directory):
        return "the end was published, and is not in the file"
    return ""


def find_wrong_end(directory: Path, expected: CommandRun, published: Sequence[Any]) -> str:
    """In what the finished journal is not that of the undisturbed match."""
    paths = begun_journals(directory)
    if len(paths) != 1:
        return f"there are {len(paths)} journals"
    lines = whole_lines(paths[0].read_bytes())
    if recorded_facts(directory) != [event_fact(event) for event in expected.events[1:-1]]:
        return "the facts are not those of the undisturbed match"
    (*_, names), result = (line["names"] for line in lines if line["type"] == "seated"), lines[-1]["result"]
    ended = expected.events[-1]
    if [[names[seat] for seat in sorted(group)] for group in result["ranking"]] != ended["ranking"]:
        return "the ranking is not that of the undisturbed match"
    if result["ejected"] != [event_fact({"type": "ejected", **ejected}) for ejected in ended["ejected"]]:
        return "the ejected are not those of the undisturbed match"
    receipts = [event["receipt"] for event in published if event["type"] == "ended"]
    held = [option for receipt in receipts for option in ("--receipt", f"{receipt['seq']}:{receipt['head']}")]
    check = run_until((*COMMAND, "verify", str(paths[0]), *held))
    return "" if check.code == 0 else f"verify: {check.said}"


def recorded_facts(directory: Path) -> list[Any]:
    return [fact for path in begun_journals(directory) for fact in parse_facts(path.read_bytes())]


def event_fact(event: Any) -> Any:
    return {key: value for key, value in event.items() if key != "name" and (key, value) != ("clause", None)}


TOURNAMENT_TIMEOUT_S = 120  # after which a tournament that does not end is a failure, and not waited for
VICTIMS = {"manager": "pool", "dask worker": "dask", "worker": "pool"}  # and how the matches are played
TOURNAMENT_FILE = """
game = "fish"
seed = "kills"
parameters = { rows = 4, columns = 4 }
format = { kind = "swiss", rounds = 2 }
bot_check = "skip"
penalties = { malformed = "forfeit", crashed = "replay" }
players = [
    { name = "ann", player = "in-process:tests.reliability.tables:Thinker" },
    { name = "bob", player = "in-process:tests.reliability.tables:Crasher" },
    { name = "cyd", player = "in-process:tests.reliability.tables:Cheat" },
    { name = "dan", player = "greedy" },
    { name = "eve", player = "in-process:tests.reliability.tables:FailsAtEnd" },
    { name = "fay", player = "random" },
]
"""


class FinalState(msgspec.Struct, frozen=True):
    standings: Any
    facts: dict[str, Any]  # of each match
    counted: dict[str, int]  # how often each match was
    seconds: float = 0.0


def try_kill(number: int, seed: bytes) -> str:
    """Kill a process at a random moment, resume the tournament, and say what is wrong in the end."""
    victim, lots = list(VICTIMS)[number % len(VICTIMS)], make_lots(seed, number)
    expected = run_undisturbed_tournament(VICTIMS[victim])
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
def run_undisturbed_tournament(executor: str) -> FinalState:
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
    with suppress(FileNotFoundError, ProcessLookupError):
        children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    return []


def read_final_state(directory: Path) -> FinalState:
    steps = [json.loads(line) for line in (directory / "tournament.jsonl").read_bytes().splitlines()]
    return FinalState(
        json.loads((directory / "results.json").read_bytes())["standings"],
        {path.stem: read_journal(path).facts for path in (directory / "matches").glob("*.jsonl")},
        dict(Counter(step["counted"]["match"] for step in steps if step["type"] == "match")),
    )


BUG = "forgets what was counted"
TOURNAMENT_METER = Meter(
    "kills",
    measure_each(lambda number, seed: [try_kill(number, seed)]),
    full=range(60),
    least=60,
    small=range(1),
    parts=6,
    bugs={BUG: lambda: patch(f"{__name__}.COMMAND", (*BUGGED_COMMAND, BUG))},
)


KILL_METER = Meter(
    "kills",
    measure_each(try_kills),
    full=range(6 * len(MATCHES)),
    least=100,
    small=range(2),
    parts=len(MATCHES),
    bugs={"keeps a few lines back": lambda: patch(f"{__name__}.COMMAND", (*BUGGED_COMMAND, "keeps a few lines back"))},
)
