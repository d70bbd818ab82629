"""Test that programs do not compute while they are not asked, and that a failing supervisor is a host fault."""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import pytest

from fairplay.core.errors import HostFault
from fairplay.core.messages import Answered, Failed, Message, Start, TakeTurn
from fairplay.players import process
from fairplay.players.cpu_slots import CpuSlots
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits
from fairplay.referee.referee import deal_match
from fairplay.sandbox import freezer, sandboxed_command
from fairplay.sandbox.cgroup import cgroup_support
from fairplay.sandbox.freezer import SignalFreezer, supervisor_command
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.process_tree import descendants
from fairplay.transport.connection import acquire
from tests.players.machine import needs_strict
from tests.players.programs import PYTHON, NoControlGroups, current_holdings, is_cleaned_up, write_program
from tests.toy import Toy

MATCH = deal_match(Toy(), ["ann", "bob"], bytes(32))
START, TURN = Start(0, MATCH.names, MATCH.view(0)), TakeTurn(MATCH.view(0))
STRICT = SandboxPolicy(SandboxLevel.STRICT)
NO_GROUPS = f"no freezer here: {cgroup_support().missing}"
FREEZERS = [
    pytest.param("group", marks=pytest.mark.skipif(not cgroup_support().freezer, reason=NO_GROUPS)),
    "supervisor",
]
PROCESSES = """
def start():
    for _ in range(50):
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
"""
THREADS = """
import threading
def burn():
    while True:
        pass
def start():
    for _ in range(8):
        threading.Thread(target=burn, daemon=True).start()
"""
AMPLE_LIMIT_S = 30.0  # which no program needs
SCHEDULER_SLICE_S = 0.005  # for which a thread may run on before the thread that stops it


