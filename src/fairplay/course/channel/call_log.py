"""Log the calls of a course's server, and the answers, with their times."""

import time
from collections.abc import Callable
from datetime import datetime

from fairplay.render.text import printable

MAX_SHOWN_CHARACTERS = 1000


class CallLog:
    """A log of one connection: `<` was received, `>` was sent, with the seconds since the call."""

    def __init__(self, report: Callable[[str], None], name: str = "") -> None:
        self._report = report
        self._name = f"{name} " if name else ""
        self._called_at: float | None = None

    def log_received(self, received: bytes) -> None:
        """Log a call."""
        self._called_at = time.monotonic()
        self._note(f"< {format_received(received)}")

    def log_sent(self, sent: bytes) -> None:
        """Log an answer."""
        took = "" if self._called_at is None else f" after {time.monotonic() - self._called_at:.3f} s"
        self._note(f"> {format_received(sent)}{took}")

    def end(self, why: str) -> None:
        """Log the end of the connection."""
        self._note(why)

    def _note(self, text: str) -> None:
        self._report(f"{self._name}{datetime.now():%H:%M:%S.%f} {text}")


def format_received(text: bytes) -> str:
    """Received bytes as one printable line."""
    return printable(text.decode(errors="replace").strip(), MAX_SHOWN_CHARACTERS)
