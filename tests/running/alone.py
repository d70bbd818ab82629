"""Let a test that needs the machine for itself run while no other worker runs any."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "alone: this test takes the time, or needs all cores")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if not hasattr(item.config, "workerinput"):  # there is only one process
        return (yield)
    with room_for(common_directory(item.config), alone=item.get_closest_marker("alone") is not None):
        return (yield)


def common_directory(config: pytest.Config) -> Path:
    """The directory for temporary files that all workers of this run share."""
    return Path(config.getoption("basetemp")).parent


@contextmanager
def room_for(directory: Path, *, alone: bool) -> Iterator[None]:
    """Be in here with other tests, or alone; who waits to be alone keeps the next ones waiting at the door."""
    with (directory / "room").open("a") as room:
        with (directory / "door").open("a") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
