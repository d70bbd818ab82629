"""Keep what a host says for whoever has no time for it now, and never more than a host has reason to say."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from fairplay.core.errors import BadRequest
from fairplay.protocol.player_side import Misunderstood, read_message
from fairplay.protocol.wire import Changed, Goodbye, Hello, Welcome
from fairplay.transport.dial import Lost

MOST_WAITING = 32  # lines: whoever did not answer yet has little to be told, but for what gives way


class Waiting(NamedTuple):
    """Something that a host said."""

    said: bytes | Lost | BadRequest | None  # None: nothing more
    over: bool = True  # does nobody want to know any more what is being thought about?
    gives_way: bool = False  # is it of no use once there is a newer one?


class Backlog:
    """What a thread hears from a host, for another one: whoever thinks, or types, may be out by then.

    If too much waits, the oldest change gives way; and if there is none, nothing of it is worth anybody's time.
    """

    def __init__(self) -> None:
        self._waiting: deque[Waiting] = deque()
        self._came = threading.Condition()  # and the lock for them

    @property
    def over(self) -> bool:
        """Does something that waits end the turn?"""
        with self._came:
            return any(one.over for one in self._waiting)

    def next(self, within: float) -> bytes | None:
        """The next line, if it is here within so many seconds; None: there will be none.

        Raises TimeoutError; and Lost or BadRequest, whenever it is called, once the line has ended by it.
        """
        with self._came:
            if not self._came.wait_for(lambda: self._waiting, timeout=within):
                raise TimeoutError
            said = self._waiting[0].said
            if isinstance(said, Lost | BadRequest):
                raise said
            if said is not None:
                self._waiting.popleft()
            return said

    def listen(self, lines: Iterator[bytes], wake: Callable[[], None]) -> None:
        """Hear all of it, and call for whoever may not look: where nothing waited, and where a turn ends."""
        end = Waiting(None)
        try:
            for line in lines:
                self._put(heard(line), wake)
        except (Lost, BadRequest) as error:
            end = Waiting(error)
        finally:
            self._put(end, wake)

    def _put(self, new: Waiting, wake: Callable[[], None]) -> None:
        with self._came:
            first = not self._waiting
            if len(self._waiting) >= MOST_WAITING and isinstance(new.said, bytes):
                oldest = next((one for one in self._waiting if one.gives_way), None)
                if oldest is None:
                    self._waiting.clear()  # whoever listens is told at once
                    raise Lost("the host says too much")
                self._waiting.remove(oldest)
            self._waiting.append(new)
            self._came.notify()
        if first or new.over:
            wake()


def heard(line: bytes) -> Waiting:
    """A line, and what it is for whoever has no time. A house that was away begins again with hello."""
    try:
        message = read_message(line)
    except Misunderstood:
        return Waiting(line, over=False)
    return Waiting(line, isinstance(message, Goodbye | Hello), isinstance(message, Changed | Welcome))
