"""Go to a door over TCP, with TLS or without: connect, and read and write lines as a player does."""

import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from random import uniform
from typing import Protocol, Self, TypeVar

from fairplay.core.errors import BadRequest
from fairplay.transport.places import reason, written_place

MOST_LINE = 1024 * 1024  # bytes of a line from a host
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0  # seconds between two tries to connect
SHORTEST = 0.001  # seconds: what is left of a limit that has run out
# Seconds after which a host that says nothing is asked whether it is there, and between two more of such questions.
ALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}

T = TypeVar("T")
Patience = float | Callable[[], float]  # seconds, or what says how many they are now


class Lost(Exception):
    """The line to a host was lost, and how."""


class Connection(Protocol):
    """What we need of a connection: a socket has it."""

    def settimeout(self, seconds: float) -> None:
        """Wait so long in what is called next."""

    def recv(self, most: int) -> bytes:
        """What has come; nothing, if the other end has hung up."""

    def sendall(self, data: bytes) -> None:
        """Put it on its way."""


class Secured:
    """A connection over TLS that one thread may listen to while another speaks, as the library alone does not allow."""

    def __init__(self, connection: ssl.SSLSocket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._lock = threading.Lock()
        self._timeout = 0.0

    def settimeout(self, seconds: float) -> None:
        self._timeout = seconds

    def recv(self, most: int) -> bytes:
        return self._through(lambda: self._connection.recv(most))

    def sendall(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._through(lambda left=left: self._connection.send(left)) :]  # type: ignore[misc]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _through(self, work: Callable[[], T]) -> T:
        """Do it as soon as it can be done."""
        until, fd = time.monotonic() + self._timeout, self._connection.fileno()
        while True:
            with self._lock:
                try:
                    return work()
                except ssl.SSLWantReadError:
                    reads, writes = [fd], []
                except ssl.SSLWantWriteError:
                    reads, writes = [], [fd]
            if not any(select.select(reads, writes, [], max(0.0, until - time.monotonic()))):
                raise TimeoutError("timed out")


def trusting(ca: str | None) -> ssl.SSLContext:
    """What checks who a host is: by the certificates in a file, or by those that this machine trusts."""
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise BadRequest(f"{ca} has no certificates: {reason(error)}") from None


def secured(connection: socket.socket, host: str, tls: ssl.SSLContext) -> Secured:
    """A connection to this host over TLS. What is wrong with a certificate will not be better later."""
    try:
        return Secured(tls.wrap_socket(connection, server_hostname=host))
    except ssl.SSLCertVerificationError as error:
        raise BadRequest(f"{host} does not prove who it is: {error.verify_message}") from None


def dial(host: str, port: int, *, wait: float) -> socket.socket:
    """A connection to a host that may not be there yet: it is tried again for so many seconds."""
    until, pause = time.monotonic() + wait, FIRST_PAUSE
    while True:
        left = until - time.monotonic()
        try:
            with ExitStack() as undo:
                made = undo.enter_context(socket.create_connection((host, port), timeout=max(FIRST_PAUSE, left)))
                if made.getsockname() != made.getpeername():  # which fails if they have hung up by now
                    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
                    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, True)
                    for name, seconds in ALIVE.items():
                        if hasattr(socket, name):
                            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)
                    undo.pop_all()
                    return made
            why = "nobody listens there"  # and TCP has connected us with ourselves
        except (socket.gaierror, UnicodeError) as error:
            raise BadRequest(f"cannot find {host}: {reason(error)}") from None
        except OSError as error:
            why = reason(error)
        if left <= pause:
            raise BadRequest(f"cannot connect to {written_place(host, port)}: {why}") from None
        time.sleep(pause * uniform(0.5, 1.0))  # not all at the same time
        pause = min(2 * pause, LONGEST_PAUSE)


def seconds_of(patience: Patience) -> float:
    """How long it lasts now."""
    return patience() if callable(patience) else patience


def lines_from(connection: Connection, *, patience: Patience) -> Iterator[bytes]:
    """The lines that come from a host, until it hangs up; each has to be whole within so many seconds."""
    received = bytearray()
    while True:
        allowed, searched = seconds_of(patience), 0
        until = time.monotonic() + allowed
        while (end := received.find(b"\n", searched)) < 0:
            searched = len(received)
            if searched > MOST_LINE:
                raise Lost(f"a line of more than {MOST_LINE} bytes came")
            try:
                connection.settimeout(max(SHORTEST, until - time.monotonic()))
                piece = connection.recv(65536)
            except TimeoutError:
                raise Lost(f"no message came for {allowed:g} s") from None
            except OSError as error:
                raise Lost(reason(error)) from None
            if not piece:
                return
            received += piece
        line = bytes(received[:end])
        del received[: end + 1]
        yield line


def sender(connection: Connection, *, patience: float) -> Callable[[bytes], None]:
    """What sends a line to a host, within so many seconds. If it has hung up, what it said last is still to be read."""

    def send(line: bytes) -> None:
        try:
            connection.settimeout(patience)  # who reads in another thread may have closed it
            connection.sendall(line)
        except TimeoutError:
            raise Lost(f"the host did not listen for {patience:g} s") from None
        except OSError:
            pass

    return send
