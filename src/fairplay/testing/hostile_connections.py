"""Misbehave as a player at the other end of a TCP or WebSocket connection."""

import json
import os
import socket
import struct
from contextlib import suppress
from typing import Any

from fairplay.testing.hostile_programs import (
    ALL_MESSAGES,
    EJECTION_MOMENTS,
    GOOD_REPLY,
    TCP,
    WEBSOCKET,
    Behaviour,
    Misbehaviour,
    Question,
    RawConnection,
    Words,
    exit_mid_answer,
    play_then_misbehave,
)

WEBSOCKET_KEY = b"MDEyMzQ1Njc4OWFiY2RlZg=="
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: " + WEBSOCKET_KEY + b"\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
HEADERS_END = b"\r\n\r\n"
FIN_BIT, OP_TEXT, OP_BINARY, OP_CLOSE, OP_PING = 0x80, 1, 2, 8, 9


class RawTcpConnection(RawConnection):
    """A connection over TCP."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection.fileno(), connection.fileno())
        self.connection = connection

    def half_close(self) -> None:
        """Close the sending side."""
        self.connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()
        self.reading = self.writing = -1  # another file may get the same number

    def reset(self) -> None:
        """Reset the connection, as if the cable had been cut."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()


class RawWebSocket(RawTcpConnection):
    """A connection over WebSocket, by hand so that it can break the rules."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self._is_open = False

    def read(self) -> Any:
        """The next text."""
        if not self._is_open:
            while HEADERS_END not in self.received:
                self._receive()
            self.received = self.received.partition(HEADERS_END)[2]
            self._is_open = True
        while True:
            kind, size = self._read_exactly(1)[0] & 0xF, self._read_exactly(1)[0]
            if size > 125:
                size = int.from_bytes(self._read_exactly(2 if size == 126 else 8), "big")
            data = self._read_exactly(size)
            if kind == OP_TEXT:
                return json.loads(data)
            if kind == OP_CLOSE:
                return None

    def frame(self, text: bytes) -> bytes:
        """A text frame."""
        return encode_frame(FIN_BIT | OP_TEXT, text)

    def endless_message(self) -> bytes:
        """The beginning of an enormous frame."""
        return bytes([FIN_BIT | OP_TEXT, 0xFF]) + (2**62).to_bytes(8, "big") + bytes(4)

    def _read_exactly(self, count: int) -> bytes:
        while len(self.received) < count:
            self._receive()
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def _receive(self) -> None:
        piece = os.read(self.reading, 65536)
        if not piece:
            raise ConnectionError("the other end hung up")
        self.received += piece


def encode_frame(first: int, data: bytes, masked: int = 0x80) -> bytes:
    """A frame of WebSocket. The mask is of zeros only, which leaves the data as they are."""
    if len(data) < 126:
        size = bytes([masked | len(data)])
    elif len(data) < 2**16:
        size = bytes([masked | 126]) + len(data).to_bytes(2, "big")
    else:
        size = bytes([masked | 127]) + len(data).to_bytes(8, "big")
    return bytes([first]) + size + (bytes(4) if masked else b"") + data


def misbehave_at(host: str, port: int, distance: str, behaviour: Behaviour, at: str) -> None:
    """Connect, play well until the message `at`, misbehave, and return when the other end has closed the connection."""
    with socket.create_connection((host, port)) as connection, suppress(OSError):  # the other end is closed
        raw = RawTcpConnection(connection) if distance == TCP else RawWebSocket(connection)
        if distance == WEBSOCKET:
            raw.write(HANDSHAKE)
        play_then_misbehave(raw, behaviour, at)


def send_frame(first: int, data: bytes, masked: int = 0x80) -> Behaviour:
    """A behaviour that sends a frame that is no good message."""

    def behaviour(turn: Question) -> None:
        turn.connection.write(encode_frame(first, turn.fill(data), masked))
        turn.connection.wait_for_close()

    return behaviour


def send_fragments(turn: Question) -> None:
    """sends a message in pieces of nothing, for ever."""
    turn.connection.write(encode_frame(OP_TEXT, b""))
    while True:
        turn.connection.write(encode_frame(0, b"") * 100)


def announce_endless_frame(turn: Question) -> None:
    """announces a frame of more bytes than there are in the world, and begins it."""
    turn.connection.write(bytes([FIN_BIT | OP_TEXT, 0xFF]) + (2**63 - 1).to_bytes(8, "big") + bytes(4) + b"x" * 100)
    turn.connection.wait_for_close()


def send_pings(turn: Question) -> None:
    """sends pings for ever, and does not read what comes back."""
    while True:
        turn.connection.write(encode_frame(FIN_BIT | OP_PING, b"are you there?") * 100)


def send_in_fragments(turn: Question) -> None:
    """sends a good answer in two frames, with a ping in between."""
    text = turn.fill(GOOD_REPLY)
    turn.connection.write(
        encode_frame(OP_TEXT, text[:5]) + encode_frame(FIN_BIT | OP_PING, b"") + encode_frame(FIN_BIT, text[5:])
    )


WEBSOCKET_ONLY = (WEBSOCKET,)
CONNECTION_MISBEHAVIOURS: dict[str, tuple[str, Words, Behaviour]] = {
    "resets": ("crashed", (TCP, WEBSOCKET), lambda turn: turn.connection.reset()),
    "breaks off in a line": ("malformed", (TCP,), exit_mid_answer),
    "sends a binary frame": ("malformed", WEBSOCKET_ONLY, send_frame(FIN_BIT | OP_BINARY, GOOD_REPLY)),
    "sends a frame without a mask": ("malformed", WEBSOCKET_ONLY, send_frame(FIN_BIT | OP_TEXT, GOOD_REPLY, masked=0)),
    "sets reserved bits": ("malformed", WEBSOCKET_ONLY, send_frame(0xF0 | OP_TEXT, GOOD_REPLY)),
    "sends a frame of no kind": ("malformed", WEBSOCKET_ONLY, send_frame(FIN_BIT | 3, GOOD_REPLY)),
    "sends half a ping": ("malformed", WEBSOCKET_ONLY, send_frame(OP_PING, b"")),
    "sends a long ping": ("malformed", WEBSOCKET_ONLY, send_frame(FIN_BIT | OP_PING, b"x" * 126)),
    "closes with a code of its own": ("malformed", WEBSOCKET_ONLY, send_frame(FIN_BIT | OP_CLOSE, b"\x00\x00")),
    "closes": ("crashed", WEBSOCKET_ONLY, send_frame(FIN_BIT | OP_CLOSE, b"\x03\xe8")),
    "sends fragments for ever": ("flood", WEBSOCKET_ONLY, send_fragments),
    "announces an endless frame": ("flood", WEBSOCKET_ONLY, announce_endless_frame),
    "sends pings for ever": ("flood", WEBSOCKET_ONLY, send_pings),
    "sends fragments": ("", WEBSOCKET_ONLY, send_in_fragments),  # which is no fault
}
MISBEHAVIOURS: dict[str, Misbehaviour] = {
    name: Misbehaviour(
        name,
        name,
        fault,
        behaviour,
        ALL_MESSAGES,
        distances,
        {message: EJECTION_MOMENTS[message] for message in ALL_MESSAGES if fault},
    )
    for name, (fault, distances, behaviour) in CONNECTION_MISBEHAVIOURS.items()
}
