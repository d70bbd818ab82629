"""Test matches over TCP, with honest players and with all others that can connect to a port."""

import asyncio
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack, suppress
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

import msgspec
import pytest

from fairplay.core.chance import derive_seed, seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Event, Fault, Result
from fairplay.core.game import Game, Moment
from fairplay.core.match import Match
from fairplay.core.messages import Tell
from fairplay.core.roles import AsyncChannel
from fairplay.games import game_info, make_game
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.players.listener import ConnectedPlayer, Listener, listen_tcp, listening_socket
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play, play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.transport.connection import Connection
from fairplay.transport.endpoint import format_endpoint, parse_endpoint
from fairplay.transport.sockets import accept_tcp
from tests.players.host_connection import connect_to_host

T = TypeVar("T")
P = ParamSpec("P")
AnyGame = Game[Any, Any, Any]
Question = dict[str, Any]

SEED = seed_from_text("tcp")
LIMITS = Limits(move=5.0, start_up=5.0, goodbye=0.1)
SHORT = Limits(move=0.3, start_up=5.0, goodbye=0.1)
SLOW = Limits(move=600.0, start_up=600.0, goodbye=0.1)  # a wait under these limits takes too long for a test
FISH = make_game("fish", {"rows": 3, "columns": 4})
TABLES: dict[str, tuple[AnyGame, tuple[str, ...]]] = {
    "fish": (make_game("fish", {"rows": 5, "columns": 5}), ("random", "greedy", "lookahead")),
    "tsuro": (make_game("tsuro", {}), ("random", "second", "third", "survivor")),
    "q": (make_game("q", {}), ("random", "dag", "ldasg")),
}


class Played(NamedTuple):
    """What came of a match: everything that must not depend on where the players are."""

    facts: list[Event]
    result: Result


class Client:
    """The other end of a connection, in the hands of a test."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.nonces: list[str] = []
        self.reader, self.writer = reader, writer

    async def hear(self) -> Question | None:
        """The next message; None: the host has hung up."""
        try:
            line = await self.reader.readline()
        except ConnectionError:
            return None
        return self.noted(msgspec.json.decode(line)) if line else None

    def noted(self, question: Question) -> Question:
        """The question, whose nonce is kept."""
        self.nonces.append(question.get("nonce", ""))
        return question

    async def say(self, text: bytes) -> None:
        """Send some bytes, whatever becomes of them."""
        self.writer.write(text)
        with suppress(ConnectionError):
            await self.writer.drain()

    def hang_up(self) -> None:
        self.writer.transport.abort()

    def reset(self) -> None:
        """Hang up in the rude way."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Way = Callable[[Client, bytes], Awaitable[None]]  # how to send a reply


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a test; afterwards nothing of it is left."""

    async def watched() -> T:
        async with asyncio.timeout(30):
            result = await coroutine
        await asyncio.sleep(0)  # for connections that were cut a moment ago
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return result

    before = descriptors()
    result = asyncio.run(watched())
    assert descriptors() == before
    return result


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def leaves_nothing(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that is run with an event loop; afterwards nothing of it is left."""

    @wraps(test)
    def run_it(*arguments: P.args, **named: P.kwargs) -> None:
        run(test(*arguments, **named))

    return run_it


def server(game: AnyGame, seat: int, name: str) -> Any:
    return game_info(game.name).built_in[name].make("", derive_seed(SEED, f"seat {seat}"))


def the_match(game: AnyGame, players: tuple[str, ...]) -> Match[Any, Any, Any]:
    """The same every time, with its id and so with its commitment."""
    return deal_match(game, players, SEED, match_id="m")


def in_process(game: AnyGame, players: tuple[str, ...]) -> Played:
    """The match as it is without any distance."""
    facts: list[Event] = []
    table = [LocalChannel(server(game, seat, name), game) for seat, name in enumerate(players)]
    match = play(the_match(game, players), table, on_event=lambda event, match: facts.append(event))
    return Played(facts, match.result)


def reply(question: Question | None, answer: Any = None) -> bytes:
    assert question is not None
    return wire.encode({"nonce": question["nonce"], "answer": answer}) + b"\n"


async def at_once(client: Client, text: bytes) -> None:
    await client.say(text)


