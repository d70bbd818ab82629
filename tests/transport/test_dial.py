"""Speak to a host over a connection that somebody else has closed."""

import socket

import pytest

from fairplay.core.errors import BadRequest
from fairplay.transport.dial import Lost, dial, lines_from, sender


def test_what_is_said_on_a_line_that_was_closed_meanwhile_is_said_to_nobody() -> None:
    ours, theirs = socket.socketpair()
    send = sender(ours, patience=5.0)
    ours.close()  # as who reads in another thread does when the host has hung up

    send(b"too late\n")

    with theirs:
        assert theirs.recv(100) == b""
    with pytest.raises(Lost):
        next(lines_from(ours, patience=5.0))


def test_a_connection_that_is_lost_as_soon_as_it_is_made_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    made = socket.socket()  # which has no other end, as one that was reset
    monkeypatch.setattr(socket, "create_connection", lambda *place, timeout: made)

    with pytest.raises(BadRequest, match="cannot connect to"):
        dial("127.0.0.1", 1, wait=0.0)

    assert made.fileno() == -1
