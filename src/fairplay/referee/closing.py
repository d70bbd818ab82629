"""Close channels completely, even if one fails or the task is cancelled meanwhile."""

from collections.abc import Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from fairplay.core.events import Ejected
from fairplay.core.roles import AsyncChannel, Channel, CloseReason, PersistentChannel, Record

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def close_all(channels: Iterable[Channel], reason: CloseReason = None) -> None:
    """Close every channel; raise exceptions after all of them are closed."""
    errors: list[BaseException] = []
    for channel in channels:
        try:
            channel.close(reason)
        except BaseException as error:
            errors.append(error)
    raise_all(errors)


async def close_all_async(channels: Iterable[AsyncChannel], reason: CloseReason = None) -> None:
    """Close all channels concurrently, and return when all of them are closed."""
    await finish_all([channel.close(reason) for channel in channels if not try_close(channel, reason)])


def try_close(channel: AsyncChannel, reason: CloseReason) -> bool:
    """Close a persistent channel without awaiting, which is much faster than a task. False: use `close`."""
    return is_persistent(channel) and channel.try_close(reason)


def is_persistent(channel: AsyncChannel) -> TypeGuard[PersistentChannel]:
    """Does the connection of this channel outlast the match?"""
    return hasattr(channel, "try_close")


async def finish_all(coroutines: Sequence[Coroutine[Any, Any, object]]) -> None:
    """Run all coroutines concurrently to their ends; only then raise a cancellation or what went wrong."""
    import asyncio  # for a quick start: local matches do not need it

    async def together() -> None:
        results = await asyncio.gather(*coroutines, return_exceptions=True)
        raise_all([result for result in results if isinstance(result, BaseException)])

    if coroutines:
        await finish_despite_cancellation(together())


class ClosingChannels:
    """The channels of ejected players that are being closed while the others play on."""

    def __init__(self) -> None:
        self._closing: list[asyncio.Task[None]] = []

    def begin(self, channel: AsyncChannel, ejected: Ejected, record: Record) -> None:
        """Start closing the channel of a player, and record by how much its answer was late."""
        import asyncio  # for a quick start: local matches do not need it

        async def close_and_record() -> None:
            overrun = await channel.close(ejected)
            if overrun is not None:
                record.write_late_answer(ejected.seat, overrun)

        self._closing.append(asyncio.ensure_future(close_and_record()))

    async def finish(self) -> None:
        """Wait until all of them are closed, then raise what went wrong."""
        closing, self._closing = self._closing, []
        await finish_all([wait_for_task(task) for task in closing])


async def wait_for_task(task: "asyncio.Task[Any]") -> None:
    """Wait for a task."""
    await task


async def finish_despite_cancellation(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, and raise a cancellation only then."""
    import asyncio  # for a quick start: local matches do not need it

    task, cancelled = asyncio.ensure_future(coroutine), None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled from (None if task.cancelled() else task.exception())
    return task.result()


def raise_all(errors: Sequence[BaseException]) -> None:
    """Raise one exception as it is, and several as a group."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise BaseExceptionGroup("several channels could not be closed", errors)
