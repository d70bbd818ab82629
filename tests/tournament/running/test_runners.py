"""Test that matches have the same results in this process, in a pool and on a cluster, though workers die."""

import asyncio
import fcntl
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.core.errors import HostFault
from fairplay.hosting.run import run
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.append_file import Disk
from fairplay.players.cpu_slots import CpuSlot, get_cpu_slots
from fairplay.tournament.events import AttemptFailed, MatchBegan, MatchEnded
from fairplay.tournament.running import worker
from fairplay.tournament.running.cluster import dask_runner
from fairplay.tournament.running.runners import InlineExecutor, Runner, WorkerQueue, inline_runner, process_pool_runner
from fairplay.tournament.running.worker import Job
from fairplay.tournament.settings import RoundRobin
from tests.hosting.specs import interrupted_journal, make_spec
from tests.players.programs import becomes_true, current_holdings, is_cleaned_up, new_holdings
from tests.python_path import python_path
from tests.tournament.players import FLAG_VARIABLE
from tests.tournament.small_tournaments import (
    MISBEHAVING_PLAYERS,
    EventCollector,
    facts_by_match,
    make_tournament,
    run_small_tournament,
    stable_parts,
)

HONEST = make_tournament(
    f"bad={MISBEHAVING_PLAYERS}Cheat", "random", "greedy", "lookahead:1", format=RoundRobin(games=24)
)
ROOT = str(Path(__file__).parents[3])
BOT = str(Path(__file__).parents[3] / "examples" / "a_player.py")


def at_last(is_so: Callable[[], bool]) -> bool:
    """Whether a condition becomes true in time."""
    deadline = time.monotonic() + 20
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so()


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, object]:
    """The outcomes in this process."""
    directory = tmp_path_factory.mktemp("alone")
    return stable_parts(run_small_tournament(HONEST, directory)[0]), facts_by_match(directory)


@pytest.mark.parametrize(
    "runner",
    [lambda: process_pool_runner(1), lambda: process_pool_runner(2), lambda: dask_runner("", 2)],
    ids=["1", "2", "dask"],
)
def test_every_runner_plays_the_same_matches(runner: object, alone: tuple[object, object], tmp_path: Path) -> None:
    resource_tracker.ensure_running()  # for good
    before = current_holdings()
    assert callable(runner)

    counted, _ = run_small_tournament(HONEST, tmp_path, runner)

    assert (stable_parts(counted), facts_by_match(tmp_path)) == alone
    assert becomes_true(lambda: new_holdings(before).children == 0)


def test_where_the_directory_is_not_shared_the_journals_are_sent(alone: tuple[object, object], tmp_path: Path) -> None:
    def apart() -> Runner:
        runner = process_pool_runner(2)
        runner.token = "not what is there"
        return runner

    class Wiping:
        def observe(self, event: object) -> None:
            (tmp_path / "matches" / ".token").unlink(missing_ok=True)

    counted, _ = run_small_tournament(HONEST, tmp_path, apart, [Wiping()])

    assert (stable_parts(counted), facts_by_match(tmp_path)) == alone


