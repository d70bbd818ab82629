"""Test control groups of programs: where they can be made, common limits, freezing, the end, and who is to blame."""

import os
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from fairplay.core.errors import HostFault
from fairplay.players.process import ProgramConnection, child_pids
from fairplay.sandbox import cgroup, cgroup_mounts
from fairplay.sandbox.cgroup import (
    CgroupSupport,
    ControlGroup,
    MemoryKills,
    cgroup_support,
    enter_groups_command,
    is_machine_oom_kill,
    write_limits,
)
from fairplay.sandbox.cgroup_mounts import delegate_controllers, find_own_cgroups, parse_own_cgroups
from fairplay.sandbox.policy import MEGABYTE, SandboxLevel, SandboxPolicy
from fairplay.sandbox.protections import wrap_command
from fairplay.sandbox.sandboxed_command import SandboxedCommand
from fairplay.transport.connection import ConnectionClosed, acquire, receive
from tests.players.machine import needs_strict
from tests.players.programs import PYTHON, read_proc_file

GROUP_TIMEOUT_S = 20  # seconds
AVAILABLE_GROUPS = cgroup_support()


def require_controller(what: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not getattr(AVAILABLE_GROUPS, what),
        reason=f"there is no {what} in control groups here: {AVAILABLE_GROUPS.missing}",
    )


def wait_until(is_so: Callable[[], bool]) -> None:
    """Fail if it does not come true: programs take their time to start where others do so too."""
    until = time.monotonic() + GROUP_TIMEOUT_S
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    assert is_so()


def living_processes(numbers: Sequence[int]) -> list[int]:
    """Which of these processes have not ended; zombies have."""
    stats = {number: read_proc_file(Path(f"/proc/{number}/stat")).rpartition(b")")[2] for number in numbers}
    return [number for number, stat in stats.items() if stat.split()[:1] not in ([], [b"Z"])]


def start_in_group(group: ControlGroup, text: str, *arguments: str) -> "subprocess.Popen[str]":
    words = [*group.enter_command(), *PYTHON, "-c", text, *arguments]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for_exit(program: "subprocess.Popen[str]") -> int:
    with program:
        return program.wait(timeout=GROUP_TIMEOUT_S)


def processes_in(group: ControlGroup) -> list[int]:
    return [int(number) for number in Path(group.procs_files[0]).read_text().split()]


def cpu_seconds(group: ControlGroup) -> float:
    return cgroup.read_counters(Path(group.procs_files[0]).parent / "cpu.stat")["usage_usec"] / 1e6


@pytest.fixture
def make() -> Iterator[Callable[..., ControlGroup]]:
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
    own = cgroup.new_group_name().rpartition("-")[0]
    assert [*(left for place in cgroup.find_group_parents()[0] for left in place.directory.glob(f"{own}-*"))] == []


@pytest.fixture
def group(make: Callable[..., ControlGroup]) -> ControlGroup:
    return make()


MakeGroup = Callable[..., ControlGroup]
BURN = "import os, sys\nfor _ in range(int(sys.argv[1]) - 1):\n    if os.fork() == 0:\n        break\nwhile True: pass"
BURN_IN_THREADS = (
    "import hashlib, sys, threading\nsome = bytes(100000)\n"
    "def burn():\n    while True: hashlib.sha256(some)\n"  # does without the interpreter's lock
    "for _ in range(int(sys.argv[1])): threading.Thread(target=burn).start()"
)
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
HOLD = "held = bytearray(100_000_000); held[::4096] = b'1' * len(held[::4096])"


# The freezer.


@require_controller("freezer")
@pytest.mark.alone
@pytest.mark.parametrize(
    ("text", "many"), [(BURN, 1), (BURN, 8), (BURN, 50), (BURN_IN_THREADS, 8)], ids=["1", "8", "50", "8 threads"]
)
def test_a_frozen_program_computes_nothing(text: str, many: int, group: ControlGroup) -> None:
    program, used, gained = start_in_group(group, text, str(many)), list[float](), list[float]()
    wait_until(lambda: cpu_seconds(group) > 0.2)

    for _ in range(7):
        for change, seconds in ((group.freeze, used), (group.thaw, gained)):
            change()
            before = cpu_seconds(group)
            time.sleep(0.1)
            seconds.append(cpu_seconds(group) - before)

    assert max(used) < 0.025
    assert statistics.median(used) < 0.001
    assert statistics.median(gained) > 0.01
    group.close()
    assert wait_for_exit(program) == -signal.SIGKILL


