"""Have matches played by executors, and bring back what comes of them. No other file of tournaments waits."""

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

POLL_INTERVAL_S = 0.2  # seconds after which we look up from waiting
MIN_JOB_S = 0.04  # seconds of matches that are worth a job
MAX_MATCHES_PER_JOB = 64
WORKER_EXIT_TIMEOUT_S = 5.0  # seconds for workers to end by themselves
MAX_WORKER_DEATHS = 10  # of workers while bots are tried
WORKERS_GONE = "those who played the matches are gone"

Params = ParamSpec("Params")
Returned = TypeVar("Returned")
Item = TypeVar("Item")


class MatchSource(Protocol):
    """Where a runner gets its matches from."""

    @property
    def left(self) -> int:
        """How many are still to be had, or to be waited for."""
        ...

    def next_match(self) -> MatchSpec | None:
        """The next match; None: there is none, at least not before another one has ended."""
        ...


class InlineExecutor(Executor):
    """This process: whatever is submitted is done at once."""

    def submit(
        self, fn: Callable[Params, Returned], /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Future[Returned]:
        """Do it."""
        done: Future[Returned] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


class WorkerQueue:
    """An executor, and what it has been given to do; if it breaks, there is a new one."""

    def __init__(self, make: Callable[[], Executor], places: int = 1, killed: tuple[type[Exception], ...] = ()) -> None:
        self.capacity = places  # jobs that it can do at once
        self.worker_died_errors = killed  # what is raised for one job if its worker died, while the executor goes on
        self.jobs: dict[Future[Any], Job] = {}
        self.next_specs: list[MatchSpec] = []  # for its next job
        self._make = make
        self._start()

    def submit(self, what: Callable[..., Returned], *arguments: Any) -> Future[Returned]:
        """Have something done; if the process died while it had nothing to do, by a new one."""
        try:
            return self.executor.submit(what, *arguments)
        except BrokenExecutor:
            self.restart()
            return self.executor.submit(what, *arguments)

    def restart(self) -> None:
        """Begin anew, since the process of the executor has died."""
        self.executor.shutdown(wait=False)
        self._start()

    def interrupt(self) -> None:
        """Do to the worker what Ctrl-C would do, if it is a process of our own."""
        if (process := self._process()) is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid or 0, signal.SIGINT)

    def request_exit(self) -> None:
        """Ask the worker to end, once it has done what it does."""
        for future in self.jobs:
            future.cancel()
        if self._pid is not None:
            with suppress(Exception):
                self.executor.submit(stop_worker)
        self.executor.shutdown(wait=False)

    def wait_for_exit(self, deadline: float) -> None:
        """Wait until the worker has ended: by its own will, or else by force."""
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
            raise HostFault(f"no worker can be started: {error.strerror}") from error
        self._pid = self.executor.submit(os.getpid) if isinstance(self.executor, ProcessPoolExecutor) else None

    def _process(self) -> BaseProcess | None:
        """The worker, if it is a process of our own."""
        with suppress(Exception):
            pid = None if self._pid is None else self._pid.result(WORKER_EXIT_TIMEOUT_S)
            return next((child for child in multiprocessing.active_children() if child.pid == pid), None)
        return None


