"""Sign up the clients of a course: accept connections, and read names where the course has them."""

import asyncio
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Self

from fairplay.course.channel import values
from fairplay.course.channel.connection import CourseConnection
from fairplay.course.channel.remote import CourseClient
from fairplay.course.channel.values import IllFormed
from fairplay.course.dialects.dialect import Dialect
from fairplay.players.listener import listening_socket
from fairplay.referee.closing import finish_all
from fairplay.render.text import printable
from fairplay.transport.connection import ConnectionClosed, TooMuchData, receive
from fairplay.transport.endpoint import format_endpoint
from fairplay.transport.pending import PendingConnections
from fairplay.transport.timer import Timer

NAME_TIMEOUT_S = 3.0
MAX_REFUSED_NAME_BYTES = 4096
MAX_REFUSED_NAME_CHARS = 40


class SignUpRefused(Exception):
    """A connection did not sign up, and why."""


class CourseSignUp:
    """A listener for a limited number of clients, open within an `async with` block until `stop_accepting`.

    The clients are in the order of their connections, even if some send their names slowly. A connection that is silent
    or sends an invalid name is closed, and delays no other. A client that leaves after its sign-up stays on the list,
    and fails at its first call. All clients are disconnected at the end of the block.
    """

    def __init__(
        self,
        dialect: Dialect,
        host: str,
        port: int,
        *,
        most: int,
        name_timeout: float = NAME_TIMEOUT_S,
        distinct: bool = False,
        on_signed_up: Callable[[CourseClient], None] = lambda client: None,
        on_refused: Callable[[str, str], None] = lambda place, why: None,
    ) -> None:
        self._socket = listening_socket(host, port)
        self.host: str
        self.port: int
        self.host, self.port = self._socket.getsockname()[:2]
        self._dialect = dialect
        self._most = most
        self._name_timeout = name_timeout
        self._distinct = distinct  # must names be unique?
        self._on_signed_up = on_signed_up  # is called for each new client
        self._on_refused = on_refused  # is called for each refusal, with the address and the reason
        self._numbers = count()
        self._signed: dict[int, CourseClient] = {}  # by the order of connection
        self._full = asyncio.Event()
        self._pending = PendingConnections(self._socket, self._handle_connection)
        self._is_open = True

    @property
    def address(self) -> str:
        """The address of the listener, as HOST:PORT."""
        return format_endpoint(self.host, self.port)

    @property
    def clients(self) -> list[CourseClient]:
        """The clients that signed up so far."""
        return [self._signed[number] for number in sorted(self._signed)]

    async def wait(self, within: float) -> list[CourseClient]:
        """Wait so many seconds, or until no more clients are allowed; call it again for another period."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._full.wait()
        return self.clients

    async def stop_accepting(self) -> None:
        """Accept no more connections."""
        if self._is_open:
            self._is_open = False
            try:
                await self._pending.__aexit__()
            finally:
                self._socket.close()

    async def __aenter__(self) -> Self:
        await self._pending.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.stop_accepting()
        finally:
            await finish_all([client.close() for client in self.clients])

    async def _handle_connection(self, accepted: socket.socket, place: str) -> None:
        """Sign up a client, or close its connection."""
        number = next(self._numbers)
        _, connection = await asyncio.get_running_loop().create_connection(CourseConnection, sock=accepted)
        why = "the sign-up ended before it sent a name"
        try:
            name = None if self._dialect.name is None else await self._receive_name(connection, self._dialect.name)
            if self._full.is_set():
                raise SignUpRefused("the maximum number of players is reached")
            if self._distinct and any(client.name == name for client in self._signed.values()):
                raise SignUpRefused(f"the name {name} is taken")
            why = ""
            self._signed[number] = CourseClient(connection, name, place)
            if len(self._signed) == self._most:
                self._full.set()
            self._on_signed_up(self._signed[number])
        except SignUpRefused as error:
            why = str(error)
        finally:
            if why:
                self._on_refused(place, why)
                await connection.close(b"", 0)

    async def _receive_name(self, connection: CourseConnection, pattern: str) -> str:
        """Read a name. What follows it is read when the client is first called."""
        try:
            with Timer(self._name_timeout):
                received = await receive(connection)
            name = values.decode(received)
        except TimeoutError:
            raise SignUpRefused(f"it sent no name within {self._name_timeout:g} s") from None
        except (TooMuchData, IllFormed) as wrong:
            raise SignUpRefused(self._describe_invalid_name(wrong.text)) from None
        except ConnectionClosed:
            raise SignUpRefused("it disconnected without a name") from None
        if not (isinstance(name, str) and re.fullmatch(pattern, name)):
            raise SignUpRefused(self._describe_invalid_name(received))
        return name

    def _describe_invalid_name(self, received: bytes) -> str:
        """The error about an invalid name."""
        shown = printable(received[:MAX_REFUSED_NAME_BYTES].decode(errors="replace").strip(), MAX_REFUSED_NAME_CHARS)
        return f"{shown} is not a valid name ({self._dialect.name_rule})"
