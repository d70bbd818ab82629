"""Drive a conversation: pass its requests to the players and the record, and send back the answers."""

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
    """Play a match to its end. The channels are in the order of the seats, or by seat, and are always closed."""
    channels = dict(table if isinstance(table, Mapping) else enumerate(table))
    requests = conversation(match, record, add_change_listeners(channels, on_event), resumed=resumed)
    receipt: Receipt | None = None  # of the result, once it is recorded
    try:
        request = next(requests)
        while True:
            if isinstance(request, Call):
                request = requests.send(channels[request.seat].ask(request.message))
                continue
            if isinstance(request, CloseChannel):
                channels.pop(request.seat).close(request.ejected)
            elif isinstance(request, MakeDurable):
                record.make_durable()
            request = requests.send(ACKNOWLEDGED)
    except StopIteration as end:
        receipt = record.receipt()
        final: AnyMatch = end.value
        return final
    finally:
        close_all(channels.values(), receipt)


async def play_async(
    match: AnyMatch,
    table: Sequence[AsyncChannel] | Mapping[Seat, AsyncChannel],
    record: Record = NULL_RECORD,
    on_event: OnEvent = ignore_event,
    *,
    resumed: bool = False,
) -> AnyMatch:
    """Play a match to its end with players in other processes or on other machines."""
    channels = dict(table if isinstance(table, Mapping) else enumerate(table))
    requests = conversation(match, record, add_change_listeners(channels, on_event), resumed=resumed)
    callback_driver = CallbackDriver(requests, channels)
    closing = ClosingChannels()
    receipt: Receipt | None = None  # of the result, once it is recorded
    try:
        request = next(requests)
        while True:
            if isinstance(request, Call):
                if callback_driver.start(request):
                    request = await callback_driver.wait_for_request()
                else:
                    request = requests.send(await channels[request.seat].ask(request.message))
                continue
            match request:
                case CloseChannel(seat, ejected):
                    closing.begin(channels.pop(seat), ejected, record)
                case MakeDurable():
                    await record.make_durable_async()
                case AwaitClosedChannels():
                    await closing.finish()
            request = requests.send(ACKNOWLEDGED)
    except StopIteration as end:
        receipt = record.receipt()
        final: AnyMatch = end.value
        return final
    finally:
        try:
            await closing.finish()
        finally:
            await close_all_async(channels.values(), receipt)
