"""Draw boards and replays for browsers in a process of its own, so that no turn waits for a picture.

The process is a program of ours that reads one job a line and answers by one line. It ends when its stdin does, which
is when we end, however that happens.
"""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest, FairplayError, HostFault
from fairplay.games import game_info, game_options, take_game_options
from fairplay.page.replay import render_replay
from fairplay.referee.closing import finish_all, finish_despite_cancellation

RENDER_COMMAND = (sys.executable, "-P", "-m", "fairplay.server.browser.rendering")
JOB_TIMEOUT_S = 30.0  # seconds for a job
EXIT_TIMEOUT_S = 1.0  # seconds for the process to end by itself
MAX_RESULT_BYTES = 64 * 2**20  # of an answer
RENDER_NICENESS = 5  # steps by which it stands back for the one that answers everybody


class BoardJob(msgspec.Struct, frozen=True, tag="board"):
    """The picture of a position, as spectators see it."""

    game: str
    parameters: dict[str, Any]  # as players know them
    names: tuple[str, ...]
    view: Any  # packed, and so is the one before
    before: Any = None
    dark: bool = False
    small: bool = False


class ReplayJob(msgspec.Struct, frozen=True, tag="replay"):
    """The page of a match that is over."""

    file: str


class JobResult(msgspec.Struct, frozen=True):
    """What came of a job: a text, or why there is none."""

    text: str = ""
    error: str = ""


Job = BoardJob | ReplayJob

encode = msgspec.json.Encoder().encode
read_job: "msgspec.json.Decoder[Job]" = msgspec.json.Decoder(Job)
read_result = msgspec.json.Decoder(JobResult)


class RenderPool:
    """Processes that draw, each one job after the other. They are started by the first jobs, and anew if they break."""

    def __init__(self, processes: int = 1) -> None:
        self._processes: set[asyncio.subprocess.Process] = set()
        self._idle: list[asyncio.subprocess.Process] = []
        self._free = asyncio.Semaphore(processes)

    async def render(self, job: Job) -> str:
        """What a job asks for. Raises BadRequest if it may not be drawn, HostFault if it cannot be."""
        async with self._free:
            process = self._idle.pop() if self._idle else None
            try:
                async with asyncio.timeout(JOB_TIMEOUT_S):
                    if process is None:
                        process = await asyncio.create_subprocess_exec(
                            *RENDER_COMMAND, *game_options(), stdin=PIPE, stdout=PIPE, limit=MAX_RESULT_BYTES
                        )
                        self._processes.add(process)
                    done = read_result.decode(await request_result(process, encode(job)))
            except BaseException as error:  # nobody knows what it would say next
                if process is not None:
                    self._processes.discard(process)
                    await finish_despite_cancellation(stop_process(process, 0.0))
                if isinstance(error, TimeoutError | OSError | EOFError | ValueError | msgspec.MsgspecError):
                    raise HostFault(f"nothing can be drawn: {type(error).__name__}") from None
                raise
            self._idle.append(process)
        if done.error:
            raise BadRequest(done.error)
        return done.text

    async def close(self) -> None:
        """End the processes."""
        self._idle.clear()
        await finish_all([stop_process(process, EXIT_TIMEOUT_S) for process in self._processes])
        self._processes.clear()


async def request_result(process: asyncio.subprocess.Process, job: bytes) -> bytes:
    """What a process says to a job."""
    to, back = process.stdin, process.stdout
    if to is None or back is None:
        raise EOFError
    to.write(job + b"\n")
    await to.drain()
    return await back.readline()  # of one that is too long, what has come is let go of, so that the process can end


async def stop_process(process: asyncio.subprocess.Process, timeout_s: float) -> None:
    """Let a process end, or kill it when this takes longer than so many seconds."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await process.wait()
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def run_job(job: Job) -> str:
    """Do a job."""
    if isinstance(job, ReplayJob):
        return render_replay(Path(job.file))
    shelf = game_info(job.game)
    game = shelf.rules.with_public_parameters(job.parameters)
    before = None if job.before is None else game.unpack(job.before)
    return shelf.svg(game.unpack(job.view), job.names, before=before, dark=job.dark, small=job.small)


def run_jobs() -> None:
    """Do jobs until there are no more."""
    os.nice(RENDER_NICENESS)
    take_game_options(sys.argv)
    for line in sys.stdin.buffer:
        try:
            done = JobResult(text=run_job(read_job.decode(line)))
        except FairplayError as error:
            done = JobResult(error=str(error) or type(error).__name__)
        sys.stdout.buffer.write(encode(done) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        run_jobs()
