"""Test built-in players in the process pool: same answers, a free event loop, no process left."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairplay import Entrant
from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Answered, Failed, Start, TakeTurn
from fairplay.games import GAMES, game_info
from fairplay.games.fish import Fish
from fairplay.hosting.run import run, run_async
from fairplay.hosting.spec import MatchSpec
from fairplay.hosting.table import Table
from fairplay.players import process_pool
from fairplay.players.address import open_player
from fairplay.players.location import LocalAddress, Location, parse_local_address
from fairplay.players.process_pool import POOL, PooledChannel
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from tests.built_in_players import quick_address
from tests.hosting.specs import play_at_table
from tests.players.programs import becomes_true, current_holdings

KEY = bytes(range(32))
BUILT_IN = [(game, quick_address(game, player)) for game in GAMES for player in game_info(game).built_in]
FISH = Fish(rows=7, columns=7)
CORES = len(os.sched_getaffinity(0))
SLOW = "lookahead:6"  # which thinks for minutes about the view below


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    POOL.close()  # others may have let built-in players think
    before = current_holdings()
    yield
    POOL.close()
    assert becomes_true(lambda: current_holdings() == before), (before, current_holdings())


def views(game: str, count: int) -> list[Any]:
    """The views of the players on turn during a match."""
    rules = game_info(game).rules()
    state = rules.deal(rules.seats[0], KEY)
    found: list[Any] = []
    while (seat := rules.turn(state)) is not None and len(found) < count:
        found.append(rules.view(state, seat))
        state = rules.apply(state, next(rules.actions(found[-1])))
    return found


def moving() -> Any:
    """A view with a lot to think about: all penguins are placed."""
    return views("fish", 9)[-1]


def told(thinker: PooledChannel, *messages: Any) -> list[Answer]:
    async def ask() -> list[Answer]:
        return [await thinker.ask(message) for message in messages]

    return asyncio.run(ask())


@pytest.mark.parametrize(("game", "player"), BUILT_IN)
def test_a_built_in_player_of_the_pool_answers_as_in_this_process(game: str, player: str) -> None:
    here = LocalChannel(open_player(player, game_info(game), KEY), game_info(game).rules())
    questions = [TakeTurn(view) for view in views(game, 12)]

    answers = told(PooledChannel(game, player, KEY), *questions)

    assert answers == [here.ask(question) for question in questions]
    assert all(isinstance(answer, Answered) for answer in answers)


def test_built_in_players_use_the_pool_only_at_async_tables() -> None:
    small, greedy = {"rows": 3, "columns": 3}, Entrant("greedy")
    spec = MatchSpec(game="fish", parameters=small, entrants=(greedy, greedy), seed=KEY)

    here = run(spec)
    before = len(POOL.processes)
    pooled = asyncio.run(run_async(spec))

    assert (before, len(POOL.processes)) == (0, 1)
    assert here.result == pooled.result
    assert type(parse_local_address("in-process:tests.players.programs:first_card", "fish", KEY)) is LocalAddress


def test_a_pooled_player_is_asked_for_turns_alone_and_timed_by_the_clock_of_the_record() -> None:
    ticks, (view,) = iter([10.0, 12.5]), views("fish", 1)
    channel = PooledChannel("fish", "greedy", KEY, lambda: next(ticks))

    assert told(channel, Start(0, ("a", "b"), view)) == [Answered(None)]
    assert POOL.processes == set()
    assert [answer.took for answer in told(channel, TakeTurn(view))] == [2.5]


def test_a_crash_in_the_pool_is_described_as_in_this_process() -> None:
    here = LocalChannel(open_player("greedy", game_info("fish"), KEY), game_info("fish").rules())
    foreign = TakeTurn(views("q", 1)[0])

    (answer,) = told(PooledChannel("fish", "greedy", KEY), foreign)

    assert isinstance(answer, Failed) and answer.fault is Fault.CRASHED
    assert answer == here.ask(foreign)


async def until_it_thinks() -> None:
    while not any(computing(process.pid) > 0.3 for process in tuple(POOL.processes)):
        await asyncio.sleep(0.01)


def computing(pid: int) -> float:
    """Seconds that a process has computed."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_killed_process_of_the_pool_is_a_host_fault() -> None:
    places: dict[int, Location] = {seat: parse_local_address(SLOW, "fish", KEY) for seat in range(2)}
    thinker, question = PooledChannel("fish", "greedy", KEY), TakeTurn(moving())

    async def play() -> None:
        with Table(places) as table:
            playing = asyncio.create_task(play_at_table(table, deal_match(FISH, ["ann", "bob"], KEY)))
            await until_it_thinks()
            for process in tuple(POOL.processes):
                process.kill()
            await playing

    with pytest.raises(HostFault, match="a process of built-in players was killed by signal 9"):
        asyncio.run(play())
    answers = told(thinker, question)
    for process in tuple(POOL.processes):  # while it is idle
        process.kill()
        process.wait()
    assert told(thinker, question) == answers
    assert isinstance(answers[0], Answered)


