"""Test programs that are honest, slow, hostile or broken, and that each ends when its connection is closed."""

import asyncio
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Fault
from fairplay.core.messages import Answered, Evidence, Failed, Start, TakeTurn
from fairplay.players import process
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits
from fairplay.referee.referee import deal_match
from fairplay.render.evidence import describe_evidence, describe_exit_code
from fairplay.sandbox import protections, sandboxed_command
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.process_tree import descendants
from fairplay.transport.connection import ConnectionClosed, TooMuchData, acquire, receive
from tests.players.machine import needs_landlock, needs_strict
from tests.players.programs import (
    PLAIN,
    PYTHON,
    STRICT,
    NoControlGroups,
    becomes_true,
    every_level,
    leaves_no_process,
    processes_marked,
    running,
    write_program,
)
from tests.toy import Toy

GAME = Toy()
MATCH = deal_match(GAME, ["ann", "bob"], bytes(32))
START, TURN = Start(0, MATCH.names, MATCH.view(0)), TakeTurn(MATCH.view(0))
PATIENT = Limits(move=30, start_up=30)
EVERY_WAY = [
    pytest.param("strict", marks=needs_strict),
    pytest.param("landlock", marks=needs_landlock),
    "none",
    "without namespaces",
]


@pytest.fixture(params=EVERY_WAY)
def any_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SandboxPolicy:
    """Every way to run a program: also where the system has no namespaces."""
    if request.param == "without namespaces":
        monkeypatch.setattr(protections, "why_no_namespace", lambda: "they are forbidden")
    return SandboxPolicy(SandboxLevel(request.param)) if request.param in ("strict", "landlock") else PLAIN


async def talk(command: list[str], sandbox: SandboxPolicy, *messages: Any, limits: Limits = PATIENT) -> list[Any]:
    """What a program answers to hello and to these messages."""
    async with running(command, sandbox) as program:
        remote = RemoteChannel(program, GAME, limits=limits)
        answers = [await remote.hello(), *[await remote.ask(message) for message in messages]]
        await remote.close(None)
        return answers


async def failure(command: list[str], sandbox: SandboxPolicy, *messages: Any, limits: Limits = PATIENT) -> Failed:
    """How it fails in the end."""
    *before, answer = await talk(command, sandbox, *messages, limits=limits)
    assert all(isinstance(one, Answered) for one in before)
    assert isinstance(answer, Failed), answer
    return answer


def text_of(evidence: Evidence) -> str:
    return "\n".join(describe_evidence(evidence))


def python(text: str) -> list[str]:
    return [*PYTHON, "-c", text]


@every_level
@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("sys.exit(3)", "the program ended with exit code 3"),
        ("sys.exit(0)", "the program ended with exit code 0"),
        ("os.kill(os.getpid(), 9)", "the program was killed by signal 9"),
        ("os.abort()", "the program was killed by signal 6"),
        ("raise ValueError('a bad day')", "the program ended with exit code 1"),
    ],
)
@leaves_no_process
async def test_the_end_of_a_program_is_in_the_reason(
    end: str, why: str, sandbox: SandboxPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed_command, "machine_oom_kills", lambda: 0)  # other tests run out of memory on purpose
    command = write_program(tmp_path, f"def turn(view):\n    print('so long', file=sys.stderr)\n    {end}")

    failed = await failure(command, sandbox, START, TURN)

    assert (failed.fault, failed.why) == (Fault.CRASHED, why)
    assert f"{why}; its stderr ends with:\nso long" in text_of(failed.evidence)


@every_level
@leaves_no_process
async def test_the_end_of_a_long_stderr_is_kept_and_may_be_binary(sandbox: SandboxPolicy) -> None:
    write = "import os; os.write(2, b'x' * 10 ** 6 + b'\\xffthe end'); os._exit(1)"

    kept = (await failure(python(write), sandbox)).evidence.stderr or ""

    assert kept == "x" * (process.MAX_STDERR_TAIL_BYTES - len("?the end")) + "\ufffdthe end"


@every_level
@leaves_no_process
async def test_a_program_that_floods_stderr_plays_on(sandbox: SandboxPolicy, tmp_path: Path) -> None:
    flood = "import threading\ndef flood():\n    while True:\n        os.write(2, b'y' * 65536)\n"
    command = write_program(tmp_path, flood + "threading.Thread(target=flood, daemon=True).start()")

    assert all(isinstance(answer, Answered) for answer in await talk(command, sandbox, START, TURN))


