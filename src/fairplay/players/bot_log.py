"""Write a bot's stderr to a log file for its author, with a header line per turn; cut the middle of long logs."""

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

MAX_FIRST_BYTES = MAX_LAST_BYTES = 128 * 1024  # kept of the beginning and of the end
MAX_BOT_LOGS_BYTES = 256 * 1024 * 1024  # of all log files of one bot, as far as this process knows
MAX_LOG_NAME_CHARS = 60  # of a label in the name of a directory
MAX_LOGGED_REASON_CHARS = 600
LOG_OPEN_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
SAFE_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
HASH_DIGITS = 16  # in hex, of the hash of a text that is no safe file name
HASHED_NAME = re.compile(rf".*-[0-9a-f]{{{HASH_DIGITS}}}")
HEADER_TEXTS = {"hello": "hello", "start": "start", "tell": "news", "end": "end", "closing": "closing"}


class LoggedMessage(msgspec.Struct):
    """The fields of a message to a bot that the log shows."""

    type: str = ""
    turn: int = 0
    fault: str = ""
    why: str = ""


decode_logged_message = msgspec.json.Decoder(LoggedMessage).decode


class BotLog:
    """The log file of one bot in one match. An error while writing it disturbs no match.

    The file is created once the bot gets more than a hello: a bot that was started in vain, as another worker plays
    the match, leaves no file. The beginning is written as it comes, the end when the log is closed. Unprintable
    characters are escaped, so that no log moves a terminal.
    """

    def __init__(self, path: Path, directory: "LogDirectory") -> None:
        self.is_kept = False  # was the file created?
        self._path = path
        self._directory = directory
        self._file: int | None = None  # None: not yet open, closed, or not writable
        self._before = bytearray()  # what came before the file was created
        self._has_begun = False
        self._first_bytes_left = MAX_FIRST_BYTES  # which are written at once
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._last = bytearray()
        self._left_out = 0  # bytes
        self._in_line = False  # is the last line incomplete?
        self._hello_time = time.monotonic()

    def write_stderr(self, data: bytes) -> None:
        """Log output of the bot."""
        if data:
            self._in_line = not data.endswith(b"\n")
            self._store(data)

    def log_message(self, text: bytes) -> None:
        """Log that a message is sent to the bot, and when: in seconds since the hello."""
        message = read_logged_message(text)
        if message.type == "hello":
            self._hello_time = time.monotonic()
            return self._write_header(f"hello, {format_time(time.time())}")
        self.begin()
        what = f"turn {message.turn}" if message.type == "take_turn" else HEADER_TEXTS.get(message.type, "")
        if message.type == "goodbye":
            what = f"ejected, {message.fault.replace('_', ' ')}: {printable(message.why, MAX_LOGGED_REASON_CHARS)}"
        return self._write_header(f"{what}, {time.monotonic() - self._hello_time:.3f} s") if what else None

    def begin(self) -> None:
        """Create the file and write what came so far; append if it is there, as the match was resumed."""
        if self._has_begun:
            return
        self._has_begun = True
        try:
            self._file = os.open(self._path, LOG_OPEN_FLAGS, 0o600)
        except OSError as error:
            print_warning(f"cannot write the log {self._path}: {error.strerror}")
            return
        self.is_kept = True
        self._first_bytes_left = max(0, self._first_bytes_left - os.fstat(self._file).st_size)
        self._write(bytes(self._before))

    def close(self) -> None:
        """Write the end of the log, and close the file."""
        if self._file is None:
            return
        if self._last:
            self._cut_last()
            if self._left_out:
                self._write(f"\n-- {self._left_out} bytes left out\n".encode())
            self._write(escape_unprintable(self._last.decode(errors="backslashreplace")).encode()[-MAX_LAST_BYTES:])
        os.close(self._file)
        self._file = None

    def _write_header(self, text: str) -> None:
        line, self._in_line = ("\n" if self._in_line else "") + f"-- {text}\n", False
        self._store(line.encode())

    def _store(self, data: bytes) -> None:
        if self._first_bytes_left:
            written = escape_unprintable(self._decode(data)).encode()
            self._write(written[: self._first_bytes_left])
            data = written[self._first_bytes_left :]
            self._first_bytes_left = max(0, self._first_bytes_left - len(written))
        self._last += data
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
            with suppress(OSError):  # a full disk is no fault of the match
                self._directory.bytes_left -= os.write(self._file, text)


class LogDirectory:
    """The directory with the log files of one bot, and how many more bytes they may have."""

    def __init__(self, path: str) -> None:
        self.path = path
        with os.scandir(path) as entries:
            self.bytes_left = MAX_BOT_LOGS_BYTES - sum(entry.stat(follow_symlinks=False).st_size for entry in entries)


@lru_cache(maxsize=1024)
def get_log_directory(path: str) -> LogDirectory:
    """The log directory at this path; its files are counted once, and a full one is reported once."""
    directory = LogDirectory(path)
    if directory.bytes_left <= 0:
        print_warning(f"no more logs are written to {path}: it has more than {MAX_BOT_LOGS_BYTES // 2**20} MB of logs")
    return directory


def read_logged_message(text: bytes) -> LoggedMessage:
    """The logged fields of a message; all are empty if it cannot be read, as a remote host may send anything."""
    try:
        return decode_logged_message(text)
    except wire.DECODE_ERRORS:
        return LoggedMessage()


def open_log(logs: str | None, bot: str, match_id: str) -> BotLog | None:
    """The log of a bot in a match, continued if it is there; None: no logs are wanted, or it cannot be written."""
    if logs is None:
        return None
    path = log_path(logs, bot, match_id)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = get_log_directory(str(path.parent))
    except OSError as error:
        print_warning(f"cannot write the log {path}: {error.strerror}")
        return None
    return BotLog(path, directory) if directory.bytes_left > 0 else None


def log_path(logs: str, bot: str, match_id: str) -> Path:
    """The path of the log of a bot in a match: every bot has its own directory, to give to its author.

    >>> print(log_path("logs", "ann", "m00001"), log_path("logs", "./ann", "../x"))
    logs/ann/m00001.log logs/ann-24f4297141ef9faa/x-d6b96a97d147daaa.log
    """
    return Path(logs, file_name(bot), f"{file_name(match_id)}.log")


def file_name(text: str) -> str:
    """A safe file name for any text; different texts get different names."""
    if SAFE_FILE_NAME.fullmatch(text) and not HASHED_NAME.fullmatch(text) and len(text) <= MAX_LOG_NAME_CHARS:
        return text
    words = "-".join(re.findall(r"[A-Za-z0-9_.]+", text)).lstrip(".-")[:MAX_LOG_NAME_CHARS]
    return f"{words}-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:HASH_DIGITS]}"


def prepare_log_directory(directory: str) -> str:
    """Create the directory for logs, and return its absolute path. Raises BadRequest if that fails."""
    try:
        Path(directory).mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise BadRequest(f"{directory} is not writable")
    except OSError as error:
        raise BadRequest(f"cannot create {directory}: {error.strerror}") from None
    return str(Path(directory).absolute())


def escape_unprintable(text: str) -> str:
    r"""The text with escapes for all unprintable characters, so that none of it moves a terminal.

    >>> print(escape_unprintable("red \x1b[31m"))
    red \x1b[31m
    """
    text = text.replace("\r\n", "\n")
    if text.replace("\n", "").isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode() for char in text
    )
