"""Keep those who came in and are nobody yet: each is greeted, and there are never too many of them."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Coroutine
from random import choice
from typing import Any, Self

from fairplay.referee.closing import surely
from fairplay.transport.connection import notice_loss
from fairplay.transport.places import written_place

MOST_PENDING = 256  # connections that have not been greeted to the end
PAUSE = 0.02  # seconds without a look at the door, when nobody can come in

Greet = Callable[[socket.socket, str], Coroutine[Any, Any, None]]  # a connection, and where it comes from


class Hall:
    """Where those stand who came in and are not greeted to the end. People are let in as long as one is within.

    Who is silent holds up nobody. If too many stand there, one has to go, by lot, from the IP address of which the most
    are there. So a stranger who connects every millisecond does not keep out an honest player that takes 100 ms for its
    hello: from another address it is never cut off, and from the same one it comes in if it tries again.

    Whoever greets has to close the connection if nothing comes of it, also when cancelled.
    """

    def __init__(self, door: socket.socket, greet: Greet) -> None:
        self._door = door
        self._greet = greet
        self._pending: dict[asyncio.Task[None], str] = {}  # and where they come from
        self._leaving: set[asyncio.Task[None]] = set()
        self._pause: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let nobody in any more, and send away all who are still here."""
        self._shut()
        for task in tuple(self._pending):
            self._dismiss(task)
        if self._leaving:
            await surely(asyncio.wait(self._leaving.copy()))

    def _open(self) -> None:
        asyncio.get_running_loop().add_reader(self._door, self._let_in)

    def _shut(self) -> None:
        asyncio.get_running_loop().remove_reader(self._door)
        if self._pause is not None:
            self._pause.cancel()

    def _let_in(self) -> None:
        """Take the next connection, and greet it."""
        try:
            connection, (host, *_) = self._door.accept()
        except BlockingIOError:  # it has gone again
            return
        except OSError:  # there is no file descriptor left, or no memory: later there may be
            self._send_away()
            self._shut()
            self._pause = asyncio.get_running_loop().call_later(PAUSE, self._open)
            return
        task = asyncio.create_task(self._welcome(connection))
        self._pending[task] = host
        task.add_done_callback(self._forget)
        task.add_done_callback(lambda task: connection.close() if task.cancelled() else None)
        if len(self._pending) > MOST_PENDING:
            self._send_away()

    async def _welcome(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
            notice_loss(connection)
            await self._greet(connection, written_place(*connection.getpeername()[:2]))
        except OSError:  # it has gone again
            connection.close()

    def _send_away(self) -> None:
        """Let go of a connection by lot, from where the most of them come."""
        if self._pending:
            counts = Counter(self._pending.values())
            most = max(counts.values())
            self._dismiss(choice([task for task, host in self._pending.items() if counts[host] == most]))

    def _dismiss(self, task: asyncio.Task[None]) -> None:
        del self._pending[task]
        task.cancel()
        self._leaving.add(task)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._leaving.discard(task)
        self._pending.pop(task, None)
