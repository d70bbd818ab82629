"""Reach a player that is a program: a line over its pipes, and an end for it and for all that it has started."""

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

MAX_STDERR_TAIL_BYTES = 4096  # bytes of stderr that are kept
PIPE_READ_BYTES = 65536
STDERR_READ_INTERVAL_S = 0.001  # seconds between two looks at stderr, so that a flood there does not keep us busy
EXIT_CODE_TIMEOUT_S = (
    1.0  # seconds for an exit code, once nothing more can be said or heard; a busy machine takes its time
)
PROGRAM_KILL_TIMEOUT_S = 1.0  # seconds for a killed program to be gone
MAX_STDERR_READS = 20  # of stderr at once: no pipe holds more


class PipeReader(asyncio.Protocol):
    """Where a program writes to. Asyncio's own would keep what it has read for a turn of the loop."""

    def __init__(self, take: Callable[[bytes], None], end: Callable[[], None]) -> None:
        self._take = take
        self._end = end

    def data_received(self, data: bytes) -> None:
        """Something came."""
        self._take(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more comes."""
        self._end()


class ProgramConnection(asyncio.SubprocessProtocol, FramedConnection):
    """A line to a program: its stdin and stdout. Of what it says on stderr only the end is kept.

    Whoever starts one has to hang up; and hears all of its stderr as it comes, if that is asked for. A log keeps it,
    with marks of what the program was told, and is closed with the line.
    """

    late_answer_timeout_s = 0.1  # as it takes a core from others

    def __init__(
        self, cell: SandboxedCommand, on_stderr: Callable[[bytes], None] | None = None, log: BotLog | None = None
    ) -> None:
        super().__init__()
        self._sandboxed_command = cell
        self._log = log
        self._stderr_callbacks = [
            *([on_stderr] if on_stderr is not None else []),
            *([log.write_stderr] if log is not None else []),
        ]
        self._stderr_tail = b""  # the end of its stderr
        self._since_pause = 0  # bytes of it
        self._slot: CpuSlot | None = None  # while it is asked, or waits for that
        self._open = {0, 1, 2}  # its pipes
        self._ended = asyncio.Event()  # there is an exit code
        self._stderr_ended = asyncio.Event()  # of its stderr
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
        """Start a program, in the directory where we are. BadRequest: there is no such program, or sandbox.

        Whatever else keeps it from running is found out when it is first asked something.
        """
        loop, cell = asyncio.get_running_loop(), SandboxedCommand(command, sandbox)
        begun: list[ProgramConnection] = []

        async def begin() -> None:
            program = cls(cell, on_stderr, log)
            with ExitStack() as undo, open_pipe() as (stdout, out), open_pipe() as (stderr, err):
                program._reading, _ = await loop.connect_read_pipe(program._stdout_pipe, open_read_end(stdout))
                undo.callback(program._reading.close)
                undo.callback(program._end)  # before that, as nothing is to be found out of it
                program._stderr, _ = await loop.connect_read_pipe(program._stderr_pipe, open_read_end(stderr))
                undo.callback(program._stderr.close)
                await loop.subprocess_exec(
                    lambda: program,
                    *cell.words,
                    stdin=PIPE,
                    stdout=out,
                    stderr=err,
                    pass_fds=cell.inherited_fds,
                    start_new_session=True,  # a Ctrl-C is for us
                )
                undo.pop_all()
                cell.close_inherited()
                begun.append(program)
            cell.freezer.freeze()  # until it is first asked: it would take time from others

        try:
            await finish_despite_cancellation(
                begin()
            )  # asyncio, if it was called off, would kill the first process, and leave the others
        except BaseException as error:
            for program in begun:
                await program.close(b"", 0)
            if not begun:
                cell.close()
                if log is not None:
                    log.close()
            if isinstance(error, OSError | RuntimeError):  # no more files, processes, threads or memory
                why = error.strerror if isinstance(error, OSError) else error
                raise HostFault(f"{command[0]} cannot be started: {why}") from error
            raise
        return begun[0]

    @property
    def enforced(self) -> str:
        """What keeps it in, in words."""
        return " ".join(self._sandboxed_command.enforced)

    def acquire(self, then: Callback) -> None:
        """Let it run, once there is a core for it; what it said before is heard before it is told anything."""
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
        """Stop it, and leave the core to others; what it said with its answer is heard before others go on."""
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
            self._log.mark_message(text)
        if 0 in self._open:
            self._stdin.write(text)
        else:
            self._stop()

    def offer(self, text: bytes) -> bool:
        """Send a line, unless it is stopped or behind with reading."""
        if self._sandboxed_command.freezer.frozen or self._stdin.is_closing() or self._stdin.get_write_buffer_size():
            return False
        self._stdin.write(text)
        return True

    async def close(self, last: bytes, within: float) -> None:
        """Send some last words, close stdin and wait so long for it to end by itself; then kill whatever is left."""
        try:
            with suppress(TimeoutError, HostFault):
                self.release()
                async with asyncio.timeout(within):
                    if last and self._log is not None:
                        self._read_stderr()
                        self._log.mark_message(last)
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
        """What became of it, and the end of what it said on stderr."""
        self._read_stderr()
        said = self._stderr_tail.decode(errors="replace")
        return Evidence(exit_code=self._transport.get_returncode(), stderr=said)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It has started."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """One of the pipes is closed."""
        self._open.discard(fd)
        if fd == 1:
            self._stop()
        elif fd == 2:
            self._stderr_ended.set()
            self._check_exit_code()
        if not self._open:
            self._closed.set()

    def process_exited(self) -> None:
        """There is an exit code; somebody may still hold the pipes."""
        self._ended.set()
        self._check_exit_code()

    def _stdout_pipe(self) -> PipeReader:
        return PipeReader(self._feed, partial(self.pipe_connection_lost, 1, None))

    def _stderr_pipe(self) -> PipeReader:
        return PipeReader(self._receive_stderr, partial(self.pipe_connection_lost, 2, None))

    def _receive_stderr(self, said: bytes) -> None:
        """Something came on stderr. Who floods it has to wait, so that we are not kept busy."""
        self._store_stderr(said)
        self._since_pause += len(said)
        if self._since_pause > PIPE_READ_BYTES:
            self._since_pause = 0
            self._stderr.pause_reading()
            self._loop.call_later(STDERR_READ_INTERVAL_S, self._stderr.resume_reading)

    # How it ends.

    def _stop(self) -> None:
        """Nothing more can be said or heard; wait a little for the exit code and stderr."""
        if self._end_reason is None and self._code_alarm is None:
            self._code_alarm = self._loop.call_later(EXIT_CODE_TIMEOUT_S, self._determine_end)
            self._check_exit_code()

    def _check_exit_code(self) -> None:
        if self._code_alarm is not None and self._ended.is_set() and self._stderr_ended.is_set():
            self._code_alarm.cancel()
            self._determine_end()

    def _determine_end(self) -> None:
        """See what it means that nothing can be said or heard any more."""
        if self._end_reason is not None:
            return
        code = self._transport.get_returncode()
        why: ConnectionClosed | HostFault
        if code is not None and (ours := self._sandboxed_command.host_fault(exit_signal(code))):
            said = self._stderr_tail.decode(errors="replace").splitlines()[-1:]
            why = HostFault(": ".join([ours, *said]))
        else:
            became = "closed its input or output" if code is None else describe_exit_code(code)
            why = ConnectionClosed(Fault.CRASHED, f"the program {became}")
        self._held = self._held[: self._held.rfind(b"\n") + 1]  # half a line is nothing beside that
        self._end(why)

    def _store_stderr(self, said: bytes) -> None:
        self._stderr_tail = (self._stderr_tail + said)[-MAX_STDERR_TAIL_BYTES:]
        for hear in self._stderr_callbacks:
            hear(said)

    def _read_stderr(self) -> None:
        """Read all that it said up to now: the event loop may be behind with that, and come to it after the answer."""
        pipe = self._stderr.get_extra_info("pipe")
        if pipe.closed:
            return
        with suppress(OSError):  # there is nothing more
            for _ in range(MAX_STDERR_READS):
                if not (said := os.read(pipe.fileno(), PIPE_READ_BYTES)):
                    return
                self._store_stderr(said)

    def _kill(self) -> None:
        """Kill whoever is kept; its keeper, or our child, cleans up, and ends.

        Not the first process of a namespace, if it has children: it would end all others too, but then our child, which
        made the namespace, would complain on the program's stderr of how that one ended.
        """
        if self._ended.is_set():
            return
        pid = self._transport.get_pid()
        below = child_pids(pid)
        kept = [number for first in below for number in (child_pids(first) if is_namespace_init(first) else ())]
        for number in kept or below or [pid]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    async def _wait_until_gone(self) -> None:
        """Wait until it is gone, and leave nothing open."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(PROGRAM_KILL_TIMEOUT_S):
                    await self._ended.wait()
                    if self._stderr_callbacks:  # then all of it was asked for, and some may still be on its way
                        async with asyncio.timeout(EXIT_CODE_TIMEOUT_S):
                            await self._stderr_ended.wait()
        finally:
            if self._code_alarm is not None:
                self._code_alarm.cancel()
            if 0 in self._open:
                self._stdin.abort()  # what was not read is lost
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
    """The two ends of a pipe, for as long as somebody else needs to take them over."""
    reads, writes = os.pipe()
    try:
        yield reads, writes
    finally:
        os.close(reads)
        os.close(writes)


def open_read_end(number: int) -> FileIO:
    """A file of its own for the end of a pipe from which one reads."""
    return FileIO(os.dup(number))


def child_pids(pid: int) -> list[int]:
    """The children of a process that has a single thread."""
    try:
        return [int(number) for number in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_namespace_init(number: int) -> bool:
    """Is this the first process of a namespace?"""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in lines)
