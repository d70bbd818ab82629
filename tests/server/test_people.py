"""Let people play at a server, who need more time than programs."""

import asyncio

from fairplay.protocol.limits import Limits
from fairplay.server.house import PEOPLE_S
from tests.server.test_house import Open, fish, house_test

QUICK = Limits(move=0.5, start_up=60.0)


async def limits_of(house: Open) -> dict[str, float]:
    """How many seconds a person and a program have for a turn, by name."""
    people = [await house.come("ann", person=True), await house.come("bot")]
    tasks = [asyncio.create_task(one.play()) for one in people]
    await asyncio.gather(*tasks)
    return {one.name: next(said["limit"] for said in one.heard if said["type"] == "take_turn") for one in people}


@house_test(fish(limits=QUICK))
async def test_a_person_gets_the_time_that_people_need(house: Open) -> None:
    assert await limits_of(house) == {"ann": PEOPLE_S, "bot": 0.5}


@house_test(fish(limits=Limits(move=0.5, people=7.0, start_up=60.0)))
async def test_a_person_gets_the_time_that_the_host_says(house: Open) -> None:
    assert await limits_of(house) == {"ann": 7.0, "bot": 0.5}


@house_test(fish(limits=Limits(move=0.5, people=0.5, start_up=60.0)))
async def test_a_host_may_give_everybody_the_same_time(house: Open) -> None:
    assert await limits_of(house) == {"ann": 0.5, "bot": 0.5}


@house_test(fish(limits=Limits(move=2 * PEOPLE_S, start_up=60.0)))
async def test_a_person_gets_no_less_time_than_a_program(house: Open) -> None:
    assert await limits_of(house) == {"ann": 2 * PEOPLE_S, "bot": 2 * PEOPLE_S}
