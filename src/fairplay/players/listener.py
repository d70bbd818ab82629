"""Open a listener over TCP, where players come in."""

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
from fairplay.players.remote import DEFAULT_LIMITS, RemoteChannel
from fairplay.protocol.limits import Limits
from fairplay.referee.closing import close_all_async
from fairplay.transport.connection import Connection, ConnectionClosed, OnReceive
from fairplay.transport.endpoint import describe_os_error, format_endpoint, parse_endpoint
from fairplay.transport.pending import PendingConnections
from fairplay.transport.sockets import accept_tcp
from fairplay.transport.timer import Timer

LISTEN_BACKLOG = 1024  # connections that nobody has looked at; who finds no place among them has to wait for a second
MIN_HELLO_LIMIT_S = 0.001  # seconds: what is left of a limit that has run out

MakeConnection = Callable[
    [socket.socket], Awaitable[Connection]
]  # over a connection; if it raises, the connection is closed


class ConnectedPlayer(msgspec.Struct, frozen=True):
    """Who has a seat now. If nobody came, whatever is asked is answered by GONE."""

    channel: RemoteChannel
    name: str | None = None  # that it wants to have, in a stranger's words
    endpoint: str = ""  # where it came from, as HOST:PORT


class AbsentConnection(Connection):
    """The line to a player that never came."""

    def on_receive(self, callback: OnReceive | None) -> None:
        """There is nobody to say anything."""
        if callback is not None:
            asyncio.get_running_loop().call_soon(callback, ConnectionClosed(Fault.GONE, "nobody came"))

    async def close(self, last: bytes, within: float) -> None:
        """There is nothing to cut."""


class Listener:
    """A place to come in, for one match. It listens as soon as it is made, and closes once everybody sits.

    Whoever connects is nobody until it has answered hello: who is silent, or talks about something else, holds up no
    seat.
    """

    def __init__(self, host: str, port: int, make_connection: MakeConnection = accept_tcp) -> None:
        self._socket = listening_socket(host, port)
        self.host: str
        self.port: int
        self.host, self.port = self._socket.getsockname()[:2]
        self._make_connection = make_connection

    @property
    def address(self) -> str:
        """Where to come in, as HOST:PORT."""
        return format_endpoint(self.host, self.port)

    async def accept_players(
        self,
        game: Game[Any, Any, Any],
        seats: int = 1,
        *,
        match_id: str = "",
        limits: Limits = DEFAULT_LIMITS,
        timeout_s: float | None = None,
    ) -> list[ConnectedPlayer]:
        """The guests for so many seats, in the order in which they came, after at most so many seconds.

        If no time is given, it is the limit for starting up. The listener is closed afterwards.
        """
        patience = limits.start_up if timeout_s is None else timeout_s
        timer = Timer(patience)

        def remote(line: Connection) -> RemoteChannel:
            left = max(MIN_HELLO_LIMIT_S, min(limits.start_up, timer.left))
            told = msgspec.structs.replace(limits, start_up=left)
            return RemoteChannel(line, game, match_id=match_id, limits=told)

        guests = ConnectedPlayers(self._make_connection, remote, seats)
        try:
            with suppress(TimeoutError), timer:
                async with PendingConnections(self._socket, guests.greet):
                    await guests.full.wait()
        except BaseException:  # we were interrupted
            await close_all_async(guest.channel for guest in guests.seated)
            raise
        finally:
            self.close()
        return guests.seated + [ConnectedPlayer(remote(AbsentConnection())) for _ in range(seats - len(guests.seated))]

    def close(self) -> None:
        """Let nobody in any more."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ConnectedPlayers:
    """Those who have a seat."""

    def __init__(self, line: MakeConnection, remote: Callable[[Connection], RemoteChannel], seats: int) -> None:
        self.seated: list[ConnectedPlayer] = []
        self.full = asyncio.Event()
        self._make_connection = line
        self._make_channel = remote
        self._seats = seats

    async def greet(self, connection: socket.socket, place: str) -> None:
        """Say hello to a connection; one that answers has a seat, and all others are cut. Who failed hears why."""
        remote = self._make_channel(await self._make_connection(connection))
        answer: Answered | Failed | None = None
        seated = False
        try:
            answer = await remote.hello()
            if isinstance(answer, Answered) and not self.full.is_set():
                seated = True
                self.seated.append(ConnectedPlayer(remote, getattr(answer.value, "name", None) or None, place))
                if len(self.seated) == self._seats:
                    self.full.set()
        finally:
            if not seated:
                await remote.close(answer if isinstance(answer, Failed) else None)


def listen_tcp(place: str) -> Listener:
    """A listener for the address tcp:PLACE, where a place is PORT or HOST:PORT; port 0 is any that is free."""
    return Listener(*parse_endpoint(place))


def listen_websocket(place: str) -> Listener:
    """A listener for the address ws:PLACE, as over TCP."""
    from fairplay.transport.websocket import accept_websocket  # the library that it needs is an extra

    return Listener(*parse_endpoint(place), accept_websocket)


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that others can connect to from now on."""
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        made = socket.create_server(where[:2], family=family, backlog=LISTEN_BACKLOG)
    except (OSError, UnicodeError) as error:  # UnicodeError: no host can be called like that
        why = describe_os_error(error).partition(" (while attempting")[0]  # Python names the place once more
        raise BadRequest(f"cannot listen at {format_endpoint(host, port)}: {why}") from None
    made.setblocking(False)
    return made
