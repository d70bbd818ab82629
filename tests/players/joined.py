"""Join a host with a player in this process, as `fairplay join` does."""

from collections.abc import Callable
from typing import Any

from fairplay.core.events import Fault
from fairplay.players.in_process import InProcess
from fairplay.players.relay import PlayerFailed, Relay
from fairplay.players.serve import AnyGame
from fairplay.players.session import HostSession
from fairplay.protocol.player_side import PlayerSide
from fairplay.protocol.wire import Goodbye, Hello
from fairplay.transport import event_loop
from fairplay.transport.line import Closed, Hear, Heard, Line, Lost

Make = Callable[[AnyGame], Any]


class Breaking(Line):
    """A connection that is lost after so many lines."""

    def __init__(self, line: Line, lines: int) -> None:
        self._line, self._left = line, lines

    def send(self, text: bytes) -> None:
        self._line.send(text)

    def offer(self, text: bytes) -> bool:
        return self._line.offer(text)

    def listen(self, hear: Hear | None) -> None:
        def count(heard: Heard) -> None:
            assert hear is not None
            self._left -= 1
            hear(heard if self._left >= 0 else Closed(Fault.GONE, "the connection was closed"))

        self._line.listen(None if hear is None else count)

    async def hang_up(self, last: bytes, within: float) -> None:
        await self._line.hang_up(last, within)


class BreakingSession(HostSession):
    """A session whose connections are lost after so many lines each."""

    lines = 10**6

    async def _connect(self, wait: float) -> Line:
        return Breaking(await super()._connect(wait), self.lines)


def join_host(
    host: str,
    make: Make,
    *,
    tell: Callable[[str], None] = lambda text: None,
    wait: float = 5.0,
    ca: str | None = None,
    breaks: int = 10**6,
    **options: Any,
) -> Goodbye | Lost | PlayerFailed | None:
    """Play what comes from a host; how that ended."""

    async def main() -> Goodbye | None:
        session = BreakingSession(host, PlayerSide(**options), tell=tell, wait=wait, ca=ca)
        session.lines = breaks

        async def sit_down(hello: Hello) -> InProcess:
            return InProcess(make)

        async with session:
            return await Relay(session, sit_down, name=options.get("name")).play()

    try:
        return event_loop.run(main())
    except (Lost, PlayerFailed) as error:
        return error
