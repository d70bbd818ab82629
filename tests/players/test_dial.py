"""Speak to a host over a connection that somebody else has closed."""

import socket

import pytest

from fairplay.players.dial import Lost, lines_from, sender


def test_what_is_said_on_a_line_that_was_closed_meanwhile_is_said_to_nobody() -> None:
    ours, theirs = socket.socketpair()
    send = sender(ours, patience=5.0)
    ours.close()  # as who reads in another thread does when the host has hung up

    send(b"too late\n")

    with theirs:
        assert theirs.recv(100) == b""
    with pytest.raises(Lost):
        next(lines_from(ours, patience=5.0))
