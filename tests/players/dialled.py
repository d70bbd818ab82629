"""Connect to a host as a player does, for tests that read and write line by line, in any thread."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fairplay.players.serve import Make, serve_player
from fairplay.protocol.wire import Goodbye, Suspended
from fairplay.transport.dialler import dial
from fairplay.transport.event_loop import new_event_loop
from fairplay.transport.line import Closed, received

AMPLE = 60.0  # seconds


@contextmanager
def dialled(address: str, *, wait: float = AMPLE) -> Iterator[tuple[Iterator[bytes], Callable[[bytes], None]]]:
    """The lines that come from a host, and what sends one."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        line = runner.run(dial(address, wait=wait))

        async def next_line() -> bytes | None:
            async with asyncio.timeout(AMPLE):
                try:
                    return await received(line)
                except Closed:
                    return None

        def send(text: bytes) -> None:
            line.send(text)
            runner.run(asyncio.sleep(0))

        try:
            yield iter(lambda: runner.run(next_line()), None), send
        finally:
            runner.run(line.hang_up(b"", 0.0))


def serve_dialled(address: str, make: Make, *, name: str | None = None) -> Goodbye | Suspended | None:
    """Serve a player at a host, as bot authors do: blocking, line by line."""
    with dialled(address) as (lines, send):
        return serve_player(make, lines, send, name=name)
