"""Test connections to good and bad hosts over TCP, TLS and WebSocket."""

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any

import pytest
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed as PeerClosed
from websockets.frames import CloseCode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from fairplay.core.errors import BadRequest
from fairplay.protocol import wire
from fairplay.server.sign_in.tls import tls_context
from fairplay.transport import event_loop
from fairplay.transport.connection import Connection, ConnectionClosed, ConnectionLost, TooMuchData, receive
from fairplay.transport.connector import MAX_HOST_LINE_BYTES, connect, connect_socket, parse_host_address
from fairplay.transport.framed import MAX_UNREAD_BYTES
from tests.players.fake_server import FISH, TURN, ClientConnection, FakeServer
from tests.players.host_joining import join_host
from tests.server.sign_in import test_sign_in

AMPLE = 60.0  # seconds
HOST = "127.0.0.1"
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: what was sent is not waited for
certificate = test_sign_in.certificate
over_both = pytest.mark.parametrize("scheme", ["tcp", "ws"])


@asynccontextmanager
async def host(says: Callable[[Any], Awaitable[None]], tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A host of websockets' own kind, and where it is."""
    async with serve(says, HOST, 0, close_timeout=0.1, ssl=tls) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"{'ws' if tls is None else 'wss'}://{HOST}:{port}"


@contextmanager
def raw_host(behave: Callable[[socket.socket], None], scheme: str = "tcp") -> Iterator[str]:
    """A host that does what it likes with the bytes of one connection."""
    with socket.create_server((HOST, 0)) as server:

        def main() -> None:
            connection, _ = server.accept()
            with connection, suppress(ConnectionError):
                behave(connection)

        thread = threading.Thread(target=main)
        thread.start()
        try:
            yield f"{scheme}://{HOST}:{server.getsockname()[1]}"
        finally:
            thread.join()


def accepted(connection: socket.socket) -> ServerProtocol:
    """The protocol of a host that has said yes, and not sent that yet."""
    protocol = ServerProtocol()
    request = None
    while request is None:
        protocol.receive_data(connection.recv(65536))
        request = next(iter(protocol.events_received()), None)
    assert isinstance(request, Request)
    protocol.send_response(protocol.accept(request))
    return protocol


@asynccontextmanager
async def line_to(address: str, ca: str | None = None, wait: float = 1.0) -> AsyncIterator[Connection]:
    line = await connect(address, wait=wait, ca=ca)
    try:
        yield line
    finally:
        await line.close(b"", 0.0)


async def all_from(address: str) -> list[bytes]:
    """What a host says until it hangs up; the last is what the machine says of the end, if anything."""
    heard: list[bytes] = []
    async with line_to(address) as line:
        try:
            while True:
                heard.append(await receive(line))
        except ConnectionClosed as closed:
            return [*heard, closed.detail.encode()] if closed.detail else heard


async def lost(address: str, idle_timeout_s: float = AMPLE) -> str:
    """How a visit to a host is broken off whose player has nothing to say."""
    join = partial(join_host, address, lambda game: lambda view: None, wait=1.0, idle_timeout_s=idle_timeout_s)
    end = await asyncio.to_thread(join)
    assert isinstance(end, ConnectionLost)
    return str(end)


async def dial(address: str, *, wait: float = 1.0, ca: str | None = None) -> None:
    async with line_to(address, ca, wait):
        pass


async def echo(line: Any) -> None:
    async for message in line:
        await line.send(message)


# Addresses.


@pytest.mark.parametrize(
    "address",
    ["http://host:1", "ws://host", "ws://", "ws://[::1:4000", "ws://a:b", "host", "x:", "ws://u:p@h:1:2"],
)
def test_an_address_without_host_and_port_is_refused(address: str) -> None:
    with pytest.raises(BadRequest) as refused:
        parse_host_address(address)

    assert "@" not in address or "write PORT or HOST:PORT" in str(refused.value)


async def test_certificates_for_a_connection_without_tls_are_refused(certificate: tuple[str, str]) -> None:
    with pytest.raises(BadRequest, match="a file of certificates needs TLS"):
        await dial("127.0.0.1:1", ca=certificate[0])


# Over TCP.


async def test_a_host_that_does_not_exist_is_given_up_at_once() -> None:
    with pytest.raises(BadRequest, match=r"cannot find no\.such\.host\.invalid"):
        await dial("no.such.host.invalid:4000", wait=AMPLE)


async def test_each_address_of_a_host_has_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = event_loop.TimingEventLoop.sock_connect
    tried: list[int] = []

    async def hang_or_connect(loop: Any, made: socket.socket, place: Any) -> None:
        tried.append(place[1])
        await (asyncio.Event().wait() if place[1] == 1 else connect(loop, made, place))

    async def two_addresses(_: object, host: str, port: int, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (HOST, number)) for number in (1, port)]

    monkeypatch.setattr(event_loop.TimingEventLoop, "sock_connect", hang_or_connect)
    monkeypatch.setattr(event_loop.TimingEventLoop, "getaddrinfo", two_addresses)
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        await dial(f"two.example:{port}", wait=0.5)

    assert tried == [1, port]


