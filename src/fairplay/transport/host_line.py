"""Open the line to a host by the text that says where it is: over TCP, TLS or WebSocket."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fairplay.core.errors import BadRequest
from fairplay.transport.dial import Patience, dial, lines_from, seconds_of, secured, sender, trusting
from fairplay.transport.places import host_and_port, reason

HANDSHAKE = 10.0  # seconds for a host to prove who it is
SCHEMES = ("tcp", "tls", "ws", "wss")
WRITTEN = "tcp://HOST:PORT, tls://HOST:PORT, ws://HOST:PORT or wss://HOST:PORT"
HostLine = tuple[Iterator[bytes], Callable[[bytes], None]]  # what comes, and what sends


@contextmanager
def line_to(host: str, *, wait: float, patience: Patience, ca: str | None = None) -> Iterator[HostLine]:
    """The line to HOST:PORT, or tcp://, tls://, ws:// and wss://HOST:PORT, which may not be there yet.

    It is tried for so many seconds to come there; then each line has to be whole within the time of patience. Where
    there is TLS, `ca` is a file with the certificates to trust; None: those that this machine trusts.
    """
    scheme, slashes, place = host.partition("://")
    if not slashes:
        scheme, place = "tcp", host
    if scheme not in SCHEMES:
        raise BadRequest(f"{host!r} is no host; write HOST:PORT, or {WRITTEN}")
    tls = trusting(ca) if scheme in ("tls", "wss") else None
    if ca is not None and tls is None:
        raise BadRequest(f"a file with certificates makes no sense without TLS: write tls:// or wss:// before {place}")
    if scheme in ("ws", "wss"):
        from fairplay.transport.websocket_client import dial_websocket  # the library that it needs is an extra

        with dial_websocket(host, wait=wait, patience=patience, tls=tls) as line:
            yield line
        return
    name, port = host_and_port(place)
    with dial(name, port, wait=wait) as connection:
        if tls is None:
            yield lines_from(connection, patience=patience), sender(connection, patience=seconds_of(patience))
            return
        connection.settimeout(HANDSHAKE)
        try:
            encrypted = secured(connection, name, tls)
        except OSError as error:
            raise BadRequest(f"there is no TLS at {place}: {reason(error)}") from None
        with encrypted:
            yield lines_from(encrypted, patience=patience), sender(encrypted, patience=seconds_of(patience))
