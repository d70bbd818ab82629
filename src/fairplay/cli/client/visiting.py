"""Visit a server without playing there: answer its hello, and hear what it says."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import click

from fairplay.cli.options.match_options import refuse_unreadable
from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest
from fairplay.players.session import introduce
from fairplay.protocol import wire
from fairplay.protocol.player_side import Misunderstood, PlayerSide, read_message
from fairplay.render.text import printable
from fairplay.transport.dialler import dial
from fairplay.transport.event_loop import new_event_loop
from fairplay.transport.line import Closed, Line, TooMuch, received

ANSWER_TIMEOUT_S = 10.0  # for a server to say something that was asked for
MAX_REASON_CHARS = 600

Verb = TypeVar("Verb", bound=Callable[..., Any])

HOST_HELP = (
    "HOST:PORT is the door of a house, where players come in; with tls://, ws:// or wss:// before it, if it is such."
)


def visitor_options(verb: Verb) -> Verb:
    """The options of those who go to a house."""
    options = (
        click.option("--wait", type=Seconds(), default=5.0, show_default=True, help="Seconds to try to come there."),
        click.option("--ca", metavar="FILE", type=click.Path(dir_okay=False), help="Certificates to trust, with TLS."),
    )
    for option in options:
        verb = option(verb)
    return verb


@contextmanager
def visiting(
    host: str,
    purpose: Literal["watch", "status"],
    room: str = "",
    *,
    wait: float,
    ca: str | None,
    patience: float = ANSWER_TIMEOUT_S,
) -> Iterator[Iterator[bytes]]:
    """What a server says to a visitor; each line has to be there within the time of patience.

    Raises BadRequest if there is no server, or if it hangs up or falls silent meanwhile.
    """
    refuse_unreadable((host, room, ca or ""))
    if len(room) > wire.LONGEST_TOKEN:
        raise BadRequest(f"there is no room {printable(room, MAX_REASON_CHARS)!r}")
    side = PlayerSide(purpose=purpose, room=room)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        line = runner.run(dial(host, wait=wait, ca=ca))
        try:
            runner.run(sign_in(host, line, side))
            yield lines_from(host, line, runner, patience)
        finally:
            runner.run(line.hang_up(b"", 0.0))


async def sign_in(host: str, line: Line, side: PlayerSide) -> None:
    """Answer the hello of a server."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            await introduce(line, side)
    except Closed as closed:
        if closed.detail:
            raise lost(host, closed.detail) from None
        raise no_server(host) from None
    except (BadRequest, TooMuch):
        raise no_server(host) from None
    except TimeoutError:
        raise lost(host, f"no message came for {ANSWER_TIMEOUT_S:g} s") from None


def lines_from(host: str, line: Line, runner: asyncio.Runner, patience: float) -> Iterator[bytes]:
    """The lines of a server, until it hangs up. Raises BadRequest if one says no more than that we have to go."""
    while (text := runner.run(next_line(host, line, patience))) is not None:
        try:
            message = read_message(text)
        except Misunderstood:
            message = None  # it is not for players
        if isinstance(message, wire.Goodbye | wire.Suspended):
            raise BadRequest(f"{host}: {printable(message.why, MAX_REASON_CHARS)}")
        yield text


async def next_line(host: str, line: Line, patience: float) -> bytes | None:
    """The next line; None: the server has hung up."""
    try:
        async with asyncio.timeout(patience):
            return await received(line)
    except TimeoutError:
        raise lost(host, f"no message came for {patience:g} s") from None
    except TooMuch:
        raise lost(host, "a line of it is too long") from None
    except Closed as closed:
        if closed.detail:
            raise lost(host, closed.detail) from None
        return None


def no_server(host: str) -> BadRequest:
    """What is said of another end that is none."""
    return BadRequest(f"{host} is no house: what was said there is no hello of one")


def lost(host: str, why: str) -> BadRequest:
    """What is said of a connection that was lost."""
    return BadRequest(f"the line to {host} was lost: {printable(why, MAX_REASON_CHARS)}")