async def play_honestly(client: Client, strategy: Any, way: Way = at_once, game: AnyGame = FISH) -> Question | None:
    """Answer every question until the host hangs up; a goodbye is what comes of it."""
    try:
        while question := await client.hear():
            if question["type"] == "goodbye":
                return question
            answer = strategy(game.unpack(question["view"])) if question["type"] == "take_turn" else None
            await way(client, reply(question, answer))
        return None
    finally:
        client.hang_up()


async def connected(listener: Listener, here: str | None = None) -> Client:
    """A client, which may come from a certain address."""
    local = None if here is None else (here, 0)
    return Client(*await asyncio.open_connection(listener.host, listener.port, local_addr=local))


class Host:
    """A listener that waits for players, and the clients that came; all of them are gone in the end."""

    def __init__(self, seats: int = 1, **options: Any) -> None:
        self.listener = listen_tcp("0")
        self._accepting = self.listener.accept_players(FISH, seats, **{"limits": LIMITS, **options})
        self._clients: list[Client] = []

    async def connect(self, here: str | None = None) -> Client:
        self._clients.append(await connected(self.listener, here))
        return self._clients[-1]

    async def __aenter__(self) -> Self:
        self.seating = asyncio.create_task(self._accepting)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.seating.cancel()
        await asyncio.wait([self.seating])
        for guest in () if self.seating.cancelled() else self.seating.result():
            await guest.channel.close(None)
        for client in self._clients:
            client.hang_up()


async def match_with(guest: ConnectedPlayer, game: AnyGame = FISH) -> Played:
    """A match against a built-in player; the guest has seat 1."""
    facts: list[Event] = []
    table: list[AsyncChannel] = [AsyncLocalChannel(LocalChannel(server(game, 0, "greedy"), game)), guest.channel]
    match = the_match(game, ("greedy", "greedy"))
    final = await play_async(match, table, on_event=lambda event, match: facts.append(event))
    return Played(facts, final.result)


def ejection(played: Played) -> Ejected:
    """The one and only; and the other player has won."""
    (ejected,) = played.result.ejected
    assert ejected.seat == 1
    assert played.result.ranking == (frozenset({0}),)
    return ejected


EXPECTED = in_process(FISH, ("greedy", "greedy"))
GREEDY = server(FISH, 1, "greedy")


# The honest


@leaves_nothing
async def test_a_listener_seats_players_in_the_order_in_which_they_say_hello() -> None:
    async with Host(2) as host:
        slow, quick = await host.connect(), await host.connect()
        questions = [await slow.hear(), await quick.hear()]
        await quick.say(reply(questions[1], {"name": "quick"}))
        await asyncio.sleep(0.05)
        await slow.say(reply(questions[0], {"name": "slow"}))
        assert [guest.name for guest in await host.seating] == ["quick", "slow"]


@pytest.mark.parametrize("endpoint", ["127.0.0.1:0", "[::1]:0"])
@leaves_nothing
async def test_a_listener_is_open_before_it_waits_and_closed_once_all_seats_are_taken(endpoint: str) -> None:
    if "::1" in endpoint and not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6")
    without_nagles_delay: list[int] = []

    async def accept(connection: socket.socket) -> Connection:
        without_nagles_delay.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        return await accept_tcp(connection)

    with Listener(*parse_endpoint(endpoint), accept) as listener:
        assert listener.address == endpoint.replace(":0", f":{listener.port}")
        client = await connected(listener)
        playing = asyncio.create_task(play_honestly(client, GREEDY))
        (guest,) = await listener.accept_players(FISH, limits=LIMITS)
        assert guest.endpoint == format_endpoint(*client.writer.get_extra_info("sockname")[:2])
        with pytest.raises(ConnectionRefusedError):
            await connected(listener)
        assert await match_with(guest) == EXPECTED
        assert await playing is None
    assert without_nagles_delay == [1]


def asked_before(client: Client, text: bytes, question: int) -> bytes:
    """The reply as if it were to another question that was heard."""
    return text.replace(client.nonces[-1].encode(), client.nonces[question].encode())


# The others, once they have a seat

CHEAT = b'{"nonce":"NONCE","answer":{"type":"place","at":[99,99]}}\n'
NO_TILE = "rule 3.2: there is no tile at [99, 99]"


