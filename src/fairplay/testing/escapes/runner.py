"""Let beasts loose, each in a match of its own with an honest player, and judge whether it got out."""

import asyncio
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from enum import Enum
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Fault
from fairplay.core.messages import NO_EVIDENCE
from fairplay.games import GAMES, game_info
from fairplay.hosting.run import run_async
from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.protocol.limits import Limits
from fairplay.sandbox.cgroup import cgroup_support
from fairplay.testing.escapes.escape_attempt import (
    ESCAPED_EXIT_CODE,
    ESCAPED_PREFIX,
    SLEEP_THEN_EXIT,
    EscapeAttempt,
    Language,
)
from fairplay.testing.escapes.targets import SECRET_VARIABLE, EscapeTargets, ensure_session_key
from fairplay.transport import event_loop

CRASH_LIMITS = Limits(move=30, start_up=30, goodbye=0.05)  # whoever is to crash has time for it, on a busy machine too
TIMEOUT_LIMITS = Limits(move=30, start_up=30, first_move=0.8, goodbye=0.05)  # for a turn that is to take too long
GAME = next(iter(GAMES))
PARALLEL_ATTEMPTS = 4  # beasts; most of them wait most of the time
EXIT_TIMEOUT_S = 1.0  # seconds
COMPILE_TIMEOUT_S = 60  # seconds at most
CLOCK_CHECK_INTERVAL_S, MAX_WAKE_DELAY_S = (
    0.01,
    0.02,
)  # seconds: how often we look whether we are woken in time, and how late is too late
MAX_TRIES = 5
MAX_REASON_CHARS = 200


class Verdict(Enum):
    """What became of an attempt."""

    HELD = "held"
    GOT_OUT = "got out"
    NOT_TRIED = "not tried"


class AttemptResult(msgspec.Struct, frozen=True):
    """What a beast tried, and what became of it."""

    name: str
    tries: str
    language: Language
    verdict: Verdict
    why: str  # how it got out, or why it was not tried; "": it held
    took: float  # seconds


OnResult = Callable[[AttemptResult], None]


def run_escape_attempts(
    attempts: Sequence[EscapeAttempt], on_result: OnResult = lambda attempt: None, *, sandbox: str = "strict"
) -> list[AttemptResult]:
    """Let them loose, a few at once; each attempt is told when it is over. All come back in the order of the beasts."""
    with tempfile.TemporaryDirectory(prefix="fairplay-") as directory, planted_secret():
        Path(directory).chmod(0o711)
        return event_loop.run(run_all(attempts, Path(directory), on_result, sandbox))


async def run_all(
    beasts: Sequence[EscapeAttempt], directory: Path, tell: OnResult, sandbox: str
) -> list[AttemptResult]:
    """The same, awaited, where everything has its place and its secret."""
    room, done = asyncio.Semaphore(PARALLEL_ATTEMPTS), dict[int, AttemptResult]()

    async def one(number: int, beast: EscapeAttempt) -> None:
        for again in range(MAX_TRIES):
            place = directory / f"{number}-{again}"
            place.mkdir()
            place.chmod(0o711)
            async with measure_wake_delay() as late:
                done[number] = await run_attempt(beast, place, sandbox)
            # What did not rest while the other thought was perhaps only stopped late, by a host that was itself late.
            if (
                done[number].verdict is not Verdict.GOT_OUT
                or beast.ally != SLEEP_THEN_EXIT
                or max(late) < MAX_WAKE_DELAY_S
            ):
                break
        tell(done[number])

    async def beside_others(number: int, beast: EscapeAttempt) -> None:
        async with room:
            await one(number, beast)

    async with asyncio.TaskGroup() as together:
        for number, beast in enumerate(beasts):
            if not beast.alone:
                together.create_task(beside_others(number, beast))
    for number, beast in enumerate(beasts):
        if beast.alone:
            await one(number, beast)
    return [done[number] for number in range(len(beasts))]


@asynccontextmanager
async def measure_wake_delay() -> AsyncIterator[list[float]]:
    """Note by how many seconds this process is woken too late, meanwhile."""
    late = [0.0]

    async def watch() -> None:
        while True:
            due = time.monotonic() + CLOCK_CHECK_INTERVAL_S
            await asyncio.sleep(CLOCK_CHECK_INTERVAL_S)
            late.append(time.monotonic() - due)

    watching = asyncio.create_task(watch())
    try:
        yield late
    finally:
        watching.cancel()


async def run_attempt(beast: EscapeAttempt, directory: Path, sandbox: str) -> AttemptResult:
    """Seat a beast in a real match, and judge it."""
    since, groups = time.monotonic(), cgroup_support()
    if beast.held_by_group and not groups.memory:
        why = f"it takes a control group to hold it, and there is none here: {groups.missing}"
        return AttemptResult(beast.name, beast.tries, beast.language, Verdict.NOT_TRIED, why, 0.0)
    with EscapeTargets(directory) as outside:
        try:
            programs = await asyncio.to_thread(write_programs, beast, outside)
        except CannotBuild as error:
            verdict, why = Verdict.NOT_TRIED, str(error)
        else:
            try:
                outcome = await run_async(match_spec(beast, outside, programs, sandbox), [outside])
                until = time.monotonic() + EXIT_TIMEOUT_S
                while (left := outside.survivors()) and time.monotonic() < until:
                    await asyncio.sleep(0.02)
                verdict, why = judge_attempt(beast, outcome, outside, left)
            except BadRequest as error:  # whoever sees through it may refuse to start it
                verdict, why = Verdict.HELD if beast.is_unusual_request else Verdict.NOT_TRIED, f"refused: {error}"
    return AttemptResult(beast.name, beast.tries, beast.language, verdict, why, time.monotonic() - since)


