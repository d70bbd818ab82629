"""Proxy between clients and a server that cuts connections, and delays, loses or repeats data."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

LOOPBACK = "127.0.0.1"
MAX_LINE_BYTES = 2**20  # bytes of a line
NO_LINGER = struct.pack("ii", 1, 0)
CUT = b""  # instead of data: cut the connection


class ProxyLink:
    """One connection through the proxy. A direction that was dropped stays dropped, and neither end notices."""

    def __init__(self, number: int, ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> None:
        self.number = number
        self.carried = [0, 0]  # lines to the client, and to the server
        self.lost = [False, False]
        self.left = asyncio.Event()  # the server has closed its end
        self.is_bad = False  # for the functions that carry lines
        self._ends = ends

    def drop_data(self, *directions: bool) -> None:
        """Carry nothing more, nor the end, to the server (True) or to the client (False)."""
        for there in directions:
            self.lost[there] = True

    def cut(self, *, reset: bool = False) -> None:
        """Close both ends."""
        for end in self._ends:
            if reset:
                end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            end.transport.abort()


Carry = Callable[
    [ProxyLink, bool, bytes], Awaitable[list[bytes]]
]  # what to deliver for a line, to the server (True) or back


async def forward_unchanged(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    """Carry the line as it is."""
    return [line]


class FaultyProxy:
    """A port that forwards to another one."""

    def __init__(self, to: int, carry: Carry) -> None:
        self.links: list[ProxyLink] = []
        self.port = 0
        self.is_blocked = False  # refuse new connections
        self._to = to
        self._carry = carry

    def block(self) -> None:
        """Cut all connections, and refuse new ones."""
        self.is_blocked = True
        for link in self.links:
            link.cut(reset=True)

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward a connection, to its end."""
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
                        await asyncio.sleep(0)  # so that it arrives by itself
        except ConnectionError:
            pass
        finally:
            if not there:
                link.left.set()
        if not link.lost[there] and not sink.transport.is_closing():
            sink.write_eof()


@asynccontextmanager
async def run_proxy(port: int, carry: Carry = forward_unchanged) -> AsyncIterator[FaultyProxy]:
    """A proxy to this port on this machine, while the context lasts."""
    proxy = FaultyProxy(port, carry)
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(proxy.forward(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(begin, LOOPBACK, 0, limit=MAX_LINE_BYTES)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for link in proxy.links:
            link.cut()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
