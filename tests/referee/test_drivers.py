"""Check that both drivers play the same matches and close every channel."""

import asyncio
from collections.abc import Collection
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import SeededRandom, derive_seed, seed_from_text
from fairplay.core.events import Ejected, Ended, Event, Fault
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
Heard = list[tuple[Event, AnyMatch | Answer | None]]

each_game = pytest.mark.parametrize("name", GAMES)


def dealt(name: str, seats: int, seed: bytes) -> AnyMatch:
    game = GAMES[name][0]
    return Match(game, game.deal(seats, seed), tuple(f"player-{seat}" for seat in range(seats)))


def good(match: AnyMatch, key: bytes) -> Script:
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


class Listening(NullRecord):
    """A record that logs its events, when they have to be durable, and what was announced."""

    def __init__(self, behind: Collection[type[Event]] = ()) -> None:
        self.heard: Heard = []
        self.settled_before: list[int] = []  # how much had been heard by then
        self._behind = tuple(behind)

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        self.heard.append((event, answer))
        return isinstance(event, self._behind)

    def inform(self, event: Event, match: AnyMatch) -> None:
        self.heard.append((event, match))

    def make_durable(self) -> None:
        self.settled_before.append(len(self.heard))

    async def make_durable_async(self) -> None:
        self.make_durable()


def some_match(name: str, number: int) -> tuple[AnyMatch, bytes]:
    seed = seed_from_text(f"{name} {number}")
    return dealt(name, 2 + number % 3, seed), seed


@pytest.mark.parametrize("number", range(60))
@each_game
def test_sync_and_async_drivers_play_the_same_match(name: str, number: int) -> None:
    match, seed = some_match(name, number)
    sync = [ScriptedChannel(script) for script in table(name, match, seed)]
    awaited = [AsyncScriptedChannel(script) for script in table(name, match, seed)]
    one, other = Listening(), Listening()

    final = play(match, sync, one, one.inform)
    final_async = asyncio.run(play_async(match, awaited, other, other.inform))

    assert final == final_async
    assert (one.heard, one.settled_before) == (other.heard, other.settled_before)
    assert [(one.heard, one.closed) for one in sync] == [(one.heard, one.closed) for one in awaited]


@pytest.mark.parametrize("number", range(60))
@each_game
def test_a_match_ends_whatever_its_players_do(name: str, number: int) -> None:
    match, seed = some_match(name, number)
    channels = [ScriptedChannel(script) for script in table(name, match, seed)]

    final = play(match, channels)

    ranked = [seat for group in final.result.ranking for seat in group]
    ejected = [ejected.seat for ejected in final.result.ejected]
    assert final.turn is None
    assert sorted(ranked + ejected) == list(range(len(match.names)))


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


def test_a_table_of_failing_players_ends_without_a_winner() -> None:
    for seats in (2, 3, 4):
        match = dealt("fish", seats, bytes(32))

        final = play(match, [ScriptedChannel([]) for _ in range(seats)])

        assert final.result.ranking == ()
        assert [ejected.seat for ejected in final.ejected] == list(range(seats))


@each_game
def test_every_channel_is_closed_once_and_an_ejected_one_with_its_ejection(name: str) -> None:
    for number in range(30):
        match, seed = some_match(name, number)
        channels = [ScriptedChannel(script) for script in table(name, match, seed)]

        final = play(match, channels)

        ejected = {ejected.seat: ejected for ejected in final.ejected}
        assert [channel.closed for channel in channels] == [[ejected.get(seat)] for seat in range(len(channels))]


def test_an_ejected_player_is_dismissed_before_the_next_question() -> None:
    order: list[str] = []

    class Noting(ScriptedChannel):
        def ask(self, message: Message) -> Answer:
            order.append("ask")
            return super().ask(message)

        def close(self, reason: CloseReason) -> None:
            order.append("close" if reason is None else "dismiss")
            super().close(reason)

    match = dealt("toy", 2, bytes(32))

    play(match, [Noting([]), Noting([])])

    assert order == ["ask", "dismiss", "ask", "dismiss"]


class Stop(Exception):
    """What a record raises, as a full disk would."""


class Stopping(NullRecord):
    """A record that fails when so much has been written."""

    def __init__(self, at: int) -> None:
        self._left = at

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        self._left -= 1
        if self._left < 0:
            raise Stop
        return False


