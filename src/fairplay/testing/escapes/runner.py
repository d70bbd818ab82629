"""Run escape attempts, each in a match of its own with an honest player, and judge whether it got out."""

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
from fairplay.sandbox.policy import SandboxLevel
from fairplay.testing.escapes.escape_attempt import (
    ESCAPED_EXIT_CODE,
    ESCAPED_PREFIX,
    SLEEP_THEN_EXIT,
    EscapeAttempt,
    Language,
)
from fairplay.testing.escapes.targets import SECRET_VARIABLE, EscapeTargets, ensure_session_key
from fairplay.transport import event_loop

CRASH_LIMITS = Limits(move=30, start_up=30, goodbye=0.05)  # for an attempt that has to crash, also on a busy machine
TIMEOUT_LIMITS = Limits(move=30, start_up=30, first_move=0.8, goodbye=0.05)  # for an attempt that has to take too long
GAME = next(iter(GAMES))
PARALLEL_ATTEMPTS = 4  # most of them wait most of the time
EXIT_TIMEOUT_S = 1.0
COMPILE_TIMEOUT_S = 60
WAKE_CHECK_INTERVAL_S, MAX_WAKE_DELAY_S = 0.01, 0.005  # of this process, which stops programs
MAX_TRIES = 5
MAX_REASON_CHARS = 200


class Verdict(Enum):
    """What became of an attempt."""

    HELD = "held"
    GOT_OUT = "got out"
    NOT_CLAIMED = "not claimed"  # it got out, as it may at this level
    NOT_TRIED = "not tried"


class AttemptResult(msgspec.Struct, frozen=True):
    """What an attempt tried, and its verdict."""

    name: str
    tries: str
    language: Language
    verdict: Verdict
    why: str  # how it got out, or why it was not tried; "": it was held
    took: float  # seconds


OnResult = Callable[[AttemptResult], None]


def run_escape_attempts(
    attempts: Sequence[EscapeAttempt], on_result: OnResult = lambda attempt: None, *, sandbox: str = "strict"
) -> list[AttemptResult]:
    """Run attempts, a few at once; `on_result` gets each result at once. All are returned in order."""
    with tempfile.TemporaryDirectory(prefix="fairplay-") as directory, planted_secret():
        Path(directory).chmod(0o711)
        return event_loop.run(run_all(attempts, Path(directory), on_result, sandbox))


async def run_all(
    attempts: Sequence[EscapeAttempt], directory: Path, on_result: OnResult, sandbox: str
) -> list[AttemptResult]:
    """The same, awaited, in a directory, with the secrets in place."""
    running, results = asyncio.Semaphore(PARALLEL_ATTEMPTS), dict[int, AttemptResult]()

    async def run_one(number: int, attempt: EscapeAttempt) -> None:
        for tried in range(MAX_TRIES):
            own_directory = directory / f"{number}-{tried}"
            own_directory.mkdir()
            own_directory.chmod(0o711)
            async with measure_wake_delay() as delays:
                results[number] = await run_attempt(attempt, own_directory, sandbox)
            # An attempt that seems to have computed while not asked may just have been stopped late by a busy host.
            if (
                results[number].verdict is not Verdict.GOT_OUT
                or attempt.ally != SLEEP_THEN_EXIT
                or max(delays) < MAX_WAKE_DELAY_S
            ):
                break
        on_result(results[number])

    async def run_beside_others(number: int, attempt: EscapeAttempt) -> None:
        async with running:
            await run_one(number, attempt)

    async with asyncio.TaskGroup() as together:
        for number, attempt in enumerate(attempts):
            if not attempt.alone:
                together.create_task(run_beside_others(number, attempt))
    for number, attempt in enumerate(attempts):
        if attempt.alone:
            await run_one(number, attempt)
    return [results[number] for number in range(len(attempts))]


@asynccontextmanager
async def measure_wake_delay() -> AsyncIterator[list[float]]:
    """Measure by how many seconds this process is woken too late, meanwhile."""
    delays = [0.0]

    async def watch() -> None:
        while True:
            due = time.monotonic() + WAKE_CHECK_INTERVAL_S
            await asyncio.sleep(WAKE_CHECK_INTERVAL_S)
            delays.append(time.monotonic() - due)

    watching = asyncio.create_task(watch())
    try:
        yield delays
    finally:
        watching.cancel()


async def run_attempt(attempt: EscapeAttempt, directory: Path, sandbox: str) -> AttemptResult:
    """Run an attempt in a real match, and judge it."""
    since, groups = time.monotonic(), cgroup_support()
    if attempt.held_by_group and not groups.memory:
        why = f"it takes a control group to hold it, and this machine has none: {groups.missing}"
        return AttemptResult(attempt.name, attempt.tries, attempt.language, Verdict.NOT_TRIED, why, 0.0)
    if sandbox == SandboxLevel.LANDLOCK.value and (why := why_not_run_below_landlock(attempt)):
        return AttemptResult(attempt.name, attempt.tries, attempt.language, Verdict.NOT_CLAIMED, why, 0.0)
    with EscapeTargets(directory, sandbox) as targets:
        try:
            programs = await asyncio.to_thread(write_programs, attempt, targets)
        except CannotBuild as error:
            verdict, why = Verdict.NOT_TRIED, str(error)
        else:
            try:
                outcome = await run_async(match_spec(attempt, targets, programs, sandbox), [targets])
                until = time.monotonic() + EXIT_TIMEOUT_S
                while (left := targets.survivors()) and time.monotonic() < until:
                    await asyncio.sleep(0.02)
                verdict, why = judge_attempt(attempt, outcome, targets, left)
                if verdict is Verdict.GOT_OUT and attempt.beyond_landlock and sandbox == SandboxLevel.LANDLOCK.value:
                    verdict, why = Verdict.NOT_CLAIMED, f"{attempt.beyond_landlock}: {why}"
            except BadRequest as error:  # an attempt may be refused at its start
                verdict, why = Verdict.HELD if attempt.is_unusual_request else Verdict.NOT_TRIED, f"refused: {error}"
    return AttemptResult(attempt.name, attempt.tries, attempt.language, verdict, why, time.monotonic() - since)


