"""Come to the door of a house over real sockets: as a player, a spectator, a thief, or one who never says a word."""

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
from fairplay.players.remote import Remote
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.server.settings import HouseSettings, Strangers, Tls
from fairplay.server.sign_in.reception import Reception
from fairplay.server.sign_in.tls import tls_context
from fairplay.server.sign_in.tokens import make_token
from fairplay.server.visitor import Visitor
from fairplay.transport.line import Line
from tests.hostile_names import NAMES
from tests.players.test_door import run
from tests.toy import Toy

LOOPBACK = "127.0.0.1"
CANARY = "c0ffee" * 6


class House:
    """A host that notes all it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []
        self.lines: list[Line] = []
        self.here: dict[str, Visitor] = {}
        self.changed = asyncio.Condition()

    def arrived(self, visitor: Visitor) -> None:
        self.here[visitor.id] = visitor
        self.told.append(("arrived", visitor.name))

    def lost(self, visitor: Visitor) -> None:
        self.told.append(("lost", visitor.name))

    def gone(self, visitor: Visitor) -> None:
        self.here.pop(visitor.id, None)
        self.told.append(("gone", visitor.name))

    def watch(self, line: Line, room: str, address: str) -> None:
        self.lines.append(line)
        self.told.append(("watch", room))

    def status_line(self) -> bytes:
        return b'{"status":"%b"}\n' % (b"x" * 500_000)

    def refused(self, place: str, reason: str, why: str) -> None:
        self.told.append(("refused", reason, why))

    def count(self, *what: str) -> int:
        """How often this was told."""
        return sum(told[: len(what)] == what for told in self.told)

    async def until(self, *what: str, times: int = 1) -> None:
        """Wait until this was told so often."""
        while self.count(*what) < times:
            await asyncio.sleep(0.002)


class Caller:
    """Somebody at the other end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def hear(self) -> dict[str, Any] | None:
        """The next message; None: they hung up."""
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


class Door:
    """A reception, its host, and whoever calls there."""

    def __init__(self, reception: Reception, host: House) -> None:
        self.reception = reception
        self.house = host
        self.port = int(reception.addresses[0].rpartition(":")[2])
        self.callers: list[Caller] = []

    async def call(self, **options: Any) -> Caller:
        """Connect."""
        reader, writer = await asyncio.open_connection(LOOPBACK, self.port, limit=2**20, **options)
        self.callers.append(Caller(reader, writer))
        return self.callers[-1]

    async def come(self, answer: Any = None, **options: Any) -> tuple[Caller, dict[str, Any] | None]:
        """Connect, say who it is, and hear what they say to that."""
        caller = await self.call(**options)
        hello = await caller.reply(answer)
        assert (hello["type"], "game" in hello) == ("hello", False)
        return caller, await caller.hear()

    async def sign_up(self, answer: Any = None) -> tuple[Caller, dict[str, Any], Visitor]:
        """Come to play, and be welcome."""
        caller, welcome = await self.come(answer)
        assert welcome is not None
        assert welcome["type"] == "welcome", welcome
        while not (found := [one for one in self.house.here.values() if one.name == welcome["name"]]):
            await asyncio.sleep(0)
        return caller, welcome, found[0]

    async def refusal(self, answer: Any) -> str:
        """Come, and be turned away."""
        caller, said = await self.come(answer)
        assert said is not None
        assert said["type"] == "goodbye", said
        assert await caller.hear() is None
        return str(said["why"])


def settings(folder: Path, port: int = 0, **options: Any) -> HouseSettings:
    return HouseSettings(folder=str(folder), port=port, **options)


@asynccontextmanager
async def opened(folder: Path, **options: Any) -> AsyncIterator[Door]:
    """A house that is open; afterwards everybody leaves."""
    host = House()
    strangers = Strangers(**{name: options.pop(name) for name in Strangers.__struct_fields__ if name in options})
    async with Reception(host, settings(folder, strangers=strangers, **options)) as reception:
        door = Door(reception, host)
        try:
            yield door
        finally:
            for caller in door.callers:
                caller.leave()
            for line in host.lines:
                await line.hang_up(b"", 0)


