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


ACTORS = [Actor(name, RECIPES["dag"]) for name in NAMES]


def accept_names(listening: socket.socket, call: bytes) -> list[str]:
    """Listen, call each that is accepted, and hear its name, which it says in place of an answer or at sign-up."""
    with listening:
        listening.listen(len(NAMES))
        names = list[str]()
        for _ in NAMES:
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as said:
                connection.sendall(call)
                names.append(json.loads(said.readline()))
        return names


async def names_in_order(game: str, actors: list[Actor], call: bytes = b"") -> list[str]:
    """The names at a server that listens only when its clients have tried to connect."""
    listening = socket.socket()
    listening.bind((LOOPBACK, 0))  # who connects is refused
    port = listening.getsockname()[1]
    acting = asyncio.create_task(play_actors(DIALECTS[game], LOOPBACK, port, actors, interval_s=APART))
    await asyncio.sleep(0.08)  # in which they are refused; how often does not matter
    names = await asyncio.to_thread(accept_names, listening, call)
    await acting
    return names


def test_clients_that_were_there_before_their_server_sign_up_in_their_order() -> None:
    orders = [asyncio.run(names_in_order("q", ACTORS)) for _ in range(TIMES)]

    assert orders == [list(NAMES)] * TIMES


def test_clients_without_names_connect_in_their_order_too() -> None:
    strategy = built_in_strategy("tsuro", "first")
    actors = [Actor(name, strategy, Misbehaviour("playing-as", sent=b'"%b"\n' % name.encode())) for name in NAMES]

    orders = [asyncio.run(names_in_order("tsuro", actors, b'["playing-as",["red"]]\n')) for _ in range(TIMES)]

    assert orders == [list(NAMES)] * TIMES


async def play_at(serve: Any, game: str, actors: list[Actor], **options: Any) -> None:
    """Let actors play at a server of the test."""
    async with await asyncio.start_server(serve, LOOPBACK, 0) as server:
        await play_actors(DIALECTS[game], LOOPBACK, server.sockets[0].getsockname()[1], actors, **options)


def test_a_client_connects_when_the_one_before_has_said_its_name() -> None:
    said = list[Any]()

    async def look(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said.append("connected")
        said.append(json.loads(await reader.readline()))
        writer.close()

    asyncio.run(play_at(look, "q", ACTORS))

    assert said == [one for name in NAMES for one in ("connected", name)]


def test_clients_that_are_called_off_before_all_have_come_leave_at_once() -> None:
    async def main() -> bool:
        came = asyncio.Event()

        async def stay_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            came.set()
            await reader.read()  # until the client has left
            writer.close()

        acting = asyncio.create_task(play_at(stay_silent, "q", ACTORS, interval_s=SOON))
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

    asyncio.run(play_at(serve, "fish", [Actor("ann", fail)], tell=told.append))

    assert told == ["ann left: its strategy failed, raised ValueError"]
    assert heard == [b'"ann"', b'"void"', b'"void"']


def test_a_client_without_a_server_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness_clients, "CONNECT_TIMEOUT_S", 0.1)
    told, tasks = list[str](), list[asyncio.Task[None]]()

    async def serve(connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        assert await reader.readline() == b'"client0"\n'
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
        try:
            await play_actors(DIALECTS["q"], LOOPBACK, port, ACTORS[:2], tell=told.append)
        finally:
            await asyncio.gather(*tasks)

    with pytest.raises(BadRequest, match="cannot connect to"):
        asyncio.run(main())

    assert [line.partition(":")[0] for line in told] == ["client0 left"]  # when it was called, and not before
