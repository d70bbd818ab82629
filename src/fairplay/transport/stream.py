"""Keep a line to somebody over a pair of asyncio streams: the pipes of a program, or a connection."""

import asyncio
from contextlib import suppress

from fairplay.core.events import Fault
from fairplay.transport.line import Closed, Cut, Line, TooMuch

MOST_SHOWN = 512  # bytes of what was too much


class Stream(Line):
    """A line whose ends are marked by newlines; the reader was made with wire.MOST_BYTES as its limit."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, text: bytes) -> None:
        """Send a whole line; whoever never reads makes this wait."""
        try:
            self._writer.write(text)
            await self._writer.drain()
        except OSError:  # a broken pipe, a reset connection
            raise self.closed() from None

    def offer(self, text: bytes) -> bool:
        """Send a line, unless something of what was sent before still lies here."""
        transport = self._writer.transport
        if transport.is_closing() or transport.get_write_buffer_size():
            return False
        self._writer.write(text)
        return True

    async def receive(self) -> bytes:
        """The next whole line, without its end."""
        try:
            return (await self._reader.readuntil(b"\n"))[:-1]
        except asyncio.LimitOverrunError:
            raise TooMuch(await self._reader.read(MOST_SHOWN)) from None
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise Cut from None
            raise self.closed() from None
        except OSError:
            raise self.closed() from None

    async def hang_up(self, last: bytes, within: float) -> None:
        """Send some last words if that can be done in so many seconds, and cut the line."""
        try:
            if last:
                with suppress(Closed, TimeoutError):
                    async with asyncio.timeout(within):
                        await self.send(last)
        finally:
            self._writer.transport.abort()
            await asyncio.sleep(0)  # in which it is really closed

    def closed(self) -> Closed:
        """What it means that nothing can be said or heard any more."""
        return Closed(Fault.GONE, "the connection was closed")

    def evidence(self) -> str:
        """Nothing is known of the other end of a connection."""
        return ""
