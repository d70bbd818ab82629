"""Implement the player's side of the protocol: messages of a host go in, replies come out. No I/O, no clock.

The bot SDK, `join` and spectators use it. At a server it survives reconnects.
"""

from typing import Any, Literal

from fairplay.core.errors import BadRequest
from fairplay.protocol import wire
from fairplay.protocol.wire import (
    DECODE_ERRORS,
    Changed,
    Closing,
    End,
    Goodbye,
    Hello,
    Question,
    Suspended,
    Welcome,
    WireMessage,
    decode_line,
    encode,
)

MAX_SHOWN_BYTES = 80  # of an invalid message
FIRST_RECONNECT_INTERVAL_S, MAX_RECONNECT_INTERVAL_S = 0.1, 5.0  # between two attempts to reconnect
STABLE_CONNECTION_S = 10.0  # after which the interval begins small again
RECEIPT_TIMEOUT_S = 2.0  # for the receipt, before a player leaves
MAX_SERVER_SILENCE_S = 86400.0  # while a player waits for a match
MAX_CLOSED_S = 300.0  # the longest `retry_after` that is respected

Purpose = Literal["play", "watch", "status", "leave"]


class ProtocolError(BadRequest):
    """The host sent something that is not in the protocol, or not in this version of it."""


def read_message(line: bytes) -> WireMessage:
    """Decode a line of a host. Raises ProtocolError if it is not a message of the protocol."""
    try:
        message: WireMessage = decode_line(line)
        return message
    except DECODE_ERRORS as error:
        shown = line[:MAX_SHOWN_BYTES]
        raise ProtocolError(f"not a message of the protocol: {error}: {shown!r}") from None


def encode_reply(nonce: str, answer: Any) -> bytes:
    """Encode a reply as a line. Raises TypeError if the answer cannot be written as JSON."""
    try:
        return encode({"nonce": nonce, "answer": answer}) + b"\n"
    except TypeError:
        raise TypeError(f"the player's answer is not an action, but of the type {type(answer).__name__}") from None


def introduction(**fields: str | bool | None) -> dict[str, Any] | None:
    """The answer to hello, without what is empty; None: nothing is left."""
    return {name: value for name, value in fields.items() if value} or None