@require_controller("freezer")
def test_a_process_started_in_a_frozen_group_is_frozen_and_goes_on_when_thawed(group: ControlGroup) -> None:
    group.freeze()
    program = start_in_group(group, ECHO)
    wait_until(lambda: processes_in(group) == [program.pid])
    assert program.stdin and program.stdout

    for number in range(20):
        group.freeze()
        program.stdin.write(f"{number}\n")
        program.stdin.flush()
        if number == 0:
            assert select.select([program.stdout], [], [], 0.2)[0] == []
        group.thaw()
        assert program.stdout.readline() == f"{number}\n"

    program.stdin.close()
    assert wait_for_exit(program) == 0


# Limits for all processes together.

BOMB = f"""
import os, time
for _ in range(4):
    if os.fork() == 0:
        {HOLD.replace("100_000_000", "40 * 1024 * 1024")}
        break
time.sleep(60)
"""
PEAKS = ("memory.peak", "memory.max_usage_in_bytes")


@require_controller("memory")
def test_many_processes_together_stay_below_the_memory_limit(make: MakeGroup) -> None:
    group, before = make(memory=96), cgroup.machine_oom_kills()

    program = start_in_group(group, BOMB)
    wait_until(lambda: (kills := group.memory_kills()) is not None and kills.killed > 0)

    most = [Path(entrance).parent / name for entrance in group.procs_files for name in PEAKS]
    (peak,) = [int(path.read_text()) for path in most if path.exists()]
    kills = group.memory_kills()
    assert kills is not None and kills.at_limit
    assert 48 * MEGABYTE < peak <= 96 * MEGABYTE
    assert cgroup.machine_oom_kills() > before  # which counts those of groups too, and so proves nothing alone
    assert not is_machine_oom_kill(signal.SIGKILL, cgroup.machine_oom_kills() - before, kills)
    group.close()
    wait_for_exit(program)


@require_controller("memory")
def test_a_program_below_the_memory_limit_is_not_killed(group: ControlGroup) -> None:
    assert wait_for_exit(start_in_group(group, HOLD)) == 0
    assert group.memory_kills() == MemoryKills(0, False)


@require_controller("pids")
def test_a_fork_bomb_stops_at_the_limit_of_processes(make: MakeGroup) -> None:
    group = make(processes=10)
    text = (
        "import os, time\nmany = 0\n"
        "while many < 100:\n"
        "    try:\n        if os.fork() == 0: time.sleep(60)\n        many += 1\n"
        "    except OSError: break\n"
        "print(many, flush=True)"
    )
    program = start_in_group(group, text)
    assert program.stdout
    assert program.stdout.readline() == "9\n"
    group.close()
    wait_for_exit(program)


@require_controller("cpu")
@require_controller("freezer")
@pytest.mark.alone
def test_many_processes_get_no_more_cpu_than_one(make: MakeGroup) -> None:
    group, other = make(), make()
    pinned = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    programs = [start_in_group(group, pinned + BURN, "16"), start_in_group(other, pinned + BURN, "1")]
    wait_until(lambda: len(processes_in(group)) == 16 and cpu_seconds(group) > 0.2 and cpu_seconds(other) > 0)

    before = cpu_seconds(group), cpu_seconds(other)
    time.sleep(1.5)
    many, one = cpu_seconds(group) - before[0], cpu_seconds(other) - before[1]

    assert one > 0.25 * (many + one)  # a seventeenth, if they were counted one by one
    for each, program in zip((group, other), programs, strict=True):
        each.close()
        wait_for_exit(program)