@pytest.fixture
def flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that some players wait for."""
    monkeypatch.setenv(FLAG_VARIABLE, str(tmp_path / "flag"))
    return tmp_path / "flag"


def test_a_worker_that_dies_is_replaced_and_its_match_goes_on(flag: Path, tmp_path: Path) -> None:
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}KillsWorkerOnce",
        f"{MISBEHAVING_PLAYERS}FirstActionPlayer",
        "greedy",
        format=RoundRobin(games=12),
    )
    flag.touch()
    undisturbed, _ = run_small_tournament(tournament, tmp_path / "undisturbed")
    flag.unlink()
    collector = EventCollector()

    counted, _ = run_small_tournament(tournament, tmp_path / "disturbed", lambda: process_pool_runner(2), [collector])

    assert flag.exists()
    assert stable_parts(counted) == stable_parts(undisturbed)
    assert len(collector.events_of(MatchEnded)) == 12
    assert facts_by_match(tmp_path / "disturbed") == facts_by_match(tmp_path / "undisturbed")
    assert len(collector.events_of(AttemptFailed)) <= 1


class Listed:
    """Matches one after the other."""

    def __init__(self, specs: Sequence[MatchSpec]) -> None:
        self._specs = deque(specs)

    @property
    def left(self) -> int:
        return len(self._specs)

    def next_match(self) -> MatchSpec | None:
        return self._specs.popleft() if self._specs else None


def test_a_slow_match_delays_no_other(flag: Path, tmp_path: Path) -> None:
    slow = make_spec("fish", f"{MISBEHAVING_PLAYERS}WaitsForFlag", "random", id="slow", journal=str(tmp_path))
    quick = [make_spec("fish", "random", "greedy", id=f"m{n}", journal=str(tmp_path)) for n in range(60)]
    ended = []

    with process_pool_runner(2) as workers:
        for done in workers.play(Listed([*quick[:20], slow, *quick[20:]])):
            ended += [] if done is None else [done.outcome.id]
            if len(ended) == 45:  # all but a few which are in the same job
                flag.touch()

    assert sorted(ended) == sorted(["slow", *(spec.id for spec in quick)])
    assert "slow" not in ended[:45]


def bots(directory: Path, count: int) -> list[MatchSpec]:
    return [make_spec("fish", BOT, "random", id=f"m{number}", journal=str(directory)) for number in range(count)]


def test_the_programs_of_the_next_match_are_started_while_one_is_played(tmp_path: Path) -> None:
    before, desk, [first, second, third] = current_holdings(), worker.MatchPipeline(), bots(tmp_path, 3)

    assert desk.play(first, second).result is not None
    assert new_holdings(before).children > 0  # they wait
    assert not (tmp_path / "m1.jsonl").exists()  # so another process may play the match
    assert desk.play(second, third).result is not None
    assert desk.play(first, None) == run(first)  # who waited for the third is sent away, and nothing is played twice
    assert not (tmp_path / "m2.jsonl").exists()
    desk.close()

    assert is_cleaned_up(before)


def test_an_idle_worker_takes_matches_that_another_has_not_begun(flag: Path, tmp_path: Path) -> None:
    slow, ended = make_spec("fish", f"{MISBEHAVING_PLAYERS}WaitsForFlag", BOT, id="slow", journal=str(tmp_path)), []

    with process_pool_runner(2) as workers:
        for done in workers.play(Listed([slow, *bots(tmp_path, 3)])):
            ended += [] if done is None else [done.outcome.id]
            if len(ended) == 3:
                flag.touch()

    assert sorted(ended[:-1]) == ["m0", "m1", "m2"]
    assert ended[-1] == "slow"


def test_a_job_names_the_next_match_whose_programs_can_start(tmp_path: Path) -> None:
    runner = inline_runner()
    [hand] = runner.queues

    runner._submit_next(hand, Listed(bots(tmp_path, 2)))

    [job] = hand.jobs.values()
    assert job.next_spec is not None and job.next_spec.id == "m1"


def test_no_program_is_started_early_for_a_match_that_waits_for_a_guest(tmp_path: Path) -> None:
    before, desk, [first] = current_holdings(), worker.MatchPipeline(), bots(tmp_path, 1)
    with_a_guest = make_spec("fish", BOT, "tcp:0", id="guest", journal=str(tmp_path))

    desk.play(first, with_a_guest)

    assert new_holdings(before).children == 0
    desk.close()


def test_no_program_starts_early_for_a_match_that_was_interrupted(tmp_path: Path) -> None:
    first, second = bots(tmp_path, 2)
    half_played = interrupted_journal(second)
    text = half_played.read_bytes()
    before, desk = current_holdings(), worker.MatchPipeline()

    desk.play(first, second)

    assert new_holdings(before).children == 0
    assert half_played.read_bytes() == text
    desk.close()


def slow_program(directory: Path) -> str:
    """A program that thinks long about everything."""
    (directory / "bots").mkdir()
    bot = directory / "bots" / "slow.py"
    turn = "    def take_turn(self, view: View) -> Action:\n"
    bot.write_text(Path(BOT).read_text().replace(turn, f"{turn}        __import__('time').sleep(0.1)\n"))
    assert "sleep" in bot.read_text()
    return str(bot)


@pytest.mark.parametrize("is_program", [False, True], ids=["in the worker", "a program"])
def test_an_interrupted_tournament_leaves_no_process_and_is_resumed(is_program: bool, tmp_path: Path) -> None:
    resource_tracker.ensure_running()  # for good
    player = slow_program(tmp_path) if is_program else f"{MISBEHAVING_PLAYERS}Slow"
    tournament, before = make_tournament(f"a={player}", "random", format=RoundRobin(games=3)), current_holdings()

    class Interrupting:
        def observe(self, event: object) -> None:
            if isinstance(event, MatchBegan) and event.match == "m00002":
                threading.Timer(0.6, signal.raise_signal, [signal.SIGINT]).start()

    with pytest.raises(KeyboardInterrupt):
        run_small_tournament(tournament, tmp_path, lambda: process_pool_runner(2), [Interrupting()])

    gc.collect()  # the exception holds on to those who were interrupted
    assert at_last(lambda: new_holdings(before).children == 0), new_holdings(before)
    assert is_cleaned_up(before), new_holdings(before)
    counted, _ = run_small_tournament(tournament, tmp_path, lambda: process_pool_runner(2))
    assert [one.places != () for one in counted] == [True] * 3
    assert stable_parts(counted) == stable_parts(run_small_tournament(tournament, tmp_path / "again")[0])


def test_when_the_manager_is_killed_its_workers_end(tmp_path: Path) -> None:
    text = f"""
