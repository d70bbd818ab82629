"""Test that clients that vanish when their room opens do not keep the others from playing."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from fairplay.protocol.limits import Limits
from fairplay.server.matchmaking import POLICIES
from tests.players.test_listener import run
from tests.server.test_server import OpenServer, Visit, fish, open_server, server_test

MATCHES = 24  # that each honest client plays
HONEST = {"ann", "bob"}
LIMITS = Limits(move=0.3, start_up=60.0)  # quick, as a seat is reserved for clients that were let in


@contextmanager
def opened_rooms() -> Iterator[list[set[str]]]:
    """The names of the players of each room that opens meanwhile."""
    found: list[set[str]] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage() == "room opened":
                found.append(set(record.fields["players"]))  # type: ignore[attr-defined]

    log, handler = logging.getLogger("fairplay.server"), Listening()
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield found
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


async def vanish(server: OpenServer, number: int, *, answers: int, again: bool) -> None:
    """Sign in, disconnect after so many answers in a match, and start again, for ever."""
    token = ""
    while True:
        visit = Visit(await server.call({"name": f"v{number}", **({"token": token} if token else {})}))
        left = answers
        with suppress(ConnectionError):
            while (message := await visit.hear()) is not None:
                if message["type"] == "welcome":
                    token = message.get("reconnect_token") or token if again else ""
                elif not left:
                    break
                left -= message["type"] in ("hello", "start")
                visit.caller.say(visit.answer(message))
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


def check_together(found: list[set[str]], share: float) -> None:
    """Check that the honest clients played together in this share of all rooms that opened for one of them."""
    concerned = [players for players in found if players & HONEST]
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
def test_clients_that_vanish_keep_no_other_from_playing(
    number: int, share: float, again: bool, policy: str, tmp_path: Path
) -> None:
    async def play() -> None:
        async with (
            open_server(tmp_path, fish(policy=policy)) as server,
            vanishing(server, number, answers=0, again=again),
        ):
            honest = [await server.come(name) for name in sorted(HONEST)]
            await asyncio.gather(*(visit.play(times=MATCHES) for visit in honest))

    with opened_rooms() as found:
        run(play())

    check_together(found, share)


def test_clients_that_vanish_behind_hello_are_paired_behind_others_too(tmp_path: Path) -> None:
    async def play() -> None:
        terms = fish(limits=LIMITS)
        async with open_server(tmp_path, terms) as server, vanishing(server, 3, answers=1, again=False):
            honest = [await server.come(name) for name in sorted(HONEST)]
            await asyncio.gather(*(visit.play(times=MATCHES) for visit in honest))

    with opened_rooms() as found:
        run(play())

    check_together(found, 0.7)


@server_test(fish())
async def test_a_client_that_stays_when_another_vanishes_plays_at_once_with_the_next(
    server: OpenServer,
) -> None:
    ann = asyncio.create_task((await server.come("ann")).play())
    since = server.server.clients[only(server)].free_since
    gone = await server.come("v")
    await gone.hear()
    gone.caller.leave()
    await server.until(lambda: server.waiting == ["ann"] and not server.server.rooms)

    assert server.server.clients[only(server)].free_since == since
    bob = await server.come("bob")
    await asyncio.gather(ann, bob.play())


@server_test(fish(limits=Limits(move=0.2, start_up=60.0)))
async def test_an_ejection_in_play_costs_no_waiting(server: OpenServer) -> None:
    ann = asyncio.create_task((await server.come("ann")).play())
    bob = await server.come("bob")
    await bob.play(until="take_turn")  # and answers no more
    bob.caller.leave()
    await ann
    await server.until(lambda: server.waiting == ["ann"])

    assert not server.server.attendance.vanish_count(
        server.server.clients[only(server)], asyncio.get_running_loop().time()
    )


def only(server: OpenServer) -> str:
    """The id of the only client."""
    [id] = server.server.clients
    return id
