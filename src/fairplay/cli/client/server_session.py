"""Visit a server without playing there: answer its hello, and hear what it says."""

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

ANSWER_TIMEOUT_S = 10.0  # for a server to say something that was asked for
MAX_REASON_CHARS = 600

Command = TypeVar("Command", bound=Callable[..., Any])

HOST_HELP = "HOST:PORT is the listener of a server, where players come in; with tls://, ws:// or wss:// before it, if it is such."


def session_options(verb: Command) -> Command:
    """The options of those who go to a server."""
    options = (
        click.option("--wait", type=Seconds(), default=5.0, show_default=True, help="Seconds to try to come there."),
        click.option("--ca", metavar="FILE", type=click.Path(dir_okay=False), help="Certificates to trust, with TLS."),
    )
    for option in options:
        verb = option(verb)
    return verb


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
    """What a server says to a client; each line has to be there within the time of patience.

    Raises BadRequest if there is no server, or if it hangs up or falls silent meanwhile.
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
    """The lines of a server, until it hangs up. Raises BadRequest if one says no more than that we have to go."""
    while (text := runner.run(receive_line(host, line, idle_timeout))) is not None:
        try:
            message = read_message(text)
        except ProtocolError:
            message = None  # it is not for players
        if isinstance(message, wire.Goodbye | wire.Suspended):
            raise BadRequest(f"{host}: {printable(message.why, MAX_REASON_CHARS)}")
        yield text


async def receive_line(host: str, line: Connection, idle_timeout: float) -> bytes | None:
    """The next line; None: the server has hung up."""
    try:
        async with asyncio.timeout(idle_timeout):
            return await receive(line)
    except TimeoutError:
        raise connection_lost(host, f"no message came for {idle_timeout:g} s") from None
    except TooMuchData:
        raise connection_lost(host, "a line of it is too long") from None
    except ConnectionClosed as closed:
        if closed.detail:
            raise connection_lost(host, closed.detail) from None
        return None


def not_a_server(host: str) -> BadRequest:
    """What is said of another end that is none."""
    return BadRequest(f"{host} is no server: what was said there is no hello of one")


def connection_lost(host: str, why: str) -> BadRequest:
    """What is said of a connection that was lost."""
    return BadRequest(f"the line to {host} was lost: {printable(why, MAX_REASON_CHARS)}")
