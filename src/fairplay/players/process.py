"""Reach a player that is a program: a line over its pipes, and an end for it and for all that it has started."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, SubprocessStreamProtocol
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.players.bot_log import BotLog
from fairplay.players.slots import slots
from fairplay.protocol import wire
from fairplay.referee.closing import surely
from fairplay.sandbox.cell import Cell
from fairplay.sandbox.level import Sandbox
from fairplay.transport.line import Closed
from fairplay.transport.stream import Stream

MOST_LAST_WORDS = 4096  # bytes of stderr that are kept
CHUNK = 65536
PAUSE = 0.001  # seconds between two looks at stderr, so that a flood there does not keep us busy
CODE_WAIT = 1.0  # seconds for an exit code, once nothing more can be said or heard; a busy machine takes its time
KILL_WAIT = 1.0  # seconds for a killed program to be gone
MOST_READS = 20  # of stderr at once: no pipe holds more
SIGNALS = range(1, 65)


class Pipes(SubprocessStreamProtocol):
    """The pipes of a process; says when it has ended, and when the last of them is closed.

    Whoever is to hear its stderr does so as soon as it is read.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, hear: Sequence[Callable[[bytes], None]] = ()) -> None:
        super().__init__(limit=wire.MOST_BYTES, loop=loop)
        self.hear = hear
        self.last_words = b""  # the end of its stderr
        self.ended = asyncio.Event()  # there is an exit code
        self.closed = asyncio.Event()
        self.open = {0, 1, 2}

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        """Something came."""
        super().pipe_data_received(fd, data)
        if fd == 2 and isinstance(data, bytes):
            self.last_words = (self.last_words + data)[-MOST_LAST_WORDS:]
            for hear in self.hear:
                hear(data)

    def process_exited(self) -> None:
        """The process has ended; somebody may still hold the pipes."""
        super().process_exited()
        self.ended.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """One of the pipes is closed."""
        super().pipe_connection_lost(fd, exc)
        self.open.discard(fd)
        if not self.open:
            self.closed.set()


class Program(Stream):
    """A line to a program: its stdin and stdout. Of what it says on stderr only the end is kept.

    Whoever starts one has to hang up; and hears all of its stderr as it comes, if that is asked for. A log keeps it,
    with marks of what the program was told, and is closed with the line.
    """

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        pipes: Pipes,
        cell: Cell,
        log: BotLog | None = None,
    ) -> None:
        assert pipes.stdin is not None and pipes.stdout is not None and pipes.stderr is not None
        super().__init__(pipes.stdout, pipes.stdin)
        self._transport = transport
        self._pipes = pipes
        self._cell = cell
        self._log = log
        self._listening = asyncio.create_task(self._listen(pipes.stderr))

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
        hearing = [*([hear] if hear is not None else []), *([log.hear] if log is not None else [])]

        async def begin() -> None:
            transport, pipes = await loop.subprocess_exec(
                lambda: Pipes(loop, hearing),
                *cell.words,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                pass_fds=cell.inherited,
                start_new_session=True,  # a Ctrl-C is for us
            )
            cell.leave()
            begun.append(cls(transport, pipes, cell, log))
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

    async def wake(self) -> None:
        """Let it run, once there is a core for it; what it said before is heard before it is told anything."""
        if self._log is not None:
            self._read_stderr()
        await slots().take()
        try:
            await self._cell.freezer.thaw()
        except BaseException:
            self.rest()
            raise

    def rest(self) -> None:
        """Stop it, and leave the core to others."""
        try:
            self._cell.freezer.freeze()
        finally:
            slots().give_back()

    async def send(self, text: bytes) -> None:
        """Send a whole line; whoever never reads makes this wait."""
        if self._log is not None:
            self._log.asked(text)
        try:
            await super().send(text)
        except Closed:
            raise await self._broken_off() from None

    def offer(self, text: bytes) -> bool:
        """Send a line, unless it is stopped or behind with reading."""
        return not self._cell.freezer.frozen and super().offer(text)

    async def receive(self) -> bytes:
        """The next whole line, without its end."""
        try:
            return await super().receive()
        except Closed:
            raise await self._broken_off() from None

    async def hang_up(self, last: bytes, within: float) -> None:
        """Send some last words, close stdin and wait so long for it to end by itself; then kill whatever is left."""
        try:
            with suppress(Closed, TimeoutError, HostFault):
                async with asyncio.timeout(within):
                    if last and self._log is not None:
                        self._read_stderr()
                        self._log.asked(last)
                    await self._cell.freezer.thaw()
                    if last:
                        await super().send(last)
                    self._writer.close()
                    await self._pipes.ended.wait()
        finally:
            self._kill()
            await surely(self._let_go())

    def evidence(self) -> str:
        """What became of it, and the end of what it said on stderr."""
        self._read_stderr()
        said = self._pipes.last_words.decode(errors="replace")
        about = f"the program {fate(self._transport.get_returncode())}"
        return f"{about}; its stderr ends with:\n{said}" if said else f"{about}; it said nothing on stderr"

    async def _broken_off(self) -> Closed:
        """What it means that nothing can be said or heard any more; waits a little for the exit code and stderr."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CODE_WAIT):
                await self._pipes.ended.wait()
                await asyncio.wait((self._listening,))
        code = self._transport.get_returncode()
        if code is not None and (ours := self._cell.fault_of_ours(signal_in(code))):
            said = self._pipes.last_words.decode(errors="replace").splitlines()[-1:]
            raise HostFault(": ".join([ours, *said]))
        return Closed(Fault.CRASHED, f"the program {'closed its input or output' if code is None else fate(code)}")

    def _read_stderr(self) -> None:
        """Read all that it said up to now: the event loop may be behind with that, and come to it after the answer."""
        transport = self._transport.get_pipe_transport(2)
        pipe = None if transport is None else transport.get_extra_info("pipe")
        if pipe is None or pipe.closed:
            return
        with suppress(OSError):  # there is nothing more
            for _ in range(MOST_READS):
                if not (said := os.read(pipe.fileno(), CHUNK)):
                    return
                self._pipes.pipe_data_received(2, said)

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        """Read stderr to its end, so that nobody has to wait for us there."""
        with suppress(OSError):
            while await stderr.read(CHUNK):
                await asyncio.sleep(PAUSE)

    def _kill(self) -> None:
        """Kill whoever is kept; its keeper, or our child, cleans up, and ends.

        Not the first process of a namespace, if it has children: it would end all others too, but then our child, which
        made the namespace, would complain on the program's stderr of how that one ended.
        """
        if self._pipes.ended.is_set():
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
                    await self._pipes.ended.wait()
                    if self._pipes.hear:  # then all of it was asked for, and some may still be on its way
                        await asyncio.wait((self._listening,), timeout=CODE_WAIT)
        finally:
            if 0 in self._pipes.open:
                self._writer.transport.abort()  # what was not read is lost
            self._transport.close()  # kills our child, should it still be there
            self._listening.cancel()
            self._cell.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_WAIT):
                await self._pipes.ended.wait()
                await self._pipes.closed.wait()
        await asyncio.wait((self._listening,))
        if self._log is not None:
            self._log.close()


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


def fate(code: int | None) -> str:
    """What an exit code says; above 128 it stands for a signal, as in shells."""
    if code is None:
        return "is still running"
    number = signal_in(code)
    return f"was killed by signal {number}" if number else f"ended with exit code {code}"


def signal_in(code: int | None) -> int:
    """The signal that an exit code stands for; 0: none."""
    number = 0 if code is None else -code if code < 0 else code - 128
    return number if number in SIGNALS else 0
