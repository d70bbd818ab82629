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
from fairplay.games import GAMES, title
from fairplay.hosting.run import run_async
from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.protocol.limits import Limits
from fairplay.sandbox.cgroup import available
from fairplay.testing.escapes.beast import GOT_OUT, OUT, THINKS, Beast, Language
from fairplay.testing.escapes.outside import SECRET, Outside, have_a_key
from fairplay.transport import event_loop

LONG = Limits(move=30, start_up=30, goodbye=0.05)  # whoever is to crash has time for it, on a busy machine too
SHORT = Limits(move=30, start_up=30, first_move=0.8, goodbye=0.05)  # for a turn that is to take too long
GAME = next(iter(GAMES))
AT_ONCE = 4  # beasts; most of them wait most of the time
GONE_WITHIN = 1.0  # seconds
COMPILING = 60  # seconds at most
TICK, BUSY = 0.01, 0.02  # seconds: how often we look whether we are woken in time, and how late is too late
TRIES = 5
LONGEST_WHY = 200


class Verdict(Enum):
    """What became of an attempt."""

    HELD = "held"
    GOT_OUT = "got out"
    NOT_TRIED = "not tried"


class Attempt(msgspec.Struct, frozen=True):
    """What a beast tried, and what became of it."""

    name: str
    tries: str
    language: Language
    verdict: Verdict
    why: str  # how it got out, or why it was not tried; "": it held
    took: float  # seconds


Tell = Callable[[Attempt], None]


def attack(beasts: Sequence[Beast], tell: Tell = lambda attempt: None, *, sandbox: str = "strict") -> list[Attempt]:
    """Let them loose, a few at once; each attempt is told when it is over. All come back in the order of the beasts."""
    with tempfile.TemporaryDirectory(prefix="fairplay-") as directory, secret():
        Path(directory).chmod(0o711)
        return event_loop.run(all_of(beasts, Path(directory), tell, sandbox))


async def all_of(beasts: Sequence[Beast], directory: Path, tell: Tell, sandbox: str) -> list[Attempt]:
    """The same, awaited, where everything has its place and its secret."""
    room, done = asyncio.Semaphore(AT_ONCE), dict[int, Attempt]()

    async def one(number: int, beast: Beast) -> None:
        for again in range(TRIES):
            place = directory / f"{number}-{again}"
            place.mkdir()
            place.chmod(0o711)
            async with watching_the_clock() as late:
                done[number] = await tried(beast, place, sandbox)
            # What did not rest while the other thought was perhaps only stopped late, by a host that was itself late.
            if done[number].verdict is not Verdict.GOT_OUT or beast.ally != THINKS or max(late) < BUSY:
                break
        tell(done[number])

    async def beside_others(number: int, beast: Beast) -> None:
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
async def watching_the_clock() -> AsyncIterator[list[float]]:
    """Note by how many seconds this process is woken too late, meanwhile."""
    late = [0.0]

    async def watch() -> None:
        while True:
            due = time.monotonic() + TICK
            await asyncio.sleep(TICK)
            late.append(time.monotonic() - due)

    watching = asyncio.create_task(watch())
    try:
        yield late
    finally:
        watching.cancel()


async def tried(beast: Beast, directory: Path, sandbox: str) -> Attempt:
    """Seat a beast in a real match, and judge it."""
    since, groups = time.monotonic(), available()
    if beast.held_by_group and not groups.memory:
        why = f"it takes a control group to hold it, and there is none here: {groups.why}"
        return Attempt(beast.name, beast.tries, beast.language, Verdict.NOT_TRIED, why, 0.0)
    with Outside(directory) as outside:
        try:
            programs = await asyncio.to_thread(written, beast, outside)
        except CannotBeMade as error:
            verdict, why = Verdict.NOT_TRIED, str(error)
        else:
            try:
                outcome = await run_async(spec_for(beast, outside, programs, sandbox), [outside])
                until = time.monotonic() + GONE_WITHIN
                while (left := outside.survivors()) and time.monotonic() < until:
                    await asyncio.sleep(0.02)
                verdict, why = judged(beast, outcome, outside, left)
            except BadRequest as error:  # whoever sees through it may refuse to start it
                verdict, why = Verdict.HELD if beast.odd else Verdict.NOT_TRIED, f"refused: {error}"
    return Attempt(beast.name, beast.tries, beast.language, verdict, why, time.monotonic() - since)


