"""Let a player of this machine take part in matches elsewhere, and tell its author how they go."""

import asyncio
from collections.abc import Iterator
from functools import partial
from os import urandom

import click
from msgspec.structs import replace

from fairplay.cli.client.joining import LONGEST, OTHERS, Outcome, Report, lost_by, outcome, say
from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected
from fairplay.core.game import Moment
from fairplay.core.messages import Failed, Tell
from fairplay.diagnosis.troubles import Trouble, advice, shortened
from fairplay.games import game_options, title
from fairplay.hosting.table import OPEN
from fairplay.hosting.terms import Terms
from fairplay.players.address import open_player
from fairplay.players.bot_log import BotLog, log_path, open_log
from fairplay.players.in_process import InProcess
from fairplay.players.location import HUMAN, Command
from fairplay.players.person import AtTerminal
from fairplay.players.process import CHUNK, Program
from fairplay.players.relay import PlayerFailed, Relay
from fairplay.players.session import HostSession
from fairplay.protocol import wire
from fairplay.protocol.player_side import FIRST_PAUSE_S, MAX_PAUSE_S, STEADY_S
from fairplay.protocol.wire import Hello
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.transport.line import Line, Lost

MOST_LINES = 500  # of stderr, between two messages of the host


class Onlooker:
    """Shows what a program says on stderr, line by line, and says how its matches go."""

    def __init__(self) -> None:
        self.match: Report | None = None  # the last one
        self._begun = b""  # a line on stderr without its end
        self._room = MOST_LINES

    def hear(self, message: wire.WireMessage) -> None:
        """Tell the author of the program how its matches go."""
        self._room = MOST_LINES
        if isinstance(message, wire.Hello):
            self.match = Report(message.game)
        match self.match, message:
            case Report() as report, wire.Start(seat=seat, names=names):
                report.start(seat, names)
            case Report() as report, wire.End(result=result):
                report.end(result)
            case Report() as report, wire.Closing(receipt=receipt):
                report.closing(receipt)

    def show(self, said: bytes) -> None:
        """Show what came on stderr, but no flood."""
        *lines, self._begun = (self._begun + said).split(b"\n")
        if len(self._begun) > CHUNK:
            lines, self._begun = [*lines, self._begun], b""
        for line in lines[: max(0, self._room)]:
            click.echo(printable(line.decode(errors="replace").rstrip().expandtabs(), LONGEST), err=True)
        if self._room > 0 >= self._room - len(lines):
            say("what else the program says on stderr now is left out")
        self._room -= len(lines)

    def show_rest(self) -> None:
        """Show what has no end, once there will be none."""
        if self._begun:
            self.show(b"\n")


class Logs:
    """The logs of a program in a folder, one for each match."""

    def __init__(self, folder: str, bot: str) -> None:
        self.folder = log_path(folder, bot, "any").parent
        self._open = partial(open_log, folder, bot)
        self._last: BotLog | None = None
        self._are_kept = False

    def open(self, match_id: str) -> BotLog | None:
        """The log of a match."""
        self._are_kept, self._last = self.are_kept, self._open(match_id)
        return self._last

    @property
    def are_kept(self) -> bool:
        """Has one of them begun? Of who failed at hello there is none."""
        return self._are_kept or (self._last is not None and self._last.is_kept)


class JoiningPlayer:
    """The player that joins, at whatever distance, and what its author is told of it."""

    def __init__(
        self, address: str, program: Command | None, terms: Terms, name: str | None, bot_logs: str | None
    ) -> None:
        self.is_person = address == HUMAN
        self._address = address
        self._program = program
        self._sandbox = terms.sandbox or OPEN
        self._name = name
        self._logs = None if bot_logs is None else Logs(bot_logs, name or address)
        self._onlooker = Onlooker()

    async def take_part(self, session: HostSession) -> Outcome:
        """Play what comes in a session, and say how it went."""
        onlooker, lost, goodbye = self._onlooker, "", None
        onlooker.match = None
        relay = Relay(session, self._open, name=self._name, hear=onlooker.hear)
        try:
            async with session:
                goodbye = await relay.play()
        except PlayerFailed as error:
            onlooker.show_rest()
            return self._explain(error)
        except Lost as error:
            lost = lost_by(error)
        finally:
            if self._logs is not None and self._logs.are_kept:
                say(f"what the program said on stderr is in {self._logs.folder}")
        onlooker.show_rest()
        if onlooker.match is not None:
            onlooker.match.ended = session.side.match_has_ended
        return outcome(onlooker.match, goodbye, lost)

    async def _open(self, hello: Hello) -> Line:
        """The connection to the player, for one match."""
        if self.is_person:
            return await AtTerminal.start(game_options(), shared=False)
        if self._program is not None:
            show = self._onlooker.show if self._logs is None else None
            log = None if self._logs is None else self._logs.open(hello.match)
            return await Program.start(self._program.words, sandbox=self._sandbox, hear=show, log=log)
        return InProcess(lambda game: open_player(self._address, title(game.name), urandom(SEED_BYTES), OTHERS))

    def _explain(self, error: PlayerFailed) -> Outcome:
        """Say what the player did wrong, and what may help."""
        if self.is_person:
            say(error.failed.why)
            return Outcome.LOST
        if self._program is None:  # what it raised is on stderr
            say(error.failed.why)
            return Outcome.OUT
        failed = error.failed
        if self._logs is None:  # then its stderr was shown
            failed = replace(failed, evidence=replace(failed.evidence, stderr=None))
        for line in explained(failed, self._address, at_hello=error.at_hello):
            say(line)
        return Outcome.LOST if error.at_hello else Outcome.OUT


async def play_on(player: JoiningPlayer, session: HostSession) -> Outcome:
    """Play at a server, and sign in again when the player is put out of a match: the next one is another match.

    A player that fails in one match after the other comes back after pauses that grow.
    """
    side, loop, pause, is_first = session.side, asyncio.get_running_loop(), 0.0, True
    while True:
        before = loop.time()
        try:
            ended = await player.take_part(session)
        except BadRequest as error:
            if is_first:
                raise
            say(str(error))  # the server is gone
            return Outcome.OUT
        is_steady = side.played > 0 or loop.time() - before > STEADY_S
        if ended is not Outcome.OUT or player.is_person or not side.sign_in_again():
            return ended
        pause = 0.0 if is_steady else min(2 * pause or FIRST_PAUSE_S, MAX_PAUSE_S)
        say("signing in again")
        await asyncio.sleep(pause)
        is_first = False


def explained(failed: Failed, address: str, *, at_hello: bool) -> Iterator[str]:
    """What the program did wrong, and what may help."""
    yield f"the player failed, {failed.fault.in_words}: {printable(failed.why, LONGEST)}"
    asked = None if at_hello else Tell(None)  # what else it was does not matter
    trouble = Trouble(Ejected(0, failed.fault, Moment.GREETING, failed.why), asked, failed)
    for line in (*shortened(describe_evidence(failed.evidence)), *advice(trouble, address)):
        yield f"    {printable(line, LONGEST)}"
