"""Visit a house without playing there: answer its hello, and hear what it says."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import click

from fairplay.cli.options.match_options import refuse_unreadable
from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest
from fairplay.protocol import wire
from fairplay.protocol.player_side import Misunderstood, read_message, reply_to
from fairplay.render.text import printable
from fairplay.transport.dial import Lost
from fairplay.transport.host_line import line_to

ANSWER = 10.0  # seconds for a house to say something that was asked for
LONGEST = 600  # characters of a reason

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
    visit: Literal["watch", "status"],
    room: str = "",
    *,
    wait: float,
    ca: str | None,
    patience: float = ANSWER,
) -> Iterator[Iterator[bytes]]:
    """What a house says to somebody who comes for this; each line has to be there within the time of patience.

    Raises BadRequest if there is no house, or if it hangs up or falls silent meanwhile.
    """
    refuse_unreadable((host, room, ca or ""))
    if len(room) > wire.LONGEST_TOKEN:
        raise BadRequest(f"there is no room {printable(room, LONGEST)!r}")
    now = ANSWER
    try:
        with line_to(host, wait=wait, patience=lambda: now, ca=ca) as (lines, send):
            hello = said(next(lines, b""))
            if not isinstance(hello, wire.Hello) or hello.game:
                raise BadRequest(f"{host} is no house: what was said there is no hello of one")
            answer = wire.Introduction(visit=visit, room=room)
            send(reply_to(hello.nonce, answer))
            now = patience
            yield (heard(host, line) for line in lines)
    except Lost as lost:
        raise BadRequest(f"the line to {host} was lost: {printable(str(lost), LONGEST)}") from None


def heard(host: str, line: bytes) -> bytes:
    """A line of a house. Raises BadRequest if it says no more than that we have to go."""
    message = said(line)
    if isinstance(message, wire.Goodbye | wire.Suspended):
        raise BadRequest(f"{host}: {printable(message.why, LONGEST)}")
    return line


def said(line: bytes) -> wire.WireMessage | None:
    """What is said to players on a line; None: it is something else."""
    try:
        return read_message(line)
    except Misunderstood:
        return None