def why_not_run_below_landlock(attempt: EscapeAttempt) -> str:
    """Why an attempt is not run at this level, as nothing would stop it before the machine is full; "": it can be."""
    if attempt.held_by_group and attempt.beyond_landlock:
        return attempt.beyond_landlock
    if attempt.starts_processes and os.geteuid() == 0 and not cgroup_support().pids:
        return "the kernel limits how many processes root starts only by a control group"
    return ""


def match_spec(
    attempt: EscapeAttempt, targets: EscapeTargets, programs: Sequence[Sequence[str]], sandbox: str
) -> MatchSpec:
    """The match: an ally if there is one, the attempt, and an honest player after it."""
    description = json.dumps(targets.description)
    honest = next(iter(game_info(GAME).built_in))
    return MatchSpec(
        game=GAME,
        parameters=dict(game_info(GAME).quick),
        entrants=(
            *(
                Entrant(f"exec:{shlex.join([*command, description])}", f"escape-{seat}")
                for seat, command in enumerate(programs)
            ),
            Entrant(honest, "honest"),
        ),
        seed=targets.seed,
        limits=TIMEOUT_LIMITS if attempt.fault is Fault.TIMED_OUT else CRASH_LIMITS,
        sandbox=sandbox,
        journal=str(targets.directory / attempt.journal),
    )


def judge_attempt(
    attempt: EscapeAttempt, outcome: Outcome, targets: EscapeTargets, left: Sequence[str]
) -> tuple[Verdict, str]:
    """Judge whether it got out, and how. Its own report is believed only if it reports an escape."""
    if outcome.result is None:
        return Verdict.GOT_OUT, f"the host failed: {outcome.host_fault}"
    honest = len(outcome.names) - 1
    own = next((it for it in outcome.result.ejected if it.seat == honest - 1), None)
    stderr = dict(outcome.evidence).get(honest - 1, NO_EVIDENCE).stderr or ""
    if damage := targets.find_damage("".join(evidence.stderr or "" for _, evidence in outcome.evidence)):
        return Verdict.GOT_OUT, "; ".join(damage)
    if left:
        return Verdict.GOT_OUT, f"{len(left)} of its processes survived the match"
    if outcome.result.ranking[:1] != (frozenset({honest}),):
        return Verdict.GOT_OUT, "the honest player did not win"
    if own is None:
        return Verdict.GOT_OUT, "it was not ejected"
    claims = [line for line in stderr.splitlines() if line.startswith(ESCAPED_PREFIX)]
    if claims or own.why == describe_exit_code(ESCAPED_EXIT_CODE):
        return Verdict.GOT_OUT, (claims or [own.why])[-1].removeprefix(ESCAPED_PREFIX)[:MAX_REASON_CHARS]
    if not ended_as_expected(attempt, own) or attempt.says not in stderr:
        last = (stderr.splitlines() or [""])[-1][:MAX_REASON_CHARS]
        return Verdict.NOT_TRIED, f"it did not end as expected: {own.why} ({last})"
    return Verdict.HELD, ""


def ended_as_expected(attempt: EscapeAttempt, own: Ejected) -> bool:
    """Did it end as expected?"""
    if own.fault is not attempt.fault:
        return False
    if own.fault is not Fault.CRASHED or attempt.code is None:
        return True
    return own.why == describe_exit_code(attempt.code) or "killed by signal" in own.why


def describe_exit_code(code: int) -> str:
    """What the referee says of a program with this exit code."""
    return f"the program ended with exit code {code}"


class CannotBuild(Exception):
    """The program cannot be built on this machine."""


def write_programs(attempt: EscapeAttempt, targets: EscapeTargets) -> list[list[str]]:
    """Write the programs of an attempt, and return their commands: an ally first."""
    path, commands = targets.directory / attempt.program, list[list[str]]()
    if attempt.ally:
        ally = targets.directory / "second" / "bot"
        ally.write_text(attempt.ally_text())
        commands.append([sys.executable, "-I", "-S", str(ally)])
    source = attempt.program_text()
    if attempt.language is Language.C:
        compile_c(source, path)
    else:
        path.write_text(source.replace("{other}", str(targets.directory / "other" / "kept"), 1))
    path.chmod(0o755)
    is_executable = attempt.first_line or attempt.language is Language.C
    commands.append([str(path)] if is_executable else [sys.executable, "-I", "-S", str(path)])
    return commands


def compile_c(source: str, path: Path) -> None:
    """Compile a program in C."""
    if shutil.which("cc") is None:
        raise CannotBuild("this machine has no C compiler (cc)")
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
    """Put secrets into our environment, and into the keyring of our session."""
    before = os.environ.get(SECRET_VARIABLE)
    ensure_session_key()
    os.environ[SECRET_VARIABLE] = before or os.urandom(12).hex()
    try:
        yield
    finally:
        if before is None:
            del os.environ[SECRET_VARIABLE]
