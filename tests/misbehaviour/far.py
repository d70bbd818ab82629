"""Play with bad players that are elsewhere: real programs and connections, many matches at once on one event loop.

python -m tests.misbehaviour.far
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
from fairplay.core.roles import Channel, Parting, Unrecorded
from fairplay.games import title
from fairplay.games.q import Q
from fairplay.games.q.examples import position
from fairplay.players import process
from fairplay.players.door import MakeLine, listening
from fairplay.players.process import Program
from fairplay.players.remote import Remote
from fairplay.players.slots import Slots
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play_async
from fairplay.referee.local import Local
from fairplay.referee.referee import AnyMatch
from fairplay.sandbox.level import Level, Sandbox
from fairplay.testing import hostile_replies
from fairplay.testing.hostile import DEEDS, Distance
from fairplay.testing.hostile_connections import misbehave_at
from fairplay.testing.hostile_programs import END, HELLO, START, TELL, TURN, Do
from fairplay.testing.hostile_replies import program_for
from fairplay.transport.connection import over_tcp
from fairplay.transport.line import Line
from fairplay.transport.websocket import over_websocket

GAME = Q()
HANDS = [
    ["red circle", "red square", "blue star", "blue circle", "green star", "green diamond"],
    ["red star", "red clover", "blue clover", "green clover", "red 8star", "yellow star"],
    ["red diamond", "blue diamond", "orange star", "orange clover", "purple star", "yellow clover"],
]
PILE = ["red star", "blue star", "green circle", "red circle", "blue square", "red diamond", "blue 8star"]
MATCH: AnyMatch = Match(GAME, position({(0, 0): "red star"}, HANDS, PILE), ("bad", "ann", "bob"))
AT_ONCE = {Distance.PROGRAM: 16, Distance.TCP: 40, Distance.WEBSOCKET: 40}
BUSY = ("loops", "complains")  # which get into the way of all others
AMPLE = 40.0  # seconds: nobody comes near that, however busy the machine is
SHORT, LONGER = 0.4, 1.5


class Case(msgspec.Struct, frozen=True):
    """Somebody bad at seat 0: what it does, at which message, and how far away it is."""

    deed: str
    at: str
    distance: Distance

    @property
    def limits(self) -> Limits:
        """Short for what it is too slow for, and ample for what it has to do well before that."""
        generous: dict[str, Any] = {"move": AMPLE, "start_up": AMPLE, "first_move": AMPLE}
        if DEEDS[self.deed].fault == "timed_out":
            tight = {
                HELLO: {"start_up": SHORT},
                START: {"move": SHORT},
                TURN: {"first_move": SHORT},
                TELL: {"move": LONGER},
                END: {"move": LONGER},
            }
            generous |= tight[self.at]
        return Limits(**generous)

    def __str__(self) -> str:
        return f"{self.distance.value}, {self.at}: {self.deed}"


class Outcome(msgspec.Struct, frozen=True):
    """How the match came out, and what was kept about whoever was ejected."""

    final: AnyMatch
    failures: tuple[Failed, ...] = ()

    @property
    def ejected(self) -> list[tuple[int, str, str]]:
        """The seat, the fault and the moment of every ejection."""
        return [(one.seat, one.fault.value, one.moment.value) for one in self.final.ejected]

    @property
    def ranked(self) -> set[int]:
        return {seat for group in self.final.result.ranking for seat in group}


class Near:
    """A player in this process, for whom nobody has to wait."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def ask(self, message: Message) -> Answer:
        return self._channel.ask(message)

    async def close(self, parting: Parting) -> None:
        self._channel.close(parting)


def honest(seat: int) -> Near:
    return Near(Local(title("q").house["dag"].make("", bytes([seat] * 32)), GAME))


@asynccontextmanager
async def program(case: Case) -> AsyncIterator[Line]:
    """A line to a program that does it."""
    line = await Program.start(program_for(DEEDS[case.deed], case.at), sandbox=Sandbox(Level.NONE))
    try:
        yield line
    finally:
        await line.hang_up(b"", 0.0)


