"""Run a test that needs the whole machine while no other worker runs any."""

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

HELD_LOCK = pytest.StashKey[ExitStack | None]()  # the room, if the next test stays in it


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "alone: this test takes the time, or needs all cores")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those of a file one after the other, so that the other workers have to stop only once."""
    files = {
        file: number for number, file in enumerate(dict.fromkeys(item.nodeid.partition("::")[0] for item in items))
    }
    items.sort(key=lambda item: (files[item.nodeid.partition("::")[0]], not is_alone(item)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    if not hasattr(item.config, "workerinput"):  # there is only one process
        return (yield)
    with item.config.stash.get(HELD_LOCK, None) or ExitStack() as held:
        if not item.config.stash.get(HELD_LOCK, None):
            held.enter_context(lock_machine(common_directory(item.config), alone=is_alone(item)))
        try:
            return (yield)
        finally:
            stays = is_alone(item) and nextitem is not None and is_alone(nextitem)
            item.config.stash[HELD_LOCK] = held.pop_all() if stays else None


def is_alone(item: pytest.Item) -> bool:
    """Does it need the machine for itself?"""
    return item.get_closest_marker("alone") is not None


def common_directory(config: pytest.Config) -> Path:
    """The directory for temporary files that all workers of this run share."""
    return Path(config.getoption("basetemp")).parent


@contextmanager
def lock_machine(directory: Path, *, alone: bool) -> Iterator[None]:
    """Be in here with other tests, or alone; who waits to be alone keeps the next ones waiting at the listener."""
    with (directory / "room").open("a") as room:
        with (directory / "listener").open("a") as listener:
            fcntl.flock(listener, fcntl.LOCK_EX)
            fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
