"""Measure the cost of a turn over pipes, TCP and WebSockets, beside bare code that exchanges the same messages.

A turn is a question to a player that answers at once, and its decoded answer. The bare code uses asyncio alone: it
encodes, sends, waits for a line with a timeout, and decodes; it checks nothing else. For
a client of a course it is a turn of our own protocol, of which a turn of the course may cost at most 1.3 times as much:
the first turn of a match, and the late ones, when there is most to show.
"""

import argparse
import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import cycle
from typing import NamedTuple

import msgspec
from websockets.frames import Frame
from websockets.http11 import Request
from websockets.protocol import Event
from websockets.server import ServerProtocol

from fairplay.core.messages import Answer, Answered, Message, TakeTurn
from fairplay.core.roles import AnyStrategy, AsyncChannel
from fairplay.course.channel.remote import CourseChannel
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import Call
from fairplay.course.server.sign_up import CourseSignUp
from fairplay.games import make_game
from fairplay.games.fish import Fish
from fairplay.players.address import built_in_strategy
from fairplay.players.listener import Listener, listen_tcp
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.protections import why_not_strict
from fairplay.testing.hostile import AnyGame
from fairplay.transport import event_loop

ROUNDS = 15
TURNS = 200  # in a round
MOVE_LIMIT_S = 5.0
GAME = Fish(rows=5, columns=5)
MESSAGE = TakeTurn(GAME.view(GAME.deal(2, bytes(32)), 0))
BOT = r"""
import re, sys
nonce = re.compile(rb'"nonce":("[^"]*")')
for line in sys.stdin.buffer:
    answer = b'{"type":"place","at":[0,0]}' if line.startswith(b'{"type":"take_turn"') else b"null"
    sys.stdout.buffer.write(b'{"nonce":' + nonce.search(line)[1] + b',"answer":' + answer + b"}\n")
    sys.stdout.buffer.flush()
"""
ANSWER = '{"type":"place","at":[0,0]}'
TCP_BOT = r"""
import itertools, re, socket, sys
nonce = re.compile(rb'"nonce":("[^"]*")')
answers = itertools.cycle(answer.encode() for answer in sys.argv[2:])
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as line:
    for text in line.makefile("rb"):
        answer = next(answers) if text.startswith(b'{"type":"take_turn"') else b"null"
        line.sendall(b'{"nonce":' + nonce.search(text)[1] + b',"answer":' + answer + b"}\n")
"""
WEBSOCKET_BOT = r"""
import re, sys
from contextlib import suppress
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
nonce = re.compile(r'"nonce":("[^"]*")')
with suppress(ConnectionClosed), connect(f"ws://127.0.0.1:{sys.argv[1]}", compression=None, proxy=None) as line:
    for text in line:
        answer = '{"type":"place","at":[0,0]}' if text.startswith('{"type":"take_turn"') else "null"
        line.send('{"nonce":' + nonce.search(text)[1] + ',"answer":' + answer + "}")
"""
COURSE_BOT = r"""
import itertools, socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as line:
    line.sendall(sys.argv[-1].encode())
    for text, reply in zip(line.makefile("rb"), itertools.cycle(sys.argv[2:-1])):
        line.sendall(reply.encode() + b"\n")
"""
PLAYERS = {"fish": "greedy", "tsuro": "second", "q": "dag"}


class Figure(NamedTuple):
    """Seconds per turn: of fairplay, and of bare code."""

    ours: float
    bare: float


Turn = Callable[[], Awaitable[object]]
Benchmark = Callable[[int], Awaitable[Figure]]  # of so many rounds
BareTurn = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Turn]]


async def process_turn(sandbox: SandboxPolicy, rounds: int) -> Figure:
    """A program on this machine, through its pipes."""
    command = (sys.executable, "-I", "-S", "-c", BOT)
    program = await ProgramConnection.start(command, sandbox=sandbox)
    bare = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert bare.stdin is not None and bare.stdout is not None
    remote = RemoteChannel(program, GAME)
    try:
        assert isinstance(await remote.hello(), Answered)
        return await best_of_rounds(ask_repeatedly(remote), await bare_turn(bare.stdout, bare.stdin), rounds)
    finally:
        await remote.close(None)
        bare.stdin.close()
        await bare.wait()


