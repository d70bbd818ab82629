"""Have matches played by executors, and bring back what comes of them. No other file of tournaments waits."""

import multiprocessing
import os
import secrets
import signal
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
from multiprocessing.process import BaseProcess
from typing import Any, ParamSpec, Protocol, Self, TypeVar

from fairplay.core.errors import HostFault
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.tournament.running import worker
from fairplay.tournament.running.worker import Job, Played, decode_played, encode, enter, has_programs, leave, play_all

TICK = 0.2  # seconds after which we look up from waiting
WORTH = 0.04  # seconds of matches that are worth a job
MOST_IN_JOB = 64
PATIENCE = 5.0  # seconds for workers to end by themselves
MOST_DEATHS = 10  # of workers while bots are tried
GONE = "those who played the matches are gone"

Given = ParamSpec("Given")
Got = TypeVar("Got")
Thing = TypeVar("Thing")


class Source(Protocol):
    """Where a runner gets its matches from."""

    @property
    def left(self) -> int:
        """How many are still to be had, or to be waited for."""
        ...

    def take(self) -> MatchSpec | None:
        """The next match; None: there is none, at least not before another one has ended."""
        ...


class Here(Executor):
    """This process: whatever is submitted is done at once."""

    def submit(self, fn: Callable[Given, Got], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Got]:
        """Do it."""
        done: Future[Got] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


class Hand:
    """An executor, and what it has been given to do; if it breaks, there is a new one."""

    def __init__(self, make: Callable[[], Executor], places: int = 1, killed: tuple[type[Exception], ...] = ()) -> None:
        self.places = places  # jobs that it can do at once
        self.killed = killed  # what is raised for one job if its worker died, while the executor goes on
        self.jobs: dict[Future[Any], Job] = {}
        self.planned: list[MatchSpec] = []  # for its next job
        self._make = make
        self._begin()

    def submit(self, what: Callable[..., Got], *arguments: Any) -> Future[Got]:
        """Have something done; if the process died while it had nothing to do, by a new one."""
        try:
            return self.executor.submit(what, *arguments)
        except BrokenExecutor:
            self.renew()
            return self.executor.submit(what, *arguments)

    def renew(self) -> None:
        """Begin anew, since the process of the executor has died."""
        self.executor.shutdown(wait=False)
        self._begin()

    def interrupt(self) -> None:
        """Do to the worker what Ctrl-C would do, if it is a process of our own."""
        if (process := self._process()) is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid or 0, signal.SIGINT)

    def leave(self) -> None:
        """Ask the worker to end, once it has done what it does."""
        for future in self.jobs:
            future.cancel()
        if self._pid is not None:
            with suppress(Exception):
                self.executor.submit(leave)
        self.executor.shutdown(wait=False)

    def end(self, deadline: float) -> None:
        """Wait until the worker has ended: by its own will, or else by force."""
        process = self._process()
        if process is not None:
            try:
                process.join(max(0.0, deadline - time.monotonic()))
            finally:
                process.kill()
                process.join()

    def _begin(self) -> None:
        try:
            self.executor = self._make()
        except OSError as error:
            raise HostFault(f"no worker can be started: {error.strerror}") from error
        self._pid = self.executor.submit(os.getpid) if isinstance(self.executor, ProcessPoolExecutor) else None

    def _process(self) -> BaseProcess | None:
        """The worker, if it is a process of our own."""
        with suppress(Exception):
            pid = None if self._pid is None else self._pid.result(PATIENCE)
            return next((child for child in multiprocessing.active_children() if child.pid == pid), None)
        return None


