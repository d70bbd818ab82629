"""Test that a tournament waits for absent players once for each absence, and no longer than needed."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Fault
from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.server.sign_in.tokens import make_token
from tests.players.test_listener import run
from tests.server.test_server import FISH, OpenServer, Visit, fish, open_server, server_test

FOREVER_S = 3600.0


def a_match(server: OpenServer, **terms: Any) -> "asyncio.Task[Outcome]":
    """A match of a tournament, between ann and bob."""
    entrants = (Entrant("client:ann", "ann"), Entrant("client:bob", "bob"))
    journal = str(server.directory / "matches")
    spec = MatchSpec(game="fish", parameters=FISH, entrants=entrants, journal=journal, **terms)
    return asyncio.create_task(server.server.play(spec))


def set_restart_window(server: OpenServer, seconds: float) -> None:
    server.server.settings = msgspec.structs.replace(server.server.settings, restart_window=seconds)


async def come(server: OpenServer, name: str) -> Visit:
    return await server.come(name, token=make_token(server.directory, name), game="fish")


def faults(outcome: Outcome) -> list[Fault]:
    assert outcome.result is not None
    return [one.fault for one in outcome.result.ejected]


@server_test(fish(wait=FOREVER_S, min_players=2, max_players=4), restart_window=0.2)
async def test_a_player_that_is_absent_is_waited_for_in_one_match_and_not_in_the_next(server: OpenServer) -> None:
    playing = asyncio.create_task((await come(server, "ann")).play(times=3))
    assert faults(await a_match(server)) == [Fault.GONE]
    set_restart_window(server, FOREVER_S)

    assert faults(await a_match(server)) == [Fault.GONE]

    playing.cancel()


@server_test(fish(wait=FOREVER_S, min_players=2, max_players=4), restart_window=0.2)
async def test_a_player_that_came_back_and_left_again_is_waited_for_again(server: OpenServer) -> None:
    playing = asyncio.create_task((await come(server, "ann")).play(times=3))
    assert faults(await a_match(server)) == [Fault.GONE]
    set_restart_window(server, FOREVER_S)
    token = make_token(server.directory, "bob")
    bob = await server.come("bob", token=token)
    bob.caller.leave()
    await server.until(lambda: not server.has("bob"))

    match = a_match(server)
    await server.until(lambda: server.server.rooms)
    await (await server.come("bob", token=token)).play()

    assert faults(await match) == []
    playing.cancel()


@server_test(fish(wait=FOREVER_S, min_players=2, max_players=4))
async def test_a_player_does_not_wait_for_another_match_while_it_plays_in_a_tournament(server: OpenServer) -> None:
    ann, bob = [await come(server, name) for name in ("ann", "bob")]
    match = a_match(server)
    playing = asyncio.create_task(bob.play())

    await ann.play("take_turn")

    assert server.waiting == []
    ann.caller.say(ann.answer(ann.heard[-1]))
    await asyncio.gather(ann.play(), playing, match)


@server_test(fish())
async def test_a_client_that_fails_at_hello_is_disconnected_though_its_match_does_not_begin(server: OpenServer) -> None:
    ann, bob = await server.come("ann"), await server.come("bob")
    await bob.hear()
    bob.caller.say(b"rubbish\n")
    await ann.hear()
    ann.caller.leave()

    assert await bob.hear() is None
    assert not server.has("bob")


@server_test(fish())
async def test_a_client_with_a_malformed_answer_to_hello_is_ejected_and_its_opponent_wins(server: OpenServer) -> None:
    ann, bob = await server.come("ann"), await server.come("bob")
    await bob.hear()

    bob.caller.say(b"rubbish\n")
    end = await ann.play("end")

    assert [one["fault"] for one in end["result"]["ejected"]] == ["malformed"]


@pytest.mark.parametrize("sealed", [False, True])
def test_a_finished_match_has_a_replay_unless_its_deal_is_sealed(sealed: bool, tmp_path: Path) -> None:
    async def replays() -> tuple[list[bool], list[bool]]:
        async with open_server(tmp_path, fish(wait=FOREVER_S, min_players=2, max_players=4)) as server:
            ann, bob = [await come(server, name) for name in ("ann", "bob")]
            await asyncio.gather(ann.play(), bob.play(), a_match(server, sealed=sealed))
            over = server.server.finished
            return [one.recorded for one in over], [server.server.journal(one.match) is not None for one in over]

    assert run(replays()) == ([not sealed], [not sealed])
