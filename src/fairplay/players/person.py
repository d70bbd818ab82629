"""Reach a person at this terminal: a line to a program of ours that shows the board there and reads what is typed.

It is a process of its own, so that everybody else goes on while the person thinks, and so that it can be ended at any
moment. It is in our group, as only those may read the keyboard; a Ctrl-C is for us, and it ends when the line does.
"""

import asyncio
import os
import socket
import sys
from contextlib import suppress

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.referee.closing import surely
from fairplay.transport.line import Closed
from fairplay.transport.stream import Stream

COMMAND = (sys.executable, "-P", "-m", "fairplay.terminal.person")
END_WAIT = 1.0  # seconds for it to put the terminal in order and end by itself


class AtTerminal(Stream):
    """The line to a person. Whoever starts one has to hang up."""

    def __init__(
        self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        super().__init__(reader, writer)
        self._process = process

    @classmethod
    async def start(cls, *, shared: bool) -> "AtTerminal":
        """Sit somebody down; do several share the keyboard?"""
        ours, theirs = socket.socketpair()
        out = 1 if os.isatty(1) else 2  # what is said to a person is no part of what others read of a match
        words = (*COMMAND, str(theirs.fileno()), *(["--shared"] if shared else []))

        begun: list[AtTerminal] = []

        async def begin() -> None:
            with theirs:
                process = await asyncio.create_subprocess_exec(*words, stdout=out, pass_fds=(theirs.fileno(),))
            begun.append(cls(process, *await asyncio.open_connection(sock=ours, limit=wire.MOST_BYTES)))

        try:
            await surely(begin())
        except BaseException as error:
            for line in begun:
                await line.hang_up(b"", 0)
            ours.close()
            if isinstance(error, OSError):
                raise HostFault(f"nobody can sit down at the terminal: {error.strerror}") from error
            raise
        return begun[0]

    async def receive(self) -> bytes:
        """What they want to do; whoever is not waited for any more has to let go of the keyboard first."""
        try:
            return await super().receive()
        except asyncio.CancelledError:
            self._writer.transport.abort()
            await surely(self._let_go())
            raise

    async def hang_up(self, last: bytes, within: float) -> None:
        """Say some last words, cut the line, and wait until the terminal is ours again."""
        try:
            await super().hang_up(last, within)
        finally:
            await surely(self._let_go())

    def closed(self) -> Closed:
        """They have left, or what showed them the board has failed and said so on the terminal."""
        return Closed(Fault.GONE, "left the table")

    async def _let_go(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(END_WAIT):
                await self._process.wait()
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
