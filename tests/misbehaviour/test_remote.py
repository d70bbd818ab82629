"""Test every bad program and every bad network player, over real programs and connections, at every moment."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from itertools import count
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec
import pytest

from fairplay.core.events import Ejected, Event
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, Failed, Message
from fairplay.core.roles import NullRecord
from fairplay.games import game_info
from fairplay.games.q import Q
from fairplay.games.q.examples import position
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.players import process
from fairplay.players.cpu_slots import CpuSlots
from fairplay.players.listener import MakeConnection, listening_socket
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.process_tree import descendants
from fairplay.testing import cheats, hostile_replies
from fairplay.testing.hostile import CHEATING_PLAYERS, MISBEHAVIOURS, REMOTE_PLAYERS, Distance, HostilePlayer
from fairplay.testing.hostile_connections import misbehave_at
from fairplay.testing.hostile_programs import END, HELLO, START, TELL, TURN
from fairplay.testing.hostile_replies import program_command
from fairplay.transport.connection import Connection
from fairplay.transport.sockets import accept_tcp
from fairplay.transport.websocket import accept_websocket
from tests.misbehaviour import test_local as here
from tests.players.host_connection import serve_at_host
from tests.players.programs import becomes_true

GAME = Q()
HANDS = [
    ["red circle", "red square", "blue star", "blue circle", "green star", "green diamond"],
    ["red star", "red clover", "blue clover", "green clover", "red 8star", "yellow star"],
    ["red diamond", "blue diamond", "orange star", "orange clover", "purple star", "yellow clover"],
]
PILE = ["red star", "blue star", "green circle", "red circle", "blue square", "red diamond", "blue 8star"]
MATCH: AnyMatch = Match(GAME, position({(0, 0): "red star"}, HANDS, PILE), ("bad", "ann", "bob"))
PARALLEL_MATCHES = {Distance.PROGRAM: 16, Distance.TCP: 40, Distance.WEBSOCKET: 40}
CPU_BOUND_MISBEHAVIOURS = ("loops", "complains")  # which get into the way of all others
AMPLE_S = 40.0  # never reached, however busy the machine is
SHORT_LIMIT_S, LONGER_LIMIT_S = 0.4, 1.5


class MisbehaviourCase(msgspec.Struct, frozen=True):
    """A bad player at seat 0: what it does, at which message, and over which connection."""

    misbehaviour: str
    message: str
    distance: Distance

    @property
    def limits(self) -> Limits:
        """Short for what it is too slow for, and ample for what it has to do well before that."""
        generous: dict[str, Any] = {"move": AMPLE_S, "start_up": AMPLE_S, "first_move": AMPLE_S}
        if MISBEHAVIOURS[self.misbehaviour].fault == "timed_out":
            tight = {
                HELLO: {"start_up": SHORT_LIMIT_S},
                START: {"move": SHORT_LIMIT_S},
                TURN: {"first_move": SHORT_LIMIT_S},
                TELL: {"move": LONGER_LIMIT_S},
                END: {"move": LONGER_LIMIT_S},
            }
            generous |= tight[self.message]
        return Limits(**generous)

    def __str__(self) -> str:
        return f"{self.distance.value}, {self.message}: {self.misbehaviour}"


class CaseOutcome(NamedTuple):
    final: AnyMatch
    failures: list[Failed]

    @property
    def ejected(self) -> list[tuple[int, str, str]]:
        return [(one.seat, one.fault.value, one.moment.value) for one in self.final.ejected]


def honest_channel(seat: int) -> AsyncLocalChannel:
    return AsyncLocalChannel(LocalChannel(game_info("q").built_in["dag"].make("", bytes([seat] * 32)), GAME))


@asynccontextmanager
async def start_program(case: MisbehaviourCase) -> AsyncIterator[Connection]:
    command = program_command(MISBEHAVIOURS[case.misbehaviour], case.message)
    line = await ProgramConnection.start(command, sandbox=SandboxPolicy(SandboxLevel.NONE))
    try:
        yield line
    finally:
        await line.close(b"", 0.0)


@asynccontextmanager
async def start_connection(
    talk: Callable[[str, int], None], make: MakeConnection = accept_tcp
) -> AsyncIterator[Connection]:
    """A connection to a client that uses a real socket, in a thread of its own."""
    with listening_socket("127.0.0.1", 0) as listener:
        who = threading.Thread(target=talk, args=listener.getsockname(), daemon=True)
        who.start()
        came, _ = await asyncio.get_running_loop().sock_accept(listener)
    try:
        yield await make(came)
    finally:
        await asyncio.to_thread(who.join, AMPLE_S)
        assert not who.is_alive(), "the host did not close its connection"


def connect_to(case: MisbehaviourCase) -> AbstractAsyncContextManager[Connection]:
    if case.distance is Distance.PROGRAM:
        return start_program(case)
    make = accept_tcp if case.distance is Distance.TCP else accept_websocket
    do = MISBEHAVIOURS[case.misbehaviour].behaviour
    return start_connection(lambda host, port: misbehave_at(host, port, case.distance.value, do, case.message), make)


async def play_case(case: MisbehaviourCase) -> CaseOutcome:
    """The match with this bad player, to its end."""
    failures: list[Failed] = []

    class Watch(NullRecord):
        def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
            if isinstance(event, Ejected) and isinstance(answer, Failed):
                failures.append(answer)
            return False

    async with connect_to(case) as line:
        remote = RemoteChannel(line, GAME, match_id="m", limits=case.limits)
        await remote.hello()
        final = await play_async(MATCH, [remote, honest_channel(1), honest_channel(2)], Watch())
    return CaseOutcome(final, failures)


async def play_cases(cases: Iterable[MisbehaviourCase]) -> dict[MisbehaviourCase, CaseOutcome]:
    """The same for many, as many at once as do not get into one another's way."""
    free = {distance: asyncio.Semaphore(count) for distance, count in PARALLEL_MATCHES.items()}
    one_at_a_time = asyncio.Semaphore(1)

    async def one(case: MisbehaviourCase) -> tuple[MisbehaviourCase, CaseOutcome]:
        async with one_at_a_time if case.misbehaviour in CPU_BOUND_MISBEHAVIOURS else free[case.distance]:
            return case, await play_case(case)

    slots = CpuSlots(max(PARALLEL_MATCHES.values()))  # most of them sleep, so there may be more than there are cores
    with patch.object(process, "get_cpu_slots", lambda: slots):
        return dict(await asyncio.gather(*map(one, cases)))


