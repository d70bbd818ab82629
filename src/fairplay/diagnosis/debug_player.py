"""Let a player hear again what a seat heard in a recorded match, in the way in which it would hear it in a real one."""

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
from fairplay.journal.transcript import TranscriptEntry as HeardThen
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

MAX_STDERR_LINE_CHARS = 600  # characters of a line on stderr
MAX_STDERR_LINES = 500  # of stderr, for one question
STDERR_WAIT_S = 0.01  # seconds for what was said on stderr before a reply


class TracedConnection(Connection):
    """A line to a program that is told, line by line: what it is asked (>), says on stderr (|) and replies (<)."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._connection: Connection
        self._partial_line = b""  # a line on stderr without its end
        self._lines_left = MAX_STDERR_LINES
        self._replies: list[bytes] = []

    @classmethod
    async def start(
        cls, words: Sequence[str], sandbox: SandboxPolicy, tell: Callable[[str], None]
    ) -> "TracedConnection":
        """Start a program."""
        overheard = cls(tell)
        overheard._connection = await ProgramConnection.start(words, sandbox=sandbox, on_stderr=overheard._on_stderr)
        overheard.late_answer_timeout_s = overheard._connection.late_answer_timeout_s
        return overheard

    def acquire(self, then: Callback) -> None:
        self._connection.acquire(then)

    def release(self) -> None:
        self._connection.release()

    def send(self, text: bytes) -> None:
        self._lines_left = MAX_STDERR_LINES
        self._tell(f"  > {printable_line(text)}")
        self._connection.send(text)

    def on_receive(self, callback: OnReceive | None) -> None:
        def note(heard: Received) -> None:
            if isinstance(heard, bytes):
                self._replies.append(heard)
            if callback is not None:
                callback(heard)

        self._connection.on_receive(None if callback is None else note)

    def offer(self, text: bytes) -> bool:
        taken = self._connection.offer(text)
        if taken:
            self._tell(f"  > {printable_line(text)}")
        return taken

    def on_lost(self, callback: Callback) -> None:
        self._connection.on_lost(callback)

    async def close(self, last: bytes, within: float) -> None:
        if last:
            self._tell(f"  > {printable_line(last)}")
        await self._connection.close(last, within)
        self.flush()

    def evidence(self) -> Evidence:
        return self._connection.evidence()

    def flush(self) -> None:
        """Tell of a line on stderr that may never end, and then the replies, for these came later."""
        self._on_stderr(b"\n" if self._partial_line else b"")
        for reply in self._replies:
            self._tell(f"  < {printable_line(reply)}")
        self._replies.clear()

    def _on_stderr(self, said: bytes) -> None:
        if self._lines_left <= 0:
            return
        *lines, self._partial_line = (self._partial_line + said).split(b"\n")
        if len(self._partial_line) > PIPE_READ_BYTES:
            lines, self._partial_line = [*lines, self._partial_line], b""
        for line in lines[: self._lines_left]:
            self._tell(f"  | {printable(line.decode(errors='replace').rstrip(), MAX_STDERR_LINE_CHARS)}")
        self._lines_left -= len(lines)
        if self._lines_left <= 0:
            self._partial_line = b""
            self._tell("  | (what else it says now is left out)")


class DebugPlayer:
    """A player in the place of a seat, who hears the same again. Programs are shut in and timed as in a match.

    With each greeting it is opened anew, because that is what it was: whoever resumes a match opens the players again.
    """

    def __init__(
        self,
        recorded: RecordedMatch,
        seat: Seat,
        find: Callable[[], Location],
        conditions: MatchConditions,
        tell: Callable[[str], None],
    ) -> None:
        self._recorded = recorded
        self.seat = seat
        self._find_location = find
        self._conditions = conditions
        self._tell = tell
        self.hello: Answer | None = None  # what a program answered to it
        self._channel: AsyncChannel | None = None  # nobody, before the first greeting
        self._connection: TracedConnection | None = None  # if it is a program
        self._known_facts = 0  # facts that the player could have heard of

    @property
    def on_change(self) -> Callable[[Change], None] | None:
        """What tells the player of changes, if it wants to hear of them."""
        return self._channel.on_change if is_change_listener(self._channel) else None

    async def replay_message(self, heard: HeardThen) -> Comparison:
        """Say to the player what the seat heard."""
        if self.on_change is not None:
            for facts in range(self._known_facts, heard.facts):
                match = self._recorded.match_after(facts + 1)
                if self.seat in match.game.order(match.state):  # or it is eliminated, and hears no more of them
                    self.on_change(Change(match))
        self._known_facts = heard.facts
        if isinstance(heard.message, Start):
            await self.close(None)
            await self._open(turn_times(self._recorded.entries[: heard.facts]).get(self.seat, ()))
        answer = await self.ask(heard.message)
        return Comparison(heard, answer, self._judge(heard, answer), self._judge(heard, heard.answer))

    async def ask(self, message: Message) -> Answer:
        """Say something to the player, and tell all that it says to that."""
        assert self._channel is not None, "every transcript begins with a greeting"
        answer = await self._channel.ask(message)
        await self._flush_output()
        return answer

    async def close(self, parting: CloseReason) -> None:
        """Let the player go, as at the end of a match; it may be closed already."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close(parting)

    async def _open(self, took: Sequence[float]) -> None:
        game, limits = self._recorded.game, self._conditions.limits or DEFAULT_LIMITS
        match self._find_location():
            case Command(words):
                self._connection = await TracedConnection.start(
                    words, self._conditions.sandbox or NO_SANDBOX, self._tell
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

    def _judge(self, heard: HeardThen, answer: Answer | None) -> Fact | None:
        if answer is None:
            return None
        if isinstance(heard.message, TakeTurn):
            return judge(self._recorded.game, heard.message.view, self.seat, answer)
        return judge_acknowledgement(self.seat, MOMENT_OF_MESSAGE[type(heard.message)], answer)


def printable_line(line: bytes) -> str:
    """A whole line of the protocol, fit for a terminal."""
    text = line.decode(errors="replace").rstrip()
    return printable(text, len(text))
