"""Accept connections and greet each in a task of its own, with a limit on how many are pending."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Coroutine
from random import choice
from typing import Any, Self

from fairplay.referee.closing import finish_despite_cancellation
from fairplay.transport.endpoint import format_endpoint
from fairplay.transport.sockets import enable_keepalive

MAX_PENDING_CONNECTIONS = 256
ACCEPT_RETRY_INTERVAL_S = 0.02  # when connections cannot be accepted

Greet = Callable[[socket.socket, str], Coroutine[Any, Any, None]]  # takes a connection and its remote address


class PendingConnections:
    """Connections that are being greeted. Use it as an async context: connections are accepted inside it.

    A silent client delays no other. If too many connections are pending, a random one of the IP address with the most
    is dropped. So an attacker that connects every millisecond does not keep out an honest player that takes 100 ms for
    its hello: from another address it is never dropped, and from the same one it succeeds if it tries again.

    `greet` has to close a connection that it does not use, even when cancelled.
    """

    def __init__(self, listener: socket.socket, greet: Greet) -> None:
        self._listening_socket = listener
        self._greet = greet
        self._pending: dict[asyncio.Task[None], str] = {}  # by task: the IP address
        self._cancelled: set[asyncio.Task[None]] = set()
        self._retry_timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        self._start_accepting()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop accepting, and drop all pending connections."""
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
        """Accept the next connection and greet it."""
        try:
            connection, (host, *_) = self._listening_socket.accept()
        except BlockingIOError:  # the client has gone already
            return
        except OSError:  # no file descriptor or memory is left: try again later
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
        except OSError:  # the client has gone already
            connection.close()

    def _drop_one(self) -> None:
        """Drop a random connection of the IP address with the most."""
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