async def asked(visitor: Visitor, limit: float = 5.0) -> Answered | Failed:
    """A question to a visitor, as in a match."""
    remote = Remote(visitor.line, Toy(), limits=Limits(move=limit), nonces=visitor.nonces)
    return await remote.ask(Tell("news"))


# Who it is


def test_a_guest_is_welcome_and_comes_back_by_its_pass(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path, window=7.0) as door:
            _, welcome, visitor = await door.sign_up({"name": "ann", "changes": True, "game": "fish"})
            assert (welcome["name"], welcome["window"], visitor.changes, visitor.game) == ("ann", 7.0, True, "fish")
            assert visitor.address == f"visitor:{visitor.id}"
            assert visitor.id.startswith("~")
            _, again, same = await door.sign_up({"token": welcome["token"]})
            assert same is visitor
            assert ("token" in again, again["name"], visitor.changes) == (False, "ann", False)
            assert door.house.told == [("arrived", "ann")] * 2

    run(host())


def test_null_is_an_answer_and_guests_of_one_name_get_different_labels(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            names = [(await door.sign_up(answer))[1]["name"] for answer in (None, None, {"name": "GUEST"}, {})]
            assert names[0] == "guest"
            assert len({name.casefold() for name in names}) == 4

    run(host())


def test_the_name_of_a_guest_that_left_is_free_again(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path, window=0.01) as door:
            for times in (1, 2):
                caller, welcome, _ = await door.sign_up({"name": "Tim_1"})
                assert welcome["name"] == "Tim_1"
                caller.leave()
                await door.house.until("gone", "Tim_1", times=times)

    run(host())


def test_a_client_hears_once_that_the_tokens_were_spoilt(tmp_path: Path) -> None:
    async def host() -> list[tuple[str, ...]]:
        async with opened(tmp_path) as door:
            (tmp_path / "tokens").write_text("rubbish")
            assert await door.refusal({"name": "ann"}) == "the tokens of this house cannot be read"
            await door.sign_up({"name": "ann"})
            return [told[:2] for told in door.house.told]

    assert run(host()) == [("refused", "tokens"), ("arrived", "ann")]


def test_a_client_that_is_not_here_may_say_that_it_leaves(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            _, said = await door.come({"visit": "leave"})
            assert (said, door.house.told) == (None, [])

    run(host())
    gc.collect()

    assert caplog.messages == []


def test_a_name_that_has_a_token_takes_it(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            token = make_token(tmp_path, "ann")  # while the house is open
            _, welcome, ann = await door.sign_up({"name": "ann", "token": token})
            assert (ann.id, ann.name, "token" in welcome) == ("ann", "ann", False)
            assert await door.refusal({"name": "ann"}) == "the name ann takes its token"
            for name, guess in (("ann", token[:-1]), ("bob", token)):
                assert (await door.refusal({"name": name, "token": guess})).startswith(f"invalid token for '{name}' (")
            assert (await door.refusal({"token": token})).startswith("invalid token for '' (")
            _, welcome, guest = await door.sign_up({"name": "Ann"})
            assert welcome["name"].startswith("Ann-")
            assert await door.refusal({"name": "ann", "token": welcome["token"]}) == "the name ann takes its token"
            assert ann.line.is_there
            assert guest.line.is_there
            assert door.house.count("refused", "token") == 3

    run(host())


def test_a_guest_that_comes_back_with_its_pass_takes_no_name_like_one_that_has_a_token(tmp_path: Path) -> None:
    async def host() -> None:
        make_token(tmp_path, "ann")
        async with opened(tmp_path) as door:
            caller, first, _ = await door.sign_up({"name": "bob"})
            caller.leave()
            await door.house.until("gone", "bob")
            _, welcome, _ = await door.sign_up({"name": "Ann", "token": first["token"]})
            assert welcome["name"].startswith("Ann-")

    run(host())


def test_nobody_takes_a_name_like_that_of_somebody_who_is_not_here(tmp_path: Path) -> None:
    async def host() -> None:
        make_token(tmp_path, "ann")
        async with opened(tmp_path) as door:
            _, welcome, _ = await door.sign_up({"name": "Ann"})
            assert welcome["name"].startswith("Ann-")

    run(host())


def test_a_house_may_want_no_guests(tmp_path: Path) -> None:
    async def host() -> None:
        token = make_token(tmp_path, "ann")
        async with opened(tmp_path) as door:
            _, welcome, _ = await door.sign_up()
        async with opened(tmp_path, guests=False) as door:
            why = "who has no token of this house cannot play here"
            assert [await door.refusal(one) for one in (None, {"token": welcome["token"]})] == [why, why]
            await door.sign_up({"name": "ann", "token": token})

    run(host())


def test_a_pass_counts_after_a_restart_and_not_in_another_house(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path / "one") as door:
            _, welcome, before = await door.sign_up()
        async with opened(tmp_path / "one") as door:
            _, _, after = await door.sign_up({"token": welcome["token"], "name": "bob"})
            assert (after.id, after.name) == (before.id, "bob")
        async with opened(tmp_path / "two") as door:
            assert await door.refusal({"token": welcome["token"]}) == "this is no pass of this house"

    run(host())


def test_a_right_token_enters_after_wrong_ones_from_the_same_address(tmp_path: Path) -> None:
    async def host() -> None:
        token = make_token(tmp_path / "cup", "ann")
        async with opened(tmp_path / "cup") as door:
            for _ in range(50):
                why = await door.refusal({"name": "ann", "token": "0" * 32})
                assert why == "invalid token for 'ann' (this server reads cup/tokens)"
            await door.sign_up({"name": "ann", "token": token})

    run(host())


def test_a_right_pass_enters_after_wrong_ones_from_the_same_address(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            _, welcome, before = await door.sign_up()
            id = welcome["token"].partition(".")[0]
            for _ in range(50):
                assert await door.refusal({"token": f"{id}.{'0' * 32}"}) == "this is no pass of this house"
            _, _, after = await door.sign_up({"token": welcome["token"]})
            assert after is before

    run(host())


def test_the_operator_is_told_which_file_a_wrong_token_is_not_in(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            await door.refusal({"name": "ann", "token": "0" * 32})
            [(_, reason, why)] = door.house.told
            assert (reason, why) == ("token", f"invalid token for 'ann' (this server reads {tmp_path}/tokens)")

    run(host())

    run(host())


@pytest.mark.parametrize("visit", ["play", "watch", "status"])
def test_a_name_that_is_none_is_refused_whatever_it_is(visit: str, tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            for name in [*NAMES[:20], "", "x" * 21, "../x", "ann ", "änn", "an\u200bn", "~ann", "\n", 7, None]:
                said = await door.refusal({"name": name, "visit": visit})
                assert said.startswith("the answer to hello is neither null nor an introduction")
            assert door.reception.visitors == {}

    run(host())


def test_a_session_that_is_played_back_byte_by_byte_is_refused(tmp_path: Path) -> None:
    async def host() -> None:
        token = make_token(tmp_path, "ann")
        async with opened(tmp_path) as door:
            caller = await door.call()
            question = await caller.hear()
            assert question is not None
            recorded = wire.encode({"nonce": question["nonce"], "answer": {"name": "ann", "token": token}}) + b"\n"
            caller.say(recorded)
            await door.house.until("arrived", "ann")
            thief = await door.call()
            await thief.hear()
            thief.say(recorded)
            said = await thief.hear()
            assert said is not None
            assert said["why"] == "a reply to a question that was never asked"
            assert door.reception.visitors["ann"].line.is_there
            assert door.house.count("arrived") == 1

    run(host())


def test_no_token_is_ever_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def host() -> str:
        async with opened(tmp_path) as door:
            said: list[Any] = []
            for answer in (
                {"name": "ann", "token": CANARY},
                {"token": f"~{CANARY}"},
                {"token": CANARY, "visit": "sing"},
                {"token": CANARY + "x" * 40},
                {"nonsense": CANARY},
            ):
                said += await door.come(answer)
            for text in (CANARY.encode() + b"\n", b"x" * 9000 + CANARY.encode() + b"\n", CANARY.encode()):
                caller = await door.call()
                await caller.hear()
                caller.say(text)
                caller.writer.write_eof()
                said.append(await caller.hear())
            await door.house.until("refused", times=8)
            _, _, visitor = await door.sign_up({"name": "bob"})
            question = asyncio.create_task(asked(visitor))
            await door.callers[-1].reply({"name": "bob", "token": CANARY})
            found = await question
            assert isinstance(found, Failed)
            assert found.evidence.received
            return f"{said} {door.house.told} {found} {found.evidence} {vars(visitor)}"

    shown = run(host())
    captured = capfd.readouterr()
    assert CANARY not in shown + captured.out + captured.err


# Coming back


def test_who_has_no_seat_is_gone_with_its_connection_and_who_has_one_may_come_back(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            caller, _, _ = await door.sign_up({"name": "bob"})
            caller.leave()
            await door.house.until("gone", "bob")
            caller, welcome, visitor = await door.sign_up({"name": "ann"})
            visitor.room = "a room"
            question = asyncio.create_task(asked(visitor))
            assert (await caller.hear() or {})["type"] == "tell"
            caller.leave()
            await door.house.until("lost", "ann")
            back, _, same = await door.sign_up({"token": welcome["token"]})
            assert same is visitor
            await back.reply(None)
            assert isinstance(await question, Answered)
            back.leave()
            await door.house.until("lost", "ann", times=2)
            visitor.room = None  # the match is over
            assert door.house.told[-1] == ("gone", "ann")
            assert door.reception.visitors == {}

    run(host())


def test_a_seat_is_kept_for_the_window_and_no_longer(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path, window=0.05) as door:
            caller, welcome, visitor = await door.sign_up({"name": "ann"})
            visitor.room = "a room"
            caller.leave()
            await door.house.until("gone", "ann")
            answer = await asked(visitor)
            assert isinstance(answer, Failed)
            assert (answer.fault.value, answer.why) == ("gone", "did not come back within 0.05 s")
            _, _, another = await door.sign_up({"token": welcome["token"]})
            assert another is not visitor
            assert another.id == visitor.id

    run(host())


def test_who_is_told_goodbye_signs_up_anew(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            for turns in range(20):
                caller, welcome, visitor = await door.sign_up({"name": "ann"})
                leaving = asyncio.create_task(visitor.line.hang_up(b'{"type":"goodbye"}\n', 1.0))
                for _ in range(turns):
                    await asyncio.sleep(0)
                _, _, another = await door.sign_up({"token": welcome["token"], "name": "ann"})
                await leaving
                assert another is not visitor
                assert another.line.is_there
                assert {(await caller.hear() or {}).get("type")} <= {"goodbye", None}
                await another.line.hang_up(b"", 0)

    run(host())


def test_many_who_come_with_one_token_at_once_are_one_visitor_and_the_newest_hears_the_question(tmp_path: Path) -> None:
    random = Random(3)

    async def host() -> None:
        token = make_token(tmp_path, "ann")
        async with opened(tmp_path) as door:
            for number in range(1, 31):
                introduction = {"name": "ann", "token": token}
                callers = [await door.call() for _ in range(8)]
                random.shuffle(callers)
                for caller in callers:
                    await caller.reply(introduction)
                    for _ in range(random.randrange(4)):
                        await asyncio.sleep(0)
                while door.house.count("arrived") + door.house.count("refused") < 8 * number:
                    await asyncio.sleep(0)
                visitor = door.reception.visitors["ann"]
                visitor.room = "a room"
                question = asyncio.create_task(asked(visitor))
                heard = await asyncio.gather(*(last_heard(caller) for caller in callers))
                assert isinstance(await question, Answered)
                assert Counter(heard)["tell"] == 1
                assert heard[-1] == "tell"
                await visitor.line.hang_up(b"", 0)

    run(host())


async def last_heard(caller: Caller) -> str:
    """What somebody hears last: the question, which it answers, or whatever comes before it is cut off."""
    found = ""
    while said := await caller.hear():
        found = said["type"]
        if found == "tell":
            caller.say(wire.encode({"nonce": said["nonce"], "answer": None}) + b"\n")
            break
    return found


# What else it may come for


def test_a_spectator_is_handed_over_with_its_line(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            caller = await door.call()
            await caller.reply({"visit": "watch", "room": "fish-1"})
            await door.house.until("watch", "fish-1")
            assert door.house.lines[0].offer(b'{"news":1}\n')
            assert await caller.hear() == {"news": 1}
            assert door.reception.visitors == {}

    run(host())


def test_a_status_is_one_line_however_long_and_then_the_line_is_cut(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            caller, said = await door.come({"visit": "status"})
            assert said == {"status": "x" * 500_000}
            assert await caller.hear() is None
            assert door.house.told == []

    run(host())


# Over WebSocket


def test_who_comes_over_websocket_may_come_back_over_tcp(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path, websocket=0) as door:
            async with connect(f"ws://{door.reception.addresses[1]}") as surfer:
                question = msgspec.json.decode(await surfer.recv())
                await surfer.send(wire.encode({"nonce": question["nonce"], "answer": {"name": "ann"}}).decode())
                welcome = msgspec.json.decode(await surfer.recv())
                await door.house.until("arrived", "ann")
                (visitor,) = door.house.here.values()
                visitor.room = "a room"
                asking = asyncio.create_task(asked(visitor))
                assert msgspec.json.decode(await surfer.recv())["type"] == "tell"
            await door.house.until("lost", "ann")
            back, _, same = await door.sign_up({"token": welcome["token"]})
            assert same is visitor
            await back.reply(None)
            assert isinstance(await asking, Answered)

    run(host())


# Strangers


async def is_silent(caller: Caller) -> None:
    """Say nothing, ever."""


async def drips(caller: Caller) -> None:
    for sign in b'{"nonce":"' + b"x" * 1000:
        caller.say(bytes([sign]))
        await asyncio.sleep(0.01)


async def asks_for_a_page(caller: Caller) -> None:
    caller.say(b"GET / HTTP/1.1\r\nHost: house\r\n\r\n")


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


STRANGERS = {
    is_silent: "silent",
    drips: "silent",
    speaks_tls: "silent",
    never_reads: "silent",
    asks_for_a_page: "malformed",
    floods: "flood",
    closes_its_half: "gone",
    leaves: "gone",
}


@pytest.mark.parametrize(("stranger", "reason"), STRANGERS.items(), ids=[each.__name__ for each in STRANGERS])
def test_a_stranger_is_let_go_in_time_and_holds_up_nobody(
    stranger: Callable[[Caller], Any], reason: str, tmp_path: Path
) -> None:
    async def host() -> None:
        async with opened(tmp_path, hello=0.3) as door:
            strangers = [asyncio.create_task(stranger(await door.call())) for _ in range(50)]
            _, _, visitor = await door.sign_up({"name": "ann"})
            question = asyncio.create_task(asked(visitor))
            await door.callers[-1].reply(None)
            assert isinstance(await question, Answered)
            await door.house.until("refused", reason, times=50)
            assert door.house.count("refused") == 50
            assert visitor.line.is_there
            for each in strangers:
                each.cancel()
            await asyncio.wait(strangers)

    run(host())


def test_there_are_only_so_many_connections_and_places_get_free_again(tmp_path: Path) -> None:
    async def host() -> None:
        for limits in ({"each": 3}, {"connections": 3}):
            async with opened(tmp_path, **limits) as door:
                callers = [(await door.sign_up())[0] for _ in range(3)]
                assert await (await door.call()).hear() is None
                assert door.house.count("refused", "crowd") == 1
                callers[0].leave()
                await door.house.until("gone")
                while (question := await (newcomer := await door.call()).hear()) is None:
                    pass  # not everybody who has left is noticed at once
                newcomer.say(wire.encode({"nonce": question["nonce"], "answer": None}) + b"\n")
                await door.house.until("arrived", times=4)
                assert len(door.reception.visitors) == 3

    run(host())


def test_who_has_no_seat_for_long_has_to_go(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path, idle=0.1) as door:
            idler, _, _ = await door.sign_up({"name": "ann"})
            player, _, visitor = await door.sign_up({"name": "bob"})
            visitor.room = "a room"
            said = await idler.hear()
            assert said is not None
            assert (said["type"], said["again"]) == ("suspended", 0)
            assert await idler.hear() is None
            await door.house.until("gone", "ann")
            assert visitor.line.is_there
            player.leave()

    run(host())


def test_whoever_looks_for_idlers_does_other_things_meanwhile(tmp_path: Path) -> None:
    looks = 0

    class Looked(Reception):
        def _look_for_idlers(self) -> None:
            nonlocal looks
            looks += 1
            super()._look_for_idlers()

    async def host() -> float:
        since = asyncio.get_running_loop().time()
        async with Looked(House(), settings(tmp_path, strangers=Strangers(idle=1e-9))):
            await asyncio.sleep(0.2)
        return asyncio.get_running_loop().time() - since

    took = run(host())
    assert 1 < looks < 2 + took / 0.04


def test_whoever_is_here_stays_when_the_door_is_shut(tmp_path: Path) -> None:
    async def host() -> None:
        async with opened(tmp_path) as door:
            caller, _, visitor = await door.sign_up()
            await door.call()
            await door.reception.shut()
            with pytest.raises(OSError, match="Connect call failed"):
                await door.call()
            question = asyncio.create_task(asked(visitor))
            await caller.reply(None)
            assert isinstance(await question, Answered)

    run(host())


def test_a_door_that_was_shut_is_let_go_of(tmp_path: Path) -> None:
    async def host() -> Reception | None:
        async with Reception(House(), settings(tmp_path)) as reception:
            left = weakref.ref(reception)
        del reception
        gc.collect()
        return left()

    assert run(host()) is None


# Encrypted


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate of our own, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    files = str(folder / "cert.pem"), str(folder / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=house", "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]]
    with suppress(FileNotFoundError):
        subprocess.run(command, check=True, capture_output=True)
        return files
    pytest.skip("there is no openssl here")


def test_lines_may_be_encrypted_and_who_does_not_do_so_is_let_go(tmp_path: Path, certificate: tuple[str, str]) -> None:
    async def host() -> None:
        async with opened(tmp_path, tls=Tls(*certificate), hello=0.5) as door:
            trusting = ssl.create_default_context(cafile=certificate[0])
            await door.call()
            (await door.call()).say(b"GET / HTTP/1.1\r\n\r\n")
            caller, welcome = await door.come({"name": "ann"}, ssl=trusting)
            assert welcome is not None
            (visitor,) = door.house.here.values()
            visitor.room = "a room"
            question = asyncio.create_task(asked(visitor))
            await caller.hear()
            caller.leave()
            await door.house.until("lost", "ann")
            back, _ = await door.come({"token": welcome["token"]}, ssl=trusting)
            await back.reply(None)
            assert isinstance(await question, Answered)
            await door.house.until("refused", times=2)
            assert visitor.line.is_there

    run(host())


def test_files_that_are_no_certificate_are_refused_in_a_line(tmp_path: Path, certificate: tuple[str, str]) -> None:
    (tmp_path / "no.pem").write_text("no")
    for pair in (("missing.pem", certificate[1]), (str(tmp_path / "no.pem"), certificate[1])):
        with pytest.raises(BadRequest, match=r"no TLS with .*pem"):
            tls_context(*pair)


def test_a_key_that_is_locked_is_refused_and_its_password_not_asked_for(
    tmp_path: Path, certificate: tuple[str, str]
) -> None:
    locked = str(tmp_path / "locked.pem")
    command = ["openssl", "ec", "-in", certificate[1], "-out", locked, "-aes256", "-passout", "pass:a secret"]
    subprocess.run(command, check=True, capture_output=True)

    with pytest.raises(BadRequest, match="it is locked with a password"):
        tls_context(certificate[0], locked)


def test_a_port_that_somebody_has_is_refused_in_a_line(tmp_path: Path) -> None:
    async def host() -> None:
        with socket.create_server((LOOPBACK, 0)) as taken, pytest.raises(BadRequest, match="cannot listen at"):
            Reception(House(), settings(tmp_path, port=taken.getsockname()[1]))

    run(host())
