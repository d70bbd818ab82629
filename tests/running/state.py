"""Give the tests a key of their own, so that they do not use the one of their user."""

import atexit
import os
import shutil
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    directory = tempfile.mkdtemp(prefix="fairplay-state-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)  # workers do not always come to pytest_unconfigure
    os.environ["XDG_STATE_HOME"] = directory