@pytest.mark.parametrize("connects", [True, False], ids=["TCP connects it with itself", "it was reset at once"])
def test_a_connection_without_a_host_is_refused_and_closed(connects: bool) -> None:
    made: list[socket.socket] = []

    class Inwards(asyncio.SelectorEventLoop):
        async def sock_connect(self, sock: socket.socket, address: Any) -> None:
            """Connect from the very port to which it goes, or leave it without another end."""
            made.append(sock)
            if connects:
                sock.bind(address)
                await super().sock_connect(sock, address)

    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    with asyncio.Runner(loop_factory=Inwards) as runner, pytest.raises(BadRequest, match="cannot connect to"):
        runner.run(connect_socket(HOST, port, 0.5))

    assert len(made) >= 2  # it tries again
    assert all(one.fileno() == -1 for one in made)


async def test_a_host_that_drips_is_given_up_as_if_it_were_silent() -> None:
    hung_up = threading.Event()

    def behave(connection: socket.socket) -> None:
        connection.settimeout(0.02)
        while not hung_up.is_set():
            try:
                connection.sendall(b"a")
                if not connection.recv(100):
                    hung_up.set()
            except TimeoutError:
                continue
            except OSError:
                hung_up.set()

    with raw_host(behave) as address:
        assert await lost(address, 0.2) == "no message came for 0.2 s"

    assert hung_up.is_set()


async def test_a_host_that_never_ends_a_line_is_given_up() -> None:
    def behave(connection: socket.socket) -> None:
        connection.sendall(b"x" * (MAX_HOST_LINE_BYTES + 100_000))
        connection.recv(1)

    with raw_host(behave) as address:
        assert await lost(address) == "the host sent a line that is too long"


def test_replies_that_a_host_does_not_read_do_not_fill_our_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    buffered: list[int] = []
    lines: list[Any] = []
    turns = threading.Semaphore(0)
    real = connect

    async def dial_and_keep(*arguments: Any, **options: Any) -> Any:
        lines.append(await real(*arguments, **options))
        return lines[-1]

    class Wordy:
        def take_turn(self, view: Any) -> Any:
            buffered.append(lines[0]._transport.get_write_buffer_size())
            turns.release()
            return "x" * 8000

    def meet(guest: ClientConnection) -> None:
        guest.begin()
        for _ in range(2000):  # more bytes of replies than the kernel keeps for us
            guest.send(guest.write_question(TURN))
            assert turns.acquire(timeout=AMPLE)

    monkeypatch.setattr("fairplay.players.session.connect", dial_and_keep)
    server = FakeServer(meet)
    with server:
        join_host(server.address, lambda game: Wordy())

    assert server.results == [None]
    assert MAX_UNREAD_BYTES < max(buffered) <= MAX_UNREAD_BYTES + 9000


