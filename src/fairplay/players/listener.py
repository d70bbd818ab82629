"""Listen for players that connect over TCP or WebSocket."""

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

MAX_UNACCEPTED_CONNECTIONS = 1024  # one more has to wait for a second
MIN_HELLO_LIMIT_S = 0.001  # seconds: what is left of a limit that has run out

MakeConnection = Callable[[socket.socket], Awaitable[Connection]]  # from a socket; if it raises, the socket is closed


class ConnectedPlayer(msgspec.Struct, frozen=True):
    """A player that has a seat. If none connected, every question is answered by GONE."""

    channel: RemoteChannel
    name: str | None = None  # that it wants to have, not yet checked
    endpoint: str = ""  # where it came from, as HOST:PORT


class AbsentConnection(Connection):
    """The connection to a player that never connected."""

    def on_receive(self, callback: OnReceive | None) -> None:
        """Report that the player is gone."""
        if callback is not None:
            asyncio.get_running_loop().call_soon(callback, ConnectionClosed(Fault.GONE, "no player connected"))

    async def close(self, last: bytes, within: float) -> None:
        """There is nothing to close."""


class Listener:
    """A port where players connect for one match. It listens at once, and closes when all seats are taken.

    A connection has no seat until it has answered hello: one that is silent, or says something else, delays no other.
    """

    def __init__(self, host: str, port: int, make_connection: MakeConnection = accept_tcp) -> None:
        self._socket = listening_socket(host, port)
        self.host: str
        self.port: int
        self.host, self.port = self._socket.getsockname()[:2]
        self._make_connection = make_connection

    @property
    def address(self) -> str:
        """Where to connect, as HOST:PORT."""
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
        """The players for so many seats, in the order in which they connected, after at most `timeout_s` seconds.

        The default timeout is the limit for starting up. The listener is closed afterwards.
        """
        timer = Timer(limits.start_up if timeout_s is None else timeout_s)

        def make_channel(connection: Connection) -> RemoteChannel:
            left = max(MIN_HELLO_LIMIT_S, min(limits.start_up, timer.left))
            left_limits = msgspec.structs.replace(limits, start_up=left)
            return RemoteChannel(connection, game, match_id=match_id, limits=left_limits)

        players = ConnectedPlayers(self._make_connection, make_channel, seats)
        try:
            with suppress(TimeoutError), timer:
                async with PendingConnections(self._socket, players.greet):
                    await players.full.wait()
        except BaseException:  # we were interrupted
            await close_all_async(player.channel for player in players.seated)
            raise
        finally:
            self.close()
        absent = [ConnectedPlayer(make_channel(AbsentConnection())) for _ in range(seats - len(players.seated))]
        return players.seated + absent

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ConnectedPlayers:
    """The players that have a seat."""

    def __init__(
        self, make_connection: MakeConnection, make_channel: Callable[[Connection], RemoteChannel], seats: int
    ) -> None:
        self.seated: list[ConnectedPlayer] = []
        self.full = asyncio.Event()
        self._make_connection = make_connection
        self._make_channel = make_channel
        self._seats = seats

    async def greet(self, accepted: socket.socket, endpoint: str) -> None:
        """Say hello to a connection; one that answers has a seat, others are closed, and told why if they failed."""
        channel = self._make_channel(await self._make_connection(accepted))
        answer: Answered | Failed | None = None
        seated = False
        try:
            answer = await channel.hello()
            if isinstance(answer, Answered) and not self.full.is_set():
                seated = True
                self.seated.append(ConnectedPlayer(channel, getattr(answer.value, "name", None) or None, endpoint))
                if len(self.seated) == self._seats:
                    self.full.set()
        finally:
            if not seated:
                await channel.close(answer if isinstance(answer, Failed) else None)


def listen_tcp(place: str) -> Listener:
    """A listener for the address tcp:PORT or tcp:HOST:PORT; port 0 is any that is free."""
    return Listener(*parse_endpoint(place))


def listen_websocket(place: str) -> Listener:
    """A listener for the address ws:PORT or ws:HOST:PORT."""
    from fairplay.transport.websocket import accept_websocket  # it needs a library that is an extra

    return Listener(*parse_endpoint(place), accept_websocket)


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens at this endpoint."""
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        made = socket.create_server(where[:2], family=family, backlog=MAX_UNACCEPTED_CONNECTIONS)
    except (OSError, UnicodeError) as error:  # UnicodeError: this is no host name
        why = describe_os_error(error).partition(" (while attempting")[0]  # Python repeats the endpoint
        raise BadRequest(f"cannot listen at {format_endpoint(host, port)}: {why}") from None
    made.setblocking(False)
    return made
