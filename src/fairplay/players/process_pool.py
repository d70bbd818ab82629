"""Let built-in players think in other processes, so that an event loop goes on meanwhile.

A built-in player is a pure function of its key and the view, so it does not matter who works it out. There is one pool for
this process: as many threads as there are cores, made when there is something to do, each with a process of its own
that it starts, asks and, should it break, starts anew. Views and answers go through its pipes as pickles.

The processes are programs of their own, not forks: this process has threads, and may be somebody's script. They end
when their stdin does, which is when we end, however that happens.
"""

import asyncio
import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any

import msgspec

from fairplay.core.errors import HostFault
from fairplay.core.messages import Answer, Answered, Message, TakeTurn
from fairplay.core.roles import NULL_RECORD, CloseReason
from fairplay.games import game_info, register
from fairplay.players.address import open_player
from fairplay.referee.local_channel import LocalChannel
from fairplay.render.evidence import describe_exit_code

POOL_WORKER_COMMAND = (sys.executable, "-P", "-m", "fairplay.players.process_pool")
POOL_KILL_TIMEOUT_S = 1.0  # seconds for a killed process to be gone
MAX_CACHED_PLAYERS = 256  # players that a process remembers
WORKER_NICENESS = 5  # steps by which a thinking process stands back for the one that answers everybody


class PooledChannel:
    """A channel to a built-in player that thinks in another process."""

    def __init__(self, game: str, address: str, key: bytes, clock: Callable[[], float] = NULL_RECORD.clock) -> None:
        self._pickled_player = pickle.dumps((game, address, key))
        self._clock = clock

    async def ask(self, message: Message) -> Answer:
        """Have its turn worked out; whatever else it is told, it has nothing to say to that."""
        if not isinstance(message, TakeTurn):
            return Answered(None)
        since = self._clock()
        answer: Answer = await POOL.ask(self._pickled_player + pickle.dumps(message.view))
        return msgspec.structs.replace(answer, took=self._clock() - since)

    async def close(self, parting: CloseReason) -> None:
        """Nothing has to be cut."""


class Job:
    """A question on its way to somebody who works it out, and where the answer has to go."""

    def __init__(self, question: bytes) -> None:
        self.question = question
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None  # that works it out

    def run_on(self, process: subprocess.Popen[bytes]) -> Any:
        """What a process answers. Raises if nobody wants to know it any more, and the process is killed for that."""
        with self._lock:
            self._process = process
        answer = ask_process(process, self.question)
        with self._lock:
            if self._process is None:
                raise EOFError
            self._process = None
        return answer

    def cancel(self) -> None:
        """Whoever still works on it stops, for others wait."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
            self._process = None

    def deliver(self, answer: Any) -> None:
        """Bring the answer, from another thread; nobody may be there any more."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._set_answer, answer)

    def _set_answer(self, answer: Any) -> None:
        if self.answer.done():
            return
        if isinstance(answer, Exception):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)


