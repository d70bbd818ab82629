"""Keep what a bot says on stderr in a file for its author, with marks of its turns; if it is much, not all of it."""

import codecs
import os
import re
import time
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.protocol import wire
from fairplay.referee.referee import print_warning
from fairplay.render.formatting import format_time
from fairplay.render.text import printable

MAX_FIRST_BYTES = MAX_LAST_BYTES = 128 * 1024  # bytes that are kept of the beginning and of the end
MAX_BOT_LOGS_BYTES = 256 * 1024 * 1024  # bytes of all files of one bot, as far as this process knows
MAX_LOG_NAME_CHARS = 60  # signs of a label in the name of a directory
MAX_LOGGED_REASON_CHARS = 600  # signs of a reason
LOG_OPEN_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
SAFE_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
HASH_DIGITS = 16  # in hex, of the hash of what is not plain
HASHED_NAME = re.compile(rf".*-[0-9a-f]{{{HASH_DIGITS}}}")
MARK_TEXTS = {"hello": "hello", "start": "start", "tell": "news", "end": "end", "closing": "closing"}


class LoggedMessage(msgspec.Struct):
    """As much of a message to a bot as a mark says."""

    type: str = ""
    turn: int = 0
    fault: str = ""
    why: str = ""


decode_logged_message = msgspec.json.Decoder(LoggedMessage).decode


class BotLog:
    """The file of one bot in one match. Whatever goes wrong with it disturbs no match.

    It begins once the bot is told more than hello: who was started for nothing, as another worker plays the match,
    leaves no trace. What came first is written as it comes, and what came last when it is closed. No sign of it moves
    a terminal: what cannot be printed is spelled out.
    """

    def __init__(self, path: Path, directory: "LogDirectory") -> None:
        self.is_kept = False  # has it begun, and could it?
        self._path = path
        self._directory = directory
        self._file: int | None = None  # None: it has not begun, is closed, or cannot be written
        self._before = bytearray()  # what came before it began
        self._has_begun = False
        self._first_bytes_left = MAX_FIRST_BYTES  # bytes that are written at once
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._last = bytearray()
        self._left_out = 0  # bytes
        self._in_line = False  # has a line begun, and not ended?
        self._since = time.monotonic()

    def write_stderr(self, said: bytes) -> None:
        """Keep what the bot said."""
        if said:
            self._in_line = not said.endswith(b"\n")
            self._store(said)

    def mark_message(self, text: bytes) -> None:
        """Mark what the bot is told, and when: seconds since it was first told something."""
        told = read_logged_message(text)
        if told.type == "hello":
            self._since = time.monotonic()
            return self._mark(f"hello, {format_time(time.time())}")
        self.begin()
        what = f"turn {told.turn}" if told.type == "take_turn" else MARK_TEXTS.get(told.type, "")
        if told.type == "goodbye":
            what = f"ejected, {told.fault.replace('_', ' ')}: {printable(told.why, MAX_LOGGED_REASON_CHARS)}"
        return self._mark(f"{what}, {time.monotonic() - self._since:.3f} s") if what else None

    def begin(self) -> None:
        """Write down what was said so far, and from now on all of it; behind what is there, if the match goes on."""
        if self._has_begun:
            return
        self._has_begun = True
        try:
            self._file = os.open(self._path, LOG_OPEN_FLAGS, 0o600)
        except OSError as error:
            print_warning(f"no log is kept in {self._path}: {error.strerror}")
            return
        self.is_kept = True
        self._first_bytes_left = max(0, self._first_bytes_left - os.fstat(self._file).st_size)
        self._write(bytes(self._before))

    def close(self) -> None:
        """Write the end of it, and let go of the file."""
        if self._file is None:
            return
        if self._last:
            self._cut_last()
            if self._left_out:
                self._write(f"\n-- {self._left_out} bytes are left out here\n".encode())
            self._write(escape_unprintable(self._last.decode(errors="backslashreplace")).encode()[-MAX_LAST_BYTES:])
        os.close(self._file)
        self._file = None

    def _mark(self, text: str) -> None:
        line, self._in_line = ("\n" if self._in_line else "") + f"-- {text}\n", False
        self._store(line.encode())

    def _store(self, said: bytes) -> None:
        if self._first_bytes_left:
            written = escape_unprintable(self._decode(said)).encode()
            self._write(written[: self._first_bytes_left])
            said = written[self._first_bytes_left :]
            self._first_bytes_left = max(0, self._first_bytes_left - len(written))
        self._last += said
        if len(self._last) > 2 * MAX_LAST_BYTES:
            self._cut_last()

    def _cut_last(self) -> None:
        more = max(0, len(self._last) - MAX_LAST_BYTES)
        self._left_out += more
        del self._last[:more]

    def _write(self, text: bytes) -> None:
        if not self._has_begun:
            self._before += text
        elif self._file is not None:
            with suppress(OSError):  # a full disk is nothing that the match has to know of
                self._directory.bytes_left -= os.write(self._file, text)


