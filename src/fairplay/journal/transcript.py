"""List the messages to one seat of a recorded match, and its answers."""

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
    answer: Answer | None  # None: the record ends at this turn
    turn: int  # the number of the seat's own turn, from 1; between turns, of the last one
    facts: int  # facts of the match before the answer


def transcript(recorded: RecordedMatch, seat: Seat) -> Iterator[TranscriptEntry]:
    """All messages to a seat, in order; an unfinished match may end with a turn that has no answer.

    Each greeting but the first stands where the match was interrupted and resumed. Messages between the last fact and
    the interruption are not in the record, and it is unknown how many were sent; they were sent again.
    """
    turn = facts = 0
    over: int | None = None  # the number of facts when the players were first told the result
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
            facts += takes_turn or isinstance(answer, Failed)  # a turn always makes a fact, all else only if it fails
    last = recorded.match_after(None)
    if last.turn == seat:
        with suppress(HostFault):  # the host had nothing to show, so no player was asked
            yield TranscriptEntry(TakeTurn(last.view(seat)), None, turn + 1, facts)


def receipt_after(recorded: RecordedMatch, facts: int) -> Receipt:
    """A receipt for the record up to so many facts."""
    lines = len(recorded.lines_before(facts))
    return Receipt(lines, recorded.heads[lines])
