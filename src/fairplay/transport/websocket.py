"""Implement connections over WebSocket, with one text frame for each line. Needs the package websockets."""

import asyncio
import socket
import ssl
import struct
from collections import deque
from contextlib import suppress
from secrets import token_bytes

from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.transport.connection import ConnectionClosed, Received, TooMuchData
from fairplay.transport.connector import HANDSHAKE_TIMEOUT_S, MAX_HOST_LINE_BYTES, HostAddress, attach_transport
from fairplay.transport.endpoint import describe_os_error
from fairplay.transport.framed import BufferedConnection, connection_closed
from fairplay.transport.sockets import SocketConnection

try:
    from websockets.client import ClientProtocol
    from websockets.exceptions import InvalidState, PayloadTooBig, ProtocolError, WebSocketException
    from websockets.frames import OK_CLOSE_CODES, CloseCode, Frame, Opcode
    from websockets.http11 import Request
    from websockets.protocol import State
    from websockets.server import ServerProtocol
    from websockets.uri import parse_uri
except ImportError:
    raise BadRequest("WebSockets need the package websockets: pip install 'fairplay[web]'") from None

try:
    from websockets.speedups import apply_mask
except ImportError:
    from websockets.utils import apply_mask

TEXT_FRAME = 0x81  # the first byte of a whole text message
MASKED = 0x80  # a bit of the second byte, beside the length
MAX_REQUEST_BYTES = wire.MAX_LINE_BYTES  # of the HTTP request
MAX_WAITING_MESSAGES = 4  # that were received but not asked for
MAX_NON_MESSAGE_FRAMES_PER_S = 256  # pings, pongs and fragments
NO_REQUEST = "did not ask for a WebSocket"