from pathlib import Path
from fairplay.tournament.running.runners import process_pool_runner
from tests.tournament.small_tournaments import make_tournament, run_small_tournament
from fairplay.tournament.settings import RoundRobin
if __name__ == "__main__":
    players = ("a={MISBEHAVING_PLAYERS}Slow", "b={MISBEHAVING_PLAYERS}Slow")
    tournament = make_tournament(*players, format=RoundRobin(games=4))
    run_small_tournament(tournament, Path({str(tmp_path)!r}), lambda: process_pool_runner(2))
"""
    (tmp_path / "manager.py").write_text(text)
    manager = subprocess.Popen(
        [sys.executable, tmp_path / "manager.py"], env={**os.environ, "PYTHONPATH": python_path(ROOT)}
    )
    journals = tmp_path / "matches"
    assert at_last(lambda: len(list(journals.glob("*.jsonl"))) == 2)
    workers = children_of(manager.pid)

    manager.kill()
    manager.wait()

    assert len(workers) >= 2
    assert at_last(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_observers_that_a_tournament_names_watch_where_the_matches_are_played(flag: Path, tmp_path: Path) -> None:
    tournament = make_tournament(
        "random", "greedy", format=RoundRobin(games=3), observers=("py:tests.tournament.players:NotingObserver",)
    )

    run_small_tournament(tournament, tmp_path, lambda: process_pool_runner(2))

    told = [line.split() for line in flag.read_text().splitlines()]
    assert sum(what == "Ended" for what, _ in told) == 3
    assert str(os.getpid()) not in {process for _, process in told}


def test_the_manager_needs_no_more_memory_for_more_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Disk, "sync", lambda disk, file: None)
    tournament = make_tournament(
        "random", "greedy", format=RoundRobin(games=1200), parameters={"rows": 3, "columns": 3}
    )
    sizes: list[int] = []

    class Weighing:
        def observe(self, event: object) -> None:
            if isinstance(event, MatchEnded):
                sizes.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))

    run_small_tournament(tournament, tmp_path, observers=[Weighing()])

    assert len(sizes) == 1200
    assert sizes[-1] - sizes[400] < 800 * 4000  # bytes for each match: what counts of it, and nothing else


def test_a_worker_that_ignores_interrupts_is_killed_and_queued_matches_do_not_begin(tmp_path: Path) -> None:
    resource_tracker.ensure_running()  # for good
    before, players = current_holdings(), [f"{MISBEHAVING_PLAYERS}IgnoresInterrupt", f"{MISBEHAVING_PLAYERS}Slow"]
    specs = [make_spec("fish", *players, id=f"m{number}", journal=str(tmp_path)) for number in range(4)]

    with pytest.raises(KeyboardInterrupt), process_pool_runner(2) as workers:
        for _ in workers.play(Listed(specs)):
            if len(list(tmp_path.glob("*.jsonl"))) == 2:
                raise KeyboardInterrupt

    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    assert at_last(lambda: new_holdings(before).children == 0)


def test_interrupting_a_tournament_repeatedly_leaves_no_worker(tmp_path: Path) -> None:
    text = f"""
