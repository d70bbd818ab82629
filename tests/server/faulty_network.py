"""Stand between players and a server, as a network does that cuts, delays, loses or repeats what it should carry."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

LOOPBACK = "127.0.0.1"
MAX_LINE_BYTES = 2**20  # bytes of a line
NO_LINGER = struct.pack("ii", 1, 0)
CUT = b""  # in the place of a piece: the connection is cut then


class ProxyLink:
    """One connection on the way. What was lost in one direction stays lost, and the ends hear nothing of that."""

    def __init__(self, number: int, ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> None:
        self.number = number
        self.carried = [0, 0]  # lines to the guest, and to the server
        self.lost = [False, False]
        self.left = asyncio.Event()  # the server has closed its end
        self.is_bad = False  # for whoever carries
        self._ends = ends

    def drop_data(self, *directions: bool) -> None:
        """Carry nothing more, nor the end of it, to the server (True), to the guest (False)."""
        for there in directions:
            self.lost[there] = True

    def cut(self, *, reset: bool = False) -> None:
        """End it for both."""
        for end in self._ends:
            if reset:
                end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            end.transport.abort()


Carry = Callable[
    [ProxyLink, bool, bytes], Awaitable[list[bytes]]
]  # what arrives of a line, to the server (True) or back


async def forward_unchanged(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    """Nothing goes wrong."""
    return [line]


class FaultyProxy:
    """A port that leads to another one."""

    def __init__(self, to: int, carry: Carry) -> None:
        self.links: list[ProxyLink] = []
        self.port = 0
        self.is_blocked = False  # nobody comes through
        self._to = to
        self._carry = carry

    def block(self) -> None:
        """Cut everybody off, and let nobody through."""
        self.is_blocked = True
        for link in self.links:
            link.cut(reset=True)

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry what somebody says and hears, to the end."""
        try:
            if self.is_blocked:
                return
            server_reader, server_writer = await asyncio.open_connection(LOOPBACK, self._to, limit=MAX_LINE_BYTES)
            link = ProxyLink(len(self.links), (writer, server_writer))
            self.links.append(link)
            try:
                there = self._pump(link, True, reader, server_writer)
                await asyncio.gather(there, self._pump(link, False, server_reader, writer))
            finally:
                server_writer.transport.abort()
        except OSError:
            pass
        finally:
            writer.transport.abort()

    async def _pump(
        self, link: ProxyLink, there: bool, source: asyncio.StreamReader, sink: asyncio.StreamWriter
    ) -> None:
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
async def run_proxy(port: int, carry: Carry = forward_unchanged) -> AsyncIterator[FaultyProxy]:
    """A way to this port on this machine, for as long as it lasts."""
    way = FaultyProxy(port, carry)
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(way.forward(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(begin, LOOPBACK, 0, limit=MAX_LINE_BYTES)
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
