"""Test that a match has the same facts over each kind of connection, with messages split at every byte."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import pytest

from fairplay.core.events import Event
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, Message
from fairplay.games.fish import Fish
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.players.address import built_in_strategy
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.referee.drivers import play, play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.sandboxed_command import SandboxedCommand
from fairplay.transport.connection import Connection, Received
from fairplay.transport.sockets import SocketConnection, TcpConnection
from fairplay.transport.websocket import ClientWebSocket, ServerWebSocket
from tests.players.scripted_connections import VirtualTimeLoop

GAME = Fish(rows=3, columns=3)
Split = Callable[[bytes], list[bytes]]


class InMemory(asyncio.Transport):
    """One direction of a connection: what is written arrives piece by piece, each in a turn of the loop of its own."""

    def __init__(self, split: Split, arrive: Callable[[bytes], None]) -> None:
        super().__init__()
        self._split = split
        self._arrive = arrive
        self.longest = 0  # bytes that were written at once

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.longest = max(self.longest, len(data))
        for piece in self._split(bytes(data)):
            asyncio.get_running_loop().call_soon(self._arrive, piece)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass


def arrives_at(connection: SocketConnection) -> Callable[[bytes], None]:
    """What the event loop does with what it has read."""

    def arrive(piece: bytes) -> None:
        connection.get_buffer(-1)[: len(piece)] = piece
        connection.buffer_updated(len(piece))

    return arrive


def split_at(at: int) -> Split:
    """Let each message come in two pieces, if it is longer than that."""
    return lambda data: [data[:at], data[at:]] if 0 < at < len(data) else [data]


class Ends(NamedTuple):
    """Both ends of a connection, and what carries their words."""

    ours: Connection
    theirs: SocketConnection
    carriers: tuple[InMemory, InMemory]


def joined(ours: SocketConnection, theirs: SocketConnection, split: Split) -> Ends:
    carriers = InMemory(split, arrives_at(theirs)), InMemory(split, arrives_at(ours))
    ours.connection_made(carriers[0])
    theirs.connection_made(carriers[1])
    return Ends(ours, theirs, carriers)


def over_tcp(split: Split) -> Ends:
    return joined(TcpConnection(), TcpConnection(), split)


def over_websocket(split: Split) -> Ends:
    return joined(ServerWebSocket(), ClientWebSocket("ws://localhost/"), split)


def over_pipes(split: Split) -> Ends:
    """The line to a program without the program."""
    program, theirs = (
        ProgramConnection(SandboxedCommand((sys.executable,), SandboxPolicy(SandboxLevel.NONE))),
        TcpConnection(),
    )
    program._stdin = stdin = InMemory(split, arrives_at(theirs))
    stdout = InMemory(split, program._stdout_pipe().data_received)
    theirs.connection_made(stdout)
    return Ends(program, theirs, (stdin, stdout))


class Player:
    """The player at the other end, who gives answers that were written down."""

    def __init__(self, connection: SocketConnection, answers: list[bytes]) -> None:
        self._connection = connection
        self._answers = iter(answers)
        connection.on_receive(self._hear)

    def _hear(self, heard: Received) -> None:
        assert isinstance(heard, bytes), heard
        nonce = msgspec.json.decode(heard)["nonce"]
        self._connection.send(b'{"nonce":"%b","answer":%b}\n' % (nonce.encode(), next(self._answers)))
        self._connection.on_receive(self._hear)


class Noted(LocalChannel):
    """A player in this process whose answers are written down."""

    def __init__(self) -> None:
        super().__init__(built_in_strategy(GAME.name, "greedy"), GAME)
        self.answers = [b"null"]  # to hello

    def ask(self, message: Message) -> Answer:
        answer = super().ask(message)
        assert isinstance(answer, Answered)
        self.answers.append(wire.encode(answer.value))
        return answer


def the_match() -> Match[Any, Any, Any]:
    return deal_match(GAME, ("ann", "bob"), bytes([3] * 32), match_id="m")


def in_process() -> tuple[list[Event], list[bytes]]:
    """The facts of the match, and the answers of its first player."""
    facts: list[Event] = []
    noted = Noted()
    other = LocalChannel(built_in_strategy(GAME.name, "greedy"), GAME)
    play(the_match(), [noted, other], on_event=lambda event, match: facts.append(event))
    return facts, noted.answers


class Quiet(RemoteChannel):
    """The channel to the player; how it is closed is the business of other tests."""

    async def close(self, reason: object) -> None:
        pass


async def at_a_distance(ends: Ends, answers: list[bytes]) -> list[Event]:
    """The facts of the match if the first player is at the other end."""
    Player(ends.theirs, answers)
    remote = Quiet(ends.ours, GAME)
    assert isinstance(await remote.hello(), Answered)
    facts: list[Event] = []
    here = AsyncLocalChannel(LocalChannel(built_in_strategy(GAME.name, "greedy"), GAME))
    await play_async(the_match(), [remote, here], on_event=lambda event, match: facts.append(event))
    return facts


@pytest.mark.parametrize("over", [over_tcp, over_websocket, over_pipes])
def test_facts_are_the_same_wherever_messages_are_split(over: Callable[[Split], Ends]) -> None:
    expected, answers = in_process()

    async def every_split() -> int:
        longest, at = 1, 0
        while at < longest:  # 0: nothing is split
            ends = over(split_at(at))
            assert await at_a_distance(ends, answers) == expected, at
            longest, at = max(carrier.longest for carrier in ends.carriers), at + 1
        return at

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        assert runner.run(every_split()) > 200


@pytest.mark.parametrize("over", [over_tcp, over_websocket, over_pipes])
def test_facts_are_the_same_byte_by_byte(over: Callable[[Split], Ends]) -> None:
    expected, answers = in_process()

    async def byte_by_byte() -> list[Event]:
        return await at_a_distance(over(lambda data: [bytes([byte]) for byte in data]), answers)

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        assert runner.run(byte_by_byte()) == expected
