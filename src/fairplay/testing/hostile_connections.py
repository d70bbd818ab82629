"""Misbehave at the far end of a connection: whatever a program can do, and what can be done to TCP and WebSocket."""

import json
import os
import socket
import struct
from contextlib import suppress
from typing import Any

from fairplay.testing.hostile_programs import (
    EVERY,
    FOUND_OUT,
    GOOD,
    TCP,
    WEBSOCKET,
    Deed,
    Do,
    FarEnd,
    Turn,
    Words,
    break_off,
    misbehave,
)

KEY = b"MDEyMzQ1Njc4OWFiY2RlZg=="
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: " + KEY + b"\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
END_OF_HEAD = b"\r\n\r\n"
WHOLE, TEXT, BINARY, CLOSE, PING = 0x80, 1, 2, 8, 9


class Connection(FarEnd):
    """A line over TCP."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection.fileno(), connection.fileno())
        self.connection = connection

    def half_close(self) -> None:
        """Say nothing any more."""
        self.connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Hang up."""
        self.connection.close()
        self.reading = self.writing = -1  # the number may be somebody else's from now on

    def reset(self) -> None:
        """Hang up as if the cable had been cut."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()


class WebSocket(Connection):
    """A line over WebSocket, written by hand so that it can be written wrongly."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self._shaken = False

    def read(self) -> Any:
        """The next text."""
        if not self._shaken:
            while END_OF_HEAD not in self.received:
                self._more()
            self.received = self.received.partition(END_OF_HEAD)[2]
            self._shaken = True
        while True:
            kind, size = self._take(1)[0] & 0xF, self._take(1)[0]
            if size > 125:
                size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
            data = self._take(size)
            if kind == TEXT:
                return json.loads(data)
            if kind == CLOSE:
                return None

    def framed(self, text: bytes) -> bytes:
        """A text frame."""
        return frame(WHOLE | TEXT, text)

    def endless(self) -> bytes:
        """The beginning of a frame that is larger than all disks."""
        return bytes([WHOLE | TEXT, 0xFF]) + (2**62).to_bytes(8, "big") + bytes(4)

    def _take(self, count: int) -> bytes:
        while len(self.received) < count:
            self._more()
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def _more(self) -> None:
        piece = os.read(self.reading, 65536)
        if not piece:
            raise ConnectionError("the other end hung up")
        self.received += piece


def frame(first: int, data: bytes, masked: int = 0x80) -> bytes:
    """A frame of WebSocket. The mask is of zeros only, which leaves the data as they are."""
    if len(data) < 126:
        size = bytes([masked | len(data)])
    elif len(data) < 2**16:
        size = bytes([masked | 126]) + len(data).to_bytes(2, "big")
    else:
        size = bytes([masked | 127]) + len(data).to_bytes(8, "big")
    return bytes([first]) + size + (bytes(4) if masked else b"") + data


def misbehave_at(host: str, port: int, distance: str, do: Do, at: str) -> None:
    """Connect, play well until it is time for the deed, and come back when the other end has hung up."""
    with socket.create_connection((host, port)) as connection, suppress(OSError):  # nobody is there any more
        line = Connection(connection) if distance == TCP else WebSocket(connection)
        if distance == WEBSOCKET:
            line.write(HANDSHAKE)
        misbehave(line, do, at)


def sending(first: int, data: bytes, masked: int = 0x80) -> Do:
    """The deed of sending a frame that is no good message."""

    def do(turn: Turn) -> None:
        turn.line.write(frame(first, turn.filled(data), masked))
        turn.line.lie_low()

    return do


def send_fragments(turn: Turn) -> None:
    """sends a message in pieces of nothing, for ever."""
    turn.line.write(frame(TEXT, b""))
    while True:
        turn.line.write(frame(0, b"") * 100)


def announce_a_frame(turn: Turn) -> None:
    """announces a frame of more bytes than there are in the world, and begins it."""
    turn.line.write(bytes([WHOLE | TEXT, 0xFF]) + (2**63 - 1).to_bytes(8, "big") + bytes(4) + b"x" * 100)
    turn.line.lie_low()


def send_pings(turn: Turn) -> None:
    """sends pings for ever, and does not read what comes back."""
    while True:
        turn.line.write(frame(WHOLE | PING, b"are you there?") * 100)


def send_in_fragments(turn: Turn) -> None:
    """sends a good answer in two frames, with a ping in between."""
    text = turn.filled(GOOD)
    turn.line.write(frame(TEXT, text[:5]) + frame(WHOLE | PING, b"") + frame(WHOLE, text[5:]))


FRAMED = (WEBSOCKET,)
KNOWN: dict[str, tuple[str, Words, Do]] = {
    "resets": ("crashed", (TCP, WEBSOCKET), lambda turn: turn.line.reset()),
    "breaks off in a line": ("malformed", (TCP,), break_off),
    "sends a binary frame": ("malformed", FRAMED, sending(WHOLE | BINARY, GOOD)),
    "sends a frame without a mask": ("malformed", FRAMED, sending(WHOLE | TEXT, GOOD, masked=0)),
    "sets reserved bits": ("malformed", FRAMED, sending(0xF0 | TEXT, GOOD)),
    "sends a frame of no kind": ("malformed", FRAMED, sending(WHOLE | 3, GOOD)),
    "sends half a ping": ("malformed", FRAMED, sending(PING, b"")),
    "sends a long ping": ("malformed", FRAMED, sending(WHOLE | PING, b"x" * 126)),
    "closes with a code of its own": ("malformed", FRAMED, sending(WHOLE | CLOSE, b"\x00\x00")),
    "closes": ("crashed", FRAMED, sending(WHOLE | CLOSE, b"\x03\xe8")),
    "sends fragments for ever": ("flood", FRAMED, send_fragments),
    "announces an endless frame": ("flood", FRAMED, announce_a_frame),
    "sends pings for ever": ("flood", FRAMED, send_pings),
    "sends fragments": ("", FRAMED, send_in_fragments),  # which is no fault
}
DEEDS: dict[str, Deed] = {
    name: Deed(name, name, fault, do, EVERY, distances, {message: FOUND_OUT[message] for message in EVERY if fault})
    for name, (fault, distances, do) in KNOWN.items()
}