@leaves_no_process
async def test_the_evidence_holds_what_was_said_on_stderr_while_the_event_loop_was_busy(tmp_path: Path) -> None:
    said = tmp_path / "said"
    os.mkfifo(said)
    source = f"import sys; input(); print('my cards', file=sys.stderr, flush=True); open({str(said)!r}, 'w'); input()"

    async with running(python(source)) as program:
        await acquire(program)
        program.send(b"\n")
        said.read_text()  # which keeps the loop busy until it was said
        assert "my cards" in (program.evidence().stderr or "")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["no-such-program"], "there is no program 'no-such-program'"),
        (["./no/such/program"], "there is no program './no/such/program'"),
        ([], "there is no program ''"),
        ([""], "there is no program ''"),
        (["/etc"], "there is no program '/etc'"),
        (["./README.md"], "./README.md may not be executed; to make it a program: chmod +x ./README.md"),
    ],
)
@every_level
@leaves_no_process
async def test_a_command_without_a_program_is_refused_before_the_match(
    command: list[str], why: str, sandbox: SandboxPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").touch(mode=0o644)

    with pytest.raises(BadRequest) as refused:
        await ProgramConnection.start(command, sandbox=sandbox)

    assert str(refused.value) == why


@every_level
@pytest.mark.parametrize("text", ["#!/no/such/interpreter\n", "#!/usr/bin/env no-such-language\n", "\x7fELF"])
@leaves_no_process
async def test_a_program_that_cannot_be_executed_has_crashed_at_the_first_question(
    text: str, sandbox: SandboxPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_to_us = [place for place in os.environ["PATH"].split(os.pathsep) if os.access(place, os.X_OK)]
    monkeypatch.setenv("PATH", os.pathsep.join(open_to_us))  # where one is not, env says 126
    path = tmp_path / "bot"
    path.write_text(text)
    path.chmod(0o755)

    failed = await failure([str(path)], sandbox)

    assert (failed.fault, failed.why) == (Fault.CRASHED, "the program ended with exit code 127")
    assert failed.evidence.stderr


@leaves_no_process
async def test_an_exit_code_is_waited_for_where_a_program_is_slow_to_end(any_way: SandboxPolicy) -> None:
    failed = await failure(["sh", "-c", "read -r hello; exec >&-; sleep 0.4; exit 3"], any_way)

    assert (failed.fault, failed.why) == (Fault.CRASHED, "the program ended with exit code 3")


@leaves_no_process
async def test_a_machine_that_cannot_start_programs_is_a_host_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxed_command, "wrap_command", lambda *_: ["/no/such/sandbox"])

    with pytest.raises(HostFault, match="cannot start true: No such file"):
        await ProgramConnection.start(["true"], sandbox=PLAIN)


def descriptors() -> list[int]:
    """Those of this process, and one more by which they are found."""
    return [int(path.name) for path in Path("/proc/self/fd").iterdir()]


@leaves_no_process
async def test_a_program_start_without_file_descriptors_is_a_host_fault_and_leaves_nothing() -> None:
    async def can_start_with(more: int) -> bool:
        before, (soft, hard) = len(descriptors()), resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (before - 1 + more, hard))
        program: ProgramConnection | None = None
        try:
            program = await ProgramConnection.start(["cat"], sandbox=PLAIN)
        except HostFault:
            return False
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            if program is not None:
                await program.close(b"", 0)
            await asyncio.sleep(0)
            assert len(descriptors()) == before
        return True

    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with running(["cat"]):  # so that all modules are loaded
        pass
    highest, holes = max(descriptors()), [os.open(os.devnull, os.O_RDONLY)]
    while holes[-1] < highest:
        holes.append(os.open(os.devnull, os.O_RDONLY))
    try:
        could = [await can_start_with(more) for more in range(1, 40)]
    finally:
        for number in holes:
            os.close(number)
    await asyncio.sleep(1.1)  # in which a forgotten timer would look for an exit code

    assert (could[0], could[-1]) == (False, True)
    assert could == sorted(could)
    assert complaints == []


@pytest.mark.alone
@every_level
@leaves_no_process
async def test_a_program_that_never_reads_delays_no_match(sandbox: SandboxPolicy) -> None:
    async with running(["sleep", "60"], sandbox) as program:
        for _ in range(100):
            program.send(b"x" * 65536 + b"\n")
            await asyncio.sleep(0)
        since = time.monotonic()
        await program.close(b"goodbye\n", 0.1)
        assert time.monotonic() - since < 1.5


@pytest.mark.alone
@every_level
@leaves_no_process
async def test_a_reply_byte_by_byte_times_out_at_the_deadline_of_the_message(
    sandbox: SandboxPolicy, tmp_path: Path
) -> None:
    drip = "def turn(view):\n    while True:\n        os.write(1, b' ')\n        time.sleep(0.02)"

    failed = await failure(write_program(tmp_path, drip), sandbox, TURN, limits=Limits(move=0.5, start_up=30))

    assert failed.fault is Fault.TIMED_OUT
    assert 0.5 <= failed.took < 0.7


