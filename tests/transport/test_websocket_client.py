"""Connect to hosts over WebSocket as a player does: to good ones, with TLS and without, and to bad ones."""

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from fairplay.core.errors import BadRequest
from fairplay.server.sign_in.tls import tls_context
from fairplay.transport.dial import MOST_LINE, Lost
from fairplay.transport.websocket_client import dial_websocket, place_of
from tests.server.sign_in import test_reception

ENOUGH = 60.0  # seconds
HOST = "127.0.0.1"
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: what was sent is not waited for
certificate = test_reception.certificate
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
def raw_host(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """A host that does what it likes with the bytes of one connection."""
    with socket.create_server((HOST, 0)) as server:

        def main() -> None:
            connection, _ = server.accept()
            with connection:
                behave(connection)

        thread = threading.Thread(target=main)
        thread.start()
        try:
            yield f"ws://{HOST}:{server.getsockname()[1]}"
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


def heard_from(says: Says, *, patience: float) -> list[bytes]:
    """What a player hears."""
    with host(says) as uri, dial_websocket(uri, wait=1.0, patience=patience) as (messages, _):
        return list(messages)


async def echo(line: Any) -> None:
    async for message in line:
        await line.send(message)


@pytest.mark.parametrize("uri", ["http://host:1", "ws://host", "ws://", "ws://[::1:4000", "ws://a:b", "ws://u:p@h:1:2"])
def test_what_is_no_websocket_is_refused(uri: str) -> None:
    with pytest.raises(BadRequest):
        place_of(uri)


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (b"", "did not receive a valid HTTP response"),
        (b"what?\r\n\r\n", "did not receive a valid HTTP response"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HTTP 404"),
        (b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1\r\nContent-Length: 0\r\n\r\n", "HTTP 302"),
    ],
)
def test_a_host_that_speaks_no_websocket_is_refused(response: bytes, why: str) -> None:
    def behave(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(response)

    with raw_host(behave) as uri, pytest.raises(BadRequest, match=f"there is no WebSocket at {uri}: .*{why}"):
        dial_websocket(uri, wait=1.0, patience=1.0).__enter__()


def test_a_host_that_does_not_answer_the_handshake_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairplay.transport.websocket_client.HANDSHAKE_TIMEOUT_S", 0.2)

    def behave(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 101")
        while connection.recv(65536):
            pass

    with raw_host(behave) as uri, pytest.raises(BadRequest, match="timed out"):
        dial_websocket(uri, wait=1.0, patience=ENOUGH).__enter__()


def test_messages_come_until_the_host_hangs_up() -> None:
    async def says(line: Any) -> None:
        await line.send("a")
        await line.send(["b", "c"])

    assert heard_from(says, patience=5.0) == [b"a", b"bc"]


def test_messages_that_come_with_the_response_to_the_handshake_are_heard() -> None:
    def behave(connection: socket.socket) -> None:
        protocol = accepted(connection)
        for text in (b"a", b"b"):
            protocol.send_text(text)
        protocol.send_close(CloseCode.NORMAL_CLOSURE)
        connection.sendall(b"".join(protocol.data_to_send()))
        connection.recv(65536)  # its close frame

    with raw_host(behave) as uri, dial_websocket(uri, wait=1.0, patience=ENOUGH) as (messages, _):
        assert list(messages) == [b"a", b"b"]


def test_pings_are_answered_while_a_message_is_waited_for() -> None:
    async def says(line: Any) -> None:
        await (await line.ping())
        await line.send("a")

    assert heard_from(says, patience=ENOUGH) == [b"a"]


def test_a_host_that_falls_silent_is_given_up() -> None:
    async def says(line: Any) -> None:
        await line.send("a")
        await line.wait_closed()

    with pytest.raises(Lost, match=r"no message came for 0.1 s"):
        heard_from(says, patience=0.1)


def test_a_host_that_only_pings_is_given_up() -> None:
    async def says(line: Any) -> None:
        try:
            while True:
                await (await line.ping())
        except ConnectionClosed:
            pass

    with pytest.raises(Lost, match=r"no message came for 0.1 s"):
        heard_from(says, patience=0.1)


def test_a_host_that_sends_too_much_is_given_up() -> None:
    async def says(line: Any) -> None:
        await line.send("x" * (MOST_LINE + 1))
        await line.wait_closed()

    with pytest.raises(Lost, match="1009"):
        heard_from(says, patience=5.0)


def test_a_host_that_breaks_off_is_given_up() -> None:
    async def says(line: Any) -> None:
        line.transport.abort()

    with pytest.raises(Lost):
        heard_from(says, patience=5.0)


def test_a_host_that_says_that_something_went_wrong_is_quoted() -> None:
    async def says(line: Any) -> None:
        await line.close(CloseCode.INTERNAL_ERROR, "the disk is full")

    with pytest.raises(Lost, match=r"1011 .*the disk is full"):
        heard_from(says, patience=5.0)


def test_a_host_that_never_reads_is_given_up() -> None:
    over = threading.Event()

    def behave(connection: socket.socket) -> None:
        connection.sendall(b"".join(accepted(connection).data_to_send()))
        over.wait()

    with raw_host(behave) as uri:
        try:
            with (
                dial_websocket(uri, wait=1.0, patience=0.2) as (_, send),
                pytest.raises(Lost, match=r"the host did not listen for 0.2 s"),
            ):
                for _ in range(1000):
                    send(b"x" * 1_000_000)
        finally:
            over.set()


def test_what_a_host_said_last_is_heard_although_a_reply_cannot_be_sent() -> None:
    gone = threading.Event()

    def behave(connection: socket.socket) -> None:
        protocol = accepted(connection)
        protocol.send_text(b"goodbye")
        protocol.send_close(CloseCode.NORMAL_CLOSURE)
        connection.sendall(b"".join(protocol.data_to_send()))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        connection.close()
        gone.set()

    with raw_host(behave) as uri, dial_websocket(uri, wait=1.0, patience=ENOUGH) as (messages, send):
        assert gone.wait(ENOUGH)
        for _ in range(3):
            send(b"a late reply")

        assert list(messages) == [b"goodbye"]


def test_one_thread_may_read_while_another_sends_over_tls(certificate: tuple[str, str]) -> None:
    trusted = ssl.create_default_context(cafile=certificate[0])
    sent = [b"%d " % number + b"x" * (number % 977) for number in range(3000)]

    with (
        host(echo, tls_context(*certificate)) as uri,
        dial_websocket(uri, wait=1.0, patience=ENOUGH, tls=trusted) as (messages, send),
    ):
        thread = threading.Thread(target=lambda: [send(text) for text in sent])
        thread.start()
        heard = [next(messages) for _ in sent]
        thread.join()

    assert heard == sent


def test_every_handshake_over_tls_is_answered(certificate: tuple[str, str]) -> None:
    trusted = ssl.create_default_context(cafile=certificate[0])

    with host(echo, tls_context(*certificate)) as uri:
        for number in range(150):
            with dial_websocket(uri, wait=1.0, patience=ENOUGH, tls=trusted) as (messages, send):
                send(b"%d" % number)
                assert next(messages) == b"%d" % number
