"""Run a small house with real matches at the pace of a test, for whoever looks at it from outside."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from fairplay import Journal, Local, house_strategy
from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Failed, Message, TakeTurn
from fairplay.core.roles import Observer, Parting
from fairplay.games import game_with, title
from fairplay.players.door import listening
from fairplay.protocol import wire
from fairplay.referee.drivers import play_async
from fairplay.referee.gallery import Gallery
from fairplay.referee.host import complain, dealt
from fairplay.server.browser.pages import shown
from fairplay.server.metrics import Counts
from fairplay.server.spectating.hub import Hub
from fairplay.server.status import FinishedSeen, HouseStatus, OfferSeen, WaiterSeen, as_line, finished_seen, room_seen
from fairplay.transport.connection import over_tcp
from fairplay.transport.hall import Hall
from fairplay.transport.line import Line, received
from fairplay.transport.places import written_place
from tests.page.matches import PLAYERS, Failing

NAMES = ("ann", "bob", "cyd")
Got = TypeVar("Got")


class Paced:
    """A player in this process that takes its turns when the test says so."""

    def __init__(self, channel: Local, pace: asyncio.Semaphore) -> None:
        self._channel, self._pace = channel, pace

    async def ask(self, message: Message) -> Answer:
        if isinstance(message, TakeTurn):
            await self._pace.acquire()
        return self._channel.ask(message)

    async def close(self, parting: Parting) -> None:
        self._channel.close(parting)


class SmallHouse:
    """Rooms without a door: all who play are in this process."""

    def __init__(self, folder: Path) -> None:
        self.counts = Counts()
        self.more: list[Observer] = []  # who observe too
        self.hubs: dict[str, Hub] = {}
        self._folder = folder
        self._paces: dict[str, asyncio.Semaphore] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._finished: list[FinishedSeen] = []
        self._since = time.time()
        self._lines: list[Line] = []  # of those who watch

    def open(self, game: str, names: Sequence[str] = NAMES, *, fails: int | None = None, sealed: bool = False) -> str:
        """Begin a match; the id of the room. The second player fails after so many turns, if it does."""
        rules = game_with(game, title(game).quick)
        match = dealt(rules, names, bytes([3] * 32), sealed=sealed)
        players: list[Any] = [house_strategy(game, PLAYERS[game]) for _ in names]
        if fails is not None:
            players[1] = Failing(game, fails)
        hub = self.hubs[match.id] = Hub(match.id, f"{game}-{len(self.hubs) + 1}")
        pace = self._paces[match.id] = asyncio.Semaphore(0)

        async def play() -> None:
            channels = [Paced(Local(player, rules), pace) for player in players]
            with Journal(self._folder).begin(match) as record:
                inform = Gallery([hub, self.counts, *self.more], complain).tell
                final = await play_async(match, channels, record, inform)
            del self.hubs[match.id]
            seen = finished_seen(match.id, game, final.names, final.result, at=time.time(), recorded=True)
            self._finished.insert(0, seen)

        self._tasks[match.id] = asyncio.create_task(play())
        return match.id

    async def turns(self, room: str, number: int) -> int:
        """Let so many turns be taken, and come back when they have been; the number of the last event."""
        hub = self.hubs[room]
        assert hub.last is not None
        until = hub.last.seq + number
        for _ in range(number):
            self._paces[room].release()
        while hub.last.seq < until:
            await asyncio.sleep(0.001)
        await hub.caught_up()
        return hub.last.seq

    async def to_the_end(self, room: str) -> None:
        """Let a match be played to its end."""
        for _ in range(10_000):
            self._paces[room].release()
        await self._tasks[room]

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self.hang_up()

    async def hang_up(self) -> None:
        """Hang up on all who watch at the door."""
        for line in self._lines:
            await line.hang_up(b"", 1.0)
        self._lines.clear()

    async def greet(self, connection: socket.socket, place: str) -> None:
        """Let somebody look on, as at the door of a house."""
        line = await over_tcp(connection)
        line.send(wire.encode(wire.Hello(match="", turn=0, nonce="1-a", limit=5.0, protocol=1)) + b"\n")
        reply = wire.read_reply(await received(line))
        assert isinstance(reply, wire.Reply)
        said = wire.hello_decoder(reply.answer)
        if said.visit == "status":
            await line.hang_up(as_line(self.status()), 5.0)
            return
        hub = self.hubs.get(said.room) or (next(iter(self.hubs.values()), None) if not said.room else None)
        if hub is None:
            why = Failed(Fault.GONE, f"there is no room {said.room}".strip())
            await line.hang_up(wire.goodbye("", why), 5.0)
            return
        self._lines.append(line)
        hub.add(line)

    # What is seen from outside.

    def hub(self, room: str) -> Hub | None:
        return self.hubs.get(room)

    def journal(self, match: str) -> Path | None:
        known = {seen.match for seen in self._finished}
        return self._folder / f"{match}.jsonl" if match in known else None

    def status(self) -> HouseStatus:
        rooms = [
            room_seen(id, hub.name, hub.last.match, stage="playing", number=hub.last.seq, spectators=len(hub.watchers))
            for id, hub in self.hubs.items()
            if hub.last is not None
        ]
        return HouseStatus(
            name="A small house",
            version="1",
            since=self._since,
            up=time.time() - self._since,
            offers=(OfferSeen("fish", {}, 2, 4),),
            rooms=tuple(rooms),
            players=tuple(name for room in rooms for name in room.names),
            waiting=(WaiterSeen("dee", "", 3.0),),
            finished=tuple(self._finished),
        )


class Running:
    """A small house in a thread, which is shown at a port of this machine."""

    def __init__(self, loop: asyncio.AbstractEventLoop, house: SmallHouse, place: str, door: str) -> None:
        self.house = house
        self.door = door  # where one comes in with our own protocol
        self.place = place
        self.port = int(place.rpartition(":")[2])
        self._loop = loop

    def do(self, work: Callable[[], Coroutine[Any, Any, Got]]) -> Got:
        """Have something done in the loop of the house."""
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result(60)

    def open(self, game: str, names: Sequence[str] = NAMES, **how: Any) -> str:
        async def work() -> str:
            room = self.house.open(game, names, **how)
            while self.house.hubs[room].last is None:
                await asyncio.sleep(0.001)
            return room

        return self.do(work)

    def turns(self, room: str, number: int) -> int:
        return self.do(lambda: self.house.turns(room, number))

    def to_the_end(self, room: str) -> None:
        self.do(lambda: self.house.to_the_end(room))


@contextmanager
def running(folder: Path, **options: Any) -> Iterator[Running]:
    """A small house, for as long as it lasts."""
    ready, stop = threading.Event(), asyncio.Event()
    made: list[Running] = []

    async def keep() -> None:
        house = SmallHouse(folder)
        door = listening("127.0.0.1", 0)
        async with shown(house, 0, **options) as place, Hall(door, house.greet):
            made.append(Running(asyncio.get_running_loop(), house, place, written_place(*door.getsockname()[:2])))
            ready.set()
            await stop.wait()
            await house.close()
        door.close()

    thread = threading.Thread(target=asyncio.run, args=(keep(),))
    thread.start()
    assert ready.wait(30)
    try:
        yield made[0]
    finally:
        made[0]._loop.call_soon_threadsafe(stop.set)
        thread.join(30)
    assert not thread.is_alive()
