"""Test the sign-in at a server over real sockets: clients, spectators, thieves, and silent connections."""

import asyncio
import gc
import socket
import ssl
import subprocess
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import connect

from fairplay.core.errors import BadRequest
from fairplay.core.messages import Answered, Failed, Tell
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.server.client import Client
from fairplay.server.settings import ConnectionLimits, ServerSettings, Tls
from fairplay.server.sign_in.sign_in import SignIn
from fairplay.server.sign_in.tls import tls_context
from fairplay.server.sign_in.tokens import make_token
from fairplay.transport.connection import Connection
from tests.hostile_names import NAMES
from tests.players.test_listener import run
from tests.toy import Toy

LOOPBACK = "127.0.0.1"
CANARY = "c0ffee" * 6


class Server:
    """A handler that records all calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.connections: list[Connection] = []
        self.clients: dict[str, Client] = {}
        self.changed = asyncio.Condition()

    def on_signed_in(self, client: Client) -> None:
        self.clients[client.id] = client
        self.calls.append(("arrived", client.name))

    def on_lost(self, client: Client) -> None:
        self.calls.append(("lost", client.name))

    def on_gone(self, client: Client) -> None:
        self.clients.pop(client.id, None)
        self.calls.append(("gone", client.name))

    def watch(self, connection: Connection, room: str, address: str) -> None:
        self.connections.append(connection)
        self.calls.append(("watch", room))

    def status_line(self) -> bytes:
        return b'{"status":"%b"}\n' % (b"x" * 500_000)

    def on_refused(self, address: str, reason: str, why: str) -> None:
        self.calls.append(("refused", reason, why))

    def count(self, *what: str) -> int:
        """How many calls begin with this."""
        return sum(call[: len(what)] == what for call in self.calls)

    async def until(self, *what: str, times: int = 1) -> None:
        """Wait until so many calls begin with this."""
        while self.count(*what) < times:
            await asyncio.sleep(0.002)


class Caller:
    """The other end of a connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def hear(self) -> dict[str, Any] | None:
        """The next message; None: disconnected."""
        try:
            line = await self.reader.readline()
        except ConnectionError:
            return None
        return msgspec.json.decode(line) if line else None

    async def reply(self, answer: Any) -> dict[str, Any]:
        """Answer the next message."""
        question = await self.hear()
        assert question is not None
        self.say(wire.encode({"nonce": question["nonce"], "answer": answer}) + b"\n")
        return question

    def say(self, text: bytes) -> None:
        self.writer.write(text)

    def leave(self) -> None:
        self.writer.transport.abort()


class Listener:
    """The listeners of a server, their handler, and the callers."""

    def __init__(self, listeners: SignIn, handler: Server) -> None:
        self.listeners = listeners
        self.server = handler
        self.port = int(listeners.addresses[0].rpartition(":")[2])
        self.callers: list[Caller] = []

    async def call(self, **options: Any) -> Caller:
        """Connect."""
        reader, writer = await asyncio.open_connection(LOOPBACK, self.port, limit=2**20, **options)
        self.callers.append(Caller(reader, writer))
        return self.callers[-1]

    async def come(self, answer: Any = None, **options: Any) -> tuple[Caller, dict[str, Any] | None]:
        """Connect, answer hello, and hear the next message."""
        caller = await self.call(**options)
        hello = await caller.reply(answer)
        assert (hello["type"], "game" in hello) == ("hello", False)
        return caller, await caller.hear()

    async def sign_in(self, answer: Any = None) -> tuple[Caller, dict[str, Any], Client]:
        """Sign in as a player."""
        caller, welcome = await self.come(answer)
        assert welcome is not None
        assert welcome["type"] == "welcome", welcome
        while not (found := [one for one in self.server.clients.values() if one.name == welcome["name"]]):
            await asyncio.sleep(0)
        return caller, welcome, found[0]

    async def refusal(self, answer: Any) -> str:
        """Connect and be refused; why."""
        caller, said = await self.come(answer)
        assert said is not None
        assert said["type"] == "goodbye", said
        assert await caller.hear() is None
        return str(said["why"])


def settings(directory: Path, port: int = 0, **options: Any) -> ServerSettings:
    return ServerSettings(directory=str(directory), port=port, **options)


