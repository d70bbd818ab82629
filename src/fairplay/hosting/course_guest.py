"""Send a player of this machine to the server of a course: a house player, a program, whatever has an address."""

import asyncio
import secrets
import time
from collections.abc import Callable
from typing import Any

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.core.messages import Message
from fairplay.core.roles import AsyncChannel
from fairplay.course.dialect import Dialect
from fairplay.course.dialects import DIALECTS
from fairplay.games import title
from fairplay.hosting.table import OPEN, Table
from fairplay.hosting.terms import terms_for
from fairplay.players.address import open_player
from fairplay.players.course_client import check_name, join_course, name_for
from fairplay.players.dial import dial
from fairplay.players.limits import Limits
from fairplay.players.location import HUMAN, Command, Near, far
from fairplay.players.places import host_and_port

OTHERS = "./file.py, exec:COMMAND and py:module:Name"


def visit_course(
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
) -> bool:
    """Let the player at an address play at the server at a place; did it hear the end?

    Whatever makes no sense is said before anybody is called. Raises what `join_course` raises.
    """
    dialect = DIALECTS.get(course)
    if dialect is None:
        raise BadRequest(f"there is no course {course!r}; there is {', '.join(DIALECTS)}")
    if name is not None:
        check_name(dialect, name)
    where, location = host_and_port(place), location_of(address, dialect)
    limits = Limits(move=patience, start_up=patience)  # the server has its own, which are shorter
    terms = terms_for((address,), limits, sandbox)
    with Table({0: location}, limits=limits, sandbox=terms.sandbox or OPEN) as table:

        async def sit_down(game: Game[Any, Any, Any]) -> AsyncChannel:
            return (await table.seated(game, clock=time.monotonic)).channels[0]

        connection = dial(*where, wait=wait)
        connected()
        sign = name_for(dialect, address) if name is None else name
        return asyncio.run(join_course(dialect, connection, sit_down, name=sign, patience=patience, hear=hear))


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