def cases(*distances: Distance, all_of_them: bool = False) -> list[MisbehaviourCase]:
    """Every deed at every message and distance at which it makes sense.

    Only programs that say something else are tried at one message each, in turn, if nothing else is asked for: what
    they say is tried at every message over connections, and to start them all takes half a minute.
    """
    turns = dict(zip(hostile_replies.MISBEHAVIOURS, count(), strict=False))
    found = []
    for distance in distances:
        for deed in MISBEHAVIOURS.values():
            at = deed.messages if distance.value in deed.distances else ()
            if at and deed.name in turns and distance is Distance.PROGRAM and not all_of_them:
                at = (deed.messages[turns[deed.name] % len(deed.messages)],)
            found += [MisbehaviourCase(deed.name, message, distance) for message in at]
    return found


def expected_ejection(case: MisbehaviourCase) -> list[tuple[int, str, str]]:
    deed = MISBEHAVIOURS[case.misbehaviour]
    if not deed.fault:
        return []
    gone = deed.fault == "crashed" and case.distance is not Distance.PROGRAM
    return [(0, "gone" if gone else deed.fault, deed.ejection_moments[case.message])]


def find_problems(case: MisbehaviourCase, outcome: CaseOutcome) -> list[str]:
    """Whatever is not as it was declared."""
    wrong = []
    if outcome.ejected != expected_ejection(case):
        wrong.append(f"declared {expected_ejection(case)}, and ejected {outcome.final.ejected}")
    ranked = {seat for group in outcome.final.result.ranking for seat in group}
    if outcome.final.turn is not None or ranked != {0, 1, 2} - {seat for seat, _, _ in outcome.ejected}:
        wrong.append(f"the others did not play to the end: {outcome.final.result}")
    return wrong


PROGRAM, TCP, WEBSOCKET = Distance.PROGRAM, Distance.TCP, Distance.WEBSOCKET
CASES = cases(PROGRAM, TCP, WEBSOCKET)


@cache
def outcomes(distance: Distance) -> dict[MisbehaviourCase, CaseOutcome]:
    """All matches at this distance, played at once when the first of them is asked for."""
    return asyncio.run(play_cases(case for case in CASES if case.distance is distance))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_bad_player_is_ejected_as_it_declares_with_bounded_evidence_and_the_honest_play_on(
    case: MisbehaviourCase,
) -> None:
    outcome = outcomes(case.distance)[case]

    assert find_problems(case, outcome) == []
    assert [failed.why for failed in outcome.failures] == [ejected.why for ejected in outcome.final.ejected]
    for failed in outcome.failures:
        assert 0 < len(failed.why) < 120
        assert failed.why.isprintable()
        assert failed.evidence.limit is not None
        assert failed.evidence.host_delay >= 0.0
        assert len(msgspec.json.encode(failed.evidence)) < 20_000


@pytest.mark.nightly
def test_programs_are_as_bad_at_every_message() -> None:
    found = asyncio.run(play_cases(cases(PROGRAM, all_of_them=True)))

    assert {case: wrong for case, outcome in found.items() if (wrong := find_problems(case, outcome))} == {}


def test_no_process_of_the_hostile_programs_is_left() -> None:
    outcomes(PROGRAM)

    assert becomes_true(lambda: not descendants(os.getpid()))


def test_each_hostile_player_is_tried_over_every_connection_that_it_declares() -> None:
    tried = {(case.misbehaviour, case.distance) for case in CASES if case.misbehaviour in REMOTE_PLAYERS}

    assert tried == {(bad.name, distance) for bad in REMOTE_PLAYERS.values() for distance in bad.distances}


async def cheated(bad: HostilePlayer, match: AnyMatch, at: int) -> AnyMatch:
    """The match with a cheat at this seat, over a connection that serves its player as the SDK does."""
    game = match.game
    strategy = cheats.cheating_strategy(cheats.CHEATS[game.name][bad.name], here.server(game.name, at))

    def talk(host: str, port: int) -> None:
        serve_at_host(f"{host}:{port}", lambda _: strategy)

    async with start_connection(talk) as line:
        remote = RemoteChannel(line, game, limits=Limits(move=AMPLE_S, start_up=AMPLE_S))
        assert isinstance(await remote.hello(), Answered)
        local = {
            seat: AsyncLocalChannel(LocalChannel(here.server(game.name, seat), game))
            for seat in range(len(match.names))
            if seat != at
        }
        return await play_async(match, {**local, at: remote})


@pytest.mark.parametrize("name", CHEATING_PLAYERS)
def test_a_cheat_is_ejected_over_a_connection_as_in_this_process(name: str) -> None:
    bad = CHEATING_PLAYERS[name]
    final_here, _, at = here.outcome(bad, bad.only_in)
    match = here.GIVEN.get(name, here.TABLES[bad.only_in])

    assert asyncio.run(cheated(bad, match, at)) == final_here
