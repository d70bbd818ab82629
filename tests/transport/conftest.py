"""Give tests a loop with a clock of its own, and check that they leave no file or socket open."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.players.scripted_connections import VirtualTimeLoop


@pytest.fixture
def loop() -> asyncio.AbstractEventLoop:
    """A loop whose clock goes on only while all tasks wait, for tests that ask for it."""
    return VirtualTimeLoop()


@pytest.fixture(autouse=True)
def nothing_open() -> Iterator[None]:
    before = len(list(Path("/proc/self/fd").iterdir()))
    yield
    assert len(list(Path("/proc/self/fd").iterdir())) == before