@asynccontextmanager
async def open_server(directory: Path, **options: Any) -> AsyncIterator[Listener]:
    """An open server; afterwards all callers leave."""
    handler = Server()
    limits = ConnectionLimits(
        **{name: options.pop(name) for name in ConnectionLimits.__struct_fields__ if name in options}
    )
    async with SignIn(handler, settings(directory, connection_limits=limits, **options)) as listeners:
        listener = Listener(listeners, handler)
        try:
            yield listener
        finally:
            for caller in listener.callers:
                caller.leave()
            for connection in handler.connections:
                await connection.close(b"", 0)


async def ask(client: Client, limit: float = 5.0) -> Answered | Failed:
    """Ask a client a question, as in a match."""
    remote = RemoteChannel(client.connection, Toy(), limits=Limits(move=limit), nonces=client.nonces)
    return await remote.ask(Tell("news"))


# Identity


def test_a_guest_comes_back_by_its_reconnect_token(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path, reconnect_window=7.0) as listener:
            _, welcome, client = await listener.sign_in({"name": "ann", "changes": True, "game": "fish"})
            assert (welcome["name"], welcome["reconnect_window"], client.wants_changes, client.game) == (
                "ann",
                7.0,
                True,
                "fish",
            )
            assert client.address == f"client:{client.id}"
            assert client.id.startswith("~")
            _, again, same = await listener.sign_in({"token": welcome["reconnect_token"]})
            assert same is client
            assert ("reconnect_token" in again, again["name"], client.wants_changes) == (False, "ann", False)
            assert listener.server.calls == [("arrived", "ann")] * 2

    run(host())


