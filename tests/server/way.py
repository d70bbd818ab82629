"""Stand between players and a house, as a network does that cuts, delays, loses or repeats what it should carry."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

LOOPBACK = "127.0.0.1"
MOST = 2**20  # bytes of a line
NO_LINGER = struct.pack("ii", 1, 0)
CUT = b""  # in the place of a piece: the connection is cut then


class Link:
    """One connection on the way. What was lost in one direction stays lost, and the ends hear nothing of that."""

    def __init__(self, number: int, ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> None:
        self.number = number
        self.carried = [0, 0]  # lines to the guest, and to the house
        self.lost = [False, False]
        self.left = asyncio.Event()  # the house has closed its end
        self.is_bad = False  # for whoever carries
        self._ends = ends

    def lose(self, *directions: bool) -> None:
        """Carry nothing more, nor the end of it, to the house (True), to the guest (False)."""
        for there in directions:
            self.lost[there] = True

    def cut(self, *, reset: bool = False) -> None:
        """End it for both."""
        for end in self._ends:
            if reset:
                end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            end.transport.abort()


Carry = Callable[[Link, bool, bytes], Awaitable[list[bytes]]]  # what arrives of a line, to the house (True) or back


async def as_it_is(link: Link, there: bool, line: bytes) -> list[bytes]:
    """Nothing goes wrong."""
    return [line]


class Way:
    """A port that leads to another one."""

    def __init__(self, to: int, carry: Carry) -> None:
        self.links: list[Link] = []
        self.port = 0
        self.is_blocked = False  # nobody comes through
        self._to = to
        self._carry = carry

    def block(self) -> None:
        """Cut everybody off, and let nobody through."""
        self.is_blocked = True
        for link in self.links:
            link.cut(reset=True)

    async def lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry what somebody says and hears, to the end."""
        try:
            if self.is_blocked:
                return
            house_reader, house_writer = await asyncio.open_connection(LOOPBACK, self._to, limit=MOST)
            link = Link(len(self.links), (writer, house_writer))
            self.links.append(link)
            try:
                there = self._pump(link, True, reader, house_writer)
                await asyncio.gather(there, self._pump(link, False, house_reader, writer))
            finally:
                house_writer.transport.abort()
        except OSError:
            pass
        finally:
            writer.transport.abort()

    async def _pump(self, link: Link, there: bool, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while line := await source.readline():
                link.carried[there] += 1
                for piece in await self._carry(link, there, line):
                    if piece is CUT:
                        link.cut()
                    elif not link.lost[there]:
                        sink.write(piece)
                        await sink.drain()
                        await asyncio.sleep(0)  # so that it comes for itself
        except ConnectionError:
            pass
        finally:
            if not there:
                link.left.set()
        if not link.lost[there] and not sink.transport.is_closing():
            sink.write_eof()


@asynccontextmanager
async def way_to(port: int, carry: Carry = as_it_is) -> AsyncIterator[Way]:
    """A way to this port on this machine, for as long as it lasts."""
    way = Way(port, carry)
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(way.lead(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(begin, LOOPBACK, 0, limit=MOST)
    way.port = server.sockets[0].getsockname()[1]
    try:
        yield way
    finally:
        server.close()
        for link in way.links:
            link.cut()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
