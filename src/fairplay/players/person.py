"""Reach a person at this terminal: a line to a program of ours that shows the board there and reads what is typed.

It is a process of its own, so that everybody else goes on while the person thinks, and so that it can be ended at any
moment. It is in our group, as only those may read the keyboard; a Ctrl-C is for us, and it ends when the line does.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress

from fairplay.core.errors import HostFault
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.transport.connection import Callback
from fairplay.transport.sockets import TcpConnection

TERMINAL_COMMAND = (sys.executable, "-P", "-m", "fairplay.terminal.person")
TERMINAL_EXIT_TIMEOUT_S = 1.0  # seconds for it to put the terminal in order and end by itself


class TerminalConnection(TcpConnection):
    """The line to a person. Whoever starts one has to hang up."""

    closed_message = "left the table"  # or what showed them the board has failed, and said so on the terminal
    late_answer_timeout_s = 0.0  # they have to let go of the keyboard

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__()
        self._process = process

    @classmethod
    async def start(cls, options: Sequence[str], *, shared: bool) -> "TerminalConnection":
        """Sit somebody down; do several share the keyboard? By options it is told of external games."""
        ours, theirs = socket.socketpair()
        out = 1 if os.isatty(1) else 2  # what is said to a person is no part of what others read of a match
        words = (*TERMINAL_COMMAND, str(theirs.fileno()), *(["--shared"] if shared else []), *options)

        begun: list[TerminalConnection] = []

        async def begin() -> None:
            with theirs:
                process = await asyncio.create_subprocess_exec(*words, stdout=out, pass_fds=(theirs.fileno(),))
            ours.setblocking(False)
            _, line = await asyncio.get_running_loop().create_connection(lambda: cls(process), sock=ours)
            begun.append(line)

        try:
            await finish_despite_cancellation(begin())
        except BaseException as error:
            for line in begun:
                await line.close(b"", 0)
            ours.close()
            if isinstance(error, OSError):
                raise HostFault(f"nobody can sit down at the terminal: {error.strerror}") from error
            raise
        return begun[0]

    def stop_receiving(self, then: Callback) -> None:
        """Cut the line, and wait until they have let go of the keyboard."""
        self.on_receive(None)
        if self._open:
            self._transport.abort()
        letting_go = asyncio.ensure_future(self._wait_for_exit())
        letting_go.add_done_callback(lambda _: then())

    async def close(self, last: bytes, within: float) -> None:
        """Say some last words, cut the line, and wait until the terminal is ours again."""
        try:
            await super().close(last, within)
        finally:
            await finish_despite_cancellation(self._wait_for_exit())

    async def _wait_for_exit(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(TERMINAL_EXIT_TIMEOUT_S):
                await self._process.wait()
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