def test_a_guest_may_answer_null_and_guests_of_one_name_get_different_labels(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            names = [(await listener.sign_in(answer))[1]["name"] for answer in (None, None, {"name": "GUEST"}, {})]
            assert names[0] == "guest"
            assert len({name.casefold() for name in names}) == 4

    run(host())


def test_the_name_of_a_guest_that_left_is_free_again(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path, reconnect_window=0.01) as listener:
            for times in (1, 2):
                caller, welcome, _ = await listener.sign_in({"name": "Tim_1"})
                assert welcome["name"] == "Tim_1"
                caller.leave()
                await listener.server.until("gone", "Tim_1", times=times)

    run(host())


def test_one_client_is_refused_when_the_tokens_become_unreadable(tmp_path: Path) -> None:
    async def host() -> list[tuple[str, ...]]:
        async with open_server(tmp_path) as listener:
            (tmp_path / "tokens").write_text("rubbish")
            assert await listener.refusal({"name": "ann"}) == "the tokens of this server cannot be read"
            await listener.sign_in({"name": "ann"})
            return [call[:2] for call in listener.server.calls]

    assert run(host()) == [("refused", "unreadable_tokens"), ("arrived", "ann")]


def test_a_client_that_is_unknown_may_say_that_it_leaves(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            _, said = await listener.come({"purpose": "leave"})
            assert (said, listener.server.calls) == (None, [])

    run(host())
    gc.collect()

    assert caplog.messages == []


def test_a_name_with_a_token_requires_it(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            token = make_token(tmp_path, "ann")  # while the server is open
            _, welcome, ann = await listener.sign_in({"name": "ann", "token": token})
            assert (ann.id, ann.name, "reconnect_token" in welcome) == ("ann", "ann", False)
            assert await listener.refusal({"name": "ann"}) == "the name ann requires its token"
            for name, guess in (("ann", token[:-1]), ("bob", token)):
                assert (await listener.refusal({"name": name, "token": guess})).startswith(
                    f"invalid token for '{name}' ("
                )
            assert (await listener.refusal({"token": token})).startswith("invalid token for '' (")
            _, welcome, guest = await listener.sign_in({"name": "Ann"})
            assert welcome["name"].startswith("Ann-")
            assert (
                await listener.refusal({"name": "ann", "token": welcome["reconnect_token"]})
                == "the name ann requires its token"
            )
            assert ann.connection.is_connected
            assert guest.connection.is_connected
            assert listener.server.count("refused", "invalid_token") == 3

    run(host())


def test_a_guest_that_comes_back_gets_no_name_like_one_with_a_token(tmp_path: Path) -> None:
    async def host() -> None:
        make_token(tmp_path, "ann")
        async with open_server(tmp_path) as listener:
            caller, first, _ = await listener.sign_in({"name": "bob"})
            caller.leave()
            await listener.server.until("gone", "bob")
            _, welcome, _ = await listener.sign_in({"name": "Ann", "token": first["reconnect_token"]})
            assert welcome["name"].startswith("Ann-")

    run(host())


def test_a_guest_gets_no_name_like_one_with_a_token(tmp_path: Path) -> None:
    async def host() -> None:
        make_token(tmp_path, "ann")
        async with open_server(tmp_path) as listener:
            _, welcome, _ = await listener.sign_in({"name": "Ann"})
            assert welcome["name"].startswith("Ann-")

    run(host())


def test_a_server_may_refuse_guests(tmp_path: Path) -> None:
    async def host() -> None:
        token = make_token(tmp_path, "ann")
        async with open_server(tmp_path) as listener:
            _, welcome, _ = await listener.sign_in()
        async with open_server(tmp_path, guests=False) as listener:
            why = "this server accepts no guests: use a token"
            assert [await listener.refusal(one) for one in (None, {"token": welcome["reconnect_token"]})] == [why, why]
            await listener.sign_in({"name": "ann", "token": token})

    run(host())


def test_a_reconnect_token_is_valid_after_a_restart_and_not_at_another_server(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path / "one") as listener:
            _, welcome, before = await listener.sign_in()
        async with open_server(tmp_path / "one") as listener:
            _, _, after = await listener.sign_in({"token": welcome["reconnect_token"], "name": "bob"})
            assert (after.id, after.name) == (before.id, "bob")
        async with open_server(tmp_path / "two") as listener:
            assert (
                await listener.refusal({"token": welcome["reconnect_token"]})
                == "invalid reconnect token: sign in again"
            )

    run(host())


def test_a_valid_token_is_accepted_after_invalid_ones_from_the_same_address(tmp_path: Path) -> None:
    async def host() -> None:
        token = make_token(tmp_path / "cup", "ann")
        async with open_server(tmp_path / "cup") as listener:
            for _ in range(50):
                why = await listener.refusal({"name": "ann", "token": "0" * 32})
                assert why == "invalid token for 'ann' (this server reads cup/tokens)"
            await listener.sign_in({"name": "ann", "token": token})

    run(host())


def test_a_valid_reconnect_token_is_accepted_after_invalid_ones_from_the_same_address(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            _, welcome, before = await listener.sign_in()
            id = welcome["reconnect_token"].partition(".")[0]
            for _ in range(50):
                assert await listener.refusal({"token": f"{id}.{'0' * 32}"}) == "invalid reconnect token: sign in again"
            _, _, after = await listener.sign_in({"token": welcome["reconnect_token"]})
            assert after is before

    run(host())


def test_the_operator_is_told_the_tokens_file_for_an_invalid_token(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            await listener.refusal({"name": "ann", "token": "0" * 32})
            [(_, reason, why)] = listener.server.calls
            assert (reason, why) == ("invalid_token", f"invalid token for 'ann' (this server reads {tmp_path}/tokens)")

    run(host())


@pytest.mark.parametrize("purpose", ["play", "watch", "status"])
def test_an_invalid_name_is_refused(purpose: str, tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            for name in [*NAMES[:20], "", "x" * 21, "../x", "ann ", "änn", "an\u200bn", "~ann", "\n", 7, None]:
                said = await listener.refusal({"name": name, "purpose": purpose})
                assert said.startswith("the answer to hello is neither null nor an introduction")
            assert listener.listeners.clients == {}

    run(host())


def test_a_replayed_introduction_is_refused(tmp_path: Path) -> None:
    async def host() -> None:
        token = make_token(tmp_path, "ann")
        async with open_server(tmp_path) as listener:
            caller = await listener.call()
            question = await caller.hear()
            assert question is not None
            recorded = wire.encode({"nonce": question["nonce"], "answer": {"name": "ann", "token": token}}) + b"\n"
            caller.say(recorded)
            await listener.server.until("arrived", "ann")
            thief = await listener.call()
            await thief.hear()
            thief.say(recorded)
            said = await thief.hear()
            assert said is not None
            assert said["why"] == "a reply to a question that was never asked"
            assert listener.listeners.clients["ann"].connection.is_connected
            assert listener.server.count("arrived") == 1

    run(host())


def test_no_token_is_ever_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def host() -> str:
        async with open_server(tmp_path) as listener:
            said: list[Any] = []
            for answer in (
                {"name": "ann", "token": CANARY},
                {"token": f"~{CANARY}"},
                {"token": CANARY, "purpose": "sing"},
                {"token": CANARY + "x" * 40},
                {"nonsense": CANARY},
            ):
                said += await listener.come(answer)
            for text in (CANARY.encode() + b"\n", b"x" * 9000 + CANARY.encode() + b"\n", CANARY.encode()):
                caller = await listener.call()
                await caller.hear()
                caller.say(text)
                caller.writer.write_eof()
                said.append(await caller.hear())
            await listener.server.until("refused", times=8)
            _, _, client = await listener.sign_in({"name": "bob"})
            question = asyncio.create_task(ask(client))
            await listener.callers[-1].reply({"token": CANARY, "reconnect_token": CANARY})
            found = await question
            assert isinstance(found, Failed)
            assert found.evidence.received
            return f"{said} {listener.server.calls} {found} {found.evidence} {vars(client)}"

    shown = run(host())
    captured = capfd.readouterr()
    assert CANARY not in shown + captured.out + captured.err


# Coming back


def test_only_a_client_with_a_seat_may_come_back(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            caller, _, _ = await listener.sign_in({"name": "bob"})
            caller.leave()
            await listener.server.until("gone", "bob")
            caller, welcome, client = await listener.sign_in({"name": "ann"})
            client.room = "a room"
            question = asyncio.create_task(ask(client))
            assert (await caller.hear() or {})["type"] == "tell"
            caller.leave()
            await listener.server.until("lost", "ann")
            back, _, same = await listener.sign_in({"token": welcome["reconnect_token"]})
            assert same is client
            await back.reply(None)
            assert isinstance(await question, Answered)
            back.leave()
            await listener.server.until("lost", "ann", times=2)
            client.room = None  # the match is over
            assert listener.server.calls[-1] == ("gone", "ann")
            assert listener.listeners.clients == {}

    run(host())


def test_a_seat_is_reserved_for_the_reconnect_window(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path, reconnect_window=0.05) as listener:
            caller, welcome, client = await listener.sign_in({"name": "ann"})
            client.room = "a room"
            caller.leave()
            await listener.server.until("gone", "ann")
            answer = await ask(client)
            assert isinstance(answer, Failed)
            assert (answer.fault.value, answer.why) == ("gone", "did not reconnect within 0.05 s")
            _, _, another = await listener.sign_in({"token": welcome["reconnect_token"]})
            assert another is not client
            assert another.id == client.id

    run(host())


def test_a_client_that_was_told_goodbye_signs_in_anew(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            for turns in range(20):
                caller, welcome, client = await listener.sign_in({"name": "ann"})
                leaving = asyncio.create_task(client.connection.close(b'{"type":"goodbye"}\n', 1.0))
                for _ in range(turns):
                    await asyncio.sleep(0)
                _, _, another = await listener.sign_in({"token": welcome["reconnect_token"], "name": "ann"})
                await leaving
                assert another is not client
                assert another.connection.is_connected
                assert {(await caller.hear() or {}).get("type")} <= {"goodbye", None}
                await another.connection.close(b"", 0)

    run(host())


def test_many_connections_with_one_token_are_one_client_and_the_newest_gets_the_question(tmp_path: Path) -> None:
    random = Random(3)

    async def host() -> None:
        token = make_token(tmp_path, "ann")
        async with open_server(tmp_path) as listener:
            for number in range(1, 31):
                introduction = {"name": "ann", "token": token}
                callers = [await listener.call() for _ in range(8)]
                random.shuffle(callers)
                for caller in callers:
                    await caller.reply(introduction)
                    for _ in range(random.randrange(4)):
                        await asyncio.sleep(0)
                while listener.server.count("arrived") + listener.server.count("refused") < 8 * number:
                    await asyncio.sleep(0)
                client = listener.listeners.clients["ann"]
                client.room = "a room"
                question = asyncio.create_task(ask(client))
                heard = await asyncio.gather(*(last_message_type(caller) for caller in callers))
                assert isinstance(await question, Answered)
                assert Counter(heard)["tell"] == 1
                assert heard[-1] == "tell"
                await client.connection.close(b"", 0)

    run(host())


async def last_message_type(caller: Caller) -> str:
    """The type of the last message to a caller: the question, which it answers, or the last one before the end."""
    found = ""
    while said := await caller.hear():
        found = said["type"]
        if found == "tell":
            caller.say(wire.encode({"nonce": said["nonce"], "answer": None}) + b"\n")
            break
    return found


# Other purposes


def test_a_spectator_is_passed_on_with_its_connection(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            caller = await listener.call()
            await caller.reply({"purpose": "watch", "room": "fish-1"})
            await listener.server.until("watch", "fish-1")
            assert listener.server.connections[0].offer(b'{"news":1}\n')
            assert await caller.hear() == {"news": 1}
            assert listener.listeners.clients == {}

    run(host())


def test_a_status_is_one_line_of_any_length_and_ends_the_connection(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            caller, said = await listener.come({"purpose": "status"})
            assert said == {"status": "x" * 500_000}
            assert await caller.hear() is None
            assert listener.server.calls == []

    run(host())


# Over WebSocket


def test_a_client_of_websocket_may_come_back_over_tcp(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path, websocket=0) as listener:
            async with connect(f"ws://{listener.listeners.addresses[1]}") as websocket:
                question = msgspec.json.decode(await websocket.recv())
                await websocket.send(wire.encode({"nonce": question["nonce"], "answer": {"name": "ann"}}).decode())
                welcome = msgspec.json.decode(await websocket.recv())
                await listener.server.until("arrived", "ann")
                (client,) = listener.server.clients.values()
                client.room = "a room"
                asking = asyncio.create_task(ask(client))
                assert msgspec.json.decode(await websocket.recv())["type"] == "tell"
            await listener.server.until("lost", "ann")
            back, _, same = await listener.sign_in({"token": welcome["reconnect_token"]})
            assert same is client
            await back.reply(None)
            assert isinstance(await asking, Answered)

    run(host())


# Connections that do not sign in


async def is_silent(caller: Caller) -> None:
    """Send nothing, ever."""


async def drips(caller: Caller) -> None:
    for sign in b'{"nonce":"' + b"x" * 1000:
        caller.say(bytes([sign]))
        await asyncio.sleep(0.01)


async def asks_for_a_page(caller: Caller) -> None:
    caller.say(b"GET / HTTP/1.1\r\nHost: server\r\n\r\n")


async def speaks_tls(caller: Caller) -> None:
    caller.say(bytes.fromhex("16030100c8010000c40303") + bytes(189))


async def floods(caller: Caller) -> None:
    caller.say(b"x" * 1_000_000)


async def closes_its_half(caller: Caller) -> None:
    caller.writer.write_eof()


async def leaves(caller: Caller) -> None:
    caller.leave()


async def never_reads(caller: Caller) -> None:
    caller.writer.transport.pause_reading()  # type: ignore[attr-defined]


BAD_CALLERS = {
    is_silent: "hello_timeout",
    drips: "hello_timeout",
    speaks_tls: "hello_timeout",
    never_reads: "hello_timeout",
    asks_for_a_page: "malformed",
    floods: "flood",
    closes_its_half: "gone",
    leaves: "gone",
}


@pytest.mark.parametrize(("behave", "reason"), BAD_CALLERS.items(), ids=[each.__name__ for each in BAD_CALLERS])
def test_a_connection_that_does_not_sign_in_is_closed_in_time_and_delays_no_other(
    behave: Callable[[Caller], Any], reason: str, tmp_path: Path
) -> None:
    async def host() -> None:
        async with open_server(tmp_path, hello_timeout=0.3) as listener:
            tasks = [asyncio.create_task(behave(await listener.call())) for _ in range(50)]
            _, _, client = await listener.sign_in({"name": "ann"})
            question = asyncio.create_task(ask(client))
            await listener.callers[-1].reply(None)
            assert isinstance(await question, Answered)
            await listener.server.until("refused", reason, times=50)
            assert listener.server.count("refused") == 50
            assert client.connection.is_connected
            for each in tasks:
                each.cancel()
            await asyncio.wait(tasks)

    run(host())


def test_connections_are_limited_and_closed_ones_are_not_counted(tmp_path: Path) -> None:
    async def host() -> None:
        for limits in ({"connections_per_address": 3}, {"connections": 3}):
            async with open_server(tmp_path, **limits) as listener:
                callers = [(await listener.sign_in())[0] for _ in range(3)]
                assert await (await listener.call()).hear() is None
                assert listener.server.count("refused", "connection_limit") == 1
                callers[0].leave()
                await listener.server.until("gone")
                while (question := await (newcomer := await listener.call()).hear()) is None:
                    pass  # closed connections are not noticed at once
                newcomer.say(wire.encode({"nonce": question["nonce"], "answer": None}) + b"\n")
                await listener.server.until("arrived", times=4)
                assert len(listener.listeners.clients) == 3

    run(host())


def test_a_client_without_a_seat_for_long_is_disconnected(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path, idle_timeout=0.1) as listener:
            idler, _, _ = await listener.sign_in({"name": "ann"})
            player, _, client = await listener.sign_in({"name": "bob"})
            client.room = "a room"
            said = await idler.hear()
            assert said is not None
            assert (said["type"], said["retry_after"]) == ("suspended", 0)
            assert await idler.hear() is None
            await listener.server.until("gone", "ann")
            assert client.connection.is_connected
            player.leave()

    run(host())


def test_checks_for_idle_clients_are_not_too_frequent(tmp_path: Path) -> None:
    checks = 0

    class CountingChecks(SignIn):
        def _dismiss_idle_clients(self) -> None:
            nonlocal checks
            checks += 1
            super()._dismiss_idle_clients()

    async def host() -> float:
        since = asyncio.get_running_loop().time()
        async with CountingChecks(Server(), settings(tmp_path, connection_limits=ConnectionLimits(idle_timeout=1e-9))):
            await asyncio.sleep(0.2)
        return asyncio.get_running_loop().time() - since

    took = run(host())
    assert 1 < checks < 2 + took / 0.04


def test_clients_stay_when_the_listener_closes(tmp_path: Path) -> None:
    async def host() -> None:
        async with open_server(tmp_path) as listener:
            caller, _, client = await listener.sign_in()
            await listener.call()
            await listener.listeners.stop_accepting()
            with pytest.raises(OSError, match="Connect call failed"):
                await listener.call()
            question = asyncio.create_task(ask(client))
            await caller.reply(None)
            assert isinstance(await question, Answered)

    run(host())


def test_a_closed_listener_is_freed(tmp_path: Path) -> None:
    async def host() -> SignIn | None:
        async with SignIn(Server(), settings(tmp_path)) as listeners:
            reference = weakref.ref(listeners)
        del listeners
        gc.collect()
        return reference()

    assert run(host()) is None


# Encrypted


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate of our own, and its key."""
    directory = tmp_path_factory.mktemp("tls")
    files = str(directory / "cert.pem"), str(directory / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]]
    with suppress(FileNotFoundError):
        subprocess.run(command, check=True, capture_output=True)
        return files
    pytest.skip("openssl is not installed")


def test_a_tls_listener_refuses_plain_connections(tmp_path: Path, certificate: tuple[str, str]) -> None:
    async def host() -> None:
        async with open_server(tmp_path, tls=Tls(*certificate), hello_timeout=0.5) as listener:
            trusting = ssl.create_default_context(cafile=certificate[0])
            await listener.call()
            (await listener.call()).say(b"GET / HTTP/1.1\r\n\r\n")
            caller, welcome = await listener.come({"name": "ann"}, ssl=trusting)
            assert welcome is not None
            (client,) = listener.server.clients.values()
            client.room = "a room"
            question = asyncio.create_task(ask(client))
            await caller.hear()
            caller.leave()
            await listener.server.until("lost", "ann")
            back, _ = await listener.come({"token": welcome["reconnect_token"]}, ssl=trusting)
            await back.reply(None)
            assert isinstance(await question, Answered)
            await listener.server.until("refused", times=2)
            assert client.connection.is_connected

    run(host())


def test_files_that_are_not_a_certificate_are_refused_in_one_line(tmp_path: Path, certificate: tuple[str, str]) -> None:
    (tmp_path / "no.pem").write_text("no")
    for pair in (("missing.pem", certificate[1]), (str(tmp_path / "no.pem"), certificate[1])):
        with pytest.raises(BadRequest, match=r"cannot use .*pem for TLS"):
            tls_context(*pair)


def test_a_key_with_a_password_is_refused_without_a_prompt(tmp_path: Path, certificate: tuple[str, str]) -> None:
    locked = str(tmp_path / "locked.pem")
    command = ["openssl", "ec", "-in", certificate[1], "-out", locked, "-aes256", "-passout", "pass:a secret"]
    subprocess.run(command, check=True, capture_output=True)

    with pytest.raises(BadRequest, match="it is protected by a password"):
        tls_context(certificate[0], locked)


def test_a_port_that_is_taken_is_refused_in_one_line(tmp_path: Path) -> None:
    async def host() -> None:
        with socket.create_server((LOOPBACK, 0)) as taken, pytest.raises(BadRequest, match="cannot listen at"):
            SignIn(Server(), settings(tmp_path, port=taken.getsockname()[1]))

    run(host())
