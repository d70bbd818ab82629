"""Run a player that is a program: connect to its pipes, and kill it with all its processes at the end."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import cast

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.core.messages import Evidence
from fairplay.players.bot_log import BotLog
from fairplay.players.cpu_slots import CpuSlot, get_cpu_slots
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.render.evidence import describe_exit_code, exit_signal
from fairplay.sandbox.policy import SandboxPolicy
from fairplay.sandbox.sandboxed_command import SandboxedCommand
from fairplay.transport.connection import Callback, ConnectionClosed
from fairplay.transport.framed import FramedConnection

MAX_STDERR_TAIL_BYTES = 4096  # of stderr that are kept
PIPE_READ_BYTES = 65536
STDERR_READ_INTERVAL_S = 0.001  # between two reads of stderr, so that a flood does not keep us busy
EXIT_CODE_TIMEOUT_S = 1.0  # for an exit code, once its pipes are closed; a busy machine takes its time
PROGRAM_KILL_TIMEOUT_S = 1.0  # for a killed program to be gone
MAX_STDERR_READS = 20  # of stderr at once: no pipe holds more


class PipeReader(asyncio.Protocol):
    """The reader of a pipe of a program. Asyncio's own delays what it has read by an iteration of the loop."""

    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_end = on_end

    def data_received(self, data: bytes) -> None:
        """Pass it on."""
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the pipe."""
        self._on_end()


class ProgramConnection(asyncio.SubprocessProtocol, FramedConnection):
    """A connection to a program by its stdin and stdout. Only the end of its stderr is kept.

    The caller of `start` has to close it. `on_stderr` gets all of its stderr as it comes. A log gets that too, with a
    header for each message to the program, and is closed with the connection.
    """

    late_answer_timeout_s = 0.1  # short, as it takes a core from others

    def __init__(
        self, sandboxed: SandboxedCommand, on_stderr: Callable[[bytes], None] | None = None, log: BotLog | None = None
    ) -> None:
        super().__init__()
        self._sandboxed_command = sandboxed
        self._log = log
        self._stderr_callbacks = [
            *([on_stderr] if on_stderr is not None else []),
            *([log.write_stderr] if log is not None else []),
        ]
        self._stderr_tail = b""
        self._bytes_since_pause = 0  # of its stderr
        self._slot: CpuSlot | None = None  # while it is asked, or waits for a core
        self._open = {0, 1, 2}  # its pipes
        self._ended = asyncio.Event()  # there is an exit code
        self._stderr_ended = asyncio.Event()
        self._closed = asyncio.Event()  # all pipes are
        self._code_alarm: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport
        self._stdin: asyncio.WriteTransport
        self._stderr: asyncio.ReadTransport

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        sandbox: SandboxPolicy,
        on_stderr: Callable[[bytes], None] | None = None,
        log: BotLog | None = None,
    ) -> "ProgramConnection":
        """Start a program in the current directory. BadRequest: there is no such program, or no sandbox.

        Any other failure to run it shows when it is first asked something.
        """
        loop, sandboxed = asyncio.get_running_loop(), SandboxedCommand(command, sandbox)
        started: list[ProgramConnection] = []

        async def start() -> None:
            program = cls(sandboxed, on_stderr, log)
            with ExitStack() as undo, open_pipe() as (stdout, out), open_pipe() as (stderr, err):
                program._reading, _ = await loop.connect_read_pipe(program._stdout_pipe, open_read_end(stdout))
                undo.callback(program._reading.close)
                undo.callback(program._end)  # before its pipes are closed, so that no exit code is waited for
                program._stderr, _ = await loop.connect_read_pipe(program._stderr_pipe, open_read_end(stderr))
                undo.callback(program._stderr.close)
                await loop.subprocess_exec(
                    lambda: program,
                    *sandboxed.words,
                    stdin=PIPE,
                    stdout=out,
                    stderr=err,
                    pass_fds=sandboxed.inherited_fds,
                    start_new_session=True,  # a Ctrl-C is for us
                )
                undo.pop_all()
                sandboxed.close_inherited()
                started.append(program)
            sandboxed.freezer.freeze()  # until it is first asked, so that it takes no time from others

        try:
            await finish_despite_cancellation(start())  # cancelled, asyncio would kill only the first process
        except BaseException as error:
            for program in started:
                await program.close(b"", 0)
            if not started:
                sandboxed.close()
                if log is not None:
                    log.close()
            if isinstance(error, OSError | RuntimeError):  # no more files, processes, threads or memory
                why = error.strerror if isinstance(error, OSError) else error
                raise HostFault(f"cannot start {command[0]}: {why}") from error
            raise
        return started[0]

    @property
    def enforced(self) -> str:
        """The protections that are in force, as words."""
        return " ".join(self._sandboxed_command.enforced)

    def acquire(self, then: Callback) -> None:
        """Let it run, once there is a core for it; what it wrote to stderr before is read first."""
        if self._stderr_callbacks:
            self._read_stderr()

        def thawed(fault: HostFault | None) -> None:
            if fault is not None:
                self._end(fault)
            if self._slot is slot:  # or it was released meanwhile
                then()

        self._slot = slot = CpuSlot(lambda: self._sandboxed_command.freezer.thaw(thawed))
        get_cpu_slots().acquire(slot)

    def release(self) -> None:
        """Stop it, and leave the core to others; what it wrote to stderr with its answer is read first."""
        slot, self._slot = self._slot, None
        if slot is not None:
            if self._stderr_callbacks:
                self._read_stderr()
            try:
                self._sandboxed_command.freezer.freeze()
            finally:
                get_cpu_slots().release(slot)

    def send(self, text: bytes) -> None:
        """Send a whole line."""
        if self._log is not None:
            self._log.log_message(text)
        if 0 in self._open:
            self._stdin.write(text)
        else:
            self._stop()

    def offer(self, text: bytes) -> bool:
        """Send a line, unless the program is stopped or slow to read."""
        if self._sandboxed_command.freezer.frozen or self._stdin.is_closing() or self._stdin.get_write_buffer_size():
            return False
        self._stdin.write(text)
        return True

    async def close(self, last: bytes, within: float) -> None:
        """Send a last message, close stdin, wait `within` seconds for it to exit; then kill all that is left."""
        try:
            with suppress(TimeoutError, HostFault):
                self.release()
                async with asyncio.timeout(within):
                    if last and self._log is not None:
                        self._read_stderr()
                        self._log.log_message(last)
                    thawed = asyncio.Event()
                    self._sandboxed_command.freezer.thaw(lambda fault: thawed.set())
                    await thawed.wait()
                    if last:
                        self._stdin.write(last)
                    self._stdin.close()
                    await self._ended.wait()
        finally:
            self._kill()
            await finish_despite_cancellation(self._wait_until_gone())

    def evidence(self) -> Evidence:
        """Its exit code, and the end of its stderr."""
        self._read_stderr()
        stderr = self._stderr_tail.decode(errors="replace")
        return Evidence(exit_code=self._transport.get_returncode(), stderr=stderr)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note that it has started."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that one of the pipes is closed."""
        self._open.discard(fd)
        if fd == 1:
            self._stop()
        elif fd == 2:
            self._stderr_ended.set()
            self._check_exit_code()
        if not self._open:
            self._closed.set()

    def process_exited(self) -> None:
        """Note that there is an exit code; other processes may still hold the pipes."""
        self._ended.set()
        self._check_exit_code()

    def _stdout_pipe(self) -> PipeReader:
        return PipeReader(self._feed, partial(self.pipe_connection_lost, 1, None))

    def _stderr_pipe(self) -> PipeReader:
        return PipeReader(self._receive_stderr, partial(self.pipe_connection_lost, 2, None))

    def _receive_stderr(self, data: bytes) -> None:
        """Take what came on stderr. A program that floods it has to wait, so that we are not kept busy."""
        self._store_stderr(data)
        self._bytes_since_pause += len(data)
        if self._bytes_since_pause > PIPE_READ_BYTES:
            self._bytes_since_pause = 0
            self._stderr.pause_reading()
            self._loop.call_later(STDERR_READ_INTERVAL_S, self._stderr.resume_reading)

    # The end.

    def _stop(self) -> None:
        """Wait a little for the exit code and stderr, as no more messages can be exchanged."""
        if self._end_reason is None and self._code_alarm is None:
            self._code_alarm = self._loop.call_later(EXIT_CODE_TIMEOUT_S, self._determine_end)
            self._check_exit_code()

    def _check_exit_code(self) -> None:
        if self._code_alarm is not None and self._ended.is_set() and self._stderr_ended.is_set():
            self._code_alarm.cancel()
            self._determine_end()

    def _determine_end(self) -> None:
        """Find out why no more messages can be exchanged: a crash, or a fault of the host."""
        if self._end_reason is not None:
            return
        code = self._transport.get_returncode()
        why: ConnectionClosed | HostFault
        if code is not None and (host_fault := self._sandboxed_command.host_fault(exit_signal(code))):
            last_line = self._stderr_tail.decode(errors="replace").splitlines()[-1:]
            why = HostFault(": ".join([host_fault, *last_line]))
        else:
            end = "closed its input or output" if code is None else describe_exit_code(code)
            why = ConnectionClosed(Fault.CRASHED, f"the program {end}")
        self._held = self._held[: self._held.rfind(b"\n") + 1]  # drop an incomplete line
        self._end(why)

    def _store_stderr(self, data: bytes) -> None:
        self._stderr_tail = (self._stderr_tail + data)[-MAX_STDERR_TAIL_BYTES:]
        for callback in self._stderr_callbacks:
            callback(data)

    def _read_stderr(self) -> None:
        """Read all of its stderr up to now: a late event loop would read it only after the answer."""
        pipe = self._stderr.get_extra_info("pipe")
        if pipe.closed:
            return
        with suppress(OSError):  # there is nothing more
            for _ in range(MAX_STDERR_READS):
                if not (data := os.read(pipe.fileno(), PIPE_READ_BYTES)):
                    return
                self._store_stderr(data)

    def _kill(self) -> None:
        """Kill the sandboxed processes; their supervisor, or our child, cleans up and exits.

        The first process of a namespace is spared if it has children: its end would end all others too, but then our
        child, which made the namespace, would complain about that on the program's stderr.
        """
        if self._ended.is_set():
            return
        pid = self._transport.get_pid()
        children = child_pids(pid)
        sandboxed = [child for first in children for child in (child_pids(first) if is_namespace_init(first) else ())]
        for victim in sandboxed or children or [pid]:
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)

    async def _wait_until_gone(self) -> None:
        """Wait until it is gone, and close everything."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(PROGRAM_KILL_TIMEOUT_S):
                    await self._ended.wait()
                    if self._stderr_callbacks:  # all of its stderr is wanted, and some may still be on its way
                        async with asyncio.timeout(EXIT_CODE_TIMEOUT_S):
                            await self._stderr_ended.wait()
        finally:
            if self._code_alarm is not None:
                self._code_alarm.cancel()
            if 0 in self._open:
                self._stdin.abort()  # what it has not read is lost
            self._transport.close()  # kills our child, should it still be there
            self._reading.close()
            self._stderr.close()
            self._sandboxed_command.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(PROGRAM_KILL_TIMEOUT_S):
                await self._ended.wait()
                await self._closed.wait()
        self._end(ConnectionClosed(Fault.CRASHED, "the program was ended"))
        if self._log is not None:
            self._log.close()


@contextmanager
def open_pipe() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe, closed at exit; others have to duplicate them."""
    read_end, write_end = os.pipe()
    try:
        yield read_end, write_end
    finally:
        os.close(read_end)
        os.close(write_end)


def open_read_end(fd: int) -> FileIO:
    """A file for a duplicate of the reading end of a pipe."""
    return FileIO(os.dup(fd))


def child_pids(pid: int) -> list[int]:
    """The children of a process with a single thread."""
    try:
        return [int(number) for number in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_namespace_init(pid: int) -> bool:
    """Is this the first process of a namespace?"""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in lines)
