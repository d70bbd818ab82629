"""Find where control groups can be made: as root, as somebody who was given a part of the tree, and as nobody."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairplay.sandbox import cgroup, hierarchy
from fairplay.sandbox.cgroup import Available, Group, available, entering
from fairplay.sandbox.hierarchy import hand_on, mounted, own_groups
from tests.sandbox.groups import HERE, MEGABYTE, at_last

NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes root, who gives a part of the tree to somebody else")


def as_nobody(folder: Path | None, text: str) -> str:
    """What a program of ours prints as an ordinary user, in a group that was given to it or in ours."""
    enter = entering([str(folder / "cgroup.procs")]) if folder else []
    done = subprocess.run(
        [*enter, *NOBODY, sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False
    )
    if "Permission denied" in done.stderr or "No module" in done.stderr:
        pytest.skip(f"others may not use this Python: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def given() -> Iterator[Path]:
    """A group of version 2 that was given to an ordinary user, as systemd does."""
    found = [own.folder for own in mounted() if not own.controllers]
    if not found or not HERE.freezer:
        pytest.skip(f"there is no group of version 2 to give away: {HERE.why}")
    folder, handed_on = found[0] / f"given-{os.getpid()}", found[0] / "cgroup.subtree_control"
    before = handed_on.read_text().split()
    give(folder)
    yield folder
    cgroup.remove([folder], 5)
    assert not folder.exists()
    for name in set(handed_on.read_text().split()) - set(before):
        handed_on.write_text(f"-{name}")


def give(folder: Path) -> None:
    folder.mkdir()
    for path in (folder, *(folder / f"cgroup.{name}" for name in ("procs", "threads", "subtree_control"))):
        os.chown(path, 65534, 65534)


TELL = "from fairplay.sandbox import cgroup; print(repr(cgroup.available()), cgroup.Group.make(1 << 26, 9))"


@as_root
def test_root_has_whatever_is_mounted_and_writable() -> None:
    """Found out without the code that is tried out: tests are skipped for what a machine lacks, not for what we do."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    writable = [(kind, set(options.split(","))) for _, _, kind, options, *_ in mounts if "rw" in options.split(",")]
    for name in ("memory", "pids", "cpu"):
        assert getattr(HERE, name) or not any(kind == "cgroup" and name in options for kind, options in writable)
    assert HERE.freezer or not any(kind == "cgroup2" for kind, _ in writable)


@as_root
def test_without_a_part_of_the_tree_an_ordinary_user_has_nothing_and_is_told_why() -> None:
    said = as_nobody(None, TELL)

    assert said.startswith(
        "Available(freezer=False, memory=False, pids=False, cpu=False, why='no freezer, memory, pids"
    )
    assert "systemd-run --user" in said and said.endswith(" None\n")


@as_root
def test_a_part_of_the_tree_is_enough_for_a_freezer(given: Path) -> None:
    text = (
        "import subprocess, time\nfrom fairplay.sandbox.cgroup import *\n"
        "group = Group.make(1 << 26, 9)\n"
        "program = subprocess.Popen([*group.enter(), 'sh', '-c', 'while :; do :; done'])\n"
        "folder = Path(group.entrances[0]).parent\n"
        "used = lambda: numbers(folder / 'cpu.stat')['usage_usec']\n"
        "while used() < 100000 and program.poll() is None: pass\n"
        "group.freeze(); before = used(); time.sleep(0.2); print(used() - before)\n"
        "group.close(); print(program.wait(20), folder.parent, folder.exists(), available().freezer)"
    )

    used, *others = as_nobody(given, text).split()

    assert int(used) < 25000
    assert others == ["-9", str(given), "False", "True"]


@as_root
def test_controllers_are_had_in_the_group_around_ours_if_nobody_is_in_it(given: Path) -> None:
    """The kernel's own rule, tried with whatever controller version 2 has here."""
    name, file = some_controller(given)
    inner = given / "referee"
    give(inner)
    text = (
        f"from fairplay.sandbox import cgroup\ncgroup.FILES = {{'freezer': 'cgroup.freeze', {name!r}: {file!r}}}\n"
        "((place,), _) = cgroup.places()\nprint(place.folder, *sorted(place.controllers))"
    )

    assert as_nobody(inner, text).split() == [str(given), *sorted(["freezer", name])]


@as_root
def test_nothing_is_handed_on_over_the_heads_of_processes(given: Path) -> None:
    name, _ = some_controller(given)
    with subprocess.Popen([*entering([str(given / "cgroup.procs")]), "sleep", "60"]) as somebody:
        assert at_last(lambda: (given / "cgroup.procs").read_text() != "")
        hand_on(given, [name])
        assert (given / "cgroup.subtree_control").read_text().split() == []
        somebody.kill()
    hand_on(given, [name])

    assert (given / "cgroup.subtree_control").read_text().split() == [name]


def some_controller(given: Path) -> tuple[str, str]:
    """A controller that version 2 has here, and a file of it."""
    files = {"memory": "memory.max", "pids": "pids.max", "hugetlb": "hugetlb.2MB.max"}
    hand_on(given.parent, files)
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
    assert [str(found.folder) for found in own_groups(mounts, own)] == expected


def test_slices_and_the_root_of_the_machine_are_not_ours(tmp_path: Path) -> None:
    for name in ("user.slice/a.scope", "b.service/referee"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / ".." / "cgroup.type").touch()

    def found(name: str) -> list[Path]:
        return hierarchy.candidates(hierarchy.Mounted(tmp_path / name, tmp_path))

    assert found("user.slice/a.scope") == [tmp_path / "user.slice/a.scope"]
    assert found("b.service") == [tmp_path / "b.service"]  # around it is the root, which has no type
    assert found("b.service/referee") == [tmp_path / "b.service/referee", tmp_path / "b.service"]
    assert found("") == [tmp_path]


def test_where_nothing_is_mounted_nothing_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "mounted", list)
    monkeypatch.setattr(cgroup, "places", cgroup.places.__wrapped__)

    why = available().why
    assert available() == Available(freezer=False, memory=False, pids=False, cpu=False, why=why)
    assert why.startswith("no freezer, memory, pids, cpu: cgroup version 2 is not mounted")
    assert Group.make(MEGABYTE, 1) is None
