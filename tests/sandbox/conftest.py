"""Make control groups for tests, and see that they are gone afterwards."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fairplay.sandbox import cgroup
from fairplay.sandbox.cgroup import Group
from tests.sandbox.groups import HERE, MEGABYTE


def groups_of_ours() -> list[Path]:
    """The groups that this process has made and not removed."""
    mine = cgroup.new_name().rpartition("-")[0]
    return [group for place in cgroup.places()[0] for group in place.folder.glob(f"{mine}-*")]


@pytest.fixture
def make() -> Iterator[Callable[..., Group]]:
    """What makes groups that are gone afterwards."""
    made: list[Group] = []

    def make(memory: int = 512, processes: int = 128) -> Group:
        group = Group.make(memory * MEGABYTE, processes)
        if group is None:
            pytest.skip(f"there are no control groups here: {HERE.why}")
        made.append(group)
        return group

    yield make
    for group in made:
        group.close()
    assert groups_of_ours() == []


@pytest.fixture
def group(make: Callable[..., Group]) -> Group:
    return make()
