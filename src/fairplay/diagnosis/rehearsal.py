"""Let a player hear again what a seat heard in a recorded match, in the way in which it would hear it in a real one."""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter

from fairplay.core.events import Fact
from fairplay.core.game import Seat
from fairplay.core.messages import Answer, Evidence, Message, Start, TakeTurn
from fairplay.core.roles import AsyncChannel, Parting
from fairplay.diagnosis.comparison import Comparison
from fairplay.hosting.records import turns_taken
from fairplay.hosting.table import OPEN, Here
from fairplay.hosting.terms import Terms
from fairplay.journal.reenact import MOMENTS
from fairplay.journal.replay import Recorded
from fairplay.journal.transcript import Heard as HeardThen
from fairplay.players.location import Command, House, Location, Near
from fairplay.players.process import CHUNK, Program
from fairplay.players.remote import DEFAULT, Remote
from fairplay.players.thinking import Thinker
from fairplay.referee.changes import Change, tells_changes
from fairplay.referee.local import Local
from fairplay.referee.referee import judge, judge_acknowledgement
from fairplay.render.text import printable
from fairplay.sandbox.level import Sandbox
from fairplay.transport.line import Call, Hear, Heard, Line

LONGEST = 600  # characters of a line on stderr
MOST_LINES = 500  # of stderr, for one question
STRAGGLES = 0.01  # seconds for what was said on stderr before a reply


class Overheard(Line):
    """A line to a program that is told, line by line: what it is asked (>), says on stderr (|) and replies (<)."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._line: Line
        self._begun = b""  # a line on stderr without its end
        self._room = MOST_LINES
        self._replies: list[bytes] = []

    @classmethod
    async def start(cls, words: Sequence[str], sandbox: Sandbox, tell: Callable[[str], None]) -> "Overheard":
        """Start a program."""
        overheard = cls(tell)
        overheard._line = await Program.start(words, sandbox=sandbox, hear=overheard._hear)
        overheard.late_wait_s = overheard._line.late_wait_s
        return overheard

    def acquire(self, then: Call) -> None:
        self._line.acquire(then)

    def release(self) -> None:
        self._line.release()

    def send(self, text: bytes) -> None:
        self._room = MOST_LINES
        self._tell(f"  > {fit(text)}")
        self._line.send(text)

    def listen(self, hear: Hear | None) -> None:
        def note(heard: Heard) -> None:
            if isinstance(heard, bytes):
                self._replies.append(heard)
            if hear is not None:
                hear(heard)

        self._line.listen(None if hear is None else note)

    def offer(self, text: bytes) -> bool:
        taken = self._line.offer(text)
        if taken:
            self._tell(f"  > {fit(text)}")
        return taken

    def when_lost(self, call: Call) -> None:
        self._line.when_lost(call)

    async def hang_up(self, last: bytes, within: float) -> None:
        if last:
            self._tell(f"  > {fit(last)}")
        await self._line.hang_up(last, within)
        self.tell_rest()

    def evidence(self) -> Evidence:
        return self._line.evidence()

    def tell_rest(self) -> None:
        """Tell of a line on stderr that may never end, and then the replies, for these came later."""
        self._hear(b"\n" if self._begun else b"")
        for reply in self._replies:
            self._tell(f"  < {fit(reply)}")
        self._replies.clear()

    def _hear(self, said: bytes) -> None:
        if self._room <= 0:
            return
        *lines, self._begun = (self._begun + said).split(b"\n")
        if len(self._begun) > CHUNK:
            lines, self._begun = [*lines, self._begun], b""
        for line in lines[: self._room]:
            self._tell(f"  | {printable(line.decode(errors='replace').rstrip(), LONGEST)}")
        self._room -= len(lines)
        if self._room <= 0:
            self._begun = b""
            self._tell("  | (what else it says now is left out)")


class Rehearsal:
    """A player in the place of a seat, who hears the same again. Programs are shut in and timed as in a match.

    With each greeting it is opened anew, because that is what it was: whoever resumes a match opens the players again.
    """

    def __init__(
        self, recorded: Recorded, seat: Seat, find: Callable[[], Location], terms: Terms, tell: Callable[[str], None]
    ) -> None:
        self._recorded = recorded
        self.seat = seat
        self._find = find
        self._terms = terms
        self._tell = tell
        self.hello: Answer | None = None  # what a program answered to it
        self._channel: AsyncChannel | None = None  # nobody, before the first greeting
        self._overheard: Overheard | None = None  # if it is a program
        self._known = 0  # facts that the player could have heard of

    @property
    def changed(self) -> Callable[[Change], None] | None:
        """What tells the player of changes, if it wants to hear of them."""
        return self._channel.changed if tells_changes(self._channel) else None

    async def hear(self, heard: HeardThen) -> Comparison:
        """Say to the player what the seat heard."""
        if self.changed is not None:
            for facts in range(self._known, heard.facts):
                match = self._recorded.at(facts + 1)
                if self.seat in match.game.order(match.state):  # or it is eliminated, and hears no more of them
                    self.changed(Change(match))
        self._known = heard.facts
        if isinstance(heard.message, Start):
            await self.close(None)
            await self._open(turns_taken(self._recorded.entries[: heard.facts]).get(self.seat, ()))
        answer = await self.ask(heard.message)
        return Comparison(heard, answer, self._judge(heard, answer), self._judge(heard, heard.answer))

    async def ask(self, message: Message) -> Answer:
        """Say something to the player, and tell all that it says to that."""
        assert self._channel is not None, "every transcript begins with a greeting"
        answer = await self._channel.ask(message)
        await self._tell_rest()
        return answer

    async def close(self, parting: Parting) -> None:
        """Let the player go, as at the end of a match; it may be closed already."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close(parting)

    async def _open(self, took: Sequence[float]) -> None:
        game, limits = self._recorded.game, self._terms.limits or DEFAULT
        match self._find():
            case Command(words):
                self._overheard = await Overheard.start(words, self._terms.sandbox or OPEN, self._tell)
                match_id = self._recorded.opening.match
                remote = Remote(self._overheard, game, match_id=match_id, limits=limits, took=took)
                self._channel = remote
                self.hello = await remote.hello()
                await self._tell_rest()
            case House(game=name, address=address, key=key):
                self._channel = Thinker(name, address, key, perf_counter)
            case Near(player):
                self._channel = Here(Local(player, game, perf_counter))

    async def _tell_rest(self) -> None:
        if self._overheard is not None:
            await asyncio.sleep(STRAGGLES)
            self._overheard.tell_rest()

    def _judge(self, heard: HeardThen, answer: Answer | None) -> Fact | None:
        if answer is None:
            return None
        if isinstance(heard.message, TakeTurn):
            return judge(self._recorded.game, heard.message.view, self.seat, answer)
        return judge_acknowledgement(self.seat, MOMENTS[type(heard.message)], answer)


def fit(line: bytes) -> str:
    """A whole line of the protocol, fit for a terminal."""
    text = line.decode(errors="replace").rstrip()
    return printable(text, len(text))
