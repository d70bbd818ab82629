"""Connect to a host as a player does, for tests that read and write single lines, in any thread."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fairplay.players.player_loop import MakePlayer, serve_player
from fairplay.protocol.wire import Goodbye, Suspended
from fairplay.transport.connection import ConnectionClosed, receive
from fairplay.transport.connector import connect
from fairplay.transport.event_loop import new_event_loop

TIMEOUT_S = 60.0  # seconds


@contextmanager
def connect_to_host(
    address: str, *, wait: float = TIMEOUT_S
) -> Iterator[tuple[Iterator[bytes], Callable[[bytes], None]]]:
    """The lines that come from a host, and what sends one."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        line = runner.run(connect(address, wait=wait))

        async def next_line() -> bytes | None:
            async with asyncio.timeout(TIMEOUT_S):
                try:
                    return await receive(line)
                except ConnectionClosed:
                    return None

        def send(text: bytes) -> None:
            line.send(text)
            runner.run(asyncio.sleep(0))

        try:
            yield iter(lambda: runner.run(next_line()), None), send
        finally:
            runner.run(line.close(b"", 0.0))


def serve_at_host(address: str, make: MakePlayer, *, name: str | None = None) -> Goodbye | Suspended | None:
    """Serve a player at a host, as bot authors do: blocking, line by line."""
    with connect_to_host(address) as (lines, send):
        return serve_player(make, lines, send, name=name)
