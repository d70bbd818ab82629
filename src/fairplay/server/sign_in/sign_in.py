"""Keep the listener of a server: say hello to whoever comes, see what it wants, and let players come back to their seats."""

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

DEFAULT_GUEST_NAME = "guest"  # what a guest is called that does not say its name
MIN_IDLE_CHECK_INTERVAL_S = 0.05  # seconds, at the least
IDLE_CHECKS_PER_TIMEOUT = 8  # how often we look, while somebody may be idle, for whom that is too long

OpenConnection = Callable[[socket.socket, ssl.SSLContext | None], Awaitable[Connection]]


class SignInHandler(Protocol):
    """Whoever is told by a reception who comes and goes."""

    def on_signed_in(self, client: Client) -> None:
        """Somebody has signed up, or is back."""

    def on_lost(self, client: Client) -> None:
        """The connection of somebody with a seat is lost; it may come back."""

    def on_gone(self, client: Client) -> None:
        """Somebody does not come back any more. Who has no seat is gone as soon as its connection is lost."""

    def watch(self, line: Connection, room: str, address: str) -> None:
        """Somebody wants to watch a room, or any. The line is the host's from now on, who has to hang up."""

    def status_line(self) -> bytes:
        """What goes on in the server, as one line."""

    def on_refused(self, place: str, reason: str, why: str) -> None:
        """Somebody is turned away: where it came from, a word for whoever counts, and why, without secrets."""


