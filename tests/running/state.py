"""Give the tests interrupts that work, a key of their own, and the registry of games as it was."""

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator

import pytest

from fairplay.games import EXTERNAL_GAMES


def pytest_configure(config: pytest.Config) -> None:
    directory = tempfile.mkdtemp(prefix="fairplay-state-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)  # workers do not always come to pytest_unconfigure
    os.environ["XDG_STATE_HOME"] = directory
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):  # background scripts and nohup ignore them
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Leave no game registered that was not there before the test: the messages of others list them."""
    before = dict(EXTERNAL_GAMES)
    yield
    if before != EXTERNAL_GAMES:
        EXTERNAL_GAMES.clear()
        EXTERNAL_GAMES.update(before)
