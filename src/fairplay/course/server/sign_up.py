"""Let the clients of a course sign up: whoever connects, and says its name where the course has names."""

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

NAME_TIMEOUT_S = 3.0  # seconds from the connection to the name
MAX_REFUSED_NAME_BYTES = 4096  # bytes of what is no name
MAX_REFUSED_NAME_CHARS = 40  # signs of it


class SignUpRefused(Exception):
    """Somebody does not sign up, and why."""


class CourseSignUp:
    """A listener for at most so many clients, which is open within an `async with` statement until it is shut.

    Their order is that in which they connected, however slowly each says its name. Who is silent, or says what is no
    name, is cut off and holds up nobody. Who leaves after it has signed up stays on the list, and fails at its first
    call. All who signed up are hung up on at the end of the statement.
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
        self._distinct = distinct  # is a name that somebody has no name for another?
        self._on_signed_up = on_signed_up  # whoever wants to know that somebody has signed up
        self._on_refused = on_refused  # or has not: from where, and why
        self._numbers = count()
        self._signed: dict[int, CourseClient] = {}  # by the order of connection
        self._full = asyncio.Event()
        self._pending = PendingConnections(self._socket, self._handle_connection)
        self._is_open = True

    @property
    def address(self) -> str:
        """Where to come in, as HOST:PORT."""
        return format_endpoint(self.host, self.port)

    @property
    def clients(self) -> list[CourseClient]:
        """Who has signed up by now."""
        return [self._signed[number] for number in sorted(self._signed)]

    async def wait(self, within: float) -> list[CourseClient]:
        """Wait so many seconds, or until there can be no more of them; can be called again, for another period."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._full.wait()
        return self.clients

    async def stop_accepting(self) -> None:
        """Let nobody in any more."""
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

    async def _handle_connection(self, connection: socket.socket, place: str) -> None:
        """Sign somebody up, or cut it off."""
        number = next(self._numbers)
        _, line = await asyncio.get_running_loop().create_connection(CourseConnection, sock=connection)
        why = "it had said no name when it had to go"
        try:
            name = None if self._dialect.name is None else await self._receive_name(line, self._dialect.name)
            if self._full.is_set():
                raise SignUpRefused("there are enough")
            if self._distinct and any(client.name == name for client in self._signed.values()):
                raise SignUpRefused(f"somebody else is called {name}")
            why = ""
            self._signed[number] = CourseClient(line, name, place)
            if len(self._signed) == self._most:
                self._full.set()
            self._on_signed_up(self._signed[number])
        except SignUpRefused as error:
            why = str(error)
        finally:
            if why:
                self._on_refused(place, why)
                await line.close(b"", 0)

    async def _receive_name(self, line: CourseConnection, pattern: str) -> str:
        """The name that somebody says. What follows it is looked at when the client is first called."""
        try:
            with Timer(self._name_timeout):
                said = await receive(line)
            name = values.decode(said)
        except TimeoutError:
            raise SignUpRefused(f"it said no name within {self._name_timeout:g} s") from None
        except (TooMuchData, IllFormed) as wrong:
            raise SignUpRefused(self._describe_invalid_name(wrong.text)) from None
        except ConnectionClosed:
            raise SignUpRefused("it left without a name") from None
        if not (isinstance(name, str) and re.fullmatch(pattern, name)):
            raise SignUpRefused(self._describe_invalid_name(said))
        return name

    def _describe_invalid_name(self, said: bytes) -> str:
        """What to say of what was said."""
        shown = printable(said[:MAX_REFUSED_NAME_BYTES].decode(errors="replace").strip(), MAX_REFUSED_NAME_CHARS)
        return f"{shown} is no name ({self._dialect.name_in_words})"