# Over WebSocket.


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (b"", "did not receive a valid HTTP response"),
        (b"what?\r\n\r\n", "did not receive a valid HTTP response"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HTTP 404"),
        (b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1\r\nContent-Length: 0\r\n\r\n", "HTTP 302"),
    ],
)
async def test_a_host_without_websocket_is_refused(response: bytes, why: str) -> None:
    def behave(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(response)

    with raw_host(behave, "ws") as uri, pytest.raises(BadRequest, match=f"there is no WebSocket at {uri}: .*{why}"):
        await dial(uri)


async def test_a_host_that_does_not_answer_the_handshake_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairplay.transport.websocket.HANDSHAKE_TIMEOUT_S", 0.2)

    def behave(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 101")
        while connection.recv(65536):
            pass

    with raw_host(behave, "ws") as uri, pytest.raises(BadRequest, match="timed out"):
        await dial(uri)


async def test_messages_are_received_and_pings_answered_until_the_host_disconnects_and_says_why() -> None:
    async def says(line: Any) -> None:
        await line.send("a")
        await (await line.ping())
        await line.send(["b", "c"])
        await line.close(CloseCode.INTERNAL_ERROR, "the disk is full")

    async with host(says) as uri:
        *messages, why = await all_from(uri)

    assert messages == [b"a", b"bc"]
    assert b"1011" in why
    assert why.endswith(b"the disk is full")


async def test_messages_after_the_handshake_in_the_same_segment_are_received() -> None:
    def behave(connection: socket.socket) -> None:
        protocol = accepted(connection)
        for text in (b"a", b"b"):
            protocol.send_text(text)
        protocol.send_close(CloseCode.NORMAL_CLOSURE)
        connection.sendall(b"".join(protocol.data_to_send()))
        connection.recv(65536)  # its close frame

    with raw_host(behave, "ws") as uri:
        assert await all_from(uri) == [b"a", b"b"]


async def test_a_host_that_only_pings_is_given_up() -> None:
    async def says(line: Any) -> None:
        with suppress(PeerClosed):
            while True:
                await (await line.ping())
                await asyncio.sleep(0.01)

    async with host(says) as uri:
        assert await lost(uri, 0.1) == "no message came for 0.1 s"


async def test_a_host_that_floods_us_with_pings_is_given_up() -> None:
    async def says(line: Any) -> None:
        with suppress(PeerClosed):
            while True:
                await line.ping()

    async with host(says) as uri:
        assert await lost(uri) == "sent more than 256 frames a second that complete no message"


async def test_a_host_that_sends_too_much_is_given_up() -> None:
    async def says(line: Any) -> None:
        await line.send("x" * (MAX_HOST_LINE_BYTES + 1))
        await line.wait_closed()

    async with host(says) as uri, line_to(uri) as line:
        with pytest.raises(TooMuchData):
            await receive(line)


@over_both
def test_the_last_message_of_a_host_is_received_although_the_reply_fails(scheme: str) -> None:
    asked, gone = threading.Event(), threading.Event()

    def behave(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)  # or the reset overtakes what was sent
        protocol = accepted(connection) if scheme == "ws" else None

        def say(text: bytes) -> None:
            if protocol is None:
                connection.sendall(text)
            else:
                protocol.send_text(text.rstrip(b"\n"))
                connection.sendall(b"".join(protocol.data_to_send()))

        say(wire.encode_hello(FISH, match_id="m", nonce="1", limit=5.0))
        connection.recv(65536)
        say(wire.encode_question(TURN, FISH, match_id="m", turn=1, nonce="2", limit=5.0))
        asked.wait(AMPLE)
        say(wire.encode_suspended("an update", 0))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        connection.close()
        gone.set()

    def take_turn(view: Any) -> Any:
        asked.set()
        assert gone.wait(AMPLE)

    told: list[str] = []
    with raw_host(behave, scheme) as address:
        assert join_host(address, lambda game: take_turn, tell=told.append) is None

    assert told[1:] == ["the server closes the connection: an update"]


# With TLS.


async def test_messages_go_both_ways_over_tls_at_once(certificate: tuple[str, str]) -> None:
    sent = [b"%d " % number + b"x" * (number % 977) for number in range(3000)]

    async with host(echo, tls_context(*certificate)) as uri, line_to(uri, certificate[0]) as line:
        for text in sent:
            line.send(text)
        assert [await receive(line) for _ in sent] == sent


async def test_every_handshake_over_tls_is_answered(certificate: tuple[str, str]) -> None:
    async with host(echo, tls_context(*certificate)) as uri:
        for number in range(150):
            async with line_to(uri, certificate[0]) as line:
                line.send(b"%d" % number)
                assert await receive(line) == b"%d" % number


async def test_a_host_without_the_right_certificate_is_refused(certificate: tuple[str, str]) -> None:
    async with host(echo, tls_context(*certificate)) as uri:
        with pytest.raises(BadRequest, match="cannot be verified"):
            await dial(uri)


async def test_a_host_without_tls_is_refused(certificate: tuple[str, str]) -> None:
    def behave(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"no TLS here\n")

    with raw_host(behave, "tls") as address, pytest.raises(BadRequest, match="there is no TLS at"):
        await dial(address, ca=certificate[0])
