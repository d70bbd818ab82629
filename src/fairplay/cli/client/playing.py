"""Play matches at a host with a player of this machine, and report them."""

import asyncio
from collections.abc import Iterator
from functools import partial
from os import urandom

import click
from msgspec.structs import replace

from fairplay.cli.client.joining import (
    JOINING_PLAYER_ADDRESSES,
    MAX_MESSAGE_CHARS,
    JoinOutcome,
    MatchReport,
    describe_loss,
    print_message,
    report_outcome,
)
from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected
from fairplay.core.game import Moment
from fairplay.core.messages import Failed, Tell
from fairplay.diagnosis.advice import BotFailure, advise, shorten_evidence
from fairplay.games import game_info, game_options
from fairplay.hosting.conditions import MatchConditions
from fairplay.hosting.table import NO_SANDBOX
from fairplay.players.address import open_player
from fairplay.players.bot_log import BotLog, log_path, open_log
from fairplay.players.in_process import InProcessConnection
from fairplay.players.location import HUMAN, Command
from fairplay.players.person import TerminalConnection
from fairplay.players.process import PIPE_READ_BYTES, ProgramConnection
from fairplay.players.relay import PlayerFailed, Relay
from fairplay.players.session import HostSession
from fairplay.protocol import wire
from fairplay.protocol.player_side import FIRST_RECONNECT_INTERVAL_S, MAX_RECONNECT_INTERVAL_S, STABLE_CONNECTION_S
from fairplay.protocol.wire import Hello
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.transport.connection import Connection, ConnectionLost

MAX_STDERR_LINES = 500  # between two messages of the host


class ProgramReporter:
    """Shows the stderr of a program line by line, and reports its matches."""

    def __init__(self) -> None:
        self.match: MatchReport | None = None  # the last one
        self._partial_line = b""  # a line on stderr without its end
        self._lines_left = MAX_STDERR_LINES

    def on_message(self, message: wire.WireMessage) -> None:
        """Report the progress of a match."""
        self._lines_left = MAX_STDERR_LINES
        if isinstance(message, wire.Hello):
            self.match = MatchReport(message.game)
        match self.match, message:
            case MatchReport() as report, wire.Start(seat=seat, names=names):
                report.start(seat, names)
            case MatchReport() as report, wire.End(result=result):
                report.end(result)
            case MatchReport() as report, wire.Closing(receipt=receipt):
                report.closing(receipt)

    def show_stderr(self, output: bytes) -> None:
        """Show output on stderr, up to a limit."""
        *lines, self._partial_line = (self._partial_line + output).split(b"\n")
        if len(self._partial_line) > PIPE_READ_BYTES:
            lines, self._partial_line = [*lines, self._partial_line], b""
        for line in lines[: max(0, self._lines_left)]:
            click.echo(printable(line.decode(errors="replace").rstrip().expandtabs(), MAX_MESSAGE_CHARS), err=True)
        if self._lines_left > 0 >= self._lines_left - len(lines):
            print_message("further output of the program on stderr is left out")
        self._lines_left -= len(lines)

    def flush(self) -> None:
        """Show a last line without an end."""
        if self._partial_line:
            self.show_stderr(b"\n")


class MatchLogs:
    """The logs of a program in a directory, one for each match."""

    def __init__(self, directory: str, bot: str) -> None:
        self.directory = log_path(directory, bot, "any").parent
        self._open = partial(open_log, directory, bot)
        self._last: BotLog | None = None
        self._exist = False

    def open(self, match_id: str) -> BotLog | None:
        """The log of a match."""
        self._exist, self._last = self.exist, self._open(match_id)
        return self._last

    @property
    def exist(self) -> bool:
        """Is there a log? A program that failed at hello has none."""
        return self._exist or (self._last is not None and self._last.is_kept)


