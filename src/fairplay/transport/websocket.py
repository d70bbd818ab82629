"""Let players connect over WebSocket: the same as over TCP, with one text frame for a line. Needs websockets."""

import asyncio
import socket
import ssl
from collections import deque
from contextlib import suppress
from typing import cast

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.transport.connection import shared_on
from fairplay.transport.framed import MOST_UNREAD, closed
from fairplay.transport.line import Call, Closed, Hear, Line, TooMuch

try:
    from websockets.exceptions import InvalidState, PayloadTooBig, ProtocolError
    from websockets.frames import CloseCode, Frame, Opcode
    from websockets.http11 import Request
    from websockets.protocol import State
    from websockets.server import ServerProtocol
except ImportError:
    raise BadRequest("WebSockets need the package websockets: pip install 'fairplay[web]'") from None

END_OF_REQUEST = b"\r\n\r\n"
MAX_REQUEST_BYTES = wire.MOST_BYTES  # of the HTTP request
MAX_WAITING_MESSAGES = 4  # that nobody has asked for yet
MAX_PIECES_PER_S = 256  # frames that are no message: pings, pongs, and parts of one
NO_REQUEST = "did not ask for a WebSocket"


class WebSocket(asyncio.BufferedProtocol, Line):
    """A line over WebSocket. What is sent before the HTTP handshake is over is sent behind it.

    It listens all the time, as clients want their pings answered; but it takes in only a few messages at once.
    """

    def __init__(self) -> None:
        # A page of whatever web site, in a browser on this machine, must not play: it would name its origin.
        self._protocol = ServerProtocol(origins=[None], max_size=wire.MOST_BYTES)
        self._request: bytearray | None = bytearray()  # as far as it came; None: the handshake is over
        self._unsent: list[bytes] = []  # lines, before that
        self._messages: deque[bytes] = deque()  # that nobody has asked for yet
        self._over: Closed | TooMuch | None = None  # nothing comes behind the messages
        self._hear: Hear | None = None  # is called with the next one
        self._parts: list[bytes] = []  # of a message that is not whole yet
        self._pieces, self._since = 0, 0.0
        self._calls: list[Call] = []  # for when nothing more comes
        self._deaf = False  # is nothing read, as too much lies here?
        self._behind = False  # is the other end behind with reading?
        self._loop: asyncio.AbstractEventLoop
        self._buffer: memoryview
        self._transport: asyncio.Transport
        self._lost: asyncio.Future[None]

    def send(self, text: bytes) -> None:
        """Send a text frame."""
        if self._request is not None:
            self._unsent.append(text)
            return
        with suppress(InvalidState):  # one of us has said goodbye
            self._protocol.send_text(text.removesuffix(b"\n"))
            self._flush()

    def listen(self, hear: Hear | None) -> None:
        """Have this called once with the next whole message, or with what goes wrong."""
        self._hear = hear
        if self._messages or self._over is not None:
            self._pass_on()

    def offer(self, text: bytes) -> bool:
        """Send a text frame that needs no answer, unless the other end is behind with reading."""
        if self._request is not None or self._over is not None or self._behind or self._transport.is_closing():
            return False
        self.send(text)
        return True

    def when_lost(self, call: Call) -> None:
        """Have this called once nothing more can come."""
        if self._over is not None:
            call()
        else:
            self._calls.append(call)

    async def hang_up(self, last: bytes, within: float) -> None:
        """Send some last words and a close frame if that can be done in so many seconds, and cut the line."""
        try:
            if self._request is None and not self._transport.is_closing():
                if last:
                    self.send(last)
                with suppress(InvalidState):
                    self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
                    self._flush()
                self._transport.close()  # once all of it is on its way
                await asyncio.wait((self._lost,), timeout=within)
        finally:
            if not self._lost.done():
                self._transport.abort()
                await asyncio.sleep(0)  # in which it is really closed

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """There is a connection."""
        self._loop = asyncio.get_running_loop()
        self._buffer = shared_on(self._loop).buffer
        self._lost = self._loop.create_future()
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=MOST_UNREAD)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put what comes."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Something came; behind what ended it, nothing is looked at any more."""
        if self._over is not None:
            return
        data = self._buffer[:nbytes].tobytes()
        try:
            if self._request is not None:
                data = self._shake_hands(data)
            if data:
                self._receive(data)
        except (Closed, TooMuch) as end:
            self._end(end)

    def eof_received(self) -> bool:
        """Nothing more will come."""
        self._end(closed(NO_REQUEST) if self._request is not None else closed())
        return self._transport.get_extra_info("sslcontext") is None

    def connection_lost(self, exc: Exception | None) -> None:
        """There is no connection any more."""
        self.eof_received()
        if not self._lost.done():
            self._lost.set_result(None)

    def pause_writing(self) -> None:
        """The other end does not read; so nothing more is read of what we would have to answer, such as pings."""
        self._behind = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """It reads again."""
        self._behind = False
        self._read_on()

    # What comes of it.

    def _shake_hands(self, data: bytes) -> bytes:
        """Answer the request with which a WebSocket begins, once it is whole; what comes behind it."""
        assert self._request is not None
        self._request += data
        end = self._request.find(END_OF_REQUEST)
        if end < 0:
            if len(self._request) > MAX_REQUEST_BYTES:
                raise closed(NO_REQUEST)
            return b""
        end += len(END_OF_REQUEST)
        request, rest = bytes(self._request[:end]), bytes(self._request[end:])
        self._protocol.receive_data(request)
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._protocol.send_response(self._protocol.accept(event))
        self._flush()
        if self._protocol.handshake_exc is not None or self._protocol.state is not State.OPEN:
            raise closed(NO_REQUEST)
        self._request = None
        unsent, self._unsent = self._unsent, []
        for text in unsent:
            self.send(text)
        return rest

    def _receive(self, data: bytes) -> None:
        """Keep the messages that come for whoever asks for them."""
        protocol = self._protocol
        protocol.receive_data(data)
        self._flush()
        for frame in protocol.events_received():
            message = self._message(frame) if isinstance(frame, Frame) else None
            if message is not None:
                self._messages.append(message)
        if self._messages:
            self._pass_on()
        if len(self._messages) >= MAX_WAITING_MESSAGES and not self._deaf:
            self._deaf = True
            self._transport.pause_reading()
        if protocol.parser_exc is not None:
            self._check(protocol.parser_exc)

    def _pass_on(self) -> None:
        """Let whoever listens have what came first."""
        if self._hear is None:
            return
        hear = self._hear
        if self._messages:
            self._hear, message = None, self._messages.popleft()
            if self._deaf and len(self._messages) < MAX_WAITING_MESSAGES:
                self._deaf = False
                self._read_on()
            hear(message)
        elif self._over is not None:
            self._hear = None
            hear(self._over)

    def _read_on(self) -> None:
        """Read again, if nothing speaks against it."""
        if not (self._deaf or self._behind or self._transport.is_closing()):
            self._transport.resume_reading()

    def _end(self, why: Closed | TooMuch) -> None:
        """Nothing more comes: tell whoever waits for it, or wants to know."""
        if self._over is None:
            self._over = why
        self._pass_on()
        calls, self._calls = self._calls, []
        for call in calls:
            self._loop.call_soon(call)  # a reply may have come with the end, and its task is to go on first

    def _message(self, frame: Frame) -> bytes | None:
        """The message that is whole with this frame; None: there is none yet."""
        opcode = frame.opcode
        if opcode is Opcode.TEXT and frame.fin:  # as most of them are
            self._pieces = 0
            return bytes(frame.data)
        if opcode is Opcode.BINARY:
            raise Closed(Fault.MALFORMED, "sent a binary frame, not a text")
        if opcode is Opcode.CLOSE:
            self._transport.close()  # which the other end waits for; it has its answer by now
            raise closed()
        if opcode in (Opcode.TEXT, Opcode.CONT):
            self._parts.append(bytes(frame.data))
            if frame.fin:
                message = b"".join(self._parts)
                self._parts.clear()
                self._pieces = 0
                return message
        self._count()
        return None

    def _count(self) -> None:
        """Refuse to hear piece after piece that makes no message."""
        now = self._loop.time()
        if now - self._since > 1.0:
            self._pieces, self._since = 0, now
        self._pieces += 1
        if self._pieces > MAX_PIECES_PER_S:
            raise Closed(Fault.FLOOD, f"sent more than {MAX_PIECES_PER_S} frames a second that are no message")

    def _check(self, error: Exception) -> None:
        """Say what is wrong with what came."""
        match error:
            case PayloadTooBig():
                raise TooMuch(b"")
            case ProtocolError():
                raise Closed(Fault.MALFORMED, "broke the rules of WebSocket")
            case _:
                raise closed()

    def _flush(self) -> None:
        """Put on its way what the protocol wants to say."""
        data = b"".join(self._protocol.data_to_send())
        if data and not self._transport.is_closing():
            self._transport.write(data)


async def over_websocket(connection: socket.socket, tls: ssl.SSLContext | None = None) -> WebSocket:
    """The line over a connection that was let in, encrypted if need be."""
    line = WebSocket()
    await asyncio.get_running_loop().connect_accepted_socket(lambda: line, connection, ssl=tls)
    return line
