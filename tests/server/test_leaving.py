"""Let spectators leave a house, and see that it lets go of them."""

import asyncio
import socket
from pathlib import Path

from fairplay.players import wire
from fairplay.players.connection import over_tcp
from fairplay.server.farewells import Farewells
from fairplay.server.following import QUIET
from fairplay.server.house import House
from fairplay.server.lobby import Lobby
from fairplay.server.reception import Reception
from fairplay.server.settings import HouseSettings, Strangers, offer
from fairplay.server.spectators import Spectators

PATIENCE = 60.0  # seconds


async def spectator(place: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Somebody who has come to watch whatever is played."""
    host, _, port = place.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    hello = wire.decode_line((await reader.readline()).rstrip())
    assert isinstance(hello, wire.Hello)
    writer.write(wire.encode({"nonce": hello.nonce, "answer": {"visit": "watch"}}) + b"\n")
    return reader, writer


def test_the_house_lets_go_of_a_spectator_who_closes_its_own_end_as_soon_as_it_has_come(tmp_path: Path) -> None:
    async def visits() -> list[bytes]:
        strangers = Strangers(spectators=1)
        house = House(HouseSettings(offers=(offer("fish", {}),), folder=str(tmp_path), strangers=strangers))
        house.lobby = Lobby(house.settings.offers, house.open_room)
        heard = []
        async with Reception(house, tmp_path, "127.0.0.1", 0) as reception, asyncio.timeout(PATIENCE):
            for _ in range(3):
                reader, writer = await spectator(reception.addresses[0])
                writer.write_eof()
                heard.append(await reader.read())
                writer.close()
            await house.stop("all is over", 0.0)
        return heard

    assert asyncio.run(visits()) == [QUIET + b"\n"] * 3  # and no line is left open, nor a place taken


def test_who_has_left_while_it_came_in_takes_no_place(tmp_path: Path) -> None:
    async def visit() -> int:
        farewells = Farewells()
        spectators = Spectators({}, 1, farewells)
        ours, theirs = socket.socketpair()
        line, lost = await over_tcp(ours), asyncio.Event()
        theirs.close()
        line.when_lost(lost.set)
        async with asyncio.timeout(PATIENCE):
            await lost.wait()
            spectators.add(line, "")
            await farewells.said()
        return len(spectators.lines)

    assert asyncio.run(visit()) == 0
