"""Test a server over a bad network: a client that reconnects loses nothing, and disturbs no other."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from enum import Enum
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
from fairplay.server.settings import make_offer
from tests.server.guest_threads import LOOPBACK, GuestThread, TurnGate, check_undisturbed
from tests.server.test_server import AMPLE, ONE_MATCH, OpenServer, fish, open_server

SHORT = Limits(move=3.0, first_move=3.0, start_up=60.0)
RECONNECT_AFTER_S = 2.0  # without a message
PAIR = ("cyd", "dee")
FIRST_TURN = b'"take_turn"'
MAX_LINE_BYTES = 2**20
NO_LINGER = struct.pack("ii", 1, 0)


class NetworkFault(Enum):
    """What happens to a connection, beside data that is carried."""

    CUT, RESET = "both ends are closed", "both ends are reset"
    LOSE_ANSWERS, LOSE_QUESTIONS = "the server gets nothing more", "the client gets nothing more"


CUT, RESET, LOSE_ANSWERS, LOSE_QUESTIONS = NetworkFault
Pieces = Sequence[bytes | float | NetworkFault]  # data, seconds to wait, and faults
Carry = Callable[["ProxyLink", bool, bytes], Pieces]  # what is made of a line, to the server (True) or to the client


class ProxyLink:
    """One connection through the proxy. A direction that was lost stays lost, and neither end notices."""

    def __init__(self, number: int, ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> None:
        self.number = number
        self.carried = [0, 0]  # lines to the client, and to the server
        self.lost = [False, False]
        self.left = asyncio.Event()  # the server has closed its end
        self.is_bad = False
        self._ends = ends

    def cut(self, *, reset: bool = False) -> None:
        for end in self._ends:
            if reset:
                end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            end.transport.abort()


class FaultyProxy:
    """A port of this machine that forwards to another one."""

    def __init__(self, to: int, carry: Carry) -> None:
        self.links: list[ProxyLink] = []
        self.port = 0
        self.is_blocked = False  # refuse new connections
        self._to = to
        self._carry = carry

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self.is_blocked:
                return
            server_reader, server_writer = await asyncio.open_connection(LOOPBACK, self._to, limit=MAX_LINE_BYTES)
            self.links.append(link := ProxyLink(len(self.links), (writer, server_writer)))
            try:
                there = self._pump(link, True, reader, server_writer)
                await asyncio.gather(there, self._pump(link, False, server_reader, writer))
            finally:
                server_writer.transport.abort()
        except OSError:
            pass
        finally:
            writer.transport.abort()

    async def _pump(
        self, link: ProxyLink, there: bool, source: asyncio.StreamReader, sink: asyncio.StreamWriter
    ) -> None:
        try:
            while line := await source.readline():
                link.carried[there] += 1
                for piece in self._carry(link, there, line):
                    match piece:
                        case float():
                            await asyncio.sleep(piece)
                        case NetworkFault.CUT | NetworkFault.RESET:
                            link.cut(reset=piece is RESET)
                        case NetworkFault():
                            link.lost[piece is LOSE_ANSWERS] = True
                        case _ if not link.lost[there]:
                            sink.write(piece)
                            await sink.drain()
                            await asyncio.sleep(0)  # so that it arrives by itself
        except ConnectionError:
            pass
        finally:
            if not there:
                link.left.set()
        if not link.lost[there] and not sink.transport.is_closing():
            sink.write_eof()


@asynccontextmanager
async def run_proxy(port: int, carry: Carry = lambda link, there, line: [line]) -> AsyncIterator[FaultyProxy]:
    """A proxy to this port on this machine, while the context lasts."""
    proxy = FaultyProxy(port, carry)
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(proxy.forward(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(begin, LOOPBACK, 0, limit=MAX_LINE_BYTES)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for link in proxy.links:
            link.cut()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


RANDOM = Random(5)
HALF_DEAD: dict[str, Carry] = {
    "is silent": lambda link, there, line: [LOSE_ANSWERS, LOSE_QUESTIONS],
    "loses what the server says": lambda link, there, line: [LOSE_QUESTIONS, line],
    "loses what the client says": lambda link, there, line: [LOSE_ANSWERS] if there else [line],
}
BROKEN: dict[str, Carry] = {  # a client that reconnects has lost nothing
    **HALF_DEAD,
    "ends": lambda link, there, line: [CUT],
    "is reset": lambda link, there, line: [RESET],
    "ends in an answer": lambda link, there, line: [line[: len(line) // 2], CUT] if there else [line],
    "ends behind an answer": lambda link, there, line: [line, CUT] if there else [line],
    "loses what comes after an answer": lambda link, there, line: [LOSE_QUESTIONS, line] if there else [line],
}
SLOW: dict[str, Carry] = {
    "repeats": lambda link, there, line: [line, line] if there else [line],
    "cuts in slices": lambda link, there, line: [line[at : at + 7] for at in range(0, len(line), 7)],
    "has latency": lambda link, there, line: [RANDOM.uniform(0.1, 0.2), line],  # 300 ms until an answer
}


def once(do: Carry) -> Carry:
    """Do this to the first connection, from its first turn on."""

    def carry(link: ProxyLink, there: bool, line: bytes) -> Pieces:
        link.is_bad = link.is_bad or (link.number == 0 and FIRST_TURN in line)
        return do(link, there, line) if link.is_bad else [line]

    return carry


@pytest.fixture(autouse=True)
def _reconnect_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.5)


@asynccontextmanager
async def serving_another_match(directory: Path, limits: Limits, **terms: Any) -> AsyncIterator[OpenServer]:
    """A server where another match is played all the time; at the end, that match is undisturbed."""
    offers = fish(limits=limits), make_offer("q", {}, min_players=2, max_players=2, limits=AMPLE)
    async with open_server(directory, *offers, connection_limits=ONE_MATCH, **terms) as server:
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
    check_undisturbed(journal_of(server, "ann"))


def journal_of(server: OpenServer, name: str) -> Path:
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


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_client_that_reconnects_plays_as_if_its_connection_had_never_been_lost(
    fault: str, tmp_path: Path
) -> None:
    assert len(await play_over(tmp_path, once(BROKEN[fault]))) > 2


def cut_at(number: int, *, there: bool, arrives: bool) -> Carry:
    """Cut the first connection before or after this message to the server, or to the client."""

    def carry(link: ProxyLink, goes_there: bool, line: bytes) -> Pieces:
        if link.number == 0 and goes_there is there and link.carried[there] == number:
            return [line, CUT] if arrives else [CUT]
        return [line]

    return carry


@pytest.mark.parametrize("number", range(3, 15))  # more than a match has messages
async def test_a_connection_may_be_lost_before_or_after_every_message(number: int, tmp_path: Path) -> None:
    is_odd = bool(number % 2)
    await play_over(tmp_path / "there", cut_at(number, there=True, arrives=is_odd))
    await play_over(tmp_path / "back", cut_at(number, there=False, arrives=not is_odd))


@pytest.mark.parametrize("fault", SLOW)
async def test_a_slow_connection_ejects_no_player(fault: str, tmp_path: Path) -> None:
    await play_over(tmp_path, SLOW[fault], Limits(), idle_timeout_s=30.0)  # which are the usual ones, of 5 s


@pytest.mark.parametrize("fault", HALF_DEAD)
async def test_a_client_that_does_not_reconnect_from_a_silent_connection_gets_no_extra_time(
    fault: str, tmp_path: Path
) -> None:
    carry = once(HALF_DEAD[fault])
    async with serving_another_match(tmp_path, SHORT) as server, run_proxy(server.port, carry) as proxy:
        away = OpenServer(server.server, server.directory, proxy.port)
        cyd, dee = await away.come("cyd"), await server.come("dee")
        playing = asyncio.create_task(cyd.play_to_the_end())
        await dee.play("suspended")
        await proxy.links[0].left.wait()  # the server has disconnected, although the connection never ended
        playing.cancel()
        for caller in away.callers:
            caller.leave()
        final = verify(read_journal(journal_of(server, "cyd")))
        assert [(one.seat, one.fault) for one in final.ejected] == [(0, Fault.TIMED_OUT)]
        assert final.result.ranking == (frozenset({1}),)


async def test_a_spectator_that_vanished_is_disconnected_at_the_end_and_delays_no_player(tmp_path: Path) -> None:
    async with serving_another_match(tmp_path, AMPLE) as server, run_proxy(server.port) as proxy:
        away = OpenServer(server.server, server.directory, proxy.port)
        cyd, dee = await server.come_all("cyd", "dee", game="fish")
        other = asyncio.create_task(dee.play("suspended"))
        await cyd.play("take_turn")
        seen = await away.watch("fish-2")
        assert (await seen.hear() or {})["type"] == "snapshot"
        proxy.links[0].lost = [True, True]
        cyd.answer_last()
        await asyncio.gather(cyd.play("suspended"), other)
        await proxy.links[0].left.wait()
        seen.leave()
        check_undisturbed(journal_of(server, "cyd"))


@pytest.mark.parametrize("heals", [True, False])
async def test_players_that_were_cut_off_and_reconnect_in_time_play_on(heals: bool, tmp_path: Path) -> None:
    rooms = 4
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
        bad.is_blocked = True
        for link in bad.links:
            link.cut(reset=True)
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
