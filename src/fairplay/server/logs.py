"""Tell whoever runs a server what happens there: short lines for people, or one JSON object a line for programs.

Nobody waits for whoever reads it: lines are written by a thread, and what is too much is counted and dropped.
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from logging.handlers import QueueHandler
from queue import Full, Queue
from threading import Thread
from typing import Any

from fairplay.render.text import printable

MAX_QUEUED_LINES = 4096  # lines that nobody has read yet
MAX_LOG_VALUE_CHARS = 400  # characters of a value
LOG_FLUSH_TIMEOUT_S = 0.5  # seconds for what is not written yet, at the end
SECRET_KEYS = frozenset({"token", "reconnect_token", "key", "seed", "answer"})  # what is never written, whoever says it
LOG = logging.getLogger("fairplay.server")


def log_event(event: str, /, **about: Any) -> None:
    """Something happened, in a few words that never change; what it is about has names."""
    LOG.info(event, extra={"about": about})


def log_warning(event: str, /, **about: Any) -> None:
    """Something happened that whoever runs the server should look at."""
    LOG.warning(event, extra={"about": about})


def log_fields(record: logging.LogRecord) -> dict[str, Any]:
    """What a line is about, cut to a length and without secrets; and what went wrong, if anything did."""
    about: dict[str, Any] = dict(getattr(record, "about", {}))
    if record.exc_info and record.exc_info[0] is not None:
        about["error"] = f"{record.exc_info[0].__name__}: {record.exc_info[1]}"
    return {
        name: printable_value(value)
        for name, value in about.items()
        if name not in SECRET_KEYS and value not in ("", None, [])
    }


def printable_value(value: Any) -> Any:
    """A value as it may be written: a number, or a text that moves no terminal."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [printable_value(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(printable_value(one) for one in value)
    return printable(str(value), MAX_LOG_VALUE_CHARS)


class TextFormatter(logging.Formatter):
    """When, what, and what about."""

    def format(self, record: logging.LogRecord) -> str:
        """As one line."""
        at = f"{datetime.fromtimestamp(record.created):%H:%M:%S}"
        about = "".join(f", {name} {format_value(value)}" for name, value in log_fields(record).items())
        alarm = "! " if record.levelno >= logging.WARNING else ""
        return f"{at} {alarm}{printable(record.getMessage(), MAX_LOG_VALUE_CHARS)}{about}"


class JsonFormatter(logging.Formatter):
    """The same as a JSON object; it is ASCII, with escapes for everything else."""

    def format(self, record: logging.LogRecord) -> str:
        """As one line."""
        at = f"{datetime.fromtimestamp(record.created, UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
        head = {
            "at": at,
            "level": record.levelname.lower(),
            "event": printable(record.getMessage(), MAX_LOG_VALUE_CHARS),
        }
        return json.dumps(head | log_fields(record) | head, separators=(",", ":"))


def format_value(value: Any) -> str:
    """A value behind its name."""
    return " ".join(format_value(one) for one in value) if isinstance(value, list) else str(value)


class DroppingQueueHandler(QueueHandler):
    """Hands lines to a thread, and never waits; how many were dropped is said before the next one that fits."""

    _dropped = 0

    def prepare(self, record: logging.LogRecord) -> str:
        if self._dropped:
            record.about = {**getattr(record, "about", {}), "dropped": self._dropped}  # lines, before this one
        return f"{self.format(record)}\n"

    def enqueue(self, record: Any) -> None:
        try:
            super().enqueue(record)
            self._dropped = 0
        except Full:
            self._dropped += 1


def write_lines(lines: Queue[Any], write: Callable[[str], object]) -> None:
    """Write lines until None comes. (A QueueListener would wait at its end for whoever reads them, however long.)"""
    while (line := lines.get()) is not None:
        with suppress(OSError):  # nobody reads it any more
            write(line)


@contextmanager
def log_to(write: Callable[[str], object], *, as_json: bool) -> Iterator[None]:
    """While this lasts, lines are written by this, in a thread; warnings of the libraries that we stand on, too."""
    lines = Queue[Any](MAX_QUEUED_LINES)
    writer = Thread(target=write_lines, args=(lines, write), name="fairplay-log", daemon=True)
    handler = DroppingQueueHandler(lines)
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    root, level = logging.getLogger(), LOG.level
    root.addHandler(handler)
    LOG.setLevel(logging.INFO)
    writer.start()
    try:
        yield
    finally:
        root.removeHandler(handler)
        LOG.setLevel(level)
        with suppress(Full):
            lines.put(None, timeout=LOG_FLUSH_TIMEOUT_S)
            writer.join(LOG_FLUSH_TIMEOUT_S)


def write_stderr(line: str) -> None:
    """Write a line there, past all buffers: a thread that is stuck in one would keep this process from ending."""
    os.write(sys.stderr.fileno(), line.encode(errors="replace"))