@pytest.mark.parametrize(
    ("said", "honestly", "ejected"),
    [
        (b"\x00\xff no \xfe\n", 2, Ejected(1, Fault.MALFORMED, Moment.TURN, "not a reply: not UTF-8")),
        (b"\x00\xff no \xfe\n", 1, Ejected(1, Fault.MALFORMED, Moment.GREETING, "not a reply: not UTF-8")),
        (CHEAT, 2, Ejected(1, Fault.ILLEGAL, Moment.TURN, NO_TILE, "3.2")),
        (b"", 2, Ejected(1, Fault.TIMED_OUT, Moment.TURN, "no answer within 0.3 s")),
        (None, 2, Ejected(1, Fault.GONE, Moment.TURN, "the connection was closed")),
    ],
    ids=["garbage", "garbage at the greeting", "cheating", "silence", "hanging up"],
)
@leaves_nothing
async def test_a_client_that_misbehaves_is_ejected_and_told_why_and_the_match_goes_on(
    said: bytes | None, honestly: int, ejected: Ejected
) -> None:
    async def misbehave(client: Client) -> Question | None:
        for _ in range(honestly):
            await client.say(reply(await client.hear()))
        await client.hear()
        if said is None:
            client.hang_up()
            return None
        await client.say(said.replace(b"NONCE", client.nonces[-1].encode()))
        return await client.hear()

    async with Host(limits=SHORT) as host:
        misbehaving = asyncio.create_task(misbehave(await host.connect()))
        (guest,) = await host.seating
        played, goodbye = await match_with(guest), await misbehaving

    fault, why, clause = ejected.fault.value, ejected.why, ejected.clause
    assert ejection(played) == ejected
    told = {"type": "goodbye", "match": "", "fault": fault, "why": why, "clause": clause}
    assert goodbye == (None if said is None else told)


@pytest.mark.alone
@leaves_nothing
async def test_a_client_that_never_reads_is_given_up_in_time() -> None:
    async with Host() as host:
        client = await host.connect()
        await client.say(reply(await client.hear()))
        (guest,) = await host.seating
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        guest.channel._connection.send(b"x" * 50_000_000)
        since = time.monotonic()
        await guest.channel.close(Ejected(0, Fault.TIMED_OUT, Moment.TURN, "no answer"))
        assert time.monotonic() - since < LIMITS.goodbye + 0.5


# The others, before they have a seat


async def stays(client: Client) -> None:
    """Wait until the host hangs up."""
    while await client.reader.read(65536):
        pass


async def say_and_stay(client: Client, text: bytes) -> None:
    await client.say(text)
    await stays(client)


async def connects_and_is_silent(client: Client) -> None:
    await stays(client)


