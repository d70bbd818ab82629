"""Join a host with a player in this process, as `fairplay join` does."""

from collections.abc import Callable
from typing import Any

from fairplay.core.events import Fault
from fairplay.players.in_process import InProcessConnection
from fairplay.players.player_loop import AnyGame
from fairplay.players.relay import PlayerFailed, Relay
from fairplay.players.session import HostSession
from fairplay.protocol.player_side import PlayerSide
from fairplay.protocol.wire import Goodbye, Hello
from fairplay.transport import event_loop
from fairplay.transport.connection import Connection, ConnectionClosed, ConnectionLost, OnReceive, Received

MakePlayer = Callable[[AnyGame], Any]


class BreakingConnection(Connection):
    """A connection that is lost after so many lines."""

    def __init__(self, line: Connection, lines: int) -> None:
        self._line, self._left = line, lines

    def send(self, text: bytes) -> None:
        self._line.send(text)

    def offer(self, text: bytes) -> bool:
        return self._line.offer(text)

    def on_receive(self, callback: OnReceive | None) -> None:
        def count(heard: Received) -> None:
            assert callback is not None
            self._left -= 1
            callback(heard if self._left >= 0 else ConnectionClosed(Fault.GONE, "the connection was closed"))

        self._line.on_receive(None if callback is None else count)

    async def close(self, last: bytes, within: float) -> None:
        await self._line.close(last, within)


class BreakingSession(HostSession):
    """A session whose connections are lost after so many lines each."""

    lines = 10**6

    async def _connect(self, wait: float) -> Connection:
        return BreakingConnection(await super()._connect(wait), self.lines)


def join_host(
    host: str,
    make: MakePlayer,
    *,
    tell: Callable[[str], None] = lambda text: None,
    wait: float = 5.0,
    ca: str | None = None,
    breaks: int = 10**6,
    **options: Any,
) -> Goodbye | ConnectionLost | PlayerFailed | None:
    """Play what comes from a host; how that ended."""

    async def main() -> Goodbye | None:
        session = BreakingSession(host, PlayerSide(**options), on_status=tell, wait=wait, ca=ca)
        session.lines = breaks

        async def sit_down(hello: Hello) -> InProcessConnection:
            return InProcessConnection(make)

        async with session:
            return await Relay(session, sit_down, name=options.get("name")).play()

    try:
        return event_loop.run(main())
    except (ConnectionLost, PlayerFailed) as error:
        return error
