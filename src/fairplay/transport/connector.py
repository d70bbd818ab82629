"""Connect to a host as a player, over TCP, TLS or WebSocket."""

import asyncio
import os
import socket
import ssl
from random import uniform
from typing import Any, NamedTuple

from fairplay.core.errors import BadRequest
from fairplay.transport.connection import Connection
from fairplay.transport.endpoint import describe_os_error, format_endpoint, parse_endpoint
from fairplay.transport.sockets import TcpConnection, enable_keepalive

MAX_HOST_LINE_BYTES = 1024 * 1024
FIRST_CONNECT_INTERVAL_S, MAX_CONNECT_INTERVAL_S = 0.1, 1.0  # between two attempts to connect
HANDSHAKE_TIMEOUT_S = 10.0
HOST_ADDRESS_FORMATS = "tcp://HOST:PORT, tls://HOST:PORT, ws://HOST:PORT or wss://HOST:PORT"


class HostAddress(NamedTuple):
    """The address of a host: a scheme, a host name and a port."""

    scheme: str
    host: str
    port: int
    text: str

    @property
    def is_websocket(self) -> bool:
        """Is it reached over WebSocket?"""
        return self.scheme in ("ws", "wss")

    @property
    def is_encrypted(self) -> bool:
        """Is it reached over TLS?"""
        return self.scheme in ("tls", "wss")


def parse_host_address(text: str) -> HostAddress:
    """Parse the address of a host: HOST:PORT, or with tcp://, tls://, ws:// or wss:// before it. Raises BadRequest.

    >>> parse_host_address("wss://example.org:4000")
    HostAddress(scheme='wss', host='example.org', port=4000, text='wss://example.org:4000')
    """
    scheme, slashes, place = text.partition("://")
    if not slashes:
        scheme, place = "tcp", text
    if scheme not in ("tcp", "tls", "ws", "wss"):
        raise BadRequest(f"{text!r} is not the address of a host; write HOST:PORT, or {HOST_ADDRESS_FORMATS}")
    path = place.find("/") if scheme in ("ws", "wss") else -1
    host, port = parse_endpoint(place if path < 0 else place[:path])
    return HostAddress(scheme, host, port, text)


async def connect(address: str, *, wait: float, ca: str | None = None) -> Connection:
    """Connect to a host, trying again for `wait` seconds. Raises BadRequest.

    With TLS, `ca` is a file of trusted certificates; None: those that this machine trusts.
    """
    where = parse_host_address(address)
    if ca is not None and not where.is_encrypted:
        raise BadRequest(f"a file of certificates needs TLS: write tls:// or wss:// before {address}")
    tls = client_tls_context(ca) if where.is_encrypted else None
    if where.is_websocket:
        from fairplay.transport.websocket import connect_websocket  # needs the extra `web`

        return await connect_websocket(await connect_socket(where.host, where.port, wait), where, tls)
    connection = TcpConnection(MAX_HOST_LINE_BYTES)
    await attach_transport(await connect_socket(where.host, where.port, wait), connection, where, tls)
    return connection


async def attach_transport(
    sock: socket.socket, connection: asyncio.BaseProtocol, where: HostAddress, tls: ssl.SSLContext | None
) -> None:
    """Attach a connection to a connected socket, with TLS if there is a context."""
    options: dict[str, Any] = {}
    if tls is not None:
        options = {"ssl": tls, "server_hostname": where.host, "ssl_handshake_timeout": HANDSHAKE_TIMEOUT_S}
    try:
        await asyncio.get_running_loop().create_connection(lambda: connection, sock=sock, **options)
    except ssl.SSLCertVerificationError as error:
        raise BadRequest(f"the certificate of {where.host} cannot be verified: {error.verify_message}") from None
    except OSError as error:
        place = format_endpoint(where.host, where.port)
        raise BadRequest(f"there is no {'TLS' if tls else 'host'} at {place}: {describe_os_error(error)}") from None


def client_tls_context(ca: str | None) -> ssl.SSLContext:
    """A TLS context that trusts the certificates in a file, or those that this machine trusts."""
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise BadRequest(f"{ca} holds no certificates: {describe_os_error(error)}") from None


async def connect_socket(host: str, port: int, wait: float) -> socket.socket:
    """Connect a socket to a host, trying again for `wait` seconds."""
    loop = asyncio.get_running_loop()
    until, interval = loop.time() + wait, FIRST_CONNECT_INTERVAL_S
    while True:
        left = until - loop.time()
        try:
            async with asyncio.timeout(max(FIRST_CONNECT_INTERVAL_S, left)):
                return await connect_once(host, port, left)
        except (socket.gaierror, UnicodeError) as error:
            raise BadRequest(f"cannot find {host}: {describe_os_error(error)}") from None
        except OSError as error:  # a timeout is one
            why = os.strerror(error.errno) if error.errno else describe_os_error(error)
        if left <= interval:
            raise BadRequest(f"cannot connect to {format_endpoint(host, port)}: {why}")
        await asyncio.sleep(interval * uniform(0.5, 1.0))  # so that clients do not connect all at once
        interval = min(2 * interval, MAX_CONNECT_INTERVAL_S)


async def connect_once(host: str, port: int, wait: float) -> socket.socket:
    """Try each address of a host, within its share of the time. Raises OSError."""
    loop = asyncio.get_running_loop()
    refused: OSError = ConnectionRefusedError("no address of the host accepts connections")
    places = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for family, kind, protocol, _, place in places:
        made = socket.socket(family, kind, protocol)
        is_connected = False
        try:
            made.setblocking(False)
            async with asyncio.timeout(max(FIRST_CONNECT_INTERVAL_S, wait) / len(places)):
                await loop.sock_connect(made, place)
            if made.getsockname() == made.getpeername():  # TCP connected the socket to itself
                continue
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
            enable_keepalive(made)
            is_connected = True
            return made
        except OSError as error:
            refused = error
        finally:
            if not is_connected:
                made.close()
    raise refused