class WebSocketConnection(SocketConnection):
    """A connection over WebSocket. What is sent before the HTTP handshake is over is sent after it.

    It reads all the time, as pings need answers, but buffers only a few messages. Messages of one frame, as nearly all
    are, are read and written here; the library gets all other frames, one whole frame at a time.
    """

    _held: deque[bytes]

    def __init__(self, protocol: ServerProtocol | ClientProtocol, max_message_bytes: int) -> None:
        super().__init__()
        self._protocol = protocol
        self._is_host = isinstance(protocol, ServerProtocol)
        self._max_message_bytes = max_message_bytes
        self._early: list[bytes] | None = []  # lines to send after the handshake; None: it is over
        self._held = deque()  # messages that were not asked for yet
        self._rest = b""  # the beginning of a frame
        self._parts: list[bytes] = []  # the first frames of a fragmented message
        self._pieces, self._since = 0, 0.0
        self._head_bytes = 0  # received during the handshake

    def send(self, text: bytes) -> None:
        """Send a text frame."""
        if self._early is not None:
            self._early.append(text)
        elif self._protocol.state is State.OPEN:  # else the closing handshake has begun
            super().send(self._encode_frame(text))

    def offer(self, text: bytes) -> bool:
        """Send a text frame that needs no answer. False: the other end is too slow to read it."""
        return (
            self._early is None
            and self._end_reason is None
            and not self._transport.is_closing()
            and super().offer(text)
        )

    def pause_writing(self) -> None:
        """The other end is too slow to read, so stop reading what needs answers, such as pings."""
        super().pause_writing()
        self._reading.pause_reading()

    def resume_writing(self) -> None:
        """The other end reads again."""
        super().resume_writing()
        if not self._is_reading_paused:
            self._resume_reading()

    # How messages travel.

    def _encode_frame(self, text: bytes) -> bytes:
        text = text.removesuffix(b"\n")
        mask, length = (0 if self._is_host else MASKED), len(text)
        if length < 126:
            head = bytes((TEXT_FRAME, mask | length))
        elif length < 65536:
            head = struct.pack("!BBH", TEXT_FRAME, mask | 126, length)
        else:
            head = struct.pack("!BBQ", TEXT_FRAME, mask | 127, length)
        if self._is_host:
            return head + text
        key = token_bytes(4)
        return head + key + apply_mask(text, key)

    def _feed(self, new: bytes) -> None:
        """Process received data; after the end of the connection it is ignored."""
        if self._end_reason is not None:
            return
        try:
            if self._early is not None:
                new = self._handshake(new)
            if new:
                self._receive(new)
        except (ConnectionClosed, TooMuchData) as end:
            self._end(end)

    def _receive(self, new: bytes) -> None:
        """Split received data into frames; the library reports invalid ones."""
        data = self._rest + new if self._rest else new
        at, size = 0, len(data)
        while size - at >= 2:
            kind, length = data[at], data[at + 1] & ~MASKED
            start = at + 2
            if length > 125:
                start = at + (4 if length == 126 else 10)
                if size < start:
                    break
                length = int.from_bytes(data[at + 2 : start])
            payload = start + 4 if self._is_host else start
            end = payload + length
            is_valid = length <= self._max_message_bytes and (data[at + 1] >= MASKED) is self._is_host
            if is_valid and end > size:
                break
            if is_valid and kind == TEXT_FRAME and not self._parts:
                message = data[payload:end]
                self._store_message(apply_mask(message, data[start:payload]) if self._is_host else message)
            else:
                self._protocol.receive_data(data[at:end])
                self._process_events()
            at = end
        self._rest = data[at:]

    def _store_message(self, message: bytes) -> None:
        """Buffer a message until it is asked for."""
        self._pieces = 0
        self._held.append(message)
        self._deliver()
        if len(self._held) >= MAX_WAITING_MESSAGES:
            self._stop_reading()

    def _next_message(self) -> Received | None:
        if not self._held:
            return self._end_reason
        message = self._held.popleft()
        if self._is_reading_paused and len(self._held) < MAX_WAITING_MESSAGES:
            self._resume_reading()
        return message

    def _resume_reading(self) -> None:
        """Read again, unless the other end is too slow to read."""
        self._is_reading_paused = False
        if not self._is_writing_paused:
            super()._resume_reading()

    def _send_last_and_close(self, last: bytes) -> bool:
        """Send a last message and a close frame; the host then closes the connection."""
        if self._early is not None or self._transport.is_closing():
            return False
        if last:
            self.send(last)
        with suppress(InvalidState):  # a close frame was sent before
            self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
            self._flush()
        self.flush()
        if self._is_host:
            self._transport.close()
        return True

    # What the library is for.

    def _handshake(self, data: bytes) -> bytes:
        """Process the handshake line by line; return the data after it."""
        lines = deque(data.splitlines(keepends=True))
        while lines and self._early is not None:
            self._head_bytes += len(lines[0])
            self._protocol.receive_data(lines.popleft())
            self._check_handshake()
        return b"".join(lines)

    def _check_handshake(self) -> None:
        """Open the connection once the handshake is complete. Raises ConnectionClosed if it failed."""
        raise NotImplementedError

    def _begin(self) -> None:
        """Open the connection: the handshake is complete."""
        early, self._early = self._early or [], None
        self.closed_message = BufferedConnection.closed_message
        for text in early:
            self.send(text)

    def _process_events(self) -> None:
        """Process the frames that the library has read, and send its answers."""
        protocol = self._protocol
        self._flush()
        for frame in protocol.events_received():
            message = self._assemble_message(frame) if isinstance(frame, Frame) else None
            if message is not None:
                self._store_message(message)
        if protocol.parser_exc is not None:
            self._check(protocol.parser_exc)

    def _assemble_message(self, frame: Frame) -> bytes | None:
        """The message that this frame completes; None: there is none."""
        opcode = frame.opcode
        if opcode is Opcode.BINARY:
            raise ConnectionClosed(Fault.MALFORMED, "sent a binary frame, not a text")
        if opcode is Opcode.CLOSE:
            self._transport.close()  # after the library has answered
            code = self._protocol.close_rcvd
            raise connection_closed(detail="" if code is None or code.code in OK_CLOSE_CODES else str(code))
        if opcode in (Opcode.TEXT, Opcode.CONT):
            self._parts.append(bytes(frame.data))
            if frame.fin:
                message = b"".join(self._parts)
                self._parts.clear()
                return message
        self._count_non_message_frame()
        return None

    def _count_non_message_frame(self) -> None:
        """Raise ConnectionClosed after too many frames that complete no message."""
        now = self._loop.time()
        if now - self._since > 1.0:
            self._pieces, self._since = 0, now
        self._pieces += 1
        if self._pieces > MAX_NON_MESSAGE_FRAMES_PER_S:
            raise ConnectionClosed(
                Fault.FLOOD, f"sent more than {MAX_NON_MESSAGE_FRAMES_PER_S} frames a second that complete no message"
            )

    def _check(self, error: Exception) -> None:
        """Raise the right exception for an error of the library."""
        match error:
            case PayloadTooBig():
                raise TooMuchData(b"")
            case ProtocolError():
                raise ConnectionClosed(Fault.MALFORMED, "broke the rules of WebSocket", str(error))
            case _:
                raise connection_closed(detail=str(error))

    def _flush(self) -> None:
        """Send the data of the library."""
        data = b"".join(self._protocol.data_to_send())
        if data and not self._transport.is_closing():
            self.flush()
            self._write(data)


