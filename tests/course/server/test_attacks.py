"""Test that a course's server survives floods of connections, bytes and names, and honest clients play on."""

import asyncio
import re
import socket
from collections.abc import Sequence
from contextlib import suppress

import pytest

from fairplay.course.harness.hostile import BAD_NAMES
from fairplay.course.server.lobby import MAX_REPORTED_REFUSALS
from fairplay.transport.pending import MAX_PENDING_CONNECTIONS
from tests.course.server.test_serving import LOOPBACK, NAMES, Come, good, played, ranked

ELSEWHERE = "127.0.0.2"  # an address that no honest client has
CROWD, AT_ONCE = 1000, 250  # connections
BLOCK = b'"more" ' * 10_000


def has_one_address() -> bool:
    """Is there only one loopback address on this machine?"""
    try:
        with socket.socket() as one:
            one.bind((ELSEWHERE, 0))
    except OSError:
        return True
    return False


async def crowd(port: int, says: bytes, *, stays: bool) -> None:
    """A thousand connections from one address, on which this is said."""
    writers = list[asyncio.StreamWriter]()
    try:
        for _ in range(CROWD // AT_ONCE):
            for _ in range(AT_ONCE):
                with suppress(ConnectionError):
                    _, writer = await asyncio.open_connection(LOOPBACK, port, local_addr=(ELSEWHERE, 0))
                    writers.append(writer)
                    writer.write(says)
            if not stays:
                leave(writers)
        await asyncio.get_running_loop().create_future()  # until it is called off
    finally:
        leave(writers)


def leave(writers: list[asyncio.StreamWriter]) -> None:
    for writer in writers:
        writer.transport.abort()
    writers.clear()


@pytest.mark.skipif(has_one_address(), reason="this machine has only one loopback address")
@pytest.mark.parametrize(
    ("says", "stays"),
    [(b"", True), (b'"x', True), (b"7", True), (b"", False), (b'"half a na', False)],
    ids=["silent", "half a name", "a number", "gone at once", "gone in the middle of a name"],
)
def test_a_thousand_foreign_connections_keep_no_client_out(says: bytes, stays: bool) -> None:
    async def attack(port: int) -> None:
        await crowd(port, says, stays=stays)

    async def later(port: int, name: str) -> None:
        """Come when the crowd is there."""
        for _ in range(50):
            await asyncio.sleep(0)
        await good("fish", name)(port)

    def honest(name: str) -> Come:
        return lambda port: later(port, name)

    served, result, told = played("fish", [attack, *(honest(name) for name in NAMES[:5])], most=5, turn=20.0)

    assert (result, sorted(ranked(served))) == ([1, 0], sorted(NAMES[:5]))
    assert len([line for line in told if "did not sign up" in line]) <= MAX_REPORTED_REFUSALS + 1
    assert MAX_PENDING_CONNECTIONS < CROWD


def flooding(name: str, sent: list[int]) -> Come:
    """A client that signs up and then says more and more, whatever it is asked."""

    async def flood(port: int) -> None:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
        try:
            writer.write(b'"%b"\n' % name.encode())
            with suppress(ConnectionError):
                while True:
                    writer.write(BLOCK)
                    await writer.drain()
                    sent[0] += len(BLOCK)
        finally:
            writer.transport.abort()

    return flood


@pytest.mark.parametrize("game", ["fish", "q"])
def test_who_floods_from_the_start_is_not_even_read_and_is_out_at_its_first_call(game: str) -> None:
    sent = [0]
    honest = [good(game, name) for name in NAMES[: 5 if game == "fish" else 2]]

    async def last(port: int) -> None:
        await asyncio.sleep(0.3)  # in which a flood could have been read
        await good(game, "last")(port)

    served, _, told = played(game, [flooding("flood", sent), *honest, last], turn=20.0)

    assert served.out == ["flood"]
    assert "last" in ranked(served)
    assert sent[0] < 20_000_000  # what the buffers of the kernel and of the sender hold
    assert any("sent something before it was called" in line for line in told)


def test_a_name_of_any_kind_is_told_to_the_host_on_one_line_that_can_be_printed() -> None:
    async def say(port: int, text: bytes) -> None:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(text)
        with suppress(ConnectionError):
            await reader.read()
        writer.close()

    def saying(text: bytes) -> Come:
        return lambda port: say(port, text)

    strange = [
        *BAD_NAMES.values(),
        b'"\x1b]0;title\x07"',
        '"\u202eevil"'.encode(),
        b'"a\\u0000b"',
        b'{"a":1}',
        b'"a" ' * 500,
    ]
    coming: Sequence[Come] = [*(saying(text) for text in strange), *(good("fish", name) for name in NAMES[:5])]

    served, result, told = played("fish", coming, most=6, turn=20.0)

    refused = [line for line in told if "did not sign up" in line]
    assert all(line.isprintable() and len(line) < 200 for line in told)
    assert len(refused) == len(strange) - 1 <= MAX_REPORTED_REFUSALS
    assert set(NAMES[:5]) <= set(ranked(served))
    assert served.out == ["a"]  # whose name was followed by more of it
    assert result[1] == 1
    assert not any(re.search(r"[\x00-\x1f\u202e]", line) for line in told)
