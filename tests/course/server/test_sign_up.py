"""Test the sign-up at the server of a course: waiting periods, order, names, and connections that do not sign up."""

import asyncio
from typing import Any

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Answered, Failed
from fairplay.course.channel.remote import TOO_EARLY, CourseClient
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import Call
from fairplay.course.harness.hostile import BAD_NAMES
from fairplay.course.server.sign_up import CourseSignUp
from fairplay.transport import pending
from tests.course.channel.course_matches import LOOPBACK, TIMEOUT_S, run_loop_turns, run_test

NAMED = [name for name, dialect in DIALECTS.items() if dialect.name is not None]
CALL = Call("hear", (True,))
NAME = b'"ann"'

with_names = pytest.mark.parametrize("game", NAMED)


class Client:
    """Somebody who connects and says some bytes."""

    def __init__(self) -> None:
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def come(self, desk: CourseSignUp, says: bytes = b"") -> "Client":
        self.reader, self.writer = await asyncio.open_connection(desk.host, desk.port)
        self.writer.write(says)
        await run_loop_turns(6)
        return self

    async def is_cut(self) -> bool:
        """Has the server hung up, or does it soon?"""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self.reader.read() == b""
        except ConnectionError:
            return True

    def leave(self) -> None:
        self.writer.transport.abort()


async def signed(desk: CourseSignUp, number: int) -> list[CourseClient]:
    """Those who are there, once there are so many."""
    async with asyncio.timeout(TIMEOUT_S):
        while len(desk.clients) < number:
            await asyncio.sleep(0)
    return desk.clients


def names(clients: list[CourseClient]) -> list[str | None]:
    return [client.name for client in clients]


def at_desk(work: Any, game: str = "fish", **options: Any) -> Any:
    """What comes of some work at a desk; all clients leave at the end."""

    async def do() -> Any:
        clients: list[Client] = []
        try:
            async with CourseSignUp(DIALECTS[game], LOOPBACK, 0, **{"most": 3, **options}) as desk:

                async def visit(says: bytes = b"") -> Client:
                    clients.append(await Client().come(desk, says))
                    return clients[-1]

                return await work(desk, visit)
        finally:
            for connected_client in clients:
                connected_client.leave()

    return run_test(do())


def test_a_period_ends_at_once_when_all_are_there() -> None:
    async def work(desk: CourseSignUp, visit: Any) -> None:
        for name in (b'"ann"', b'"bob"\n', b' \n "carol" '):
            await visit(name)
        assert names(await desk.wait(3600)) == ["ann", "bob", "carol"]

    at_desk(work)


def test_a_period_ends_in_time_and_another_keeps_who_is_there() -> None:
    async def work(desk: CourseSignUp, visit: Any) -> None:
        assert await desk.wait(0.01) == []
        await visit(b'"ann"')
        await signed(desk, 1)
        first = await desk.wait(0.01)
        late = await visit(b'"bo')
        assert await desk.wait(0.01) == first and names(first) == ["ann"]
        late.writer.write(b'b"')  # in the next period
        await signed(desk, 2)
        second = await desk.wait(0.01)
        assert second[0] is first[0] and names(second) == ["ann", "bob"]

    at_desk(work)


def test_clients_are_in_the_order_in_which_they_connected() -> None:
    async def work(desk: CourseSignUp, visit: Any) -> None:
        slow = await visit(b" " * 5000)
        await visit(b'"bob"')
        await signed(desk, 1)
        slow.writer.write(b'"ann"')
        assert names(await signed(desk, 2)) == ["ann", "bob"]

    at_desk(work)


def test_where_there_are_no_names_to_connect_is_to_sign_up() -> None:
    async def work(desk: CourseSignUp, visit: Any) -> None:
        first = await visit()
        (client,) = await signed(desk, 1)
        await visit()
        assert names(await signed(desk, 2)) == [None, None]
        host, port = first.writer.get_extra_info("sockname")
        assert client.place == f"{host}:{port}"

    at_desk(work, "tsuro")


@with_names
@pytest.mark.parametrize("says", BAD_NAMES.values(), ids=BAD_NAMES)
def test_a_client_with_an_invalid_name_is_disconnected_and_delays_no_other(game: str, says: bytes) -> None:
    async def work(desk: CourseSignUp, visit: Any) -> None:
        bad = await visit(says)
        await visit(NAME)
        assert names(await signed(desk, 1)) == ["ann"]
        assert await bad.is_cut()
        assert names(desk.clients) == ["ann"]

    at_desk(work, game, name_timeout=0.3)


