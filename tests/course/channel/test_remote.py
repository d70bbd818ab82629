"""Test matches with clients of a course: the calls that are made, the time that they cost, and the end."""

import asyncio
import socket
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Fault, Receipt
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, Message, Start, TakeTurn, Tell
from fairplay.core.roles import CloseReason
from fairplay.course.channel.remote import NOT_VOID, CourseChannel, CourseClient
from fairplay.course.dialects.dialect import Call
from fairplay.protocol.limits import Limits
from fairplay.referee.local_channel import NO_ACTION
from tests.course.channel.test_connection import heard, in_no_time, replying, why, with_client
from tests.players.scripted_connections import VirtualTimeLoop
from tests.toy import Play, Toy

GAME = Toy(cards=6, hand=2)
VIEW = GAME.view(GAME.deal(2, bytes(32)), 0)
START, TURN, TELL = Start(0, ("ann", "bob"), VIEW), TakeTurn(VIEW), Tell(5)


class Plain:
    """The toy as a course might say it: a greeting in two calls, a card as the reply, nothing for news."""

    def calls(self, message: Message) -> list[Call]:
        match message:
            case Start():
                return [Call("as", (0,)), Call("with", (["bob"],))]
            case TakeTurn():
                return [Call("turn", ())]
        return []

    def action(self, reply: Any) -> Any:
        if not isinstance(reply, list):
            raise BadRequest("a card in a list was due")
        return {"type": "play", "card": reply[0]}


def asked(
    message: Message, *replies: bytes, limits: Limits | None = None, after: float = 1.0
) -> tuple[Answer, list[bytes]]:
    """The answer to a message, when each of its calls is replied to after a second, and the calls."""

    async def act(client: CourseClient, theirs: socket.socket, loop: VirtualTimeLoop) -> tuple[Answer, list[bytes]]:
        channel = CourseChannel(client, Plain(), GAME, limits=limits or Limits())
        asking, calls = asyncio.create_task(channel.ask(message)), list[bytes]()
        for reply in replies:
            calls.append(await heard(theirs))
            await asyncio.sleep(1.0)
            theirs.send(reply)
        return await asking, calls

    found: tuple[Answer, list[bytes]] = in_no_time(act)
    return found


def test_a_message_is_as_many_calls_as_the_dialect_makes_of_it() -> None:
    answer, calls = asked(START, b'"void"', b'"void"', limits=Limits(move=1.5))

    assert calls == [b'["as",[0]]\n', b'["with",[["bob"]]]\n']
    assert isinstance(answer, Answered) and answer.value is None and answer.took == pytest.approx(2.0, abs=0.01)
    assert asked(TELL) == (Answered(None), [])


def test_the_first_call_that_fails_is_the_last() -> None:
    answer, calls = asked(START, b'"no"')

    assert why(answer) == (Fault.MALFORMED, NOT_VOID) and calls == [b'["as",[0]]\n']
    assert answer.took == pytest.approx(1.0, abs=0.01)


def test_a_reply_to_a_turn_becomes_an_action() -> None:
    answer, calls = asked(TURN, b" [ 3 ] ")

    assert isinstance(answer, Answered) and answer.value == Play(3) and calls == [b'["turn",[]]\n']
    assert answer.evidence is not None and answer.evidence().received == "b'[ 3 ]'"


@pytest.mark.parametrize("reply", [b'"void"', b'["x"]', b"[[3]]", b"[true]"], ids=repr)
def test_a_reply_that_is_no_action_is_malformed(reply: bytes) -> None:
    assert why(asked(TURN, reply)[0]) == (Fault.MALFORMED, NO_ACTION)


def test_turns_are_paid_from_the_bank() -> None:
    async def act(client: CourseClient, theirs: socket.socket, loop: VirtualTimeLoop) -> Answer:
        channel = CourseChannel(client, Plain(), GAME, limits=Limits(move=5.0, bank=5.0))
        loop.call_later(4.0, theirs.send, b"[3]")
        assert isinstance(await channel.ask(TURN), Answered)
        return await channel.ask(TURN)

    assert why(in_no_time(act)) == (Fault.TIMED_OUT, "no answer within 1 s")


class InTwoCalls(Plain):
    """The toy as a course might say it, with a turn in two calls."""

    def calls(self, message: Message) -> list[Call]:
        return [Call("look", ()), *super().calls(message)] if message is TURN else super().calls(message)


def test_all_calls_of_a_turn_are_paid_from_the_bank() -> None:
    async def act(client: CourseClient, theirs: socket.socket, loop: VirtualTimeLoop) -> Answer:
        channel = CourseChannel(client, InTwoCalls(), GAME, limits=Limits(move=5.0, bank=6.0))
        loop.call_later(3.0, theirs.send, b'"void"')
        loop.call_later(4.0, theirs.send, b"[3]")
        answer = await channel.ask(TURN)
        assert isinstance(answer, Answered) and answer.took == pytest.approx(4.0, abs=0.01)
        return await channel.ask(TURN)

    assert why(in_no_time(act)) == (Fault.TIMED_OUT, "no answer within 2 s")


@pytest.mark.parametrize(
    ("reason", "reply", "cut"),
    [
        (None, b'"void"', False),
        (Receipt(7, "ab"), b'"void"', False),
        (Ejected(0, Fault.ILLEGAL, Moment.TURN, "against the rules"), b'"void"', True),
        (None, b"void", True),
    ],
)
def test_the_line_outlives_a_match_unless_the_player_is_out(reason: CloseReason, reply: bytes, cut: bool) -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> None:
        channel = CourseChannel(client, Plain(), GAME)
        await replying(client, theirs, reply)
        await channel.close(reason)
        if cut:
            assert await heard(theirs) == b""
        else:
            assert isinstance(await replying(client, theirs, b'"void"'), Answered)

    with_client(act)
