"""Draw boards and replays for browsers in other processes, so that no turn waits for a picture.

Such a process reads one job a line and answers with one line. It ends when its stdin does, so also when we are killed.
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
JOB_TIMEOUT_S = 30.0
EXIT_TIMEOUT_S = 1.0
MAX_RESULT_BYTES = 64 * 2**20
RENDER_NICENESS = 5  # so that the server has priority


class BoardJob(msgspec.Struct, frozen=True, tag="board"):
    """Draw a position as spectators see it."""

    game: str
    parameters: dict[str, Any]  # the public ones
    names: tuple[str, ...]
    view: Any  # packed, and so is the one before
    before: Any = None
    dark: bool = False
    small: bool = False


class ReplayJob(msgspec.Struct, frozen=True, tag="replay"):
    """Render the replay of a finished match."""

    file: str


class JobResult(msgspec.Struct, frozen=True):
    """The text that a job made, or an error."""

    text: str = ""
    error: str = ""


Job = BoardJob | ReplayJob

encode = msgspec.json.Encoder().encode
read_job: "msgspec.json.Decoder[Job]" = msgspec.json.Decoder(Job)
read_result = msgspec.json.Decoder(JobResult)


class RenderPool:
    """Rendering processes, each for one job at a time. They start with the first jobs, and again after a failure."""

    def __init__(self, processes: int = 1) -> None:
        self._processes: set[asyncio.subprocess.Process] = set()
        self._idle: list[asyncio.subprocess.Process] = []
        self._free = asyncio.Semaphore(processes)

    async def render(self, job: Job) -> str:
        """Run a job. Raises BadRequest if the request is wrong, HostFault if a process fails."""
        async with self._free:
            process = self._idle.pop() if self._idle else None
            try:
                async with asyncio.timeout(JOB_TIMEOUT_S):
                    if process is None:
                        process = await asyncio.create_subprocess_exec(
                            *RENDER_COMMAND, *game_options(), stdin=PIPE, stdout=PIPE, limit=MAX_RESULT_BYTES
                        )
                        self._processes.add(process)
                    result = read_result.decode(await request_result(process, encode(job)))
            except BaseException as error:  # its next line might answer this job
                if process is not None:
                    self._processes.discard(process)
                    await finish_despite_cancellation(stop_process(process, 0.0))
                if isinstance(error, TimeoutError | OSError | EOFError | ValueError | msgspec.MsgspecError):
                    raise HostFault(f"cannot render: {type(error).__name__}") from None
                raise
            self._idle.append(process)
        if result.error:
            raise BadRequest(result.error)
        return result.text

    async def close(self) -> None:
        """End all processes."""
        self._idle.clear()
        await finish_all([stop_process(process, EXIT_TIMEOUT_S) for process in self._processes])
        self._processes.clear()


async def request_result(process: asyncio.subprocess.Process, job: bytes) -> bytes:
    """The answer of a process to a job."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise EOFError
    stdin.write(job + b"\n")
    await stdin.drain()
    return await stdout.readline()  # drops the start of a line that is too long, so that the process can end


async def stop_process(process: asyncio.subprocess.Process, timeout_s: float) -> None:
    """Let a process end, or kill it after a timeout."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await process.wait()
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def run_job(job: Job) -> str:
    """Run one job."""
    if isinstance(job, ReplayJob):
        return render_replay(Path(job.file))
    info = game_info(job.game)
    game = info.rules.with_public_parameters(job.parameters)
    before = None if job.before is None else game.unpack(job.before)
    return info.svg(game.unpack(job.view), job.names, before=before, dark=job.dark, small=job.small)


def run_jobs() -> None:
    """Run jobs until stdin ends."""
    os.nice(RENDER_NICENESS)
    take_game_options(sys.argv)
    for line in sys.stdin.buffer:
        try:
            result = JobResult(text=run_job(read_job.decode(line)))
        except FairplayError as error:
            result = JobResult(error=str(error) or type(error).__name__)
        sys.stdout.buffer.write(encode(result) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        run_jobs()
