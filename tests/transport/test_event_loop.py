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
from fairplay.transport.event_loop import TimingEventLoop, new_event_loop, run
from tests.nonempty import nonempty
from tests.players.scripted_connections import ScriptedConnection, reply_with

GAME = Fish(rows=4, columns=4)
TURN = TakeTurn(GAME.view(GAME.deal(2, bytes(32)), 0))
SOURCES = Path(fairplay.__file__).parent
ENOUGH = 20.0  # seconds


class Looks:
    """Remembers when a loop looked."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, float]] = []

    def begin_poll(self, now: float) -> None:
        pass

    def end_poll(self, since: float, now: float) -> None:
        self.seen.append((since, now))


@pytest.mark.skipif(sys.platform == "win32", reason="there, the loop that can be observed starts no programs")
def test_a_loop_reports_its_polls_and_how_long_they_waited() -> None:
    async def wait() -> tuple[float, list[tuple[float, float]]]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, TimingEventLoop)
        loop.selector.observer = looks = Looks()
        since = loop.time()
        await asyncio.sleep(0.01)
        return since, looks.seen

    since, seen = run(wait())

    assert all(since <= began <= ended for began, ended in nonempty(seen))
    assert max(ended - began for began, ended in seen) > 0.005


def test_a_run_is_interrupted_by_ctrl_c_as_with_asyncio() -> None:
    async def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(fail())


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
    async def work() -> None:
        pass

    reads, writes = socket.socketpair()
    with reads, writes:
        writes.setblocking(False)
        before = signal.set_wakeup_fd(writes.fileno())
        try:
            run(work())
        finally:
            after = signal.set_wakeup_fd(before)

        assert after == writes.fileno()


def test_a_loop_runs_in_another_thread_too() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(lambda: run(work())).result() == 7


def test_the_loop_of_a_caller_is_not_changed() -> None:
    async def ask() -> object:
        return await RemoteChannel(ScriptedConnection((0.0, reply_with({"type": "place", "at": [0, 0]}))), GAME).ask(
            TURN
        )

    loop = asyncio.new_event_loop()
    before = dict(vars(loop._selector))  # type: ignore[attr-defined]
    answer = loop.run_until_complete(ask())
    after = vars(loop._selector)  # type: ignore[attr-defined]
    loop.close()

    assert isinstance(answer, Answered)
    assert after.keys() == before.keys()


def test_all_commands_run_on_a_timing_event_loop() -> None:
    calls = [
        f"{path.relative_to(SOURCES)}:{call.lineno}"
        for path in nonempty(SOURCES.rglob("*.py"))
        if path.name != "event_loop.py"
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and starts_a_usual_loop(call)
    ]

    assert calls == []


def starts_a_usual_loop(call: ast.Call) -> bool:
    """Is it asyncio.run(...), or asyncio.Runner() without a factory of loops?"""
    called = ast.unparse(call.func)
    has_factory = any(keyword.arg == "loop_factory" for keyword in call.keywords)
    return called in ("asyncio.run", "asyncio.new_event_loop") or (called == "asyncio.Runner" and not has_factory)


@pytest.mark.parametrize(
    ("text", "usual"),
    [("asyncio.run(work)", True), ("asyncio.Runner()", True), ("asyncio.Runner(loop_factory=new_event_loop)", False)],
)
def test_the_test_of_loops_detects_a_default_loop(text: str, usual: bool) -> None:
    call = ast.parse(text, mode="eval").body

    assert isinstance(call, ast.Call)
    assert starts_a_usual_loop(call) is usual


def test_a_new_loop_can_be_closed() -> None:
    loop = new_event_loop()

    loop.close()

    assert loop.is_closed()
