"""Test that clients that stall, leave when losing or guess nonces harm only themselves at a server."""

import asyncio

import msgspec

from fairplay.core.events import Fault
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.protocol.limits import Limits
from tests.server.test_server import OpenServer, Visit, fish, server_test

BANK = Limits(move=0.25, bank=0.4, start_up=60.0)


async def first_ejection(server: OpenServer) -> tuple[str, Fault, str]:
    """The name, fault and reason of the only ejection from the only match."""
    await server.until(lambda: server.server.finished)
    [path] = server.journals().values()
    match = verify(read_journal(path))
    [out] = match.result.ejected
    assert match.result.ranking[0] == frozenset({1 - out.seat})
    return match.names[out.seat], out.fault, out.why


async def stall(visit: Visit, seconds: float) -> None:
    """Take so many seconds for each turn, until the server disconnects."""
    while (message := await visit.hear()) is not None:
        if message["type"] == "take_turn":
            await asyncio.sleep(seconds)
        visit.caller.say(visit.answer(message))


@server_test(fish(limits=BANK))
async def test_a_client_that_stalls_in_every_turn_runs_out_of_its_bank(server: OpenServer) -> None:
    honest = asyncio.create_task((await server.come("ann")).play())

    await stall(await server.come("eve"), 0.15)
    await honest

    name, fault, why = await first_ejection(server)
    assert (name, fault) == ("eve", Fault.TIMED_OUT)
    assert "the bank of 0.4 s for all turns is used up" in why


@server_test(fish())
async def test_a_client_that_leaves_when_it_is_losing_loses(server: OpenServer) -> None:
    honest = asyncio.create_task((await server.come("ann")).play())
    eve = await server.come("eve")
    await eve.play("take_turn", times=2)

    leaving = await server.call({"token": eve.heard[0]["reconnect_token"], "purpose": "leave"})
    assert await leaving.hear() is None
    await honest

    assert (await first_ejection(server))[:2] == ("eve", Fault.GONE)


@server_test(fish())
async def test_a_client_that_guesses_the_nonce_of_a_question_is_ejected_alone(server: OpenServer) -> None:
    honest = asyncio.create_task((await server.come("ann")).play())
    eve = await server.come("eve")
    asked = await eve.play("take_turn")

    number = int(asked["nonce"].partition("-")[0])
    eve.caller.say(msgspec.json.encode({"nonce": f"{number + 1}-{'0' * 16}", "answer": None}) + b"\n")
    await honest

    assert (await first_ejection(server))[:2] == ("eve", Fault.MALFORMED)
