"""Stay with a host: at a house from match to match, and from one connection to the next when the line is lost."""

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, suppress
from random import uniform

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.players.remote import LOG, loggable
from fairplay.protocol import wire
from fairplay.protocol.player_side import introduction, read_message, reply_to
from fairplay.protocol.wire import Suspended, Welcome
from fairplay.render.text import printable
from fairplay.transport.dial import Lost, Patience
from fairplay.transport.host_line import HostLine

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds until we go there again
STEADY = 10.0  # seconds that a line lasts if all is well
LAST_WORDS = 2.0  # seconds in which a receipt may come before we leave
A_DAY = 86400.0  # seconds for which nothing may be said while we wait for a match; nobody waits longer for anything
MAX_CLOSED_S = 300.0  # for which a server may ask us to stay away
LONGEST = 600  # characters of what a house says

Go = Callable[[float, Patience], AbstractContextManager[HostLine]]  # opens a line, within so many seconds


class Glimpse(msgspec.Struct):
    """As much of a message as has to be known to pass it on."""

    type: str = ""
    nonce: str = ""
    match: str = ""
    game: str = ""
    protocol: int = wire.PROTOCOL


glimpse = msgspec.json.Decoder(Glimpse).decode


class Visit:
    """The line of a player to a host. At a house it lasts longer than its connections.

    Who comes back in time, with its token, has its seat again, and hears the open question again. The player does not:
    it is asked once, and what it answered is said again. One thread may listen while another one speaks.
    """

    def __init__(
        self,
        go: Go,
        *,
        tell: Callable[[str], None],
        wait: float,  # seconds to try until the host is there
        patience: float,  # seconds without a message in a match after which it is given up; or until it is open again
        name: str | None = None,
        token: str = "",
        game: str = "",
        person: bool = False,  # does a person play?
        matches: int | None = None,  # after which we leave; None: we stay
    ) -> None:
        self._go = go
        self._tell = tell
        self._wait = wait
        self._patience = patience
        self._name = name
        self._token = token
        self._game = game
        self._person = person
        self._matches = matches
        self._left = matches  # until we leave
        self._last = ""  # the id of the last match that has ended for us
        self._ended = False  # over this line
        self._over = False  # nobody waits for us any more
        self._at_house = False
        self._playing = False
        self._kept = 0.0  # seconds for which a seat is kept for us, once we were let in over this line
        self._closed = 0.0  # seconds for which the house is closed
        self._signed_in = False  # at a server
        self._refused = False  # for good
        self._played = 0  # matches, to the end
        self._debug = LOG.debug if LOG.isEnabledFor(logging.DEBUG) else None
        self._lock = threading.Lock()  # for the next four
        self._asked = ""  # the nonce of the last question
        self._reply = b""  # to that question, once there is one
        self._send: Callable[[bytes], None] | None = None  # None: nobody would hear it now
        self._said_by: Callable[[bytes], None] | None = None  # by which the reply was sent

    def patience(self) -> float:
        """How many seconds may pass without a message, as things are."""
        if self._left == 0:
            return LAST_WORDS
        return self._patience if self._playing or not self._at_house else A_DAY

    def send(self, text: bytes) -> None:
        """Send a reply, now and if its question is asked again; it is too late if something else was asked since."""
        with self._lock:
            if glimpse(text).nonce != self._asked:
                return
            self._reply, self._said_by = text, self._send
            send = self._send
        if self._debug is not None:
            self._debug("to the host: %s", loggable(text))
        if send is not None:
            send(text)

    def lines(self) -> Generator[bytes, None, None]:
        """The messages that concern a player, until there will be no more. Raises Lost if there should have been."""
        left, until, pause = self._wait, 0.0, FIRST_PAUSE  # until when we may come back
        while True:
            since, lost, self._kept, self._closed, self._ended = time.monotonic(), "", 0.0, 0.0, False
            try:
                with self._go(left, self.patience) as (lines, send):
                    yield from self._heard(lines, send)
            except (Lost, BadRequest) as error:
                if isinstance(error, BadRequest) and not until:  # it was never there
                    raise
                lost = str(error)
            with self._lock:
                self._send = None
            if self._left == 0 and (self._over or not self._kept or not self._ended):
                return  # else our last answer may be lost, and the seat is kept for us
            now = time.monotonic()
            if self._kept:
                until = now + self._kept
                if not self._closed:
                    self._tell(f"the line was lost{lost and f': {printable(lost, LONGEST)}'}; coming back")
            if now >= until:
                if lost:
                    raise Lost(lost)
                return
            pause = FIRST_PAUSE if now - since > STEADY else min(2 * pause, LONGEST_PAUSE)
            time.sleep(min(self._closed + pause * uniform(0.5, 1.0), until - now))  # not all at the same moment
            left = until - time.monotonic()

    @property
    def has_played(self) -> bool:
        """Was a match played to its end?"""
        return self._played > 0

    def next_visit(self) -> "Visit | None":
        """The visit after one in which the player was ejected, or failed in a match; None: it is over for good."""
        left = None if self._matches is None else self._matches - self._played - 1
        if not self._signed_in or self._refused or left == 0:
            return None
        return Visit(
            self._go,
            tell=self._tell,
            wait=self._wait,
            patience=self._patience,
            name=self._name,
            token=self._token,
            game=self._game,
            person=self._person,
            matches=left,
        )

    def leave(self, go: Go) -> None:
        """Say that we do not come back to the match that we are in, if we are; else others would wait for us."""
        self._left, self._over = 0, True
        if not (self._at_house and self._playing):
            return
        with suppress(Lost, BadRequest), go(LAST_WORDS, LAST_WORDS) as (lines, send):
            hello = glimpse_of(next(lines, b""))
            answer = introduction(name=self._name, token=self._token, visit="leave")
            send(reply_to(hello.nonce, answer))
            for _ in lines:  # until they have heard it
                pass

    def _heard(self, lines: Iterator[bytes], send: Callable[[bytes], None]) -> Iterator[bytes]:
        """What comes over one connection and concerns the player."""
        for text in lines:
            if self._debug is not None:
                self._debug("from the host: %s", loggable(text))
            said = glimpse_of(text)
            if said.type == "hello" and not said.game and said.protocol == wire.PROTOCOL:
                self._at_house = True
                answer = introduction(name=self._name, token=self._token, game=self._game, person=self._person)
                send(reply_to(said.nonce, answer))
                continue
            if said.type == "suspended":
                self._suspend(read_message(text))
                return
            if said.type == "welcome":
                self._settle_in(read_message(text), send)
            elif not self._at_house:
                with self._lock:
                    self._send = send
            self._ended = self._ended or said.type == "end"
            if said.nonce and not self._is_new(said.nonce, send):
                continue
            if self._left == 0 and said.type != "welcome" and said.match != self._last:
                self._over = True
                return
            self._playing = said.type == "hello" or (self._playing and said.type != "goodbye")
            yield text
            if said.type == "end":
                self._playing, self._last = False, said.match
                self._played += 1
                self._left = self._left and self._left - 1
            self._refused = said.type == "goodbye" and not said.match
            if said.type == "goodbye" or (self._left == 0 and said.type == "closing"):
                self._left, self._over = 0, True
                return

    def _settle_in(self, welcome: wire.WireMessage, send: Callable[[bytes], None]) -> None:
        """The house knows us, and hears us from now on."""
        assert isinstance(welcome, Welcome)
        self._token = self._token or welcome.token
        self._signed_in = True
        self._kept = min(welcome.window, A_DAY)
        self._tell(f"signed up as {printable(welcome.name, wire.LONGEST_NAME)}")
        with self._lock:
            self._send = send

    def _suspend(self, suspended: wire.WireMessage) -> None:
        """The house lets us go; if it will be there again, that may take its time."""
        assert isinstance(suspended, Suspended)
        self._tell(f"the house hangs up: {printable(suspended.why, LONGEST)}")
        if suspended.again <= 0:
            self._left, self._over = 0, True
        elif self._kept:
            self._closed = min(suspended.again, MAX_CLOSED_S)
            self._kept = self._closed + self._patience

    def _is_new(self, nonce: str, send: Callable[[bytes], None]) -> bool:
        """Was this not asked before? Who has the answer already says it again; who has not will say it."""
        with self._lock:
            if nonce != self._asked or not self._at_house:
                self._asked, self._reply = nonce, b""
                return True
            reply = b"" if self._said_by is send else self._reply
            self._said_by = send if reply else self._said_by
        if reply:
            send(reply)
        return False


def glimpse_of(text: bytes) -> Glimpse:
    """What a message is about; of what is none, nothing is known."""
    try:
        return glimpse(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Glimpse()
