"""Kill the command again and again, and check that the match is the same in the end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any
from unittest.mock import patch

import msgspec

from fairplay.core.chance import SeededRandom
from tests.reliability.process_attempts import begun_journals, is_finished, parse_facts, whole_lines
from tests.reliability.readings import Bug, Meter, Reading, make_lots, make_reading, make_seed

ROOT = Path(__file__).parent.parent.parent
COMMAND: tuple[str, ...] = (str(Path(sys.executable).parent / "fairplay"),)
BUFFERING = (sys.executable, "-m", "tests.reliability.buffered_journal")
MATCH_TIMEOUT_S = 120  # seconds after which a match that does not end is a failure, and not waited for
POLL_INTERVAL_S = 0.002  # seconds between two looks at the output
EARLY_KILL_S = 0.5  # seconds: hardly more than it takes to begin
MAX_KILLS = 5  # kills of one match, if it lasts that long
SYNCS = ("always", "batch", "off")

SLOW_PLAYERS = "in-process:tests.reliability.slow_players:"
MATCHES = (
    (
        "fish",
        f"{SLOW_PLAYERS}Thinker",
        f"ann={SLOW_PLAYERS}Crasher",
        "lookahead:2",
        "--set",
        "rows=6",
        "--set",
        "columns=6",
    ),
    (
        "tsuro",
        f"{SLOW_PLAYERS}Thinker",
        f"bad={SLOW_PLAYERS}Cheat",
        "survivor",
        f"{SLOW_PLAYERS}FailsAtEnd",
        "--set",
        "size=7",
    ),
    ("q", f"{SLOW_PLAYERS}Thinker", f"{SLOW_PLAYERS}FailsAtEnd", f"{SLOW_PLAYERS}Crasher"),
    ("fish", "lookahead:3", f"{SLOW_PLAYERS}FailsAtEnd", "--set", "rows=5", "--set", "columns=6", "--set", "holes=2"),
    (
        "tsuro",
        f"{SLOW_PLAYERS}FailsAtGreeting",
        f"{SLOW_PLAYERS}Thinker",
        "random",
        "second",
        "--set",
        "size=6",
        "--set",
        "tiles=cycle",
    ),
    (
        "q",
        f"{SLOW_PLAYERS}FailsAtGreeting",
        f"{SLOW_PLAYERS}Thinker",
        f"{SLOW_PLAYERS}Cheat",
        f"{SLOW_PLAYERS}Thinker",
        "--set",
        "q_bonus=3",
    ),
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


def measure_kills(numbers: range, seed: bytes) -> Reading:
    """A number is a match; every kill is tried, and the end of the match with the last of them."""
    return make_reading(trial for number in numbers for trial in try_kills(number, seed))


def try_kills(number: int, seed: bytes) -> list[str]:
    """Kill a match at random moments, and go on with the same command, until it is over."""
    lots, place, kills = make_lots(seed, number), number % len(MATCHES), list[str]()
    arguments = (*MATCHES[place], "--seed", make_seed(seed, place).hex(), "--events")
    expected = run_undisturbed(COMMAND, arguments)
    with TemporaryDirectory() as name:
        directory, published = Path(name), list[Any]()
        command = (*COMMAND, "play", *arguments, "--journal", name, "--sync", SYNCS[lots.below(len(SYNCS))])
        while not any(is_finished(path) for path in begun_journals(directory)):
            known = len(parse_facts(b"".join(path.read_bytes() for path in begun_journals(directory))))
            run = (
                run_and_kill(command, lots, expected.seconds)
                if len(kills) < MAX_KILLS
                else run_until(command, never_enough)
            )
            published = run.events
            failure = find_unrecorded(run, known, directory)
            if run.code == -signal.SIGKILL:
                kills.append(failure)
            if failure or run.code == 0:
                break
        failure = failure or find_wrong_end(directory, expected, published)
    if failure and not any(kills):
        kills[-1:] = [failure]
    what = f"match {number} ({arguments[0]})"
    return [failure and f"{what}, kill {place}: {failure}" for place, failure in enumerate(kills, 1)]


@cache
def run_undisturbed(command: Sequence[str], arguments: Sequence[str]) -> CommandRun:
    """The same command without a kill."""
    run = run_until((*command, "play", *arguments), never_enough)
    assert run.code == 0, run.said
    return run


def run_and_kill(command: Sequence[str], lots: SeededRandom, seconds: float) -> CommandRun:
    """Kill it at some moment: often very early, or when it has just published an event."""
    way, lines, part = lots.below(5), 1 + lots.below(15), lots.below(1000) / 1000
    if way < 2:
        return run_until(command, lambda output, since: output.count(b"\n") >= lines)
    return run_until(command, lambda output, since: since >= part * (EARLY_KILL_S if way == 2 else seconds))


def never_enough(output: bytes, seconds: float) -> bool:
    """Let it run."""
    return False


def run_until(command: Sequence[str], enough: Callable[[bytes, float], bool]) -> CommandRun:
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
        return CommandRun(read_all(output), process.returncode, time.monotonic() - since, read_all(errors).decode())


def read_all(file: IO[bytes]) -> bytes:
    """All that is in a file; its position is left alone, as the writing process shares it."""
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)


def find_unrecorded(run: CommandRun, known: int, directory: Path) -> str:
    """What a process had published that is not in its journal, or how else it failed."""
    if run.seconds > MATCH_TIMEOUT_S:
        return f"it did not come to an end in {MATCH_TIMEOUT_S} seconds"
    if run.code not in (0, -signal.SIGKILL):
        return f"exit code {run.code}: {run.said}"
    there = [fact for path in begun_journals(directory) for fact in parse_facts(path.read_bytes())]
    published = [event_fact(event) for event in run.events if event["type"] not in ("started", "ended")]
    if there[known : known + len(published)] != published:
        return f"{len(published)} facts were published after {known}, and not all of them are among {len(there)}"
    if any(event["type"] == "ended" for event in run.events) and not any(map(is_finished, begun_journals(directory))):
        return "the end was published, and is not in the file"
    return ""


def find_wrong_end(directory: Path, expected: CommandRun, published: Sequence[Any]) -> str:
    """In what the finished journal is not that of the undisturbed match."""
    paths = begun_journals(directory)
    if len(paths) != 1:
        return f"there are {len(paths)} journals"
    lines = whole_lines(paths[0].read_bytes())
    if [line["fact"] for line in lines if line["type"] == "fact"] != [
        event_fact(event) for event in expected.events[1:-1]
    ]:
        return "the facts are not those of the undisturbed match"
    (*_, names), result = (line["names"] for line in lines if line["type"] == "seated"), lines[-1]["result"]
    ended = expected.events[-1]
    if [[names[seat] for seat in sorted(group)] for group in result["ranking"]] != ended["ranking"]:
        return "the ranking is not that of the undisturbed match"
    if result["ejected"] != [event_fact({"type": "ejected", **ejected}) for ejected in ended["ejected"]]:
        return "the ejected are not those of the undisturbed match"
    receipts = [event["receipt"] for event in published if event["type"] == "ended"]
    held = [option for receipt in receipts for option in ("--receipt", f"{receipt['seq']}:{receipt['head']}")]
    check = run_until((*COMMAND, "verify", str(paths[0]), *held), never_enough)
    return "" if check.code == 0 else f"verify: {check.said}"


def event_fact(event: Any) -> Any:
    """The fact that an event tells, as it stands in a journal."""
    return {key: value for key, value in event.items() if key != "name" and (key, value) != ("clause", None)}


def planted_buffering() -> Any:
    """The bug of a journal that is not written at once."""
    return patch(f"{__name__}.COMMAND", BUFFERING)


KILL_METER = Meter(
    "kills",
    measure_kills,
    full=range(6 * len(MATCHES)),
    least=100,
    small=range(2),
    bugs=(Bug("keeps a few lines back", planted_buffering),),
    parts=len(MATCHES),
)
