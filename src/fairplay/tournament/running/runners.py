"""Play matches on executors, and collect their outcomes. No other module of tournaments waits."""

import multiprocessing
import os
import secrets
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import ExitStack, suppress
from functools import partial
from math import ceil
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, ParamSpec, Protocol, Self, TypeVar

from fairplay.core.errors import HostFault
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.tournament.running import worker
from fairplay.tournament.running.worker import (
    Job,
    PlayedMatch,
    decode_played,
    encode,
    has_programs,
    play_job,
    start_worker,
    stop_worker,
)

POLL_INTERVAL_S = 0.2
MIN_JOB_S = 0.04  # of matches that make a job
MAX_MATCHES_PER_JOB = 64
WORKER_EXIT_TIMEOUT_S = 5.0  # before they are killed
MAX_WORKER_DEATHS = 10  # while bots are checked
WORKERS_GONE = "the workers of the cluster are gone"

Params = ParamSpec("Params")
Returned = TypeVar("Returned")
Item = TypeVar("Item")


class MatchSource(Protocol):
    """Gives a runner its matches."""

    @property
    def left(self) -> int:
        """How many matches are left, also those that wait for others."""
        ...

    def next_match(self) -> MatchSpec | None:
        """The next match; None: there is none, at least not before another one has ended."""
        ...


class InlineExecutor(Executor):
    """Runs what is submitted at once, in this process."""

    def submit(
        self, fn: Callable[Params, Returned], /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Future[Returned]:
        """Call a function."""
        done: Future[Returned] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


class WorkerQueue:
    """An executor and its jobs; an executor that breaks is replaced."""

    def __init__(
        self, make: Callable[[], Executor], capacity: int = 1, worker_died_errors: tuple[type[Exception], ...] = ()
    ) -> None:
        self.capacity = capacity  # in jobs
        self.worker_died_errors = worker_died_errors  # of one job, while the executor goes on
        self.jobs: dict[Future[Any], Job] = {}
        self.next_specs: list[MatchSpec] = []  # for its next job
        self._make = make
        self._start()

    def submit(self, function: Callable[..., Returned], *arguments: Any) -> Future[Returned]:
        """Submit a call; if the process died while it was idle, to a new one."""
        try:
            return self.executor.submit(function, *arguments)
        except BrokenExecutor:
            self.restart()
            return self.executor.submit(function, *arguments)

    def restart(self) -> None:
        """Replace the executor, whose process has died."""
        self.executor.shutdown(wait=False)
        self._start()

    def interrupt(self) -> None:
        """Send the worker SIGINT, if it is a child of this process."""
        if (process := self._process()) is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid or 0, signal.SIGINT)

    def request_exit(self) -> None:
        """Ask the worker to end after its current job."""
        for future in self.jobs:
            future.cancel()
        if self._pid is not None:
            with suppress(Exception):
                self.executor.submit(stop_worker)
        self.executor.shutdown(wait=False)

    def wait_for_exit(self, deadline: float) -> None:
        """Wait until the worker has ended, and kill it at the deadline."""
        process = self._process()
        if process is not None:
            try:
                process.join(max(0.0, deadline - time.monotonic()))
            finally:
                process.kill()
                process.join()

    def _start(self) -> None:
        try:
            self.executor = self._make()
        except OSError as error:
            raise HostFault(f"cannot start a worker: {error.strerror}") from error
        self._pid = self.executor.submit(os.getpid) if isinstance(self.executor, ProcessPoolExecutor) else None

    def _process(self) -> BaseProcess | None:
        """The worker, if it is a child of this process."""
        with suppress(Exception):
            pid = None if self._pid is None else self._pid.result(WORKER_EXIT_TIMEOUT_S)
            return next((child for child in multiprocessing.active_children() if child.pid == pid), None)
        return None