async def asks_for_a_page(client: Client) -> None:
    await say_and_stay(client, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")


async def asks_for_half_a_page(client: Client) -> None:
    await say_and_stay(client, b"GET / HT")


async def speaks_tls(client: Client) -> None:
    await say_and_stay(client, bytes.fromhex("16030100c8010000c40303") + bytes(189))


async def goes_at_once(client: Client) -> None:
    client.hang_up()


async def resets_at_once(client: Client) -> None:
    client.reset()


async def closes_its_half(client: Client) -> None:
    client.writer.write_eof()
    await stays(client)


async def sends_without_end(client: Client) -> None:
    await say_and_stay(client, b"x" * 1_000_000)


async def guesses_the_nonce(client: Client) -> None:
    await say_and_stay(client, b'{"nonce":"1","answer":null}\n')


NON_PLAYERS = [
    connects_and_is_silent,
    asks_for_a_page,
    asks_for_half_a_page,
    speaks_tls,
    goes_at_once,
    resets_at_once,
    closes_its_half,
    sends_without_end,
    guesses_the_nonce,
]


async def connect_non_player(listener: Listener, behave: Callable[[Client], Awaitable[None]]) -> None:
    """A connection that is no player; any reaction of the host to it is fine."""
    with suppress(ConnectionError):
        client = await connected(listener)
        try:
            await behave(client)
        finally:
            client.hang_up()


@pytest.mark.parametrize("behave", NON_PLAYERS, ids=lambda behave: behave.__name__)
@leaves_nothing
async def test_connections_without_hello_that_come_first_take_no_seat(
    behave: Callable[[Client], Awaitable[None]],
) -> None:
    """The host does not wait until their time is up, either."""
    async with Host(limits=SLOW) as host:
        often = 400 if behave is connects_and_is_silent else 1
        first = [asyncio.create_task(connect_non_player(host.listener, behave)) for _ in range(often)]
        await asyncio.sleep(0.05)
        honest = asyncio.create_task(play_honestly(await host.connect(), GREEDY))
        (guest,) = await host.seating
        assert await match_with(guest) == EXPECTED
        assert await honest is None
        await asyncio.gather(*first)


@leaves_nothing
async def test_an_invalid_name_is_refused_at_hello_with_the_rule_for_names() -> None:
    async with Host(match_id="m") as host:
        bad, good = await host.connect(), await host.connect()
        await bad.say(reply(await bad.hear(), {"name": "two words"}))
        why = "the answer to hello is neither null nor an introduction: a name is 1 to 20 of A-Z, a-z, 0-9, _ and -"
        assert await bad.hear() == {"type": "goodbye", "match": "m", "fault": "malformed", "why": why, "clause": ""}
        await good.say(reply(await good.hear(), {"name": "greedy"}))
        assert [guest.name for guest in await host.seating] == ["greedy"]


@leaves_nothing
async def test_a_pending_connection_beyond_the_limit_is_closed_at_once() -> None:
    async with Host(limits=SLOW) as host:
        staying = [asyncio.create_task(stays(await host.connect())) for _ in range(256 + 3)]
        while sum(one.done() for one in staying) < 3:
            await asyncio.wait([one for one in staying if not one.done()], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0.05)
        assert sum(one.done() for one in staying) == 3
    await asyncio.wait(staying)


@leaves_nothing
async def test_many_connections_from_one_address_displace_no_other_address() -> None:
    async with Host() as host:
        staying = [asyncio.create_task(stays(await host.connect(f"127.0.0.{number}"))) for number in range(2, 22)]
        connections = [await host.connect() for _ in range(600)]
        await asyncio.gather(*(client.hear() for client in connections[:-100]))
        assert not any(one.done() for one in staying)
    await asyncio.wait(staying)


@leaves_nothing
async def test_two_hello_answers_at_once_for_one_seat_seat_one_player() -> None:
    async with Host() as host:
        clients = [await host.connect(), await host.connect()]
        questions = [await client.hear() for client in clients]
        for client, question in zip(clients, questions, strict=True):  # without giving the host a chance in between
            client.writer.write(reply(question))
        (guest,) = await host.seating
        places = ["127.0.0.1:{}".format(client.writer.get_extra_info("sockname")[1]) for client in clients]
        assert await clients[1 - places.index(guest.endpoint)].hear() is None


CONNECT_FOR_EVER = """
import socket, sys, time
port, there = int(sys.argv[1]), []
while True:
    try:
        there.append(socket.create_connection(("127.0.0.1", port)))
    except OSError:
        pass
    if len(there) > 600:
        there.pop(0).close()
    time.sleep(0.001)
"""


async def try_to_come_in(host: Host, here: str, *, tries: int) -> int:
    """How often an honest player that takes 100 ms for its hello has to try until it is asked something else."""
    for tried in range(1, tries + 1):
        with suppress(ConnectionError):
            client = await host.connect(here)
            while question := await client.hear():
                if question["type"] != "hello":
                    return tried
                await asyncio.sleep(0.1)
                await client.say(reply(question, {"name": "honest"}))
    return tries + 1


@pytest.mark.parametrize(
    ("here", "tries"), [("127.0.0.2", 1), ("127.0.0.1", 20)], ids=["another address", "one address"]
)
@leaves_nothing
async def test_a_connection_every_millisecond_does_not_keep_out_a_player(here: str, tries: int) -> None:
    async with Host(limits=Limits(start_up=20.0)) as host:
        port = str(host.listener.port)
        with subprocess.Popen([sys.executable, "-I", "-S", "-c", CONNECT_FOR_EVER, port]) as connecting:
            try:
                await asyncio.sleep(0.5)  # in which they connect
                trying = asyncio.create_task(try_to_come_in(host, here, tries=tries))
                (guest,) = await host.seating
            finally:
                connecting.kill()
        await guest.channel.ask(Tell("welcome"))
        await guest.channel.close(None)
        assert guest.name == "honest"
        assert await trying <= tries


@pytest.mark.alone
@leaves_nothing
async def test_a_silent_connection_is_closed_at_the_limit_for_hello() -> None:
    async with Host(limits=Limits(start_up=0.2), timeout_s=5.0) as host:
        since = time.monotonic()
        await stays(await host.connect())
        assert time.monotonic() - since == pytest.approx(0.2, abs=0.4)
        client = await host.connect()
        await client.say(reply(await client.hear()))
        assert len(await host.seating) == 1


@pytest.mark.alone
@leaves_nothing
async def test_the_limit_in_hello_is_the_one_that_is_enforced() -> None:
    async with Host(timeout_s=0.5) as host:
        await asyncio.sleep(0.2)
        client, since = await host.connect(), time.monotonic()
        question = await client.hear()
        last = await client.hear()  # two times are up at once, its own and the listener's: it may hear why, or not
        assert last is None or last["fault"] == "timed_out"
        assert question is not None and question["limit"] < 0.31
        assert time.monotonic() - since == pytest.approx(question["limit"], abs=0.3)


@leaves_nothing
async def test_connected_players_play_without_a_missing_one_which_is_ejected() -> None:
    async with Host(2, timeout_s=0.5) as host:
        honest = asyncio.create_task(play_honestly(await host.connect(), GREEDY))
        match = await play_async(deal_match(FISH, ("a", "b"), SEED), [guest.channel for guest in await host.seating])
        assert await honest is None

    assert match.result.ranking == (frozenset({0}),)
    assert match.result.ejected == (Ejected(1, Fault.GONE, Moment.GREETING, "no player connected"),)


@leaves_nothing
async def test_a_cancelled_wait_for_players_leaves_nothing_open() -> None:
    async with Host(2) as host:
        one, other = await host.connect(), await host.connect()
        await one.say(reply(await one.hear()))
        await other.hear()
        await asyncio.sleep(0.05)
        host.seating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await host.seating
        assert (await one.hear(), await other.hear()) == (None, None)


@pytest.mark.parametrize("turns", range(12))
@leaves_nothing
async def test_a_wait_cancelled_at_the_moment_of_a_connection_closes_it(turns: int) -> None:
    async with Host() as host:
        await host.connect()
        for _ in range(turns):
            await asyncio.sleep(0)


HOST_WITHOUT_DESCRIPTORS = """
import asyncio, resource
from fairplay.games import make_game
from fairplay.protocol.limits import Limits
from fairplay.players.listener import listen_tcp

async def main():
    listener = listen_tcp("0")
    resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
    print(listener.port, flush=True)
    (guest,) = await listener.accept_players(make_game("fish", {}), limits=Limits(start_up=20.0))
    print(guest.name, flush=True)
    await guest.channel.close(None)

asyncio.run(main())
"""


def test_a_listener_without_file_descriptors_goes_on_when_it_has_some() -> None:
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", HOST_WITHOUT_DESCRIPTORS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as host:
        assert host.stdout is not None
        port = int(host.stdout.readline())
        non_players = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        with connect_to_host(f"127.0.0.1:{port}") as (lines, send):
            send(reply(msgspec.json.decode(next(lines)), {"name": "ann"}))
            out, err = host.communicate(timeout=20)
        for one in non_players:
            one.close()

    assert (out, err, host.returncode) == ("ann\n", "", 0)


# Places


@pytest.mark.parametrize(
    "place",
    ["", ":", ":4000", "x", "host:", "host:x", "host:-1", "host:65536", "::1:4000", "host:1:2", "[::1]", "[]:1", "٤"],
)
def test_an_invalid_endpoint_is_refused(place: str) -> None:
    with pytest.raises(BadRequest, match="is not an endpoint; write PORT or HOST:PORT"):
        parse_endpoint(place)


def test_an_endpoint_that_is_in_use_or_cannot_be_used_is_refused() -> None:
    with (
        listen_tcp("0") as listener,
        pytest.raises(BadRequest, match=f"cannot listen at 127.0.0.1:{listener.port}: Address already in use"),
    ):
        listen_tcp(str(listener.port))
    for host in ("no.such.host.invalid", "256.1.1.1", "a" * 300, "a..b"):
        with pytest.raises(BadRequest, match="cannot listen at"):
            listen_tcp(f"{host}:0")


def test_hundreds_of_connections_may_wait_to_be_accepted() -> None:
    most = min(500, int(Path("/proc/sys/net/core/somaxconn").read_text()))
    with listening_socket("127.0.0.1", 0) as listener, ExitStack() as coming:
        for _ in range(most):
            coming.enter_context(socket.create_connection(listener.getsockname(), timeout=5.0))
        listener.settimeout(5.0)
        for _ in range(most):
            coming.enter_context(listener.accept()[0])
