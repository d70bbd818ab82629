"""Test programs that are honest, slow, hostile or broken, and that each ends when its connection is closed."""

import asyncio
import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine
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
from fairplay.referee.drivers import play_async
from fairplay.referee.referee import deal_match
from fairplay.render.evidence import describe_evidence, describe_exit_code
from fairplay.sandbox import process_tree, protections, sandboxed_command
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.transport.connection import ConnectionClosed, TooMuchData, acquire, receive
from tests.players.machine import needs_landlock, needs_strict
from tests.players.programs import (
    NOTHING,
    PYTHON,
    Holdings,
    InProcessPlayer,
    Namespaces,
    NoControlGroups,
    becomes_true,
    current_holdings,
    every_level,
    is_cleaned_up,
    new_holdings,
    processes_marked,
    write_program,
)
from tests.toy import Toy

GAME = Toy()
MATCH = deal_match(GAME, ["ann", "bob"], bytes(32))
START, TURN = Start(0, MATCH.names, MATCH.view(0)), TakeTurn(MATCH.view(0))
PATIENT = Limits(move=30, start_up=30)
PLAIN = SandboxPolicy(SandboxLevel.NONE)


def text_of(evidence: Evidence) -> str:
    """The evidence as text."""
    return "\n".join(describe_evidence(evidence))


def ran(work: Coroutine[Any, Any, Any]) -> Any:
    """What it comes to, with nothing left of it."""
    before = current_holdings()
    try:
        return asyncio.run(work)
    finally:
        assert is_cleaned_up(before), new_holdings(before)


async def talk(command: list[str], box: SandboxPolicy, *messages: Any, limits: Limits = PATIENT) -> list[Any]:
    """What a program answers to hello and to these messages."""
    remote = RemoteChannel(await ProgramConnection.start(command, sandbox=box), GAME, limits=limits)
    try:
        return [await remote.hello(), *[await remote.ask(message) for message in messages]]
    finally:
        await remote.close(None)


def last(answers: list[Any]) -> Failed:
    """The failure at the end."""
    assert isinstance(answers[-1], Failed), answers
    return answers[-1]


def python(text: str) -> list[str]:
    return [*PYTHON, "-c", text]


@every_level
def test_an_honest_program_plays_a_match(sandbox: SandboxPolicy, tmp_path: Path) -> None:
    async def match() -> Any:
        remote = RemoteChannel(
            await ProgramConnection.start(write_program(tmp_path), sandbox=sandbox), GAME, limits=PATIENT
        )
        await remote.hello()
        return await play_async(MATCH, [remote, InProcessPlayer()])

    result = ran(match()).result

    assert result.ejected == ()
    assert sum(map(len, result.ranking)) == 2


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
def test_the_end_of_a_program_is_in_the_reason(
    end: str, why: str, sandbox: SandboxPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed_command, "machine_oom_kills", lambda: 0)  # other tests run out of memory on purpose
    command = write_program(tmp_path, f"def turn(view):\n    print('so long', file=sys.stderr)\n    {end}")

    failed = last(ran(talk(command, sandbox, START, TURN)))

    assert (failed.fault, failed.why) == (Fault.CRASHED, why)
    assert f"{why}; its stderr ends with:\nso long" in text_of(failed.evidence)


@every_level
def test_the_end_of_a_long_stderr_is_kept(sandbox: SandboxPolicy) -> None:
    failed = last(ran(talk(python("import sys; sys.stderr.write('x' * 10 ** 6 + 'the end'); sys.exit(1)"), sandbox)))

    kept = failed.evidence.stderr or ""
    assert kept == "x" * (process.MAX_STDERR_TAIL_BYTES - len("the end")) + "the end"


@every_level
def test_a_program_that_floods_stderr_plays_on(sandbox: SandboxPolicy, tmp_path: Path) -> None:
    flood = "import threading\ndef flood():\n    while True:\n        os.write(2, b'y' * 65536)\n"
    command = write_program(tmp_path, flood + "threading.Thread(target=flood, daemon=True).start()")

    assert all(isinstance(answer, Answered) for answer in ran(talk(command, sandbox, START, TURN)))


