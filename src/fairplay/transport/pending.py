"""Keep those who came in and are nobody yet: each is greeted, and there are never too many of them."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Coroutine
from random import choice
from typing import Any, Self

from fairplay.referee.closing import finish_despite_cancellation
from fairplay.transport.endpoint import format_endpoint
from fairplay.transport.sockets import enable_keepalive

MAX_PENDING_CONNECTIONS = 256  # connections that have not been greeted to the end
ACCEPT_RETRY_INTERVAL_S = 0.02  # seconds without a look at the listener, when nobody can come in

Greet = Callable[[socket.socket, str], Coroutine[Any, Any, None]]  # a connection, and where it comes from


class PendingConnections:
    """Where those stand who came in and are not greeted to the end. People are let in as long as one is within.

    Who is silent holds up nobody. If too many stand there, one has to go, by lot, from the IP address of which the most
    are there. So a stranger who connects every millisecond does not keep out an honest player that takes 100 ms for its
    hello: from another address it is never cut off, and from the same one it comes in if it tries again.

    Whoever greets has to close the connection if nothing comes of it, also when cancelled.
    """

    def __init__(self, listener: socket.socket, greet: Greet) -> None:
        self._listening_socket = listener
        self._greet = greet
        self._pending: dict[asyncio.Task[None], str] = {}  # and where they come from
        self._cancelled: set[asyncio.Task[None]] = set()
        self._retry_timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        self._start_accepting()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let nobody in any more, and send away all who are still here."""
        self._stop_accepting()
        for task in tuple(self._pending):
            self._cancel(task)
        if self._cancelled:
            await finish_despite_cancellation(asyncio.wait(self._cancelled.copy()))

    def _start_accepting(self) -> None:
        asyncio.get_running_loop().add_reader(self._listening_socket, self._accept)

    def _stop_accepting(self) -> None:
        asyncio.get_running_loop().remove_reader(self._listening_socket)
        if self._retry_timer is not None:
            self._retry_timer.cancel()

    def _accept(self) -> None:
        """Take the next connection, and greet it."""
        try:
            connection, (host, *_) = self._listening_socket.accept()
        except BlockingIOError:  # it has gone again
            return
        except OSError:  # there is no file descriptor left, or no memory: later there may be
            self._drop_one()
            self._stop_accepting()
            self._retry_timer = asyncio.get_running_loop().call_later(ACCEPT_RETRY_INTERVAL_S, self._start_accepting)
            return
        task = asyncio.create_task(self._handle(connection))
        self._pending[task] = host
        task.add_done_callback(self._forget)
        task.add_done_callback(lambda task: connection.close() if task.cancelled() else None)
        if len(self._pending) > MAX_PENDING_CONNECTIONS:
            self._drop_one()

    async def _handle(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
            enable_keepalive(connection)
            await self._greet(connection, format_endpoint(*connection.getpeername()[:2]))
        except OSError:  # it has gone again
            connection.close()

    def _drop_one(self) -> None:
        """Let go of a connection by lot, from where the most of them come."""
        if self._pending:
            counts = Counter(self._pending.values())
            most = max(counts.values())
            self._cancel(choice([task for task, host in self._pending.items() if counts[host] == most]))

    def _cancel(self, task: asyncio.Task[None]) -> None:
        del self._pending[task]
        task.cancel()
        self._cancelled.add(task)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._cancelled.discard(task)
        self._pending.pop(task, None)
