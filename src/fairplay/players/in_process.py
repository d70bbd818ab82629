"""Connect to a player in this process that speaks the protocol: it answers in the call in which it is asked."""

import traceback

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.players.player_loop import MakePlayer, ServedPlayer
from fairplay.protocol.player_side import ProtocolError, read_message
from fairplay.protocol.wire import Hello
from fairplay.transport.connection import Connection, ConnectionClosed, OnReceive, Received


class InProcessConnection(Connection):
    """The connection to a player in this process. Exceptions of the player are printed to stderr."""

    def __init__(self, make: MakePlayer) -> None:
        self._player = ServedPlayer(make)
        self._received: Received | None = None

    def send(self, text: bytes) -> None:
        """Let the player answer, unless it has failed since its last answer."""
        if self._received is None:
            self._received = self._answer(text)

    def on_receive(self, callback: OnReceive | None) -> None:
        """Call this with the answer, which is here already."""
        if callback is not None and self._received is not None:
            received, self._received = self._received, None
            callback(received)

    def offer(self, text: bytes) -> bool:
        """Pass on a line that needs no answer. If the player fails, its next answer is that failure."""
        if self._received is None:
            self._received = self._answer(text)
        return True

    async def close(self, last: bytes, within: float) -> None:
        """Send a last message."""
        if last:
            self.offer(last)

    def _answer(self, text: bytes) -> bytes | ConnectionClosed | None:
        message = read_message(text)
        try:
            reply = self._player.handle(message)
        except Exception as error:
            if isinstance(error, BadRequest) and (isinstance(message, Hello) or isinstance(error, ProtocolError)):
                raise  # it cannot play this game, or the host makes no sense
            traceback.print_exception(error)
            return ConnectionClosed(Fault.CRASHED, f"the player raised {type(error).__name__}")
        return None if reply is None else reply.rstrip(b"\n")
