"""Compute the turns of built-in players in other processes, so that the event loop goes on meanwhile.

A built-in player is a pure function of its key and the view, so any process can compute its action. There is one pool
for this process: at most as many threads as cores, started on demand, each with a worker process that it starts, asks
and, should it break, restarts. Views and answers go through its pipes as pickles.

The workers are new programs, not forks: this process has threads, and may be a script of a user. They exit when their
stdin ends, which is when we end, in whatever way.
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
POOL_KILL_TIMEOUT_S = 1.0  # for a killed process to be gone
MAX_CACHED_PLAYERS = 256  # of one process
WORKER_NICENESS = 5  # workers give way to this process, for which all players wait


class PooledChannel:
    """A channel to a built-in player that computes in another process."""

    def __init__(self, game: str, address: str, key: bytes, clock: Callable[[], float] = NULL_RECORD.clock) -> None:
        self._pickled_player = pickle.dumps((game, address, key))
        self._clock = clock

    async def ask(self, message: Message) -> Answer:
        """Have its turn computed; to any other message the answer is None."""
        if not isinstance(message, TakeTurn):
            return Answered(None)
        since = self._clock()
        answer: Answer = await POOL.ask(self._pickled_player + pickle.dumps(message.view))
        return msgspec.structs.replace(answer, took=self._clock() - since)

    async def close(self, reason: CloseReason) -> None:
        """There is nothing to close."""


class Job:
    """A question for a worker, and the future that gets its answer."""

    def __init__(self, question: bytes) -> None:
        self.question = question
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None  # that computes the answer

    def run_on(self, process: subprocess.Popen[bytes]) -> Any:
        """The answer of a worker. Raises EOFError if the job was cancelled, for which the worker was killed."""
        with self._lock:
            self._process = process
        answer = ask_process(process, self.question)
        with self._lock:
            if self._process is None:
                raise EOFError
            self._process = None
        return answer

    def cancel(self) -> None:
        """Kill the worker that still computes it, as other jobs wait."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
            self._process = None

    def deliver(self, answer: Any) -> None:
        """Set the answer, from another thread; the event loop may be closed."""
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
    """Worker processes; `close` ends them all, and the next question starts new ones."""

    def __init__(self, max_processes: int) -> None:
        self._max_processes = max_processes
        self.reset()

    def reset(self) -> None:
        """Forget all questions, threads and processes."""
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._open_questions = 0
        self._threads: list[threading.Thread] = []
        self.processes: set[subprocess.Popen[bytes]] = set()

    async def ask(self, question: bytes) -> Any:
        """The answer to a question. HostFault: its worker has died."""
        job = Job(question)
        with self._lock:
            if len(self._threads) < min(self._open_questions + 1, self._max_processes):
                thread = threading.Thread(
                    target=self._run_jobs, args=(self._jobs,), name="built-in player", daemon=True
                )
                try:
                    thread.start()
                except RuntimeError as error:  # there are too many
                    raise HostFault(f"cannot start a thread for built-in players: {error}") from None
                self._threads.append(thread)
            self._open_questions += 1
        self._jobs.put(job)
        try:
            return await job.answer
        finally:
            job.cancel()

    def close(self) -> None:
        """Kill all workers; questions that still wait get a HostFault."""
        with self._lock:
            threads, self._threads, jobs = self._threads, [], self._jobs
            self._jobs, self._open_questions = SimpleQueue(), 0
        while not jobs.empty():
            with suppress(Empty):
                if (job := jobs.get_nowait()) is not None:
                    job.deliver(HostFault("the processes of built-in players were stopped"))
        for _ in threads:
            jobs.put(None)
        for process in tuple(self.processes):
            process.kill()
        for thread in threads:
            thread.join(POOL_KILL_TIMEOUT_S)

    def _run_jobs(self, jobs: "SimpleQueue[Job | None]") -> None:
        """Pass questions to a worker, one after the other."""
        process: subprocess.Popen[bytes] | None = None
        while job := jobs.get():
            answer: Any = None
            try:
                if not job.answer.cancelled():
                    if process is None or process.poll() is not None:  # it may have died meanwhile
                        process = self._replace(process)
                    answer = job.run_on(process)
            except Exception as error:  # of any kind, as the asker waits
                end = describe_exit_code(self._end(process)) if process else f"cannot be started: {error}"
                answer, process = HostFault(f"a process of built-in players {end}"), None
            with self._lock:
                self._open_questions -= jobs is self._jobs
            job.deliver(answer)
        if process is not None:
            self._end(process)

    def _replace(self, process: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes]:
        """Start a worker, in the place of one that has died."""
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
        with suppress(OSError), process:  # closes its pipes, in which data may be left, and waits
            pass
        return process.returncode


def ask_process(process: subprocess.Popen[bytes], question: bytes) -> Any:
    """Send a question to a worker, and wait for its answer."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(question)
    process.stdin.flush()
    return pickle.load(process.stdout)


POOL = ProcessPool(len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1)
atexit.register(POOL.close)


def after_fork() -> None:
    """Leave the workers to the parent: they end when it does, and not with this process."""
    for process in POOL.processes:
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError, ValueError):  # it may have been closed
                os.close(pipe.fileno() if pipe else -1)
        process.returncode = 0  # it is not our child, so we do not wait for it
    POOL.reset()


os.register_at_fork(after_in_child=after_fork)


# The worker.


def run_worker() -> None:
    """Answer questions on stdin until it ends, which is when the asking process has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(WORKER_NICENESS)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a player prints is no answer
    questions: SimpleQueue[tuple[str, str, bytes, Any]] = SimpleQueue()
    threading.Thread(target=read_questions, args=(questions,), daemon=True).start()
    while True:
        game, address, key, view = questions.get()
        pickle.dump(built_in_channel(game, address, key).ask(TakeTurn(view)), replies)
        replies.flush()


def read_questions(questions: "SimpleQueue[tuple[str, str, bytes, Any]]") -> None:
    """Read questions while a player computes, so as to exit at once when stdin ends."""
    code = 1  # a question cannot be read
    try:
        while True:
            source, address, key = pickle.load(sys.stdin.buffer)
            game = register(source)  # needed to unpickle its views
            questions.put((game, address, key, pickle.load(sys.stdin.buffer)))
    except (EOFError, OSError):
        code = 0
    finally:
        os._exit(code)


@lru_cache(MAX_CACHED_PLAYERS)
def built_in_channel(game: str, address: str, key: bytes) -> LocalChannel:
    """A channel to a built-in player in this process."""
    info = game_info(game)
    return LocalChannel(open_player(address, info, key), info.rules())


if __name__ == "__main__":
    run_worker()
