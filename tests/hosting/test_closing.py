"""Test that nothing stays open when a match is cancelled while players are seated or dismissed."""

import asyncio
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame
from websockets.uri import parse_uri

from fairplay.hosting.table import Table
from fairplay.players.listener import Listener
from fairplay.players.location import Command, ListenAddress, LocalAddress, Location
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.referee import deal_match
from tests.hosting.specs import play_at_table
from tests.players.cancelling import CancelTime, cancel_at
from tests.players.programs import current_holdings, first_card, write_program
from tests.toy import Toy

LIMITS = Limits(move=20.0, start_up=20.0, arrival=20.0, goodbye=0.02)


async def guest(listener: Listener) -> None:
    reader, writer = await asyncio.open_connection(listener.host, listener.port)
    try:
        with suppress(ConnectionError):
            while line := await reader.readline():
                question = msgspec.json.decode(line)
                writer.write(wire.encode({"nonce": question.get("nonce", ""), "answer": None}) + b"\n")
    finally:
        writer.transport.abort()


async def guest_over_websocket(listener: Listener) -> None:
    protocol = ClientProtocol(parse_uri(f"ws://{listener.address}/"))
    protocol.send_request(protocol.connect())
    reader, writer = await asyncio.open_connection(listener.host, listener.port)
    try:
        with suppress(ConnectionError):
            while True:
                for data in protocol.data_to_send():
                    writer.write(data)
                data = await reader.read(65536)
                if not data:
                    break
                protocol.receive_data(data)
                for event in protocol.events_received():
                    if isinstance(event, Frame) and event.opcode.name == "TEXT":
                        nonce = msgspec.json.decode(event.data).get("nonce", "")
                        protocol.send_text(wire.encode({"nonce": nonce, "answer": None}))
    finally:
        writer.transport.abort()


async def played(at: int, when: CancelTime, bot: list[str]) -> bool:
    """Is there an n-th await in a whole match at a table with every kind of player? Cancel there, and look."""
    seated: dict[int, Location] = {  # of whom only the program and the player in this process know how to play
        0: Command(tuple(bot)),
        1: ListenAddress("tcp", "0"),
        2: LocalAddress(first_card),
        3: ListenAddress("ws", "0"),
        4: Command(("sh", "-c", "read line; echo junk; exec sleep 600")),
    }
    before = current_holdings()
    with Table(seated, limits=LIMITS, tell=lambda text: None) as table:
        match = deal_match(Toy(cards=5, hand=1), list("abcde"), bytes(32))
        coming = [
            asyncio.create_task(come(listener))
            for listener, come in zip(table.listeners.values(), (guest, guest_over_websocket), strict=True)
        ]
        cancelled = await cancel_at(at, when, play_at_table(table, match))
        for one in coming:
            one.cancel()
        await asyncio.wait(coming)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    now = current_holdings()
    assert (now.files, now.children) == (before.files, before.children), at
    return cancelled


@pytest.mark.parametrize("when", [CancelTime.WHEN_READY, CancelTime.REPEATEDLY])
def test_a_cancellation_at_any_await_of_a_match_leaves_nothing_open(when: CancelTime, tmp_path: Path) -> None:
    async def each() -> int:
        at, program = 1, write_program(tmp_path)
        while await played(at, when, program):
            at += 1
            assert at < 1000
        return at

    assert asyncio.run(each()) > 20
