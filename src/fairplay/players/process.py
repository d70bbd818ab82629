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
from fairplay.players.slots import CpuSlot, slots
from fairplay.referee.closing import surely
from fairplay.render.evidence import fate, signal_in
from fairplay.sandbox.cell import Cell
from fairplay.sandbox.level import Sandbox
from fairplay.transport.framed import FramedLine
from fairplay.transport.line import Call, Closed

MOST_LAST_WORDS = 4096  # bytes of stderr that are kept
CHUNK = 65536
PAUSE = 0.001  # seconds between two looks at stderr, so that a flood there does not keep us busy
CODE_WAIT = 1.0  # seconds for an exit code, once nothing more can be said or heard; a busy machine takes its time
KILL_WAIT = 1.0  # seconds for a killed program to be gone
MOST_READS = 20  # of stderr at once: no pipe holds more


class Pipe(asyncio.Protocol):
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


class Program(asyncio.SubprocessProtocol, FramedLine):
    """A line to a program: its stdin and stdout. Of what it says on stderr only the end is kept.

    Whoever starts one has to hang up; and hears all of its stderr as it comes, if that is asked for. A log keeps it,
    with marks of what the program was told, and is closed with the line.
    """

    late_wait_s = 0.1  # as it takes a core from others

    def __init__(self, cell: Cell, hear: Callable[[bytes], None] | None = None, log: BotLog | None = None) -> None:
        super().__init__()
        self._cell = cell
        self._log = log
        self._listeners = [*([hear] if hear is not None else []), *([log.hear] if log is not None else [])]
        self._last_words = b""  # the end of its stderr
        self._since_pause = 0  # bytes of it
        self._slot: CpuSlot | None = None  # while it is asked, or waits for that
        self._open = {0, 1, 2}  # its pipes
        self._ended = asyncio.Event()  # there is an exit code
        self._heard_all = asyncio.Event()  # of its stderr
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
        sandbox: Sandbox,
        hear: Callable[[bytes], None] | None = None,
        log: BotLog | None = None,
    ) -> "Program":
        """Start a program, in the directory where we are. BadRequest: there is no such program, or sandbox.

        Whatever else keeps it from running is found out when it is first asked something.
        """
        loop, cell = asyncio.get_running_loop(), Cell(command, sandbox)
        begun: list[Program] = []

        async def begin() -> None:
            program = cls(cell, hear, log)
            with ExitStack() as undo, pipe() as (stdout, out), pipe() as (stderr, err):
                program._reading, _ = await loop.connect_read_pipe(program._stdout_pipe, read_end(stdout))
                undo.callback(program._reading.close)
                undo.callback(program._end)  # before that, as nothing is to be found out of it
                program._stderr, _ = await loop.connect_read_pipe(program._stderr_pipe, read_end(stderr))
                undo.callback(program._stderr.close)
                await loop.subprocess_exec(
                    lambda: program,
                    *cell.words,
                    stdin=PIPE,
                    stdout=out,
                    stderr=err,
                    pass_fds=cell.inherited,
                    start_new_session=True,  # a Ctrl-C is for us
                )
                undo.pop_all()
                cell.leave()
                begun.append(program)
            cell.freezer.freeze()  # until it is first asked: it would take time from others

        try:
            await surely(begin())  # asyncio, if it was called off, would kill the first process, and leave the others
        except BaseException as error:
            for program in begun:
                await program.hang_up(b"", 0)
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
        return " ".join(self._cell.enforced)

    def acquire(self, then: Call) -> None:
        """Let it run, once there is a core for it; what it said before is heard before it is told anything."""
        if self._listeners:
            self._read_stderr()

        def thawed(fault: HostFault | None) -> None:
            if fault is not None:
                self._end(fault)
            if self._slot is slot:  # or it was released meanwhile
                then()

        self._slot = slot = CpuSlot(lambda: self._cell.freezer.thaw(thawed))
        slots().take(slot)

    def release(self) -> None:
        """Stop it, and leave the core to others; what it said with its answer is heard before others go on."""
        slot, self._slot = self._slot, None
        if slot is not None:
            if self._listeners:
                self._read_stderr()
            try:
                self._cell.freezer.freeze()
            finally:
                slots().give_back(slot)

    def send(self, text: bytes) -> None:
        """Send a whole line."""
        if self._log is not None:
            self._log.asked(text)
        if 0 in self._open:
            self._stdin.write(text)
        else:
            self._break_off()

    def offer(self, text: bytes) -> bool:
        """Send a line, unless it is stopped or behind with reading."""
        if self._cell.freezer.frozen or self._stdin.is_closing() or self._stdin.get_write_buffer_size():
            return False
        self._stdin.write(text)
        return True

    async def hang_up(self, last: bytes, within: float) -> None:
        """Send some last words, close stdin and wait so long for it to end by itself; then kill whatever is left."""
        try:
            with suppress(TimeoutError, HostFault):
                self.release()
                async with asyncio.timeout(within):
                    if last and self._log is not None:
                        self._read_stderr()
                        self._log.asked(last)
                    thawed = asyncio.Event()
                    self._cell.freezer.thaw(lambda fault: thawed.set())
                    await thawed.wait()
                    if last:
                        self._stdin.write(last)
                    self._stdin.close()
                    await self._ended.wait()
        finally:
            self._kill()
            await surely(self._let_go())

    def evidence(self) -> Evidence:
        """What became of it, and the end of what it said on stderr."""
        self._read_stderr()
        said = self._last_words.decode(errors="replace")
        return Evidence(code=self._transport.get_returncode(), stderr=said)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It has started."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """One of the pipes is closed."""
        self._open.discard(fd)
        if fd == 1:
            self._break_off()
        elif fd == 2:
            self._heard_all.set()
            self._look_at_code()
        if not self._open:
            self._closed.set()

    def process_exited(self) -> None:
        """There is an exit code; somebody may still hold the pipes."""
        self._ended.set()
        self._look_at_code()

    def _stdout_pipe(self) -> Pipe:
        return Pipe(self._feed, partial(self.pipe_connection_lost, 1, None))

    def _stderr_pipe(self) -> Pipe:
        return Pipe(self._hear_stderr, partial(self.pipe_connection_lost, 2, None))

    def _hear_stderr(self, said: bytes) -> None:
        """Something came on stderr. Who floods it has to wait, so that we are not kept busy."""
        self._take_stderr(said)
        self._since_pause += len(said)
        if self._since_pause > CHUNK:
            self._since_pause = 0
            self._stderr.pause_reading()
            self._loop.call_later(PAUSE, self._stderr.resume_reading)

    # How it ends.

    def _break_off(self) -> None:
        """Nothing more can be said or heard; wait a little for the exit code and stderr."""
        if self._over is None and self._code_alarm is None:
            self._code_alarm = self._loop.call_later(CODE_WAIT, self._find_out)
            self._look_at_code()

    def _look_at_code(self) -> None:
        if self._code_alarm is not None and self._ended.is_set() and self._heard_all.is_set():
            self._code_alarm.cancel()
            self._find_out()

    def _find_out(self) -> None:
        """See what it means that nothing can be said or heard any more."""
        if self._over is not None:
            return
        code = self._transport.get_returncode()
        why: Closed | HostFault
        if code is not None and (ours := self._cell.fault_of_ours(signal_in(code))):
            said = self._last_words.decode(errors="replace").splitlines()[-1:]
            why = HostFault(": ".join([ours, *said]))
        else:
            became = "closed its input or output" if code is None else fate(code)
            why = Closed(Fault.CRASHED, f"the program {became}")
        self._held = self._held[: self._held.rfind(b"\n") + 1]  # half a line is nothing beside that
        self._end(why)

    def _take_stderr(self, said: bytes) -> None:
        self._last_words = (self._last_words + said)[-MOST_LAST_WORDS:]
        for hear in self._listeners:
            hear(said)

    def _read_stderr(self) -> None:
        """Read all that it said up to now: the event loop may be behind with that, and come to it after the answer."""
        pipe = self._stderr.get_extra_info("pipe")
        if pipe.closed:
            return
        with suppress(OSError):  # there is nothing more
            for _ in range(MOST_READS):
                if not (said := os.read(pipe.fileno(), CHUNK)):
                    return
                self._take_stderr(said)

    def _kill(self) -> None:
        """Kill whoever is kept; its keeper, or our child, cleans up, and ends.

        Not the first process of a namespace, if it has children: it would end all others too, but then our child, which
        made the namespace, would complain on the program's stderr of how that one ended.
        """
        if self._ended.is_set():
            return
        pid = self._transport.get_pid()
        below = children(pid)
        kept = [number for first in below for number in (children(first) if is_first(first) else ())]
        for number in kept or below or [pid]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    async def _let_go(self) -> None:
        """Wait until it is gone, and leave nothing open."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(KILL_WAIT):
                    await self._ended.wait()
                    if self._listeners:  # then all of it was asked for, and some may still be on its way
                        async with asyncio.timeout(CODE_WAIT):
                            await self._heard_all.wait()
        finally:
            if self._code_alarm is not None:
                self._code_alarm.cancel()
            if 0 in self._open:
                self._stdin.abort()  # what was not read is lost
            self._transport.close()  # kills our child, should it still be there
            self._reading.close()
            self._stderr.close()
            self._cell.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_WAIT):
                await self._ended.wait()
                await self._closed.wait()
        self._end(Closed(Fault.CRASHED, "the program was ended"))
        if self._log is not None:
            self._log.close()


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe, for as long as somebody else needs to take them over."""
    reads, writes = os.pipe()
    try:
        yield reads, writes
    finally:
        os.close(reads)
        os.close(writes)


def read_end(number: int) -> FileIO:
    """A file of its own for the end of a pipe from which one reads."""
    return FileIO(os.dup(number))


def children(pid: int) -> list[int]:
    """The children of a process that has a single thread."""
    try:
        return [int(number) for number in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_first(number: int) -> bool:
    """Is this the first process of a namespace?"""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in lines)
