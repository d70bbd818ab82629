"""Play matches with a program in one seat and built-in players in the others, and log all messages."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from fairplay.core.chance import derive_seed, seed_from_text
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.core.roles import NULL_RECORD, Record
from fairplay.games import game_info
from fairplay.players.address import open_player
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play_async
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.testing.scripted import AsyncScriptedChannel, strategy_script
from fairplay.transport.connection import OnReceive, Received

AnyGame = Game[Any, Any, Any]
AnyMatch = Match[Any, Any, Any]
PATIENT_LIMITS = Limits(move=60, start_up=60, goodbye=20)  # for this machine may be busy


class SentLine(NamedTuple):
    """A line, without its end, and who said it."""

    by_referee: bool
    text: bytes


class PlayedMatch(NamedTuple):
    """What is left of a match with a program."""

    match: AnyMatch
    code: int
    err: str
    said: list[SentLine]


class RecordingProgram(ProgramConnection):
    """A program of which all messages are overheard."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.said: list[SentLine] = []

    def send(self, text: bytes) -> None:
        self.said.append(SentLine(True, text.rstrip(b"\n")))
        super().send(text)

    def offer(self, text: bytes) -> bool:
        taken = super().offer(text)
        if taken:
            self.said.append(SentLine(True, text.rstrip(b"\n")))
        return taken

    async def close(self, last: bytes, within: float) -> None:
        if last:
            self.said.append(SentLine(True, last.rstrip(b"\n")))
        await super().close(last, within)

    def ask(self, text: bytes, on_receive: OnReceive) -> None:
        self.send(text)
        self.on_receive(on_receive)

    def on_receive(self, callback: OnReceive | None) -> None:
        def note(heard: Received) -> None:
            if isinstance(heard, bytes):
                self.said.append(SentLine(False, heard))
            if callback is not None:
                callback(heard)

        super().on_receive(None if callback is None else note)


def deal_match(game: AnyGame, names: Sequence[str], seed: str) -> AnyMatch:
    """A match that is about to begin."""
    return Match(game, game.deal(len(names), seed_from_text(seed)), tuple(names), seed=seed_from_text(seed))


def seat_key(match: AnyMatch, seat: int) -> bytes:
    """What the built-in player in this seat draws its lots from."""
    return derive_seed(match.seed or bytes(32), f"seat {seat}")


def built_in_player(who: str, match: AnyMatch, seat: int) -> AsyncScriptedChannel:
    strategy: Any = open_player(who, game_info(match.game.name), seat_key(match, seat))
    return AsyncScriptedChannel(strategy_script(strategy))


def play_match(
    match: AnyMatch,
    table: Sequence[str | Sequence[str]],
    *,
    match_id: str = "",
    limits: Limits = PATIENT_LIMITS,
    record: Record = NULL_RECORD,
) -> PlayedMatch:
    """Play a match to its end. At the table is one program, named by its command; the others are built-in players."""
    return asyncio.run(referee_match(match, table, match_id, limits, record))


async def referee_match(
    match: AnyMatch, table: Sequence[str | Sequence[str]], match_id: str, limits: Limits, record: Record
) -> PlayedMatch:
    channels: list[Any] = []
    err: list[bytes] = []
    for seat, who in enumerate(table):
        if isinstance(who, str):
            channels.append(built_in_player(who, match, seat))
        else:
            open_to_all = SandboxPolicy(SandboxLevel.NONE)
            program: Any = await RecordingProgram.start(who, sandbox=open_to_all, on_stderr=err.append)
            ending = msgspec.structs.replace(limits, goodbye=60)  # the line is cut, and that ends the program
            remote = RemoteChannel(program, match.game, match_id=match_id, limits=ending)
            channels.append(remote)
    await remote.hello()
    final = await play_async(match, channels, record)
    code = program._transport.get_returncode()
    assert code is not None
    return PlayedMatch(final, code, b"".join(err).decode(), program.said)
