"""Play the matches of a tournament's manager, which waits in a thread, in the event loop of a server."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.tournament.running.worker import Job, PlayedMatch, decode_job, encode

Result = TypeVar("Result")
PlayMatch = Callable[[MatchSpec], Awaitable[Outcome]]  # with the connected clients


class LoopExecutor(Executor):
    """Plays jobs in an event loop; another thread submits them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, play: PlayMatch) -> None:
        self._loop = loop
        self._play_match = play
        self._playing: set[Future[bytes]] = set()
        self._tasks: set[asyncio.Task[bytes]] = set()  # in which they are played
        self._stopped = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Play a job; the function and other arguments are for workers, and ignored."""
        [job] = args
        playing = asyncio.run_coroutine_threadsafe(self._play(decode_job(job)), self._loop)
        self._playing.add(playing)
        playing.add_done_callback(self._playing.discard)
        return playing

    async def stop(self) -> None:
        """Cancel all matches, and those submitted from now on; wait until none is played any more."""
        self._stopped = True
        for playing in list(self._playing):
            playing.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _play(self, job: Job) -> bytes:
        if self._stopped:
            raise asyncio.CancelledError
        task: Any = asyncio.current_task()
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return encode([PlayedMatch(await self._play_match(spec)) for spec in job.specs])


async def run_manager(executor: LoopExecutor, manage: Callable[[], Result]) -> Result:
    """Run a manager in a thread, and return its result; neither it nor its matches outlive this call."""
    managing = asyncio.get_running_loop().run_in_executor(None, manage)
    managing.add_done_callback(
        lambda future: future.exception()
    )  # else it is reported as never retrieved, if we are cancelled

    async def end() -> None:
        await executor.stop()
        await asyncio.wait((managing,))

    try:
        return await asyncio.shield(managing)
    finally:
        await finish_despite_cancellation(end())
