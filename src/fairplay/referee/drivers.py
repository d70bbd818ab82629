"""Drive a conversation: put its requests to the players and the record, and send back the answers."""

from collections.abc import Mapping, Sequence

from fairplay.core.events import Receipt
from fairplay.core.game import Seat
from fairplay.core.messages import Answered
from fairplay.core.roles import UNRECORDED, AsyncChannel, Channel, Record
from fairplay.referee.changes import telling_changes
from fairplay.referee.closing import Dismissals, close_all, close_all_async
from fairplay.referee.dialogue import Dialogue
from fairplay.referee.referee import (
    AnyMatch,
    AwaitDismissed,
    Call,
    Dismiss,
    Inform,
    Settle,
    conversation,
    nobody,
)

ACKNOWLEDGED = Answered(None)


def play(
    match: AnyMatch,
    table: Sequence[Channel] | Mapping[Seat, Channel],
    record: Record = UNRECORDED,
    inform: Inform = nobody,
    *,
    resumed: bool = False,
) -> AnyMatch:
    """Play a match to its end; channels sit in the order of the seats, or by seat, and are closed on every path."""
    there = dict(table if isinstance(table, Mapping) else enumerate(table))
    script = conversation(match, record, telling_changes(there, inform), resumed=resumed)
    receipt: Receipt | None = None  # for the result, once it is on record
    try:
        request = next(script)
        while True:
            if isinstance(request, Call):
                request = script.send(there[request.seat].ask(request.message))
                continue
            if isinstance(request, Dismiss):
                there.pop(request.seat).close(request.ejected)
            elif isinstance(request, Settle):
                record.settle()
            request = script.send(ACKNOWLEDGED)
    except StopIteration as end:
        receipt = record.receipt()
        final: AnyMatch = end.value
        return final
    finally:
        close_all(there.values(), receipt)


async def play_async(
    match: AnyMatch,
    table: Sequence[AsyncChannel] | Mapping[Seat, AsyncChannel],
    record: Record = UNRECORDED,
    inform: Inform = nobody,
    *,
    resumed: bool = False,
) -> AnyMatch:
    """The same, awaited: for players in other processes and on other machines."""
    there = dict(table if isinstance(table, Mapping) else enumerate(table))
    script = conversation(match, record, telling_changes(there, inform), resumed=resumed)
    dialogue = Dialogue(script, there)
    dismissals = Dismissals()
    receipt: Receipt | None = None  # for the result, once it is on record
    try:
        request = next(script)
        while True:
            if isinstance(request, Call):
                if dialogue.goes_on_with(request):
                    request = await dialogue.stopped()
                else:
                    request = script.send(await there[request.seat].ask(request.message))
                continue
            match request:
                case Dismiss(seat, ejected):
                    dismissals.begin(there.pop(seat), ejected, record)
                case Settle():
                    await record.settled()
                case AwaitDismissed():
                    await dismissals.finish()
            request = script.send(ACKNOWLEDGED)
    except StopIteration as end:
        receipt = record.receipt()
        final: AnyMatch = end.value
        return final
    finally:
        try:
            await dismissals.finish()
        finally:
            await close_all_async(there.values(), receipt)
