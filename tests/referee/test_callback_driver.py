"""Check that callback channels play the same match, and wake the driver only for other requests."""

import asyncio
from collections.abc import Callable

import pytest

from fairplay.core.events import Ejected, Started
from fairplay.core.messages import Answer, Answered, Message, TakeTurn
from fairplay.referee.drivers import play, play_async
from fairplay.testing.scripted import AsyncScriptedChannel, Script, ScriptedChannel
from tests.referee.test_drivers import Listening, Stop, Stopping, dealt, each_game, good, some_match, table

Answering = Callable[[], None]


class Quick(AsyncScriptedChannel):
    """A channel over which one asks without waiting, but for every so many-th time."""

    def __init__(self, script: Script, refuses: int = 0) -> None:
        super().__init__(script)
        self.forgotten = 0
        self.awaited = 0
        self._refuses = refuses
        self._asked = 0
        self._open: asyncio.Handle | None = None

    async def ask(self, message: Message) -> Answer:
        self.awaited += 1
        return await super().ask(message)

    def ask_with_callback(self, message: Message, then: Callable[[Answer], None]) -> bool:
        self._asked += 1
        if self._refuses and self._asked % self._refuses == 0:
            return False
        self._open = asyncio.get_running_loop().call_soon(self._answer, message, then)
        return True

    def stop_waiting(self) -> None:
        self.forgotten += 1
        if self._open is not None:
            self._open.cancel()

    def _answer(self, message: Message, then: Callable[[Answer], None]) -> None:
        self._open = None
        then(self._channel.ask(message))


@pytest.mark.parametrize("refuses", [0, 1, 2, 3])
@pytest.mark.parametrize("number", range(12))
@each_game
def test_callback_channels_play_the_same_match(name: str, number: int, refuses: int) -> None:
    match, seed = some_match(name, number)
    plain = [ScriptedChannel(script) for script in table(name, match, seed)]
    quick = [Quick(script, refuses) for script in table(name, match, seed)]
    mixed = [
        Quick(script, refuses) if seat % 2 else AsyncScriptedChannel(script)
        for seat, script in enumerate(table(name, match, seed))
    ]
    records = [Listening(behind=[Started, Ejected]) for _ in range(3)]

    final = play(match, plain, records[0], records[0].inform)

    assert asyncio.run(play_async(match, quick, records[1], records[1].inform)) == final
    assert asyncio.run(play_async(match, mixed, records[2], records[2].inform)) == final
    assert records[0].heard == records[1].heard == records[2].heard
    assert [one.closed for one in quick] == [one.closed for one in mixed] == [one.closed for one in plain]
    assert [one.heard for one in quick] == [one.heard for one in plain]
    assert sum(one.forgotten for one in quick) == 0
    if refuses < 2:  # or else it may be asked at once when it is tried again
        assert [one.awaited > 0 for one in quick] == [bool(refuses and one.heard) for one in quick]


@pytest.mark.parametrize("at", range(12))
@each_game
def test_an_exception_of_the_record_reaches_the_driver(name: str, at: int) -> None:
    match, seed = some_match(name, 5)
    channels = [Quick(script) for script in table(name, match, seed)]

    with pytest.raises(Stop):
        asyncio.run(play_async(match, channels, Stopping(at)))

    assert [len(channel.closed) for channel in channels] == [1] * len(channels)


@pytest.mark.parametrize("turns", range(6))
def test_a_match_cancelled_at_any_turn_drops_its_open_question(turns: int) -> None:
    class Silent(Quick):
        def ask_with_callback(self, message: Message, then: Callable[[Answer], None]) -> bool:
            taken.append(isinstance(message, TakeTurn))
            if sum(taken) <= turns:
                return super().ask_with_callback(message, then)
            late.append(lambda: then(Answered(None)))
            waiting.set()
            return True

    async def cancel() -> None:
        task = asyncio.create_task(play_async(match, channels))
        await waiting.wait()
        task.cancel()
        late[0]()  # in the very moment
        with pytest.raises(asyncio.CancelledError):
            await task
        late[0]()  # and much later

    taken: list[bool] = []
    late: list[Answering] = []
    waiting = asyncio.Event()
    match = dealt("toy", 2, bytes(32))
    channels = [Silent(good(match, bytes(32))) for _ in range(2)]

    asyncio.run(cancel())

    assert [channel.closed for channel in channels] == [[None], [None]]
    assert sum(channel.forgotten for channel in channels) == 1
    assert sum(taken) == turns + 1
