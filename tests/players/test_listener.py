"""Test matches over TCP, with honest players and with all others that can connect to a port."""

import asyncio
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import pytest

from fairplay.core.chance import derive_seed, seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Event, Fault, Result
from fairplay.core.game import Game, Moment
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Message, Tell
from fairplay.core.roles import AsyncChannel, NullRecord
from fairplay.games import game_info, make_game
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.players.listener import ConnectedPlayer, Listener, listen_tcp, listening_socket
from fairplay.players.player_loop import serve_player
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play, play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.transport.connection import Connection
from fairplay.transport.endpoint import parse_endpoint
from fairplay.transport.sockets import accept_tcp
from tests.players.host_connection import connect_to_host

T = TypeVar("T")
AnyGame = Game[Any, Any, Any]
Question = dict[str, Any]

SEED = seed_from_text("tcp")
LIMITS = Limits(move=5.0, start_up=5.0, goodbye=0.1)
SHORT = Limits(move=0.3, start_up=5.0, goodbye=0.1)
SLOW = Limits(move=600.0, start_up=600.0, goodbye=0.1)  # a wait under these limits takes too long for a test
PEER_TIMEOUT_S = 60.0  # which no test needs
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


def reply(question: Question, answer: Any = None) -> bytes:
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


async def match_with(guest: ConnectedPlayer, game: AnyGame = FISH, *, watch: list[Any] | None = None) -> Played:
    """A match against a built-in player; the guest has seat 1."""
    facts: list[Event] = []

    class Watch(NullRecord):
        def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
            facts.append(event)
            if watch is not None and isinstance(event, Ejected):
                watch.append(answer)
            return False

    table: list[AsyncChannel] = [AsyncLocalChannel(LocalChannel(server(game, 0, "greedy"), game)), guest.channel]
    match = await play_async(the_match(game, ("greedy", "greedy")), table, Watch())
    return Played(facts, match.result)


async def meet(client: Callable[[Client], Awaitable[Any]], *, limits: Limits = LIMITS) -> tuple[Played, Any]:
    """A match of Fish with a client in seat 1, and what the client makes of it."""
    with listen_tcp("0") as listener:
        coming = asyncio.create_task(visit(listener, client))
        (guest,) = await listener.accept_players(FISH, limits=limits)
        played = await match_with(guest)
        return played, await coming


async def visit(listener: Listener, client: Callable[[Client], Awaitable[Any]]) -> Any:
    connected_client = await connected(listener)
    try:
        return await client(connected_client)
    finally:
        connected_client.hang_up()


def ejection(played: Played) -> Ejected:
    """The one and only; and the other player has won."""
    (ejected,) = played.result.ejected
    assert ejected.seat == 1
    assert played.result.ranking == (frozenset({0}),)
    return ejected


def serve(listener: Listener, game: AnyGame, seat: int, name: str, came: threading.Event | None = None) -> None:
    """A player as people write them: blocking, somewhere else."""
    with connect_to_host(listener.address) as (received, send):

        def lines() -> Iterator[bytes]:
            for text in received:
                yield text
                if came is not None:
                    came.set()

        goodbye = serve_player(lambda known: server(known, seat, name), lines(), send, name=name)
    assert goodbye is None


EXPECTED = in_process(FISH, ("greedy", "greedy"))
GREEDY = server(FISH, 1, "greedy")


# The honest


@pytest.mark.parametrize("name", TABLES)
def test_a_match_over_tcp_is_the_match_in_this_process(name: str) -> None:
    game, players = TABLES[name]

    async def host() -> tuple[Played, list[str | None]]:
        listeners = [listen_tcp("0") for _ in players]
        clients = [
            asyncio.create_task(asyncio.to_thread(serve, listener, game, seat, player))
            for seat, (listener, player) in enumerate(zip(listeners, players, strict=True))
        ]
        guests = [
            guest
            for (guest,) in await asyncio.gather(
                *(listener.accept_players(game, limits=LIMITS) for listener in listeners)
            )
        ]
        facts: list[Event] = []
        table = [guest.channel for guest in guests]
        match = await play_async(the_match(game, players), table, on_event=lambda event, match: facts.append(event))
        await asyncio.gather(*clients)
        return Played(facts, match.result), [guest.name for guest in guests]

    played, names = run(host())

    assert played == in_process(game, players)
    assert names == list(players)


