"""Connect a player of this machine to the server of a course."""

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
from fairplay.course.channel.client import CourseSeat, PlayerFailed, check_name, default_name, join_course
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import Dialect
from fairplay.games import game_info
from fairplay.hosting.conditions import match_conditions
from fairplay.hosting.table import NO_SANDBOX, AsyncLocalChannel
from fairplay.players.address import open_player
from fairplay.players.location import HUMAN, Command, LocalAddress, parse_remote_address
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.referee.local_channel import LocalChannel
from fairplay.sandbox.policy import SandboxPolicy
from fairplay.transport.connector import connect_socket
from fairplay.transport.endpoint import parse_endpoint

MATCHES_AHEAD = 2  # of a tournament, for which programs are started early: a match may be shorter than a start
COURSE_PLAYER_ADDRESSES = "./file.py, exec:COMMAND and py:module:Name"


async def join_with_player(
    course: str,
    place: str,
    address: str,
    *,
    name: str | None,
    wait: float,
    idle_timeout: float,
    sandbox: str | None,
    on_connected: Callable[[], None],
    on_message: Callable[[Message], None],
    report: Callable[[str], None],
    verbose: bool = False,
) -> bool:
    """Let a player play at the server at a place. Did the server announce the end?

    The arguments are checked before anything is started. A program is started, and has answered hello, before it signs
    up, as a server may allow a call less time than that takes. With `verbose`, all calls are reported. Raises the same
    errors as `join_course`.
    """
    dialect = DIALECTS.get(course)
    if dialect is None:
        raise BadRequest(f"there is no course {course!r}; there is {', '.join(DIALECTS)}")
    if name is not None:
        check_name(dialect, name)
    where, location = parse_endpoint(place), parse_player(address, dialect)
    limits = Limits(move=idle_timeout, start_up=idle_timeout)  # the server has its own, shorter ones
    conditions = match_conditions((address,), limits, sandbox)

    async def open_channel(game: Game[Any, Any, Any]) -> AsyncChannel:
        if isinstance(location, LocalAddress):
            return AsyncLocalChannel(LocalChannel(location.player, game, time.monotonic))
        return await start_program(location, game, limits, conditions.sandbox or NO_SANDBOX)

    sign = default_name(dialect, address) if name is None else name
    ahead = 0 if isinstance(location, LocalAddress) else 1 if dialect.closing is None else MATCHES_AHEAD
    seat = CourseSeat(dialect.caller(sign), open_channel, on_message, report=report, ahead=ahead)
    log = CallLog(report) if verbose else None
    try:
        await seat.prepare()
        connection = await connect_socket(*where, wait)
        on_connected()
        return await join_course(dialect, connection, seat, name=sign, idle_timeout=idle_timeout, log=log)
    finally:
        await finish_despite_cancellation(seat.leave())


async def start_program(
    command: Command, game: Game[Any, Any, Any], limits: Limits, sandbox: SandboxPolicy
) -> RemoteChannel:
    """Start a program, and wait for its hello. Raises PlayerFailed."""
    remote = RemoteChannel(await ProgramConnection.start(command.words, sandbox=sandbox), game, limits=limits)
    async with AsyncExitStack() as undo:
        undo.push_async_callback(lambda: finish_despite_cancellation(remote.close(None)))
        answer = await remote.hello()
        if isinstance(answer, Failed):
            raise PlayerFailed(answer)
        undo.pop_all()
    return remote


def parse_player(address: str, dialect: Dialect) -> LocalAddress | Command:
    """Parse the address of a player: in this process, or a program."""
    if address == HUMAN:
        raise BadRequest(f"a person cannot play at a course's server; use a built-in player, {COURSE_PLAYER_ADDRESSES}")
    found = parse_remote_address(address)
    if found is None:
        return LocalAddress(
            open_player(address, game_info(dialect.game), secrets.token_bytes(SEED_BYTES), COURSE_PLAYER_ADDRESSES)
        )
    if not isinstance(found, Command):
        raise BadRequest(f"{address!r} is not a player of this machine, so it cannot join")
    return found
