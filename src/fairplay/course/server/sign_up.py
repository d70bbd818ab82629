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
from fairplay.course.channel.remote import Client
from fairplay.course.channel.values import IllFormed
from fairplay.course.dialects.dialect import Dialect
from fairplay.players.door import listening
from fairplay.referee.closing import all_surely
from fairplay.render.text import printable
from fairplay.transport.hall import Hall
from fairplay.transport.line import Closed, TooMuch, received
from fairplay.transport.places import written_place
from fairplay.transport.timer import Timer

NAME_LIMIT = 3.0  # seconds from the connection to the name
MOST_READ = 4096  # bytes of what is no name
LONGEST_SHOWN = 40  # signs of it


class NotSigned(Exception):
    """Somebody does not sign up, and why."""


class SignUp:
    """A door for at most so many clients, which is open within an `async with` statement until it is shut.

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
        name_limit: float = NAME_LIMIT,
        distinct: bool = False,
        signed: Callable[[Client], None] = lambda client: None,
        refused: Callable[[str, str], None] = lambda place, why: None,
    ) -> None:
        self._socket = listening(host, port)
        self.host: str
        self.port: int
        self.host, self.port = self._socket.getsockname()[:2]
        self._dialect = dialect
        self._most = most
        self._name_limit = name_limit
        self._distinct = distinct  # is a name that somebody has no name for another?
        self._tell = signed  # whoever wants to know that somebody has signed up
        self._tell_refused = refused  # or has not: from where, and why
        self._numbers = count()
        self._signed: dict[int, Client] = {}  # by the order of connection
        self._full = asyncio.Event()
        self._hall = Hall(self._socket, self._greet)
        self._is_open = True

    @property
    def address(self) -> str:
        """Where to come in, as HOST:PORT."""
        return written_place(self.host, self.port)

    @property
    def clients(self) -> list[Client]:
        """Who has signed up by now."""
        return [self._signed[number] for number in sorted(self._signed)]

    async def signed_up(self, within: float) -> list[Client]:
        """Wait so many seconds, or until there can be no more of them; can be called again, for another period."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._full.wait()
        return self.clients

    async def shut(self) -> None:
        """Let nobody in any more."""
        if self._is_open:
            self._is_open = False
            try:
                await self._hall.__aexit__()
            finally:
                self._socket.close()

    async def __aenter__(self) -> Self:
        await self._hall.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.shut()
        finally:
            await all_surely([client.hang_up() for client in self.clients])

    async def _greet(self, connection: socket.socket, place: str) -> None:
        """Sign somebody up, or cut it off."""
        number = next(self._numbers)
        _, line = await asyncio.get_running_loop().create_connection(CourseConnection, sock=connection)
        why = "it had said no name when it had to go"
        try:
            name = None if self._dialect.name is None else await self._name(line, self._dialect.name)
            if self._full.is_set():
                raise NotSigned("there are enough")
            if self._distinct and any(client.name == name for client in self._signed.values()):
                raise NotSigned(f"somebody else is called {name}")
            why = ""
            self._signed[number] = Client(line, name, place)
            if len(self._signed) == self._most:
                self._full.set()
            self._tell(self._signed[number])
        except NotSigned as error:
            why = str(error)
        finally:
            if why:
                self._tell_refused(place, why)
                await line.hang_up(b"", 0)

    async def _name(self, line: CourseConnection, pattern: str) -> str:
        """The name that somebody says. What follows it is looked at when the client is first called."""
        try:
            with Timer(self._name_limit):
                said = await received(line)
            name = values.decode(said)
        except TimeoutError:
            raise NotSigned(f"it said no name within {self._name_limit:g} s") from None
        except (TooMuch, IllFormed) as wrong:
            raise NotSigned(self._no_name(wrong.text)) from None
        except Closed:
            raise NotSigned("it left without a name") from None
        if not (isinstance(name, str) and re.fullmatch(pattern, name)):
            raise NotSigned(self._no_name(said))
        return name

    def _no_name(self, said: bytes) -> str:
        """What to say of what was said."""
        shown = printable(said[:MOST_READ].decode(errors="replace").strip(), LONGEST_SHOWN)
        return f"{shown} is no name ({self._dialect.name_in_words})"