class PlayerSide:
    """The player's side of one match at a host, or of many matches at a server.

    A server repeats an open question when a client reconnects. The player is asked only once: its reply is sent again.
    """

    def __init__(
        self,
        *,
        name: str | None = None,
        token: str = "",
        game: str = "",  # to play at a server; empty: any
        person: bool = False,  # is the player a person?
        purpose: Purpose = "play",  # of the connection to a server
        room: str = "",  # to watch
        matches: int | None = None,  # after which to leave the server; None: stay
        idle_timeout_s: float = MAX_SERVER_SILENCE_S,  # without a message during a match, or after a suspension
    ) -> None:
        wire.check_name(name)
        self.name = name
        self.token = token  # the player's own, or the reconnect token of the server
        self.at_server = False  # False: the host plays a single match
        self.is_over = False  # the host has nothing more for the player
        self.match_has_ended = False  # the last match, for the player
        self.played = 0  # matches that were played to the end
        self._game, self._person, self._room = game, person, room
        self._purpose = purpose
        self._matches = matches
        self._matches_left = matches  # matches until the player leaves
        self._idle_timeout_s = idle_timeout_s
        self._signed_in = False
        self._is_refused = False  # for ever
        self._in_match = False  # between a hello with a game and the last message of the match
        self._last_match = ""  # the id of the last match that has ended
        self._nonce, self._limit_s = "", 0.0  # of the last question
        self._reply = b""  # to that question; empty: none yet
        self._outgoing: list[bytes] = []
        self._reconnect_until = 0.0  # the seat is reserved until then
        self._reconnect_interval_s = FIRST_RECONNECT_INTERVAL_S
        self.connected(0.0)

    # One connection.

    def connected(self, now: float) -> None:
        """Start over on a new connection."""
        self._connected_at = now
        self._is_open = False  # may replies be sent?
        self._reply_was_sent = False  # on this connection
        self._end_was_heard = False  # on this connection
        self._reserved_s = 0.0  # for which the server reserves the seat, once it has accepted us
        self._closed_s = 0.0  # for which the server is suspended
        self._outgoing.clear()

    def receive(self, line: bytes) -> WireMessage | None:
        """Process a line; return its message, or None if it does not concern the player. Raises ProtocolError."""
        try:
            message = read_message(line)
        except ProtocolError:
            if self.match_has_ended:  # anything else is ignored by then
                return None
            raise
        match message:
            case Hello() if message.protocol != wire.PROTOCOL_VERSION:
                raise ProtocolError(
                    f"the host speaks version {message.protocol} of the protocol, "
                    f"and this program version {wire.PROTOCOL_VERSION}"
                )
            case Hello(game=""):
                self.at_server = True
                self._is_open = self._reply_was_sent = False  # each connection begins with this
                self._outgoing.append(encode_reply(message.nonce, self._introduction()))
                return None
            case Suspended():
                self._suspend(message)
                return message
            case Welcome():
                self.at_server = self._signed_in = self._is_open = True
                self.token = self.token or message.reconnect_token
                self._reserved_s = min(message.reconnect_window, MAX_SERVER_SILENCE_S)
                return message
        self._is_open = self._is_open or not self.at_server
        if isinstance(message, End):
            self._end_was_heard = True
        if isinstance(message, Question) and not self._is_new(message):
            return None
        if self._matches_left == 0 and message.match != self._last_match:
            self.is_over = True
            return None
        if isinstance(message, Changed) and self.match_has_ended and not self._in_match:
            return None
        self._update(message)
        return message

    def reply(self, nonce: str, line: bytes) -> None:
        """Send a reply, and again if its question is repeated. It is dropped if a newer question was asked."""
        if nonce != self._nonce:
            return
        self._reply, self._reply_was_sent = line, self._is_open
        if self._is_open:
            self._outgoing.append(line)

    def lines_to_send(self) -> list[bytes]:
        """Return the lines to send now, once."""
        lines, self._outgoing = self._outgoing, []
        return lines

    @property
    def timeout_s(self) -> float:
        """For how long the host may be silent in the current state."""
        thinking_s = 0.0 if self._reply else self._limit_s
        if self._matches_left == 0:
            return thinking_s + RECEIPT_TIMEOUT_S
        return thinking_s + self._idle_timeout_s if self._is_playing or not self.at_server else MAX_SERVER_SILENCE_S

    # One connection after the other.

    @property
    def has_finished(self) -> bool:
        """Is there no reason to reconnect? There is one while the last reply may not have arrived."""
        return self._matches_left == 0 and (self.is_over or not self._reserved_s or not self._end_was_heard)

    @property
    def was_accepted(self) -> bool:
        """Has the server accepted this connection, and not suspended it?"""
        return self._reserved_s > 0 and not self._closed_s

    def retry_after(self, now: float, jitter: float) -> float | None:
        """Seconds to wait before reconnecting, once a connection is lost; None: it is too late.

        The jitter, between 0 and 1, keeps clients from reconnecting all at the same moment.
        """
        if self._reserved_s:
            self._reconnect_until = now + self._reserved_s
        if now >= self._reconnect_until:
            return None
        was_stable = now - self._connected_at > STABLE_CONNECTION_S
        self._reconnect_interval_s = (
            FIRST_RECONNECT_INTERVAL_S if was_stable else min(2 * self._reconnect_interval_s, MAX_RECONNECT_INTERVAL_S)
        )
        return min(self._closed_s + self._reconnect_interval_s * jitter, self._reconnect_until - now)

    def time_left(self, now: float) -> float:
        """Seconds that are left for reconnecting."""
        return self._reconnect_until - now

    def sign_in_again(self) -> bool:
        """Prepare to sign in again after the player was ejected or failed. False: that is not possible."""
        left = None if self._matches is None else self._matches - self.played - 1
        if not self._signed_in or self._is_refused or left == 0:
            return False
        self._matches = self._matches_left = left
        self.played = 0
        self.is_over = self.match_has_ended = self._in_match = self.at_server = self._signed_in = False
        self._last_match, self._nonce, self._limit_s, self._reply = "", "", 0.0, b""
        self._reconnect_until, self._reconnect_interval_s = 0.0, FIRST_RECONNECT_INTERVAL_S
        return True

    def leave(self) -> bool:
        """Leave for ever. Returns whether the server has to be told, as other players would wait."""
        self._matches_left, self.is_over = 0, True
        return self.at_server and self._is_playing

    @property
    def _is_playing(self) -> bool:
        return self._in_match and not self.match_has_ended

    def _introduction(self) -> dict[str, Any] | None:
        """The answer to the hello of a server."""
        purpose = "" if self._purpose == "play" else self._purpose
        fields = {"name": self.name, "token": self.token, "game": self._game, "person": self._person}
        return introduction(**fields, purpose=purpose, room=self._room)

    def _suspend(self, suspended: Suspended) -> None:
        """Note for how long the server is suspended, or that it dismissed the player."""
        if suspended.retry_after <= 0:
            self._matches_left, self.is_over = 0, True
        elif self._reserved_s:
            self._closed_s = min(suspended.retry_after, MAX_CLOSED_S)
            self._reserved_s = self._closed_s + self._idle_timeout_s

    def _is_new(self, asked: Question) -> bool:
        """Is this a new question? The reply to a repeated one is sent again."""
        if asked.nonce != self._nonce or not self.at_server:
            self._nonce, self._limit_s, self._reply = asked.nonce, asked.limit, b""
            return True
        if self._reply and not self._reply_was_sent:
            self._reply_was_sent = True
            self._outgoing.append(self._reply)
        return False

    def _update(self, message: WireMessage) -> None:
        """Update the state after a message."""
        match message:
            case Hello():
                self._in_match, self.match_has_ended = True, False
            case Goodbye():
                self._in_match = False
                self._is_refused = not message.match
                self._matches_left, self.is_over = 0, True
            case Closing():  # which needs no reply
                self._in_match, self._limit_s = False, 0.0
                self.is_over = not self.at_server or self._matches_left == 0
            case _ if not self._in_match:
                raise ProtocolError(f"the host's first message must be hello, not {type(message).__name__}")
            case End():
                self.match_has_ended, self._last_match = True, message.match
                self.played += 1
                self._matches_left = self._matches_left and self._matches_left - 1
            case _:
                pass
