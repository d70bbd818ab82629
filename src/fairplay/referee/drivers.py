"""Drive a conversation: put its calls to the players and send back their answers."""

from collections.abc import Mapping, Sequence

from fairplay.core.events import Event
from fairplay.core.game import Seat
from fairplay.core.messages import Answer, Answered, Message
from fairplay.core.roles import AsyncChannel, Channel
from fairplay.referee.referee import Announce, AnyMatch, Call, Receipts, conversation, no_receipt

ACKNOWLEDGED = Answered(None)


def ignore(event: Event, match: AnyMatch, message: Message | None, answer: Answer | None) -> None:
    """Announce to nobody."""


def play(
    match: AnyMatch,
    table: Sequence[Channel] | Mapping[Seat, Channel],
    announce: Announce = ignore,
    receipt: Receipts = no_receipt,
) -> AnyMatch:
    """Play a match to its end; channels sit in the order of the seats, or by seat, and are closed on every path."""
    script = conversation(match, announce, receipt)
    there = dict(table if isinstance(table, Mapping) else enumerate(table))
    try:
        request = next(script)
        while True:
            if isinstance(request, Call):
                request = script.send(there[request.seat].ask(request.message))
            else:
                there.pop(request.seat).close(request.ejected)
                request = script.send(ACKNOWLEDGED)
    except StopIteration as end:
        final: AnyMatch = end.value
        return final
    finally:
        for channel in there.values():
            channel.close(None)


async def play_async(
    match: AnyMatch,
    table: Sequence[AsyncChannel] | Mapping[Seat, AsyncChannel],
    announce: Announce = ignore,
    receipt: Receipts = no_receipt,
) -> AnyMatch:
    """The same, awaited: for players in other processes and on other machines."""
    script = conversation(match, announce, receipt)
    there = dict(table if isinstance(table, Mapping) else enumerate(table))
    try:
        request = next(script)
        while True:
            if isinstance(request, Call):
                request = script.send(await there[request.seat].ask(request.message))
            else:
                await there.pop(request.seat).close(request.ejected)
                request = script.send(ACKNOWLEDGED)
    except StopIteration as end:
        final: AnyMatch = end.value
        return final
    finally:
        for channel in there.values():
            await channel.close(None)
