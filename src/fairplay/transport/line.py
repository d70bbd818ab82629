"""Say what a line to somebody is, and what can go wrong on it."""

from collections.abc import Callable
from typing import Any, Protocol

from fairplay.core.events import Fault


class Closed(Exception):
    """The other end has gone; `fault` is CRASHED for a program and GONE for a connection."""

    def __init__(self, fault: Fault, why: str) -> None:
        super().__init__(why)
        self.fault = fault

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.fault, *self.args), self.__dict__


class Cut(Closed):
    """The other end has gone in the middle of a reply."""

    def __init__(self) -> None:
        super().__init__(Fault.MALFORMED, "the line was closed in the middle of a reply")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), self.__dict__


class TooMuch(Exception):
    """More came than anybody asked for; what came first is its text."""

    def __init__(self, text: bytes) -> None:
        super().__init__("too much")
        self.text = text


Heard = bytes | Closed | TooMuch  # a whole line without its end, or what went wrong
Hear = Callable[[Heard], None]


class Line(Protocol):
    """A line to somebody: bytes with an end there and back. Whatever goes wrong is `Closed` or `TooMuch`.

    Who derives from it has nothing to wake, and has to be awaited.
    """

    @property
    def at_once(self) -> bool:
        """Can anything be said without waiting? Then `say` and `ask`; or else wake it, `send` and `receive`."""
        return False

    async def wake(self) -> None:
        """Come back when the other end can be asked: whoever waits for its turn to compute has no clock running."""
        return

    def rest(self) -> None:
        """The other end is not asked any more, until it is woken again."""
        return

    async def send(self, text: bytes) -> None:
        """Send a whole line; comes back when it is on its way."""
        raise TypeError("this line is not to be awaited")

    async def receive(self) -> bytes:
        """The next whole line, without its end."""
        raise TypeError("this line is not to be awaited")

    def say(self, text: bytes) -> None:
        """Put a whole line on its way; if that cannot be done, whoever listens hears of it."""
        return

    def ask(self, text: bytes, hear: Hear) -> None:
        """Say it, and listen."""
        self.say(text)
        self.listen(hear)

    def listen(self, hear: Hear | None) -> None:
        """Have this called once with what comes next, which may be here already; None: nobody listens any more."""
        return

    def offer(self, text: bytes) -> bool:
        """Send a line that needs no answer, unless the other end is behind with reading, or stopped: False then."""
        return False

    def when_lost(self, call: Callable[[], None]) -> None:
        """Have this called once nothing more can come, also while nobody asks; at once, if it is so already."""
        return

    async def hang_up(self, last: bytes, within: float) -> None:
        """Send some last words if that can be done in so many seconds; then let go of everything, on every path.

        Whoever waits on the line meanwhile hears that it is closed.
        """

    def evidence(self) -> str:
        """What is known of the other end when it failed: an exit code, its last words."""
