"""Meet over WebSocket: the same as over TCP, with one text frame for a line. Needs the package websockets."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.players import wire
from fairplay.players.connection import MOST_UNREAD
from fairplay.players.dial import MOST_LINE, Lost, Patience, dial, seconds_of
from fairplay.players.door import Door
from fairplay.players.line import Closed, Hear, Heard, Line, TooMuch
from fairplay.players.places import host_and_port, reason

try:
    from websockets.exceptions import (
        ConnectionClosed,
        ConnectionClosedOK,
        InvalidState,
        PayloadTooBig,
        ProtocolError,
        WebSocketException,
    )
    from websockets.frames import CloseCode, Frame, Opcode
    from websockets.http11 import Request
    from websockets.server import ServerProtocol
    from websockets.sync.client import ClientConnection, connect
except ImportError:
    raise BadRequest("WebSockets need the package websockets: pip install 'fairplay[web]'") from None

END_OF_REQUEST = b"\r\n\r\n"
MOST_AT_ONCE = wire.MOST_BYTES  # bytes that are taken apart in one go
MOST_WAITING = 4  # messages that nobody has asked for yet
MOST_PIECES = 256  # frames a second that are no message: pings, pongs, and parts of one
CLOSING = 1.0  # seconds for a client to say goodbye


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


def listen_websocket(place: str) -> Door:
    """A door for the address ws:PLACE, where a place is PORT or HOST:PORT; port 0 is any that is free."""
    return Door(*host_and_port(place), over_websocket)


async def over_websocket(connection: socket.socket, tls: ssl.SSLContext | None = None) -> WebSocket:
    """The line over a connection that was let in, encrypted if need be."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(wire.MOST_BYTES)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection, ssl=tls)
    return WebSocket(reader, asyncio.StreamWriter(transport, protocol, reader, loop))


@contextmanager
def dial_websocket(
    uri: str, *, wait: float, patience: Patience, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[Iterator[bytes], Callable[[bytes], None]]]:
    """The messages that come from a host over WebSocket, and what sends one; as over TCP, it may not be there yet."""
    host, port = place_of(uri)
    connection = dial(host, port, wait=wait)
    connection.settimeout(seconds_of(patience))
    try:
        opening = connect(
            uri,
            sock=connection,
            ssl=tls,
            compression=None,
            max_size=MOST_LINE,
            close_timeout=CLOSING,
            ping_interval=None,
        )
    except (WebSocketException, OSError, EOFError, ValueError) as error:  # ValueError: it sends us elsewhere
        connection.close()
        raise BadRequest(f"there is no WebSocket at {uri}: {reason(error)}") from None
    with opening as line:
        yield messages_from(line, patience=patience), sender(line)


def messages_from(line: ClientConnection, *, patience: Patience) -> Iterator[bytes]:
    """The messages that come from a host, until it hangs up; each has to be whole within so many seconds."""
    try:
        while True:
            allowed = seconds_of(patience)
            message = line.recv(timeout=allowed)
            yield message.encode() if isinstance(message, str) else message
    except ConnectionClosedOK:
        return
    except ConnectionClosed as error:
        raise Lost(reason(error)) from None
    except TimeoutError:
        raise Lost(f"no message came for {allowed:g} s") from None


def sender(line: ClientConnection) -> Callable[[bytes], None]:
    """What sends a line to a host. If it has hung up, what it said last is still to be read."""

    def send(text: bytes) -> None:
        with suppress(ConnectionClosed, OSError):
            line.send(text.removesuffix(b"\n").decode())

    return send


def place_of(uri: str) -> tuple[str, int]:
    """The host and the port of ws://HOST:PORT/PATH, or of wss://."""
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise BadRequest(f"{uri!r} is no WebSocket: {error}") from None
    if parts.scheme not in ("ws", "wss"):
        raise BadRequest(f"{uri!r} is no WebSocket; write ws://HOST:PORT")
    return host_and_port(parts.netloc)
