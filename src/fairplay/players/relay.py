"""Let a program of this machine play at a host elsewhere: pass on what either of them says to the other."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.players.backlog import Backlog
from fairplay.players.bot_log import BotLog
from fairplay.players.process import Program
from fairplay.players.remote import with_received
from fairplay.protocol import wire
from fairplay.protocol.player_side import Misunderstood, introduction, read_message, reply_to
from fairplay.protocol.replies import Replies, Wrong
from fairplay.protocol.wire import Asked, Changed, Closing, End, Goodbye, Hello, Suspended, Welcome
from fairplay.referee.closing import surely
from fairplay.sandbox.level import Sandbox
from fairplay.transport.dial import Lost
from fairplay.transport.line import Closed, TooMuch, acquired, received

GOODBYE = 1.0  # seconds for a program to end by itself, once its match is over
LAST_WORDS = 2.0  # seconds in which a receipt may come behind the result


class ProgramFailed(Exception):
    """The program gave no reply that could be passed on: how it failed, and was that at hello?"""

    def __init__(self, failed: Failed, at_hello: bool) -> None:
        super().__init__(failed, at_hello)
        self.failed = failed
        self.at_hello = at_hello


class Listener:
    """What a host says, as it comes from the thread that listens to it."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self.over = asyncio.Event()  # nobody wants to know any more what is being thought about
        self._loop = asyncio.get_running_loop()
        self._came = asyncio.Event()  # something may be here
        self._backlog = Backlog()
        threading.Thread(target=self._backlog.listen, args=(lines, self._wake), daemon=True).start()

    async def next(self, within: float) -> bytes | None:
        """The next line, if it is here within so many seconds; None: there will be none. Raises Lost or BadRequest."""
        try:
            async with asyncio.timeout(within):
                while True:
                    with suppress(TimeoutError):
                        return self._backlog.next(0)
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            raise Lost(f"no message came for {within:g} s") from None
        finally:
            self._look()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: we are done
            self._loop.call_soon_threadsafe(self._look)

    def _look(self) -> None:
        self._came.set()
        if self._backlog.over:
            self.over.set()
        else:
            self.over.clear()


class Asking(NamedTuple):
    """The program that plays a match, and what it was asked."""

    program: Program
    nonces: set[str]
    replies: Replies


