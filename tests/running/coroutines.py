"""Run tests that are coroutines, each on an event loop of its own, and check that no task of them is left."""

import asyncio
from inspect import iscoroutinefunction, signature

import pytest

from fairplay.transport.event_loop import new_event_loop


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test may have a fixture `loop` for a loop of another kind."""
    test, given = pyfuncitem.obj, pyfuncitem.funcargs
    if not iscoroutinefunction(test):
        return None

    async def watched() -> None:
        await test(**{name: given[name] for name in signature(test).parameters})
        await some_turns()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    def make_loop() -> asyncio.AbstractEventLoop:
        loop = given.get("loop")
        return loop if isinstance(loop, asyncio.AbstractEventLoop) else new_event_loop()

    with asyncio.Runner(loop_factory=make_loop) as runner:
        runner.run(watched())
    return True


async def some_turns() -> None:
    """Let the loop read what lies in its sockets: here that is there as soon as it was sent."""
    for _ in range(6):
        await asyncio.sleep(0)
