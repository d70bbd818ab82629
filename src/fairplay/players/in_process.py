"""Reach a player in this process by the protocol: it answers in the call in which it is asked."""

import traceback

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.players.serve import Make, ServedPlayer
from fairplay.protocol.player_side import Misunderstood, read_message
from fairplay.protocol.wire import Hello
from fairplay.transport.line import Closed, Hear, Heard, Line


class InProcess(Line):
    """The connection to a player in this process. What the player raises is shown on stderr."""

    def __init__(self, make: Make) -> None:
        self._served = ServedPlayer(make)
        self._heard: Heard | None = None

    def send(self, text: bytes) -> None:
        """Have the player answer, unless it has failed since its last answer."""
        if self._heard is None:
            self._heard = self._answer(text)

    def listen(self, hear: Hear | None) -> None:
        """Have this called with its answer, which is here already."""
        if hear is not None and self._heard is not None:
            heard, self._heard = self._heard, None
            hear(heard)

    def offer(self, text: bytes) -> bool:
        """Let the player hear a line that needs no answer. If it fails, its next answer is that failure."""
        if self._heard is None:
            self._heard = self._answer(text)
        return True

    async def hang_up(self, last: bytes, within: float) -> None:
        """Say some last words."""
        if last:
            self.offer(last)

    def _answer(self, text: bytes) -> bytes | Closed | None:
        message = read_message(text)
        try:
            reply = self._served.hear(message)
        except Exception as error:
            if isinstance(error, BadRequest) and (isinstance(message, Hello) or isinstance(error, Misunderstood)):
                raise  # it cannot play this game, or the host makes no sense
            traceback.print_exception(error)
            return Closed(Fault.CRASHED, f"the player raised {type(error).__name__}")
        return None if reply is None else reply.rstrip(b"\n")