def test_a_listener_seats_players_in_the_order_in_which_they_connect() -> None:
    async def host() -> list[str | None]:
        came = threading.Event()
        with listen_tcp("0") as listener:
            first = asyncio.create_task(asyncio.to_thread(serve, listener, FISH, 0, "greedy", came))
            seating = asyncio.create_task(listener.accept_players(FISH, 2, limits=LIMITS))
            second = asyncio.create_task(visit(listener, named_later(asyncio.to_thread(came.wait))))
            guests = await seating
        for guest in guests:
            await guest.channel.close(None)
        await asyncio.gather(first, second)
        return [guest.name for guest in guests]

    def named_later(before: Awaitable[Any]) -> Callable[[Client], Awaitable[Any]]:
        async def client(connected_client: Client) -> None:
            question = await connected_client.hear()
            await before
            assert question is not None
            await connected_client.say(reply(question, {"name": "second"}))
            assert await connected_client.hear() is None

        return client

    assert run(host()) == ["greedy", "second"]


def test_a_listener_is_open_before_it_waits_for_players() -> None:
    async def host() -> Played:
        with listen_tcp("127.0.0.1:0") as listener:
            assert listener.address == f"127.0.0.1:{listener.port}"
            client = await connected(listener)
            playing = asyncio.create_task(play_honestly(client, GREEDY))
            (guest,) = await listener.accept_players(FISH, limits=LIMITS)
            assert guest.endpoint == "127.0.0.1:{}".format(client.writer.get_extra_info("sockname")[1])
            played = await match_with(guest)
            assert await playing is None
            return played

    assert run(host()) == EXPECTED


def test_a_listener_is_closed_once_all_seats_are_taken() -> None:
    async def host() -> None:
        with listen_tcp("0") as listener:
            client = await connected(listener)
            playing = asyncio.create_task(play_honestly(client, GREEDY))
            (guest,) = await listener.accept_players(FISH, limits=LIMITS)
            with pytest.raises(ConnectionRefusedError):
                await connected(listener)
            await guest.channel.close(None)
            assert await playing is None

    run(host())


def test_a_listener_can_use_ipv6() -> None:
    if not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has none")

    async def host() -> Played:
        with listen_tcp("[::1]:0") as listener:
            assert listener.address == f"[::1]:{listener.port}"
            playing = asyncio.create_task(play_honestly(await connected(listener), GREEDY))
            (guest,) = await listener.accept_players(FISH, limits=LIMITS)
            played = await match_with(guest)
            await playing
            return played

    assert run(host()) == EXPECTED


def test_messages_are_sent_without_nagles_delay() -> None:
    found = []

    async def line(connection: socket.socket) -> Connection:
        found.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        return await accept_tcp(connection)

    async def host() -> None:
        with Listener("127.0.0.1", 0, line) as listener:
            playing = asyncio.create_task(play_honestly(await connected(listener), GREEDY))
            (guest,) = await listener.accept_players(FISH, limits=LIMITS)
            await guest.channel.close(None)
            await playing

    run(host())

    assert found == [1]


def test_the_result_is_the_same_wherever_a_reply_is_split() -> None:
    def split(at: int) -> Way:
        async def way(client: Client, text: bytes) -> None:
            await client.say(text[:at])
            await asyncio.sleep(0)
            await asyncio.sleep(0.0005)
            await client.say(text[at:])

        return way

    for at in range(1, 100):
        played, goodbye = run(meet(lambda client, at=at: play_honestly(client, GREEDY, split(at))))  # type: ignore[misc]
        assert (played, goodbye) == (EXPECTED, None), at


def test_the_result_is_the_same_when_replies_come_byte_by_byte() -> None:
    async def way(client: Client, text: bytes) -> None:
        for byte in text:
            await client.say(bytes([byte]))
            await asyncio.sleep(0)

    assert run(meet(lambda client: play_honestly(client, GREEDY, way))) == (EXPECTED, None)


@pytest.mark.parametrize("end", [b"\r\n", b" \n", b"\t\r\n"], ids=repr)
def test_blanks_at_the_end_of_a_line_change_nothing(end: bytes) -> None:
    async def way(client: Client, text: bytes) -> None:
        await client.say(text[:-1] + end)

    assert run(meet(lambda client: play_honestly(client, GREEDY, way))) == (EXPECTED, None)


