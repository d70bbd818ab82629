"""Connect to a server without playing: answer its hello, and read its messages."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import click

from fairplay.cli.options.match_options import refuse_unreadable
from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest
from fairplay.players.session import answer_hello
from fairplay.protocol import wire
from fairplay.protocol.player_side import PlayerSide, ProtocolError, read_message
from fairplay.render.text import printable
from fairplay.transport.connection import Connection, ConnectionClosed, TooMuchData, receive
from fairplay.transport.connector import connect
from fairplay.transport.event_loop import new_event_loop

ANSWER_TIMEOUT_S = 10.0
MAX_REASON_CHARS = 600

Command = TypeVar("Command", bound=Callable[..., Any])

HOST_HELP = "HOST:PORT is the address of a server's listener, with tls://, ws:// or wss:// before it if it has one."


def session_options(command: Command) -> Command:
    """Add the options of commands that connect to a server."""
    options = (
        click.option(
            "--wait", type=Seconds(), default=5.0, show_default=True, help="Try to connect for so many seconds."
        ),
        click.option(
            "--ca",
            metavar="FILE",
            type=click.Path(dir_okay=False),
            help="Trust the certificates in FILE for TLS.  [default: those of this machine]",
        ),
    )
    for option in options:
        command = option(command)
    return command


@contextmanager
def open_session(
    host: str,
    purpose: Literal["watch", "status"],
    room: str = "",
    *,
    wait: float,
    ca: str | None,
    idle_timeout: float = ANSWER_TIMEOUT_S,
) -> Iterator[Iterator[bytes]]:
    """Yield the lines of a server, each of which must come within the idle timeout.

    Raises BadRequest if there is no server, or if it closes the connection or stays silent.
    """
    refuse_unreadable((host, room, ca or ""))
    if len(room) > wire.MAX_TOKEN_CHARS:
        raise BadRequest(f"there is no room {printable(room, MAX_REASON_CHARS)!r}")
    side = PlayerSide(purpose=purpose, room=room)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        line = runner.run(connect(host, wait=wait, ca=ca))
        try:
            runner.run(sign_in(host, line, side))
            yield read_lines(host, line, runner, idle_timeout)
        finally:
            runner.run(line.close(b"", 0.0))


async def sign_in(host: str, line: Connection, side: PlayerSide) -> None:
    """Answer the hello of a server."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            await answer_hello(line, side)
    except ConnectionClosed as closed:
        if closed.detail:
            raise connection_lost(host, closed.detail) from None
        raise not_a_server(host) from None
    except (BadRequest, TooMuchData):
        raise not_a_server(host) from None
    except TimeoutError:
        raise connection_lost(host, f"no message came for {ANSWER_TIMEOUT_S:g} s") from None


def read_lines(host: str, line: Connection, runner: asyncio.Runner, idle_timeout: float) -> Iterator[bytes]:
    """The lines of a server, until it closes the connection. Raises BadRequest if it refuses us."""
    while (text := runner.run(receive_line(host, line, idle_timeout))) is not None:
        try:
            message = read_message(text)
        except ProtocolError:
            message = None  # a message for spectators
        if isinstance(message, wire.Goodbye | wire.Suspended):
            raise BadRequest(f"{host}: {printable(message.why, MAX_REASON_CHARS)}")
        yield text


async def receive_line(host: str, line: Connection, idle_timeout: float) -> bytes | None:
    """The next line; None: the server closed the connection."""
    try:
        async with asyncio.timeout(idle_timeout):
            return await receive(line)
    except TimeoutError:
        raise connection_lost(host, f"no message came for {idle_timeout:g} s") from None
    except TooMuchData:
        raise connection_lost(host, "it sent a line that is too long") from None
    except ConnectionClosed as closed:
        if closed.detail:
            raise connection_lost(host, closed.detail) from None
        return None


def not_a_server(host: str) -> BadRequest:
    """The error about a host that is not a fairplay server."""
    return BadRequest(f"{host} is not a fairplay server: unexpected greeting")


def connection_lost(host: str, why: str) -> BadRequest:
    """The error about a lost connection."""
    return BadRequest(f"the connection to {host} was lost: {printable(why, MAX_REASON_CHARS)}")
