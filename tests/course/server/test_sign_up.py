"""Test the sign-up at the server of a course: waiting periods, order, names, and connections that do not sign up."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
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
from tests.course.channel.course_matches import LOOPBACK, TIMEOUT_S, run_by, run_loop_turns, run_test

NAMED = [name for name, dialect in DIALECTS.items() if dialect.name is not None]
CALL = Call("hear", (True,))
NAME = b'"ann"'

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Visit = Callable[..., Awaitable[Streams]]  # a client that connects and says some bytes

every_game = pytest.mark.parametrize("game", DIALECTS)
with_names = pytest.mark.parametrize("game", NAMED)


async def is_cut(reader: asyncio.StreamReader) -> bool:
    """Has the server hung up, or does it soon?"""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await reader.read() == b""
    except ConnectionError:
        return True


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
        writers: list[asyncio.StreamWriter] = []
        try:
            async with CourseSignUp(DIALECTS[game], LOOPBACK, 0, **{"most": 3, **options}) as desk:

                async def visit(says: bytes = b"") -> Streams:
                    reader, writer = await asyncio.open_connection(desk.host, desk.port)
                    writers.append(writer)
                    writer.write(says)
                    await run_loop_turns(6)
                    return reader, writer

                return await work(desk, visit)
        finally:
            for writer in writers:
                writer.transport.abort()

    return run_test(do())


@run_by(at_desk)
async def test_a_period_ends_at_once_when_all_are_there(desk: CourseSignUp, visit: Visit) -> None:
    for name in (b'"ann"', b'"bob"\n', b' \n "carol" '):
        await visit(name)
    assert names(await desk.wait(3600)) == ["ann", "bob", "carol"]


@run_by(at_desk)
async def test_a_period_ends_in_time_and_another_keeps_who_is_there(desk: CourseSignUp, visit: Visit) -> None:
    assert await desk.wait(0.01) == []
    await visit(b'"ann"')
    await signed(desk, 1)
    first = await desk.wait(0.01)
    _, late = await visit(b'"bo')
    assert await desk.wait(0.01) == first and names(first) == ["ann"]
    late.write(b'b"')  # in the next period
    await signed(desk, 2)
    second = await desk.wait(0.01)
    assert second[0] is first[0] and names(second) == ["ann", "bob"]


@run_by(at_desk)
async def test_clients_are_in_the_order_in_which_they_connected(desk: CourseSignUp, visit: Visit) -> None:
    _, slow = await visit(b" " * 5000)
    await visit(b'"bob"')
    await signed(desk, 1)
    slow.write(b'"ann"')
    assert names(await signed(desk, 2)) == ["ann", "bob"]


@run_by(partial(at_desk, game="tsuro"))
async def test_where_there_are_no_names_to_connect_is_to_sign_up(desk: CourseSignUp, visit: Visit) -> None:
    _, first = await visit()
    (client,) = await signed(desk, 1)
    await visit()
    assert names(await signed(desk, 2)) == [None, None]
    host, port = first.get_extra_info("sockname")
    assert client.place == f"{host}:{port}"


@with_names
@pytest.mark.parametrize("says", BAD_NAMES.values(), ids=BAD_NAMES)
def test_a_client_with_an_invalid_name_is_disconnected_and_delays_no_other(game: str, says: bytes) -> None:
    async def work(desk: CourseSignUp, visit: Visit) -> None:
        bad, _ = await visit(says)
        await visit(NAME)
        assert names(await signed(desk, 1)) == ["ann"]
        assert await is_cut(bad)
        assert names(desk.clients) == ["ann"]

    at_desk(work, game, name_timeout=0.3)


@with_names
def test_a_name_may_be_cut_at_every_byte_and_surrounded_by_blanks(game: str) -> None:
    async def work(desk: CourseSignUp, visit: Visit) -> None:
        for number, cut in enumerate(range(len(NAME) + 1), 1):
            _, writer = await visit(b" " * 5000 + NAME[:cut])
            writer.write(NAME[cut:] + b"\r\n\n")
            assert names(await signed(desk, number)) == ["ann"] * number

    at_desk(work, game, most=100)


@pytest.mark.parametrize("distinct", [True, False])
def test_names_have_to_be_distinct_only_if_that_is_asked_for(distinct: bool) -> None:
    async def work(desk: CourseSignUp, visit: Visit) -> None:
        await visit(NAME)
        await signed(desk, 1)
        second, _ = await visit(NAME)
        await visit(b'"bob"')
        if distinct:
            assert names(await signed(desk, 2)) == ["ann", "bob"]
            assert await is_cut(second)
        else:
            assert names(await signed(desk, 3)) == ["ann", "ann", "bob"]

    at_desk(work, distinct=distinct)


@run_by(partial(at_desk, most=1))
async def test_who_comes_when_all_are_there_is_cut_off(desk: CourseSignUp, visit: Visit) -> None:
    await visit(NAME)
    await signed(desk, 1)
    late, _ = await visit(b'"bob"')
    assert await is_cut(late)
    assert names(desk.clients) == ["ann"]


@run_by(at_desk)
async def test_a_listener_that_is_shut_lets_nobody_in_and_cuts_off_who_has_not_signed_up(
    desk: CourseSignUp, visit: Visit
) -> None:
    await visit(NAME)
    await signed(desk, 1)
    silent, _ = await visit()
    await desk.stop_accepting()
    assert await is_cut(silent)
    with pytest.raises(ConnectionRefusedError):
        await visit()
    assert names(desk.clients) == ["ann"]


def test_too_many_strangers_do_not_keep_out_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "MAX_PENDING_CONNECTIONS", 5)

    async def work(desk: CourseSignUp, visit: Visit) -> None:
        strangers = [await visit() for _ in range(20)]
        while not await desk.wait(0.2):  # from the same place it may be the one that has to go, and tries again
            await visit(NAME)
        assert names(desk.clients)[:1] == ["ann"]
        cut = [reader.at_eof() or reader.exception() is not None for reader, _ in strangers]
        assert cut.count(True) >= 15

    at_desk(work)


# What comes after a name.


def answer_to_the_first_call(game: str, early: bytes, *, leaves: bool = False) -> Any:
    """What a client answers that has said this after its name, before it is called."""

    async def work(desk: CourseSignUp, visit: Visit) -> Answered | Failed:
        reader, writer = await visit(early if DIALECTS[game].name is None else NAME + early)
        (client,) = await signed(desk, 1)
        if leaves:
            writer.transport.abort()
            return await client.call(CALL, TIMEOUT_S)
        answering = asyncio.create_task(client.call(CALL, TIMEOUT_S))
        hearing = asyncio.create_task(reader.read(1))
        await asyncio.wait((answering, hearing), return_when=asyncio.FIRST_COMPLETED)
        hearing.cancel()
        writer.write(b'"void"')
        return await answering

    return at_desk(work, game)


@every_game
@pytest.mark.parametrize("early", [b'"void"', b"void", b"[", b"[]", b'\n\n"void"\n', b" \xff"], ids=repr)
def test_what_is_said_before_the_first_call_is_no_answer(game: str, early: bytes) -> None:
    answer = answer_to_the_first_call(game, early)

    assert isinstance(answer, Failed)
    assert (answer.fault, answer.why) == (Fault.MALFORMED, TOO_EARLY)
    assert repr(early.strip())[2:-1] in answer.evidence.received


@every_game
def test_white_space_before_the_first_call_is_nothing(game: str) -> None:
    answer = answer_to_the_first_call(game, b" \n")

    assert isinstance(answer, Answered) and answer.value is None


@every_game
def test_who_leaves_after_it_signed_up_fails_at_its_first_call(game: str) -> None:
    answer = answer_to_the_first_call(game, b"", leaves=True)

    assert isinstance(answer, Failed) and answer.fault is Fault.GONE
