"""Check that event loops report their polls and notice signals."""

import ast
import asyncio
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import fairplay
from fairplay.core.messages import Answered, TakeTurn
from fairplay.games.fish import Fish
from fairplay.players.remote import RemoteChannel
from fairplay.transport.event_loop import TimingEventLoop, run
from tests.nonempty import nonempty
from tests.players.scripted_connections import ScriptedConnection, reply_with

GAME = Fish(rows=4, columns=4)
SOURCES = Path(fairplay.__file__).parent
ENOUGH = 20.0  # seconds


class Looks:
    def __init__(self) -> None:
        self.seen: list[tuple[float, float]] = []

    def begin_poll(self, now: float) -> None:
        pass

    def end_poll(self, since: float, now: float) -> None:
        self.seen.append((since, now))


@pytest.mark.skipif(sys.platform == "win32", reason="there, the loop that can be observed starts no programs")
def test_a_loop_reports_its_polls_and_how_long_they_waited() -> None:
    looks = Looks()

    async def wait() -> float:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, TimingEventLoop)
        loop.selector.observer = looks
        since = loop.time()
        await asyncio.sleep(0.01)
        return since

    since = run(wait())

    assert all(since <= began <= ended for began, ended in nonempty(looks.seen))
    assert max(ended - began for began, ended in looks.seen) > 0.005


def test_a_signal_just_before_the_wait_is_handled_at_once() -> None:
    """It comes to another thread here; one that comes right before the wait begins is no different."""

    def deliver() -> None:
        time.sleep(0.05)  # in which the loop has begun to wait
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    async def wait() -> str:
        loop = asyncio.get_running_loop()
        handled, deadline = loop.create_future(), loop.time() + ENOUGH
        loop.call_at(deadline, lambda: None)  # or else a signal that was missed would end nothing
        signal.signal(signal.SIGUSR1, lambda *_: handled.set_result("late" if loop.time() >= deadline else "in time"))
        thread = threading.Thread(target=deliver)
        thread.start()
        found: str = await handled
        thread.join()
        return found

    before = signal.getsignal(signal.SIGUSR1)
    try:
        assert run(wait()) == "in time"
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_the_wakeup_fd_before_is_restored() -> None:
    reads, writes = socket.socketpair()
    with reads, writes:
        writes.setblocking(False)
        before = signal.set_wakeup_fd(writes.fileno())
        try:
            run(asyncio.sleep(0))
        finally:
            after = signal.set_wakeup_fd(before)

        assert after == writes.fileno()


def test_a_loop_runs_in_another_thread_too() -> None:
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(lambda: run(asyncio.sleep(0, 7))).result() == 7


def test_the_loop_of_a_caller_is_not_changed() -> None:
    line = ScriptedConnection((0.0, reply_with({"type": "place", "at": [0, 0]})))
    loop = asyncio.new_event_loop()
    before = dict(vars(loop._selector))  # type: ignore[attr-defined]
    view = GAME.view(GAME.deal(2, bytes(32)), 0)
    answer = loop.run_until_complete(RemoteChannel(line, GAME).ask(TakeTurn(view)))
    after = vars(loop._selector)  # type: ignore[attr-defined]
    loop.close()

    assert isinstance(answer, Answered)
    assert after.keys() == before.keys()


def test_all_commands_run_on_a_timing_event_loop() -> None:
    for path in nonempty(SOURCES.rglob("*.py")):
        if path.name != "event_loop.py":
            assert usual_loops(path.read_text()) == [], path


def usual_loops(source: str) -> list[str]:
    """The calls of asyncio.run(...), and of asyncio.Runner() without a factory of loops."""
    calls = [call for call in ast.walk(ast.parse(source)) if isinstance(call, ast.Call)]
    return [
        ast.unparse(call)
        for call in calls
        if (name := ast.unparse(call.func)) in ("asyncio.run", "asyncio.new_event_loop")
        or (name == "asyncio.Runner" and not any(keyword.arg == "loop_factory" for keyword in call.keywords))
    ]


def test_the_test_of_loops_detects_a_default_loop() -> None:
    assert usual_loops("asyncio.run(work); asyncio.Runner()") == ["asyncio.run(work)", "asyncio.Runner()"]
    assert usual_loops("asyncio.Runner(loop_factory=new_event_loop)") == []
