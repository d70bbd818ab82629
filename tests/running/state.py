"""Give the tests a key of their own, and leave alone the one of whoever runs them."""

import os
import tempfile

import pytest

FOLDER = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()


def pytest_configure(config: pytest.Config) -> None:
    folder = config.stash[FOLDER] = tempfile.TemporaryDirectory(prefix="fairplay-state-")
    os.environ["XDG_STATE_HOME"] = folder.name


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[FOLDER].cleanup()