@with_names
def test_a_name_may_be_cut_at_every_byte_and_surrounded_by_blanks(game: str) -> None:
    async def work(desk: CourseSignUp, visit: Any) -> None:
        for number, cut in enumerate(range(len(NAME) + 1), 1):
            connected_client = await visit(b" " * 5000 + NAME[:cut])
            connected_client.writer.write(NAME[cut:] + b"\r\n\n")
            assert names(await signed(desk, number)) == ["ann"] * number

    at_desk(work, game, most=100)


def test_names_have_to_be_distinct_only_if_that_is_asked_for() -> None:
    async def work(desk: CourseSignUp, visit: Any) -> list[str | None]:
        await visit(NAME)
        await signed(desk, 1)
        second = await visit(NAME)
        await visit(b'"bob"')
        found = names(await signed(desk, 2))
        if found == ["ann", "bob"]:
            assert await second.is_cut()
            return found
        return names(await signed(desk, 3))

    assert at_desk(work, distinct=True) == ["ann", "bob"]
    assert at_desk(work) == ["ann", "ann", "bob"]


def test_who_comes_when_all_are_there_is_cut_off() -> None:
    async def work(desk: CourseSignUp, visit: Any) -> None:
        await visit(NAME)
        await signed(desk, 1)
        late = await visit(b'"bob"')
        assert await late.is_cut()
        assert names(desk.clients) == ["ann"]

    at_desk(work, most=1)


def test_a_listener_that_is_shut_lets_nobody_in_and_cuts_off_who_has_not_signed_up() -> None:
    async def work(desk: CourseSignUp, visit: Any) -> None:
        await visit(NAME)
        await signed(desk, 1)
        silent = await visit()
        await desk.stop_accepting()
        assert await silent.is_cut()
        with pytest.raises(ConnectionRefusedError):
            await visit()
        assert names(desk.clients) == ["ann"]

    at_desk(work)


def test_too_many_strangers_do_not_keep_out_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "MAX_PENDING_CONNECTIONS", 5)

    async def work(desk: CourseSignUp, visit: Any) -> None:
        strangers = [await visit() for _ in range(20)]
        while not await desk.wait(0.2):  # from the same place it may be the one that has to go, and tries again
            await visit(NAME)
        assert names(desk.clients)[:1] == ["ann"]
        cut = [stranger.reader.at_eof() or stranger.reader.exception() is not None for stranger in strangers]
        assert cut.count(True) >= 15

    at_desk(work)


# What comes after a name.


async def called_first(desk: CourseSignUp, visit: Any, says: bytes, *, leaves: bool = False) -> Answered | Failed:
    """What a client answers that has said this before it is called."""
    connected_client = await visit(says)
    (client,) = await signed(desk, 1)
    if leaves:
        connected_client.leave()
        return await client.call(CALL, TIMEOUT_S)
    answering = asyncio.create_task(client.call(CALL, TIMEOUT_S))
    hearing = asyncio.create_task(connected_client.reader.read(1))
    await asyncio.wait((answering, hearing), return_when=asyncio.FIRST_COMPLETED)
    hearing.cancel()
    connected_client.writer.write(b'"void"')
    return await answering


@pytest.mark.parametrize("game", DIALECTS)
@pytest.mark.parametrize("early", [b'"void"', b"void", b"[", b"[]", b'\n\n"void"\n', b" \xff"], ids=repr)
def test_what_is_said_before_the_first_call_is_no_answer(game: str, early: bytes) -> None:
    says = early if DIALECTS[game].name is None else NAME + early
    answer = at_desk(lambda desk, visit: called_first(desk, visit, says), game)

    assert isinstance(answer, Failed)
    assert (answer.fault, answer.why) == (Fault.MALFORMED, TOO_EARLY)
    assert repr(early.strip())[2:-1] in answer.evidence.received


@pytest.mark.parametrize("game", DIALECTS)
def test_white_space_before_the_first_call_is_nothing(game: str) -> None:
    says = b" \n" if DIALECTS[game].name is None else NAME + b" \n"
    answer = at_desk(lambda desk, visit: called_first(desk, visit, says), game)

    assert isinstance(answer, Answered) and answer.value is None


@pytest.mark.parametrize("game", DIALECTS)
def test_who_leaves_after_it_signed_up_fails_at_its_first_call(game: str) -> None:
    says = b"" if DIALECTS[game].name is None else NAME
    answer = at_desk(lambda desk, visit: called_first(desk, visit, says, leaves=True), game)

    assert isinstance(answer, Failed) and answer.fault is Fault.GONE
