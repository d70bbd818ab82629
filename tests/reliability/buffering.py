"""Run the command with a planted bug: its journal keeps a few lines back before it writes them."""

from unittest.mock import patch

from fairplay.cli.main import main
from fairplay.journal.scroll import Scroll

KEPT_BACK = 4  # lines


class Buffering:
    """What is put in the place of `Scroll.append`."""

    def __init__(self) -> None:
        self._append = Scroll.append
        self._waiting: list[bytes] = []

    def __call__(self, scroll: Scroll, text: bytes) -> None:
        """Wait until there are enough of them, or the match is over."""
        self._waiting.append(text)
        if len(self._waiting) > KEPT_BACK or text.startswith(b'{"type":"result"'):
            self._append(scroll, b"".join(self._waiting))
            self._waiting.clear()


if __name__ == "__main__":
    append = Buffering()
    with patch.object(Scroll, "append", lambda scroll, text: append(scroll, text)):
        main()
