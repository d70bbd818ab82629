"""Play with bad remote players, over real programs and connections, many matches at once on one event loop.

python -m tests.misbehaviour.remote_players
"""

import asyncio
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.core.events import Ejected, Event
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Failed, Message
from fairplay.core.roles import Channel, CloseReason, NullRecord
from fairplay.games import game_info
from fairplay.games.q import Q
from fairplay.games.q.examples import position
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
from fairplay.testing import hostile_replies
from fairplay.testing.hostile import MISBEHAVIOURS, Distance
from fairplay.testing.hostile_connections import misbehave_at
from fairplay.testing.hostile_programs import END, HELLO, START, TELL, TURN, Behaviour
from fairplay.testing.hostile_replies import program_command
from fairplay.transport.connection import Connection
from fairplay.transport.sockets import accept_tcp
from fairplay.transport.websocket import accept_websocket

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


class CaseOutcome(msgspec.Struct, frozen=True):
    """The result of the match, and the evidence of its ejections."""

    final: AnyMatch
    failures: tuple[Failed, ...] = ()

    @property
    def ejected(self) -> list[tuple[int, str, str]]:
        """The seat, the fault and the moment of every ejection."""
        return [(one.seat, one.fault.value, one.moment.value) for one in self.final.ejected]

    @property
    def ranked_seats(self) -> set[int]:
        return {seat for group in self.final.result.ranking for seat in group}


class ImmediateChannel:
    """A player in this process."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def ask(self, message: Message) -> Answer:
        return self._channel.ask(message)

    async def close(self, reason: CloseReason) -> None:
        self._channel.close(reason)


def honest_channel(seat: int) -> ImmediateChannel:
    return ImmediateChannel(LocalChannel(game_info("q").built_in["dag"].make("", bytes([seat] * 32)), GAME))


@asynccontextmanager
async def start_program(case: MisbehaviourCase) -> AsyncIterator[Connection]:
    """A line to a program that does it."""
    line = await ProgramConnection.start(
        program_command(MISBEHAVIOURS[case.misbehaviour], case.message), sandbox=SandboxPolicy(SandboxLevel.NONE)
    )
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


def connect_to(case: MisbehaviourCase, do: Behaviour) -> AbstractAsyncContextManager[Connection]:
    """A connection to a client that does it."""
    if case.distance is Distance.PROGRAM:
        return start_program(case)
    make = accept_tcp if case.distance is Distance.TCP else accept_websocket
    return start_connection(lambda host, port: misbehave_at(host, port, case.distance.value, do, case.message), make)


async def play_case(case: MisbehaviourCase, do: Behaviour | None = None) -> CaseOutcome:
    """The match with this bad player, to its end; over a connection it may do something else."""
    failures: list[Failed] = []

    class Watch(NullRecord):
        def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
            if isinstance(event, Ejected) and isinstance(answer, Failed):
                failures.append(answer)
            return False

    async with connect_to(case, do or MISBEHAVIOURS[case.misbehaviour].behaviour) as line:
        remote = RemoteChannel(line, GAME, match_id="m", limits=case.limits)
        await remote.hello()
        final = await play_async(MATCH, [remote, honest_channel(1), honest_channel(2)], Watch())
    return CaseOutcome(final, tuple(failures))


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
    """The expected ejection of a player that does it."""
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
    if outcome.final.turn is not None or outcome.ranked_seats != {0, 1, 2} - {seat for seat, _, _ in outcome.ejected}:
        wrong.append(f"the others did not play to the end: {outcome.final.result}")
    return wrong


def main() -> int:
    """Play all of them, and say how many are wrong."""
    since, wrong = time.monotonic(), 0
    for distance in PARALLEL_MATCHES:
        outcomes = asyncio.run(play_cases(cases(distance, all_of_them=True)))
        found = {case: said for case, outcome in outcomes.items() if (said := find_problems(case, outcome))}
        print(f"{distance.value}: {len(outcomes)} matches, {len(found)} wrong, {time.monotonic() - since:.0f} s")
        for case, said in found.items():
            print(f"  {case}: {'; '.join(said)}")
        wrong += len(found)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
