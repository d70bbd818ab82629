"""Play matches in a worker: in a process of its own, here or on another machine."""

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
from fairplay.hosting.run import run, run_async
from fairplay.hosting.sitting import path_of
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.journal.requests import InUse
from fairplay.journal.unfinished import has_begun
from fairplay.players import slots
from fairplay.players.location import Command, Invitation, far
from fairplay.players.thinking import POOL
from fairplay.transport.event_loop import new_event_loop

PATIENCE = 30.0  # seconds for whoever played a match before to let go of its journal
TOKEN = ".token"  # the file by which a worker sees that the folder is the tournament's own

Thing = TypeVar("Thing")
Got = TypeVar("Got")


class Job(msgspec.Struct, frozen=True):
    """Matches to be played one after the other."""

    specs: tuple[MatchSpec, ...]
    following: MatchSpec | None = None  # what will probably come next: its programs can be started meanwhile
    token: str = ""  # what is in the folder of journals if it is shared; empty: it surely is


class Played(msgspec.Struct, frozen=True):
    """What a worker sends back of a match."""

    outcome: Outcome
    journal: bytes | None = None  # if the folder is not shared
    took: float = 0.0  # seconds, with all that is around a match


encode = msgspec.msgpack.Encoder().encode
decode_job = msgspec.msgpack.Decoder(Job).decode
decode_played = msgspec.msgpack.Decoder(tuple[Played, ...]).decode


def play_all(text: bytes) -> bytes:
    """Play the matches of a job; both travel as MessagePack, which takes a fifth of the time of pickling."""
    job = decode_job(text)
    with interruptible():
        played = [
            play(spec, following, job.token)
            for spec, following in zip(job.specs, (*job.specs[1:], job.following), strict=True)
        ]
    return encode(played)


def do(what: Callable[[Thing], Got], thing: Thing) -> Got:
    """Do something else that can be interrupted."""
    with interruptible():
        return what(thing)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT end what is done here, in a worker of a pool; one that has nothing to do does not hear it."""
    global interrupted
    if DESK is None:
        yield
        return
    if interrupted:
        raise KeyboardInterrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def play(spec: MatchSpec, following: MatchSpec | None, token: str) -> Played:
    """Play a match."""
    since = time.monotonic()
    if token and not is_shared(spec, token):
        return play_apart(spec)
    try:
        outcome = outcome_of(spec, following)
    except InUse:
        wait_until_free(spec)
        outcome = outcome_of(spec, following)
    return Played(outcome, took=time.monotonic() - since)


def outcome_of(spec: MatchSpec, following: MatchSpec | None) -> Outcome:
    """Play a match where its programs are seated already, if it has any."""
    return DESK.play(spec, following) if DESK is not None and has_programs(spec) else run(spec)


def play_apart(spec: MatchSpec) -> Played:
    """Play a match where the tournament's folder is not at hand."""
    since = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fairplay-") as folder:
        outcome = run(replace(spec, journal=folder, key=str(Path(folder, "key")), hidden=()))
        text = None if outcome.journal is None else Path(outcome.journal).read_bytes()
    return Played(replace(outcome, journal=None), text, time.monotonic() - since)


def is_shared(spec: MatchSpec, token: str) -> bool:
    """Is the folder of journals the one that the manager sees? Raises HostFault if another one has taken over."""
    try:
        found = Path(spec.journal or "", TOKEN).read_text()
    except OSError:
        return False
    if found != token:
        raise HostFault("another manager goes on with this tournament")
    return True


def wait_until_free(spec: MatchSpec) -> None:
    """Wait until nobody writes to a match's journal: whoever did so may be about to die."""
    deadline = time.monotonic() + PATIENCE
    with ExitStack() as closing:
        try:
            file = closing.enter_context(path_of(spec).open("rb"))
        except OSError:  # whoever opens it to play says what is wrong with it
            return
        while time.monotonic() < deadline:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # and let go of it when it is closed
                return
            except BlockingIOError:
                time.sleep(0.02)
    raise HostFault(f"{path_of(spec)}: another process is still playing this match")


kind_of = cache(lambda address: type(far(address)))  # of the place where a player is


def has_programs(spec: MatchSpec) -> bool:
    """Are programs, which take a while, to be started for a match, and nobody else to be waited for?"""
    kinds = set(map(kind_of, spec.addresses))
    return Command in kinds and Invitation not in kinds


class Desk:
    """Where the matches with programs are played: one at a time, while those of the next are started and sit down."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=new_event_loop)
        self._seated: dict[str, tuple[asyncio.Task[Outcome], asyncio.Event]] = {}  # by the match's id

    def play(self, spec: MatchSpec, following: MatchSpec | None) -> Outcome:
        """Play a match to its end."""
        return self._runner.run(self._play(spec, following))

    def close(self) -> None:
        """Send everybody away who still sits."""
        self._runner.run(self._call_off(*self._seated))
        self._runner.close()

    async def _play(self, spec: MatchSpec, following: MatchSpec | None) -> Outcome:
        await self._call_off(*(id for id in self._seated if id != spec.id))
        if spec.id not in self._seated:
            self._sit_down(spec)
        match, ready = self._seated.pop(spec.id)
        ready.set()
        if following is not None and has_programs(following) and not has_begun(path_of(following)):
            self._sit_down(following)
        try:
            return await match
        except asyncio.CancelledError:
            await self._call_off(*self._seated)
            raise

    def _sit_down(self, spec: MatchSpec) -> None:
        ready = asyncio.Event()
        self._seated[spec.id] = asyncio.create_task(run_async(spec, ready=ready)), ready

    async def _call_off(self, *ids: str) -> None:
        tasks = [self._seated.pop(id)[0] for id in ids]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


interrupted = False  # then nothing else is begun
DESK: Desk | None = None  # only in a worker of a pool, which plays in its main thread


def enter(number: int, workers: int) -> None:
    """Begin as one of several workers of a pool on this machine."""
    global DESK
    with suppress(OSError):
        os.setpgid(0, 0)  # Ctrl-C at the terminal is the manager's business
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.unraisablehook = hush
    os.dup2(2, 1)  # what players print in this process is no result
    pin(number, workers)
    slots.at_most(1)  # while somebody thinks, nobody of the next match is started or says hello
    DESK = Desk()
    threading.Thread(target=end_with_parent, daemon=True).start()


def hush(unraisable: Any) -> None:
    """Say nothing of an interruption that came where nothing can be raised: whoever sent it does not wait forever."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def pin(number: int, workers: int) -> None:
    """Take a share of the cores, so that no worker's players slow down those of another."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        with suppress(OSError):
            os.sched_setaffinity(0, cores[number::workers] or [cores[number % len(cores)]])


def end_with_parent() -> None:
    """End when the manager does, whatever it died of: its journals are free then, and somebody else can go on."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def leave() -> None:
    """Leave nobody behind."""
    if DESK is not None:
        DESK.close()
    POOL.close()
