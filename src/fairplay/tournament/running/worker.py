"""Play matches in a worker: a process on this machine, or on another one."""

import asyncio
import fcntl
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from fairplay.core.errors import HostFault
from fairplay.hosting.prepared_match import journal_path
from fairplay.hosting.run import run, run_async
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.journal.options import InUse
from fairplay.journal.unfinished_matches import has_begun
from fairplay.players import cpu_slots
from fairplay.players.location import Command, ListenAddress, parse_remote_address
from fairplay.players.process_pool import POOL
from fairplay.transport.event_loop import new_event_loop

JOURNAL_RELEASE_TIMEOUT_S = 30.0  # for a process that played the match before to close its journal
TOKEN_FILE = ".token"  # shows a worker that it shares the directory of the tournament

Item = TypeVar("Item")
Returned = TypeVar("Returned")


class Job(msgspec.Struct, frozen=True):
    """Matches to play one after the other."""

    specs: tuple[MatchSpec, ...]
    next_spec: MatchSpec | None = None  # the probable next match, whose programs can start meanwhile
    token: str = ""  # the content of the token file if the directory is shared; empty: it is shared


class PlayedMatch(msgspec.Struct, frozen=True):
    """What a worker sends back for a match."""

    outcome: Outcome
    journal: bytes | None = None  # only if the directory is not shared
    seconds: float = 0.0  # of the match, with its preparation


encode = msgspec.msgpack.Encoder().encode
decode_job = msgspec.msgpack.Decoder(Job).decode
decode_played = msgspec.msgpack.Decoder(tuple[PlayedMatch, ...]).decode


def play_job(text: bytes) -> bytes:
    """Play the matches of a job; job and outcomes are MessagePack, which takes a fifth of the time of pickling."""
    job = decode_job(text)
    with interruptible():
        played = [
            play_match(spec, following, job.token)
            for spec, following in zip(job.specs, (*job.specs[1:], job.next_spec), strict=True)
        ]
    return encode(played)


def call_interruptibly(function: Callable[[Item], Returned], item: Item) -> Returned:
    """Call a function so that SIGINT can interrupt it."""
    with interruptible():
        return function(item)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt this block in a worker of a pool; an idle worker ignores it."""
    global was_interrupted
    if PIPELINE is None:
        yield
        return
    if was_interrupted:
        raise KeyboardInterrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        was_interrupted = True
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def play_match(spec: MatchSpec, following: MatchSpec | None, token: str) -> PlayedMatch:
    """Play a match."""
    since = time.monotonic()
    if token and not shares_directory(spec, token):
        return play_unshared(spec)
    try:
        outcome = play_shared(spec, following)
    except InUse:
        wait_for_journal(spec)
        outcome = play_shared(spec, following)
    return PlayedMatch(outcome, seconds=time.monotonic() - since)


def play_shared(spec: MatchSpec, following: MatchSpec | None) -> Outcome:
    """Play a match, with the pipeline if it has programs."""
    return PIPELINE.play(spec, following) if PIPELINE is not None and has_programs(spec) else run(spec)


def play_unshared(spec: MatchSpec) -> PlayedMatch:
    """Play a match without access to the directory of the tournament."""
    since = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fairplay-") as directory:
        outcome = run(replace(spec, journal=directory, key=str(Path(directory, "key")), hidden=()))
        text = None if outcome.journal is None else Path(outcome.journal).read_bytes()
    return PlayedMatch(replace(outcome, journal=None), text, time.monotonic() - since)


def shares_directory(spec: MatchSpec, token: str) -> bool:
    """Whether manager and worker share the directory of journals. Raises HostFault if another manager runs there."""
    try:
        found = Path(spec.journal or "", TOKEN_FILE).read_text()
    except OSError:
        return False
    if found != token:
        raise HostFault("another manager runs this tournament")
    return True


def wait_for_journal(spec: MatchSpec) -> None:
    """Wait until no other process holds the journal of a match: one that does may be about to end."""
    deadline = time.monotonic() + JOURNAL_RELEASE_TIMEOUT_S
    with ExitStack() as closing:
        try:
            file = closing.enter_context(journal_path(spec).open("rb"))
        except OSError:  # playing the match reports the error
            return
        while time.monotonic() < deadline:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until it is closed
                return
            except BlockingIOError:
                time.sleep(0.02)
    raise HostFault(f"{journal_path(spec)}: another process is still playing this match")


location_type = cache(lambda address: type(parse_remote_address(address)))  # of an address


def has_programs(spec: MatchSpec) -> bool:
    """Whether a match has programs to start, and no player that has to join."""
    kinds = set(map(location_type, spec.addresses))
    return Command in kinds and ListenAddress not in kinds


class MatchPipeline:
    """Plays matches with programs one at a time, while the programs of the next one start."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=new_event_loop)
        self._prepared: dict[str, tuple[asyncio.Task[Outcome], asyncio.Event]] = {}  # by the id of the match

    def play(self, spec: MatchSpec, following: MatchSpec | None) -> Outcome:
        """Play a match to its end."""
        return self._runner.run(self._play(spec, following))

    def close(self) -> None:
        """Cancel the prepared matches."""
        self._runner.run(self._cancel(*self._prepared))
        self._runner.close()

    async def _play(self, spec: MatchSpec, following: MatchSpec | None) -> Outcome:
        await self._cancel(*(id for id in self._prepared if id != spec.id))
        if spec.id not in self._prepared:
            self._prepare(spec)
        match, ready = self._prepared.pop(spec.id)
        ready.set()
        if following is not None and has_programs(following) and not has_begun(journal_path(following)):
            self._prepare(following)
        try:
            return await match
        except asyncio.CancelledError:
            await self._cancel(*self._prepared)
            raise

    def _prepare(self, spec: MatchSpec) -> None:
        ready = asyncio.Event()
        self._prepared[spec.id] = asyncio.create_task(run_async(spec, ready=ready)), ready

    async def _cancel(self, *ids: str) -> None:
        tasks = [self._prepared.pop(id)[0] for id in ids]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


was_interrupted = False  # then this worker begins nothing else
PIPELINE: MatchPipeline | None = None  # only in a worker of a pool, which plays in its main thread


def start_worker(number: int, workers: int) -> None:
    """Begin as one of several workers of a pool on this machine."""
    global PIPELINE
    with suppress(OSError):
        os.setpgid(0, 0)  # Ctrl-C at the terminal goes to the manager alone
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.unraisablehook = ignore_interrupts
    os.dup2(2, 1)  # players in this process may print
    pin_to_cores(number, workers)
    cpu_slots.limit_cpu_slots(1)  # while a player thinks, no program of the next match starts
    PIPELINE = MatchPipeline()
    threading.Thread(target=end_with_parent, daemon=True).start()


def ignore_interrupts(unraisable: Any) -> None:
    """Ignore an interruption where no exception can be raised: the manager kills workers that do not end."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def pin_to_cores(number: int, workers: int) -> None:
    """Take a share of the cores, so that no worker's players slow down those of another."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        with suppress(OSError):
            os.sched_setaffinity(0, cores[number::workers] or [cores[number % len(cores)]])


def end_with_parent() -> None:
    """End when the manager ends in any way, so that another one can open its journals."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def stop_worker() -> None:
    """Stop all players of this worker."""
    if PIPELINE is not None:
        PIPELINE.close()
    POOL.close()
