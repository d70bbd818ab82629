"""Connect to a host over WebSocket, as a player does, with TLS or without. Needs the package websockets."""

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

from fairplay.core.errors import BadRequest
from fairplay.transport.dial import MOST_LINE, SHORTEST, Connection, Lost, Patience, dial, seconds_of, secured
from fairplay.transport.places import host_and_port, reason

try:
    from websockets.client import ClientProtocol
    from websockets.exceptions import InvalidState, WebSocketException
    from websockets.frames import OK_CLOSE_CODES, CloseCode, Frame, Opcode
    from websockets.protocol import Event, State
    from websockets.uri import parse_uri
except ImportError:
    raise BadRequest("WebSockets need the package websockets: pip install 'fairplay[web]'") from None

HANDSHAKE_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 1.0
CHUNK_BYTES = 65536
MESSAGE = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)


@contextmanager
def dial_websocket(
    uri: str, *, wait: float, patience: Patience, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[Iterator[bytes], Callable[[bytes], None]]]:
    """The messages that come from a host over WebSocket, and what sends one; as over TCP, it may not be there yet."""
    host, port = place_of(uri)
    with ExitStack() as leaving:
        plain = leaving.enter_context(dial(host, port, wait=wait))
        plain.settimeout(HANDSHAKE_TIMEOUT_S)
        try:
            connection = plain if tls is None else leaving.enter_context(secured(plain, host, tls))
            client = WebSocketClient(connection, uri)
            client.shake_hands()
        except (WebSocketException, OSError) as error:
            raise BadRequest(f"there is no WebSocket at {uri}: {reason(error)}") from None
        leaving.callback(client.hang_up)
        yield client.messages(patience), client.sender(patience=seconds_of(patience))


class WebSocketClient:
    """The player's end of a WebSocket, which one thread may read while another sends.

    The library has one, too. But its threads use one TLS connection at the same time, which OpenSSL forbids: one
    handshake in a hundred was never answered. And if a reply could not be sent, it dropped what the host had said last.
    """

    def __init__(self, connection: Connection, uri: str) -> None:
        self._connection = connection
        self._protocol = ClientProtocol(parse_uri(uri), max_size=MOST_LINE)
        self._lock = threading.Lock()  # for the protocol, and the order in which its bytes are sent
        self._events: Sequence[Event] = ()  # what was read last; messages may come with the response to the handshake

    def shake_hands(self) -> None:
        """Ask for a WebSocket, and wait for the response."""
        protocol, until = self._protocol, time.monotonic() + HANDSHAKE_TIMEOUT_S
        with self._lock:
            protocol.send_request(protocol.connect())
            self._flush()
        while protocol.handshake_exc is None and protocol.state is State.CONNECTING:
            self._events = self._receive(until)
        if protocol.handshake_exc is not None:
            raise protocol.handshake_exc

    def messages(self, patience: Patience) -> Iterator[bytes]:
        """The messages that come, until the host hangs up; each has to be whole within so many seconds."""
        message = bytearray()
        allowed = seconds_of(patience)
        until = time.monotonic() + allowed
        while True:
            for frame in self._events:
                if not isinstance(frame, Frame) or frame.opcode not in MESSAGE:
                    continue
                message += frame.data
                if frame.fin:
                    yield bytes(message)
                    message.clear()
                    allowed = seconds_of(patience)
                    until = time.monotonic() + allowed
            if self._is_over():
                return
            try:
                self._events = self._receive(until)
            except TimeoutError:
                raise Lost(f"no message came for {allowed:g} s") from None
            except OSError as error:
                raise Lost(reason(error)) from None

    def sender(self, *, patience: float) -> Callable[[bytes], None]:
        """What sends a line to the host. If it has hung up, what it said last is still to be read."""

        def send(line: bytes) -> None:
            try:
                with self._lock:
                    self._protocol.send_text(line.removesuffix(b"\n"))
                    self._connection.settimeout(patience)
                    self._flush()
            except TimeoutError:
                raise Lost(f"the host did not listen for {patience:g} s") from None
            except (InvalidState, OSError):
                pass

        return send

    def hang_up(self) -> None:
        """Send a close frame, and wait a little until the host has closed the connection."""
        until = time.monotonic() + CLOSE_TIMEOUT_S
        with suppress(OSError):
            with self._lock:
                if self._protocol.state is State.OPEN:
                    self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
                self._connection.settimeout(CLOSE_TIMEOUT_S)
                self._flush()
            while self._protocol.state is not State.CLOSED:
                self._receive(until)

    def _receive(self, until: float) -> Sequence[Event]:
        """Read once, and answer pings; what came of it. Raises OSError; TimeoutError, if nothing is there by then."""
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._connection.settimeout(max(SHORTEST, left))
        data = self._connection.recv(CHUNK_BYTES)
        with self._lock:
            if data:
                self._protocol.receive_data(data)
            else:
                self._protocol.receive_eof()
            with suppress(OSError):  # the host has hung up, but what it said before may still lie here
                self._flush()
            return self._protocol.events_received()

    def _is_over(self) -> bool:
        """Has the host said goodbye? Raises Lost if it broke off, or did not keep to the rules of WebSocket."""
        protocol = self._protocol
        if protocol.parser_exc is not None:
            raise Lost(str(protocol.close_sent or protocol.parser_exc))
        if protocol.close_rcvd is not None and protocol.close_rcvd.code not in OK_CLOSE_CODES:
            raise Lost(str(protocol.close_rcvd))
        return protocol.close_rcvd is not None

    def _flush(self) -> None:
        """Send what the protocol wants to say."""
        if data := b"".join(self._protocol.data_to_send()):
            self._connection.sendall(data)


def place_of(uri: str) -> tuple[str, int]:
    """The host and the port of ws://HOST:PORT/PATH, or of wss://."""
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise BadRequest(f"{uri!r} is no WebSocket: {error}") from None
    if parts.scheme not in ("ws", "wss"):
        raise BadRequest(f"{uri!r} is no WebSocket; write ws://HOST:PORT")
    return host_and_port(parts.netloc)
