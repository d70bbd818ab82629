"""Let spectators leave a house, and see that it lets go of them."""

import asyncio
from pathlib import Path

from fairplay.players import wire
from fairplay.server.house import House
from fairplay.server.lobby import Lobby
from fairplay.server.reception import Reception
from fairplay.server.settings import HouseSettings, offer

PATIENCE = 60.0  # seconds


async def spectator(place: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Somebody who has come to watch whatever is played."""
    host, _, port = place.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    hello = wire.decode_line((await reader.readline()).rstrip())
    assert isinstance(hello, wire.Hello)
    writer.write(wire.encode({"nonce": hello.nonce, "answer": {"visit": "watch"}}) + b"\n")
    return reader, writer


def test_the_house_closes_the_line_of_a_spectator_who_has_closed_its_own_end(tmp_path: Path) -> None:
    async def visit() -> bytes:
        house = House(HouseSettings(offers=(offer("fish", {}),), folder=str(tmp_path)))
        house.lobby = Lobby(house.settings.offers, house.open_room)
        async with Reception(house, tmp_path, "127.0.0.1", 0) as reception, asyncio.timeout(PATIENCE):
            reader, writer = await spectator(reception.addresses[0])
            writer.write_eof()
            last = await reader.read()
            writer.close()
            await house.stop("all is over", 0.0)
        return last

    assert asyncio.run(visit()) == b""