@leaves_no_process
async def test_the_longest_line_arrives() -> None:
    async def heard(length: int) -> bytes:
        async with running(python(f"import time; print('x' * {length}, flush=True); time.sleep(60)")) as program:
            return await receive(program)

    assert await heard(8192) == b"x" * 8192
    with pytest.raises(TooMuchData):
        await heard(8193)


@every_level
@leaves_no_process
async def test_an_ejected_program_is_told_why_and_may_exit_by_itself(sandbox: SandboxPolicy, tmp_path: Path) -> None:
    async with running(write_program(tmp_path), sandbox) as program:
        await RemoteChannel(program, GAME, limits=PATIENT).hello()
        await program.close(b'{"type":"goodbye","why":"too slow"}\n', 60)

    said = text_of(program.evidence())
    assert said == "the program ended with exit code 0; its stderr ends with:\ngoodbye: too slow"


ESCAPE = """
import threading
def start():
    threading.Thread(target=time.sleep, args=(60,)).start()  # not even the end of its stdin ends it
    begun, beginning = os.pipe()
    for name in ("child", "hidden"):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", MARK])
    os.close(beginning)
    os.read(begun, 1)  # until both of them have begun, as none runs on after the answer
"""


@pytest.mark.parametrize("end", ["goodbye", "crash", "cancelled", "cancelled while hanging up"])
def test_all_processes_of_a_program_end_with_it(any_way: SandboxPolicy, end: str, tmp_path: Path) -> None:
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    crash = "def turn(view):\n    os._exit(3)" if end == "crash" else "def turn(view):\n    time.sleep(60)"

    async def escape() -> None:
        program = await ProgramConnection.start(
            write_program(tmp_path, ESCAPE.replace("MARK", repr(mark)) + crash), sandbox=any_way
        )
        remote = RemoteChannel(program, GAME, limits=PATIENT)
        assert isinstance(await remote.hello(), Answered)
        assert isinstance(await remote.ask(START), Answered)
        assert await asyncio.to_thread(becomes_true, lambda: len(processes_marked(mark)) == 2)
        match end:
            case "crash":
                assert isinstance(await remote.ask(TURN), Failed)
            case "cancelled":
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(remote.ask(TURN), 0.1)
            case "cancelled while hanging up":
                task = asyncio.create_task(program.close(b"", 30))
                await asyncio.sleep(0.1)
                for _ in range(3):
                    task.cancel()
                    await asyncio.sleep(0)
                with pytest.raises(asyncio.CancelledError):
                    await task
                return
        await program.close(b"", 0.05)

    asyncio.run(escape())

    assert becomes_true(lambda: not processes_marked(mark)), "a process survived"


@leaves_no_process
async def test_a_killed_program_has_only_its_own_output_on_stderr(any_way: SandboxPolicy) -> None:
    heard, spoke = list[bytes](), asyncio.Event()

    def hear(text: bytes) -> None:
        heard.append(text)
        spoke.set()

    text = "import sys, time; print('hello', file=sys.stderr, flush=True); time.sleep(60)"
    async with running(python(text), any_way, on_stderr=hear) as program:
        await acquire(program)
        await spoke.wait()
        program.release()

    assert b"".join(heard) == b"hello\n"
    assert program.evidence().stderr == "hello\n"


@leaves_no_process
async def test_a_connection_can_be_closed_twice() -> None:
    async with running(["cat"]) as program:
        await program.close(b"", 0)
        await program.close(b"more\n", 0)
        program.send(b"more\n")
        with pytest.raises(ConnectionClosed):
            await receive(program)


@leaves_no_process
async def test_a_start_that_is_cancelled_leaves_nothing(any_way: SandboxPolicy) -> None:
    mark = f"{60 + os.getpid() / 1e6}"

    for turns in range(1, 9):
        task = asyncio.create_task(ProgramConnection.start(["sleep", mark], sandbox=any_way))
        for _ in range(turns):
            await asyncio.sleep(0)
        if task.cancel():
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            await (await task).close(b"", 0)

    assert await asyncio.to_thread(becomes_true, lambda: not processes_marked(mark))