import signal, threading
from pathlib import Path
from fairplay.tournament.running.runners import process_pool_runner
from fairplay.tournament.settings import RoundRobin
from tests.tournament.small_tournaments import make_tournament, run_small_tournament
if __name__ == "__main__":
    for seconds in (2.0, 3.0, 4.0):
        threading.Timer(seconds, signal.raise_signal, [signal.SIGINT]).start()
    players = ("a={MISBEHAVING_PLAYERS}IgnoresInterrupt", "b={MISBEHAVING_PLAYERS}IgnoresInterrupt")
    tournament = make_tournament(*players, format=RoundRobin(games=4))
    run_small_tournament(tournament, Path({str(tmp_path)!r}), lambda: process_pool_runner(3))
"""
    (tmp_path / "manager.py").write_text(text)
    done = subprocess.run(
        [sys.executable, tmp_path / "manager.py"],
        env={**os.environ, "PYTHONPATH": python_path(ROOT)},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert done.returncode != 0
    assert b"KeyboardInterrupt" in done.stderr


def die_once(flag: Path) -> int:
    """Kill the process that this is done in, unless that has happened before."""
    try:
        flag.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        return os.getpid()
    return 0


def test_a_call_in_a_worker_that_dies_is_repeated(tmp_path: Path) -> None:
    flags = [tmp_path / f"flag{number}" for number in range(3)]

    with process_pool_runner(2) as workers:
        done = dict(one for one in workers.map(die_once, flags) if one is not None)

    assert set(done) == set(flags)
    assert os.getpid() not in done.values()


def test_workers_that_die_again_and_again_are_a_fault_of_the_host() -> None:
    with process_pool_runner(1) as workers, pytest.raises(HostFault, match="workers died 11 times"):
        list(workers.map(os._exit, [1]))


def test_a_worker_of_a_replaced_manager_plays_no_match(tmp_path: Path) -> None:
    spec = make_spec("fish", id="m1", journal=str(tmp_path))
    (tmp_path / worker.TOKEN_FILE).write_text("another")

    with pytest.raises(HostFault, match="another manager"):
        worker.play_match(spec, None, "mine")

    assert not (tmp_path / "m1.jsonl").exists()


def test_a_match_that_another_process_plays_is_waited_for_and_then_a_fault_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "JOURNAL_RELEASE_TIMEOUT_S", 0.2)
    path = tmp_path / "m1.jsonl"
    path.touch()

    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(HostFault, match="still playing"):
            worker.play_match(make_spec("fish", id="m1", journal=str(tmp_path)), None, "")

    assert worker.play_match(make_spec("fish", id="m1", journal=str(tmp_path)), None, "").outcome.result is not None


def test_only_the_match_that_a_dead_worker_played_fails() -> None:
    runner, hand = Runner([]), WorkerQueue(InlineExecutor)
    first, second = (make_spec("fish", "random", "random", id=id) for id in ("m1", "m2"))

    blamed = list(runner._resubmit(hand, Job((first,)), [Job((second,))]))

    assert [played.outcome.id for played in blamed] == ["m1"]
    assert [spec.id for job in hand.jobs.values() for spec in job.specs] == ["m2"]


def test_matches_in_workers_are_interrupted_with_their_tournament(flag: Path, tmp_path: Path) -> None:
    spec = make_spec(
        "fish",
        f"{MISBEHAVING_PLAYERS}NotesInterrupt",
        f"{MISBEHAVING_PLAYERS}FirstActionPlayer",
        id="m1",
        journal=str(tmp_path / "matches"),
    )

    with pytest.raises(KeyboardInterrupt), process_pool_runner(1) as workers:
        for _ in workers.play(Listed([spec])):
            if flag.exists():
                raise KeyboardInterrupt

    assert flag.read_text() == "interrupted"


def test_a_match_that_is_played_apart_leaves_nothing_in_the_directory_of_its_tournament(tmp_path: Path) -> None:
    directory = tmp_path / "cup"
    (spec,) = bots(directory / "matches", 1)

    played_apart = worker.play_unshared(replace(spec, key=str(directory / "key"), hidden=(str(directory),)))

    assert played_apart.outcome.result is not None
    assert played_apart.journal
    assert not directory.exists()


def test_a_worker_for_which_no_core_is_left_shares_one() -> None:
    script = (
        "import os; from fairplay.tournament.running.worker import pin_to_cores; cores = len(os.sched_getaffinity(0));"
        "pin_to_cores(cores, cores + 1); print(len(os.sched_getaffinity(0)))"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout == "1\n"


def test_a_worker_that_was_interrupted_begins_nothing_else() -> None:
    with process_pool_runner(1) as workers:
        [hand] = workers.queues
        first = hand.submit(worker.call_interruptibly, signal.raise_signal, signal.SIGINT)
        second = hand.submit(worker.call_interruptibly, abs, -1)

        assert isinstance(first.exception(20), KeyboardInterrupt)
        assert isinstance(second.exception(20), KeyboardInterrupt)


def test_programs_of_the_next_match_end_when_a_match_is_interrupted(tmp_path: Path) -> None:
    before, desk, [first, second] = current_holdings(), worker.MatchPipeline(), bots(tmp_path, 2)
    interrupting = replace(first, observers=("py:tests.tournament.players:InterruptingObserver",))

    with pytest.raises(KeyboardInterrupt):
        desk.play(interrupting, second)

    assert not desk._prepared
    desk.close()
    assert is_cleaned_up(before)


def test_a_tournament_that_starts_with_sigint_blocked_keeps_it_blocked() -> None:
    script = (
        "import signal; from fairplay.tournament.running.runners import start_resource_tracker;"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]); start_resource_tracker();"
        "print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout == "True\n"


class Deserted(Executor):
    """A cluster whose workers were sent away: it cancels whatever it is given."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_checking_bots_without_workers_is_a_fault_of_the_host() -> None:
    with pytest.raises(HostFault, match="gone"):
        list(Runner([WorkerQueue(Deserted)]).map(abs, [1]))