@asynccontextmanager
async def connection(talk: Callable[[str, int], None], make: MakeLine = over_tcp) -> AsyncIterator[Line]:
    """A line to somebody who talks over a real socket, from a thread of its own."""
    with listening("127.0.0.1", 0) as door:
        who = threading.Thread(target=talk, args=door.getsockname(), daemon=True)
        who.start()
        came, _ = await asyncio.get_running_loop().sock_accept(door)
    try:
        yield await make(came)
    finally:
        await asyncio.to_thread(who.join, AMPLE)
        assert not who.is_alive(), "nobody hung up on it"


def line_to(case: Case, do: Do) -> AbstractAsyncContextManager[Line]:
    """A line to somebody who does it."""
    if case.distance is Distance.PROGRAM:
        return program(case)
    make = over_tcp if case.distance is Distance.TCP else over_websocket
    return connection(lambda host, port: misbehave_at(host, port, case.distance.value, do, case.at), make)


async def played(case: Case, do: Do | None = None) -> Outcome:
    """The match with this bad player, to its end; over a connection it may do something else."""
    failures: list[Failed] = []

    class Watch(Unrecorded):
        def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
            if isinstance(event, Ejected) and isinstance(answer, Failed):
                failures.append(answer)
            return False

    async with line_to(case, do or DEEDS[case.deed].do) as line:
        remote = Remote(line, GAME, match_id="m", limits=case.limits)
        await remote.hello()
        final = await play_async(MATCH, [remote, honest(1), honest(2)], Watch())
    return Outcome(final, tuple(failures))


async def played_at_once(cases: Iterable[Case]) -> dict[Case, Outcome]:
    """The same for many, as many at once as do not get into one another's way."""
    free = {distance: asyncio.Semaphore(count) for distance, count in AT_ONCE.items()}
    one_at_a_time = asyncio.Semaphore(1)

    async def one(case: Case) -> tuple[Case, Outcome]:
        async with one_at_a_time if case.deed in BUSY else free[case.distance]:
            return case, await played(case)

    places = Slots(max(AT_ONCE.values()))  # most of them sleep, so there may be more than there are cores
    with patch.object(process, "slots", lambda: places):
        return dict(await asyncio.gather(*map(one, cases)))


def cases(*distances: Distance, all_of_them: bool = False) -> list[Case]:
    """Every deed at every message and distance at which it makes sense.

    Only programs that say something else are tried at one message each, in turn, if nothing else is asked for: what
    they say is tried at every message over connections, and to start them all takes half a minute.
    """
    turns = dict(zip(hostile_replies.DEEDS, count(), strict=False))
    found = []
    for distance in distances:
        for deed in DEEDS.values():
            at = deed.at if distance.value in deed.distances else ()
            if at and deed.name in turns and distance is Distance.PROGRAM and not all_of_them:
                at = (deed.at[turns[deed.name] % len(deed.at)],)
            found += [Case(deed.name, message, distance) for message in at]
    return found


def declared(case: Case) -> list[tuple[int, str, str]]:
    """What has to happen to whoever does it."""
    deed = DEEDS[case.deed]
    if not deed.fault:
        return []
    gone = deed.fault == "crashed" and case.distance is not Distance.PROGRAM
    return [(0, "gone" if gone else deed.fault, deed.found_out[case.at])]


def complaints(case: Case, outcome: Outcome) -> list[str]:
    """Whatever is not as it was declared."""
    wrong = []
    if outcome.ejected != declared(case):
        wrong.append(f"declared {declared(case)}, and ejected {outcome.final.ejected}")
    if outcome.final.turn is not None or outcome.ranked != {0, 1, 2} - {seat for seat, _, _ in outcome.ejected}:
        wrong.append(f"the others did not play to the end: {outcome.final.result}")
    return wrong


def main() -> int:
    """Play all of them, and say how many are wrong."""
    since, wrong = time.monotonic(), 0
    for distance in AT_ONCE:
        outcomes = asyncio.run(played_at_once(cases(distance, all_of_them=True)))
        found = {case: said for case, outcome in outcomes.items() if (said := complaints(case, outcome))}
        print(f"{distance.value}: {len(outcomes)} matches, {len(found)} wrong, {time.monotonic() - since:.0f} s")
        for case, said in found.items():
            print(f"  {case}: {'; '.join(said)}")
        wrong += len(found)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