@every_level
def test_the_evidence_of_an_answer_holds_what_was_said_on_stderr_before_it(
    sandbox: SandboxPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STDERR_READ_INTERVAL_S", 5.0)  # until stderr is looked at again
    body = "def turn(view):\n    print('my cards', file=sys.stderr)\n    return {'type': 'pass'}"
    command = write_program(tmp_path, body)

    async def evidence() -> Evidence:
        remote = RemoteChannel(await ProgramConnection.start(command, sandbox=sandbox), GAME, limits=PATIENT)
        try:
            await remote.hello()
            for _ in range(3):
                answer = await remote.ask(TURN)
            assert isinstance(answer, Answered) and answer.evidence is not None
            return answer.evidence()
        finally:
            await remote.close(None)

    assert (ran(evidence()).stderr or "").count("my cards") == 3


def test_the_evidence_holds_what_was_said_on_stderr_while_the_event_loop_was_busy(tmp_path: Path) -> None:
    said = tmp_path / "said"
    os.mkfifo(said)
    source = f"import sys; input(); print('my cards', file=sys.stderr, flush=True); open({str(said)!r}, 'w'); input()"

    async def evidence() -> Evidence:
        program = await ProgramConnection.start(python(source), sandbox=PLAIN)
        try:
            await acquire(program)
            program.send(b"\n")
            said.read_text()  # which keeps the loop busy until it was said
            return program.evidence()
        finally:
            await program.close(b"", 0.0)

    assert "my cards" in (ran(evidence()).stderr or "")


def test_stderr_may_be_binary() -> None:
    failed = last(ran(talk(python("import os; os.write(2, bytes(range(256))); os._exit(1)"), PLAIN)))

    assert "\ufffd" in (failed.evidence.stderr or "")


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
def test_a_command_without_a_program_is_refused_before_the_match(
    command: list[str], why: str, sandbox: SandboxPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").touch(mode=0o644)

    with pytest.raises(BadRequest) as refused:
        ran(talk(command, sandbox))

    assert str(refused.value) == why


@every_level
@pytest.mark.parametrize("text", ["#!/no/such/interpreter\n", "#!/usr/bin/env no-such-language\n", "\x7fELF"])
def test_a_program_that_cannot_be_executed_has_crashed_at_the_first_question(
    text: str, sandbox: SandboxPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_to_us = [place for place in os.environ["PATH"].split(os.pathsep) if os.access(place, os.X_OK)]
    monkeypatch.setenv("PATH", os.pathsep.join(open_to_us))  # where one is not, env says 126
    path = tmp_path / "bot"
    path.write_text(text)
    path.chmod(0o755)

    failed = last(ran(talk([str(path)], sandbox)))

    assert (failed.fault, failed.why) == (Fault.CRASHED, "the program ended with exit code 127")
    assert failed.evidence.stderr


def test_an_exit_code_is_waited_for_where_a_program_is_slow_to_end(any_way: SandboxPolicy) -> None:
    failed = last(ran(talk(["sh", "-c", "read -r hello; exec >&-; sleep 0.4; exit 3"], any_way)))

    assert (failed.fault, failed.why) == (Fault.CRASHED, "the program ended with exit code 3")


def test_a_machine_that_cannot_start_programs_is_a_host_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxed_command, "wrap_command", lambda *_: ["/no/such/sandbox"])

    with pytest.raises(HostFault, match="cannot start true: No such file"):
        ran(ProgramConnection.start(["true"], sandbox=PLAIN))


@pytest.mark.alone
@every_level
def test_a_program_that_never_reads_delays_no_match(sandbox: SandboxPolicy) -> None:
    async def stuffed() -> float:
        program = await ProgramConnection.start(["sleep", "60"], sandbox=sandbox)
        for _ in range(100):
            program.send(b"x" * 65536 + b"\n")
            await asyncio.sleep(0)
        since = time.monotonic()
        await program.close(b"goodbye\n", 0.1)
        return time.monotonic() - since

    assert ran(stuffed()) < 1.5


@pytest.mark.alone
@every_level
def test_a_reply_byte_by_byte_times_out_at_the_deadline_of_the_message(sandbox: SandboxPolicy, tmp_path: Path) -> None:
    drip = "def turn(view):\n    while True:\n        os.write(1, b' ')\n        time.sleep(0.02)"

    answers = ran(talk(write_program(tmp_path, drip), sandbox, TURN, limits=Limits(move=0.5, start_up=30)))

    assert last(answers).fault is Fault.TIMED_OUT
    assert 0.5 <= last(answers).took < 0.7


@every_level
def test_a_line_that_is_too_long_is_a_flood(sandbox: SandboxPolicy, tmp_path: Path) -> None:
    command = write_program(tmp_path, "def turn(view):\n    return 'x' * 9000")

    assert last(ran(talk(command, sandbox, TURN))).fault is Fault.FLOOD


def test_the_longest_line_arrives() -> None:
    async def heard(length: int) -> bytes:
        program = await ProgramConnection.start(
            python(f"import time; print('x' * {length}, flush=True); time.sleep(60)"), sandbox=PLAIN
        )
        try:
            return await receive(program)
        finally:
            await program.close(b"", 0)

    assert ran(heard(8192)) == b"x" * 8192
    with pytest.raises(TooMuchData):
        ran(heard(8193))


@every_level
def test_an_ejected_program_is_told_why_and_may_exit_by_itself(sandbox: SandboxPolicy, tmp_path: Path) -> None:
    async def sent_away() -> str:
        program = await ProgramConnection.start(write_program(tmp_path), sandbox=sandbox)
        await RemoteChannel(program, GAME, limits=PATIENT).hello()
        await program.close(b'{"type":"goodbye","why":"too slow"}\n', 60)
        return text_of(program.evidence())

    assert ran(sent_away()) == "the program ended with exit code 0; its stderr ends with:\ngoodbye: too slow"


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


WAYS = [
    pytest.param("strict", marks=needs_strict),
    pytest.param("landlock", marks=needs_landlock),
    "none",
    "without namespaces",
]


@pytest.fixture(params=WAYS)
def any_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SandboxPolicy:
    """Every way to run a program: also where the system has no namespaces."""
    if request.param in ("strict", "landlock"):
        return SandboxPolicy(SandboxLevel(request.param))
    if request.param == "without namespaces":
        monkeypatch.setattr(protections, "why_no_namespace", lambda: "they are forbidden")
    return PLAIN


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


def test_a_killed_program_has_only_its_own_output_on_stderr(any_way: SandboxPolicy) -> None:
    async def killed() -> tuple[bytes, str | None]:
        heard, spoke = list[bytes](), asyncio.Event()

        def hear(text: bytes) -> None:
            heard.append(text)
            spoke.set()

        text = "import sys, time; print('hello', file=sys.stderr, flush=True); time.sleep(60)"
        program = await ProgramConnection.start(python(text), sandbox=any_way, on_stderr=hear)
        await acquire(program)
        await spoke.wait()
        program.release()
        await program.close(b"", 0)
        return b"".join(heard), program.evidence().stderr

    heard, evidence = ran(killed())

    assert heard == b"hello\n"
    assert evidence == "hello\n"


def test_a_connection_can_be_closed_twice() -> None:
    async def twice() -> None:
        program = await ProgramConnection.start(["cat"], sandbox=PLAIN)
        await program.close(b"", 0)
        await program.close(b"more\n", 0)
        program.send(b"more\n")
        with pytest.raises(ConnectionClosed):
            await receive(program)

    ran(twice())


def test_a_start_that_is_cancelled_leaves_nothing(any_way: SandboxPolicy) -> None:
    mark = f"{60 + os.getpid() / 1e6}"

    async def cancelled(rounds: int) -> None:
        for number in range(rounds):
            task = asyncio.create_task(ProgramConnection.start(["sleep", mark], sandbox=any_way))
            await asyncio.sleep(0)
            for _ in range(number):
                await asyncio.sleep(0)
            if task.cancel():
                with pytest.raises(asyncio.CancelledError):
                    await task
            else:
                await (await task).close(b"", 0)

    ran(cancelled(8))

    assert becomes_true(lambda: not processes_marked(mark))


@pytest.mark.parametrize("rounds", [40, pytest.param(400, marks=[pytest.mark.nightly, pytest.mark.time_limit(300)])])
def test_many_crashes_leave_nothing(any_way: SandboxPolicy, rounds: int) -> None:
    box = any_way

    async def crash() -> None:
        program = await ProgramConnection.start(["sh", "-c", "read -r hello; echo oh >&2; exit 3"], sandbox=box)
        remote = RemoteChannel(program, GAME, limits=PATIENT)
        answer = await remote.hello()
        match = await play_async(MATCH, [remote, InProcessPlayer()])
        assert isinstance(answer, Failed) and answer.why == "the program ended with exit code 3"
        assert [(ejected.seat, ejected.fault) for ejected in match.result.ejected] == [(0, Fault.CRASHED)]

    async def crashes(rounds: int) -> tuple[int, int]:
        for _ in range(rounds // 4):
            await asyncio.gather(*(crash() for _ in range(4)))
        gc.collect()
        await asyncio.to_thread(becomes_true, lambda: current_holdings().children == 0)
        return len(asyncio.all_tasks()), resident()

    async def all_rounds() -> tuple[Holdings, tuple[int, int], tuple[int, int]]:
        few, base = await crashes(8), current_holdings()
        many = await crashes(rounds)
        return new_holdings(base), few, many

    more, (tasks, memory), (tasks_after, memory_after) = ran(all_rounds())

    assert more == NOTHING
    assert tasks_after == tasks
    assert memory_after - memory < 4_000_000


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


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


@pytest.mark.parametrize("way", WAYS)
def test_when_the_referee_is_killed_its_programs_die(way: str) -> None:
    mark, level = f"killed-{os.getpid()}-{way.replace(' ', '-')}", "strict" if way == "strict" else "none"
    forbidden = "forbidden" if way == "without namespaces" else ""
    command = [sys.executable, "-c", REFEREE, level, mark, forbidden]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as referee:
        assert referee.stdout is not None and referee.stdout.readline() == "ready\n"
        assert len(processes_marked(mark)) >= 4

        referee.kill()

    assert becomes_true(lambda: not processes_marked(mark)), processes_marked(mark)


@needs_strict
def test_when_the_referee_is_killed_while_they_start_they_die_too() -> None:
    mark, level = f"early-{os.getpid()}", "strict"
    for number in range(12):
        with subprocess.Popen([sys.executable, "-c", REFEREE, level, mark, ""], stdout=subprocess.PIPE) as referee:
            becomes_true(lambda: bool(processes_marked(mark)[1:]))  # the referee itself, and the first that it starts
            time.sleep(number * 0.002)
            referee.kill()

    assert becomes_true(lambda: not processes_marked(mark)), processes_marked(mark)


NOISE = """
import asyncio, sys
from fairplay.players.process import ProgramConnection
from fairplay.sandbox.policy import SandboxPolicy, SandboxLevel

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


@needs_strict
def test_ctrl_c_is_not_for_programs(tmp_path: Path) -> None:
    async def group() -> tuple[int, int]:
        program = await ProgramConnection.start(write_program(tmp_path), sandbox=SandboxPolicy(SandboxLevel.STRICT))
        try:
            return os.getpgid(0), os.getpgid(program._transport.get_pid())
        finally:
            await program.close(b"", 0)

    ours, theirs = ran(group())

    assert ours != theirs


@needs_strict
@pytest.mark.parametrize("language", ["node", "perl", "bash"])
def test_other_languages_have_room_in_the_sandbox(language: str, tmp_path: Path) -> None:
    texts = {
        "node": "require('readline').createInterface({input: process.stdin}).on('line', text =>"
        " console.log(JSON.stringify({nonce: JSON.parse(text).nonce, answer: null})))",
        "perl": '$| = 1; while (<STDIN>) { /"nonce":("[^"]*")/; print "{\\"nonce\\":$1,\\"answer\\":null}\\n" }',
        "bash": 'while read -r line; do [[ $line =~ \\"nonce\\":(\\"[^\\"]*\\") ]];'
        ' echo "{\\"nonce\\":${BASH_REMATCH[1]},\\"answer\\":null}"; done',
    }
    if shutil.which(language) is None:
        pytest.skip(f"there is no {language} here")
    path = tmp_path / "bot"
    path.write_text(f"#!/usr/bin/env {language}\n{texts[language]}\n")
    path.chmod(0o755)

    answers = ran(talk([str(path)], SandboxPolicy(SandboxLevel.STRICT), START))

    assert all(isinstance(answer, Answered) for answer in answers), answers


def test_exit_codes_are_described() -> None:
    assert describe_exit_code(None) == "is still running"
    assert describe_exit_code(0) == "ended with exit code 0"
    assert describe_exit_code(128) == "ended with exit code 128"
    assert describe_exit_code(137) == describe_exit_code(-9) == "was killed by signal 9"
    assert describe_exit_code(255) == "ended with exit code 255"


@needs_strict
def test_no_process_of_a_closed_program_is_left(tmp_path: Path) -> None:
    async def gone() -> int:
        program = await ProgramConnection.start(write_program(tmp_path), sandbox=SandboxPolicy(SandboxLevel.STRICT))
        await RemoteChannel(program, GAME, limits=PATIENT).hello()
        spaces = Namespaces(program)
        assert spaces.survivors()
        await program.close(b"", 0)
        assert not spaces.survivors()  # at once
        spaces.release()
        return len(spaces.names)

    assert ran(gone()) == 2


def test_a_subreaper_finds_all_its_descendants() -> None:
    with subprocess.Popen(["sh", "-c", "sh -c 'sleep 60; true' & wait"], process_group=0) as parent:
        try:
            assert becomes_true(lambda: len(process_tree.descendants(parent.pid)) == 2)
        finally:
            os.killpg(parent.pid, signal.SIGKILL)


@every_level
def test_a_program_that_has_ended_fails_every_question(sandbox: SandboxPolicy) -> None:
    async def ask() -> list[str]:
        program = await ProgramConnection.start(["sh", "-c", "exit 3"], sandbox=sandbox)
        await acquire(program)
        said = []
        for _ in range(3):
            with pytest.raises(ConnectionClosed) as closed:
                await receive(program)
            said.append(str(closed.value))
        program.release()
        await program.close(b"", 0)
        return said

    assert ran(ask()) == ["the program ended with exit code 3"] * 3


KILLS_ITSELF = "def turn(view):\n    os.kill(os.getpid(), 9)"


@every_level
def test_only_a_proven_kill_by_the_machine_is_a_host_fault(
    sandbox: SandboxPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([5, 5, 5, 6])  # of those whom the machine has killed: when two programs start, and when they are gone
    monkeypatch.setattr(sandboxed_command, "machine_oom_kills", lambda: next(counts))
    monkeypatch.setattr(
        sandboxed_command, "ControlGroup", NoControlGroups
    )  # which would know that no process in them was killed for memory

    failed = last(ran(talk(write_program(tmp_path, KILLS_ITSELF), sandbox, TURN)))
    with pytest.raises(HostFault, match="the machine ran out of memory"):
        ran(talk(write_program(tmp_path, KILLS_ITSELF), sandbox, TURN))

    assert (failed.fault, failed.why) == (Fault.CRASHED, "the program was killed by signal 9")