def test_playing_matches_without_workers_is_a_fault_of_the_host() -> None:
    with pytest.raises(HostFault, match="gone"):
        list(Runner([WorkerQueue(Deserted)]).play(Listed([make_spec("fish")])))


def test_jobs_that_a_worker_has_not_begun_are_cancelled_when_it_exits() -> None:
    hand, over = WorkerQueue(lambda: ThreadPoolExecutor(1)), threading.Event()
    begun, queued = (hand.submit(over.wait, 20) for _ in range(2))
    hand.jobs = {begun: Job(()), queued: Job(())}

    hand.request_exit()

    over.set()
    assert queued.cancelled()


def asks_two_at_once() -> bool:
    """May a second program be asked in this process while the first thinks?"""

    async def ask() -> bool:
        has_slot = [False, False]
        for number in range(2):
            get_cpu_slots().acquire(CpuSlot(partial(has_slot.__setitem__, number, True)))
        return has_slot[1]

    return asyncio.run(ask())


def test_a_worker_asks_one_program_at_a_time_however_many_cores_it_has() -> None:
    with process_pool_runner(1) as workers:
        [hand] = workers.queues

        assert not hand.submit(asks_two_at_once).result(20)


@pytest.mark.parametrize(("raised", "told"), [("KeyboardInterrupt", False), ("ValueError", True)])
def test_a_worker_prints_unraisable_exceptions_except_interruptions(raised: str, told: bool) -> None:
    script = (
        "import sys; from fairplay.tournament.running.worker import ignore_interrupts\n"
        "sys.unraisablehook = ignore_interrupts\n"
        f"class Failing:\n    def __del__(self):\n        raise {raised}\n"
        "Failing()\n"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)

    assert (raised in done.stderr) == told