class LogDirectory:
    """Where the files of one bot are, and how many bytes there may be more."""

    def __init__(self, path: str) -> None:
        self.path = path
        with os.scandir(path) as entries:
            self.bytes_left = MAX_BOT_LOGS_BYTES - sum(entry.stat(follow_symlinks=False).st_size for entry in entries)


@lru_cache(maxsize=1024)
def get_log_directory(path: str) -> LogDirectory:
    """A directory, whose files are counted once; that it is full is said once, too."""
    directory = LogDirectory(path)
    if directory.bytes_left <= 0:
        print_warning(f"no more logs are kept in {path}: there are {MAX_BOT_LOGS_BYTES // 2**20} MB of them")
    return directory


def read_logged_message(text: bytes) -> LoggedMessage:
    """What a bot is told; of what cannot be read, as a host elsewhere may say anything, nothing is marked."""
    try:
        return decode_logged_message(text)
    except wire.DECODE_ERRORS:
        return LoggedMessage()


def open_log(logs: str | None, bot: str, match_id: str) -> BotLog | None:
    """The log of a bot in a match, which goes on if it is there; None: none is kept, or none can be."""
    if logs is None:
        return None
    path = log_path(logs, bot, match_id)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = get_log_directory(str(path.parent))
    except OSError as error:
        print_warning(f"no log is kept in {path}: {error.strerror}")
        return None
    return BotLog(path, directory) if directory.bytes_left > 0 else None


def log_path(logs: str, bot: str, match_id: str) -> Path:
    """Where the log of a bot in a match is: every bot has a directory of its own, to be handed to its author alone.

    >>> print(log_path("logs", "ann", "m00001"), log_path("logs", "./ann", "../x"))
    logs/ann/m00001.log logs/ann-24f4297141ef9faa/x-d6b96a97d147daaa.log
    """
    return Path(logs, file_name(bot), f"{file_name(match_id)}.log")


def file_name(text: str) -> str:
    """A name for a file, whatever the text is; two texts have never the same, also if one is the name of another."""
    if SAFE_FILE_NAME.fullmatch(text) and not HASHED_NAME.fullmatch(text) and len(text) <= MAX_LOG_NAME_CHARS:
        return text
    words = "-".join(re.findall(r"[A-Za-z0-9_.]+", text)).lstrip(".-")[:MAX_LOG_NAME_CHARS]
    return f"{words}-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:HASH_DIGITS]}"


def prepare_log_directory(directory: str) -> str:
    """The directory for logs, which is there from now on. Raises BadRequest if it cannot be."""
    try:
        Path(directory).mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise BadRequest(f"nothing can be written in {directory}")
    except OSError as error:
        raise BadRequest(f"{directory} cannot be made: {error.strerror}") from None
    return str(Path(directory).absolute())


def escape_unprintable(text: str) -> str:
    r"""A text of which no sign moves a terminal: what cannot be printed is spelled out.

    >>> print(escape_unprintable("red \x1b[31m"))
    red \x1b[31m
    """
    text = text.replace("\r\n", "\n")
    if text.replace("\n", "").isprintable():
        return text
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode() for sign in text
    )