class JoiningPlayer:
    """The player that joins, and the reports about it."""

    def __init__(
        self, address: str, program: Command | None, conditions: MatchConditions, name: str | None, bot_logs: str | None
    ) -> None:
        self.is_person = address == HUMAN
        self._address = address
        self._program = program
        self._sandbox = conditions.sandbox or NO_SANDBOX
        self._name = name
        self._logs = None if bot_logs is None else MatchLogs(bot_logs, name or address)
        self._reporter = ProgramReporter()

    async def play(self, session: HostSession) -> JoinOutcome:
        """Play the matches of a session, and report how it ended."""
        reporter, lost, goodbye = self._reporter, "", None
        reporter.match = None
        relay = Relay(session, self._open, name=self._name, on_message=reporter.on_message)
        try:
            async with session:
                goodbye = await relay.play()
        except PlayerFailed as error:
            reporter.flush()
            return self._explain(error)
        except ConnectionLost as error:
            lost = describe_loss(error)
        finally:
            if self._logs is not None and self._logs.exist:
                print_message(f"the stderr of the program is in {self._logs.directory}")
        reporter.flush()
        if reporter.match is not None:
            reporter.match.ended = session.side.match_has_ended
        return report_outcome(reporter.match, goodbye, lost)

    async def _open(self, hello: Hello) -> Connection:
        """The connection to the player, for one match."""
        if self.is_person:
            return await TerminalConnection.start(game_options(), shared=False)
        if self._program is not None:
            show = self._reporter.show_stderr if self._logs is None else None
            log = None if self._logs is None else self._logs.open(hello.match)
            return await ProgramConnection.start(self._program.words, sandbox=self._sandbox, on_stderr=show, log=log)
        return InProcessConnection(
            lambda game: open_player(self._address, game_info(game.name), urandom(SEED_BYTES), JOINING_PLAYER_ADDRESSES)
        )

    def _explain(self, error: PlayerFailed) -> JoinOutcome:
        """Report what the player did wrong, with advice."""
        if self.is_person:
            print_message(error.failed.why)
            return JoinOutcome.LOST
        if self._program is None:  # its exception is on stderr
            print_message(error.failed.why)
            return JoinOutcome.OUT
        failed = error.failed
        if self._logs is None:  # then its stderr was shown
            failed = replace(failed, evidence=replace(failed.evidence, stderr=None))
        for line in explain_failure(failed, self._address, at_hello=error.at_hello):
            print_message(line)
        return JoinOutcome.LOST if error.at_hello else JoinOutcome.OUT


async def play_session(player: JoiningPlayer, session: HostSession) -> JoinOutcome:
    """Play at a server, and sign in again when the player is ejected, for the next match.

    A player that fails in one match after another signs in again after growing pauses.
    """
    side, loop, pause, is_first = session.side, asyncio.get_running_loop(), 0.0, True
    while True:
        before = loop.time()
        try:
            ended = await player.play(session)
        except BadRequest as error:
            if is_first:
                raise
            print_message(str(error))  # the server is gone
            return JoinOutcome.OUT
        is_steady = side.played > 0 or loop.time() - before > STABLE_CONNECTION_S
        if ended is not JoinOutcome.OUT or player.is_person or not side.sign_in_again():
            return ended
        pause = 0.0 if is_steady else min(2 * pause or FIRST_RECONNECT_INTERVAL_S, MAX_RECONNECT_INTERVAL_S)
        print_message("signing in again")
        await asyncio.sleep(pause)
        is_first = False


def explain_failure(failed: Failed, address: str, *, at_hello: bool) -> Iterator[str]:
    """What the program did wrong, with advice."""
    yield f"the player failed, {failed.fault.description}: {printable(failed.why, MAX_MESSAGE_CHARS)}"
    asked = None if at_hello else Tell(None)  # which message it was does not matter
    trouble = BotFailure(Ejected(0, failed.fault, Moment.GREETING, failed.why), asked, failed)
    for line in (*shorten_evidence(describe_evidence(failed.evidence)), *advise(trouble, address)):
        yield f"    {printable(line, MAX_MESSAGE_CHARS)}"