class Runner:
    """Plays whatever it is given by the hands that it has. Use it in a `with` statement."""

    def __init__(
        self, hands: Sequence[WorkerQueue], *, shared: bool = True, end: Callable[[], None] = lambda: None
    ) -> None:
        self.queues = hands
        self.token = "" if shared else secrets.token_hex(16)  # by which workers see whether they share our directory
        self._end = end
        self._mean: float | None = None  # seconds that a match takes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(at_once=kind is not None)

    @property
    def capacity(self) -> int:
        """How many matches are played at once."""
        return sum(hand.capacity for hand in self.queues)

    def play(self, source: MatchSource) -> Iterator[PlayedMatch | None]:
        """What comes of the matches of a source, as they end; None whenever nothing has happened for a moment."""
        while True:
            for hand in self.queues:
                while self._submit_next(hand, source):
                    pass
            running = [future for hand in self.queues for future in hand.jobs]
            if not running:
                return
            done = wait(running, POLL_INTERVAL_S, FIRST_COMPLETED).done
            if not done:
                yield None
            for hand in self.queues:
                for future in [one for one in hand.jobs if one in done]:
                    if future in hand.jobs:  # or it has broken with another, and was told already
                        yield from self._collect(hand, future)

    def map(self, do: Callable[[Item], Returned], things: Iterable[Item]) -> Iterator[tuple[Item, Returned] | None]:
        """What comes of doing something with each of these, as it is done; None whenever nothing has happened."""
        waiting, free = deque(things), [hand for hand in self.queues for _ in range(hand.capacity)]
        futures: dict[Future[Returned], tuple[Item, WorkerQueue]] = {}
        deaths = 0
        while waiting or futures:
            while waiting and free:  # whoever has done one takes the next, so that a slow one holds up nobody else
                hand, thing = free.pop(0), waiting.popleft()
                futures[hand.submit(worker.call_interruptibly, do, thing)] = thing, hand
            done = wait(futures, POLL_INTERVAL_S, FIRST_COMPLETED).done
            if not done:
                yield None
            for future in done:
                thing, hand = futures.pop(future)
                free.append(hand)
                try:
                    yield thing, future.result()
                except CancelledError:
                    raise HostFault(WORKERS_GONE) from None
                except Exception as error:
                    if not isinstance(error, (BrokenExecutor, *hand.worker_died_errors)):
                        raise
                    deaths += 1
                    if deaths > MAX_WORKER_DEATHS:
                        raise HostFault("the workers die again and again") from None
                    waiting.appendleft(thing)

    def close(self, *, at_once: bool) -> None:
        """End all workers; at once: what they play is interrupted, and can be gone on with."""
        deadline = time.monotonic() + WORKER_EXIT_TIMEOUT_S
        with ExitStack() as leaving:
            leaving.callback(self._end)
            for hand in self.queues:
                leaving.callback(hand.wait_for_exit, deadline)
            for hand in self.queues if at_once else ():
                hand.interrupt()
            for hand in self.queues:
                hand.request_exit()

    def _submit_next(self, hand: WorkerQueue, source: MatchSource) -> bool:
        """Give a hand its next job, if it can take one; True: it may take more."""
        quick = self._mean is not None and self._mean * self._job_size(source) < 2 * MIN_JOB_S
        if len(hand.jobs) >= hand.capacity * (2 if quick else 1):
            return False
        specs = hand.next_specs or self._take_specs(source) or self._steal_specs(hand)
        if not specs:
            return False
        hand.next_specs = self._take_specs(source) if has_programs(specs[-1]) else []
        following = hand.next_specs[0] if hand.next_specs else None
        self._submit(hand, Job(tuple(specs), following, self.token))
        return True

    def _submit(self, hand: WorkerQueue, job: Job) -> None:
        hand.jobs[hand.submit(play_job, encode(job))] = job

    def _collect(self, hand: WorkerQueue, future: Future[bytes]) -> Iterator[PlayedMatch]:
        job = hand.jobs.pop(future)
        try:
            all_played = decode_played(future.result())
        except BrokenExecutor:  # and all that it had to do
            others = list(hand.jobs.values())
            hand.jobs.clear()
            hand.restart()
            yield from self._resubmit(hand, job, others)
            return
        except hand.worker_died_errors:
            yield from self._resubmit(hand, job)
            return
        except CancelledError:
            raise HostFault(WORKERS_GONE) from None
        for played in all_played:
            before = played.seconds if self._mean is None else self._mean
            self._mean = 0.8 * before + 0.2 * played.seconds
            yield played

    def _resubmit(self, hand: WorkerQueue, lost: Job, others: Sequence[Job] = ()) -> Iterator[PlayedMatch]:
        """A worker died: what it was to do is done again, match by match, as one of them may be to blame."""
        specs = [*lost.specs, *(spec for job in others for spec in job.specs)]
        if len(lost.specs) == 1:
            yield PlayedMatch(worker_died_outcome(specs.pop(0)))
        for spec in specs:
            self._submit(hand, Job((spec,), None, self.token))

    def _take_specs(self, source: MatchSource) -> list[MatchSpec]:
        specs: list[MatchSpec] = []
        for _ in range(self._job_size(source)):
            if (spec := source.next_match()) is None:
                break
            specs.append(spec)
        return specs

    def _steal_specs(self, hand: WorkerQueue) -> list[MatchSpec]:
        """What another hand has not begun, as it is busy with something slow."""
        for other in self.queues:
            if other is not hand and other.next_specs:
                specs, other.next_specs = other.next_specs, []
                return specs
        return []

    def _job_size(self, source: MatchSource) -> int:
        """How many matches a job has: worth the way to the worker, and few enough to leave some for all the others."""
        if not self._mean:
            return 1
        fair = ceil(source.left / (4 * self.capacity))
        return max(1, min(MAX_MATCHES_PER_JOB, fair, int(MIN_JOB_S / self._mean)))


def worker_died_outcome(spec: MatchSpec) -> Outcome:
    """What comes of a match whose worker died."""
    return Outcome(id=spec.id, names=spec.labels, result=None, host_fault="the worker that played it died")


def inline_runner() -> Runner:
    """Plays everything in this process."""
    return Runner([WorkerQueue(InlineExecutor)])


def start_resource_tracker() -> None:
    """Start what multiprocessing starts before all else: whichever thread does so hears SIGINT from then on.

    If it is blocked here, as where a script has started us with &, it has to stay so.
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
    """Plays in so many processes on this machine, each with cores of its own; one that dies takes none with it."""
    start_resource_tracker()
    context = WorkerContext()
    makers = [partial(ProcessPoolExecutor, 1, context, start_worker, (number, workers)) for number in range(workers)]
    return Runner([WorkerQueue(maker) for maker in makers])