class Runner:
    """Plays matches on its worker queues. Use it in a `with` statement."""

    def __init__(
        self, queues: Sequence[WorkerQueue], *, shared: bool = True, end: Callable[[], None] = lambda: None
    ) -> None:
        self.queues = queues
        self.token = "" if shared else secrets.token_hex(16)  # by which workers recognise a shared directory
        self._end = end
        self._mean: float | None = None  # seconds of a match

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(at_once=kind is not None)

    @property
    def capacity(self) -> int:
        """How many matches are played at once."""
        return sum(queue.capacity for queue in self.queues)

    def play(self, source: MatchSource) -> Iterator[PlayedMatch | None]:
        """Play the matches of a source, and yield their outcomes as they end; None: none has ended for a while."""
        while True:
            for queue in self.queues:
                while self._submit_next(queue, source):
                    pass
            running = [future for queue in self.queues for future in queue.jobs]
            if not running:
                return
            done = wait(running, POLL_INTERVAL_S, FIRST_COMPLETED).done
            if not done:
                yield None
            for queue in self.queues:
                for future in [one for one in queue.jobs if one in done]:
                    if future in queue.jobs:  # otherwise it broke with another one, and was handled
                        yield from self._collect(queue, future)

    def map(
        self, function: Callable[[Item], Returned], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Returned] | None]:
        """Call a function with each item in the workers, and yield the results; None: there is none for a while."""
        waiting, free = deque(items), [queue for queue in self.queues for _ in range(queue.capacity)]
        futures: dict[Future[Returned], tuple[Item, WorkerQueue]] = {}
        deaths = 0
        while waiting or futures:
            while waiting and free:  # a free worker takes the next item, so that a slow one delays no other
                queue, item = free.pop(0), waiting.popleft()
                futures[queue.submit(worker.call_interruptibly, function, item)] = item, queue
            done = wait(futures, POLL_INTERVAL_S, FIRST_COMPLETED).done
            if not done:
                yield None
            for future in done:
                item, queue = futures.pop(future)
                free.append(queue)
                try:
                    yield item, future.result()
                except CancelledError:
                    raise HostFault(WORKERS_GONE) from None
                except Exception as error:
                    if not isinstance(error, (BrokenExecutor, *queue.worker_died_errors)):
                        raise
                    deaths += 1
                    if deaths > MAX_WORKER_DEATHS:
                        raise HostFault(f"workers died {deaths} times while bots were checked") from None
                    waiting.appendleft(item)

    def close(self, *, at_once: bool) -> None:
        """End all workers; at once: their matches are interrupted, and can be resumed."""
        deadline = time.monotonic() + WORKER_EXIT_TIMEOUT_S
        with ExitStack() as leaving:
            leaving.callback(self._end)
            for queue in self.queues:
                leaving.callback(queue.wait_for_exit, deadline)
            for queue in self.queues if at_once else ():
                queue.interrupt()
            for queue in self.queues:
                queue.request_exit()

    def _submit_next(self, queue: WorkerQueue, source: MatchSource) -> bool:
        """Give a queue its next job, if it can take one; True: it may take more."""
        quick = self._mean is not None and self._mean * self._job_size(source) < 2 * MIN_JOB_S
        if len(queue.jobs) >= queue.capacity * (2 if quick else 1):
            return False
        specs = queue.next_specs or self._take_specs(source) or self._steal_specs(queue)
        if not specs:
            return False
        queue.next_specs = self._take_specs(source) if has_programs(specs[-1]) else []
        following = queue.next_specs[0] if queue.next_specs else None
        self._submit(queue, Job(tuple(specs), following, self.token))
        return True

    def _submit(self, queue: WorkerQueue, job: Job) -> None:
        queue.jobs[queue.submit(play_job, encode(job))] = job

    def _collect(self, queue: WorkerQueue, future: Future[bytes]) -> Iterator[PlayedMatch]:
        job = queue.jobs.pop(future)
        try:
            all_played = decode_played(future.result())
        except BrokenExecutor:  # which breaks all its jobs
            others = list(queue.jobs.values())
            queue.jobs.clear()
            queue.restart()
            yield from self._resubmit(queue, job, others)
            return
        except queue.worker_died_errors:
            yield from self._resubmit(queue, job)
            return
        except CancelledError:
            raise HostFault(WORKERS_GONE) from None
        for played in all_played:
            before = played.seconds if self._mean is None else self._mean
            self._mean = 0.8 * before + 0.2 * played.seconds
            yield played

    def _resubmit(self, queue: WorkerQueue, lost: Job, others: Sequence[Job] = ()) -> Iterator[PlayedMatch]:
        """Submit the jobs of a dead worker again, match by match, as one of the matches may be to blame."""
        specs = [*lost.specs, *(spec for job in others for spec in job.specs)]
        if len(lost.specs) == 1:
            yield PlayedMatch(worker_died_outcome(specs.pop(0)))
        for spec in specs:
            self._submit(queue, Job((spec,), None, self.token))

    def _take_specs(self, source: MatchSource) -> list[MatchSpec]:
        specs: list[MatchSpec] = []
        for _ in range(self._job_size(source)):
            if (spec := source.next_match()) is None:
                break
            specs.append(spec)
        return specs

    def _steal_specs(self, queue: WorkerQueue) -> list[MatchSpec]:
        """Take matches that another queue has not begun, because it plays a slow one."""
        for other in self.queues:
            if other is not queue and other.next_specs:
                specs, other.next_specs = other.next_specs, []
                return specs
        return []

    def _job_size(self, source: MatchSource) -> int:
        """The number of matches of a job: worth sending, and few enough to leave some for other workers."""
        if not self._mean:
            return 1
        fair = ceil(source.left / (4 * self.capacity))
        return max(1, min(MAX_MATCHES_PER_JOB, fair, int(MIN_JOB_S / self._mean)))


def worker_died_outcome(spec: MatchSpec) -> Outcome:
    """The outcome of a match whose worker died."""
    return Outcome(id=spec.id, names=spec.labels, result=None, host_fault="the worker that played it died")


def inline_runner() -> Runner:
    """A runner in this process."""
    return Runner([WorkerQueue(InlineExecutor)])


def start_resource_tracker() -> None:
    """Start the resource tracker of multiprocessing, which unblocks SIGINT in the thread that starts it.

    Where SIGINT is blocked, as in a script that starts the command with &, it has to stay blocked.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


class WorkerProcess(SpawnProcess):
    """A worker process, which does not run the script of the caller again: few scripts are written for that."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")  # which has no file that could be run
        try:
            return SpawnProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = main


class WorkerContext(SpawnContext):
    """What starts worker processes."""

    Process = WorkerProcess


def process_pool_runner(workers: int) -> Runner:
    """A runner with so many processes on this machine, each with its own cores; they die independently."""
    start_resource_tracker()
    context = WorkerContext()
    makers = [partial(ProcessPoolExecutor, 1, context, start_worker, (number, workers)) for number in range(workers)]
    return Runner([WorkerQueue(maker) for maker in makers])
