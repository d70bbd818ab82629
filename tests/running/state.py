"""Give the tests a key of their own, and let each leave the registry of games as it was."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest

from fairplay.games import EXTERNAL_GAMES


def pytest_configure(config: pytest.Config) -> None:
    directory = tempfile.mkdtemp(prefix="fairplay-state-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)  # workers do not always come to pytest_unconfigure
    os.environ["XDG_STATE_HOME"] = directory


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Leave no game registered that was not there before the test: the messages of others list them."""
    before = dict(EXTERNAL_GAMES)
    yield
    if before != EXTERNAL_GAMES:
        EXTERNAL_GAMES.clear()
        EXTERNAL_GAMES.update(before)
