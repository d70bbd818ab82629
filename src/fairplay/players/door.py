"""Open a door over TCP, where players come in."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Self

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.core.game import Game
from fairplay.core.messages import Answered, Failed
from fairplay.players.remote import DEFAULT, Remote
from fairplay.protocol.limits import Limits
from fairplay.referee.closing import close_all_async
from fairplay.transport.connection import over_tcp
from fairplay.transport.hall import Hall
from fairplay.transport.line import Closed, Hear, Line
from fairplay.transport.places import host_and_port, reason, written_place
from fairplay.transport.timer import Timer

BACKLOG = 1024  # connections that nobody has looked at; who finds no place among them has to wait for a second
SHORTEST = 0.001  # seconds: what is left of a limit that has run out

MakeLine = Callable[[socket.socket], Awaitable[Line]]  # over a connection; if it raises, the connection is closed


class Guest(msgspec.Struct, frozen=True):
    """Who has a seat now. If nobody came, whatever is asked is answered by GONE."""

    remote: Remote
    name: str | None = None  # that it wants to have, in a stranger's words
    place: str = ""  # where it came from, as HOST:PORT


class Nobody(Line):
    """The line to a player that never came."""

    def listen(self, hear: Hear | None) -> None:
        """There is nobody to say anything."""
        if hear is not None:
            asyncio.get_running_loop().call_soon(hear, Closed(Fault.GONE, "nobody came"))

    async def hang_up(self, last: bytes, within: float) -> None:
        """There is nothing to cut."""


class Door:
    """A place to come in, for one match. It listens as soon as it is made, and closes once everybody sits.

    Whoever connects is nobody until it has answered hello: who is silent, or talks about something else, holds up no
    seat.
    """

    def __init__(self, host: str, port: int, line: MakeLine = over_tcp) -> None:
        self._socket = listening(host, port)
        self.host: str
        self.port: int
        self.host, self.port = self._socket.getsockname()[:2]
        self._line = line

    @property
    def address(self) -> str:
        """Where to come in, as HOST:PORT."""
        return written_place(self.host, self.port)

    async def seat(
        self,
        game: Game[Any, Any, Any],
        seats: int = 1,
        *,
        match_id: str = "",
        limits: Limits = DEFAULT,
        within: float | None = None,
    ) -> list[Guest]:
        """The guests for so many seats, in the order in which they came, after at most so many seconds.

        If no time is given, it is the limit for starting up. The door is closed afterwards.
        """
        patience = limits.start_up if within is None else within
        timer = Timer(patience)

        def remote(line: Line) -> Remote:
            left = max(SHORTEST, min(limits.start_up, timer.left))
            told = msgspec.structs.replace(limits, start_up=left)
            return Remote(line, game, match_id=match_id, limits=told)

        guests = Guests(self._line, remote, seats)
        try:
            with suppress(TimeoutError), timer:
                async with Hall(self._socket, guests.greet):
                    await guests.full.wait()
        except BaseException:  # we were interrupted
            await close_all_async(guest.remote for guest in guests.seated)
            raise
        finally:
            self.close()
        return guests.seated + [Guest(remote(Nobody())) for _ in range(seats - len(guests.seated))]

    def close(self) -> None:
        """Let nobody in any more."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Guests:
    """Those who have a seat."""

    def __init__(self, line: MakeLine, remote: Callable[[Line], Remote], seats: int) -> None:
        self.seated: list[Guest] = []
        self.full = asyncio.Event()
        self._line = line
        self._remote = remote
        self._seats = seats

    async def greet(self, connection: socket.socket, place: str) -> None:
        """Say hello to a connection; one that answers has a seat, and all others are cut. Who failed hears why."""
        remote = self._remote(await self._line(connection))
        answer: Answered | Failed | None = None
        seated = False
        try:
            answer = await remote.hello()
            if isinstance(answer, Answered) and not self.full.is_set():
                seated = True
                self.seated.append(Guest(remote, getattr(answer.value, "name", None) or None, place))
                if len(self.seated) == self._seats:
                    self.full.set()
        finally:
            if not seated:
                await remote.close(answer if isinstance(answer, Failed) else None)


def listen_tcp(place: str) -> Door:
    """A door for the address tcp:PLACE, where a place is PORT or HOST:PORT; port 0 is any that is free."""
    return Door(*host_and_port(place))


def listen_websocket(place: str) -> Door:
    """A door for the address ws:PLACE, as over TCP."""
    from fairplay.transport.websocket import over_websocket  # the library that it needs is an extra

    return Door(*host_and_port(place), over_websocket)


def listening(host: str, port: int) -> socket.socket:
    """A socket that others can connect to from now on."""
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        made = socket.create_server(where[:2], family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:  # UnicodeError: no host can be called like that
        why = reason(error).partition(" (while attempting")[0]  # Python names the place once more
        raise BadRequest(f"cannot listen at {written_place(host, port)}: {why}") from None
    made.setblocking(False)
    return made
