"""Ask a player again what a seat was asked in a recorded match, with the channel and sandbox of a real match."""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter

from fairplay.core.events import Fact
from fairplay.core.game import Seat
from fairplay.core.messages import Answer, Evidence, Message, Start, TakeTurn
from fairplay.core.roles import AsyncChannel, CloseReason
from fairplay.diagnosis.comparison import Comparison
from fairplay.hosting.conditions import MatchConditions
from fairplay.hosting.records import turn_times
from fairplay.hosting.table import NO_SANDBOX, AsyncLocalChannel
from fairplay.journal.reenactment import MOMENT_OF_MESSAGE
from fairplay.journal.replay import RecordedMatch
from fairplay.journal.transcript import TranscriptEntry
from fairplay.players.location import BuiltInAddress, Command, LocalAddress, Location
from fairplay.players.process import PIPE_READ_BYTES, ProgramConnection
from fairplay.players.process_pool import PooledChannel
from fairplay.players.remote import DEFAULT_LIMITS, RemoteChannel
from fairplay.referee.changes import Change, is_change_listener
from fairplay.referee.conversation import judge, judge_acknowledgement
from fairplay.referee.local_channel import LocalChannel
from fairplay.render.text import printable
from fairplay.sandbox.policy import SandboxPolicy
from fairplay.transport.connection import Callback, Connection, OnReceive, Received

MAX_STDERR_LINE_CHARS = 600
MAX_STDERR_LINES = 500  # for each question
STDERR_WAIT_S = 0.01  # after a reply, for stderr that was written before it


class TracedConnection(Connection):
    """A connection to a program that writes down questions (>), stderr (|) and replies (<), line by line."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._connection: Connection
        self._partial_line = b""  # a line on stderr without its end
        self._lines_left = MAX_STDERR_LINES
        self._replies: list[bytes] = []

    @classmethod
    async def start(
        cls, words: Sequence[str], sandbox: SandboxPolicy, write: Callable[[str], None]
    ) -> "TracedConnection":
        """Start a program."""
        traced = cls(write)
        traced._connection = await ProgramConnection.start(words, sandbox=sandbox, on_stderr=traced._on_stderr)
        traced.late_answer_timeout_s = traced._connection.late_answer_timeout_s
        return traced

    def acquire(self, then: Callback) -> None:
        self._connection.acquire(then)

    def release(self) -> None:
        self._connection.release()

    def send(self, text: bytes) -> None:
        self._lines_left = MAX_STDERR_LINES
        self._write(f"  > {printable_line(text)}")
        self._connection.send(text)

    def on_receive(self, callback: OnReceive | None) -> None:
        def keep(received: Received) -> None:
            if isinstance(received, bytes):
                self._replies.append(received)
            if callback is not None:
                callback(received)

        self._connection.on_receive(None if callback is None else keep)

    def offer(self, text: bytes) -> bool:
        accepted = self._connection.offer(text)
        if accepted:
            self._write(f"  > {printable_line(text)}")
        return accepted

    def on_lost(self, callback: Callback) -> None:
        self._connection.on_lost(callback)

    async def close(self, last: bytes, within: float) -> None:
        if last:
            self._write(f"  > {printable_line(last)}")
        await self._connection.close(last, within)
        self.flush()

    def evidence(self) -> Evidence:
        return self._connection.evidence()

    def flush(self) -> None:
        """Write an unfinished line of stderr, and then the replies, which came later."""
        self._on_stderr(b"\n" if self._partial_line else b"")
        for reply in self._replies:
            self._write(f"  < {printable_line(reply)}")
        self._replies.clear()

    def _on_stderr(self, text: bytes) -> None:
        if self._lines_left <= 0:
            return
        *lines, self._partial_line = (self._partial_line + text).split(b"\n")
        if len(self._partial_line) > PIPE_READ_BYTES:
            lines, self._partial_line = [*lines, self._partial_line], b""
        for line in lines[: self._lines_left]:
            self._write(f"  | {printable(line.decode(errors='replace').rstrip(), MAX_STDERR_LINE_CHARS)}")
        self._lines_left -= len(lines)
        if self._lines_left <= 0:
            self._partial_line = b""
            self._write("  | (the rest of its stderr is left out)")


class DebugPlayer:
    """A player in the place of a seat that is asked the same again. Programs are sandboxed and timed as in a match.

    Each greeting opens the player again, as resuming a match does.
    """

    def __init__(
        self,
        recorded: RecordedMatch,
        seat: Seat,
        find: Callable[[], Location],
        conditions: MatchConditions,
        write: Callable[[str], None],
    ) -> None:
        self._recorded = recorded
        self.seat = seat
        self._find_location = find
        self._conditions = conditions
        self._write = write
        self.hello: Answer | None = None  # of a program
        self._channel: AsyncChannel | None = None  # None: before the first greeting
        self._connection: TracedConnection | None = None  # if it is a program
        self._known_facts = 0  # that the player was shown

    @property
    def on_change(self) -> Callable[[Change], None] | None:
        """Informs the player of changes, if it listens to them."""
        return self._channel.on_change if is_change_listener(self._channel) else None

    async def replay_message(self, entry: TranscriptEntry) -> Comparison:
        """Ask the player what the seat was asked."""
        if self.on_change is not None:
            for facts in range(self._known_facts, entry.facts):
                match = self._recorded.match_after(facts + 1)
                if self.seat in match.game.order(match.state):  # otherwise it is eliminated, and is not informed
                    self.on_change(Change(match))
        self._known_facts = entry.facts
        if isinstance(entry.message, Start):
            await self.close(None)
            await self._open(turn_times(self._recorded.entries[: entry.facts]).get(self.seat, ()))
        answer = await self.ask(entry.message)
        return Comparison(entry, answer, self._judge(entry, answer), self._judge(entry, entry.answer))

    async def ask(self, message: Message) -> Answer:
        """Ask the player something, and write down its stderr and reply."""
        assert self._channel is not None, "every transcript begins with a greeting"
        answer = await self._channel.ask(message)
        await self._flush_output()
        return answer

    async def close(self, reason: CloseReason) -> None:
        """Close the player's channel, as at the end of a match; it may be closed already."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close(reason)

    async def _open(self, took: Sequence[float]) -> None:
        game, limits = self._recorded.game, self._conditions.limits or DEFAULT_LIMITS
        match self._find_location():
            case Command(words):
                self._connection = await TracedConnection.start(
                    words, self._conditions.sandbox or NO_SANDBOX, self._write
                )
                match_id = self._recorded.opening.match
                remote = RemoteChannel(self._connection, game, match_id=match_id, limits=limits, took=took)
                self._channel = remote
                self.hello = await remote.hello()
                await self._flush_output()
            case BuiltInAddress(game=name, address=address, key=key):
                self._channel = PooledChannel(name, address, key, perf_counter)
            case LocalAddress(player):
                self._channel = AsyncLocalChannel(LocalChannel(player, game, perf_counter))

    async def _flush_output(self) -> None:
        if self._connection is not None:
            await asyncio.sleep(STDERR_WAIT_S)
            self._connection.flush()

    def _judge(self, entry: TranscriptEntry, answer: Answer | None) -> Fact | None:
        if answer is None:
            return None
        if isinstance(entry.message, TakeTurn):
            return judge(self._recorded.game, entry.message.view, self.seat, answer)
        return judge_acknowledgement(self.seat, MOMENT_OF_MESSAGE[type(entry.message)], answer)


def printable_line(line: bytes) -> str:
    """A whole line of the protocol as text that is safe to print to a terminal."""
    text = line.decode(errors="replace").rstrip()
    return printable(text, len(text))
