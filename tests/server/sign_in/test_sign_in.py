"""Test the sign-in at a server over real sockets: clients, spectators, thieves, and silent connections."""

import asyncio
import gc
import re
import socket
import ssl
import subprocess
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, TypeVar

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
from tests.toy import Toy

LOOPBACK = "127.0.0.1"
CANARY = "c0ffee" * 6
BAD_NAMES = ["", "x" * 21, "x" * 7000, "../x", "ann ", "änn", "a\u0308nn", "an\u200bn", "\u0430nn", "~ann", "\n", 7]
ALIKE = ["ann", "Ann", "ANN", "a-nn", "a_n_n", "anm", "anrn", "AnM", "an-m", "bob", "b0b", "B-O-B", "guest", "GUEST"]
AnyTest = TypeVar("AnyTest", bound=Callable[..., Any])


def with_settings(*offers: Any, **options: Any) -> Callable[[AnyTest], AnyTest]:
    """Open the server of a test with these offers and options."""

    def decorate(test: AnyTest) -> AnyTest:
        vars(test)["settings"] = offers, options
        return test

    return decorate


class Handler:
    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.connections: list[Connection] = []
        self.clients: dict[str, Client] = {}

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
        self.said: list[bytes] = []  # as an eavesdropper records it

    async def hear(self) -> dict[str, Any] | None:
        """The next message; None: disconnected."""
        try:
            line = await self.reader.readline()
        except ConnectionError:
            return None
        return msgspec.json.decode(line) if line else None

    async def reply(self, answer: Any) -> dict[str, Any]:
        question = await self.hear()
        assert question is not None
        self.say(wire.encode({"nonce": question["nonce"], "answer": answer}) + b"\n")
        return question

    def say(self, text: bytes) -> None:
        self.said.append(text)
        self.writer.write(text)

    def leave(self) -> None:
        self.writer.transport.abort()


class Listener:
    """The listeners of a server, their handler, and the callers."""

    def __init__(self, listeners: SignIn, handler: Handler, directory: Path) -> None:
        self.listeners, self.server, self.directory = listeners, handler, directory
        self.port = int(listeners.addresses[0].rpartition(":")[2])
        self.callers: list[Caller] = []

    async def call(self, **options: Any) -> Caller:
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


@asynccontextmanager
async def open_server(directory: Path, *, port: int = 0, **options: Any) -> AsyncIterator[Listener]:
    """An open server; afterwards all callers leave."""
    names = options.keys() & set(ConnectionLimits.__struct_fields__)
    limits = ConnectionLimits(**{name: options.pop(name) for name in names})
    handler = Handler()
    settings = ServerSettings(directory=str(directory), port=port, connection_limits=limits, **options)
    async with SignIn(handler, settings) as listeners:
        listener = Listener(listeners, handler, directory)
        try:
            yield listener
        finally:
            for caller in listener.callers:
                caller.leave()
            for connection in handler.connections:
                await connection.close(b"", 0)


@pytest.fixture
def listener(request: pytest.FixtureRequest, tmp_path: Path) -> AbstractAsyncContextManager[Listener]:
    _, options = getattr(request.function, "settings", ((), {}))
    return open_server(tmp_path, **options)


async def ask(client: Client) -> Answered | Failed:
    remote = RemoteChannel(client.connection, Toy(), limits=Limits(move=5.0), nonces=client.nonces)
    return await remote.ask(Tell("news"))


# Identity


@with_settings(reconnect_window=7.0, hello_timeout=8.0)
async def test_a_guest_comes_back_by_its_reconnect_token(listener: Listener) -> None:
    assert (await (await listener.call()).hear() or {})["limit"] == 8.0
    _, welcome, client = await listener.sign_in({"name": "ann", "changes": True, "game": "fish"})
    assert (welcome["name"], welcome["reconnect_window"]) == ("ann", 7.0)
    assert (client.wants_changes, client.game, client.address) == (True, "fish", f"client:{client.id}")
    assert client.id.startswith("~")
    _, again, same = await listener.sign_in({"token": welcome["reconnect_token"]})
    assert same is client
    assert ("reconnect_token" in again, again["name"], client.wants_changes) == (False, "ann", False)
    assert listener.server.calls == [("arrived", "ann")] * 2


