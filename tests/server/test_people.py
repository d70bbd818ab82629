"""Test that people at a server have more time than programs."""

import asyncio

from fairplay.protocol.limits import Limits
from fairplay.server.server import PERSON_TIMEOUT_S
from tests.server.test_server import OpenServer, fish, server_test

QUICK = Limits(move=0.5, start_up=60.0)


async def limits_of(server: OpenServer) -> dict[str, float]:
    """The seconds that a person and a program have for a turn, by name."""
    visits = [await server.come("ann", person=True), await server.come("bot")]
    tasks = [asyncio.create_task(one.play()) for one in visits]
    await asyncio.gather(*tasks)
    return {
        one.name: next(message["limit"] for message in one.heard if message["type"] == "take_turn") for one in visits
    }


@server_test(fish(limits=QUICK))
async def test_a_person_gets_the_time_that_people_need(server: OpenServer) -> None:
    assert await limits_of(server) == {"ann": PERSON_TIMEOUT_S, "bot": 0.5}


@server_test(fish(limits=Limits(move=0.5, people=7.0, start_up=60.0)))
async def test_a_person_gets_the_time_that_the_limits_say(server: OpenServer) -> None:
    assert await limits_of(server) == {"ann": 7.0, "bot": 0.5}


@server_test(fish(limits=Limits(move=0.5, people=0.5, start_up=60.0)))
async def test_limits_may_give_people_and_programs_the_same_time(server: OpenServer) -> None:
    assert await limits_of(server) == {"ann": 0.5, "bot": 0.5}


@server_test(fish(limits=Limits(move=2 * PERSON_TIMEOUT_S, start_up=60.0)))
async def test_a_person_gets_no_less_time_than_a_program(server: OpenServer) -> None:
    assert await limits_of(server) == {"ann": 2 * PERSON_TIMEOUT_S, "bot": 2 * PERSON_TIMEOUT_S}
