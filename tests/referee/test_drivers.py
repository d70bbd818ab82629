"""Check that all drivers play the same matches and close every channel."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import SeededRandom, derive_seed, seed_from_text
from fairplay.core.errors import HostFault
from fairplay.core.events import Ejected, Ended, Event, Fault, Started
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, Failed, Message, TakeTurn
from fairplay.core.roles import CloseReason, NullRecord
from fairplay.games.fish import Fish, Place
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play, play_async
from fairplay.testing.scripted import AsyncScriptedChannel, Script, ScriptedChannel, failing_script, strategy_script
from tests.toy import Play, Toy

GAMES: dict[str, tuple[Game[Any, Any, Any], Answer]] = {
    "toy": (Toy(), Answered(Play(99))),
    "fish": (Fish(rows=4, columns=4, holes="random"), Answered(Place((-1, -1)))),
}
each_game = pytest.mark.parametrize("name", GAMES)


def dealt(name: str, seats: int, seed: bytes = bytes(32)) -> AnyMatch:
    game = GAMES[name][0]
    return Match(game, game.deal(seats, seed), tuple(f"player-{seat}" for seat in range(seats)))


def good(match: AnyMatch, key: bytes = bytes(32)) -> Script:
    """A player that draws its action from the view, so that it does the same when it is asked again."""

    def choose(view: Any) -> Any:
        options = list(match.game.actions(view))
        page = msgspec.json.encode(match.game.pack(view)).decode()
        return options[SeededRandom(derive_seed(key, page)).below(len(options))]

    return strategy_script(choose)


def table(name: str, match: AnyMatch, seed: bytes) -> list[Script]:
    """A player for each seat; about half of them fail at some call, in some way."""
    lots = SeededRandom(seed)
    failures: list[Answer] = [*(Failed(fault, "it failed") for fault in Fault), GAMES[name][1]]
    scripts = []
    for seat in range(len(match.names)):
        script = good(match, derive_seed(seed, str(seat)))
        if lots.below(2):
            script = failing_script(lots.below(10), failures[lots.below(len(failures))], script)
        scripts.append(script)
    return scripts


class Stop(HostFault):
    """What a record raises, as a full disk would."""


class Listening(NullRecord):
    """A record that logs its events, when they have to be durable, and what was announced; it can be made to fail."""

    def __init__(self, fails_at: int = 10**9) -> None:
        self.heard: list[tuple[Event, AnyMatch | Answer | None]] = []
        self.durable_before: list[int] = []  # how much had been heard by then
        self.left = fails_at

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        self.left -= 1
        if self.left < 0:
            raise Stop
        self.heard.append((event, answer))
        return isinstance(event, Started | Ejected)

    def inform(self, event: Event, match: AnyMatch) -> None:
        self.heard.append((event, match))

    def make_durable(self) -> None:
        self.durable_before.append(len(self.heard))

    async def make_durable_async(self) -> None:
        self.make_durable()


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


def some_match(name: str, number: int) -> tuple[AnyMatch, bytes]:
    seed = seed_from_text(f"{name} {number}")
    return dealt(name, 2 + number % 3, seed), seed


@pytest.mark.parametrize("number", range(60))
@each_game
def test_all_drivers_play_the_same_match_to_its_end_and_close_each_channel_once(name: str, number: int) -> None:
    match, seed = some_match(name, number)
    refuses = number // 3 % 4
    plain = [ScriptedChannel(script) for script in table(name, match, seed)]
    awaited = [AsyncScriptedChannel(script) for script in table(name, match, seed)]
    quick = [Quick(script, refuses) for script in table(name, match, seed)]
    mixed = [
        Quick(script, refuses) if seat % 2 else AsyncScriptedChannel(script)
        for seat, script in enumerate(table(name, match, seed))
    ]
    tables: list[Sequence[AsyncScriptedChannel]] = [awaited, quick, mixed]
    record = Listening()

    final = play(match, plain, record, record.inform)

    ranked = [seat for group in final.result.ranking for seat in group]
    ejected = {ejected.seat: ejected for ejected in final.result.ejected}
    assert final.turn is None
    assert sorted([*ranked, *ejected]) == list(range(len(match.names)))
    assert [channel.closed for channel in plain] == [[ejected.get(seat)] for seat in range(len(plain))]
    for channels in tables:
        other = Listening()
        assert asyncio.run(play_async(match, channels, other, other.inform)) == final
        assert (other.heard, other.durable_before) == (record.heard, record.durable_before)
        assert [(one.heard, one.closed) for one in channels] == [(one.heard, one.closed) for one in plain]
    assert sum(one.forgotten for one in quick) == 0
    if refuses < 2:  # or else it may be asked at once when it is tried again
        assert [one.awaited > 0 for one in quick] == [bool(refuses and one.heard) for one in quick]


@pytest.mark.parametrize("at", range(12))
@each_game
def test_a_player_that_fails_at_any_call_is_ejected_and_the_others_are_ranked(name: str, at: int) -> None:
    match, seed = some_match(name, 1)
    scripts = [good(match, derive_seed(seed, str(seat))) for seat in range(len(match.names))]
    scripts[1] = failing_script(at, Failed(Fault.CRASHED, "it fell over"), scripts[1])
    channels = [ScriptedChannel(script) for script in scripts]

    final = play(match, channels)

    failed = [1] if len(channels[1].heard) > at else []  # a short match may not have come so far
    assert [ejected.seat for ejected in final.ejected] == failed
    assert {seat for group in final.result.ranking for seat in group} == set(range(len(scripts))).difference(failed)
    assert len(channels[1].heard) <= at + 1


# Exceptions and cancellations.


@pytest.mark.parametrize("at", range(12))
@each_game
def test_an_exception_of_the_record_reaches_the_caller_and_closes_every_channel_once(name: str, at: int) -> None:
    match, seed = some_match(name, 5)
    plain = [ScriptedChannel(script) for script in table(name, match, seed)]

    with pytest.raises(Stop):
        play(match, plain, Listening(at))

    assert [len(channel.closed) for channel in plain] == [1] * len(plain)
    for kind in (AsyncScriptedChannel, Quick):
        channels = [kind(script) for script in table(name, match, seed)]
        with pytest.raises(Stop):
            asyncio.run(play_async(match, channels, Listening(at)))
        assert [channel.closed for channel in channels] == [channel.closed for channel in plain]


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stop])
def test_an_exception_of_a_channel_closes_every_channel_once(error: type[BaseException]) -> None:
    def interrupt(message: Message) -> Answer:
        raise error

    gone = failing_script(0, Failed(Fault.GONE, "left"), interrupt)
    channels = [ScriptedChannel(gone), ScriptedChannel(interrupt), ScriptedChannel([])]

    with pytest.raises(error):
        play(dealt("toy", 3), channels)

    assert [len(channel.closed) for channel in channels] == [1, 1, 1]


@pytest.mark.parametrize("turns", range(6))
def test_a_match_cancelled_at_any_turn_drops_its_open_question(turns: int) -> None:
    class Silent(Quick):
        def ask_with_callback(self, message: Message, then: Callable[[Answer], None]) -> bool:
            taken.append(isinstance(message, TakeTurn))
            if sum(taken) <= turns:
                return super().ask_with_callback(message, then)
            late.append(then)
            waiting.set()
            return True

    async def cancel() -> None:
        task = asyncio.create_task(play_async(match, channels))
        await waiting.wait()
        task.cancel()
        late[0](Answered(None))  # in the very moment
        with pytest.raises(asyncio.CancelledError):
            await task
        late[0](Answered(None))  # and much later

    taken: list[bool] = []
    late: list[Callable[[Answer], None]] = []
    match, waiting = dealt("toy", 2), asyncio.Event()
    channels = [Silent(good(match)) for _ in range(2)]

    asyncio.run(cancel())

    assert [channel.closed for channel in channels] == [[None], [None]]
    assert sum(channel.forgotten for channel in channels) == 1
    assert sum(taken) == turns + 1


class Closing(AsyncScriptedChannel):
    """A channel that takes its time over closing, or fails at it."""

    def __init__(self, script: Script | list[Answer], *, waits: int = 0, error: Exception | None = None) -> None:
        super().__init__(script)
        self._waits = waits
        self._error = error

    async def close(self, reason: CloseReason) -> None:
        for _ in range(self._waits):
            await asyncio.sleep(0)
        if self._error is not None:
            raise self._error
        await super().close(reason)


def test_an_exception_of_close_is_raised_after_all_channels_are_closed() -> None:
    class Broken(ScriptedChannel):
        def close(self, reason: CloseReason) -> None:
            raise Stop

    match = dealt("toy", 3)
    sync = [Broken(good(match)), ScriptedChannel(good(match)), ScriptedChannel(good(match))]
    awaited = [Closing(good(match), error=Stop()), Closing(good(match)), Closing(good(match), waits=3)]

    with pytest.raises(Stop):
        play(match, sync)
    with pytest.raises(Stop):
        asyncio.run(play_async(match, awaited))

    assert [channel.closed for channel in sync] == [channel.closed for channel in awaited] == [[], [None], [None]]


def test_several_exceptions_of_close_are_raised_as_a_group() -> None:
    match = dealt("toy", 3)
    channels = [Closing(good(match), error=error) for error in (Stop("one"), Stop("two"), None)]

    with pytest.raises(ExceptionGroup) as told:
        asyncio.run(play_async(match, channels))

    assert [str(error) for error in told.value.exceptions] == ["one", "two"]


def test_channels_are_closed_concurrently() -> None:
    class Meeting(AsyncScriptedChannel):
        async def close(self, reason: CloseReason) -> None:
            await all_there.wait()
            await super().close(reason)

    async def within_time() -> None:
        async with asyncio.timeout(10):
            await play_async(match, channels)

    match, all_there = dealt("toy", 3), asyncio.Barrier(3)
    channels = [Meeting(good(match)) for _ in range(3)]

    asyncio.run(within_time())

    assert [channel.closed for channel in channels] == [[None]] * 3


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("ending", [Ended, Ejected], ids=["at the end", "when one is dismissed"])
def test_a_cancellation_waits_until_all_channels_are_closed(times: int, ending: type[Event]) -> None:
    def watch(event: Event, match: AnyMatch) -> None:
        if isinstance(event, ending):
            ends.set()

    async def cancel() -> None:
        task = asyncio.create_task(play_async(match, channels, on_event=watch))
        await ends.wait()
        for _ in range(times):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    match, ends = dealt("toy", 2), asyncio.Event()
    channels = [Closing([] if ending is Ejected else good(match), waits=20), Closing(good(match), waits=30)]

    asyncio.run(cancel())

    assert [len(channel.closed) for channel in channels] == [1, 1]


def test_a_cancellation_keeps_the_exception_of_close() -> None:
    async def cancel() -> BaseException | None:
        task = asyncio.create_task(play_async(match, channels, on_event=lambda *_: ends.set()))
        await ends.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await task
        return cancelled.value.__cause__

    match, ends = dealt("toy", 2), asyncio.Event()
    channels = [Closing(good(match), waits=20, error=Stop()), Closing(good(match))]

    assert isinstance(asyncio.run(cancel()), Stop)


# The scripts themselves.


def test_a_scripted_channel_is_gone_after_its_last_answer_and_asking_a_closed_one_is_an_error() -> None:
    channel = ScriptedChannel([Answered(None)])

    answers = [channel.ask(TakeTurn(view)) for view in (1, 2)]

    assert answers == [Answered(None), Failed(Fault.GONE, "the script is over")]
    assert channel.heard == [TakeTurn(1), TakeTurn(2)]
    channel.close(None)
    with pytest.raises(AssertionError, match="asked after it was closed"):
        channel.ask(TakeTurn(None))
