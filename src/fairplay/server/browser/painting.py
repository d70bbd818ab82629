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
from fairplay.games import game_options, take_game_options, title
from fairplay.page.replay import replay_of
from fairplay.referee.closing import all_surely, surely

COMMAND = (sys.executable, "-P", "-m", "fairplay.server.browser.painting")
LONGEST = 30.0  # seconds for a job
END_WAIT = 1.0  # seconds for the process to end by itself
MOST_BYTES = 64 * 2**20  # of an answer
NICE = 5  # steps by which it stands back for the one that answers everybody


class Board(msgspec.Struct, frozen=True, tag="board"):
    """The picture of a position, as spectators see it."""

    game: str
    parameters: dict[str, Any]  # as players know them
    names: tuple[str, ...]
    view: Any  # packed, and so is the one before
    before: Any = None
    dark: bool = False
    small: bool = False


class Replay(msgspec.Struct, frozen=True, tag="replay"):
    """The page of a match that is over."""

    file: str


class Done(msgspec.Struct, frozen=True):
    """What came of a job: a text, or why there is none."""

    text: str = ""
    why: str = ""


Job = Board | Replay

encode = msgspec.json.Encoder().encode
read_job: "msgspec.json.Decoder[Job]" = msgspec.json.Decoder(Job)
read_done = msgspec.json.Decoder(Done)


class Studio:
    """Processes that draw, each one job after the other. They are started by the first jobs, and anew if they break."""

    def __init__(self, processes: int = 1) -> None:
        self._processes: set[asyncio.subprocess.Process] = set()
        self._idle: list[asyncio.subprocess.Process] = []
        self._free = asyncio.Semaphore(processes)

    async def drawn(self, job: Job) -> str:
        """What a job asks for. Raises BadRequest if it may not be drawn, HostFault if it cannot be."""
        async with self._free:
            process = self._idle.pop() if self._idle else None
            try:
                async with asyncio.timeout(LONGEST):
                    if process is None:
                        process = await asyncio.create_subprocess_exec(
                            *COMMAND, *game_options(), stdin=PIPE, stdout=PIPE, limit=MOST_BYTES
                        )
                        self._processes.add(process)
                    done = read_done.decode(await answer_of(process, encode(job)))
            except BaseException as error:  # nobody knows what it would say next
                if process is not None:
                    self._processes.discard(process)
                    await surely(end(process, 0.0))
                if isinstance(error, TimeoutError | OSError | EOFError | ValueError | msgspec.MsgspecError):
                    raise HostFault(f"nothing can be drawn: {type(error).__name__}") from None
                raise
            self._idle.append(process)
        if done.why:
            raise BadRequest(done.why)
        return done.text

    async def close(self) -> None:
        """End the processes."""
        self._idle.clear()
        await all_surely([end(process, END_WAIT) for process in self._processes])
        self._processes.clear()


async def answer_of(process: asyncio.subprocess.Process, job: bytes) -> bytes:
    """What a process says to a job."""
    to, back = process.stdin, process.stdout
    if to is None or back is None:
        raise EOFError
    to.write(job + b"\n")
    await to.drain()
    return await back.readline()  # of one that is too long, what has come is let go of, so that the process can end


async def end(process: asyncio.subprocess.Process, patience: float) -> None:
    """Let a process end, or kill it when this takes longer than so many seconds."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(patience):
            await process.wait()
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def made(job: Job) -> str:
    """Do a job."""
    if isinstance(job, Replay):
        return replay_of(Path(job.file))
    shelf = title(job.game)
    game = shelf.rules.with_public_parameters(job.parameters)
    before = None if job.before is None else game.unpack(job.before)
    return shelf.svg(game.unpack(job.view), job.names, before=before, dark=job.dark, small=job.small)


def main() -> None:
    """Do jobs until there are no more."""
    os.nice(NICE)
    take_game_options(sys.argv)
    for line in sys.stdin.buffer:
        try:
            done = Done(text=made(read_job.decode(line)))
        except FairplayError as error:
            done = Done(why=str(error) or type(error).__name__)
        sys.stdout.buffer.write(encode(done) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
