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
from fairplay.games import register
from fairplay.hosting.run import run
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.append_file import Disk
from fairplay.players.cpu_slots import CpuSlot, get_cpu_slots
from fairplay.tournament.events import AttemptFailed, MatchBegan, MatchEnded
from fairplay.tournament.running import worker
from fairplay.tournament.running.cluster import dask_runner
from fairplay.tournament.running.directory_run import run_in_directory
from fairplay.tournament.running.runners import InlineExecutor, Runner, WorkerQueue, inline_runner, process_pool_runner
from fairplay.tournament.running.worker import Job
from fairplay.tournament.settings import RoundRobin
from tests.cli.command import LEGAL_BOT
from tests.games.external_games import forget_external_games, write_module
from tests.hosting.specs import interrupted_journal, make_spec
from tests.players.programs import becomes_true, current_holdings, is_cleaned_up, new_holdings
from tests.python_path import python_path
from tests.tournament.players import FLAG_VARIABLE
from tests.tournament.small_tournaments import (
    MISBEHAVING_PLAYERS,
    Calling,
    EventCollector,
    facts_by_match,
    make_tournament,
    run_small_tournament,
    stable_parts,
)

__all__ = ["forget_external_games"]

BOT = str(Path(__file__).parents[3] / "examples" / "a_player.py")
HONEST = make_tournament(
    f"bad={MISBEHAVING_PLAYERS}Cheat", "random", "greedy", "lookahead:1", format=RoundRobin(games=24)
)


def at_last(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, object]:
    directory = tmp_path_factory.mktemp("alone")
    return stable_parts(run_small_tournament(HONEST, directory)[0]), facts_by_match(directory)


@pytest.mark.parametrize("runner", [lambda: process_pool_runner(2), lambda: dask_runner("", 2)], ids=["pool", "dask"])
def test_all_runners_play_the_same(runner: Callable[[], Runner], alone: tuple[object, object], tmp_path: Path) -> None:
    resource_tracker.ensure_running()  # for good
    before = current_holdings()

    counted, _ = run_small_tournament(HONEST, tmp_path, runner)

    assert (stable_parts(counted), facts_by_match(tmp_path)) == alone
    assert becomes_true(lambda: new_holdings(before).children == 0)


def test_where_the_directory_is_not_shared_the_journals_are_sent(alone: tuple[object, object], tmp_path: Path) -> None:
    def apart() -> Runner:
        runner = process_pool_runner(2)
        runner.token = "not what is there"
        return runner

    wiping = Calling(object, lambda event: (tmp_path / "matches" / ".token").unlink(missing_ok=True))
    counted, _ = run_small_tournament(HONEST, tmp_path, apart, [wiping])

    assert (stable_parts(counted), facts_by_match(tmp_path)) == alone


def run_script(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)