def match_spec(
    beast: EscapeAttempt, outside: EscapeTargets, programs: Sequence[Sequence[str]], sandbox: str
) -> MatchSpec:
    """The match: an ally if there is one, the beast, and somebody honest behind it."""
    told = json.dumps(outside.describe)
    honest = next(iter(game_info(GAME).built_in))
    return MatchSpec(
        game=GAME,
        parameters=dict(game_info(GAME).quick),
        entrants=(
            *(Entrant(f"exec:{shlex.join([*words, told])}", f"beast-{seat}") for seat, words in enumerate(programs)),
            Entrant(honest, "honest"),
        ),
        seed=outside.seed,
        limits=TIMEOUT_LIMITS if beast.fault is Fault.TIMED_OUT else CRASH_LIMITS,
        sandbox=sandbox,
        journal=str(outside.directory / beast.journal),
    )


def judge_attempt(
    beast: EscapeAttempt, outcome: Outcome, outside: EscapeTargets, left: Sequence[str]
) -> tuple[Verdict, str]:
    """Did it get out, and how? What it says itself is believed only if it says that it did."""
    if outcome.result is None:
        return Verdict.GOT_OUT, f"the host failed: {outcome.host_fault}"
    honest = len(outcome.names) - 1
    own = next((it for it in outcome.result.ejected if it.seat == honest - 1), None)
    said = dict(outcome.evidence).get(honest - 1, NO_EVIDENCE).stderr or ""
    if done := outside.find_damage("".join(evidence.stderr or "" for _, evidence in outcome.evidence)):
        return Verdict.GOT_OUT, "; ".join(done)
    if left:
        return Verdict.GOT_OUT, f"{len(left)} of its processes survived the match"
    if outcome.result.ranking[:1] != (frozenset({honest}),):
        return Verdict.GOT_OUT, "the honest player was hurt"
    if own is None:
        return Verdict.GOT_OUT, "it was not ejected"
    claims = [line for line in said.splitlines() if line.startswith(ESCAPED_PREFIX)]
    if claims or own.why == describe_exit_code(ESCAPED_EXIT_CODE):
        return Verdict.GOT_OUT, (claims or [own.why])[-1].removeprefix(ESCAPED_PREFIX)[:MAX_REASON_CHARS]
    if not ended_as_expected(beast, own) or beast.says not in said:
        last = (said.splitlines() or [""])[-1][:MAX_REASON_CHARS]
        return Verdict.NOT_TRIED, f"it ended otherwise than it should: {own.why} ({last})"
    return Verdict.HELD, ""


def ended_as_expected(beast: EscapeAttempt, own: Ejected) -> bool:
    """Did it end as it must?"""
    if own.fault is not beast.fault:
        return False
    if own.fault is not Fault.CRASHED or beast.code is None:
        return True
    return own.why == describe_exit_code(beast.code) or "killed by signal" in own.why


def describe_exit_code(code: int) -> str:
    """What is said of who ends with an exit code."""
    return f"the program ended with exit code {code}"


class CannotBuild(Exception):
    """There is no way to make this program here."""


def write_programs(beast: EscapeAttempt, outside: EscapeTargets) -> list[list[str]]:
    """Write the programs of a beast, and say how they are started: an ally first."""
    path, found = outside.directory / beast.program, list[list[str]]()
    if beast.ally:
        ally = outside.directory / "second" / "bot"
        ally.write_text(beast.ally_text())
        found.append([sys.executable, "-I", "-S", str(ally)])
    source = beast.program_text()
    if beast.language is Language.C:
        compile_c(source, path)
    else:
        path.write_text(source.replace("{other}", str(outside.directory / "other" / "kept"), 1))
    path.chmod(0o755)
    alone = beast.first_line or beast.language is Language.C
    found.append([str(path)] if alone else [sys.executable, "-I", "-S", str(path)])
    return found


def compile_c(source: str, path: Path) -> None:
    """Make a program of a text in C."""
    if shutil.which("cc") is None:
        raise CannotBuild("there is no C compiler (cc) here")
    command = ["cc", "-w", "-O1", "-pthread", "-x", "c", "-", "-o", str(path)]
    try:
        done = subprocess.run(
            command, input=source, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise CannotBuild(f"cc did not end within {COMPILE_TIMEOUT_S} s") from None
    if done.returncode:
        raise CannotBuild(f"cc: {next((line for line in done.stderr.splitlines() if 'error' in line), 'failed')}")


@contextmanager
def planted_secret() -> Iterator[None]:
    """Have something in our environment, and in the keyring of our session, that nobody may know."""
    before = os.environ.get(SECRET_VARIABLE)
    ensure_session_key()
    os.environ[SECRET_VARIABLE] = before or os.urandom(12).hex()
    try:
        yield
    finally:
        if before is None:
            del os.environ[SECRET_VARIABLE]
