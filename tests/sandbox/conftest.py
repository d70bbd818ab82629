"""Make control groups for tests, and check that they are gone afterwards."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fairplay.sandbox import cgroup
from fairplay.sandbox.cgroup import ControlGroup
from tests.sandbox.groups import AVAILABLE_GROUPS, MEGABYTE


def own_groups() -> list[Path]:
    """The groups that this process has made and not removed."""
    mine = cgroup.new_group_name().rpartition("-")[0]
    return [group for place in cgroup.find_group_parents()[0] for group in place.directory.glob(f"{mine}-*")]


@pytest.fixture
def make() -> Iterator[Callable[..., ControlGroup]]:
    """What makes groups that are gone afterwards."""
    made: list[ControlGroup] = []

    def make(memory: int = 512, processes: int = 128) -> ControlGroup:
        group = ControlGroup.make(memory * MEGABYTE, processes)
        if group is None:
            pytest.skip(f"there are no control groups here: {AVAILABLE_GROUPS.missing}")
        made.append(group)
        return group

    yield make
    for group in made:
        group.close()
    assert own_groups() == []


@pytest.fixture
def group(make: Callable[..., ControlGroup]) -> ControlGroup:
    return make()
