"""Close what is open, all of it and to the end, whatever happens meanwhile."""

from collections.abc import Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from fairplay.core.events import Ejected
from fairplay.core.roles import AsyncChannel, Channel, CloseReason, PersistentChannel, Record

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def close_all(channels: Iterable[Channel], parting: CloseReason = None) -> None:
    """Close every channel, with these last words; what goes wrong is raised when all of them had their turn."""
    wrong: list[BaseException] = []
    for channel in channels:
        try:
            channel.close(parting)
        except BaseException as error:
            wrong.append(error)
    raise_all(wrong)


async def close_all_async(channels: Iterable[AsyncChannel], parting: CloseReason = None) -> None:
    """Close every channel at once, with these last words, and come back when all of them are closed."""
    await finish_all([channel.close(parting) for channel in channels if not try_close(channel, parting)])


def try_close(channel: AsyncChannel, parting: CloseReason) -> bool:
    """Say the last words, if that is all there is to do and nobody has to wait for it: a task takes far longer."""
    return is_persistent(channel) and channel.try_close(parting)


def is_persistent(channel: AsyncChannel) -> TypeGuard[PersistentChannel]:
    """Does it outlast a match?"""
    return hasattr(channel, "try_close")


async def finish_all(works: Sequence[Coroutine[Any, Any, object]]) -> None:
    """Do all of it side by side and to the end; only then be cancelled, or raise what went wrong."""
    import asyncio  # start-up: where all players are in this process, nobody needs it

    async def together() -> None:
        results = await asyncio.gather(*works, return_exceptions=True)
        raise_all([result for result in results if isinstance(result, BaseException)])

    if works:
        await finish_despite_cancellation(together())


class ClosingChannels:
    """The players of one match that were ejected and are not gone yet: the others play on meanwhile."""

    def __init__(self) -> None:
        self._closing: list[asyncio.Task[None]] = []

    def begin(self, channel: AsyncChannel, ejected: Ejected, record: Record) -> None:
        """Begin to close the channel of a player, and to note by how much its answer is late."""
        import asyncio  # start-up: where all players are in this process, nobody needs it

        async def let_go() -> None:
            overrun = await channel.close(ejected)
            if overrun is not None:
                record.write_late_answer(ejected.seat, overrun)

        self._closing.append(asyncio.ensure_future(let_go()))

    async def finish(self) -> None:
        """Come back when all of them are gone; raise what went wrong."""
        closing, self._closing = self._closing, []
        await finish_all([wait_for_task(task) for task in closing])


async def wait_for_task(task: "asyncio.Task[Any]") -> None:
    """Wait for a task."""
    await task


async def finish_despite_cancellation(work: Coroutine[Any, Any, T]) -> T:
    """Do it to the end, and be cancelled only then, however often somebody wants that."""
    import asyncio  # where all players are in this process, nobody needs it

    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled from (None if task.cancelled() else task.exception())
    return task.result()


def raise_all(wrong: Sequence[BaseException]) -> None:
    """Raise the one thing that went wrong, or all of them together."""
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise BaseExceptionGroup("several could not be closed", wrong)
