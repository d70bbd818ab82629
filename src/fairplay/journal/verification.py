"""Referee a recorded match again, and find the first line that breaks the rules."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from fairplay.core.errors import BadJournal, BadRequest
from fairplay.core.events import Receipt
from fairplay.core.match import Match
from fairplay.journal.reenactment import Unfinished, reenact
from fairplay.journal.replay import RecordedMatch, read_journal


def verify(recorded: RecordedMatch, receipt: Receipt | None = None) -> Match[Any, Any, Any]:
    """Check a finished record, and the receipt if there is one; return the final match.

    Raises BadJournal with the first line that differs.
    """
    again = reenact(recorded)
    try:
        while True:
            next(again)
    except StopIteration as end:
        if receipt is not None:
            check_receipt(recorded, receipt)
        final: Match[Any, Any, Any] = end.value
        return final
    except Unfinished:
        if receipt is not None:
            check_receipt(recorded, receipt)
        raise


def read_legal(path: Path | str) -> RecordedMatch:
    """Read the journal in this file, finished or not, and check that it is legal."""
    return require_legal(read_journal(path))


def require_legal(recorded: RecordedMatch) -> RecordedMatch:
    """Check that a journal, finished or not, is legal, and return it."""
    with suppress(Unfinished):
        verify(recorded)
    return recorded


def check_receipt(recorded: RecordedMatch, receipt: Receipt) -> None:
    """Raise BadJournal if a line that the receipt covers was changed since it was issued."""
    heads = recorded.heads
    if receipt.seq >= len(heads):
        raise BadJournal(
            0, f"lines are missing: the receipt is for line {receipt.seq + 1}, and the file has {len(heads)}"
        )
    if heads[receipt.seq] != receipt.head:
        raise BadJournal(receipt.seq + 1, "the receipt does not fit: this line, or one before, was changed since")


def describe_coverage(recorded: RecordedMatch, receipt: Receipt) -> str:
    """Which lines a valid receipt covers."""
    if recorded.closing is not None and receipt.seq == len(recorded.heads) - 1:
        return f"it covers all {len(recorded.heads)} lines, the result too"
    return f"it covers the file up to line {receipt.seq + 1}, not the result"


def parse_receipt(text: str) -> Receipt:
    """Parse a receipt: SEQ:HEAD.

    >>> parse_receipt("12:" + "0f" * 32).seq
    12
    """
    seq, _, head = text.partition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 10 and len(head) == 64):
        raise BadRequest(f"{text!r} is not a receipt: expected a number, a colon and 64 hex digits")
    return Receipt(int(seq), head.lower())