class ServerWebSocket(WebSocketConnection):
    """The host's end of a WebSocket."""

    closed_message = NO_REQUEST

    def __init__(self) -> None:
        # Web pages in a browser on this machine must not connect; they would send their origin.
        self._server = ServerProtocol(origins=[None], max_size=wire.MAX_LINE_BYTES)
        super().__init__(self._server, wire.MAX_LINE_BYTES)

    def _check_handshake(self) -> None:
        """Answer the request, once it is complete."""
        server = self._server
        for event in server.events_received():
            if isinstance(event, Request):
                server.send_response(server.accept(event))
        self._flush()
        if server.state is State.OPEN:
            self._begin()
        elif server.handshake_exc is not None or self._head_bytes > MAX_REQUEST_BYTES:
            raise connection_closed(NO_REQUEST)


class ClientWebSocket(WebSocketConnection):
    """The player's end of a WebSocket."""

    def __init__(self, uri: str) -> None:
        self.client = ClientProtocol(parse_uri(uri), max_size=MAX_HOST_LINE_BYTES)
        super().__init__(self.client, MAX_HOST_LINE_BYTES)
        self.handshake_done: asyncio.Future[None]  # or the handshake has failed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the handshake request."""
        super().connection_made(transport)
        self.handshake_done = self._loop.create_future()
        self.client.send_request(self.client.connect())
        self._flush()

    def _check_handshake(self) -> None:
        if self.client.handshake_exc is not None:
            raise connection_closed()
        if self.client.state is not State.CONNECTING:
            self._begin()
            self._resolve_handshake()

    def _end(self, why: ConnectionClosed | TooMuchData | HostFault | None = None) -> None:
        """End the connection, and the handshake if it is not over."""
        if self._early is not None:
            self.client.receive_eof()
        self._resolve_handshake()
        super()._end(why)

    def _resolve_handshake(self) -> None:
        if not self.handshake_done.done():
            self.handshake_done.set_result(None)


async def connect_websocket(
    connection: socket.socket, where: HostAddress, tls: ssl.SSLContext | None
) -> ClientWebSocket:
    """Make a WebSocket from a connected socket, once the handshake is complete. Raises BadRequest."""
    try:
        websocket = ClientWebSocket(where.text)
    except WebSocketException as error:
        connection.close()
        raise BadRequest(f"{where.text!r} is not a valid address of a WebSocket: {error}") from None
    await attach_transport(connection, websocket, where, tls)
    is_open = False
    try:
        async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
            await websocket.handshake_done
        if websocket.client.handshake_exc is not None:
            raise websocket.client.handshake_exc
        is_open = True
    except (WebSocketException, TimeoutError) as error:
        raise BadRequest(f"there is no WebSocket at {where.text}: {describe_os_error(error)}") from None
    finally:
        if not is_open:
            await websocket.close(b"", 0.0)
    return websocket


async def accept_websocket(connection: socket.socket, tls: ssl.SSLContext | None = None) -> ServerWebSocket:
    """Make a WebSocket from an accepted socket, with TLS if there is a context."""
    websocket = ServerWebSocket()
    await asyncio.get_running_loop().connect_accepted_socket(lambda: websocket, connection, ssl=tls)
    return websocket