REFEREE = """
import asyncio, sys
from fairplay.sandbox import protections
from fairplay.players.process import ProgramConnection
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.transport.connection import acquire, receive

async def main():
    level, mark, forbidden = sys.argv[1:]
    if forbidden:
        protections.why_no_namespace = lambda: forbidden
    text = "import os, time\\nif os.fork() == 0: os.setsid()\\nprint(1, flush=True)\\nwhile True: time.sleep(60)"
    command, policy = [sys.executable, "-I", "-S", "-c", text, mark], SandboxPolicy(SandboxLevel(level))
    programs = [await ProgramConnection.start(command, sandbox=policy) for _ in "ab"]
    for program in programs:
        await acquire(program)
        await receive(program)
        program.release()
    print("ready", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("way", EVERY_WAY)
def test_when_the_referee_is_killed_its_programs_die(way: str) -> None:
    mark, level = f"killed-{os.getpid()}-{way.replace(' ', '-')}", "none" if way == "without namespaces" else way
    forbidden = "forbidden" if way == "without namespaces" else ""
    command = [sys.executable, "-c", REFEREE, level, mark, forbidden]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as referee:
        assert referee.stdout is not None and referee.stdout.readline() == "ready\n"
        assert len(processes_marked(mark)) >= 4

        referee.kill()

    assert becomes_true(lambda: not processes_marked(mark)), processes_marked(mark)


@needs_strict
def test_when_the_referee_is_killed_while_they_start_they_die_too() -> None:
    mark = f"early-{os.getpid()}"
    for number in range(6):
        with subprocess.Popen([sys.executable, "-c", REFEREE, "strict", mark, ""], stdout=subprocess.PIPE) as referee:
            becomes_true(lambda: bool(processes_marked(mark)[1:]))  # the referee itself, and the first that it starts
            time.sleep(number * 0.004)
            referee.kill()

    assert becomes_true(lambda: not processes_marked(mark)), processes_marked(mark)


NOISE = """
import asyncio, sys
from fairplay.players.process import ProgramConnection
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy, SandboxLevel

async def main():
    for command in (["true"], ["cat"], ["sleep", "60"], ["sh", "-c", "echo oh >&2; kill -9 $$"]):
        program = await ProgramConnection.start(command, sandbox=SandboxPolicy(SandboxLevel(sys.argv[1])))
        await program.close(b"so long\\n", 0.01)
    program = await ProgramConnection.start(["sleep", "60"], sandbox=SandboxPolicy(SandboxLevel(sys.argv[1])))
    hanging = asyncio.create_task(program.close(b"", 60))
    await asyncio.sleep(0.01)  # and the loop ends, and cancels everything

asyncio.run(main())
"""


@every_level
def test_the_end_of_the_event_loop_prints_nothing(sandbox: SandboxPolicy) -> None:
    command = [sys.executable, "-W", "error", "-c", NOISE, sandbox.level.value]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_exit_codes_are_described() -> None:
    codes = {None: "is still running", 0: "ended with exit code 0", 128: "ended with exit code 128"}
    codes |= {137: "was killed by signal 9", -9: "was killed by signal 9", 255: "ended with exit code 255"}
    assert {code: describe_exit_code(code) for code in codes} == codes


@needs_strict
@leaves_no_process
async def test_a_strict_sandbox_is_in_another_process_group_and_is_gone_at_once_when_it_is_closed(
    tmp_path: Path,
) -> None:
    async with running(write_program(tmp_path), STRICT) as program:
        await RemoteChannel(program, GAME, limits=PATIENT).hello()
        assert os.getpgid(0) != os.getpgid(program._transport.get_pid())  # so Ctrl-C is not for it
        sandboxed = [Path(f"/proc/{pid}") for pid in descendants(program._transport.get_pid())]
        assert len(sandboxed) >= 2

    assert not [path for path in sandboxed if path.exists()]


@every_level
@leaves_no_process
async def test_a_program_that_has_ended_fails_every_question(sandbox: SandboxPolicy) -> None:
    async with running(["sh", "-c", "exit 3"], sandbox) as program:
        await acquire(program)
        for _ in range(3):
            with pytest.raises(ConnectionClosed, match="the program ended with exit code 3"):
                await receive(program)
        program.release()


@every_level
@leaves_no_process
async def test_only_a_proven_kill_by_the_machine_is_a_host_fault(
    sandbox: SandboxPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = write_program(tmp_path, "def turn(view):\n    os.kill(os.getpid(), 9)")
    kills = iter([5, 5, 5, 6])  # of those whom the machine has killed: when two programs start, and when they are gone
    monkeypatch.setattr(sandboxed_command, "machine_oom_kills", lambda: next(kills))
    monkeypatch.setattr(sandboxed_command, "ControlGroup", NoControlGroups)  # it would know that no memory was lacking

    failed = await failure(command, sandbox, TURN)
    assert (failed.fault, failed.why) == (Fault.CRASHED, "the program was killed by signal 9")
    with pytest.raises(HostFault, match="the machine ran out of memory"):
        await talk(command, sandbox, TURN)