class SignIn:
    """A listener that stays open. It listens as soon as it is made, and lets people in as long as one is within.

    Whoever connects is nobody until it has answered hello. Who comes back with its token, or its pass, is the client
    that it was, and the newest connection counts.
    """

    def __init__(self, host: SignInHandler, settings: ServerSettings) -> None:
        limits = settings.connection_limits
        self.clients: dict[str, Client] = {}  # by their ids
        self._handler = host
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
            from fairplay.transport.websocket import accept_websocket  # the library that it needs is an extra

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
        """Where to come in, as HOST:PORT: over TCP, and if that is so, over WebSocket."""
        return [format_endpoint(*listener.getsockname()[:2]) for listener in self._sockets]

    async def __aenter__(self) -> Self:
        for hall in self._pending:
            await hall.__aenter__()
        self._dismiss_idle_clients()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let nobody in any more, and hang up on all who are here."""
        try:
            await self.stop_accepting()
        finally:
            for client in self.clients.copy().values():
                self._pending_closes.close(client.connection, b"")
            await self._pending_closes.wait()

    async def stop_accepting(self) -> None:
        """Let nobody in any more; those who are here stay."""
        halls, self._pending = self._pending, []
        if self._alarm is not None:
            self._alarm.cancel()
        try:
            await finish_all([hall.__aexit__() for hall in halls])
        finally:
            for listener in self._sockets:
                listener.close()

    async def _handle_connection(self, open_line: OpenConnection, connection: socket.socket, place: str) -> None:
        """See what somebody wants. Who is turned away hears why, if that can be said, and is cut off."""
        address, line = client_network(place), None
        last: bytes | None = b""
        try:
            if why := self._limiter.add(connection, address, asyncio.get_running_loop().time()):
                raise Refused("connection_limit", why, Fault.FLOOD)
            with Timer(self._hello_timeout):
                line = await open_line(connection, self._tls)
                last = await self._serve_request(line, address, place)
        except (Refused, ConnectionClosed, TooMuchData, OSError) as error:
            refused = self._as_refused(error)
            last = wire.encode_goodbye("", Failed(refused.fault, str(refused)))
            self._handler.on_refused(place, refused.reason, str(refused.__cause__ or refused))
        finally:
            if line is None:
                connection.close()
            elif last is not None:
                await line.close(last, LAST_MESSAGE_TIMEOUT_S)

    def _as_refused(self, error: Exception) -> Refused:
        """Why somebody is turned away to whom this happened."""
        match error:
            case Refused():
                return error
            case ConnectionClosed():
                return Refused(error.fault.value, str(error), error.fault)
            case TooMuchData():
                return Refused("flood", f"said more than {wire.MAX_LINE_BYTES} bytes at once", Fault.FLOOD)
            case TimeoutError():
                return Refused(
                    "hello_timeout", f"did not say who it is within {self._hello_timeout:g} s", Fault.TIMED_OUT
                )
        return Refused("gone", describe_os_error(error), Fault.GONE)

    async def _serve_request(self, line: Connection, address: str, place: str) -> bytes | None:
        """Do what somebody came for; None: it stays, else these are the last words to it."""
        side = HostSide(None)
        said = await self._receive_introduction(line, side)
        if said.purpose == "status":
            await line.close(self._handler.status_line(), self._hello_timeout)
            return b""
        if said.purpose == "watch":
            self._handler.watch(line, said.room, address)
            return None
        id = self._identities.identify(said)
        if said.purpose == "leave":
            if id in self.clients:
                self.clients[id].connection.give_up("left")
            return b""
        while True:
            client = self.clients.get(id) or self._add_client(id, said, side.nonces)
            if await client.connection.attach(line, self._welcome_message(client, said)):
                break
            if not client.connection.is_gone:
                raise Refused("replaced", "somebody newer came with the same token")
        client.endpoint, client.wants_changes, client.game = place, said.changes, said.game
        client.is_person = said.person
        if not client.connection.is_gone:  # or it has left at once
            self._handler.on_signed_in(client)
        return None

    async def _receive_introduction(self, line: Connection, side: HostSide) -> Introduction:
        """What somebody answers to hello. Nothing of that is ever shown, as there may be a token in it."""
        line.send(side.hello(self._hello_timeout))
        said = side.receive(await receive(line))
        if isinstance(said, BadReply):
            raise Refused("malformed", said.why, said.fault)
        return said or Introduction()

    def _welcome_message(self, client: Client, said: Introduction) -> bytes:
        """What somebody hears that has signed up, or is back."""
        token = "" if said.token else self._identities.reconnect_token(client.id)
        return wire.encode_welcome(client.name, self._reconnect_window, token)

    def _add_client(self, id: str, said: Introduction, nonces: Nonces) -> Client:
        """Somebody who was not here."""
        owned = frozenset[str]() if not id.startswith(GUEST_PREFIX) else self._identities.tokens.look_alike_keys
        wanted = said.name if isinstance(said.name, str) else DEFAULT_GUEST_NAME
        name = unique_label(wanted, id.removeprefix(GUEST_PREFIX), self._look_alike_keys | owned)
        line = ReconnectingConnection(
            self._reconnect_window, on_lost=lambda: self._on_lost(client), on_gone=lambda: self._on_gone(client)
        )
        client = Client(id, name, next(self._numbers), line, nonces)
        self.clients[id] = client
        self._look_alike_keys.add(look_alike_key(name))
        return client

    # Those who are here.

    def _on_lost(self, client: Client) -> None:
        """A seat is kept for somebody who may come back; without one there is nothing to come back to."""
        if client.may_reconnect:
            self._handler.on_lost(client)
        else:
            client.connection.give_up("left")

    def _on_gone(self, client: Client) -> None:
        """Somebody does not come back."""
        del self.clients[client.id]
        self._look_alike_keys.discard(look_alike_key(client.name))
        self._pending_closes.close(client.connection, b"")
        self._handler.on_gone(client)

    def _dismiss_idle_clients(self) -> None:
        """Send those away who have had no seat for long; what nobody needs need not be kept."""
        loop, last = (
            asyncio.get_running_loop(),
            wire.encode_suspended(f"there was no game for you within {self._idle_timeout:g} s", 0),
        )
        for client in self.clients.copy().values():
            if client.room is None and loop.time() - client.free_since > self._idle_timeout:
                self._pending_closes.close(client.connection, last)
        self._alarm = loop.call_later(
            max(self._idle_timeout / IDLE_CHECKS_PER_TIMEOUT, MIN_IDLE_CHECK_INTERVAL_S), self._dismiss_idle_clients
        )
