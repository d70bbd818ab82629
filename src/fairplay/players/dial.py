"""Go to a door over TCP: connect, and read and write lines as a player does."""

import socket
import time
from collections.abc import Callable, Iterator
from random import uniform

from fairplay.core.errors import BadRequest
from fairplay.players.places import reason, written_place

MOST_LINE = 1024 * 1024  # bytes of a line from a host
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0  # seconds between two tries to connect
SHORTEST = 0.001  # seconds: what is left of a limit that has run out


class Lost(Exception):
    """The line to a host was lost, and how."""


def dial(host: str, port: int, *, wait: float) -> socket.socket:
    """A connection to a host that may not be there yet: it is tried again for so many seconds."""
    until, pause = time.monotonic() + wait, FIRST_PAUSE
    while True:
        left = until - time.monotonic()
        try:
            connection = socket.create_connection((host, port), timeout=max(FIRST_PAUSE, left))
            if connection.getsockname() != connection.getpeername():
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
                return connection
            connection.close()  # where nobody listens, TCP may connect us with ourselves
            why = "nobody listens there"
        except (socket.gaierror, UnicodeError) as error:
            raise BadRequest(f"cannot find {host}: {reason(error)}") from None
        except OSError as error:
            why = reason(error)
        if left <= pause:
            raise BadRequest(f"cannot connect to {written_place(host, port)}: {why}") from None
        time.sleep(pause * uniform(0.5, 1.0))  # not all at the same time
        pause = min(2 * pause, LONGEST_PAUSE)


def lines_from(connection: socket.socket, *, patience: float) -> Iterator[bytes]:
    """The lines that come from a host, until it hangs up; each has to be whole within so many seconds."""
    received = bytearray()
    while True:
        until, searched = time.monotonic() + patience, 0
        while (end := received.find(b"\n", searched)) < 0:
            searched = len(received)
            if searched > MOST_LINE:
                raise Lost(f"a line of more than {MOST_LINE} bytes came")
            try:
                connection.settimeout(max(SHORTEST, until - time.monotonic()))
                piece = connection.recv(65536)
            except TimeoutError:
                raise Lost(f"no message came for {patience:g} s") from None
            except OSError as error:
                raise Lost(reason(error)) from None
            if not piece:
                return
            received += piece
        line = bytes(received[:end])
        del received[: end + 1]
        yield line


def sender(connection: socket.socket, *, patience: float) -> Callable[[bytes], None]:
    """What sends a line to a host, within so many seconds. If it has hung up, what it said last is still to be read."""

    def send(line: bytes) -> None:
        connection.settimeout(patience)
        try:
            connection.sendall(line)
        except TimeoutError:
            raise Lost(f"the host did not listen for {patience:g} s") from None
        except OSError:
            pass

    return send
