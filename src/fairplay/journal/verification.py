"""Referee a recorded match again, and say where the record is not what the rules make of it."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from fairplay.core.errors import BadJournal, BadRequest
from fairplay.core.events import Receipt
from fairplay.core.match import Match
from fairplay.journal.reenactment import Unfinished, reenact
from fairplay.journal.replay import RecordedMatch, read_journal


def verify(recorded: RecordedMatch, receipt: Receipt | None = None) -> Match[Any, Any, Any]:
    """The final match of a finished and legal record, which the receipt fits if there is one.

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
    """The journal in this file, finished or not, once it was refereed again."""
    return require_legal(read_journal(path))


def require_legal(recorded: RecordedMatch) -> RecordedMatch:
    """The same journal, finished or not, once it was refereed again."""
    with suppress(Unfinished):
        verify(recorded)
    return recorded


def check_receipt(recorded: RecordedMatch, receipt: Receipt) -> None:
    """Raise BadJournal unless the record still holds what it held when the receipt was handed out."""
    heads = recorded.heads
    if receipt.seq >= len(heads):
        raise BadJournal(
            0, f"lines are missing: the receipt is for line {receipt.seq + 1}, and the file has {len(heads)}"
        )
    if heads[receipt.seq] != receipt.head:
        raise BadJournal(receipt.seq + 1, "the receipt does not fit: this line, or one before, was changed since")


def describe_coverage(recorded: RecordedMatch, receipt: Receipt) -> str:
    """What a receipt that fits says of a record: up to where it is what it was when the receipt was handed out."""
    if recorded.closing is not None and receipt.seq == len(recorded.heads) - 1:
        return f"it covers all {len(recorded.heads)} lines, the result too"
    return f"it covers the file up to line {receipt.seq + 1}, not the result"


def parse_receipt(text: str) -> Receipt:
    """The receipt that a person holds: SEQ:HEAD.

    >>> parse_receipt("12:" + "0f" * 32).seq
    12
    """
    seq, _, head = text.partition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 10 and len(head) == 64):
        raise BadRequest(f"{text!r} is no receipt; it is a number, a colon and 64 hex digits")
    return Receipt(int(seq), head.lower())
