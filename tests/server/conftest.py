"""Run asynchronous tests, and open the servers that they ask for."""

import inspect
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.players.scripted_connections import run_in_virtual_time
from tests.players.test_listener import run
from tests.server.test_server import OpenServer, fish, open_server


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "virtual_time: time passes only while all tasks of an asynchronous test wait")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an asynchronous test; a fixture that is an asynchronous context manager is entered for it."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None

    async def run_test() -> None:
        async with AsyncExitStack() as stack:
            arguments: dict[str, Any] = {}
            for name in inspect.signature(pyfuncitem.obj).parameters:
                given: Any = pyfuncitem.funcargs[name]
                is_manager = isinstance(given, AbstractAsyncContextManager)
                arguments[name] = await stack.enter_async_context(given) if is_manager else given
            await pyfuncitem.obj(**arguments)

    if pyfuncitem.get_closest_marker("virtual_time"):
        run_in_virtual_time(lambda loop: run_test())
    else:
        run(run_test())
    return True


@pytest.fixture
def server(request: pytest.FixtureRequest, tmp_path: Path) -> AbstractAsyncContextManager[OpenServer]:
    """A server for games of two at Fish, unless the test is decorated `with_settings`."""
    offers, options = getattr(request.function, "settings", ((), {}))
    return open_server(tmp_path, *(offers or [fish()]), **options)
