"""Kill the command for real, again and again, and demand that the match is the same in the end."""

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

from fairplay.core.chance import Lots
from tests.reliability.attempts import begun, facts_in, is_finished, whole_lines
from tests.reliability.readings import Bug, Meter, Reading, lots_for, reading, seed_for

ROOT = Path(__file__).parent.parent.parent
COMMAND: tuple[str, ...] = (str(Path(sys.executable).parent / "fairplay"),)
BUFFERING = (sys.executable, "-m", "tests.reliability.buffering")
PATIENCE = 120  # seconds after which a match that does not end is a failure, and not waited for
GLANCE = 0.002  # seconds between two looks at the output
EARLY = 0.5  # seconds: hardly more than it takes to begin
MOST = 5  # kills of one match, if it lasts that long
SYNCS = ("always", "batch", "off")

SLOW = "in-process:tests.reliability.thinkers:"
MATCHES = (
    ("fish", f"{SLOW}Thinker", f"ann={SLOW}Crasher", "lookahead:2", "--set", "rows=6", "--set", "columns=6"),
    ("tsuro", f"{SLOW}Thinker", f"bad={SLOW}Cheat", "survivor", f"{SLOW}Loser", "--set", "size=7"),
    ("q", f"{SLOW}Thinker", f"{SLOW}Loser", f"{SLOW}Crasher"),
    ("fish", "lookahead:3", f"{SLOW}Loser", "--set", "rows=5", "--set", "columns=6", "--set", "holes=2"),
    ("tsuro", f"{SLOW}Stranger", f"{SLOW}Thinker", "random", "second", "--set", "size=6", "--set", "tiles=cycle"),
    ("q", f"{SLOW}Stranger", f"{SLOW}Thinker", f"{SLOW}Cheat", f"{SLOW}Thinker", "--set", "q_bonus=3"),
)


class Run(msgspec.Struct, frozen=True):
    """One process of the command, to its end."""

    output: bytes
    code: int  # negative: it was killed
    seconds: float
    said: str  # on stderr

    @property
    def events(self) -> list[Any]:
        """Those that came out as whole lines."""
        return whole_lines(self.output)


def kills(numbers: range, seed: bytes) -> Reading:
    """A number is a match; every kill is tried, and the end of the match with the last of them."""
    return reading(trial for number in numbers for trial in killing(number, seed))


def killing(number: int, seed: bytes) -> list[str]:
    """Kill a match at random moments, and go on with the same command, until it is over."""
    lots, place, kills = lots_for(seed, number), number % len(MATCHES), list[str]()
    arguments = (*MATCHES[place], "--seed", seed_for(seed, place).hex(), "--events")
    expected = undisturbed(COMMAND, arguments)
    with TemporaryDirectory() as name:
        directory, told = Path(name), list[Any]()
        command = (*COMMAND, "play", *arguments, "--journal", name, "--sync", SYNCS[lots.below(len(SYNCS))])
        while not any(is_finished(path) for path in begun(directory)):
            known = len(facts_in(b"".join(path.read_bytes() for path in begun(directory))))
            run = killed(command, lots, expected.seconds) if len(kills) < MOST else run_until(command, never)
            told = run.events
            failure = broken_promise(run, known, directory)
            if run.code == -signal.SIGKILL:
                kills.append(failure)
            if failure or run.code == 0:
                break
        failure = failure or wrong_end(directory, expected, told)
    if failure and not any(kills):
        kills[-1:] = [failure]
    what = f"match {number} ({arguments[0]})"
    return [failure and f"{what}, kill {place}: {failure}" for place, failure in enumerate(kills, 1)]


@cache
def undisturbed(command: Sequence[str], arguments: Sequence[str]) -> Run:
    """The same command without a kill."""
    run = run_until((*command, "play", *arguments), never)
    assert run.code == 0, run.said
    return run


def killed(command: Sequence[str], lots: Lots, seconds: float) -> Run:
    """Kill it at some moment: often very early, or when it has just told something."""
    way, lines, part = lots.below(5), 1 + lots.below(15), lots.below(1000) / 1000
    if way < 2:
        return run_until(command, lambda output, since: output.count(b"\n") >= lines)
    return run_until(command, lambda output, since: since >= part * (EARLY if way == 2 else seconds))


def never(output: bytes, seconds: float) -> bool:
    """Let it run."""
    return False


def run_until(command: Sequence[str], enough: Callable[[bytes, float], bool]) -> Run:
    """Run a command until it ends, or until there is enough output or time and it is killed."""
    with TemporaryFile() as output, TemporaryFile() as errors:
        since = time.monotonic()
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=errors) as process:
            while process.poll() is None:
                seconds = time.monotonic() - since
                if enough(content(output), seconds) or seconds > PATIENCE:
                    process.kill()
                    break
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GLANCE)
        return Run(content(output), process.returncode, time.monotonic() - since, content(errors).decode())


def content(file: IO[bytes]) -> bytes:
    """All that is in a file; its position is left alone, for whoever writes shares it."""
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)


def broken_promise(run: Run, known: int, directory: Path) -> str:
    """What a process had told that is not in its journal, or how else it failed."""
    if run.seconds > PATIENCE:
        return f"it did not come to an end in {PATIENCE} seconds"
    if run.code not in (0, -signal.SIGKILL):
        return f"exit code {run.code}: {run.said}"
    there = [fact for path in begun(directory) for fact in facts_in(path.read_bytes())]
    told = [fact_of(event) for event in run.events if event["type"] not in ("started", "ended")]
    if there[known : known + len(told)] != told:
        return f"{len(told)} facts were told after {known}, and not all of them are among {len(there)}"
    if any(event["type"] == "ended" for event in run.events) and not any(map(is_finished, begun(directory))):
        return "the end was told, and is not in the file"
    return ""


def wrong_end(directory: Path, expected: Run, told: Sequence[Any]) -> str:
    """In what the finished journal is not that of the undisturbed match."""
    paths = begun(directory)
    if len(paths) != 1:
        return f"there are {len(paths)} journals"
    lines = whole_lines(paths[0].read_bytes())
    if [line["fact"] for line in lines if line["type"] == "fact"] != [
        fact_of(event) for event in expected.events[1:-1]
    ]:
        return "the facts are not those of the undisturbed match"
    (*_, names), result = (line["names"] for line in lines if line["type"] == "seated"), lines[-1]["result"]
    ended = expected.events[-1]
    if [[names[seat] for seat in sorted(group)] for group in result["ranking"]] != ended["ranking"]:
        return "the ranking is not that of the undisturbed match"
    if result["ejected"] != [fact_of({"type": "ejected", **ejected}) for ejected in ended["ejected"]]:
        return "the ejected are not those of the undisturbed match"
    receipts = [event["receipt"] for event in told if event["type"] == "ended"]
    held = [option for receipt in receipts for option in ("--receipt", f"{receipt['seq']}:{receipt['head']}")]
    check = run_until((*COMMAND, "verify", str(paths[0]), *held), never)
    return "" if check.code == 0 else f"verify: {check.said}"


def fact_of(event: Any) -> Any:
    """The fact that an event tells, as it stands in a journal."""
    return {key: value for key, value in event.items() if key != "name" and (key, value) != ("clause", None)}


def keeping_lines_back() -> Any:
    """The bug of a journal that is not written at once."""
    return patch(f"{__name__}.COMMAND", BUFFERING)


KILLS = Meter(
    "kills",
    kills,
    full=range(6 * len(MATCHES)),
    least=100,
    small=range(2),
    bugs=(Bug("keeps a few lines back", keeping_lines_back),),
    parts=len(MATCHES),
)
