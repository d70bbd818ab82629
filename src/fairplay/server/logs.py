"""Log what happens in a server: short lines for people, or one JSON object a line for programs.

Logging never blocks: a thread writes the lines, and lines beyond the limit are counted and dropped.
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

MAX_QUEUED_LINES = 4096  # not yet written
MAX_LOG_VALUE_CHARS = 400
LOG_FLUSH_TIMEOUT_S = 0.5  # for the last lines, when logging ends
SECRET_KEYS = frozenset({"token", "reconnect_token", "key", "seed", "answer"})  # never logged
LOG = logging.getLogger("fairplay.server")


def log_event(event: str, /, **fields: Any) -> None:
    """Log an event: a fixed phrase, and fields with the details."""
    LOG.info(event, extra={"fields": fields})


def log_warning(event: str, /, **fields: Any) -> None:
    """Log an event that the operator should look at."""
    LOG.warning(event, extra={"fields": fields})


def log_fields(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of a record, shortened and without secrets; an exception is the field `error`."""
    fields: dict[str, Any] = dict(getattr(record, "fields", {}))
    if record.exc_info and record.exc_info[0] is not None:
        fields["error"] = f"{record.exc_info[0].__name__}: {record.exc_info[1]}"
    return {
        name: printable_value(value)
        for name, value in fields.items()
        if name not in SECRET_KEYS and value not in ("", None, [])
    }


def printable_value(value: Any) -> Any:
    """A value that is safe to print: a number, or text without control characters."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [printable_value(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(printable_value(one) for one in value)
    return printable(str(value), MAX_LOG_VALUE_CHARS)


class TextFormatter(logging.Formatter):
    """Formats the time, the event and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        at = f"{datetime.fromtimestamp(record.created):%H:%M:%S}"
        fields = "".join(f", {name} {format_value(value)}" for name, value in log_fields(record).items())
        alert = "! " if record.levelno >= logging.WARNING else ""
        return f"{at} {alert}{printable(record.getMessage(), MAX_LOG_VALUE_CHARS)}{fields}"


class JsonFormatter(logging.Formatter):
    """Formats the same as a JSON object in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        at = f"{datetime.fromtimestamp(record.created, UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
        head = {
            "at": at,
            "level": record.levelname.lower(),
            "event": printable(record.getMessage(), MAX_LOG_VALUE_CHARS),
        }
        return json.dumps(head | log_fields(record) | head, separators=(",", ":"))


def format_value(value: Any) -> str:
    """A value as text; the items of a list are separated by spaces."""
    return " ".join(format_value(one) for one in value) if isinstance(value, list) else str(value)


class DroppingQueueHandler(QueueHandler):
    """Passes lines to a thread, and never waits; the next line that fits says how many were dropped before it."""

    _dropped = 0

    def prepare(self, record: logging.LogRecord) -> str:
        if self._dropped:
            record.fields = {**getattr(record, "fields", {}), "dropped": self._dropped}
        return f"{self.format(record)}\n"

    def enqueue(self, record: Any) -> None:
        try:
            super().enqueue(record)
            self._dropped = 0
        except Full:
            self._dropped += 1


def write_lines(lines: Queue[Any], write: Callable[[str], object]) -> None:
    """Write lines until None comes. (A QueueListener would wait at its end until all lines are read.)"""
    while (line := lines.get()) is not None:
        with suppress(OSError):  # the reader is gone
            write(line)


@contextmanager
def log_to(write: Callable[[str], object], *, as_json: bool) -> Iterator[None]:
    """Log with this function, called in a thread, while the context lasts; libraries' warnings too."""
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
    """Write a line to stderr unbuffered: a thread stuck in a buffer would keep this process from ending."""
    os.write(sys.stderr.fileno(), line.encode(errors="replace"))