def test_a_process_of_the_pool_that_cannot_start_is_a_host_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "POOL_WORKER_COMMAND", ("/no/such/program",))

    with pytest.raises(HostFault, match="cannot be started"):
        told(PooledChannel("fish", "greedy", KEY), TakeTurn(moving()))


class OfOurs:
    """What no process can take in that does not have these tests."""


def test_an_invalid_question_to_the_pool_is_a_host_fault() -> None:
    with pytest.raises(HostFault, match="ended with exit code 1"):
        told(PooledChannel("fish", "greedy", KEY), TakeTurn(OfOurs()))

    assert isinstance(told(PooledChannel("fish", "greedy", KEY), TakeTurn(moving()))[0], Answered)


def test_cancelled_questions_to_the_pool_do_not_block_others_and_use_one_process_per_core() -> None:
    async def ask() -> Answer:
        slow = [PooledChannel("fish", "lookahead:3", bytes([n] * 32)).ask(TakeTurn(moving())) for n in range(40)]
        tasks = [asyncio.create_task(one) for one in slow]
        await asyncio.sleep(0.05)
        assert 1 <= len(POOL.processes) <= CORES
        for one in tasks:
            one.cancel()
        await asyncio.wait(tasks)
        assert all(one.cancelled() for one in tasks)
        return await PooledChannel("fish", "greedy", KEY).ask(TakeTurn(moving()))

    assert isinstance(asyncio.run(ask()), Answered)


def test_ctrl_c_does_not_reach_processes_of_the_pool() -> None:
    thinker, question = PooledChannel("fish", "greedy", KEY), TakeTurn(moving())
    told(thinker, question)
    before = set(POOL.processes)

    for process in before:
        assert os.getpgid(process.pid) != os.getpgid(0)
        process.send_signal(signal.SIGINT)
    (answer,) = told(thinker, question)

    assert isinstance(answer, Answered)
    assert before == POOL.processes


HOST = """
import asyncio, sys, os
from tests.hosting.test_process_pool import *
mode = sys.argv[1]

async def main():
    asking = [asyncio.create_task(PooledChannel("fish", SLOW, KEY).ask(TakeTurn(moving()))) for _ in range(CORES)]
    while len(POOL.processes) < CORES:
        await asyncio.sleep(0.01)
    await until_it_thinks()
    print(*(process.pid for process in POOL.processes), flush=True)
    if mode == "kill":
        os.kill(os.getpid(), 9)
    if mode == "fork":
        if (child := os.fork()) == 0:
            os._exit(not isinstance(told_in_a_thread(), Answered))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

def told_in_a_thread():
    import threading
    found = []
    channel, message = PooledChannel("fish", "greedy", KEY), TakeTurn(moving())
    thread = threading.Thread(target=lambda: found.extend(told(channel, message)))
    thread.start()
    thread.join()
    POOL.close()
    return found[0]

asyncio.run(main())
"""


@pytest.mark.parametrize("mode", ["kill", "exit", "fork"])
def test_processes_of_the_pool_end_with_the_host_even_while_they_compute(mode: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HOST, mode],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )

    pids, *rest = done.stdout.splitlines()
    assert done.returncode == (-9 if mode == "kill" else 0), done.stderr
    assert rest == (["0"] if mode == "fork" else [])
    assert done.stderr == ""
    assert len(pids.split()) == CORES
    assert becomes_true(lambda: not any(map(is_alive, pids.split())))


def is_alive(pid: str) -> bool:
    """Is there such a process, and not only what its parent has not looked at yet?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
