"""Test control groups of programs: common limits, freezing, and the end, even if we are killed."""

import os
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fairplay.sandbox import cgroup
from fairplay.sandbox.cgroup import ControlGroup, MemoryKills, enter_groups_command, is_machine_oom_kill
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.protections import wrap_command
from tests.players.machine import needs_strict
from tests.players.programs import PYTHON
from tests.sandbox.groups import (
    GROUP_TIMEOUT_S,
    MEGABYTE,
    becomes_true,
    cpu_seconds,
    living_processes,
    processes_in,
    require_controller,
    start_in_group,
    wait_for_exit,
)

BURN = "import os, sys\nfor _ in range(int(sys.argv[1]) - 1):\n    if os.fork() == 0:\n        break\nwhile True: pass"
BURN_IN_THREADS = (
    "import hashlib, sys, threading\nsome = bytes(100000)\n"
    "def burn():\n    while True: hashlib.sha256(some)\n"  # does without the interpreter's lock
    "for _ in range(int(sys.argv[1])): threading.Thread(target=burn).start()"
)
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


# The freezer.


@require_controller("freezer")
@pytest.mark.alone
@pytest.mark.parametrize(
    ("text", "many"), [(BURN, 1), (BURN, 8), (BURN, 50), (BURN_IN_THREADS, 8)], ids=["1", "8", "50", "8 threads"]
)
def test_a_frozen_program_computes_nothing(text: str, many: int, group: ControlGroup) -> None:
    program, used, gained = start_in_group(group, text, str(many)), [], []
    assert becomes_true(lambda: cpu_seconds(group) > 0.2)

    for _ in range(7):
        group.freeze()
        before = cpu_seconds(group)
        time.sleep(0.1)
        used.append(cpu_seconds(group) - before)
        group.thaw()
        before = cpu_seconds(group)
        time.sleep(0.1)
        gained.append(cpu_seconds(group) - before)

    assert max(used) < 0.025
    assert statistics.median(used) < 0.001
    assert statistics.median(gained) > 0.01
    group.close()
    assert wait_for_exit(program) == -signal.SIGKILL


@require_controller("freezer")
def test_a_thawed_program_goes_on(group: ControlGroup) -> None:
    program = start_in_group(group, ECHO)
    assert program.stdin and program.stdout

    for number in range(20):
        group.freeze()
        program.stdin.write(f"{number}\n")
        program.stdin.flush()
        group.thaw()
        assert program.stdout.readline() == f"{number}\n"

    program.stdin.close()
    assert wait_for_exit(program) == 0


@require_controller("freezer")
def test_a_process_started_in_a_frozen_group_is_frozen(group: ControlGroup) -> None:
    group.freeze()
    program = start_in_group(group, ECHO)
    assert becomes_true(lambda: processes_in(group) == [program.pid])
    assert program.stdin and program.stdout
    program.stdin.write("hello\n")
    program.stdin.flush()
    assert select.select([program.stdout], [], [], 0.2)[0] == []

    group.thaw()

    assert program.stdout.readline() == "hello\n"
    program.stdin.close()
    assert wait_for_exit(program) == 0


def test_a_closed_group_ignores_freeze_and_thaw(group: ControlGroup) -> None:
    group.close()

    group.freeze()
    group.thaw()
    group.close()

    assert group.memory_kills() is None


# Limits for all processes together.

BOMB = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        held = bytearray(40 * 1024 * 1024)
        for place in range(0, len(held), 4096): held[place] = 1
        break
