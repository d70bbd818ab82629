"""Tell what one seat heard in a recorded match, and what it answered."""

from collections.abc import Iterator
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from fairplay.core.errors import HostFault
from fairplay.core.events import Receipt
from fairplay.core.game import Seat
from fairplay.core.messages import Answer, End, Failed, Message, Start, TakeTurn
from fairplay.journal.reenactment import Unfinished, reenact
from fairplay.journal.replay import RecordedMatch


class TranscriptEntry(msgspec.Struct, frozen=True):
    """A message to a seat, and the answer to it in the record."""

    message: Message
    answer: Answer | None  # None: the record ends on this turn
    turn: int  # of the seat's own turns, counted from 1: this one, or else the last one before
    facts: int  # of the match, before the answer


def transcript(recorded: RecordedMatch, seat: Seat) -> Iterator[TranscriptEntry]:
    """All that a seat heard, in order; an unfinished match may end with a turn that nobody knows an answer to.

    Each greeting but the first stands where the match was interrupted and resumed. What was said between the last fact
    and the interruption is not in the record, and nobody can tell how far it came: it was said again.
    """
    turn = facts = 0
    over: int | None = None  # the facts when the end began
    with suppress(Unfinished):
        for call, answer in reenact(recorded):
            message = call.message
            match message:
                case Start():
                    over = None
                case End(result):
                    over = facts if over is None else over
                    message = End(replace(result, receipt=receipt_after(recorded, over)))
            takes_turn = isinstance(message, TakeTurn)
            if call.seat == seat:
                turn += takes_turn
                yield TranscriptEntry(message, answer, turn, facts)
            facts += takes_turn or isinstance(answer, Failed)  # a turn always leads to a fact, all else if it fails
    last = recorded.match_after(None)
    if last.turn == seat:
        with suppress(HostFault):  # the host had nothing to show, so nobody was asked
            yield TranscriptEntry(TakeTurn(last.view(seat)), None, turn + 1, facts)


def receipt_after(recorded: RecordedMatch, facts: int) -> Receipt:
    """Where the record stood after so many facts."""
    lines = len(recorded.lines_before(facts))
    return Receipt(lines, recorded.heads[lines])