async def test_a_guest_may_answer_null_and_no_two_names_look_alike(listener: Listener) -> None:
    names = [(await listener.sign_in({"name": name} if name else None))[1]["name"] for name in ("", "", *ALIKE)]

    plain = {re.sub("[-_]", "", name.casefold()).replace("0", "o").replace("rn", "m") for name in names}
    assert (names[0], len(plain)) == ("guest", len(names))


@with_settings(reconnect_window=0.01)
async def test_the_name_of_a_guest_that_left_is_free_again(listener: Listener) -> None:
    for times in (1, 2):
        caller, welcome, _ = await listener.sign_in({"name": "Tim_1"})
        assert welcome["name"] == "Tim_1"
        caller.leave()
        await listener.server.until("gone", "Tim_1", times=times)


async def test_one_client_is_refused_when_the_tokens_become_unreadable(listener: Listener) -> None:
    (listener.directory / "tokens").write_text("rubbish")

    assert await listener.refusal({"name": "ann"}) == "the tokens of this server cannot be read"
    await listener.sign_in({"name": "ann"})

    assert [call[:2] for call in listener.server.calls] == [("refused", "unreadable_tokens"), ("arrived", "ann")]


async def test_a_client_that_is_unknown_may_say_that_it_leaves(
    listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    _, said = await listener.come({"purpose": "leave"})
    assert (said, listener.server.calls) == (None, [])
    await listener.listeners.stop_accepting()
    gc.collect()

    assert caplog.messages == []


async def test_a_name_with_a_token_requires_it_and_no_guest_gets_one_like_it(listener: Listener) -> None:
    caller, first, _ = await listener.sign_in({"name": "bob"})
    caller.leave()
    await listener.server.until("gone", "bob")
    token = make_token(listener.directory, "ann")  # while the server is open
    _, welcome, _ = await listener.sign_in({"name": "Ann", "token": first["reconnect_token"]})
    assert welcome["name"].startswith("Ann-")
    _, welcome, ann = await listener.sign_in({"name": "ann", "token": token})
    assert (ann.id, ann.name, "reconnect_token" in welcome) == ("ann", "ann", False)
    for name, guess in (("ann", token[:-1]), ("bob", token), ("", token)):
        named = {"name": name} if name else {}
        assert (await listener.refusal({**named, "token": guess})).startswith(f"invalid token for '{name}' (")
    _, welcome, guest = await listener.sign_in({"name": "Ann"})
    assert welcome["name"].startswith("Ann-")
    for theirs in ({}, {"token": welcome["reconnect_token"]}):
        assert await listener.refusal({"name": "ann", **theirs}) == "the name ann requires its token"
    assert ann.connection.is_connected and guest.connection.is_connected
    assert listener.server.count("refused", "invalid_token") == 3


async def test_a_server_may_refuse_guests(tmp_path: Path) -> None:
    token = make_token(tmp_path, "ann")
    async with open_server(tmp_path) as listener:
        _, welcome, _ = await listener.sign_in()
    async with open_server(tmp_path, guests=False) as listener:
        for answer in (None, {"token": welcome["reconnect_token"]}):
            assert await listener.refusal(answer) == "this server accepts no guests: use a token"
        await listener.sign_in({"name": "ann", "token": token})


async def test_a_reconnect_token_is_valid_after_a_restart_and_not_at_another_server(tmp_path: Path) -> None:
    async with open_server(tmp_path / "one") as listener:
        _, welcome, before = await listener.sign_in()
    again = {"token": welcome["reconnect_token"], "name": "bob"}
    async with open_server(tmp_path / "one") as listener:
        _, _, after = await listener.sign_in(again)
        assert (after.id, after.name) == (before.id, "bob")
    async with open_server(tmp_path / "two") as listener:
        assert await listener.refusal(again) == "invalid reconnect token: sign in again"


async def test_valid_tokens_are_accepted_after_invalid_ones_from_the_same_address(tmp_path: Path) -> None:
    token = make_token(tmp_path / "cup", "ann")
    async with open_server(tmp_path / "cup") as listener:
        _, welcome, guest = await listener.sign_in()
        guess = {"token": f"{guest.id}.{'0' * 32}"}
        for _ in range(50):
            why = await listener.refusal({"name": "ann", "token": "0" * 32})
            assert why == "invalid token for 'ann' (this server reads cup/tokens)"
            assert await listener.refusal(guess) == "invalid reconnect token: sign in again"
        await listener.sign_in({"name": "ann", "token": token})
        _, _, again = await listener.sign_in({"token": welcome["reconnect_token"]})

    assert again is guest
    operator_hears = f"invalid token for 'ann' (this server reads {tmp_path}/cup/tokens)"
    assert listener.server.count("refused", "invalid_token", operator_hears) == 50


async def test_an_invalid_name_is_refused_for_any_purpose(listener: Listener) -> None:
    for purpose in ("play", "watch", "status"):
        for name in [*NAMES, *BAD_NAMES, None]:
            said = await listener.refusal({"name": name, "purpose": purpose})
            assert said.startswith("the answer to hello is neither null nor an introduction")

    assert listener.listeners.clients == {}


async def test_a_replayed_introduction_is_refused(listener: Listener) -> None:
    token = make_token(listener.directory, "ann")
    caller, thief = await listener.call(), await listener.call()
    [question, _] = [await one.hear() or {} for one in (caller, thief)]
    recorded = wire.encode({"nonce": question["nonce"], "answer": {"name": "ann", "token": token}}) + b"\n"
    caller.say(recorded)
    await listener.server.until("arrived", "ann")

    thief.say(recorded)

    assert (await thief.hear() or {})["why"] == "a reply to a question that was never asked"
    assert listener.listeners.clients["ann"].connection.is_connected
    assert listener.server.count("arrived") == 1


async def test_no_token_is_ever_shown(listener: Listener, capfd: pytest.CaptureFixture[str]) -> None:
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
    caller, _, client = await listener.sign_in({"name": "bob"})
    question = asyncio.create_task(ask(client))
    await caller.reply({"token": CANARY, "reconnect_token": CANARY})
    found = await question

    assert isinstance(found, Failed)
    assert found.evidence.received
    captured = capfd.readouterr()
    shown = f"{said} {listener.server.calls} {found} {found.evidence} {vars(client)}"
    assert CANARY not in shown + captured.out + captured.err


# Coming back


async def test_only_a_client_with_a_seat_may_come_back(listener: Listener) -> None:
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


@with_settings(reconnect_window=0.05)
async def test_a_seat_is_reserved_for_the_reconnect_window(listener: Listener) -> None:
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


async def test_a_client_that_was_told_goodbye_signs_in_anew(listener: Listener) -> None:
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


async def test_many_connections_with_one_token_are_one_client_and_the_newest_gets_the_question(
    listener: Listener,
) -> None:
    random, introduction = Random(3), {"name": "ann", "token": make_token(listener.directory, "ann")}
    for number in range(1, 31):
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
        assert (Counter(heard)["tell"], heard[-1]) == (1, "tell")
        await client.connection.close(b"", 0)


async def last_message_type(caller: Caller) -> str:
    """The type of the last message to a caller: the question, which it answers, or the last one before the end."""
    found = ""
    while said := await caller.hear():
        found = said["type"]
        if found == "tell":
            caller.say(wire.encode({"nonce": said["nonce"], "answer": None}) + b"\n")
            break
    return found


@with_settings(websocket=0)
async def test_a_client_of_websocket_may_come_back_over_tcp(listener: Listener) -> None:
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


# Other purposes


async def test_a_status_is_one_line_of_any_length_and_ends_the_connection(listener: Listener) -> None:
    caller, said = await listener.come({"purpose": "status"})

    assert said == {"status": "x" * 500_000}
    assert await caller.hear() is None
    assert listener.server.calls == []


# Connections that do not sign in


async def drip(caller: Caller) -> None:
    for sign in b'{"nonce":"' + b"x" * 1000:
        caller.say(bytes([sign]))
        await asyncio.sleep(0.01)


BAD_CALLERS: dict[str, tuple[Callable[[Caller], Any], str]] = {  # what they do, and why they are refused
    "is silent": (lambda caller: None, "hello_timeout"),
    "drips": (lambda caller: asyncio.create_task(drip(caller)), "hello_timeout"),
    "speaks TLS": (lambda caller: caller.say(b"\x16\x03\x01\0\xc8\x01\0\0\xc4\x03\x03" + bytes(189)), "hello_timeout"),
    "never reads": (lambda caller: caller.writer.transport.pause_reading(), "hello_timeout"),  # type: ignore[attr-defined]
    "asks for a page": (lambda caller: caller.say(b"GET / HTTP/1.1\r\nHost: server\r\n\r\n"), "malformed"),
    "floods": (lambda caller: caller.say(b"x" * 1_000_000), "flood"),
    "closes its half": (lambda caller: caller.writer.write_eof(), "gone"),
    "leaves": (Caller.leave, "gone"),
}


@with_settings(hello_timeout=0.3)
@pytest.mark.parametrize(("behave", "reason"), BAD_CALLERS.values(), ids=BAD_CALLERS)
async def test_a_connection_that_does_not_sign_in_is_closed_in_time_and_delays_no_other(
    behave: Callable[[Caller], Any], reason: str, listener: Listener
) -> None:
    tasks = [behave(await listener.call()) for _ in range(50)]
    caller, _, client = await listener.sign_in({"name": "ann"})
    question = asyncio.create_task(ask(client))
    await caller.reply(None)

    assert isinstance(await question, Answered)
    await listener.server.until("refused", reason, times=50)
    assert listener.server.count("refused") == 50
    assert client.connection.is_connected
    for task in filter(None, tasks):
        task.cancel()


@pytest.mark.parametrize("limit", ["connections_per_address", "connections"])
async def test_connections_are_limited_and_closed_ones_are_not_counted(limit: str, tmp_path: Path) -> None:
    async with open_server(tmp_path, **{limit: 3}) as listener:
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


@with_settings(idle_timeout=0.1)
async def test_a_client_without_a_seat_for_long_is_disconnected(listener: Listener) -> None:
    idler, _, _ = await listener.sign_in({"name": "ann"})
    _, _, player = await listener.sign_in({"name": "bob"})
    player.room = "a room"

    last = {"type": "suspended", "why": "no match began for you within 0.1 s", "retry_after": 0}
    assert [await idler.hear(), await idler.hear()] == [last, None]
    await listener.server.until("gone", "ann")
    assert player.connection.is_connected


async def test_checks_for_idle_clients_are_not_too_frequent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks, check = list[SignIn](), SignIn._dismiss_idle_clients

    def count(sign_in: SignIn) -> None:
        checks.append(sign_in)
        check(sign_in)

    monkeypatch.setattr(SignIn, "_dismiss_idle_clients", count)
    since = asyncio.get_running_loop().time()
    async with open_server(tmp_path, idle_timeout=1e-9):
        await asyncio.sleep(0.2)

    assert 1 < len(checks) < 2 + (asyncio.get_running_loop().time() - since) / 0.04


async def test_clients_stay_when_the_listener_closes(listener: Listener) -> None:
    caller, _, client = await listener.sign_in()
    await listener.call()
    await listener.listeners.stop_accepting()
    with pytest.raises(OSError, match="Connect call failed"):
        await listener.call()
    question = asyncio.create_task(ask(client))
    await caller.reply(None)

    assert isinstance(await question, Answered)


async def test_a_closed_listener_is_freed(tmp_path: Path) -> None:
    async with SignIn(Handler(), ServerSettings(directory=str(tmp_path), port=0)) as listeners:
        reference = weakref.ref(listeners)
    del listeners
    gc.collect()

    assert reference() is None


async def test_a_port_that_is_taken_is_refused_in_one_line(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken, pytest.raises(BadRequest, match="cannot listen at"):
        async with open_server(tmp_path, port=taken.getsockname()[1]):
            pass


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


async def test_a_tls_listener_refuses_plain_connections(tmp_path: Path, certificate: tuple[str, str]) -> None:
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


def test_files_that_are_not_a_certificate_are_refused_in_one_line(tmp_path: Path, certificate: tuple[str, str]) -> None:
    (tmp_path / "no.pem").write_text("no")
    for file in ("missing.pem", str(tmp_path / "no.pem")):
        with pytest.raises(BadRequest, match=r"cannot use .*pem for TLS"):
            tls_context(file, certificate[1])


def test_a_key_with_a_password_is_refused_without_a_prompt(tmp_path: Path, certificate: tuple[str, str]) -> None:
    locked = str(tmp_path / "locked.pem")
    command = ["openssl", "ec", "-in", certificate[1], "-out", locked, "-aes256", "-passout", "pass:a secret"]
    subprocess.run(command, check=True, capture_output=True)

    with pytest.raises(BadRequest, match="it is protected by a password"):
        tls_context(certificate[0], locked)
