"""Send a player of this machine to the server of a course: a house player, a program, whatever has an address."""

import secrets
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.core.messages import Failed, Message
from fairplay.core.roles import AsyncChannel
from fairplay.course.channel.call_log import CallLog
from fairplay.course.channel.client import PlayerFailed, Seat, check_name, join_course, name_for
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import Dialect
from fairplay.games import title
from fairplay.hosting.table import OPEN, Here
from fairplay.hosting.terms import terms_for
from fairplay.players.address import open_player
from fairplay.players.location import HUMAN, Command, Near, far
from fairplay.players.process import Program
from fairplay.players.remote import Remote
from fairplay.protocol.limits import Limits
from fairplay.referee.closing import surely
from fairplay.referee.local import Local
from fairplay.sandbox.level import Sandbox
from fairplay.transport.dialler import connected_socket
from fairplay.transport.places import host_and_port

MATCHES_AHEAD = 2  # of a tournament for which programs are started: a match may be shorter than the start of one
OTHERS = "./file.py, exec:COMMAND and py:module:Name"


async def visit_course(
    course: str,
    place: str,
    address: str,
    *,
    name: str | None,
    wait: float,
    patience: float,
    sandbox: str | None,
    connected: Callable[[], None],
    hear: Callable[[Message], None],
    tell: Callable[[str], None],
    verbose: bool = False,
) -> bool:
    """Let the player at an address play at the server at a place; did it hear the end?

    Whatever makes no sense is said before anybody is called; and a program is started, and has said hello, before it
    signs up, as a server may allow a call less time than that takes. With `verbose`, all calls are told. Raises what
    `join_course` raises.
    """
    dialect = DIALECTS.get(course)
    if dialect is None:
        raise BadRequest(f"there is no course {course!r}; there is {', '.join(DIALECTS)}")
    if name is not None:
        check_name(dialect, name)
    where, location = host_and_port(place), location_of(address, dialect)
    limits = Limits(move=patience, start_up=patience)  # the server has its own, which are shorter
    terms = terms_for((address,), limits, sandbox)

    async def sit_down(game: Game[Any, Any, Any]) -> AsyncChannel:
        if isinstance(location, Near):
            return Here(Local(location.player, game, time.monotonic))
        return await started(location, game, limits, terms.sandbox or OPEN)

    sign = name_for(dialect, address) if name is None else name
    ahead = 0 if isinstance(location, Near) else 1 if dialect.closing is None else MATCHES_AHEAD
    seat = Seat(dialect.caller(sign), sit_down, hear, tell=tell, ahead=ahead)
    log = CallLog(tell) if verbose else None
    try:
        await seat.prepare()
        connection = await connected_socket(*where, wait)
        connected()
        return await join_course(dialect, connection, seat, name=sign, patience=patience, log=log)
    finally:
        await surely(seat.leave())


async def started(command: Command, game: Game[Any, Any, Any], limits: Limits, sandbox: Sandbox) -> Remote:
    """A channel to a program that has said hello. Raises PlayerFailed."""
    remote = Remote(await Program.start(command.words, sandbox=sandbox), game, limits=limits)
    async with AsyncExitStack() as undo:
        undo.push_async_callback(lambda: surely(remote.close(None)))
        answer = await remote.hello()
        if isinstance(answer, Failed):
            raise PlayerFailed(answer)
        undo.pop_all()
    return remote


def location_of(address: str, dialect: Dialect) -> Near | Command:
    """Where the player is: in this process, or in a program."""
    if address == HUMAN:
        raise BadRequest(f"a person cannot play on a course's server, only a house player, {OTHERS}")
    found = far(address)
    if found is None:
        return Near(open_player(address, title(dialect.game), secrets.token_bytes(SEED_BYTES), OTHERS))
    if not isinstance(found, Command):
        raise BadRequest(f"{address!r} is no player of this machine, so it cannot join")
    return found
