"""Test that programs do not compute while they are not asked, and that a failing supervisor is a host fault."""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from fairplay.core.errors import HostFault
from fairplay.core.messages import Answered, Failed, Start, TakeTurn
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
from tests.players.programs import PYTHON, NoControlGroups, becomes_true, current_holdings, is_cleaned_up, write_program
from tests.toy import Toy

GAME = Toy()
MATCH = deal_match(GAME, ["ann", "bob"], bytes(32))
START, TURN = Start(0, MATCH.names, MATCH.view(0)), TakeTurn(MATCH.view(0))
STRICT = SandboxPolicy(SandboxLevel.STRICT)
FREEZERS = [
    pytest.param(
        "group",
        marks=pytest.mark.skipif(not cgroup_support().freezer, reason=f"no freezer here: {cgroup_support().missing}"),
    ),
    "supervisor",
]
PATIENT = Limits(move=30, start_up=30)

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


@pytest.fixture(params=FREEZERS)
def each_freezer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every way to stop a program."""
    if request.param == "supervisor":
        monkeypatch.setattr(sandboxed_command, "ControlGroup", NoControlGroups)
        monkeypatch.setattr(
            sandboxed_command, "machine_oom_kills", lambda: 0
        )  # other tests run out of memory on purpose
    way: str = request.param
    return way


def computed(program: ProgramConnection) -> float:
    """Seconds that a program has computed, with all that it has started and that is still there."""
    total = 0
    for pid in descendants(program._transport.get_pid()):
        for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            total += int(path.read_text().split()[0])
    return total / 1e9


async def over(program: ProgramConnection, seconds: float) -> float:
    """Seconds that it computes in so many."""
    before = computed(program)
    await asyncio.sleep(seconds)
    return computed(program) - before


async def computing(program: ProgramConnection) -> None:
    """Wait until it has computed something."""
    before = computed(program)
    async with asyncio.timeout(AMPLE_LIMIT_S):
        while computed(program) - before < 0.05:
            await asyncio.sleep(0.01)


@needs_strict
@pytest.mark.alone
@pytest.mark.usefixtures("each_freezer")
@pytest.mark.parametrize("burning", [PROCESSES, THREADS], ids=["processes", "threads"])
def test_a_program_that_is_not_asked_does_not_compute_in_any_process(burning: str, tmp_path: Path) -> None:
    async def burn() -> list[float]:
        program = await ProgramConnection.start(write_program(tmp_path, burning), sandbox=STRICT)
        remote = RemoteChannel(program, GAME, limits=PATIENT)
        try:
            assert isinstance(await remote.hello(), Answered)
            assert isinstance(await remote.ask(START), Answered)
            found = []
            for _ in range(9):
                assert isinstance(await remote.ask(TURN), Answered)
                found.append(await over(program, 0.1))
            await acquire(program)
            await computing(program)
            program.release()
            return found
        finally:
            await remote.close(None)

    before = current_holdings()
    found = asyncio.run(burn())

    assert max(found) < 0.025
    assert statistics.median(found) < SCHEDULER_SLICE_S
    assert min(found) < 0.001
    assert is_cleaned_up(before)


@needs_strict
def test_a_program_that_may_ponder_computes_while_others_are_asked(tmp_path: Path) -> None:
    async def burn() -> None:
        program = await ProgramConnection.start(
            write_program(tmp_path, THREADS), sandbox=SandboxPolicy(SandboxLevel.STRICT, pondering=True)
        )
        remote = RemoteChannel(program, GAME, limits=PATIENT)
        try:
            assert isinstance(await remote.hello(), Answered)
            assert isinstance(await remote.ask(START), Answered)
            await computing(program)
        finally:
            await remote.close(None)

    asyncio.run(burn())


@needs_strict
@pytest.mark.usefixtures("each_freezer")
def test_a_killed_supervisor_ends_the_program_and_is_a_host_fault(tmp_path: Path) -> None:
    async def kill() -> Answered | Failed:
        program = await ProgramConnection.start(write_program(tmp_path), sandbox=STRICT)
        remote = RemoteChannel(program, GAME, limits=PATIENT)
        try:
            assert isinstance(await remote.hello(), Answered)
            (first,) = Path(f"/proc/{program._transport.get_pid()}/task").glob("*/children")
            os.kill(int(first.read_text()), 9)
            await asyncio.wait_for(program._ended.wait(), 10)
            return await remote.ask(TURN)
        finally:
            await remote.close(None)

    before = current_holdings()

    with pytest.raises(HostFault, match="the sandbox of a program could not be started, or was killed"):
        asyncio.run(kill())
    assert is_cleaned_up(before)


async def thawed(kept: SignalFreezer) -> None:
    """Wait until a program may run."""
    ready: asyncio.Future[HostFault | None] = asyncio.get_running_loop().create_future()
    kept.thaw(ready.set_result)
    if fault := await ready:
        raise fault


def test_a_supervisor_that_does_not_answer_is_a_host_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezer, "SUPERVISOR_TIMEOUT_S", 0.05)

    async def wake() -> None:
        kept = SignalFreezer()
        kept.freeze()
        try:
            await thawed(kept)
        finally:
            kept.supervisor_end.close()
            kept.close()

    with pytest.raises(HostFault, match="its supervisor does not answer"):
        asyncio.run(wake())


def test_a_slow_supervisor_is_waited_for_while_others_go_on() -> None:
    async def wake() -> int:
        kept, ticks = SignalFreezer(), 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        others = asyncio.create_task(tick())
        asyncio.get_running_loop().call_later(0.2, kept.supervisor_end.send, b"sc")
        kept.freeze()
        await thawed(kept)
        others.cancel()
        kept.supervisor_end.close()
        kept.close()
        return ticks

    assert asyncio.run(wake()) > 5


def test_a_program_that_has_ended_can_be_thawed_and_frozen() -> None:
    async def wake() -> None:
        kept = SignalFreezer()
        kept.supervisor_end.close()
        for _ in range(2):
            kept.freeze()
            await thawed(kept)
        kept.close()

    asyncio.run(wake())  # which raises, should it wait for an answer


def test_a_supervisor_refuses_to_run_outside_of_a_namespace() -> None:
    ours, theirs = os.pipe()

    done = subprocess.run(
        [*supervisor_command(ours), sys.executable, "-c", "print('ran')"],
        pass_fds=(ours,),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(ours)
    os.close(theirs)

    assert (done.returncode, done.stdout) == (1, "")
    assert "the first process of a namespace" in done.stderr


@needs_strict
@pytest.mark.usefixtures("each_freezer")
def test_an_exit_code_passes_through_the_supervisor(tmp_path: Path) -> None:
    async def end(body: str) -> str:
        program = await ProgramConnection.start(write_program(tmp_path, f"def turn(view):\n    {body}"), sandbox=STRICT)
        remote = RemoteChannel(program, GAME, limits=PATIENT)
        try:
            assert isinstance(await remote.hello(), Answered)
            answer = await remote.ask(TURN)
            assert isinstance(answer, Failed)
            return answer.why
        finally:
            await remote.close(None)

    assert asyncio.run(end("os._exit(3)")) == "the program ended with exit code 3"
    assert asyncio.run(end("os.kill(os.getpid(), 9)")) == "the program was killed by signal 9"


@needs_strict
@pytest.mark.usefixtures("each_freezer")
def test_many_programs_are_asked_in_turn_and_all_of_them_sleep_in_the_end(tmp_path: Path) -> None:
    async def ask() -> list[float]:
        programs = await asyncio.gather(
            *(ProgramConnection.start(write_program(tmp_path, THREADS), sandbox=STRICT) for _ in range(4))
        )
        remotes = [RemoteChannel(program, GAME, limits=PATIENT) for program in programs]
        try:
            for remote in remotes:
                assert isinstance(await remote.hello(), Answered)
            answers = await asyncio.gather(*(remote.ask(START) for remote in remotes))
            assert all(isinstance(answer, Answered) for answer in answers)
            return await asyncio.gather(*(over(program, 0.2) for program in programs))
        finally:
            await asyncio.gather(*(remote.close(None) for remote in remotes))

    before = current_holdings()
    found = asyncio.run(ask())

    assert max(found) < 0.025
    assert becomes_true(lambda: is_cleaned_up(before))


@needs_strict
def test_a_program_whose_question_is_cancelled_is_stopped_and_its_core_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed_command, "ControlGroup", NoControlGroups)
    monkeypatch.setattr(process, "get_cpu_slots", cache(lambda: CpuSlots(1)))

    async def cancel() -> float:
        program = await ProgramConnection.start(write_program(tmp_path, THREADS), sandbox=STRICT)
        remote = RemoteChannel(program, GAME, limits=PATIENT)
        try:
            assert isinstance(await remote.hello(), Answered)
            assert isinstance(await remote.ask(START), Answered)
            (first,) = Path(f"/proc/{program._transport.get_pid()}/task").glob("*/children")
            supervisor = int(first.read_text())
            os.kill(supervisor, signal.SIGSTOP)  # so that it cannot answer
            asking = asyncio.create_task(remote.ask(TURN))
            await asyncio.sleep(0.1)
            asking.cancel()
            await asyncio.wait((asking,))
            os.kill(supervisor, signal.SIGCONT)
            await asyncio.sleep(0.1)
            computed_then = await over(program, 0.2)
            async with asyncio.timeout(10):
                assert isinstance(await remote.ask(TURN), Answered)
            return computed_then
        finally:
            await remote.close(None)

    assert asyncio.run(cancel()) < 0.025


@needs_strict
@pytest.mark.usefixtures("each_freezer")
def test_no_program_computes_before_it_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "burns.py"
    path.write_text("while True: pass")

    async def start() -> float:
        program = await ProgramConnection.start([*PYTHON, str(path)], sandbox=STRICT)
        try:
            await asyncio.sleep(0.5)  # for the start of the sandbox, whose supervisor comes first
            before = await over(program, 0.3)
            await acquire(program)
            await computing(program)
            program.release()
            return before
        finally:
            await program.close(b"", 0)

    assert asyncio.run(start()) < 0.025


@needs_strict
def test_a_process_stopped_at_the_moment_of_a_continuation_goes_on_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a child is that is forked in the moment of a stop: it misses a continuation which comes before it is there."""
    monkeypatch.setattr(sandboxed_command, "ControlGroup", NoControlGroups)
    body = "import signal\ndef start():\n    for _ in range(3):\n        os.kill(os.getpid(), signal.SIGSTOP)"

    async def stop() -> Answered | Failed:
        program = await ProgramConnection.start(write_program(tmp_path, body), sandbox=STRICT)
        remote = RemoteChannel(program, GAME, limits=PATIENT)
        try:
            assert isinstance(await remote.hello(), Answered)
            return await remote.ask(START)
        finally:
            await remote.close(None)

    assert isinstance(asyncio.run(stop()), Answered)
