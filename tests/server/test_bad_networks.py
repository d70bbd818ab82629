"""Test a server over a bad network: a client that reconnects loses nothing, and disturbs no other."""

import asyncio
import operator
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fairplay.core.events import Fault
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.protocol import player_side
from fairplay.protocol.limits import Limits
from fairplay.server.settings import ConnectionLimits, make_offer
from tests.players.test_listener import run
from tests.server.faulty_network import CUT, LOOPBACK, Carry, ProxyLink, forward_unchanged, run_proxy
from tests.server.guest_threads import GuestThread, TurnGate, check_undisturbed
from tests.server.test_server import AMPLE, OpenServer, Visit, fish, open_server

SHORT = Limits(move=3.0, first_move=3.0, start_up=60.0)
RECONNECT_AFTER_S = 2.0  # without a message
PAIR = ("cyd", "dee")
FIRST_TURN = b'"take_turn"'


@pytest.fixture(autouse=True)
def _reconnect_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients reconnect soon."""
    monkeypatch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.5)


def once(do: Carry) -> Carry:
    """Do this to the first connection, from its first turn on."""

    async def carry(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
        link.is_bad = link.is_bad or (link.number == 0 and FIRST_TURN in line)
        return await (do if link.is_bad else forward_unchanged)(link, there, line)

    return carry


async def ends(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    link.cut()
    return []


async def is_reset(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    link.cut(reset=True)
    return []


async def ends_in_an_answer(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    return [line[: len(line) // 2], CUT] if there else [line]


async def ends_behind_an_answer(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    return [line, CUT] if there else [line]


async def is_silent(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    link.drop_data(True, False)
    return []


async def loses_what_the_server_says(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    link.drop_data(False)
    return [line]


async def loses_what_the_guest_says(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    if there:
        link.drop_data(True)
    return [line]


async def loses_what_comes_after_an_answer(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    if there:
        link.drop_data(False)
    return [line]


async def repeats(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    return [line, line] if there else [line]


async def cuts_in_slices(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
    return [line[at : at + 7] for at in range(0, len(line), 7)]


def has_latency(random: Random) -> Carry:
    """About 300 ms for a message and its answer."""

    async def carry(link: ProxyLink, there: bool, line: bytes) -> list[bytes]:
        await asyncio.sleep(random.uniform(0.1, 0.2))
        return [line]

    return carry


BROKEN = (  # a client that reconnects has lost nothing
    ends,
    is_reset,
    ends_in_an_answer,
    ends_behind_an_answer,
    is_silent,
    loses_what_the_server_says,
    loses_what_the_guest_says,
    loses_what_comes_after_an_answer,
)
HALF_DEAD = (is_silent, loses_what_the_server_says, loses_what_the_guest_says)
EVERYWHERE = range(3, 15)  # more than a match has messages
SLOW = {"repeats": repeats, "cuts in slices": cuts_in_slices, "has latency": has_latency(Random(5))}


@asynccontextmanager
async def serving_another_match(directory: Path, limits: Limits, **terms: Any) -> AsyncIterator[OpenServer]:
    """A server where another match is played all the time; at the end, that match is undisturbed."""
    offers = fish(limits=limits), make_offer("q", {}, min_players=2, max_players=2, limits=AMPLE)
    async with open_server(
        directory, *offers, connection_limits=ConnectionLimits(matches_per_client=1), **terms
    ) as server:
        gate = TurnGate(0)
        names = ("ann", "bob")
        guests = [GuestThread(f"{LOOPBACK}:{server.port}", name, lambda: gate, game="q") for name in names]
        try:
            await server.until(lambda: gate.waiting)
            yield server
        finally:
            gate.open()
        for guest in guests:
            assert (await asyncio.to_thread(guest.wait_until_done)).lost == ""
    [path] = [path for path in server.journals().values() if set(read_journal(path).names) == set(names)]
    check_undisturbed(path)


def journal_of(server: OpenServer, name: str) -> Path:
    """The journal of the match of a player."""
    [path] = [path for path in server.journals().values() if name in read_journal(path).names]
    return path


async def play_over(
    directory: Path, carry: Carry, limits: Limits = AMPLE, idle_timeout_s: float = RECONNECT_AFTER_S
) -> list[ProxyLink]:
    """Play a match over such a network, and check that it made no difference; all connections."""
    async with serving_another_match(directory, limits) as server, run_proxy(server.port, carry) as proxy:
        guests = [
            GuestThread(f"{LOOPBACK}:{proxy.port}", name, game="fish", idle_timeout_s=idle_timeout_s) for name in PAIR
        ]
        for guest in guests:
            assert (await asyncio.to_thread(guest.wait_until_done)).lost == ""
            assert len(guest.results) == 1
        check_undisturbed(journal_of(server, PAIR[0]))
        for link in proxy.links:
            await link.left.wait()
    return proxy.links


@pytest.mark.parametrize("fault", BROKEN, ids=operator.attrgetter("__name__"))
def test_a_client_that_reconnects_plays_as_if_its_connection_had_never_been_lost(fault: Carry, tmp_path: Path) -> None:
    links = run(play_over(tmp_path, once(fault)))

    assert len(links) > 2


def cut_at(number: int, *, there: bool, arrives: bool) -> Carry:
    """Cut the first connection before or after this message to the server, or to the guest."""

    async def carry(link: ProxyLink, goes_there: bool, line: bytes) -> list[bytes]:
        if link.number == 0 and goes_there is there and link.carried[there] == number:
            return [line, CUT] if arrives else [CUT]
        return [line]

    return carry


@pytest.mark.parametrize("number", EVERYWHERE)
def test_a_connection_may_be_lost_at_every_message(number: int, tmp_path: Path) -> None:
    for there in (True, False):
        for arrives in (True, False):
            run(play_over(tmp_path / f"{there} {arrives}", cut_at(number, there=there, arrives=arrives)))


@pytest.mark.parametrize("fault", SLOW)
def test_a_slow_connection_ejects_no_player(fault: str, tmp_path: Path) -> None:
    run(play_over(tmp_path, SLOW[fault], Limits(), idle_timeout_s=30.0))  # which are the usual ones, of 5 s


@pytest.mark.parametrize("fault", HALF_DEAD, ids=operator.attrgetter("__name__"))
def test_a_client_that_does_not_reconnect_from_a_silent_connection_gets_no_extra_time(
    fault: Carry, tmp_path: Path
) -> None:
    async def host() -> None:
        async with serving_another_match(tmp_path, SHORT) as server, run_proxy(server.port, once(fault)) as proxy:
            away = OpenServer(server.server, server.directory, proxy.port)
            cyd, dee = await away.come("cyd"), await server.come("dee")
            playing = asyncio.create_task(plays_on(cyd))
            await dee.play("suspended")
            await proxy.links[0].left.wait()  # the server has disconnected, although the connection never ended
            playing.cancel()
            for caller in away.callers:
                caller.leave()
            final = verify(read_journal(journal_of(server, "cyd")))
            assert [(one.seat, one.fault) for one in final.ejected] == [(0, Fault.TIMED_OUT)]
            assert final.result.ranking == (frozenset({1}),)

    run(host())


async def plays_on(visit: Visit) -> None:
    """Answer all messages."""
    while (message := await visit.hear()) is not None:
        visit.caller.say(visit.answer(message))


def test_a_spectator_that_vanished_is_disconnected_at_the_end_and_delays_no_player(tmp_path: Path) -> None:
    async def host() -> None:
        async with serving_another_match(tmp_path, AMPLE) as server, run_proxy(server.port) as proxy:
            away = OpenServer(server.server, server.directory, proxy.port)
            cyd, dee = await server.come("cyd", game="fish"), await server.come("dee", game="fish")
            other = asyncio.create_task(dee.play("suspended"))
            await cyd.play("take_turn")
            seen = await away.watch("fish-2")
            assert (await seen.hear() or {})["type"] == "snapshot"
            proxy.links[0].drop_data(True, False)
            cyd.caller.say(cyd.answer(cyd.heard[-1]))
            await asyncio.gather(cyd.play("suspended"), other)
            await proxy.links[0].left.wait()
            seen.leave()
            check_undisturbed(journal_of(server, "cyd"))

    run(host())


@pytest.mark.parametrize("heals", [True, False])
def test_players_that_were_cut_off_and_reconnect_in_time_play_on(heals: bool, tmp_path: Path) -> None:
    rooms = 4

    async def host() -> None:
        async with (
            serving_another_match(tmp_path, AMPLE, reconnect_window=20.0 if heals else 1.0) as server,
            run_proxy(server.port) as bad,
            run_proxy(server.port) as good,
        ):
            gate, guests = TurnGate(1), list[GuestThread]()
            for number in range(2 * rooms):
                proxy = bad if number % 2 else good  # so that one of each pair is cut off
                options: Any = {"game": "fish", "idle_timeout_s": 60.0 if heals else 1.0}
                guests.append(GuestThread(f"{LOOPBACK}:{proxy.port}", f"player-{number}", lambda: gate, **options))
                await server.until(partial(server.has, f"player-{number}"))
            await server.until(lambda: gate.waiting == rooms)
            bad.block()
            gate.open()
            if heals:
                await asyncio.sleep(1)
                bad.is_blocked = False
            for guest in guests:
                await asyncio.to_thread(guest.wait_until_done)
            assert [len(guest.results) for guest in guests] == [1, int(heals)] * rooms
            for number in range(0, 2 * rooms, 2):
                path = journal_of(server, f"player-{number}")
                if heals:
                    check_undisturbed(path)
                else:
                    assert [(one.seat, one.fault) for one in verify(read_journal(path)).ejected] == [(1, Fault.GONE)]

    run(host())