time.sleep(60)
"""
PEAKS = ("memory.peak", "memory.max_usage_in_bytes")


@require_controller("memory")
def test_many_processes_together_stay_below_the_memory_limit(make: Callable[..., ControlGroup]) -> None:
    group, before = make(memory=96), cgroup.machine_oom_kills()

    program = start_in_group(group, BOMB)
    assert becomes_true(lambda: (kills := group.memory_kills()) is not None and kills.killed > 0)

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
    program = start_in_group(
        group, "held = bytearray(100_000_000); held[::4096] = b'1' * len(held[::4096]); print('fine')"
    )

    assert wait_for_exit(program) == 0
    assert group.memory_kills() == MemoryKills(0, False)


@require_controller("pids")
def test_a_fork_bomb_stops_at_the_limit_of_processes(make: Callable[..., ControlGroup]) -> None:
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
def test_many_processes_get_no_more_cpu_than_one(make: Callable[..., ControlGroup]) -> None:
    group, other = make(), make()
    pinned = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    programs = [start_in_group(group, pinned + BURN, "16"), start_in_group(other, pinned + BURN, "1")]
    assert becomes_true(lambda: len(processes_in(group)) == 16 and cpu_seconds(group) > 0.2 and cpu_seconds(other) > 0)

    before = cpu_seconds(group), cpu_seconds(other)
    time.sleep(1.5)
    many, one = cpu_seconds(group) - before[0], cpu_seconds(other) - before[1]

    assert one > 0.25 * (many + one)  # a seventeenth, if they were counted one by one
    for each, program in zip((group, other), programs, strict=True):
        each.close()
        wait_for_exit(program)


# The end.


@pytest.mark.parametrize("frozen", [False, True])
def test_closing_a_group_kills_all_its_processes(frozen: bool, group: ControlGroup) -> None:
    program = start_in_group(group, BURN, "20")
    assert becomes_true(lambda: len(processes_in(group)) == 20)
    processes = processes_in(group)
    if frozen:
        group.freeze()

    group.close()

    assert wait_for_exit(program) == -signal.SIGKILL
    assert becomes_true(lambda: not living_processes(processes))
    assert not any(Path(entrance).exists() for entrance in group.procs_files)


def test_a_group_is_killed_on_a_kernel_without_cgroup_kill(
    group: ControlGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: path.name != "cgroup.kill" and exists(path))
    program = start_in_group(group, BURN, "20")
    assert becomes_true(lambda: len(processes_in(group)) == 20)

    group.close()

    assert wait_for_exit(program) == -signal.SIGKILL


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root, to be in a namespace and look out of it")
def test_an_invisible_process_of_a_group_is_not_taken_for_our_own(group: ControlGroup) -> None:
    """Its id is 0 for a process in another namespace, and to kill 0 is to kill oneself."""
    program = start_in_group(group, ECHO)
    assert becomes_true(lambda: processes_in(group) == [program.pid])
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


@needs_strict
@require_controller("freezer")
@pytest.mark.parametrize("frozen", [False, True])
def test_all_processes_of_a_sandbox_are_in_its_group(frozen: bool, group: ControlGroup) -> None:
    words = [*group.enter_command(), *wrap_command([*PYTHON, "-c", BURN, "20"], SandboxPolicy(SandboxLevel.STRICT))]
    program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert becomes_true(lambda: len(processes_in(group)) > 20)
    processes = processes_in(group)
    if frozen:
        group.freeze()

    group.close()

    assert wait_for_exit(program) == -signal.SIGKILL
    assert becomes_true(lambda: not living_processes(processes))


def test_subgroups_are_removed_with_their_group(group: ControlGroup) -> None:
    below = Path(group.procs_files[0]).parent / "below" / "deeper"
    below.mkdir(parents=True)
    program = subprocess.Popen([*enter_groups_command([str(below / "cgroup.procs")]), "sleep", "60"], text=True)
    assert becomes_true(lambda: (below / "cgroup.procs").read_text() == f"{program.pid}\n")

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


def dead_referee(how: str) -> tuple[Path, list[int]]:
    """The group of a referee that was killed, and who was in it."""
    with subprocess.Popen([sys.executable, "-c", REFEREE, how], stdout=subprocess.PIPE, text=True) as referee:
        assert referee.stdout
        entrance = Path(referee.stdout.readline().strip())
        assert referee.wait(timeout=GROUP_TIMEOUT_S) == -signal.SIGKILL
    return entrance.parent, [int(number) for number in entrance.read_text().split()]


@require_controller("freezer")
@pytest.mark.parametrize("how", ["kept", "left"])
def test_the_groups_of_a_dead_referee_are_removed_by_the_next_one(how: str, group: ControlGroup) -> None:
    stale, left = dead_referee(how)
    assert stale.exists()
    if how == "kept":  # by a namespace that dies with the referee, and being frozen does not keep it from that
        assert becomes_true(lambda: (stale / "cgroup.procs").read_text() == "")

    text = "from fairplay.sandbox.cgroup import cgroup_support; cgroup_support()"
    subprocess.run([sys.executable, "-c", text], check=True)

    assert not any((place.directory / stale.name).exists() for place in cgroup.find_group_parents()[0])
    assert becomes_true(lambda: not living_processes(left))
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


# Who killed it.


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


@require_controller("memory")
def test_a_program_that_kills_itself_while_another_runs_out_of_memory_has_crashed(
    make: Callable[..., ControlGroup],
) -> None:
    group, other, before = make(), make(memory=32), cgroup.machine_oom_kills()
    bomb = start_in_group(other, "held = bytearray(100_000_000); held[::4096] = b'1' * len(held[::4096])")
    program = start_in_group(group, "import os; os.kill(os.getpid(), 9)")

    assert (wait_for_exit(bomb), wait_for_exit(program)) == (-signal.SIGKILL, -signal.SIGKILL)

    rise = cgroup.machine_oom_kills() - before
    assert rise > 0
    assert not is_machine_oom_kill(signal.SIGKILL, rise, group.memory_kills())
    assert not is_machine_oom_kill(signal.SIGKILL, rise, other.memory_kills())