async def tcp_turn(rounds: int) -> Figure:
    """A program at the other end of a connection."""
    return await compare_over_network(listen_tcp("0"), TCP_BOT, rounds, bare_turn)


async def websocket_turn(rounds: int) -> Figure:
    """A program at the other end of a WebSocket; the bare code has the library's protocol over streams."""
    from fairplay.players.listener import listen_websocket

    return await compare_over_network(listen_websocket("0"), WEBSOCKET_BOT, rounds, bare_websocket_turn)


class RecordedTurn(NamedTuple):
    """A turn of a match: what is asked, and the answer to it, by our own protocol and by the course's."""

    message: TakeTurn
    answer: str
    reply: str


class RecordingChannel(LocalChannel):
    """A player that keeps its turns as messages to a client of the course."""

    def __init__(self, game: AnyGame, strategy: AnyStrategy) -> None:
        super().__init__(strategy, game)
        self.turns: list[RecordedTurn] = []
        dialect = DIALECTS[game.name]
        self._callee, self._caller = dialect.callee(game, "bot"), dialect.caller("bot")

    def ask(self, message: Message) -> Answer:
        answer = super().ask(message)
        for call in self._callee.calls(message):
            self._caller.messages(msgspec.json.decode(wire.encode(call), type=Call))
        if isinstance(message, TakeTurn) and isinstance(answer, Answered):
            reply = self._caller.reply(answer.value)
            self.turns.append(RecordedTurn(message, wire.encode(answer.value).decode(), wire.encode(reply).decode()))
        return answer


def recorded_turns(game: AnyGame) -> list[RecordedTurn]:
    """The turns that one of three built-in players has in a match."""
    strategy = built_in_strategy(game.name, PLAYERS[game.name])
    heard = RecordingChannel(game, strategy)
    play(
        deal_match(game, ("bot", "ann", "bob"), bytes([5] * 32)),
        [heard, LocalChannel(strategy, game), LocalChannel(strategy, game)],
    )
    return heard.turns


