"""Drive a conversation: put its requests to the players and the record, and send back the answers."""

from collections.abc import Mapping, Sequence

from fairplay.core.events import Receipt
from fairplay.core.game import Seat
from fairplay.core.messages import Answered
from fairplay.core.roles import NULL_RECORD, AsyncChannel, Channel, Record
from fairplay.referee.callback_driver import CallbackDriver
from fairplay.referee.changes import add_change_listeners
from fairplay.referee.closing import ClosingChannels, close_all, close_all_async
from fairplay.referee.conversation import (
    AnyMatch,
    AwaitClosedChannels,
    Call,
    CloseChannel,
    MakeDurable,
    OnEvent,
    conversation,
    ignore_event,
)

ACKNOWLEDGED = Answered(None)


def play(
    match: AnyMatch,
    table: Sequence[Channel] | Mapping[Seat, Channel],
    record: Record = NULL_RECORD,
    on_event: OnEvent = ignore_event,
    *,
    resumed: bool = False,
) -> AnyMatch:
    """Play a match to its end; channels sit in the order of the seats, or by seat, and are closed on every path."""
    there = dict(table if isinstance(table, Mapping) else enumerate(table))
    script = conversation(match, record, add_change_listeners(there, on_event), resumed=resumed)
    receipt: Receipt | None = None  # for the result, once it is on record
    try:
        request = next(script)
        while True:
            if isinstance(request, Call):
                request = script.send(there[request.seat].ask(request.message))
                continue
            if isinstance(request, CloseChannel):
                there.pop(request.seat).close(request.ejected)
            elif isinstance(request, MakeDurable):
                record.make_durable()
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
    record: Record = NULL_RECORD,
    on_event: OnEvent = ignore_event,
    *,
    resumed: bool = False,
) -> AnyMatch:
    """The same, awaited: for players in other processes and on other machines."""
    there = dict(table if isinstance(table, Mapping) else enumerate(table))
    script = conversation(match, record, add_change_listeners(there, on_event), resumed=resumed)
    dialogue = CallbackDriver(script, there)
    dismissals = ClosingChannels()
    receipt: Receipt | None = None  # for the result, once it is on record
    try:
        request = next(script)
        while True:
            if isinstance(request, Call):
                if dialogue.start(request):
                    request = await dialogue.wait_for_request()
                else:
                    request = script.send(await there[request.seat].ask(request.message))
                continue
            match request:
                case CloseChannel(seat, ejected):
                    dismissals.begin(there.pop(seat), ejected, record)
                case MakeDurable():
                    await record.make_durable_async()
                case AwaitClosedChannels():
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
