"""Test that clients of a course connect in their order, whether they or the server start first."""

import asyncio
import json
import socket
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.harness import clients as harness_clients
from fairplay.course.harness.clients import Actor, Misbehaviour, play_actors
from fairplay.course.harness.over_network import LOOPBACK
from fairplay.games.q.strategies import RECIPES
from fairplay.players.address import built_in_strategy

TIMES = 10
APART = 0.013  # seconds between two clients, which is no divisor of the time between two attempts
SOON = 10.0  # seconds, which no test needs
NAMES = tuple(f"client{number}" for number in range(5))


class LateServer:
    """A server that has its port, and listens only when it is told to; then it asks all who came for their names."""

    def __init__(self, call: bytes = b"") -> None:
        self._socket = socket.socket()
        self._socket.bind((LOOPBACK, 0))  # who connects is refused
        self._call = call  # that is answered by a name; none: it is said at sign-up
        self.port: int = self._socket.getsockname()[1]

    def names(self, count: int) -> list[str]:
        """Listen, and hear the name of each of so many, in the order in which they are accepted."""
        with self._socket:
            self._socket.listen(count)
            names = list[str]()
            for _ in range(count):
                connection, _ = self._socket.accept()
                with connection, connection.makefile("rb") as said:
                    connection.sendall(self._call)
                    names.append(json.loads(said.readline()))
            return names


async def names_in_order(game: str, actors: list[Actor], call: bytes = b"") -> list[str]:
    """The names at a server that listens when its clients have tried to connect."""
    server = LateServer(call)
    acting = asyncio.create_task(play_actors(DIALECTS[game], LOOPBACK, server.port, actors, interval_s=APART))
    await asyncio.sleep(0.08)  # in which they are refused; how often does not matter
    names = await asyncio.to_thread(server.names, len(actors))
    await acting
    return names


def test_clients_that_were_there_before_their_server_sign_up_in_their_order() -> None:
    actors = [Actor(name, RECIPES["dag"]) for name in NAMES]

    orders = [asyncio.run(names_in_order("q", actors)) for _ in range(TIMES)]

    assert orders == [list(NAMES)] * TIMES


def test_clients_without_names_connect_in_their_order_too() -> None:
    strategy = built_in_strategy("tsuro", "first")
    actors = [Actor(name, strategy, Misbehaviour("playing-as", sent=b'"%b"\n' % name.encode())) for name in NAMES]

    orders = [asyncio.run(names_in_order("tsuro", actors, b'["playing-as",["red"]]\n')) for _ in range(TIMES)]

    assert orders == [list(NAMES)] * TIMES


def test_a_client_connects_when_the_one_before_has_said_its_name() -> None:
    said = list[Any]()

    async def look(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said.append("connected")
        said.append(json.loads(await reader.readline()))
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(look, LOOPBACK, 0) as server:
            port = server.sockets[0].getsockname()[1]
            await play_actors(DIALECTS["q"], LOOPBACK, port, [Actor(name, RECIPES["dag"]) for name in NAMES])

    asyncio.run(main())

    assert said == [one for name in NAMES for one in ("connected", name)]


def test_clients_that_are_called_off_before_all_have_come_leave_at_once() -> None:
    async def main() -> bool:
        came = asyncio.Event()

        async def stay_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            came.set()
            await reader.read()  # until the client has left
            writer.close()

        async with await asyncio.start_server(stay_silent, LOOPBACK, 0) as server:
            port = server.sockets[0].getsockname()[1]
            actors = [Actor(name, RECIPES["dag"]) for name in NAMES]
            acting = asyncio.create_task(play_actors(DIALECTS["q"], LOOPBACK, port, actors, interval_s=SOON))
            await came.wait()
            acting.cancel()
            ended, _ = await asyncio.wait([acting], timeout=SOON)
            acting.cancel()  # so that a failure does not wait for ever
            return acting in ended

    assert asyncio.run(main())


def test_a_client_says_that_its_strategy_failed_and_leaves() -> None:
    told, heard = list[str](), list[bytes]()
    players: list[dict[str, Any]] = [{"color": colour, "score": 0, "places": []} for colour in ("red", "white")]
    state = {"players": players, "board": [[1] * 5] * 5}
    calls = [["playing-as", ["red"]], ["playing-with", [["white"]]], ["setup", [state]]]

    def fail(view: Any) -> Any:
        raise ValueError("oh no")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write("".join(map(json.dumps, calls)).encode())
        heard.extend((await reader.read()).splitlines())
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(serve, LOOPBACK, 0) as server:
            port = server.sockets[0].getsockname()[1]
            await play_actors(DIALECTS["fish"], LOOPBACK, port, [Actor("ann", fail)], tell=told.append)

    asyncio.run(main())

    assert told == ["ann left: its strategy failed, raised ValueError"]
    assert heard == [b'"ann"', b'"void"', b'"void"']


def test_a_client_without_a_server_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness_clients, "CONNECT_TIMEOUT_S", 0.1)
    told, tasks = list[str](), list[asyncio.Task[None]]()

    async def serve(connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        assert await reader.readline() == b'"a"\n'
        await asyncio.sleep(0.3)  # longer than anybody dials
        writer.write(b'["dance",[]]')
        await reader.read()
        writer.close()

    async def main() -> None:
        listening = socket.create_server((LOOPBACK, 0))
        port = listening.getsockname()[1]

        def accept() -> None:
            """Let one come in, and nobody else."""
            connection, _ = listening.accept()
            asyncio.get_running_loop().remove_reader(listening)
            listening.close()
            tasks.append(asyncio.create_task(serve(connection)))

        asyncio.get_running_loop().add_reader(listening, accept)
        actors = [Actor(name, RECIPES["dag"]) for name in "ab"]
        try:
            await play_actors(DIALECTS["q"], LOOPBACK, port, actors, tell=told.append)
        finally:
            await asyncio.gather(*tasks)

    with pytest.raises(BadRequest, match="cannot connect to"):
        asyncio.run(main())

    assert [line.partition(":")[0] for line in told] == ["a left"]  # when it was called, and not before