class Runner:
    """Plays whatever it is given by the hands that it has. Use it in a `with` statement."""

    def __init__(self, hands: Sequence[Hand], *, shared: bool = True, end: Callable[[], None] = lambda: None) -> None:
        self.hands = hands
        self.token = "" if shared else secrets.token_hex(16)  # by which workers see whether they share our folder
        self._end = end
        self._mean: float | None = None  # seconds that a match takes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(at_once=kind is not None)

    @property
    def places(self) -> int:
        """How many matches are played at once."""
        return sum(hand.places for hand in self.hands)

    def play(self, source: Source) -> Iterator[Played | None]:
        """What comes of the matches of a source, as they end; None whenever nothing has happened for a moment."""
        while True:
            for hand in self.hands:
                while self._give(hand, source):
                    pass
            running = [future for hand in self.hands for future in hand.jobs]
            if not running:
                return
            done = wait(running, TICK, FIRST_COMPLETED).done
            if not done:
                yield None
            for hand in self.hands:
                for future in [one for one in hand.jobs if one in done]:
                    if future in hand.jobs:  # or it has broken with another, and was told already
                        yield from self._ended(hand, future)

    def do_all(self, do: Callable[[Thing], Got], things: Iterable[Thing]) -> Iterator[tuple[Thing, Got] | None]:
        """What comes of doing something with each of these, as it is done; None whenever nothing has happened."""
        waiting, free = deque(things), [hand for hand in self.hands for _ in range(hand.places)]
        futures: dict[Future[Got], tuple[Thing, Hand]] = {}
        deaths = 0
        while waiting or futures:
            while waiting and free:  # whoever has done one takes the next, so that a slow one holds up nobody else
                hand, thing = free.pop(0), waiting.popleft()
                futures[hand.submit(worker.do, do, thing)] = thing, hand
            done = wait(futures, TICK, FIRST_COMPLETED).done
            if not done:
                yield None
            for future in done:
                thing, hand = futures.pop(future)
                free.append(hand)
                try:
                    yield thing, future.result()
                except CancelledError:
                    raise HostFault(GONE) from None
                except Exception as error:
                    if not isinstance(error, (BrokenExecutor, *hand.killed)):
                        raise
                    deaths += 1
                    if deaths > MOST_DEATHS:
                        raise HostFault("the workers die again and again") from None
                    waiting.appendleft(thing)

    def close(self, *, at_once: bool) -> None:
        """End all workers; at once: what they play is interrupted, and can be gone on with."""
        deadline = time.monotonic() + PATIENCE
        with ExitStack() as leaving:
            leaving.callback(self._end)
            for hand in self.hands:
                leaving.callback(hand.end, deadline)
            for hand in self.hands if at_once else ():
                hand.interrupt()
            for hand in self.hands:
                hand.leave()

    def _give(self, hand: Hand, source: Source) -> bool:
        """Give a hand its next job, if it can take one; True: it may take more."""
        quick = self._mean is not None and self._mean * self._size(source) < 2 * WORTH
        if len(hand.jobs) >= hand.places * (2 if quick else 1):
            return False
        specs = hand.planned or self._taken(source) or self._stolen(hand)
        if not specs:
            return False
        hand.planned = self._taken(source) if has_programs(specs[-1]) else []
        following = hand.planned[0] if hand.planned else None
        self._submit(hand, Job(tuple(specs), following, self.token))
        return True

    def _submit(self, hand: Hand, job: Job) -> None:
        hand.jobs[hand.submit(play_all, encode(job))] = job

    def _ended(self, hand: Hand, future: Future[bytes]) -> Iterator[Played]:
        job = hand.jobs.pop(future)
        try:
            all_played = decode_played(future.result())
        except BrokenExecutor:  # and all that it had to do
            others = list(hand.jobs.values())
            hand.jobs.clear()
            hand.renew()
            yield from self._again(hand, job, others)
            return
        except hand.killed:
            yield from self._again(hand, job)
            return
        except CancelledError:
            raise HostFault(GONE) from None
        for played in all_played:
            before = played.took if self._mean is None else self._mean
            self._mean = 0.8 * before + 0.2 * played.took
            yield played

    def _again(self, hand: Hand, lost: Job, others: Sequence[Job] = ()) -> Iterator[Played]:
        """A worker died: what it was to do is done again, match by match, as one of them may be to blame."""
        specs = [*lost.specs, *(spec for job in others for spec in job.specs)]
        if len(lost.specs) == 1:
            yield Played(outcome_of_death(specs.pop(0)))
        for spec in specs:
            self._submit(hand, Job((spec,), None, self.token))

    def _taken(self, source: Source) -> list[MatchSpec]:
        specs: list[MatchSpec] = []
        for _ in range(self._size(source)):
            if (spec := source.take()) is None:
                break
            specs.append(spec)
        return specs

    def _stolen(self, hand: Hand) -> list[MatchSpec]:
        """What another hand has not begun, as it is busy with something slow."""
        for other in self.hands:
            if other is not hand and other.planned:
                specs, other.planned = other.planned, []
                return specs
        return []

    def _size(self, source: Source) -> int:
        """How many matches a job has: worth the way to the worker, and few enough to leave some for all the others."""
        if not self._mean:
            return 1
        fair = ceil(source.left / (4 * self.places))
        return max(1, min(MOST_IN_JOB, fair, int(WORTH / self._mean)))


def outcome_of_death(spec: MatchSpec) -> Outcome:
    """What comes of a match whose worker died."""
    return Outcome(id=spec.id, names=spec.labels, result=None, host_fault="the worker that played it died")


def here() -> Runner:
    """Plays everything in this process."""
    return Runner([Hand(Here)])


def begin_tracking() -> None:
    """Start what multiprocessing starts before all else: whichever thread does so hears SIGINT from then on.

    If it is blocked here, as where a script has started us with &, it has to stay so.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def pool(workers: int) -> Runner:
    """Plays in so many processes on this machine, each with cores of its own; one that dies takes none with it."""
    begin_tracking()
    context = multiprocessing.get_context("spawn")

    makers = [partial(ProcessPoolExecutor, 1, context, enter, (number, workers)) for number in range(workers)]
    return Runner([Hand(maker) for maker in makers])