async def course_turn(name: str, late: bool, rounds: int) -> Figure:
    """A client of a course at the other end of a connection; the bare code is a turn of our own protocol there."""
    game, dialect = make_game(name, {}), DIALECTS[name]
    turns = recorded_turns(game)
    turns = turns[len(turns) // 2 :] if late else turns[:1]
    messages, answers, replies = zip(*turns, strict=True)
    listener, sign = listen_tcp("0"), "" if dialect.name is None else '"bot"\n'
    async with CourseSignUp(dialect, "127.0.0.1", 0, most=1) as desk:
        bots = [
            await asyncio.create_subprocess_exec(sys.executable, "-c", *words)
            for words in ((COURSE_BOT, str(desk.port), *replies, sign), (TCP_BOT, str(listener.port), *answers))
        ]
        (client,), (guest,) = await desk.wait(MOVE_LIMIT_S), await listener.accept_players(game)
        try:
            channel = CourseChannel(client, dialect.callee(game, "bot"), game)
            return await best_of_rounds(
                ask_repeatedly(channel, *messages), ask_repeatedly(guest.channel, *messages), rounds
            )
        finally:
            await guest.channel.close(None)
            await client.close()
            await asyncio.gather(*(bot.wait() for bot in bots))


async def compare_over_network(listener: Listener, bot: str, rounds: int, bare_turn_over: BareTurn) -> Figure:
    """A bot that connects to a listener, beside another one with bare code on streams."""
    came: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Future()
    server = await asyncio.start_server(lambda *streams: came.set_result(streams), "127.0.0.1", 0)
    bare_port = server.sockets[0].getsockname()[1]
    ours = await asyncio.create_subprocess_exec(sys.executable, "-c", bot, str(listener.port), ANSWER)
    bare = await asyncio.create_subprocess_exec(sys.executable, "-c", bot, str(bare_port), ANSWER)
    (guest,) = await listener.accept_players(GAME)
    reader, writer = await came
    try:
        return await best_of_rounds(ask_repeatedly(guest.channel), await bare_turn_over(reader, writer), rounds)
    finally:
        await guest.channel.close(None)
        writer.close()
        server.close()
        await asyncio.gather(ours.wait(), bare.wait())


def ask_repeatedly(remote: AsyncChannel, *messages: TakeTurn) -> Turn:
    """A turn of fairplay, with these questions in a cycle."""
    asked = cycle(messages or (MESSAGE,))

    async def turn() -> None:
        assert isinstance(await remote.ask(next(asked)), Answered)

    return turn


async def bare_turn(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Turn:
    """A turn of bare code over streams."""
    decode = wire.action_decoder(Fish)

    async def turn() -> None:
        writer.write(wire.encode_question(MESSAGE, GAME, match_id="", turn=1, nonce="0", limit=MOVE_LIMIT_S))
        await writer.drain()
        line = await asyncio.wait_for(reader.readline(), MOVE_LIMIT_S)
        decode(wire.decode_reply(line).answer)

    return turn


async def bare_websocket_turn(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Turn:
    """A turn of bare code over a WebSocket."""
    protocol, decode = ServerProtocol(), wire.action_decoder(Fish)

    async def events() -> list[Event]:
        while not (events := protocol.events_received()):
            protocol.receive_data(await asyncio.wait_for(reader.read(65536), MOVE_LIMIT_S))
        return events

    async def turn() -> None:
        protocol.send_text(wire.encode_question(MESSAGE, GAME, match_id="", turn=1, nonce="0", limit=MOVE_LIMIT_S))
        writer.writelines(protocol.data_to_send())
        await writer.drain()
        (frame,) = await events()
        assert isinstance(frame, Frame)
        decode(wire.decode_reply(frame.data).answer)

    (request,) = await events()
    assert isinstance(request, Request)
    protocol.send_response(protocol.accept(request))
    writer.writelines(protocol.data_to_send())
    return turn


async def best_of_rounds(ours: Turn, bare: Turn, rounds: int) -> Figure:
    """The best rounds of both, in turns, so that both sides run under the same conditions."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for place, turn in enumerate((ours, bare)):
            since = time.perf_counter()
            for _ in range(TURNS):
                await turn()
            best[place] = min(best[place], (time.perf_counter() - since) / TURNS)
    return Figure(*best)


BENCHMARKS: dict[str, Benchmark] = {
    "process.turn": lambda rounds: process_turn(SandboxPolicy(SandboxLevel.NONE), rounds),
    "process.turn.strict": lambda rounds: process_turn(SandboxPolicy(SandboxLevel.STRICT), rounds),
    "process.turn.strict.pondering": lambda rounds: process_turn(
        SandboxPolicy(SandboxLevel.STRICT, pondering=True), rounds
    ),
    "tcp.turn": tcp_turn,
    "websocket.turn": websocket_turn,
    **{f"course.turn.{name}": partial(course_turn, name, False) for name in PLAYERS},
    **{f"course.turn.{name}.late": partial(course_turn, name, True) for name in PLAYERS},
}


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--list", action="store_true", help="print only the names of those that this machine can run")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="how often each is measured")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of those in the list (default: all)")
    chosen = parser.parse_args()
    known = [name for name in BENCHMARKS if "strict" not in name or not why_not_strict()]
    if chosen.list:
        print("\n".join(known))
        return
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)} here")
    figures = {name: event_loop.run(measure(BENCHMARKS[name], chosen.rounds)) for name in chosen.names or known}
    if chosen.json:
        json.dump(
            {name: {**figure._asdict(), "ratio": figure.ours / figure.bare} for name, figure in figures.items()},
            sys.stdout,
        )
        print()
        return
    print(f"{'':<24}{'us per turn':>12}{'bare':>12}{'ratio':>8}")
    for name, figure in figures.items():
        print(f"{name:<24}{figure.ours * 1e6:>12.1f}{figure.bare * 1e6:>12.1f}{figure.ours / figure.bare:>8.2f}")


async def measure(benchmark: Benchmark, rounds: int) -> Figure:
    """The figure of one benchmark."""
    return await benchmark(rounds)


if __name__ == "__main__":
    main()
