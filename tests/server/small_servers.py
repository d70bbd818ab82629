"""Run a small server with real matches at the pace of a test, for tests of pages, status and spectators."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from fairplay import built_in_strategy
from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Failed, Message, TakeTurn
from fairplay.core.roles import CloseReason
from fairplay.games import game_info, make_game
from fairplay.journal.record import Journal
from fairplay.players.listener import listening_socket
from fairplay.protocol import wire
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.observers import Observers
from fairplay.referee.referee import deal_match, print_warning
from fairplay.server.browser.pages import serve_pages
from fairplay.server.metrics import ServerCounts
from fairplay.server.spectating.hub import Hub
from fairplay.server.status import (
    FinishedStatus,
    OfferStatus,
    ServerStatus,
    WaitingStatus,
    encode_status,
    finished_status,
    room_status,
)
from fairplay.transport.connection import Connection, receive
from fairplay.transport.endpoint import format_endpoint
from fairplay.transport.pending import PendingConnections
from fairplay.transport.sockets import accept_tcp
from tests.page.matches import PLAYERS, FailingPlayer

NAMES = ("ann", "bob", "cyd")
Got = TypeVar("Got")


class PacedChannel:
    """A player in this process that takes its turns when the test says so."""

    def __init__(self, channel: LocalChannel, pace: asyncio.Semaphore) -> None:
        self._channel, self._pace = channel, pace

    async def ask(self, message: Message) -> Answer:
        if isinstance(message, TakeTurn):
            await self._pace.acquire()
        return self._channel.ask(message)

    async def close(self, reason: CloseReason) -> None:
        self._channel.close(reason)


class SmallServer:
    """Rooms without a listener: all players are in this process."""

    def __init__(self, directory: Path) -> None:
        self.counts = ServerCounts()
        self.hubs: dict[str, Hub] = {}
        self._directory = directory
        self._paces: dict[str, asyncio.Semaphore] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._finished: list[FinishedStatus] = []
        self._started_at = time.time()
        self._connections: list[Connection] = []  # of spectators

    def open_room(self, game: str, names: Sequence[str] = NAMES, *, fails: int | None = None) -> str:
        """Begin a match; the id of the room. The second player may fail after so many turns."""
        rules = make_game(game, game_info(game).quick)
        match = deal_match(rules, names, bytes([3] * 32))
        players: list[Any] = [built_in_strategy(game, PLAYERS[game]) for _ in names]
        if fails is not None:
            players[1] = FailingPlayer(game, fails)
        hub = self.hubs[match.id] = Hub(match.id, f"{game}-{len(self.hubs) + 1}")
        pace = self._paces[match.id] = asyncio.Semaphore(0)

        async def play() -> None:
            channels = [PacedChannel(LocalChannel(player, rules), pace) for player in players]
            with Journal(self._directory).begin(match) as record:
                inform = Observers([hub, self.counts], print_warning).notify
                final = await play_async(match, channels, record, inform)
            del self.hubs[match.id]
            seen = finished_status(match.id, game, final.names, final.result, ended_at=time.time(), recorded=True)
            self._finished.insert(0, seen)

        self._tasks[match.id] = asyncio.create_task(play())
        return match.id

    async def play_turns(self, room: str, number: int) -> int:
        """Let so many turns be taken, and wait for them; the number of the last event."""
        hub = self.hubs[room]
        assert hub.last is not None
        until = hub.last.seq + number
        for _ in range(number):
            self._paces[room].release()
        while hub.last.seq < until:
            await asyncio.sleep(0.001)
        await hub.wait_until_sent()
        return hub.last.seq

    async def play_to_end(self, room: str) -> None:
        for _ in range(10_000):
            self._paces[room].release()
        await self._tasks[room]

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self.disconnect_viewers()

    async def disconnect_viewers(self) -> None:
        for connection in self._connections:
            await connection.close(b"", 1.0)
        self._connections.clear()

    async def accept_viewer(self, accepted: socket.socket, endpoint: str) -> None:
        """Serve the status or a room, as at the listener of a server."""
        connection = await accept_tcp(accepted)
        hello = wire.Hello(match="", turn=0, nonce="1-a", limit=5.0, protocol=wire.PROTOCOL_VERSION)
        connection.send(wire.encode(hello) + b"\n")
        reply = wire.read_reply(await receive(connection))
        assert isinstance(reply, wire.Reply)
        introduction = wire.hello_decoder(reply.answer)
        if introduction.purpose == "status":
            await connection.close(encode_status(self.status()), 5.0)
            return
        room = introduction.room or next(iter(self.hubs), "")
        if room in self.hubs:
            self._connections.append(connection)
            self.hubs[room].add(connection)
        else:
            why = Failed(Fault.GONE, f"no room {introduction.room}".strip())
            await connection.close(wire.encode_goodbye("", why), 5.0)

    # As of a `MonitoredServer`.

    def hub(self, room: str) -> Hub | None:
        return self.hubs.get(room)

    def journal(self, match: str) -> Path | None:
        known = {seen.match for seen in self._finished}
        return self._directory / f"{match}.jsonl" if match in known else None

    def status(self) -> ServerStatus:
        rooms = [
            room_status(id, hub.name, hub.last.match, stage="playing", seq=hub.last.seq, spectators=len(hub.watchers))
            for id, hub in self.hubs.items()
            if hub.last is not None
        ]
        return ServerStatus(
            name="A small server",
            version="1",
            started_at=self._started_at,
            uptime_s=time.time() - self._started_at,
            offers=(OfferStatus("fish", {}, 2, 4),),
            rooms=tuple(rooms),
            players=tuple(name for room in rooms for name in room.names),
            waiting=(WaitingStatus("dee", "", 3.0),),
            finished=tuple(self._finished),
        )


class RunningServer:
    """A small server in a thread, with web pages at a port of this machine."""

    def __init__(self, loop: asyncio.AbstractEventLoop, server: SmallServer, place: str, listener: str) -> None:
        self.server, self.place = server, place
        self.listener = listener  # the address for our own protocol
        self.port = int(place.rpartition(":")[2])
        self._loop = loop

    def call(self, work: Callable[[], Coroutine[Any, Any, Got]]) -> Got:
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result(60)

    def open_room(self, game: str, names: Sequence[str] = NAMES, **how: Any) -> str:
        async def work() -> str:
            room = self.server.open_room(game, names, **how)
            while self.server.hubs[room].last is None:
                await asyncio.sleep(0.001)
            return room

        return self.call(work)

    def play_turns(self, room: str, number: int) -> int:
        return self.call(lambda: self.server.play_turns(room, number))

    def play_to_end(self, room: str) -> None:
        self.call(lambda: self.server.play_to_end(room))


@contextmanager
def run_small_server(directory: Path, **options: Any) -> Iterator[RunningServer]:
    ready, stop = threading.Event(), asyncio.Event()
    made: list[RunningServer] = []

    async def keep() -> None:
        server = SmallServer(directory)
        listener = listening_socket("127.0.0.1", 0)
        address = format_endpoint(*listener.getsockname()[:2])
        async with serve_pages(server, 0, **options) as place, PendingConnections(listener, server.accept_viewer):
            made.append(RunningServer(asyncio.get_running_loop(), server, place, address))
            ready.set()
            await stop.wait()
            await server.close()
        listener.close()

    thread = threading.Thread(target=asyncio.run, args=(keep(),))
    thread.start()
    assert ready.wait(30)
    try:
        yield made[0]
    finally:
        made[0]._loop.call_soon_threadsafe(stop.set)
        thread.join(30)
    assert not thread.is_alive()