# The end.


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("how", ["", "without cgroup.kill", pytest.param("sandboxed", marks=needs_strict)])
def test_closing_a_group_kills_all_its_processes(
    how: str, frozen: bool, group: ControlGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, exists = [*PYTHON, "-c", BURN, "20"], Path.exists
    if how == "sandboxed":
        words = wrap_command(words, SandboxPolicy(SandboxLevel.STRICT))
    elif how:  # an old kernel
        monkeypatch.setattr(Path, "exists", lambda path: path.name != "cgroup.kill" and exists(path))
    program = subprocess.Popen([*group.enter_command(), *words], text=True)
    wait_until(lambda: len(processes_in(group)) >= (21 if how == "sandboxed" else 20))
    processes = processes_in(group)
    if frozen:
        group.freeze()

    group.close()

    assert wait_for_exit(program) == -signal.SIGKILL
    wait_until(lambda: not living_processes(processes))
    assert not any(Path(entrance).exists() for entrance in group.procs_files)
    for change in (group.freeze, group.thaw, group.close):  # which do nothing any more
        change()
    assert group.memory_kills() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root, to be in a namespace and look out of it")
def test_an_invisible_process_of_a_group_is_not_taken_for_our_own(group: ControlGroup) -> None:
    """Its id is 0 for a process in another namespace, and to kill 0 is to kill oneself."""
    program = start_in_group(group, ECHO)
    wait_until(lambda: processes_in(group) == [program.pid])
    text = (
        "import sys\nfrom pathlib import Path\nfrom fairplay.sandbox import cgroup\n"
        "Path.exists = lambda path: False\n"  # an old kernel: nothing kills a group at once
        "cgroup.kill_group(Path(sys.argv[1]))\nprint(Path(sys.argv[1], 'cgroup.procs').read_text())"
    )
    words = ["unshare", "--pid", "--fork", "--", sys.executable, "-c", text, str(Path(group.procs_files[0]).parent)]

    done = subprocess.run(words, start_new_session=True, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout.split()) == (0, ["0"]), done.stderr
    group.close()
    wait_for_exit(program)


def test_subgroups_are_removed_with_their_group(group: ControlGroup) -> None:
    below = Path(group.procs_files[0]).parent / "below" / "deeper"
    below.mkdir(parents=True)
    program = subprocess.Popen([*enter_groups_command([str(below / "cgroup.procs")]), "sleep", "60"], text=True)
    wait_until(lambda: (below / "cgroup.procs").read_text() == f"{program.pid}\n")

    group.close()

    assert wait_for_exit(program) == -signal.SIGKILL


# Referees that died.

REFEREE = """
import os, signal, subprocess, sys
from fairplay.sandbox.cgroup import ControlGroup
from fairplay.sandbox.protections import *
group = ControlGroup.make(512 * MEGABYTE, 64)
command = [sys.executable, "-I", "-S", "-c", "while True: pass"]
words = wrap_command(command, SandboxPolicy(SandboxLevel.NONE)) if sys.argv[1] == "kept" else command
subprocess.Popen([*group.enter_command(), *words])
while len(open(group.procs_files[0]).read().split()) < (1 if words is command else 3): pass
group.freeze()
print(group.procs_files[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@require_controller("freezer")
@pytest.mark.parametrize("how", ["kept", "left"])
def test_the_groups_of_a_dead_referee_are_removed_by_the_next_one(how: str, group: ControlGroup) -> None:
    with subprocess.Popen([sys.executable, "-c", REFEREE, how], stdout=subprocess.PIPE, text=True) as referee:
        assert referee.stdout
        entrance = Path(referee.stdout.readline().strip())
        assert referee.wait(timeout=GROUP_TIMEOUT_S) == -signal.SIGKILL
    left = [int(number) for number in entrance.read_text().split()]
    if how == "kept":  # by a namespace that dies with the referee, and being frozen does not keep it from that
        wait_until(lambda: entrance.read_text() == "")

    text = "from fairplay.sandbox.cgroup import cgroup_support; cgroup_support()"
    subprocess.run([sys.executable, "-c", text], check=True)

    stale = entrance.parent.name
    assert not any((place.directory / stale).exists() for place in cgroup.find_group_parents()[0])
    wait_until(lambda: not living_processes(left))
    assert all(Path(entrance).exists() for entrance in group.procs_files)  # we live, and so does ours


def test_a_process_with_the_id_of_a_dead_referee_is_not_taken_for_it(group: ControlGroup) -> None:
    place = cgroup.find_group_parents()[0][0].directory
    _, space, number, began, _ = cgroup.new_group_name().split("-")
    ours = place / f"fairplay-{space}-{number}-{began}-999999"
    before_us = place / f"fairplay-{space}-{number}-{int(began) - 1}-0"
    other_namespace = place / f"fairplay-{int(space) + 1}-{number}-{int(began) - 1}-0"
    others = place / "fairplay-of-others"
    for directory in (ours, before_us, other_namespace, others):
        directory.mkdir()

    cgroup.remove_stale(place)

    there = [directory for directory in (ours, before_us, other_namespace, others) if directory.exists()]
    for directory in there:
        directory.rmdir()
    assert there == [ours, other_namespace, others]


MANY = """
from fairplay.sandbox.cgroup import ControlGroup
import subprocess
for _ in range(5):
    groups = [ControlGroup.make(64 << 20, 8) for _ in range(8)]
    programs = [subprocess.Popen([*group.enter_command(), "sleep", "60"]) for group in groups]
    print(*(group.procs_files[0] for group in groups), sep="\\n")
    for group, program in zip(groups, programs):
        group.close()
        assert program.wait(20) in (-9, 125), program.returncode  # or it was about to enter
"""


def test_many_referees_make_groups_at_once(group: ControlGroup) -> None:
    referees = [subprocess.Popen([sys.executable, "-c", MANY], stdout=subprocess.PIPE, text=True) for _ in range(3)]

    names = [name for referee in referees for name in referee.communicate(timeout=60)[0].split()]

    assert [referee.returncode for referee in referees] == [0, 0, 0]
    assert len(set(names)) == len(names) == 3 * 5 * 8
    assert not any(Path(name).exists() for name in names)


# Blame for a kill.


@pytest.mark.parametrize(
    ("number", "machine", "own", "expected"),
    [
        (signal.SIGKILL, 0, None, False),  # by itself, as far as we know
        (signal.SIGKILL, 1, None, True),
        (signal.SIGSEGV, 1, None, False),
        (signal.SIGKILL, 0, MemoryKills(0, False), False),
        (signal.SIGKILL, 1, MemoryKills(0, False), False),  # another program was killed, and it has used the occasion
        (signal.SIGKILL, 1, MemoryKills(1, False), True),
        (signal.SIGKILL, 1, MemoryKills(1, True), False),  # its own limit
        (signal.SIGKILL, 3, MemoryKills(2, True), False),
        (signal.SIGTERM, 1, MemoryKills(1, False), False),
    ],
)
def test_a_kill_is_the_fault_of_the_machine_only_if_that_is_proven(
    number: int, machine: int, own: MemoryKills | None, expected: bool
) -> None:
    assert is_machine_oom_kill(number, machine, own) == expected


# The limits of a sandbox.


LIMITS = ("memory.max", "memory.limit_in_bytes")  # of version 2, and of version 1


@needs_strict
@require_controller("memory")
def test_the_limit_of_a_group_leaves_room_for_both_disks_of_a_program() -> None:
    cell = SandboxedCommand(["true"], SandboxPolicy(SandboxLevel.STRICT, memory=100 * MEGABYTE, space=10 * MEGABYTE))
    try:
        assert cell.group is not None
        files = [Path(entrance).parent / name for entrance in cell.group.procs_files for name in LIMITS]
        found = [int(path.read_text()) for path in files if path.exists()]
    finally:
        cell.close()

    assert found == [120 * MEGABYTE]


VERSION_2 = {
    "memory.max": "1234",
    "memory.swap.max": "0",
    "memory.oom.group": "1",
    "pids.max": "56",
    "cpu.weight": "50",
}
VERSION_1 = {"memory.limit_in_bytes": "1234", "memory.memsw.limit_in_bytes": "1234"}


@pytest.mark.parametrize(("files", "names"), [(VERSION_2, ("memory", "pids", "cpu")), (VERSION_1, ("memory",))])
def test_a_group_has_no_swap_and_one_of_version_2_dies_as_a_whole(
    files: dict[str, str], names: tuple[str, ...], tmp_path: Path
) -> None:
    for name in files:
        (tmp_path / name).touch()

    write_limits(tmp_path, names, 1234, 56)

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


@needs_strict
@require_controller("memory")
@pytest.mark.parametrize(
    ("kills", "why"),
    [
        (MemoryKills(3, True), "the program was killed by signal 9"),
        (MemoryKills(0, False), "the sandbox of a program could not be started, or was killed"),
    ],
    ids=["at its limit", "by another process"],
)
async def test_a_program_killed_with_its_sandbox_is_to_blame_only_if_it_ran_out_of_its_memory(
    kills: MemoryKills, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel kills a group of version 2 as a whole: the program, and those who would tell how it ended."""
    monkeypatch.setattr(ControlGroup, "memory_kills", lambda group: kills)
    program = await ProgramConnection.start(["cat"], sandbox=SandboxPolicy(SandboxLevel.STRICT))
    try:
        await acquire(program)
        program.send(b"there\n")
        await receive(program)
        (first,) = child_pids(program._transport.get_pid())
        for number in child_pids(first):
            os.kill(number, signal.SIGKILL)
        with pytest.raises(ConnectionClosed if kills.killed else HostFault, match=f"^{why}$"):
            await receive(program)
    finally:
        program.release()
        await program.close(b"", 0)


# Where groups can be made.


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
    said = run_as_ordinary_user(
        None, "from fairplay.sandbox.cgroup import *; print(repr(cgroup_support()), ControlGroup.make(1 << 26, 9))"
    )

    assert said.startswith("CgroupSupport(freezer=False, memory=False, pids=False, cpu=False, missing='no freezer, mem")
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
        wait_until(lambda: (given / "cgroup.procs").read_text() != "")
        delegate_controllers(given, [name])
        assert (given / "cgroup.subtree_control").read_text().split() == []
        sleeper.kill()
    delegate_controllers(given, [name])

    assert (given / "cgroup.subtree_control").read_text().split() == [name]


def some_controller(given: Path) -> tuple[str, str]:
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
