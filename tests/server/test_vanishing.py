"""Test that clients that vanish when their room opens do not keep the others from playing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from fairplay.protocol.limits import Limits
from fairplay.server.logs import LOG
from fairplay.server.matchmaking import POLICIES
from fairplay.server.settings import Offer
from tests.server.sign_in.test_sign_in import with_settings
from tests.server.test_server import OpenServer, Visit, fish, open_server

MATCHES = 24  # that each honest client plays
HONEST = {"ann", "bob"}
LIMITS = Limits(move=0.3, start_up=60.0)  # quick, as a seat is reserved for clients that were let in


async def vanish(server: OpenServer, number: int, *, answers: int, again: bool) -> None:
    """Sign in, disconnect after so many answers in a match, and start again, for ever."""
    token = ""
    while True:
        visit = Visit(await server.call({"name": f"v{number}", "token": token}))
        left = answers
        with suppress(ConnectionError):
            while (message := await visit.hear()) is not None:
                if message["type"] == "welcome":
                    token = message.get("reconnect_token") or token if again else ""
                elif not left:
                    break
                left -= message["type"] in ("hello", "start")
                visit.answer_last()
        visit.caller.leave()


@asynccontextmanager
async def vanishing(server: OpenServer, number: int, **how: Any) -> AsyncIterator[None]:
    """So many clients that vanish, while the context lasts; one of them is there before all others."""
    tasks = [asyncio.create_task(vanish(server, each, **how)) for each in range(number)]
    await server.until(lambda: server.server.status().players)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def check_together(
    directory: Path, log: pytest.LogCaptureFixture, offer: Offer, share: float, number: int, **how: Any
) -> None:
    """Check that honest clients play together in this share of all rooms that open for one, beside some that vanish."""
    log.set_level("INFO", LOG.name)
    async with open_server(directory, offer) as server, vanishing(server, number, **how):
        honest = await server.come_all(*sorted(HONEST))
        await asyncio.gather(*(visit.play(times=MATCHES) for visit in honest))
    opened = [set(vars(one)["fields"]["players"]) for one in log.records if one.message == "room opened"]
    concerned = [players for players in opened if players & HONEST]
    together = sum(players == HONEST for players in concerned)
    assert together >= MATCHES
    assert together >= share * len(concerned), f"{together} of {len(concerned)}"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("number", "share", "again"),
    [(1, 0.9, True), (1, 0.9, False), (10, 0.7, True), (10, 0.7, False)],
    ids=[
        "one with the same reconnect token",
        "one with fresh identities",
        "ten with their reconnect tokens",
        "ten with fresh identities",
    ],
)
async def test_clients_that_vanish_keep_no_other_from_playing(
    number: int, share: float, again: bool, policy: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await check_together(tmp_path, caplog, fish(policy=policy), share, number, answers=0, again=again)


async def test_clients_that_vanish_behind_hello_are_paired_behind_others_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await check_together(tmp_path, caplog, fish(limits=LIMITS), 0.7, 3, answers=1, again=False)


async def test_a_client_that_stays_when_another_vanishes_plays_at_once_with_the_next(server: OpenServer) -> None:
    ann = asyncio.create_task((await server.come("ann")).play())
    [client] = server.server.clients.values()
    since = client.free_since
    gone = await server.come("v")
    await gone.hear()
    gone.caller.leave()
    await server.until(lambda: server.waiting == ["ann"] and not server.server.rooms)

    assert [one.free_since for one in server.server.clients.values()] == [since]
    bob = await server.come("bob")
    await asyncio.gather(ann, bob.play())


@with_settings(fish(limits=Limits(move=0.2, start_up=60.0)))
async def test_an_ejection_in_play_costs_no_waiting(server: OpenServer) -> None:
    ann = asyncio.create_task((await server.come("ann")).play())
    bob = await server.come("bob")
    await bob.play(until="take_turn")  # and answers no more
    bob.caller.leave()
    await ann
    await server.until(lambda: server.waiting == ["ann"])

    [client] = server.server.clients.values()
    assert not server.server.attendance.vanish_count(client, asyncio.get_running_loop().time())
