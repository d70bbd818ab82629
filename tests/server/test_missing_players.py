"""Wait for players of a tournament that are not there: once for each absence, and for no longer than need be."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Fault
from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.server.sign_in.tokens import make_token
from tests.players.test_door import run
from tests.server.test_house import FISH, Open, Visit, fish, house_test, opened

FOREVER = 3600.0  # seconds, for which no test waits


def a_match(house: Open, **terms: Any) -> "asyncio.Task[Outcome]":
    """A match of a tournament, between ann and bob."""
    entrants = (Entrant("visitor:ann", "ann"), Entrant("visitor:bob", "bob"))
    journal = str(house.folder / "matches")
    spec = MatchSpec(game="fish", parameters=FISH, entrants=entrants, journal=journal, **terms)
    return asyncio.create_task(house.house.play(spec))


def wait_for_players(house: Open, seconds: float) -> None:
    house.house.settings = msgspec.structs.replace(house.house.settings, back=seconds)


async def come(house: Open, name: str) -> Visit:
    return await house.come(name, token=make_token(house.folder, name), game="fish")


def faults(outcome: Outcome) -> list[Fault]:
    assert outcome.result is not None
    return [one.fault for one in outcome.result.ejected]


@house_test(fish(wait=FOREVER, least=2, most=4), back=0.2)
async def test_a_player_that_is_absent_is_waited_for_in_one_match_and_not_in_the_next(house: Open) -> None:
    playing = asyncio.create_task((await come(house, "ann")).play(times=3))
    assert faults(await a_match(house)) == [Fault.GONE]
    wait_for_players(house, FOREVER)

    assert faults(await a_match(house)) == [Fault.GONE]

    playing.cancel()


@house_test(fish(wait=FOREVER, least=2, most=4), back=0.2)
async def test_a_player_that_came_back_and_left_again_is_waited_for_again(house: Open) -> None:
    playing = asyncio.create_task((await come(house, "ann")).play(times=3))
    assert faults(await a_match(house)) == [Fault.GONE]
    wait_for_players(house, FOREVER)
    token = make_token(house.folder, "bob")
    bob = await house.come("bob", token=token)
    bob.caller.leave()
    await house.until(lambda: not house.has("bob"))

    match = a_match(house)
    await house.until(lambda: house.house.rooms)
    await (await house.come("bob", token=token)).play()

    assert faults(await match) == []
    playing.cancel()


@house_test(fish(wait=FOREVER, least=2, most=4))
async def test_a_player_does_not_wait_for_another_match_while_it_plays_in_a_tournament(house: Open) -> None:
    ann, bob = [await come(house, name) for name in ("ann", "bob")]
    match = a_match(house)
    playing = asyncio.create_task(bob.play())

    await ann.play("take_turn")

    assert house.waiting == []
    ann.caller.say(ann.answer(ann.heard[-1]))
    await asyncio.gather(ann.play(), playing, match)


@house_test(fish())
async def test_a_client_that_fails_at_hello_is_cut_off_though_its_match_does_not_begin(house: Open) -> None:
    ann, bob = await house.come("ann"), await house.come("bob")
    await bob.hear()
    bob.caller.say(b"rubbish\n")
    await ann.hear()
    ann.caller.leave()

    assert await bob.hear() is None
    assert not house.has("bob")


@house_test(fish())
async def test_a_client_that_answers_hello_with_rubbish_is_out_of_its_match_and_the_other_has_won(house: Open) -> None:
    ann, bob = await house.come("ann"), await house.come("bob")
    await bob.hear()

    bob.caller.say(b"rubbish\n")
    end = await ann.play("end")

    assert [one["fault"] for one in end["result"]["ejected"]] == ["malformed"]


@pytest.mark.parametrize("sealed", [False, True])
def test_a_match_is_shown_again_unless_its_deal_is_sealed(sealed: bool, tmp_path: Path) -> None:
    async def replays() -> tuple[list[bool], list[bool]]:
        async with opened(tmp_path, fish(wait=FOREVER, least=2, most=4)) as house:
            ann, bob = [await come(house, name) for name in ("ann", "bob")]
            await asyncio.gather(ann.play(), bob.play(), a_match(house, sealed=sealed))
            over = house.house.finished
            return [one.recorded for one in over], [house.house.journal(one.match) is not None for one in over]

    assert run(replays()) == ([not sealed], [not sealed])
