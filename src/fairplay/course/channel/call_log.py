"""Tell each call of a course's server, and what is answered, with its time."""

import time
from collections.abc import Callable
from datetime import datetime

from fairplay.render.text import printable

MAX_SHOWN_CHARACTERS = 1000  # of a call or an answer


class CallLog:
    """A log of one connection: `<` is what came, `>` what was sent, and how many seconds after the call before it."""

    def __init__(self, tell: Callable[[str], None], name: str = "") -> None:
        self._report = tell
        self._name = f"{name} " if name else ""
        self._called_at: float | None = None

    def log_received(self, received: bytes) -> None:
        """A call came."""
        self._called_at = time.monotonic()
        self._note(f"< {format_received(received)}")

    def log_sent(self, sent: bytes) -> None:
        """Something was sent."""
        took = "" if self._called_at is None else f" after {time.monotonic() - self._called_at:.3f} s"
        self._note(f"> {format_received(sent)}{took}")

    def end(self, why: str) -> None:
        """Nothing more comes."""
        self._note(why)

    def _note(self, text: str) -> None:
        self._report(f"{self._name}{datetime.now():%H:%M:%S.%f} {text}")


def format_received(text: bytes) -> str:
    """Bytes from a stranger on one line."""
    return printable(text.decode(errors="replace").strip(), MAX_SHOWN_CHARACTERS)
