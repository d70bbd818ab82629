"""Let players connect over WebSocket: the same as over TCP, with one text frame for a line. Needs websockets."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.transport.connection import MOST_UNREAD
from fairplay.transport.line import Closed, Hear, Heard, Line, TooMuch

try:
    from websockets.exceptions import InvalidState, PayloadTooBig, ProtocolError
    from websockets.frames import CloseCode, Frame, Opcode
    from websockets.http11 import Request
    from websockets.server import ServerProtocol
except ImportError:
    raise BadRequest("WebSockets need the package websockets: pip install 'fairplay[web]'") from None

END_OF_REQUEST = b"\r\n\r\n"
MOST_AT_ONCE = wire.MOST_BYTES  # bytes that are taken apart in one go
MOST_WAITING = 4  # messages that nobody has asked for yet
MOST_PIECES = 256  # frames a second that are no message: pings, pongs, and parts of one


class WebSocket(Line):
    """A line over WebSocket. The greeting of HTTP comes with the first thing that is said.

    It listens all the time, as clients want their pings answered; but it takes in only a few messages at once.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        # A page of whatever web site, in a browser on this machine, must not play: it would name its origin.
        self._protocol = ServerProtocol(origins=[None], max_size=wire.MOST_BYTES)
        self._heard: asyncio.Queue[Heard] = asyncio.Queue(MOST_WAITING)
        self._hear: Hear | None = None  # who is called with it
        self._listener: asyncio.Task[None] | None = None
        self._parts: list[bytes] = []  # of a message that is not whole yet
        self._pieces, self._since = 0, 0.0
        self._calls: list[Callable[[], None]] = []  # for when nothing more comes

    async def send(self, text: bytes) -> None:
        """Send a text frame; whoever never reads makes this wait."""
        try:
            if self._listener is None:
                await self._shake_hands()
                self._listener = asyncio.create_task(self._listen())
                self._listener.add_done_callback(lambda _: self._end())
            self._protocol.send_text(text.removesuffix(b"\n"))
            await self._flush()
        except (InvalidState, OSError):
            raise closed() from None

    async def receive(self) -> bytes:
        """The next whole message."""
        heard = await self._heard.get()
        if isinstance(heard, bytes):
            return heard
        self._heard.put_nowait(heard)  # nothing comes after it
        raise heard

    @property
    def at_once(self) -> bool:
        """Yes, once the greeting is over."""
        return self._listener is not None

    def say(self, text: bytes) -> None:
        """Send a text frame."""
        with suppress(InvalidState):  # one of us has said goodbye
            self._protocol.send_text(text.removesuffix(b"\n"))
            self._writer.write(b"".join(self._protocol.data_to_send()))

    def listen(self, hear: Hear | None) -> None:
        """Have this called once with the next whole message, or with what goes wrong."""
        self._hear = hear
        self._pass_on()

    def offer(self, text: bytes) -> bool:
        """Send a text frame that needs no answer, unless the other end is behind with reading."""
        if self._listener is None or self._listener.done() or self._writer.is_closing():
            return False
        if self._writer.transport.get_write_buffer_size() > MOST_UNREAD:
            return False
        self.say(text)
        return True

    def when_lost(self, call: Callable[[], None]) -> None:
        """Have this called once nothing more can come."""
        if self._listener is not None and self._listener.done():
            call()
        else:
            self._calls.append(call)

    async def hang_up(self, last: bytes, within: float) -> None:
        """Send some last words and a close frame if that can be done in so many seconds, and cut the line."""
        try:
            if self._listener is not None:
                with suppress(Closed, InvalidState, OSError):  # TimeoutError is an OSError
                    async with asyncio.timeout(within):
                        if last:
                            await self.send(last)
                        self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
                        await self._flush()
        finally:
            self._writer.transport.abort()
            if self._listener is not None:
                self._listener.cancel()
                await asyncio.wait((self._listener,))
            await asyncio.sleep(0)  # in which it is really closed

    def evidence(self) -> str:
        """Nothing is known of the other end of a connection."""
        return ""

    async def _shake_hands(self) -> None:
        """Answer the request with which a WebSocket begins."""
        try:
            request = await self._reader.readuntil(END_OF_REQUEST)
        except (asyncio.LimitOverrunError, asyncio.IncompleteReadError):
            raise closed("did not ask for a WebSocket") from None
        self._protocol.receive_data(request)
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._protocol.send_response(self._protocol.accept(event))
        await self._flush()
        if self._protocol.handshake_exc is not None:
            raise closed("did not ask for a WebSocket")

    async def _listen(self) -> None:
        """Keep the messages that come for whoever asks for them, and how it ended."""
        try:
            while data := await self._reader.read(MOST_AT_ONCE):
                self._protocol.receive_data(data)
                await self._flush()
                for frame in self._protocol.events_received():
                    message = self._message(frame) if isinstance(frame, Frame) else None
                    if message is not None:
                        await self._keep(message)
                self._check()
            await self._keep(closed())
        except (Closed, TooMuch) as end:
            await self._keep(end)
        except OSError:
            await self._keep(closed())

    async def _keep(self, heard: Heard) -> None:
        await self._heard.put(heard)
        self._pass_on()

    def _pass_on(self) -> None:
        """Let whoever listens have what came first."""
        if self._hear is not None and not self._heard.empty():
            heard = self._heard.get_nowait()
            if not isinstance(heard, bytes):
                self._heard.put_nowait(heard)  # nothing comes after it
            hear, self._hear = self._hear, None
            hear(heard)

    def _end(self) -> None:
        """Nothing more comes: tell whoever waits for it, or wants to know."""
        if self._heard.empty():
            self._heard.put_nowait(closed())
        self._pass_on()
        calls, self._calls = self._calls, []
        for call in calls:
            call()

    def _message(self, frame: Frame) -> bytes | None:
        """The message that is whole with this frame; None: there is none yet."""
        if frame.opcode is Opcode.BINARY:
            raise Closed(Fault.MALFORMED, "sent a binary frame, not a text")
        if frame.opcode is Opcode.CLOSE:
            self._writer.close()  # which the other end waits for; it has its answer by now
            raise closed()
        if frame.opcode in (Opcode.TEXT, Opcode.CONT):
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
        now = asyncio.get_running_loop().time()
        if now - self._since > 1.0:
            self._pieces, self._since = 0, now
        self._pieces += 1
        if self._pieces > MOST_PIECES:
            raise Closed(Fault.FLOOD, f"sent more than {MOST_PIECES} frames a second that are no message")

    def _check(self) -> None:
        """See whether what came was WebSocket at all."""
        match self._protocol.parser_exc:
            case None:
                pass
            case PayloadTooBig():
                raise TooMuch(b"")
            case ProtocolError():
                raise Closed(Fault.MALFORMED, "broke the rules of WebSocket")
            case _:
                raise closed()

    async def _flush(self) -> None:
        """Put on its way what the protocol wants to say."""
        data = b"".join(self._protocol.data_to_send())
        if data and not self._writer.is_closing():
            self._writer.write(data)
        await self._writer.drain()


def closed(why: str = "the connection was closed") -> Closed:
    """What it means that nothing can be said or heard any more."""
    return Closed(Fault.GONE, why)


async def over_websocket(connection: socket.socket, tls: ssl.SSLContext | None = None) -> WebSocket:
    """The line over a connection that was let in, encrypted if need be."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(wire.MOST_BYTES)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection, ssl=tls)
    return WebSocket(reader, asyncio.StreamWriter(transport, protocol, reader, loop))
