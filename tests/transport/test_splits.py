"""Test that a match has the same facts over each kind of connection, with messages split at every byte."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Event
from fairplay.core.match import Match
from fairplay.core.messages import Answered
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
        self._split, self._arrive = split, arrive
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


Ends = tuple[Connection, SocketConnection, InMemory, InMemory]  # ours and theirs, and what carries their words


def joined(ours: SocketConnection, theirs: SocketConnection, split: Split) -> Ends:
    out, back = InMemory(split, arrives_at(theirs)), InMemory(split, arrives_at(ours))
    ours.connection_made(out)
    theirs.connection_made(back)
    return ours, theirs, out, back


def over_tcp(split: Split) -> Ends:
    return joined(TcpConnection(), TcpConnection(), split)


def over_websocket(split: Split) -> Ends:
    return joined(ServerWebSocket(), ClientWebSocket("ws://localhost/"), split)


def over_pipes(split: Split) -> Ends:
    """The connection to a program without the program."""
    program = ProgramConnection(SandboxedCommand((sys.executable,), SandboxPolicy(SandboxLevel.NONE)))
    theirs = TcpConnection()
    program._stdin = stdin = InMemory(split, arrives_at(theirs))
    stdout = InMemory(split, program._stdout_pipe().data_received)
    theirs.connection_made(stdout)
    return program, theirs, stdin, stdout


def strategy() -> Any:
    return built_in_strategy(GAME.name, "greedy")


class Player:
    """The player at the other end."""

    def __init__(self, connection: SocketConnection) -> None:
        self._connection, self._strategy = connection, strategy()
        connection.on_receive(self._hear)

    def _hear(self, heard: Received) -> None:
        assert isinstance(heard, bytes), heard
        question = msgspec.json.decode(heard)
        answer = self._strategy(GAME.unpack(question["view"])) if question["type"] == "take_turn" else None
        self._connection.send(wire.encode({"nonce": question["nonce"], "answer": answer}) + b"\n")
        self._connection.on_receive(self._hear)


def the_match() -> Match[Any, Any, Any]:
    return deal_match(GAME, ("ann", "bob"), bytes([3] * 32), match_id="m")


class Quiet(RemoteChannel):
    """The channel to the player; how it is closed is the business of other tests."""

    async def close(self, reason: object) -> None:
        pass


@pytest.mark.parametrize("over", [over_tcp, over_websocket, over_pipes])
async def test_facts_are_the_same_wherever_messages_are_split(
    over: Callable[[Split], Ends], loop: VirtualTimeLoop
) -> None:
    expected: list[Event] = []
    table = [LocalChannel(strategy(), GAME) for _ in range(2)]
    play(the_match(), table, on_event=lambda event, match: expected.append(event))

    async def match_over(split: Split) -> int:
        """Play the match with its first player at the other end, and return the length of the longest message."""
        ours, theirs, *carriers = over(split)
        Player(theirs)
        remote = Quiet(ours, GAME)
        assert isinstance(await remote.hello(), Answered)
        facts: list[Event] = []
        other = AsyncLocalChannel(LocalChannel(strategy(), GAME))
        await play_async(the_match(), [remote, other], on_event=lambda event, match: facts.append(event))
        assert facts == expected
        return max(carrier.longest for carrier in carriers)

    await match_over(lambda data: [bytes([byte]) for byte in data])
    longest, at = 2, 1
    while at < longest:
        longest, at = await match_over(lambda data, at=at: [data[:at], data[at:]] if at < len(data) else [data]), at + 1  # type: ignore[misc]
    assert at > 200