@pytest.fixture
def flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that some players wait for."""
    monkeypatch.setenv(FLAG_VARIABLE, str(tmp_path / "flag"))
    return tmp_path / "flag"


def test_a_worker_that_dies_is_replaced_and_its_match_goes_on(flag: Path, tmp_path: Path) -> None:
    players = f"bad={MISBEHAVING_PLAYERS}KillsWorkerOnce", f"{MISBEHAVING_PLAYERS}FirstActionPlayer", "greedy"
    tournament, collector = make_tournament(*players, format=RoundRobin(games=12)), EventCollector()
    flag.touch()
    undisturbed, _ = run_small_tournament(tournament, tmp_path / "undisturbed")
    flag.unlink()

    counted, _ = run_small_tournament(tournament, tmp_path / "disturbed", lambda: process_pool_runner(2), [collector])

    assert flag.exists()
    assert stable_parts(counted) == stable_parts(undisturbed)
    assert len(collector.events_of(MatchEnded)) == 12
    assert facts_by_match(tmp_path / "disturbed") == facts_by_match(tmp_path / "undisturbed")
    assert len(collector.events_of(AttemptFailed)) <= 1


class Listed:
    def __init__(self, specs: Sequence[MatchSpec]) -> None:
        self._specs = deque(specs)

    @property
    def left(self) -> int:
        return len(self._specs)

    def next_match(self) -> MatchSpec | None:
        return self._specs.popleft() if self._specs else None


@pytest.mark.parametrize(("player", "before", "after", "sure"), [("random", 20, 40, 45), (BOT, 0, 3, 3)])
def test_a_slow_match_delays_none(player: str, before: int, after: int, sure: int, flag: Path, tmp_path: Path) -> None:
    slow = make_spec("fish", f"{MISBEHAVING_PLAYERS}WaitsForFlag", player, id="slow", journal=str(tmp_path))
    quick = [
        make_spec("fish", player, "greedy", id=f"m{n}", journal=str(tmp_path), sandbox="none")
        for n in range(before + after)
    ]
    ended = []

    with process_pool_runner(2) as workers:
        for done in workers.play(Listed([*quick[:before], slow, *quick[before:]])):
            ended += [] if done is None else [done.outcome.id]
            if len(ended) == sure:  # all, or all but a few which are in the same job
                flag.touch()

    assert sorted(ended) == sorted(["slow", *(spec.id for spec in quick)])
    assert "slow" not in ended[:sure]


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


def test_a_job_names_the_next_match_whose_programs_can_start(tmp_path: Path) -> None:
    runner = inline_runner()
    [hand] = runner.queues

    runner._submit_next(hand, Listed(bots(tmp_path, 2)))

    [job] = hand.jobs.values()
    assert job.next_spec is not None and job.next_spec.id == "m1"


def test_no_program_starts_early_for_a_guest_or_an_interrupted_match(tmp_path: Path) -> None:
    desk, [first, second, interrupted] = worker.MatchPipeline(), bots(tmp_path, 3)
    with_guest = make_spec("fish", BOT, "tcp:0", id="guest", journal=str(tmp_path))
    half_played = interrupted_journal(interrupted)
    text, before = half_played.read_bytes(), current_holdings()

    for spec, following in ((first, with_guest), (second, interrupted)):
        desk.play(spec, following)
        assert new_holdings(before).children == 0

    assert half_played.read_bytes() == text
    desk.close()


@pytest.mark.parametrize("is_program", [False, True], ids=["in the worker", "a program"])
def test_an_interrupted_tournament_leaves_no_process_and_is_resumed(is_program: bool, tmp_path: Path) -> None:
    resource_tracker.ensure_running()  # for good
    (tmp_path / "slow.py").write_text(LEGAL_BOT.replace("    return", "    __import__('time').sleep(0.1)\n    return"))
    player = str(tmp_path / "slow.py") if is_program else f"{MISBEHAVING_PLAYERS}Slow"
    tournament, before = make_tournament(f"a={player}", "random", format=RoundRobin(games=3)), current_holdings()

    def interrupt_second(event: MatchBegan) -> None:
        if event.match == "m00002":
            threading.Timer(0.6, signal.raise_signal, [signal.SIGINT]).start()

    with pytest.raises(KeyboardInterrupt):
        run_small_tournament(
            tournament, tmp_path, lambda: process_pool_runner(2), [Calling(MatchBegan, interrupt_second)]
        )

    gc.collect()  # the exception holds on to those who were interrupted
    assert at_last(lambda: new_holdings(before).children == 0), new_holdings(before)
    assert is_cleaned_up(before), new_holdings(before)
    counted, _ = run_small_tournament(tournament, tmp_path, lambda: process_pool_runner(2))
    assert [one.places != () for one in counted] == [True] * 3
    assert stable_parts(counted) == stable_parts(run_small_tournament(tournament, tmp_path / "again")[0])


def start_manager(directory: Path, player: str, workers: int, interruptions: tuple[float, ...] = ()) -> Any:
    """A process that runs a tournament, and is interrupted after so many seconds each."""
    (directory / "manager.py").write_text(f"""
