"""Connect to a person at this terminal: another process shows the board and reads the keyboard.

It is a process of its own, so that the others go on while the person thinks, and so that it can be ended at any time.
It is in our process group, as only that may read the keyboard; a Ctrl-C is for us, and it ends with its connection.
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
TERMINAL_EXIT_TIMEOUT_S = 1.0  # for it to restore the terminal and exit by itself


class TerminalConnection(TcpConnection):
    """The connection to a person. The caller of `start` has to close it."""

    closed_message = "left the table"  # or the process at the terminal has failed, and said so there
    late_answer_timeout_s = 0.0  # they have to release the keyboard

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__()
        self._process = process

    @classmethod
    async def start(cls, options: Sequence[str], *, shared: bool) -> "TerminalConnection":
        """Start the process at the terminal. `shared`: others use the keyboard too; `options` load external games."""
        ours, theirs = socket.socketpair()
        out = 1 if os.isatty(1) else 2  # the board is no part of what others read of a match
        words = (*TERMINAL_COMMAND, str(theirs.fileno()), *(["--shared"] if shared else []), *options)

        started: list[TerminalConnection] = []

        async def start() -> None:
            with theirs:
                process = await asyncio.create_subprocess_exec(*words, stdout=out, pass_fds=(theirs.fileno(),))
            ours.setblocking(False)
            _, connection = await asyncio.get_running_loop().create_connection(lambda: cls(process), sock=ours)
            started.append(connection)

        try:
            await finish_despite_cancellation(start())
        except BaseException as error:
            for connection in started:
                await connection.close(b"", 0)
            ours.close()
            if isinstance(error, OSError):
                raise HostFault(f"cannot start a player at the terminal: {error.strerror}") from error
            raise
        return started[0]

    def stop_receiving(self, then: Callback) -> None:
        """Close the connection, and wait until the keyboard is released."""
        self.on_receive(None)
        if self._open:
            self._transport.abort()
        exited = asyncio.ensure_future(self._wait_for_exit())
        exited.add_done_callback(lambda _: then())

    async def close(self, last: bytes, within: float) -> None:
        """Send a last message, close the connection, and wait until the terminal is ours again."""
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
