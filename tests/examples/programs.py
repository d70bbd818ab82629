"""Play matches with a program in one seat and house players in the others, and write down all that is said."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from fairplay import Match, play_async
from fairplay.core.chance import derive, seed_from
from fairplay.core.game import Game
from fairplay.core.messages import Evidence
from fairplay.core.roles import UNRECORDED, Record
from fairplay.games import title
from fairplay.players.address import open_player
from fairplay.players.process import Program
from fairplay.players.remote import Remote
from fairplay.protocol.limits import Limits
from fairplay.render.evidence import describe_evidence
from fairplay.sandbox.level import Level, Sandbox
from fairplay.testing.scripted import AsyncScripted, playing
from fairplay.transport.line import Call, Hear, Heard, Line

AnyGame = Game[Any, Any, Any]
AnyMatch = Match[Any, Any, Any]
PATIENT = Limits(move=60, start_up=60, goodbye=20)  # for this machine may be busy


class Said(NamedTuple):
    """A line, without its end, and who said it."""

    by_referee: bool
    text: bytes


class Played(NamedTuple):
    """What is left of a match with a program."""

    match: AnyMatch
    code: int
    err: str
    said: list[Said]


class Tapped(Line):
    """A line on which everything is overheard."""

    def __init__(self, line: Line) -> None:
        self.said: list[Said] = []
        self._line = line

    def acquire(self, then: Call) -> None:
        self._line.acquire(then)

    def release(self) -> None:
        self._line.release()

    def send(self, text: bytes) -> None:
        self.said.append(Said(True, text.rstrip(b"\n")))
        self._line.send(text)

    def listen(self, hear: Hear | None) -> None:
        def note(heard: Heard) -> None:
            if isinstance(heard, bytes):
                self.said.append(Said(False, heard))
            if hear is not None:
                hear(heard)

        self._line.listen(None if hear is None else note)

    def evidence(self) -> Evidence:
        return self._line.evidence()

    def offer(self, text: bytes) -> bool:
        taken = self._line.offer(text)
        if taken:
            self.said.append(Said(True, text.rstrip(b"\n")))
        return taken

    def when_lost(self, call: Call) -> None:
        self._line.when_lost(call)

    async def hang_up(self, last: bytes, within: float) -> None:
        if last:
            self.said.append(Said(True, last.rstrip(b"\n")))
        await self._line.hang_up(last, within)


def dealt(game: AnyGame, names: Sequence[str], seed: str) -> AnyMatch:
    """A match that is about to begin."""
    return Match(game, game.deal(len(names), seed_from(seed)), tuple(names), seed=seed_from(seed))


def key_of(match: AnyMatch, seat: int) -> bytes:
    """What the house player in this seat draws its lots from."""
    return derive(match.seed or bytes(32), f"seat {seat}")


def house_player(who: str, match: AnyMatch, seat: int) -> AsyncScripted:
    strategy: Any = open_player(who, title(match.game.name), key_of(match, seat))
    return AsyncScripted(playing(strategy))


def played(
    match: AnyMatch,
    table: Sequence[str | Sequence[str]],
    *,
    match_id: str = "",
    limits: Limits = PATIENT,
    record: Record = UNRECORDED,
) -> Played:
    """Play a match to its end. At the table is one program, named by its command; the others are house players."""
    return asyncio.run(refereed(match, table, match_id, limits, record))


async def refereed(
    match: AnyMatch, table: Sequence[str | Sequence[str]], match_id: str, limits: Limits, record: Record
) -> Played:
    channels: list[Any] = []
    err: list[bytes] = []
    for seat, who in enumerate(table):
        if isinstance(who, str):
            channels.append(house_player(who, match, seat))
        else:
            program = await Program.start(who, sandbox=Sandbox(Level.NONE), hear=err.append)
            tapped = Tapped(program)
            ending = msgspec.structs.replace(limits, goodbye=60)  # the line is cut, and that ends the program
            remote = Remote(tapped, match.game, match_id=match_id, limits=ending)
            channels.append(remote)
    await remote.hello()
    final = await play_async(match, channels, record)
    code = program._transport.get_returncode()
    assert code is not None
    return Played(final, code, b"".join(err).decode(), tapped.said)


async def shut_in(match: AnyMatch, table: Sequence[str | Sequence[str]]) -> tuple[AnyMatch, str]:
    """The same with the program in a strict sandbox; and what became of it when the line was cut."""
    (command,) = [who for who in table if not isinstance(who, str)]
    program = await Program.start(command, sandbox=Sandbox(Level.STRICT))
    remote = Remote(program, match.game, limits=PATIENT)
    await remote.hello()
    channels: list[Any] = [
        house_player(who, match, seat) if isinstance(who, str) else remote for seat, who in enumerate(table)
    ]
    return await play_async(match, channels), "\n".join(describe_evidence(program.evidence()))