def spec_for(beast: Beast, outside: Outside, programs: Sequence[Sequence[str]], sandbox: str) -> MatchSpec:
    """The match: an ally if there is one, the beast, and somebody honest behind it."""
    told = json.dumps(outside.told)
    honest = next(iter(title(GAME).house))
    return MatchSpec(
        game=GAME,
        parameters=dict(title(GAME).quick),
        entrants=(
            *(Entrant(f"exec:{shlex.join([*words, told])}", f"beast-{seat}") for seat, words in enumerate(programs)),
            Entrant(honest, "honest"),
        ),
        seed=outside.seed,
        limits=SHORT if beast.fault is Fault.TIMED_OUT else LONG,
        sandbox=sandbox,
        journal=str(outside.directory / beast.journal),
    )


def judged(beast: Beast, outcome: Outcome, outside: Outside, left: Sequence[str]) -> tuple[Verdict, str]:
    """Did it get out, and how? What it says itself is believed only if it says that it did."""
    if outcome.result is None:
        return Verdict.GOT_OUT, f"the host failed: {outcome.host_fault}"
    honest = len(outcome.names) - 1
    own = next((it for it in outcome.result.ejected if it.seat == honest - 1), None)
    said = dict(outcome.evidence).get(honest - 1, NO_EVIDENCE).stderr or ""
    if done := outside.harm("".join(evidence.stderr or "" for _, evidence in outcome.evidence)):
        return Verdict.GOT_OUT, "; ".join(done)
    if left:
        return Verdict.GOT_OUT, f"{len(left)} of its processes survived the match"
    if outcome.result.ranking[:1] != (frozenset({honest}),):
        return Verdict.GOT_OUT, "the honest player was hurt"
    if own is None:
        return Verdict.GOT_OUT, "it was not ejected"
    claims = [line for line in said.splitlines() if line.startswith(GOT_OUT)]
    if claims or own.why == ended_with(OUT):
        return Verdict.GOT_OUT, (claims or [own.why])[-1].removeprefix(GOT_OUT)[:LONGEST_WHY]
    if not as_expected(beast, own) or beast.says not in said:
        last = (said.splitlines() or [""])[-1][:LONGEST_WHY]
        return Verdict.NOT_TRIED, f"it ended otherwise than it should: {own.why} ({last})"
    return Verdict.HELD, ""


def as_expected(beast: Beast, own: Ejected) -> bool:
    """Did it end as it must?"""
    if own.fault is not beast.fault:
        return False
    if own.fault is not Fault.CRASHED or beast.code is None:
        return True
    return own.why == ended_with(beast.code) or "killed by signal" in own.why


def ended_with(code: int) -> str:
    """What is said of who ends with an exit code."""
    return f"the program ended with exit code {code}"


class CannotBeMade(Exception):
    """There is no way to make this program here."""


def written(beast: Beast, outside: Outside) -> list[list[str]]:
    """Write the programs of a beast, and say how they are started: an ally first."""
    path, found = outside.directory / beast.program, list[list[str]]()
    if beast.ally:
        ally = outside.directory / "second" / "bot"
        ally.write_text(beast.ally_source())
        found.append([sys.executable, "-I", "-S", str(ally)])
    source = beast.source()
    if beast.language is Language.C:
        compiled(source, path)
    else:
        path.write_text(source.replace("{other}", str(outside.directory / "other" / "kept"), 1))
    path.chmod(0o755)
    alone = beast.first_line or beast.language is Language.C
    found.append([str(path)] if alone else [sys.executable, "-I", "-S", str(path)])
    return found


def compiled(source: str, path: Path) -> None:
    """Make a program of a text in C."""
    if shutil.which("cc") is None:
        raise CannotBeMade("there is no C compiler (cc) here")
    command = ["cc", "-w", "-O1", "-pthread", "-x", "c", "-", "-o", str(path)]
    try:
        done = subprocess.run(command, input=source, capture_output=True, text=True, timeout=COMPILING, check=False)
    except subprocess.TimeoutExpired:
        raise CannotBeMade(f"cc did not end within {COMPILING} s") from None
    if done.returncode:
        raise CannotBeMade(f"cc: {next((line for line in done.stderr.splitlines() if 'error' in line), 'failed')}")


@contextmanager
def secret() -> Iterator[None]:
    """Have something in our environment, and in the keyring of our session, that nobody may know."""
    before = os.environ.get(SECRET)
    have_a_key()
    os.environ[SECRET] = before or os.urandom(12).hex()
    try:
        yield
    finally:
        if before is None:
            del os.environ[SECRET]