class ProcessPool:
    """Processes that think; `close` ends them all, and whoever asks again starts new ones."""

    def __init__(self, max_processes: int) -> None:
        self._max_processes = max_processes
        self.reset()

    def reset(self) -> None:
        """Be as if nobody had asked yet."""
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._open_questions = 0  # questions that were not answered yet
        self._threads: list[threading.Thread] = []
        self.processes: set[subprocess.Popen[bytes]] = set()

    async def ask(self, question: bytes) -> Any:
        """What comes back for a question. HostFault: whoever had it has died."""
        job = Job(question)
        with self._lock:
            if len(self._threads) < min(self._open_questions + 1, self._max_processes):
                thread = threading.Thread(target=self._run_jobs, args=(self._jobs,), name="thinking", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:  # there are too many
                    raise HostFault(f"no built-in player can think: {error}") from None
                self._threads.append(thread)
            self._open_questions += 1
        self._jobs.put(job)
        try:
            return await job.answer
        finally:
            job.cancel()

    def close(self) -> None:
        """End all processes, whatever they are at; who still waits for an answer hears that there is none."""
        with self._lock:
            threads, self._threads, jobs = self._threads, [], self._jobs
            self._jobs, self._open_questions = SimpleQueue(), 0
        while not jobs.empty():
            with suppress(Empty):
                if (job := jobs.get_nowait()) is not None:
                    job.deliver(HostFault("built-in players think no more"))
        for _ in threads:
            jobs.put(None)
        for process in tuple(self.processes):
            process.kill()
        for thread in threads:
            thread.join(POOL_KILL_TIMEOUT_S)

    def _run_jobs(self, jobs: "SimpleQueue[Job | None]") -> None:
        """Hand on questions to a process, one after the other."""
        process: subprocess.Popen[bytes] | None = None
        while job := jobs.get():
            answer: Any = None
            try:
                if not job.answer.cancelled():
                    if process is None or process.poll() is not None:  # it may have died meanwhile
                        process = self._replace(process)
                    answer = job.run_on(process)
            except Exception as error:  # whatever it is, somebody waits
                became = describe_exit_code(self._end(process)) if process else f"cannot be started: {error}"
                answer, process = HostFault(f"a process in which built-in players think {became}"), None
            with self._lock:
                self._open_questions -= jobs is self._jobs
            job.deliver(answer)
        if process is not None:
            self._end(process)

    def _replace(self, process: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes]:
        """A new process, in the place of one that has died."""
        if process is not None:
            self._end(process)
        process = subprocess.Popen(
            POOL_WORKER_COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C is for us
        )
        self.processes.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> int:
        self.processes.discard(process)
        process.kill()
        with suppress(OSError), process:  # closes its pipes, in which something may be left, and waits
            pass
        return process.returncode


def ask_process(process: subprocess.Popen[bytes], question: bytes) -> Any:
    """Put a question to a process, and wait for what it says."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(question)
    process.stdin.flush()
    return pickle.load(process.stdout)


POOL = ProcessPool(len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1)
atexit.register(POOL.close)


def after_fork() -> None:
    """Leave to the parent what is the parent's: those who think for it end when it does, and not with this process."""
    for process in POOL.processes:
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError, ValueError):  # it may have been closed
                os.close(pipe.fileno() if pipe else -1)
        process.returncode = 0  # it is not our child, so there is nothing to wait for
    POOL.reset()


os.register_at_fork(after_in_child=after_fork)


# What such a process does.


def run_worker() -> None:
    """Answer questions on stdin until it ends, which is when whoever asks has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(WORKER_NICENESS)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a player prints is no answer
    questions: SimpleQueue[tuple[str, str, bytes, Any]] = SimpleQueue()
    threading.Thread(target=read_questions, args=(questions,), daemon=True).start()
    while True:
        game, address, key, view = questions.get()
        pickle.dump(built_in_channel(game, address, key).ask(TakeTurn(view)), replies)
        replies.flush()


def read_questions(questions: "SimpleQueue[tuple[str, str, bytes, Any]]") -> None:
    """Take in questions also while somebody thinks, so as to hear when there will be no more."""
    code = 1  # what is asked makes no sense here
    try:
        while True:
            source, address, key = pickle.load(sys.stdin.buffer)
            game = register(source)  # or nobody could unpickle what is seen of it
            questions.put((game, address, key, pickle.load(sys.stdin.buffer)))
    except (EOFError, OSError):
        code = 0
    finally:
        os._exit(code)


@lru_cache(MAX_CACHED_PLAYERS)
def built_in_channel(game: str, address: str, key: bytes) -> LocalChannel:
    """A built-in player as it would sit in this process."""
    shelf = game_info(game)
    return LocalChannel(open_player(address, shelf, key), shelf.rules())


if __name__ == "__main__":
    run_worker()
