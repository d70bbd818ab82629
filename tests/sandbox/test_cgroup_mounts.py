"""Test where control groups can be made: as root, as a user with a delegated group, and as one without."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairplay.sandbox import cgroup, cgroup_mounts
from fairplay.sandbox.cgroup import CgroupSupport, ControlGroup, cgroup_support, enter_groups_command
from fairplay.sandbox.cgroup_mounts import delegate_controllers, find_own_cgroups, parse_own_cgroups
from tests.sandbox.groups import AVAILABLE_GROUPS, MEGABYTE, becomes_true

AS_ORDINARY_USER = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes root, to delegate a group to another user")


def run_as_ordinary_user(directory: Path | None, text: str) -> str:
    """What a program of ours prints as an ordinary user, in a group that was given to it or in ours."""
    enter = enter_groups_command([str(directory / "cgroup.procs")]) if directory else []
    done = subprocess.run(
        [*enter, *AS_ORDINARY_USER, sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False
    )
    if "Permission denied" in done.stderr or "No module" in done.stderr:
        pytest.skip(f"others may not use this Python: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def given() -> Iterator[Path]:
    """A group of version 2 that was given to an ordinary user, as systemd does."""
    found = [own.directory for own in find_own_cgroups() if not own.controllers]
    if not found or not AVAILABLE_GROUPS.freezer:
        pytest.skip(f"there is no group of version 2 to give away: {AVAILABLE_GROUPS.missing}")
    directory, handed_on = found[0] / f"given-{os.getpid()}", found[0] / "cgroup.subtree_control"
    before = handed_on.read_text().split()
    give(directory)
    yield directory
    cgroup.remove_groups([directory], 5)
    assert not directory.exists()
    for name in set(handed_on.read_text().split()) - set(before):
        handed_on.write_text(f"-{name}")


def give(directory: Path) -> None:
    directory.mkdir()
    for path in (directory, *(directory / f"cgroup.{name}" for name in ("procs", "threads", "subtree_control"))):
        os.chown(path, 65534, 65534)


TELL = "from fairplay.sandbox import cgroup; print(repr(cgroup.cgroup_support()), cgroup.ControlGroup.make(1 << 26, 9))"


@as_root
def test_root_uses_every_mounted_and_writable_hierarchy() -> None:
    """Found out without the code that is tried out: tests are skipped for what a machine lacks, not for what we do."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    writable = [(kind, set(options.split(","))) for _, _, kind, options, *_ in mounts if "rw" in options.split(",")]
    for name in ("memory", "pids", "cpu"):
        assert getattr(AVAILABLE_GROUPS, name) or not any(
            kind == "cgroup" and name in options for kind, options in writable
        )
    assert AVAILABLE_GROUPS.freezer or not any(kind == "cgroup2" for kind, _ in writable)


@as_root
def test_a_user_without_a_delegated_group_has_no_groups_and_is_told_why() -> None:
    said = run_as_ordinary_user(None, TELL)

    assert said.startswith(
        "CgroupSupport(freezer=False, memory=False, pids=False, cpu=False, missing='no freezer, memory, pids"
    )
    assert "systemd-run --user" in said and said.endswith(" None\n")


@as_root
def test_a_delegated_group_is_enough_for_a_freezer(given: Path) -> None:
    text = (
        "import subprocess, time\nfrom fairplay.sandbox.cgroup import *\n"
        "group = ControlGroup.make(1 << 26, 9)\n"
        "program = subprocess.Popen([*group.enter_command(), 'sh', '-c', 'while :; do :; done'])\n"
        "directory = Path(group.procs_files[0]).parent\n"
        "used = lambda: read_counters(directory / 'cpu.stat')['usage_usec']\n"
        "while used() < 100000 and program.poll() is None: pass\n"
        "group.freeze(); before = used(); time.sleep(0.2); print(used() - before)\n"
        "group.close(); print(program.wait(20), directory.parent, directory.exists(), cgroup_support().freezer)"
    )

    used, *others = run_as_ordinary_user(given, text).split()

    assert int(used) < 25000
    assert others == ["-9", str(given), "False", "True"]