@pytest.mark.parametrize("at", range(12))
@each_game
def test_an_exception_of_the_record_closes_every_channel_once(name: str, at: int) -> None:
    match, seed = some_match(name, 5)
    sync = [ScriptedChannel(script) for script in table(name, match, seed)]
    awaited = [AsyncScriptedChannel(script) for script in table(name, match, seed)]

    with pytest.raises(Stop):
        play(match, sync, Stopping(at))
    with pytest.raises(Stop):
        asyncio.run(play_async(match, awaited, Stopping(at)))

    assert [len(channel.closed) for channel in sync] == [1] * len(sync)
    assert [channel.closed for channel in awaited] == [channel.closed for channel in sync]


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stop])
def test_an_exception_of_a_channel_closes_every_channel_once(error: type[BaseException]) -> None:
    def interrupt(message: Message) -> Answer:
        raise error

    match = dealt("toy", 3, bytes(32))
    channels = [
        ScriptedChannel(failing_script(0, Failed(Fault.GONE, "left"), interrupt)),
        ScriptedChannel(interrupt),
        ScriptedChannel([]),
    ]

    with pytest.raises(error):
        play(match, channels)

    assert [len(channel.closed) for channel in channels] == [1, 1, 1]


def test_a_cancelled_match_closes_every_channel_once() -> None:
    class Silent(AsyncScriptedChannel):
        async def ask(self, message: Message) -> Answer:
            if isinstance(message, TakeTurn):
                asked.set()
                await asyncio.Event().wait()
            return await super().ask(message)

    async def cancel() -> None:
        task = asyncio.create_task(play_async(match, channels))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    match = dealt("toy", 2, bytes(32))
    asked = asyncio.Event()
    channels = [Silent(good(match, bytes(32))) for _ in range(2)]

    asyncio.run(cancel())

    assert [channel.closed for channel in channels] == [[None], [None]]


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

    match = dealt("toy", 3, bytes(32))
    scripts = [good(match, bytes(32)) for _ in range(3)]
    awaited = [Closing(scripts[0], error=Stop()), Closing(scripts[1]), Closing(scripts[2], waits=3)]
    sync = [Broken(scripts[0]), ScriptedChannel(scripts[1]), ScriptedChannel(scripts[2])]

    with pytest.raises(Stop):
        play(match, sync)
    with pytest.raises(Stop):
        asyncio.run(play_async(match, awaited))

    assert [channel.closed for channel in sync] == [[], [None], [None]]
    assert [channel.closed for channel in awaited] == [[], [None], [None]]


def test_several_exceptions_of_close_are_raised_as_a_group() -> None:
    match = dealt("toy", 3, bytes(32))
    channels = [Closing(good(match, bytes(32)), error=error) for error in (Stop("one"), Stop("two"))]

    with pytest.raises(ExceptionGroup) as told:
        asyncio.run(play_async(match, [*channels, Closing(good(match, bytes(32)))]))

    assert [str(error) for error in told.value.exceptions] == ["one", "two"]


def test_channels_are_closed_concurrently() -> None:
    at_it: list[int] = []

    class Meeting(AsyncScriptedChannel):
        async def close(self, reason: CloseReason) -> None:
            at_it.append(1)
            while len(at_it) < 3:
                await asyncio.sleep(0)
            await super().close(reason)

    match = dealt("toy", 3, bytes(32))
    channels = [Meeting(good(match, bytes(32))) for _ in range(3)]

    async def within_time() -> None:
        async with asyncio.timeout(10):
            await play_async(match, channels)

    asyncio.run(within_time())

    assert [channel.closed for channel in channels] == [[None]] * 3


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("ejected", [False, True], ids=["at the end", "when one is dismissed"])
def test_a_cancellation_waits_until_all_channels_are_closed(times: int, ejected: bool) -> None:
    match = dealt("toy", 2, bytes(32))
    ends = asyncio.Event()
    channels = [
        Closing([] if ejected else good(match, bytes(32)), waits=20),
        Closing(good(match, bytes(32)), waits=30),
    ]

    def watch(event: Event, match: AnyMatch) -> None:
        if isinstance(event, Ejected if ejected else Ended):
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

    asyncio.run(cancel())

    assert [len(channel.closed) for channel in channels] == [1, 1]


def test_a_cancellation_keeps_the_exception_of_close() -> None:
    match = dealt("toy", 2, bytes(32))
    ends = asyncio.Event()
    channels = [Closing(good(match, bytes(32)), waits=20, error=Stop()), Closing(good(match, bytes(32)))]

    async def cancel() -> BaseException | None:
        task = asyncio.create_task(play_async(match, channels, on_event=lambda *_: ends.set()))
        await ends.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await task
        return cancelled.value.__cause__

    assert isinstance(asyncio.run(cancel()), Stop)


# The scripts themselves.


def test_a_scripted_channel_without_answers_is_gone() -> None:
    channel = ScriptedChannel([Answered(None)])

    answers = [channel.ask(TakeTurn(view)) for view in (1, 2)]

    assert answers == [Answered(None), Failed(Fault.GONE, "the script is over")]
    assert channel.heard == [TakeTurn(1), TakeTurn(2)]


def test_asking_a_closed_scripted_channel_is_an_error() -> None:
    channel = ScriptedChannel([])

    channel.close(None)

    with pytest.raises(AssertionError, match="asked after it was closed"):
        channel.ask(TakeTurn(None))
