"""Sign clients in at the listener of a server, and let them come back to their seats."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from typing import Protocol, Self

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.players.listener import listening_socket
from fairplay.protocol import wire
from fairplay.protocol.host_side import HostSide
from fairplay.protocol.nonces import Nonces
from fairplay.protocol.replies import BadReply
from fairplay.protocol.wire import Introduction
from fairplay.referee.closing import finish_all
from fairplay.server.client import Client
from fairplay.server.pending_closes import LAST_MESSAGE_TIMEOUT_S, PendingCloses
from fairplay.server.settings import ServerSettings
from fairplay.server.sign_in.connection_limiter import ConnectionLimiter, client_network
from fairplay.server.sign_in.identity import Identities, Refused
from fairplay.server.sign_in.labels import look_alike_key, unique_label
from fairplay.server.sign_in.tls import tls_context
from fairplay.server.sign_in.tokens import GUEST_PREFIX
from fairplay.transport.connection import Connection, ConnectionClosed, TooMuchData, receive
from fairplay.transport.endpoint import describe_os_error, format_endpoint
from fairplay.transport.pending import PendingConnections
from fairplay.transport.reconnecting import ReconnectingConnection
from fairplay.transport.sockets import accept_tcp
from fairplay.transport.timer import Timer

DEFAULT_GUEST_NAME = "guest"  # of a guest that gives no name
MIN_IDLE_CHECK_INTERVAL_S = 0.05
IDLE_CHECKS_PER_TIMEOUT = 8

OpenConnection = Callable[[socket.socket, ssl.SSLContext | None], Awaitable[Connection]]


class SignInHandler(Protocol):
    """Is told by the sign-in of clients that come and go."""

    def on_signed_in(self, client: Client) -> None:
        """A client has signed in, or is back."""

    def on_lost(self, client: Client) -> None:
        """The connection of a client with a seat is lost; it may come back."""

    def on_gone(self, client: Client) -> None:
        """A client will not come back. A client without a seat is gone as soon as its connection is lost."""

    def watch(self, connection: Connection, room: str, address: str) -> None:
        """A spectator wants to watch a room, or any. The handler has to close the connection."""

    def status_line(self) -> bytes:
        """The status of the server, as one line."""

    def on_refused(self, address: str, reason: str, why: str) -> None:
        """A connection is refused: from where, the reason for metrics, and an explanation without secrets."""


class SignIn:
    """The listeners of a server. They listen from the start, and accept connections while the context lasts.

    A connection has no client until it has answered hello. One with the token or reconnect token of a client takes over
    from the connection before it.
    """

    def __init__(self, handler: SignInHandler, settings: ServerSettings) -> None:
        limits = settings.connection_limits
        self.clients: dict[str, Client] = {}  # by their ids
        self._handler = handler
        self._identities = Identities(settings.directory, guests=settings.guests)
        self._tls = tls_context(settings.tls.certificate, settings.tls.key) if settings.tls else None
        self._reconnect_window = settings.reconnect_window
        self._limiter = ConnectionLimiter(limits.connections, limits.connections_per_address)
        self._hello_timeout = limits.hello_timeout
        self._idle_timeout = limits.idle_timeout
        self._numbers = count()
        self._look_alike_keys: set[str] = set()  # of all names that are taken
        self._pending_closes = PendingCloses()
        self._alarm: asyncio.TimerHandle | None = None
        self._sockets = [listening_socket(settings.host, settings.port)]
        self._pending = [PendingConnections(self._sockets[0], partial(self._handle_connection, accept_tcp))]
        if settings.websocket is not None:
            from fairplay.transport.websocket import accept_websocket  # needs an extra

            try:
                self._sockets.append(listening_socket(settings.host, settings.websocket))
            except BadRequest:
                self._sockets[0].close()
                raise
            self._pending.append(
                PendingConnections(self._sockets[1], partial(self._handle_connection, accept_websocket))
            )

    @property
    def addresses(self) -> list[str]:
        """The addresses of the listeners, as HOST:PORT: TCP, then WebSocket, if there is one."""
        return [format_endpoint(*listener.getsockname()[:2]) for listener in self._sockets]

    async def __aenter__(self) -> Self:
        for pending in self._pending:
            await pending.__aenter__()
        self._dismiss_idle_clients()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Accept no more connections, and close all."""
        try:
            await self.stop_accepting()
        finally:
            for client in self.clients.copy().values():
                self._pending_closes.close(client.connection, b"")
            await self._pending_closes.wait()

    async def stop_accepting(self) -> None:
        """Accept no more connections; the clients stay."""
        stopped, self._pending = self._pending, []
        if self._alarm is not None:
            self._alarm.cancel()
        try:
            await finish_all([pending.__aexit__() for pending in stopped])
        finally:
            for listener in self._sockets:
                listener.close()

    async def _handle_connection(self, open_connection: OpenConnection, accepted: socket.socket, endpoint: str) -> None:
        """Serve a new connection. A refused one is told why, if possible, and closed."""
        address, connection = client_network(endpoint), None
        last: bytes | None = b""
        try:
            if why := self._limiter.add(accepted, address, asyncio.get_running_loop().time()):
                raise Refused("connection_limit", why, Fault.FLOOD)
            with Timer(self._hello_timeout):
                connection = await open_connection(accepted, self._tls)
                last = await self._serve_request(connection, address, endpoint)
        except (Refused, ConnectionClosed, TooMuchData, OSError) as error:
            refused = self._as_refused(error)
            last = wire.encode_goodbye("", Failed(refused.fault, str(refused)))
            self._handler.on_refused(endpoint, refused.reason, str(refused.__cause__ or refused))
        finally:
            if connection is None:
                accepted.close()
            elif last is not None:
                await connection.close(last, LAST_MESSAGE_TIMEOUT_S)

    def _as_refused(self, error: Exception) -> Refused:
        """The refusal for an exception."""
        match error:
            case Refused():
                return error
            case ConnectionClosed():
                return Refused(error.fault.value, str(error), error.fault)
            case TooMuchData():
                return Refused("flood", f"sent more than {wire.MAX_LINE_BYTES} bytes at once", Fault.FLOOD)
            case TimeoutError():
                return Refused(
                    "hello_timeout", f"did not answer hello within {self._hello_timeout:g} s", Fault.TIMED_OUT
                )
        return Refused("gone", describe_os_error(error), Fault.GONE)

    async def _serve_request(self, connection: Connection, address: str, endpoint: str) -> bytes | None:
        """Serve what a connection asks for; None: it stays open, else the last message to it."""
        side = HostSide(None)
        introduction = await self._receive_introduction(connection, side)
        if introduction.purpose == "status":
            await connection.close(self._handler.status_line(), self._hello_timeout)
            return b""
        if introduction.purpose == "watch":
            self._handler.watch(connection, introduction.room, address)
            return None
        id = self._identities.identify(introduction)
        if introduction.purpose == "leave":
            if id in self.clients:
                self.clients[id].connection.give_up("left")
            return b""
        while True:
            client = self.clients.get(id) or self._add_client(id, introduction, side.nonces)
            if await client.connection.attach(connection, self._welcome_message(client, introduction)):
                break
            if not client.connection.is_gone:
                raise Refused("replaced", "a newer connection came with the same token")
        client.endpoint, client.wants_changes, client.game = endpoint, introduction.changes, introduction.game
        client.is_person = introduction.person
        if not client.connection.is_gone:  # else it has left at once
            self._handler.on_signed_in(client)
        return None

    async def _receive_introduction(self, connection: Connection, side: HostSide) -> Introduction:
        """The answer to hello. It is never shown, as it may contain a token."""
        connection.send(side.hello(self._hello_timeout))
        reply = side.receive(await receive(connection))
        if isinstance(reply, BadReply):
            raise Refused("malformed", reply.why, reply.fault)
        return reply or Introduction()

    def _welcome_message(self, client: Client, introduction: Introduction) -> bytes:
        """The message to a client that has signed in, or is back."""
        reconnect_token = "" if introduction.token else self._identities.reconnect_token(client.id)
        return wire.encode_welcome(client.name, self._reconnect_window, reconnect_token)

    def _add_client(self, id: str, introduction: Introduction, nonces: Nonces) -> Client:
        """Add a new client."""
        owned = frozenset[str]() if not id.startswith(GUEST_PREFIX) else self._identities.tokens.look_alike_keys
        wanted = introduction.name if isinstance(introduction.name, str) else DEFAULT_GUEST_NAME
        name = unique_label(wanted, id.removeprefix(GUEST_PREFIX), self._look_alike_keys | owned)
        connection = ReconnectingConnection(
            self._reconnect_window, on_lost=lambda: self._on_lost(client), on_gone=lambda: self._on_gone(client)
        )
        client = Client(id, name, next(self._numbers), connection, nonces)
        self.clients[id] = client
        self._look_alike_keys.add(look_alike_key(name))
        return client

    # Signed-in clients.

    def _on_lost(self, client: Client) -> None:
        """Wait for a client with a seat; one without a seat is gone."""
        if client.may_reconnect:
            self._handler.on_lost(client)
        else:
            client.connection.give_up("left")

    def _on_gone(self, client: Client) -> None:
        """Remove a client that will not come back."""
        del self.clients[client.id]
        self._look_alike_keys.discard(look_alike_key(client.name))
        self._pending_closes.close(client.connection, b"")
        self._handler.on_gone(client)

    def _dismiss_idle_clients(self) -> None:
        """Disconnect clients that have waited too long for a seat."""
        loop = asyncio.get_running_loop()
        last = wire.encode_suspended(f"no match began for you within {self._idle_timeout:g} s", 0)
        for client in self.clients.copy().values():
            if client.room is None and loop.time() - client.free_since > self._idle_timeout:
                self._pending_closes.close(client.connection, last)
        self._alarm = loop.call_later(
            max(self._idle_timeout / IDLE_CHECKS_PER_TIMEOUT, MIN_IDLE_CHECK_INTERVAL_S), self._dismiss_idle_clients
        )