def test_a_few_copies_of_a_reply_are_ignored() -> None:
    left = [5]

    async def way(client: Client, text: bytes) -> None:
        left[0] -= 1
        await client.say(text * (2 if left[0] >= 0 else 1))

    assert run(meet(lambda client: play_honestly(client, GREEDY, way))) == (EXPECTED, None)


def test_an_answer_to_an_old_question_is_ignored() -> None:
    old: list[bytes] = []

    async def way(client: Client, text: bytes) -> None:
        before = old[-1] if len(old) == 3 else b""
        old.append(text)
        await client.say(before + text)

    assert run(meet(lambda client: play_honestly(client, GREEDY, way))) == (EXPECTED, None)


def test_slow_but_honest_players_are_not_ejected() -> None:
    async def way(client: Client, text: bytes) -> None:
        await asyncio.sleep(0.1)
        await client.say(text)

    assert run(meet(lambda client: play_honestly(client, GREEDY, way), limits=SHORT)) == (EXPECTED, None)


# The others, once they have a seat


async def says_nothing(client: Client, text: bytes) -> None:
    pass


async def says_garbage(client: Client, text: bytes) -> None:
    await client.say(b"\x00\xff not JSON \xfe\n")


async def says_half(client: Client, text: bytes) -> None:
    await client.say(text[: len(text) // 2] + b"\n")


async def says_an_empty_line(client: Client, text: bytes) -> None:
    await client.say(b"\n")


async def answers_an_unasked_question(client: Client, text: bytes) -> None:
    await client.say(b'{"nonce":"0-1","answer":null}\n')


def asked_before(client: Client, text: bytes, question: int) -> bytes:
    """The reply as if it were to another question that was heard."""
    return text.replace(client.nonces[-1].encode(), client.nonces[question].encode())


async def answers_the_next_question(client: Client, text: bytes) -> None:
    number, _, rest = client.nonces[-1].partition("-")
    await client.say(text.replace(client.nonces[-1].encode(), f"{int(number) + 1}-{rest}".encode()))


async def answers_only_the_last_question(client: Client, text: bytes) -> None:
    await client.say(asked_before(client, text, -2))


async def has_no_end(client: Client, text: bytes) -> None:
    await client.say(text[:-1])


async def has_no_end_and_hangs_up(client: Client, text: bytes) -> None:
    await client.say(text[:-1])
    client.writer.write_eof()


async def is_endless(client: Client, text: bytes) -> None:
    await client.say(b'{"nonce":"' + b"a" * 1_000_000)


async def is_a_little_too_long(client: Client, text: bytes) -> None:
    await client.say(text[:-1] + b" " * (wire.MAX_LINE_BYTES - len(text) + 2) + b"\n")


async def drips(client: Client, text: bytes) -> None:
    for byte in text[:25]:
        await client.say(bytes([byte]))
        await asyncio.sleep(0.015)


async def floods(client: Client, text: bytes) -> None:
    await client.say(asked_before(client, text, 0) * 10_000)


async def hangs_up(client: Client, text: bytes) -> None:
    client.hang_up()


async def resets(client: Client, text: bytes) -> None:
    client.reset()


async def half_closes(client: Client, text: bytes) -> None:
    client.writer.write_eof()


BAD: dict[Way, tuple[Fault, str]] = {
    says_nothing: (Fault.TIMED_OUT, "no answer within 0.3 s"),
    says_garbage: (Fault.MALFORMED, "not a reply: not UTF-8"),
    says_half: (Fault.MALFORMED, "not a reply: not JSON"),
    says_an_empty_line: (Fault.MALFORMED, "not a reply: not JSON"),
    answers_an_unasked_question: (Fault.MALFORMED, "a reply to a question that was never asked"),
    answers_the_next_question: (Fault.MALFORMED, "a reply to a question that was never asked"),
    answers_only_the_last_question: (Fault.TIMED_OUT, "no answer within 0.3 s"),
    has_no_end: (Fault.TIMED_OUT, "no answer within 0.3 s"),
    is_endless: (Fault.FLOOD, "sent more than 8192 bytes at once"),
    is_a_little_too_long: (Fault.FLOOD, "sent more than 8192 bytes at once"),
    drips: (Fault.TIMED_OUT, "no answer within 0.3 s"),
    floods: (Fault.FLOOD, "answered old questions again and again"),
    hangs_up: (Fault.GONE, "the connection was closed"),
    resets: (Fault.GONE, "the connection was closed"),
    half_closes: (Fault.GONE, "the connection was closed"),
}


def bad_from(question: int, bad: Way) -> Callable[[Client], Awaitable[Question | None]]:
    """A client that is honest before the n-th question (0: hello), and then bad once."""
    asked = iter(range(1000))

    async def way(client: Client, text: bytes) -> None:
        await (bad if next(asked) == question else at_once)(client, text)

    return lambda client: play_honestly(client, GREEDY, way)


@pytest.mark.parametrize("bad", BAD, ids=lambda way: way.__name__)
def test_a_client_that_misbehaves_on_its_turn_is_ejected_and_the_match_goes_on(bad: Way) -> None:
    played, _ = run(meet(bad_from(2, bad), limits=SHORT))

    ejected = ejection(played)
    assert (ejected.fault, ejected.why) == BAD[bad]
    assert ejected.moment is Moment.TURN


@pytest.mark.parametrize("bad", [has_no_end_and_hangs_up])
def test_an_incomplete_line_is_no_answer(bad: Way) -> None:
    played, _ = run(meet(bad_from(2, bad), limits=SHORT))

    assert ejection(played).fault in (Fault.GONE, Fault.MALFORMED)


@pytest.mark.parametrize("bad", BAD, ids=lambda way: way.__name__)
def test_a_client_that_misbehaves_at_the_greeting_is_ejected(bad: Way) -> None:
    played, _ = run(meet(bad_from(1, bad), limits=SHORT))

    assert ejection(played).fault is BAD[bad][0]
    assert ejection(played).moment is Moment.GREETING


@pytest.mark.parametrize("bad", [says_garbage, is_endless, says_half], ids=lambda way: way.__name__)
def test_an_ejected_client_is_told_why_and_disconnected(bad: Way) -> None:
    played, goodbye = run(meet(bad_from(2, bad), limits=SHORT))

    if goodbye is not None or bad is not is_endless:  # what was never read may take the goodbye with it
        assert goodbye == {
            "type": "goodbye",
            "match": "",
            "fault": ejection(played).fault.value,
            "why": ejection(played).why,
            "clause": "",
        }


def test_a_client_that_closed_its_sending_side_is_told_why_it_is_ejected() -> None:
    played, goodbye = run(meet(bad_from(2, half_closes), limits=SHORT))

    assert ejection(played).fault is Fault.GONE
    assert goodbye is not None


def test_a_cheat_is_told_which_rule_it_broke() -> None:
    async def way(client: Client, text: bytes) -> None:
        plain = msgspec.json.decode(text)
        if plain["answer"] is not None:
            plain["answer"] = {"type": "place", "at": [99, 99]}
        await client.say(wire.encode(plain) + b"\n")

    played, goodbye = run(meet(lambda client: play_honestly(client, GREEDY, way)))

    assert ejection(played).fault is Fault.ILLEGAL
    assert goodbye is not None
    assert goodbye["clause"] == ejection(played).clause == "3.2"


@pytest.mark.alone
def test_a_reply_that_drips_times_out_at_the_limit_of_the_answer() -> None:
    async def host() -> float:
        failures: list[Any] = []
        with listen_tcp("0") as listener:
            coming = asyncio.create_task(visit(listener, bad_from(2, drips)))
            (guest,) = await listener.accept_players(FISH, limits=SHORT)
            await match_with(guest, watch=failures)
            await coming
        took: float = failures[0].took
        return took

    assert run(host()) == pytest.approx(SHORT.move, abs=0.3)


@pytest.mark.alone
def test_a_client_that_never_reads_times_out() -> None:
    lines: list[Connection] = []

    async def line(connection: socket.socket) -> Connection:
        lines.append(await accept_tcp(connection))
        return lines[-1]

    async def host() -> None:
        with Listener("127.0.0.1", 0, line) as listener:
            client = await connected(listener)
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
            question = await client.hear()
            assert question is not None
            await client.say(reply(question))
            (guest,) = await seating
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]
            lines[0].send(b"x" * 50_000_000)
            since = time.monotonic()
            await guest.channel.close(Ejected(0, Fault.TIMED_OUT, Moment.TURN, "no answer"))
            assert time.monotonic() - since < LIMITS.goodbye + 0.5
            client.hang_up()

    run(host())


@pytest.mark.parametrize("matches", [20, pytest.param(200, marks=[pytest.mark.nightly, pytest.mark.time_limit(300)])])
def test_many_matches_with_bad_clients_leave_nothing_behind(matches: int) -> None:
    quick = Limits(move=0.05, start_up=5.0, goodbye=0.05)
    ways = [*BAD, has_no_end_and_hangs_up]

    async def host() -> int:
        ejected = 0
        for number in range(matches):
            played, _ = await meet(bad_from(1 + number % 3, ways[number % len(ways)]), limits=quick)
            ejected += len(played.result.ejected)
            assert 0 not in {one.seat for one in played.result.ejected}
        return ejected

    assert run(host()) >= 0.95 * matches  # `run` looks for what is left


# The others, before they have a seat


async def stays(client: Client) -> None:
    """Wait until the host hangs up."""
    while await client.reader.read(65536):
        pass


async def connects_and_is_silent(client: Client) -> None:
    await stays(client)


async def asks_for_a_page(client: Client) -> None:
    await client.say(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await stays(client)


async def asks_for_half_a_page(client: Client) -> None:
    await client.say(b"GET / HT")
    await stays(client)


async def asks_for_a_websocket(client: Client) -> None:
    await client.say(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    await stays(client)


async def speaks_tls(client: Client) -> None:
    await client.say(bytes.fromhex("16030100c8010000c40303") + bytes(189))
    await stays(client)


async def goes_at_once(client: Client) -> None:
    client.hang_up()


async def resets_at_once(client: Client) -> None:
    client.reset()


async def closes_its_half(client: Client) -> None:
    client.writer.write_eof()
    await stays(client)


async def sends_without_end(client: Client) -> None:
    await client.say(b"x" * 1_000_000)
    await stays(client)


async def guesses_the_nonce(client: Client) -> None:
    await client.say(b'{"nonce":"1","answer":null}\n')
    await stays(client)


async def has_a_bad_name(client: Client) -> None:
    question = await client.hear()
    assert question is not None
    await client.say(reply(question, {"name": "x" * 21}))
    await stays(client)


NON_PLAYERS = [
    connects_and_is_silent,
    asks_for_a_page,
    asks_for_half_a_page,
    asks_for_a_websocket,
    speaks_tls,
    goes_at_once,
    resets_at_once,
    closes_its_half,
    sends_without_end,
    guesses_the_nonce,
    has_a_bad_name,
]


async def connect_non_player(listener: Listener, behave: Callable[[Client], Awaitable[None]]) -> None:
    """A connection that is no player; any reaction of the host to it is fine."""
    with suppress(ConnectionError):
        await visit(listener, behave)


async def play_after_non_players(non_players: list[Callable[[Client], Awaitable[None]]]) -> Played:
    """A match with an honest player that comes after all of these, and does not wait until their time is up."""
    with listen_tcp("0") as listener:
        first = [asyncio.create_task(connect_non_player(listener, behave)) for behave in non_players]
        seating = asyncio.create_task(listener.accept_players(FISH, limits=SLOW))
        await asyncio.sleep(0.05)
        honest = asyncio.create_task(visit(listener, lambda client: play_honestly(client, GREEDY)))
        (guest,) = await seating
        played = await match_with(guest)
        assert await honest is None
        await asyncio.gather(*first)
        return played


@pytest.mark.parametrize("behave", NON_PLAYERS, ids=lambda behave: behave.__name__)
def test_a_connection_without_hello_that_comes_first_takes_no_seat(behave: Callable[[Client], Awaitable[None]]) -> None:
    assert run(play_after_non_players([behave])) == EXPECTED


@pytest.mark.parametrize("name", ["", "x" * 21, "two words", "ann\n", "\x1b[2J"])
def test_an_invalid_name_is_refused_at_hello_with_the_rule_for_names(name: str) -> None:
    async def refused(client: Client) -> Question | None:
        question = await client.hear()
        assert question is not None
        await client.say(reply(question, {"name": name}))
        return await client.hear()

    async def host() -> tuple[Question | None, str | None]:
        with listen_tcp("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, match_id="m", limits=LIMITS))
            goodbye = await visit(listener, refused)
            coming = asyncio.create_task(asyncio.to_thread(serve, listener, FISH, 1, "greedy"))
            (guest,) = await seating
            await guest.channel.close(None)
            await coming
            return goodbye, guest.name

    goodbye, seated = run(host())

    why = "the answer to hello is neither null nor an introduction: a name is 1 to 20 of A-Z, a-z, 0-9, _ and -"
    assert goodbye == {"type": "goodbye", "match": "m", "fault": "malformed", "why": why, "clause": ""}
    assert seated == "greedy"


def test_a_player_is_seated_among_many_connections_without_hello() -> None:
    assert run(play_after_non_players([connects_and_is_silent] * 400)) == EXPECTED


def test_a_pending_connection_beyond_the_limit_is_closed_at_once() -> None:
    async def host() -> None:
        with listen_tcp("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=SLOW))
            clients = [await connected(listener) for _ in range(256 + 3)]
            staying = [asyncio.create_task(stays(client)) for client in clients]
            while sum(one.done() for one in staying) < 3:
                await asyncio.wait([one for one in staying if not one.done()], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(0.05)
            assert sum(one.done() for one in staying) == 3
            seating.cancel()
            await asyncio.wait([seating, *staying])
            for client in clients:
                client.hang_up()

    run(host())


def test_many_connections_from_one_address_displace_no_other_address() -> None:
    async def host() -> int:
        with listen_tcp("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
            few = [await connected(listener, f"127.0.0.{number}") for number in range(2, 22)]
            staying = [asyncio.create_task(stays(client)) for client in few]
            connections = [await connected(listener) for _ in range(600)]
            await asyncio.gather(*(client.hear() for client in connections[:-100]))
            left = sum(one.done() for one in staying)
            seating.cancel()
            await asyncio.wait([seating, *staying])
            for client in (*few, *connections):
                client.hang_up()
            return left

    assert run(host()) == 0


def test_two_hello_answers_at_once_for_one_seat_seat_one_player() -> None:
    async def host() -> None:
        with listen_tcp("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
            clients = [await connected(listener), await connected(listener)]
            for client in clients:
                question = await client.hear()
                assert question is not None
            for client in clients:  # without giving the host a chance in between
                client.writer.write(reply({"nonce": client.nonces[-1]}))
            (guest,) = await seating
            places = ["127.0.0.1:{}".format(client.writer.get_extra_info("sockname")[1]) for client in clients]
            other = clients[1 - places.index(guest.endpoint)]
            assert await other.hear() is None
            await guest.channel.close(None)
            for client in clients:
                client.hang_up()

    run(host())


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


def try_to_come_in(listener: Listener, here: str, *, tries: int) -> int:
    """How often an honest player that takes 100 ms for its hello has to try until it is asked something else."""
    for tried in range(1, tries + 1):
        with (
            suppress(ConnectionError),
            socket.create_connection(
                (listener.host, listener.port), timeout=PEER_TIMEOUT_S, source_address=(here, 0)
            ) as line,
        ):
            for text in line.makefile("rb"):
                question = msgspec.json.decode(text)
                if question["type"] != "hello":
                    return tried
                time.sleep(0.1)
                line.sendall(reply(question, {"name": "honest"}))
    return tries + 1


@pytest.mark.parametrize(
    ("here", "tries"), [("127.0.0.2", 1), ("127.0.0.1", 20)], ids=["another address", "one address"]
)
def test_a_connection_every_millisecond_does_not_keep_out_a_player(here: str, tries: int) -> None:
    async def host(connections: Any) -> tuple[str | None, int]:
        with listen_tcp("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=Limits(start_up=20.0)))
            connections.append(
                subprocess.Popen([sys.executable, "-I", "-S", "-c", CONNECT_FOR_EVER, str(listener.port)])
            )
            await asyncio.sleep(0.5)  # in which they connect
            trying = asyncio.create_task(asyncio.to_thread(try_to_come_in, listener, here, tries=tries))
            (guest,) = await seating
            connections[0].kill()
            await guest.channel.ask(Tell("welcome"))
            await guest.channel.close(None)
            return guest.name, await trying

    connections: list[subprocess.Popen[bytes]] = []
    try:
        name, tried = run(host(connections))
    finally:
        for one in connections:
            one.kill()
            one.wait()

    assert name == "honest"
    assert tried <= tries


@pytest.mark.alone
def test_a_silent_connection_is_closed_at_the_limit_for_hello() -> None:
    async def host() -> float:
        with listen_tcp("0") as listener:
            limits = Limits(start_up=0.2)
            seating = asyncio.create_task(listener.accept_players(FISH, limits=limits, timeout_s=5.0))
            since = time.monotonic()
            await visit(listener, stays)
            waited = time.monotonic() - since
            honest = asyncio.create_task(visit(listener, lambda client: play_honestly(client, GREEDY)))
            (guest,) = await seating
            await guest.channel.close(None)
            await honest
            return waited

    assert run(host()) == pytest.approx(0.2, abs=0.4)


@pytest.mark.alone
def test_the_limit_in_hello_is_the_one_that_is_enforced() -> None:
    async def host() -> tuple[float, float]:
        with listen_tcp("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS, timeout_s=0.5))
            await asyncio.sleep(0.2)
            client = await connected(listener)
            since = time.monotonic()
            question = await client.hear()
            assert question is not None
            last = await client.hear()  # two times are up at once, its own and the listener's: it may hear why, or not
            waited = time.monotonic() - since
            client.hang_up()
            assert last is None or last["fault"] == "timed_out"
            (guest,) = await seating
            await guest.channel.close(None)
            return question["limit"], waited

    limit, waited = run(host())

    assert limit < 0.31
    assert waited == pytest.approx(limit, abs=0.3)


def test_a_seat_without_a_player_is_ejected_and_the_match_goes_on() -> None:
    async def host() -> Played:
        with listen_tcp("0") as listener:
            (guest,) = await listener.accept_players(FISH, limits=LIMITS, timeout_s=0.1)
            return await match_with(guest)

    ejected = ejection(run(host()))

    assert (ejected.fault, ejected.moment, ejected.why) == (Fault.GONE, Moment.GREETING, "no player connected")


def test_connected_players_play_without_missing_ones() -> None:
    async def host() -> Any:
        with listen_tcp("0") as listener:
            honest = asyncio.create_task(visit(listener, lambda client: play_honestly(client, GREEDY)))
            guests = await listener.accept_players(FISH, 2, limits=LIMITS, timeout_s=0.5)
            match = await play_async(deal_match(FISH, ("a", "b"), SEED), [guest.channel for guest in guests])
            assert await honest is None
            return match.result

    result = run(host())

    assert result.ranking == (frozenset({0}),)
    assert [(one.seat, one.fault) for one in result.ejected] == [(1, Fault.GONE)]


def test_a_cancelled_wait_for_players_leaves_nothing_open() -> None:
    async def host() -> None:
        with listen_tcp("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, 2, limits=LIMITS))
            one, other = await connected(listener), await connected(listener)
            question = await one.hear()
            assert question is not None
            await one.say(reply(question))
            await other.hear()
            await asyncio.sleep(0.05)
            seating.cancel()
            with pytest.raises(asyncio.CancelledError):
                await seating
            assert (await one.hear(), await other.hear()) == (None, None)
            one.hang_up()
            other.hang_up()

    run(host())


def test_a_wait_cancelled_at_the_moment_of_a_connection_closes_it() -> None:
    async def host(turns: int) -> None:
        with listen_tcp("0") as listener:
            client = await connected(listener)
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
            for _ in range(turns):
                await asyncio.sleep(0)
            seating.cancel()
            with pytest.raises(asyncio.CancelledError):
                await seating
            client.hang_up()

    for turns in range(12):
        run(host(turns))


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


def test_an_endpoint_in_use_is_refused() -> None:
    with (
        listen_tcp("0") as listener,
        pytest.raises(BadRequest, match=f"cannot listen at 127.0.0.1:{listener.port}: Address already in use"),
    ):
        listen_tcp(str(listener.port))


@pytest.mark.parametrize("host", ["no.such.host.invalid", "256.1.1.1", "a" * 300, "a..b"])
def test_an_unusable_host_is_refused(host: str) -> None:
    with pytest.raises(BadRequest, match="cannot listen at"):
        listen_tcp(f"{host}:0")


def test_hundreds_of_connections_may_wait_to_be_accepted() -> None:
    most = min(500, int(Path("/proc/sys/net/core/somaxconn").read_text()))
    with listening_socket("127.0.0.1", 0) as listener, ExitStack() as coming:
        callers = [
            coming.enter_context(socket.create_connection(listener.getsockname(), PEER_TIMEOUT_S)) for _ in range(most)
        ]
        for number, caller in enumerate(callers):
            caller.sendall(b"%d\n" % number)

        listener.settimeout(PEER_TIMEOUT_S)
        met = [coming.enter_context(listener.accept()[0]) for _ in range(most)]
        heard = sorted(int(one.makefile("rb").readline()) for one in met)

    assert heard == list(range(most))
