"""Open a door over TCP, where players come in."""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from random import choice
from typing import Any, Self

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.core.game import Game
from fairplay.core.messages import Answered, Failed
from fairplay.players import wire
from fairplay.players.limits import Limits
from fairplay.players.places import host_and_port, reason, written_place
from fairplay.players.remote import DEFAULT, Closed, Line, Remote
from fairplay.players.stream import Stream
from fairplay.players.timer import Timer
from fairplay.referee.closing import close_all_async, surely

MOST_PENDING = 256  # connections that have not answered hello yet
BACKLOG = 128  # and those that nobody has looked at
PAUSE = 0.02  # seconds without a look at the door, when nobody can come in
SHORTEST = 0.001  # seconds: what is left of a limit that has run out

MakeLine = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Line]


class Guest(msgspec.Struct, frozen=True):
    """Who has a seat now. If nobody came, whatever is asked is answered by GONE."""

    remote: Remote
    name: str | None = None  # that it wants to have, in a stranger's words
    place: str = ""  # where it came from, as HOST:PORT


class Nobody(Line):
    """The line to a player that never came."""

    async def send(self, text: bytes) -> None:
        """There is nobody to hear it."""
        raise Closed(Fault.GONE, "nobody came")

    async def receive(self) -> bytes:
        """There is nobody to say anything."""
        raise Closed(Fault.GONE, "nobody came")

    async def hang_up(self, last: bytes, within: float) -> None:
        """There is nothing to cut."""

    def evidence(self) -> str:
        """There is nothing to know."""
        return ""


class Door:
    """A place to come in, for one match. It listens as soon as it is made, and closes once everybody sits.

    Whoever connects is nobody until it has answered hello: who is silent, or talks about something else, holds up no
    seat. If too many stand there, one has to go, by lot, from the IP address of which the most are there. So a stranger
    who connects every millisecond does not keep out an honest player that takes 100 ms for its hello: from another
    address it is never cut off, and from the same one it comes in if it tries again.
    """

    def __init__(self, host: str, port: int, line: MakeLine = Stream) -> None:
        self._socket = listening(host, port)
        self.host: str
        self.port: int
        self.host, self.port = self._socket.getsockname()[:2]
        self._line = line

    @property
    def address(self) -> str:
        """Where to come in, as HOST:PORT."""
        return written_place(self.host, self.port)

    async def seat(
        self,
        game: Game[Any, Any, Any],
        seats: int = 1,
        *,
        match_id: str = "",
        limits: Limits = DEFAULT,
        within: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> list[Guest]:
        """The guests for so many seats, in the order in which they came, after at most so many seconds.

        If no time is given, it is the limit for starting up. The door is closed afterwards.
        """
        patience = limits.start_up if within is None else within
        timer = Timer(patience, clock)

        def remote(line: Line) -> Remote:
            left = max(SHORTEST, min(limits.start_up, patience - timer.taken))
            told = msgspec.structs.replace(limits, start_up=left)
            return Remote(line, game, match_id=match_id, limits=told, clock=clock)

        hall = Hall(self._socket, self._line, remote, seats)
        try:
            with suppress(TimeoutError), timer:
                await hall.fill()
        except BaseException:  # we were interrupted
            await close_all_async(guest.remote for guest in hall.guests)
            raise
        finally:
            self.close()
        return hall.guests + [Guest(remote(Nobody())) for _ in range(seats - len(hall.guests))]

    def close(self) -> None:
        """Let nobody in any more."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Hall:
    """Where those stand who came in and have no seat yet."""

    def __init__(self, door: socket.socket, line: MakeLine, remote: Callable[[Line], Remote], seats: int) -> None:
        self.guests: list[Guest] = []
        self._door = door
        self._line = line
        self._remote = remote
        self._seats = seats
        self._full = asyncio.Event()
        self._pending: dict[asyncio.Task[None], str] = {}  # and where they come from
        self._leaving: set[asyncio.Task[None]] = set()
        self._pause: asyncio.TimerHandle | None = None

    async def fill(self) -> None:
        """Let people in until all seats are taken; then, or when we are called off, send everybody else away."""
        self._open()
        try:
            await self._full.wait()
        finally:
            self._shut()
            for task in tuple(self._pending):
                self._dismiss(task)
            if self._leaving:
                await surely(asyncio.wait(self._leaving.copy()))

    def _open(self) -> None:
        asyncio.get_running_loop().add_reader(self._door, self._let_in)

    def _shut(self) -> None:
        asyncio.get_running_loop().remove_reader(self._door)
        if self._pause is not None:
            self._pause.cancel()

    def _let_in(self) -> None:
        """Take the next connection, and say hello."""
        try:
            connection, (host, *_) = self._door.accept()
        except BlockingIOError:  # it has gone again
            return
        except OSError:  # there is no file descriptor left, or no memory: later there may be
            self._send_away()
            self._shut()
            self._pause = asyncio.get_running_loop().call_later(PAUSE, self._open)
            return
        task = asyncio.create_task(self._greet(connection))
        self._pending[task] = host
        task.add_done_callback(self._forget)
        task.add_done_callback(lambda task: connection.close() if task.cancelled() else None)
        if len(self._pending) > MOST_PENDING:
            self._send_away()

    async def _greet(self, connection: socket.socket) -> None:
        """Say hello to a connection; one that answers has a seat, and all others are cut. Who failed hears why."""
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
            place = written_place(*connection.getpeername()[:2])
            streams = await asyncio.open_connection(sock=connection, limit=wire.MOST_BYTES)
        except OSError:
            connection.close()
            return
        remote = self._remote(self._line(*streams))
        answer: Answered | Failed | None = None
        seated = False
        try:
            answer = await remote.hello()
            if isinstance(answer, Answered) and not self._full.is_set():
                seated = True
                self.guests.append(Guest(remote, getattr(answer.value, "name", None), place))
                if len(self.guests) == self._seats:
                    self._full.set()
        finally:
            if not seated:
                await remote.close(answer if isinstance(answer, Failed) else None)

    def _send_away(self) -> None:
        """Let go of a connection by lot, from where the most of them come."""
        if self._pending:
            counts = Counter(self._pending.values())
            most = max(counts.values())
            self._dismiss(choice([task for task, host in self._pending.items() if counts[host] == most]))

    def _dismiss(self, task: asyncio.Task[None]) -> None:
        del self._pending[task]
        task.cancel()
        self._leaving.add(task)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._leaving.discard(task)
        self._pending.pop(task, None)


def listen_tcp(place: str) -> Door:
    """A door for the address tcp:PLACE, where a place is PORT or HOST:PORT; port 0 is any that is free."""
    return Door(*host_and_port(place))


def listening(host: str, port: int) -> socket.socket:
    """A socket that others can connect to from now on."""
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        made = socket.create_server(where[:2], family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:  # UnicodeError: no host can be called like that
        raise BadRequest(f"cannot listen at {written_place(host, port)}: {reason(error)}") from None
    made.setblocking(False)
    return made