@pytest.fixture
def supervised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which a supervisor stops programs."""
    monkeypatch.setattr(sandboxed_command, "ControlGroup", NoControlGroups)
    monkeypatch.setattr(sandboxed_command, "machine_oom_kills", lambda: 0)  # other tests run out of memory on purpose


@pytest.fixture(params=FREEZERS)
def each_freezer(request: pytest.FixtureRequest) -> None:
    if request.param == "supervisor":
        request.getfixturevalue("supervised")


@pytest.fixture
def cleaned_up() -> Iterator[None]:
    before = current_holdings()
    yield
    assert is_cleaned_up(before)


@asynccontextmanager
async def greeted(
    directory: Path, body: str = "", sandbox: SandboxPolicy = STRICT
) -> AsyncIterator[tuple[ProgramConnection, RemoteChannel]]:
    program = await ProgramConnection.start(write_program(directory, body), sandbox=sandbox)
    remote = RemoteChannel(program, Toy(), limits=Limits(move=AMPLE_LIMIT_S, start_up=AMPLE_LIMIT_S))
    try:
        assert isinstance(await remote.hello(), Answered)
        yield program, remote
    finally:
        await remote.close(None)


async def ask(remote: RemoteChannel, message: Message) -> None:
    assert isinstance(await remote.ask(message), Answered)


def supervisor_pid(program: ProgramConnection) -> int:
    (first,) = Path(f"/proc/{program._transport.get_pid()}/task").glob("*/children")
    return int(first.read_text())


def computed(program: ProgramConnection) -> float:
    """Seconds that a program has computed, with all that it has started and that is still there."""
    total = 0
    for pid in descendants(program._transport.get_pid()):
        for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            total += int(path.read_text().split()[0])
    return total / 1e9


async def over(program: ProgramConnection, seconds: float) -> float:
    before = computed(program)
    await asyncio.sleep(seconds)
    return computed(program) - before


async def computing(program: ProgramConnection) -> None:
    before = computed(program)
    async with asyncio.timeout(AMPLE_LIMIT_S):
        while computed(program) - before < 0.05:
            await asyncio.sleep(0.01)


@needs_strict
@pytest.mark.alone
@pytest.mark.usefixtures("each_freezer", "cleaned_up")
@pytest.mark.parametrize("burning", [PROCESSES, THREADS], ids=["processes", "threads"])
async def test_a_program_that_is_not_asked_does_not_compute_in_any_process(burning: str, tmp_path: Path) -> None:
    found = []
    async with greeted(tmp_path, burning) as (program, remote):
        await ask(remote, START)
        for _ in range(9):
            await ask(remote, TURN)
            found.append(await over(program, 0.1))
        await acquire(program)
        await computing(program)
        program.release()

    assert max(found) < 0.025
    assert statistics.median(found) < SCHEDULER_SLICE_S
    assert min(found) < 0.001


@needs_strict
async def test_a_program_that_may_ponder_computes_while_others_are_asked(tmp_path: Path) -> None:
    async with greeted(tmp_path, THREADS, SandboxPolicy(SandboxLevel.STRICT, pondering=True)) as (program, remote):
        await ask(remote, START)
        await computing(program)


@needs_strict
@pytest.mark.usefixtures("each_freezer", "cleaned_up")
async def test_a_killed_supervisor_ends_the_program_and_is_a_host_fault(tmp_path: Path) -> None:
    async with greeted(tmp_path) as (program, remote):
        os.kill(supervisor_pid(program), 9)
        await asyncio.wait_for(program._ended.wait(), 10)
        with pytest.raises(HostFault, match="the sandbox of a program could not be started, or was killed"):
            await remote.ask(TURN)


@pytest.fixture
def kept() -> Iterator[SignalFreezer]:
    """What stops a program by its supervisor, whose end is in the hands of a test."""
    kept = SignalFreezer()
    kept.freeze()
    yield kept
    kept.supervisor_end.close()
    kept.close()


async def thawed(kept: SignalFreezer) -> None:
    ready: asyncio.Future[HostFault | None] = asyncio.get_running_loop().create_future()
    kept.thaw(ready.set_result)
    if fault := await ready:
        raise fault


async def test_a_supervisor_that_does_not_answer_is_a_host_fault(
    kept: SignalFreezer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezer, "SUPERVISOR_TIMEOUT_S", 0.05)

    with pytest.raises(HostFault, match="its supervisor does not answer"):
        await thawed(kept)


async def test_a_slow_supervisor_is_waited_for_while_others_go_on(kept: SignalFreezer) -> None:
    asyncio.get_running_loop().call_later(0.2, kept.supervisor_end.send, b"sc")
    waking, ticks = asyncio.create_task(thawed(kept)), 0
    while not waking.done():
        await asyncio.sleep(0.001)
        ticks += 1
    await waking
    assert ticks > 5


async def test_a_program_that_has_ended_can_be_thawed_and_frozen(kept: SignalFreezer) -> None:
    kept.supervisor_end.close()
    for _ in range(2):
        await thawed(kept)  # which raises, should it wait for an answer
        kept.freeze()


def test_a_supervisor_refuses_to_run_outside_of_a_namespace() -> None:
    ours, theirs = os.pipe()
    command = [*supervisor_command(ours), sys.executable, "-c", "print('ran')"]

    done = subprocess.run(command, pass_fds=(ours,), capture_output=True, text=True, timeout=60, check=False)
    os.close(ours)
    os.close(theirs)

    assert (done.returncode, done.stdout) == (1, "")
    assert "the first process of a namespace" in done.stderr


@needs_strict
@pytest.mark.usefixtures("each_freezer")
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("os._exit(3)", "the program ended with exit code 3"),
        ("os.kill(os.getpid(), 9)", "the program was killed by signal 9"),
    ],
)
async def test_an_exit_code_passes_through_the_supervisor(body: str, why: str, tmp_path: Path) -> None:
    async with greeted(tmp_path, f"def turn(view):\n    {body}") as (_, remote):
        answer = await remote.ask(TURN)
        assert isinstance(answer, Failed)
        assert answer.why == why


@needs_strict
@pytest.mark.usefixtures("supervised")
async def test_a_program_whose_question_is_cancelled_is_stopped_and_its_core_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "get_cpu_slots", cache(lambda: CpuSlots(1)))

    async with greeted(tmp_path, THREADS) as (program, remote):
        await ask(remote, START)
        supervisor = supervisor_pid(program)
        os.kill(supervisor, signal.SIGSTOP)  # so that it cannot answer
        asking = asyncio.create_task(remote.ask(TURN))
        await asyncio.sleep(0.1)
        asking.cancel()
        await asyncio.wait((asking,))
        os.kill(supervisor, signal.SIGCONT)
        await asyncio.sleep(0.1)
        assert await over(program, 0.2) < 0.025
        async with asyncio.timeout(10):
            await ask(remote, TURN)


@needs_strict
@pytest.mark.usefixtures("each_freezer")
async def test_no_program_computes_before_it_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "burns.py"
    path.write_text("while True: pass")
    program = await ProgramConnection.start([*PYTHON, str(path)], sandbox=STRICT)
    try:
        await asyncio.sleep(0.5)  # for the start of the sandbox, whose supervisor comes first
        assert await over(program, 0.3) < 0.025
        await acquire(program)
        await computing(program)
        program.release()
    finally:
        await program.close(b"", 0)


@needs_strict
@pytest.mark.usefixtures("supervised")
async def test_a_process_stopped_at_the_moment_of_a_continuation_goes_on_too(tmp_path: Path) -> None:
    """As a child is that is forked in the moment of a stop: it misses a continuation which comes before it is there."""
    body = "import signal\ndef start():\n    for _ in range(3):\n        os.kill(os.getpid(), signal.SIGSTOP)"

    async with greeted(tmp_path, body) as (_, remote):
        await ask(remote, START)
