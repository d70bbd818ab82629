"""Test connections to good and bad hosts over TCP, TLS and WebSocket."""

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import islice
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
Says = Callable[[Any], Awaitable[None]]


@contextmanager
def host(says: Says, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """A host of websockets' own kind, in a thread, and where it is."""
    ready, done, ports = threading.Event(), threading.Event(), []

    async def main() -> None:
        async with serve(says, HOST, 0, close_timeout=0.1, ssl=tls) as server:
            ports.append(next(iter(server.sockets)).getsockname()[1])
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    ready.wait()
    try:
        yield f"{'ws' if tls is None else 'wss'}://{HOST}:{ports[0]}"
    finally:
        done.set()
        thread.join()


@contextmanager
def raw_host(behave: Callable[[socket.socket], None], scheme: str = "ws") -> Iterator[str]:
    """A host that does what it likes with the bytes of one connection."""
    with socket.create_server((HOST, 0)) as server:

        def main() -> None:
            connection, _ = server.accept()
            with connection:
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
async def line_to(address: str, ca: str | None = None) -> AsyncIterator[Connection]:
    line = await connect(address, wait=1.0, ca=ca)
    try:
        async with asyncio.timeout(AMPLE):
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


def joined(address: str, **options: Any) -> Any:
    """How a visit to a host ends whose player has nothing to say."""
    return join_host(address, lambda game: lambda view: None, wait=1.0, **options)


def dialled(address: str, *, wait: float = 1.0, ca: str | None = None) -> None:
    """Connect, and hang up."""

    async def main() -> None:
        await (await connect(address, wait=wait, ca=ca)).close(b"", 0.0)

    event_loop.run(main())


async def echo(line: Any) -> None:
    async for message in line:
        await line.send(message)


# Addresses.


@pytest.mark.parametrize("address", ["http://host:1", "ws://host", "ws://", "ws://[::1:4000", "ws://a:b", "host", "x:"])
def test_an_address_without_host_and_port_is_refused(address: str) -> None:
    with pytest.raises(BadRequest):
        parse_host_address(address)


def test_a_websocket_address_with_a_password_is_refused_before_the_lookup() -> None:
    with pytest.raises(BadRequest, match="write PORT or HOST:PORT"):
        parse_host_address("ws://u:p@h:1:2")


def test_certificates_for_a_connection_without_tls_are_refused(certificate: tuple[str, str]) -> None:
    with pytest.raises(BadRequest, match="a file of certificates needs TLS"):
        dialled("127.0.0.1:1", ca=certificate[0])


# Over TCP.


def test_a_host_that_does_not_exist_is_given_up_at_once() -> None:
    with pytest.raises(BadRequest, match=r"cannot find no\.such\.host\.invalid"):
        dialled("no.such.host.invalid:4000", wait=AMPLE)


def test_each_address_of_a_host_has_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
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
        dialled(f"two.example:{port}", wait=0.5)

    assert tried == [1, port]


def test_a_client_does_not_connect_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[socket.socket] = []
    real = socket.socket

    class Mirror(socket.socket):
        def getpeername(self) -> Any:
            return self.getsockname()

    def make(*arguments: Any, **options: Any) -> socket.socket:
        made.append((real if made else Mirror)(*arguments, **options))
        return made[-1]

    with socket.create_server((HOST, 0)) as server:
        monkeypatch.setattr("fairplay.transport.connector.socket.socket", make)
        dialled(f"{HOST}:{server.getsockname()[1]}", wait=5.0)
        monkeypatch.undo()

    assert isinstance(made[0], Mirror)
    assert len(made) >= 2
    assert all(one.fileno() == -1 for one in made)


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

    assert made
    assert all(one.fileno() == -1 for one in made)


def test_lines_are_received_whole_however_they_are_split() -> None:
    def behave(connection: socket.socket) -> None:
        for text in (b"a\nb", b"c\n\n", b"d", b"e\nno end"):
            connection.sendall(text)

    with raw_host(behave, "tcp") as address:
        assert event_loop.run(all_from(address)) == [b"a", b"bc", b"", b"de"]


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_a_silent_host_is_given_up(scheme: str) -> None:
    def behave(connection: socket.socket) -> None:
        if scheme == "ws":
            connection.sendall(b"".join(accepted(connection).data_to_send()))
        while connection.recv(65536):
            pass

    with raw_host(behave, scheme) as address:
        end = joined(address, idle_timeout_s=0.2)

    assert isinstance(end, ConnectionLost)
    assert str(end) == "no message came for 0.2 s"


def test_a_host_that_drips_is_given_up_as_if_it_were_silent() -> None:
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

    with raw_host(behave, "tcp") as address:
        end = joined(address, idle_timeout_s=0.2)

    assert hung_up.is_set()
    assert str(end) == "no message came for 0.2 s"


def test_a_host_that_never_ends_a_line_is_given_up() -> None:
    def behave(connection: socket.socket) -> None:
        try:
            connection.sendall(b"x" * (MAX_HOST_LINE_BYTES + 100_000))
            connection.recv(1)
        except OSError:
            pass

    with raw_host(behave, "tcp") as address:
        end = joined(address, idle_timeout_s=AMPLE)

    assert str(end) == "the host sent a line that is too long"


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
def test_a_host_without_websocket_is_refused(response: bytes, why: str) -> None:
    def behave(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(response)

    with raw_host(behave) as uri, pytest.raises(BadRequest, match=f"there is no WebSocket at {uri}: .*{why}"):
        dialled(uri)


def test_a_host_that_does_not_answer_the_handshake_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairplay.transport.websocket.HANDSHAKE_TIMEOUT_S", 0.2)

    def behave(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 101")
        while connection.recv(65536):
            pass

    with raw_host(behave) as uri, pytest.raises(BadRequest, match="timed out"):
        dialled(uri)


def test_messages_are_received_until_the_host_disconnects() -> None:
    async def says(line: Any) -> None:
        await line.send("a")
        await line.send(["b", "c"])

    with host(says) as uri:
        assert event_loop.run(all_from(uri)) == [b"a", b"bc"]


def test_messages_after_the_handshake_in_the_same_segment_are_received() -> None:
    def behave(connection: socket.socket) -> None:
        protocol = accepted(connection)
        for text in (b"a", b"b"):
            protocol.send_text(text)
        protocol.send_close(CloseCode.NORMAL_CLOSURE)
        connection.sendall(b"".join(protocol.data_to_send()))
        connection.recv(65536)  # its close frame

    with raw_host(behave) as uri:
        assert event_loop.run(all_from(uri)) == [b"a", b"b"]


def test_pings_are_answered_while_a_message_is_waited_for() -> None:
    async def says(line: Any) -> None:
        await (await line.ping())
        await line.send("a")

    with host(says) as uri:
        assert event_loop.run(all_from(uri)) == [b"a"]


def test_a_host_that_only_pings_is_given_up() -> None:
    async def says(line: Any) -> None:
        try:
            while True:
                await (await line.ping())
                await asyncio.sleep(0.01)
        except PeerClosed:
            pass

    with host(says) as uri:
        assert str(joined(uri, idle_timeout_s=0.1)) == "no message came for 0.1 s"


def test_a_host_that_floods_us_with_pings_is_given_up() -> None:
    async def says(line: Any) -> None:
        try:
            while True:
                await line.ping()
        except PeerClosed:
            pass

    with host(says) as uri:
        end = joined(uri, idle_timeout_s=AMPLE)

    assert isinstance(end, ConnectionLost)
    assert str(end) == "sent more than 256 frames a second that complete no message"


def test_a_host_that_sends_too_much_is_given_up() -> None:
    async def says(line: Any) -> None:
        await line.send("x" * (MAX_HOST_LINE_BYTES + 1))
        await line.wait_closed()

    async def heard(uri: str) -> None:
        async with line_to(uri) as line:
            with pytest.raises(TooMuchData):
                await receive(line)

    with host(says) as uri:
        event_loop.run(heard(uri))


def test_the_close_reason_of_a_host_is_quoted() -> None:
    async def says(line: Any) -> None:
        await line.close(CloseCode.INTERNAL_ERROR, "the disk is full")

    with host(says) as uri:
        (said,) = event_loop.run(all_from(uri))

    assert b"1011" in said
    assert said.endswith(b"the disk is full")


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_the_last_message_of_a_host_is_received_although_the_reply_fails(scheme: str) -> None:
    asked, gone = threading.Event(), threading.Event()
    turn = wire.encode_question(TURN, FISH, match_id="m", turn=1, nonce="2", limit=5.0)
    goodbye = wire.encode_suspended("an update", 0)

    def behave(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)  # or the reset overtakes what was sent
        protocol = accepted(connection) if scheme == "ws" else None

        def say(*texts: bytes) -> None:
            if protocol is None:
                connection.sendall(b"".join(texts))
                return
            for text in texts:
                protocol.send_text(text.rstrip(b"\n"))
            connection.sendall(b"".join(protocol.data_to_send()))

        say(wire.encode_hello(FISH, match_id="m", nonce="1", limit=5.0))
        connection.recv(65536)
        say(turn)
        asked.wait(AMPLE)
        say(goodbye)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        connection.close()
        gone.set()

    def take_turn(view: Any) -> Any:
        """Think until the host has gone."""
        asked.set()
        assert gone.wait(AMPLE)
        return None

    told: list[str] = []
    with raw_host(behave, scheme) as address:
        end = join_host(address, lambda game: take_turn, tell=told.append)

    assert end is None

    assert told[1:] == ["the server closes the connection: an update"]


# With TLS.


def test_messages_go_both_ways_over_tls_at_once(certificate: tuple[str, str]) -> None:
    sent = [b"%d " % number + b"x" * (number % 977) for number in range(3000)]

    async def main(uri: str) -> list[bytes]:
        async with line_to(uri, certificate[0]) as line:
            for text in sent:
                line.send(text)
            return [await receive(line) for _ in sent]

    with host(echo, tls_context(*certificate)) as uri:
        assert event_loop.run(main(uri)) == sent


def test_every_handshake_over_tls_is_answered(certificate: tuple[str, str]) -> None:
    async def main(uri: str) -> None:
        for number in range(150):
            async with line_to(uri, certificate[0]) as line:
                line.send(b"%d" % number)
                assert await receive(line) == b"%d" % number

    with host(echo, tls_context(*certificate)) as uri:
        event_loop.run(main(uri))


def test_a_host_without_the_right_certificate_is_refused(certificate: tuple[str, str]) -> None:
    with (
        host(echo, tls_context(*certificate)) as uri,
        pytest.raises(BadRequest, match="cannot be verified"),
    ):
        dialled(uri)


def test_a_host_without_tls_is_refused(certificate: tuple[str, str]) -> None:
    def behave(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"no TLS here\n")

    with raw_host(behave, "tls") as address, pytest.raises(BadRequest, match="there is no TLS at"):
        dialled(address, ca=certificate[0])


def test_the_first_lines_of_a_host_are_available_once_connected() -> None:
    """A host may send before the client reads."""

    def behave(connection: socket.socket) -> None:
        connection.sendall(b"hello\nand more\n")

    async def main(address: str) -> list[bytes]:
        async with line_to(address) as line:
            await asyncio.sleep(0.01)
            return [await receive(line) for _ in islice(range(9), 2)]

    with raw_host(behave, "tcp") as address:
        assert event_loop.run(main(address)) == [b"hello", b"and more"]
