"""Play matches with clients of a course over real connections, and count what they leave open."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial, wraps
from inspect import Signature, signature
from typing import Any, NamedTuple, TypeVar

import msgspec

from fairplay.core.chance import seed_from_text
from fairplay.core.events import Ejected, Event
from fairplay.core.game import Game
from fairplay.core.messages import Answer, Answered, Failed, Message
from fairplay.core.roles import AnyStrategy, AsyncChannel, NullRecord
from fairplay.course.channel.client import CourseSeat, join_course
from fairplay.course.channel.remote import CourseChannel, CourseClient
from fairplay.course.channel.values import Scanner
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import Call
from fairplay.course.server.sign_up import CourseSignUp
from fairplay.games import game_info, make_game
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play, play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.transport.connector import connect_socket
from tests.players.programs import current_holdings

T = TypeVar("T")
AnyGame = Game[Any, Any, Any]

SEED = seed_from_text("course")
LIMITS = Limits(move=20.0)
SHORT_LIMITS = Limits(move=0.3)
LOOPBACK = "127.0.0.1"
TIMEOUT_S = 20.0  # seconds, which no test needs
NAMES = ("ann", "bob", "carol")
GAMES: dict[str, AnyGame] = {
    "fish": make_game("fish", {"rows": 3, "columns": 4}),
    "tsuro": make_game("tsuro", {}),
    "q": make_game("q", game_info("q").quick),
}
PLAYERS = {"fish": "greedy", "tsuro": "second", "q": "dag"}
COURSE_CALLS = {
    "fish": ("start", "playing-as", "playing-with", "setup", "take-turn", "end"),
    "tsuro": ("playing-as", "others", "initial", "take-turn", "end-of-tournament"),
    "q": ("setup", "take-turn", "new-tiles", "win"),
}
LAST_CALLS = {"fish": "end", "tsuro": "end-of-tournament", "q": "win"}

ComeIn = Callable[[CourseSignUp], Coroutine[Any, Any, Any]]


class CourseMatchResult(NamedTuple):
    """What came of a match: what happened, who is out, and what each client returned."""

    facts: list[Event]
    ranking: Any
    ejected: dict[str, Answer]  # by name, what was found out
    failed: dict[str, Failed]  # those who failed at the opening or closing of the tournament
    returned_values: list[Any]


def built_in_strategy(game: str) -> AnyStrategy:
    return game_info(game).built_in[PLAYERS[game]].make("", bytes(32))


def honest_client(game: str, name: str) -> ComeIn:
    """A client of ours."""

    async def come(desk: CourseSignUp) -> bool:
        connection = await connect_socket(desk.host, desk.port, TIMEOUT_S)
        named = name if DIALECTS[game].name is not None else ""
        seat = CourseSeat(DIALECTS[game].caller(named), seat_player(built_in_strategy(game)))
        return await join_course(DIALECTS[game], connection, seat, name=named, idle_timeout=TIMEOUT_S)

    return come


def seat_player(player: AnyStrategy) -> Callable[[AnyGame], Awaitable[AsyncChannel]]:
    async def sit_down(game: AnyGame) -> AsyncChannel:
        return AsyncLocalChannel(LocalChannel(player, game))

    return sit_down


async def sign_up_clients(
    desk: CourseSignUp, coming: Sequence[ComeIn], tasks: list[asyncio.Task[Any]]
) -> list[CourseClient]:
    """Let them sign up one after the other; those who sign up, in their order."""
    for number, come in enumerate(coming, 1):
        tasks.append(asyncio.create_task(come(desk)))
        async with asyncio.timeout(TIMEOUT_S):
            while len(desk.clients) < number:
                await asyncio.sleep(0)
    return await desk.wait(0)


async def play_tournament(
    game: str, coming: Sequence[ComeIn], *, limits: Limits = LIMITS, matches: int = 1, names: Sequence[str] = NAMES
) -> CourseMatchResult:
    """Some matches between the same clients, with what a tournament says before and after."""
    dialect, tasks = DIALECTS[game], list[asyncio.Task[Any]]()
    failed: dict[str, Failed] = {}
    ejected: dict[str, Answer] = {}
    facts: list[Event] = []
    ranking: Any = ()

    async def say(call: Call, client: CourseClient, name: str) -> None:
        answer = await client.call(call, limits.move)
        if isinstance(answer, Failed):
            failed[name] = answer
            await client.close()

    try:
        async with CourseSignUp(dialect, LOOPBACK, 0, most=len(coming)) as desk:
            playing = dict(zip(names, await sign_up_clients(desk, coming, tasks), strict=False))
            await desk.stop_accepting()
            for name, client in playing.items():
                if dialect.opening is not None:
                    await say(dialect.opening, client, name)
            for _ in range(matches):
                there = [name for name in playing if name not in {**failed, **ejected}]
                record = EventCollector(ejected, facts, there)
                match = deal_match(GAMES[game], there, SEED, match_id="m")
                table: list[AsyncChannel] = [
                    CourseChannel(playing[name], dialect.callee(GAMES[game], name), GAMES[game], limits=limits)
                    for name in there
                ]
                ranking = (await play_async(match, table, record)).result.ranking
            for name, client in playing.items():
                if dialect.closing is not None and name not in {**failed, **ejected}:
                    await say(Call(dialect.closing, (True,)), client, name)
        return CourseMatchResult(facts, ranking, ejected, failed, await asyncio.gather(*tasks, return_exceptions=True))
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


class EventCollector(NullRecord):
    """Keeps what happened."""

    def __init__(self, ejected: dict[str, Answer], facts: list[Event], names: Sequence[str]) -> None:
        self._ejected, self._facts, self._names = ejected, facts, names

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        self._facts.append(event)
        if isinstance(event, Ejected):
            assert answer is not None
            self._ejected[self._names[event.seat]] = answer
        return False


def play_in_process(game: str, names: Sequence[str] = NAMES) -> list[Event]:
    """What happens in the same match without any distance."""
    facts: list[Event] = []
    table = [LocalChannel(built_in_strategy(game), GAMES[game]) for _ in names]
    play(deal_match(GAMES[game], names, SEED, match_id="m"), table, on_event=lambda event, match: facts.append(event))
    return facts


class ScriptedClient:
    """A client in the hands of a test: it knows the right reply to each call, and sends it in a way of its own."""

    def __init__(self, game: str, name: str, way: "SendReply") -> None:
        self.game, self.name, self.way = game, name, way
        self.transcript: list[tuple[str, bytes]] = []

    async def __call__(self, desk: CourseSignUp) -> None:
        dialect = DIALECTS[self.game]
        caller, scanner = dialect.caller(self.name), Scanner(1 << 20)
        reader, writer = await asyncio.open_connection(desk.host, desk.port)
        try:
            if dialect.name is not None:
                await self.way(writer, msgspec.json.encode(self.name))
            while piece := await reader.read(65536):
                for text in scanner.feed(piece):
                    call = msgspec.json.decode(text, type=Call)
                    reply: Any = "void"
                    for message in caller.messages(call):
                        answer = LocalChannel(built_in_strategy(self.game), caller.game).ask(message)
                        assert isinstance(answer, Answered)
                        reply = reply if answer.value is None else caller.reply(answer.value)
                    self.transcript.append((call.method, msgspec.json.encode(reply)))
                    await self.way(writer, self.transcript[-1][1])
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()


SendReply = Callable[[asyncio.StreamWriter, bytes], Awaitable[None]]


def run_by(run: Callable[[Any], Any], given: int = 2) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Make a test of an async one: `run` awaits it with its first arguments, and the others are its parameters."""

    def decorate(test: Callable[..., Any]) -> Callable[..., None]:
        @wraps(test)
        def call(**parameters: Any) -> None:
            run(partial(test, **parameters))

        call.__signature__ = Signature([*signature(test).parameters.values()][given:])  # type: ignore[attr-defined]
        return call

    return decorate


async def run_loop_turns(count: int = 4) -> None:
    """Let the event loop read whatever was sent."""
    for _ in range(count):
        await asyncio.sleep(0)


def run_test(work: Coroutine[Any, Any, T]) -> T:
    """Run a test; afterwards nothing of it is left."""

    async def watched() -> T:
        async with asyncio.timeout(60):
            result = await work
        await run_loop_turns()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return result

    before = current_holdings()
    result = asyncio.run(watched())
    after = current_holdings()
    assert (after.files, after.children) == (before.files, before.children)
    return result