class Relay:
    """Plays match after match over the line of a visit, each by a program that is started for it and ended with it.

    The program hears what the host says, word by word: its nonces, its limits. Its replies are passed on if they are
    replies to what was asked; whether an answer is lawful, and in time, the host says. Every wait has a deadline.
    """

    def __init__(
        self,
        words: Sequence[str],  # that start the program
        sandbox: Sandbox,
        send: Callable[[bytes], None],
        *,
        patience: Callable[[], float],  # for how many seconds a message is waited for
        name: str | None,  # that the player wants to have; None: the one that the program says
        hear: Callable[[wire.WireMessage], None],  # is told what the program is told
        show: Callable[[bytes], None] | None,  # is given what it says on stderr; None: that is evidence
        log: Callable[[str], BotLog | None],  # is opened for each match, by its id
    ) -> None:
        self._words = words
        self._sandbox = sandbox
        self._send = send
        self._patience = patience
        self._name = name
        self._hear = hear
        self._show = show
        self._log = log
        self._asking: Asking | None = None
        self._unheard = b""  # the newest change, if the program could not take it at once
        self.ended = False  # the match, for us
        self._at_house = False

    async def play(self, lines: Iterator[bytes]) -> Goodbye | None:
        """Play until the host hangs up; a goodbye says why, if the player was ejected.

        Raises Lost, Misunderstood or ProgramFailed. Whatever happens, no program is left behind.
        """
        listener = Listener(lines)
        try:
            while (said := await self._next(listener)) is not None:
                text = said + b"\n"
                message = self._read(said)
                if message is None or isinstance(message, Welcome):
                    self._at_house = self._at_house or message is not None
                    continue
                self._hear(message)
                if isinstance(message, Hello):
                    await self._begin(message.match)
                if isinstance(message, Goodbye | Suspended):
                    await self._part(text)
                    return message if isinstance(message, Goodbye) else None
                if isinstance(message, Closing):
                    await self._part(text)
                    if not self._at_house:
                        return None
                elif isinstance(message, Changed):
                    self._offer(text)
                else:
                    await self._pass_on(message, text, listener)
            return None
        finally:
            await surely(self._part(b""))

    async def _next(self, listener: Listener) -> bytes | None:
        """What the host says next. If no receipt comes soon behind a result, the program need not wait for one."""
        if self.ended and self._asking is not None:
            with suppress(Lost):
                return await listener.next(min(LAST_WORDS, self._patience()))
            await self._part(b"")
        return await listener.next(self._patience())

    def _read(self, text: bytes) -> wire.WireMessage | None:
        """A message; None: something that needs no answer, once a match has ended."""
        try:
            message = read_message(text)
        except Misunderstood:
            if self.ended:
                return None
            raise
        if isinstance(message, Hello) and message.protocol != wire.PROTOCOL:
            raise Misunderstood(f"they speak version {message.protocol} of the protocol, and we {wire.PROTOCOL}")
        if self._asking is None and isinstance(message, Asked) and not isinstance(message, Hello | Closing):
            raise Misunderstood(f"they did not say hello, but {type(message).__name__}")
        return message

    async def _begin(self, match_id: str) -> None:
        """Start a program for a match; the one of the match before ends now, if it has not."""
        await self._part(b"")
        self.ended = False
        log = self._log(match_id)
        program = await Program.start(self._words, sandbox=self._sandbox, hear=self._show, log=log)
        asked: set[str] = set()
        self._asking = Asking(program, asked, Replies(asked.__contains__))

    async def _part(self, last: bytes) -> None:
        """Say some last words to the program, and let it go."""
        asking, self._asking, self._unheard = self._asking, None, b""
        if asking is not None:
            await asking.program.hang_up(last, GOODBYE)

    def _offer(self, text: bytes) -> None:
        """Let the program know of a change; if it cannot take it now, it has the newest before the next question."""
        if self._asking is not None:
            self._unheard = b"" if self._asking.program.offer(text) else text

    async def _pass_on(self, message: wire.WireMessage, text: bytes, listener: Listener) -> None:
        """Have a question answered, unless the host does not want to know any more."""
        assert isinstance(message, Asked) and self._asking is not None
        asking = asyncio.create_task(self._replied(message, text, self._asking))
        over = asyncio.create_task(listener.over.wait())
        try:
            await asyncio.wait(
                (asking, over), timeout=message.limit + self._patience(), return_when=asyncio.FIRST_COMPLETED
            )
            if asking.done():
                reply = asking.result()
                self.ended = isinstance(message, End)
                self._send(reply)
            elif not over.done():
                raise Lost(f"no message came for {self._patience():g} s")
        finally:
            for task in (asking, over):
                task.cancel()
            await asyncio.wait((asking, over))

    async def _replied(self, message: Asked, text: bytes, asking: Asking) -> bytes:
        """The reply of the program to a question, as it is sent to the host."""
        program, at_hello = asking.program, isinstance(message, Hello)
        asking.nonces.add(message.nonce)

        def failed(fault: Fault, why: str, heard: bytes = b"") -> ProgramFailed:
            known = program.evidence()
            if self._show is not None:  # then its stderr was seen
                known = replace(known, stderr=None)
            return ProgramFailed(Failed(fault, why, 0.0, with_received(known, heard)), at_hello)

        await acquired(program)
        try:
            if self._unheard:
                program.send(self._unheard)
                self._unheard = b""
            program.send(text)
            while True:
                heard = await received(program)
                reply = asking.replies.read(heard, message.nonce)
                if isinstance(reply, Wrong):
                    raise failed(reply.fault, reply.why, heard)
                if reply is not None:
                    return self._introduced(reply) if at_hello else heard + b"\n"
        except Closed as closed:
            raise failed(closed.fault, str(closed)) from None
        except TooMuch as much:
            raise failed(Fault.FLOOD, f"sent more than {wire.MOST_BYTES} bytes at once", much.text) from None
        finally:
            program.release()

    def _introduced(self, reply: wire.Reply) -> bytes:
        """The answer to hello, with the name that we want to have; what is no introduction, the host refuses."""
        answer: object = reply.answer
        with suppress(*wire.UNREADABLE):
            said = wire.hello_decoder(reply.answer)
            name, changes = (None, False) if said is None else (said.name or None, said.changes)
            answer = introduction(name=self._name or name, changes=changes)
        return reply_to(reply.nonce, answer)