import signal, threading
from pathlib import Path
from fairplay.tournament.running.runners import process_pool_runner
from fairplay.tournament.settings import RoundRobin
from tests.tournament.small_tournaments import make_tournament, run_small_tournament
if __name__ == "__main__":
    for seconds in {interruptions}:
        threading.Timer(seconds, signal.raise_signal, [signal.SIGINT]).start()
    players = ("a={MISBEHAVING_PLAYERS}{player}", "b={MISBEHAVING_PLAYERS}{player}")
    tournament = make_tournament(*players, format=RoundRobin(games=4))
    run_small_tournament(tournament, Path({str(directory)!r}), lambda: process_pool_runner({workers}))
""")
    environment = {**os.environ, "PYTHONPATH": python_path(str(Path(__file__).parents[3]))}
    return subprocess.Popen([sys.executable, directory / "manager.py"], env=environment, stderr=subprocess.PIPE)


def test_when_the_manager_is_killed_its_workers_end(tmp_path: Path) -> None:
    with start_manager(tmp_path, "Slow", 2) as manager:
        assert at_last(lambda: len(list((tmp_path / "matches").glob("*.jsonl"))) == 2)
        workers = Path(f"/proc/{manager.pid}/task/{manager.pid}/children").read_text().split()
        manager.kill()

    assert len(workers) >= 2
    assert at_last(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_interrupting_a_tournament_repeatedly_leaves_no_worker(tmp_path: Path) -> None:
    with start_manager(tmp_path, "IgnoresInterrupt", 3, (2.0, 3.0, 4.0)) as manager:
        _, said = manager.communicate(timeout=60)

    assert manager.returncode != 0
    assert b"KeyboardInterrupt" in said


def test_the_manager_needs_no_more_memory_for_more_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Disk, "sync", lambda disk, file: None)
    tournament = make_tournament(
        "random", "greedy", format=RoundRobin(games=1200), parameters={"rows": 3, "columns": 3}
    )
    pages, statm = list[int](), Path("/proc/self/statm")

    weighing = Calling(MatchEnded, lambda event: pages.append(int(statm.read_text().split()[1])))
    run_small_tournament(tournament, tmp_path, observers=[weighing])

    assert len(pages) == 1200
    assert (pages[-1] - pages[400]) * os.sysconf("SC_PAGE_SIZE") < 800 * 4000  # bytes for what counts of each match


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


def die_once(flag: Path) -> int:
    """Kill the process that this is done in, unless that has happened before."""
    try:
        flag.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        return os.getpid()
    return 0


def test_a_call_in_a_worker_that_dies_is_repeated_but_not_without_end(tmp_path: Path) -> None:
    flags = [tmp_path / f"flag{number}" for number in range(3)]

    with process_pool_runner(2) as workers:
        done = dict(one for one in workers.map(die_once, flags) if one is not None)
    with process_pool_runner(1) as workers, pytest.raises(HostFault, match="workers died 11 times"):
        list(workers.map(os._exit, [1]))

    assert set(done) == set(flags)
    assert os.getpid() not in done.values()


def test_a_worker_of_a_replaced_manager_plays_no_match(tmp_path: Path) -> None:
    spec = make_spec("fish", id="m1", journal=str(tmp_path))
    (tmp_path / worker.TOKEN_FILE).write_text("another")

    with pytest.raises(HostFault, match="another manager"):
        worker.play_match(spec, None, "mine")

    assert not (tmp_path / "m1.jsonl").exists()


def test_a_match_that_another_process_plays_is_a_host_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "JOURNAL_RELEASE_TIMEOUT_S", 0.2)
    spec = make_spec("fish", id="m1", journal=str(tmp_path))

    with (tmp_path / "m1.jsonl").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(HostFault, match="still playing"):
            worker.play_match(spec, None, "")

    assert worker.play_match(spec, None, "").outcome.result is not None


def test_only_the_match_that_a_dead_worker_played_fails() -> None:
    runner, hand = Runner([]), WorkerQueue(InlineExecutor)
    first, second = (make_spec("fish", "random", "random", id=id) for id in ("m1", "m2"))

    blamed = list(runner._resubmit(hand, Job((first,)), [Job((second,))]))

    assert [played.outcome.id for played in blamed] == ["m1"]
    assert [spec.id for job in hand.jobs.values() for spec in job.specs] == ["m2"]


def test_matches_in_workers_are_interrupted_with_their_tournament(flag: Path, tmp_path: Path) -> None:
    players = f"{MISBEHAVING_PLAYERS}NotesInterrupt", f"{MISBEHAVING_PLAYERS}FirstActionPlayer"
    spec = make_spec("fish", *players, id="m1", journal=str(tmp_path / "matches"))

    with pytest.raises(KeyboardInterrupt), process_pool_runner(1) as workers:
        for _ in workers.play(Listed([spec])):
            if flag.exists():
                raise KeyboardInterrupt

    assert flag.read_text() == "interrupted"


def test_a_match_that_is_played_apart_leaves_nothing_in_the_directory_of_its_tournament(tmp_path: Path) -> None:
    directory = tmp_path / "cup"
    (spec,) = bots(directory / "matches", 1)

    played_apart = worker.play_unshared(replace(spec, key=str(directory / "key"), hidden=(str(directory),)))

    assert played_apart.outcome.result is not None and played_apart.journal
    assert not directory.exists()


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


@pytest.mark.parametrize(
    "script",
    [
        "import os; from fairplay.tournament.running.worker import pin_to_cores; cores = len(os.sched_getaffinity(0));"
        "pin_to_cores(cores, cores + 1); print(len(os.sched_getaffinity(0)) == 1)",
        "import signal; from fairplay.tournament.running.runners import start_resource_tracker;"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]); start_resource_tracker();"
        "print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))",
    ],
    ids=["a worker for which no core is left shares one", "what starts with SIGINT blocked keeps it blocked"],
)
def test_processes_of_a_tournament_have_cores_and_signals_as_they_should(script: str) -> None:
    assert run_script(script).stdout == "True\n"


class Deserted(Executor):
    """A cluster whose workers were sent away: it cancels whatever it is given."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_without_workers_bots_and_matches_are_a_fault_of_the_host() -> None:
    with pytest.raises(HostFault, match="gone"):
        list(Runner([WorkerQueue(Deserted)]).map(abs, [1]))
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
    said = run_script(
        "import sys; from fairplay.tournament.running.worker import ignore_interrupts\n"
        "sys.unraisablehook = ignore_interrupts\n"
        f"class Failing:\n    def __del__(self):\n        raise {raised}\n"
        "Failing()\n"
    )

    assert (raised in said.stderr) == told


HEADS_BOT = """
import os
from game_coin import Heads
assert not [value for value in os.environ.values() if "game_coin" in value]
def take_turn(view):
    return Heads()
"""


@pytest.mark.usefixtures("forget_external_games")
@pytest.mark.parametrize("runner", [lambda: process_pool_runner(2), lambda: dask_runner("", 1)], ids=["pool", "dask"])
def test_workers_hear_of_an_external_game_by_their_matches(
    runner: Callable[[], Runner], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_module(tmp_path, "game_coin")
    (tmp_path / "bot.py").write_text(HEADS_BOT)
    game = register("py:game_coin:Coin")
    tournament = make_tournament(
        "./bot.py", "random", game=game, parameters={}, format=RoundRobin(games=4), sandbox="none"
    )

    final = run_in_directory(tournament, tmp_path / "cup", runner)

    assert [(one.faults, one.void) for one in final.counted] == [((), "")] * 4
    assert final.bot_failures == {"./bot.py": ""}
    assert not [value for value in os.environ.values() if "game_coin" in value]