@as_root
def test_controllers_come_from_our_parent_group_if_it_has_no_processes(given: Path) -> None:
    """The kernel's own rule, tried with whatever controller version 2 has here."""
    name, file = some_controller(given)
    inner = given / "referee"
    give(inner)
    text = (
        "from fairplay.sandbox import cgroup\n"
        f"cgroup.CONTROL_FILES = {{'freezer': 'cgroup.freeze', {name!r}: {file!r}}}\n"
        "((place,), _) = cgroup.find_group_parents()\nprint(place.directory, *sorted(place.controllers))"
    )

    assert run_as_ordinary_user(inner, text).split() == [str(given), *sorted(["freezer", name])]


@as_root
def test_a_group_with_processes_delegates_no_controllers(given: Path) -> None:
    name, _ = some_controller(given)
    with subprocess.Popen([*enter_groups_command([str(given / "cgroup.procs")]), "sleep", "60"]) as sleeper:
        assert becomes_true(lambda: (given / "cgroup.procs").read_text() != "")
        delegate_controllers(given, [name])
        assert (given / "cgroup.subtree_control").read_text().split() == []
        sleeper.kill()
    delegate_controllers(given, [name])

    assert (given / "cgroup.subtree_control").read_text().split() == [name]


def some_controller(given: Path) -> tuple[str, str]:
    """A controller that version 2 has here, and a file of it."""
    files = {"memory": "memory.max", "pids": "pids.max", "hugetlb": "hugetlb.2MB.max"}
    delegate_controllers(given.parent, files)
    for name in (given / "cgroup.controllers").read_text().split():
        if name in files:
            return name, files[name]
    pytest.skip(f"version 2 hands on none of {', '.join(files)} here")


@pytest.mark.parametrize(
    ("mounts", "own", "expected"),
    [
        ("30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate", "0::/", ["/sys/fs/cgroup"]),
        ("30 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw", "0::/docker/1/a", ["/sys/fs/cgroup/a"]),
        ("30 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw", "0::/docker/2", []),
        ("30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw", "0::/../other", []),
        (r"30 23 0:26 / /my\040groups rw - cgroup2  rw", "0::/a:b", ["/my groups/a:b"]),
        ("30 23 0:26 / /m rw - cgroup cgroup rw,memory\n31 23 0:27 / /f rw - tmpfs  rw", "4:memory:/x\n0::/", ["/m/x"]),
        ("30 23 0:26 / /c rw - cgroup cgroup rw,cpu,cpuacct", "4:cpu,cpuacct:/x\n5:memory:/", ["/c/x"]),
    ],
)
def test_our_own_groups_are_found_where_they_are_mounted(mounts: str, own: str, expected: list[str]) -> None:
    assert [str(found.directory) for found in parse_own_cgroups(mounts, own)] == expected


def test_slices_and_the_root_of_the_machine_are_not_ours(tmp_path: Path) -> None:
    for name in ("user.slice/a.scope", "b.service/referee"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / ".." / "cgroup.type").touch()

    def found(name: str) -> list[Path]:
        return cgroup_mounts.v2_candidates(cgroup_mounts.CgroupMount(tmp_path / name, tmp_path))

    assert found("user.slice/a.scope") == [tmp_path / "user.slice/a.scope"]
    assert found("b.service") == [tmp_path / "b.service"]  # around it is the root, which has no type
    assert found("b.service/referee") == [tmp_path / "b.service/referee", tmp_path / "b.service"]
    assert found("") == [tmp_path]


def test_where_nothing_is_mounted_nothing_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "find_own_cgroups", list)
    monkeypatch.setattr(cgroup, "find_group_parents", cgroup.find_group_parents.__wrapped__)

    why = cgroup_support().missing
    assert cgroup_support() == CgroupSupport(freezer=False, memory=False, pids=False, cpu=False, missing=why)
    assert why.startswith("no freezer, memory, pids, cpu: cgroup version 2 is not mounted")
    assert ControlGroup.make(MEGABYTE, 1) is None
