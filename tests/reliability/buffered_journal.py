"""Run the command with a planted bug: its journal keeps a few lines back before it writes them."""

from unittest.mock import patch

from fairplay.cli.main import main
from fairplay.journal.append_file import AppendFile

BUFFERED_LINES = 4  # lines


class BufferedAppend:
    """What is put in the place of `AppendFile.append`."""

    def __init__(self) -> None:
        self._append = AppendFile.append
        self._waiting: list[bytes] = []

    def __call__(self, file: AppendFile, text: bytes) -> bool:
        """Wait until there are enough of them, or the match is over."""
        self._waiting.append(text)
        if len(self._waiting) <= BUFFERED_LINES and not text.startswith(b'{"type":"result"'):
            return False
        kept_back = b"".join(self._waiting)
        self._waiting.clear()
        return self._append(file, kept_back)


if __name__ == "__main__":
    append = BufferedAppend()
    with patch.object(AppendFile, "append", lambda file, text: append(file, text)):
        main()
