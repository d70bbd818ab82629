"""Hold programs in control groups: together within limits, frozen, and ended, whatever becomes of us."""

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
from fairplay.sandbox.cgroup import Group, MemoryKills, entering, was_the_machine
from fairplay.sandbox.level import Level, Sandbox
from fairplay.sandbox.measures import wrap
from tests.players.machine import needs_strict
from tests.players.programs import PYTHON
from tests.sandbox.groups import MEGABYTE, PATIENCE, at_last, computed, ended, inside, living, needs, start

BURN = "import os, sys\nfor _ in range(int(sys.argv[1]) - 1):\n    if os.fork() == 0:\n        break\nwhile True: pass"
BURN_IN_THREADS = (
    "import hashlib, sys, threading\nsome = bytes(100000)\n"
    "def burn():\n    while True: hashlib.sha256(some)\n"  # does without the interpreter's lock
    "for _ in range(int(sys.argv[1])): threading.Thread(target=burn).start()"
)
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


# The freezer.


@needs("freezer")
@pytest.mark.alone
@pytest.mark.parametrize(
    ("text", "many"), [(BURN, 1), (BURN, 8), (BURN, 50), (BURN_IN_THREADS, 8)], ids=["1", "8", "50", "8 threads"]
)
def test_whoever_is_frozen_computes_nothing(text: str, many: int, group: Group) -> None:
    program, used, gained = start(group, text, str(many)), [], []
    assert at_last(lambda: computed(group) > 0.2)

    for _ in range(7):
        group.freeze()
        before = computed(group)
        time.sleep(0.1)
        used.append(computed(group) - before)
        group.thaw()
        before = computed(group)
        time.sleep(0.1)
        gained.append(computed(group) - before)

    assert max(used) < 0.025
    assert statistics.median(used) < 0.001
    assert statistics.median(gained) > 0.01
    group.close()
    assert ended(program) == -signal.SIGKILL


@needs("freezer")
def test_whoever_is_thawed_goes_on_as_if_nothing_had_been(group: Group) -> None:
    program = start(group, ECHO)
    assert program.stdin and program.stdout

    for number in range(20):
        group.freeze()
        program.stdin.write(f"{number}\n")
        program.stdin.flush()
        group.thaw()
        assert program.stdout.readline() == f"{number}\n"

    program.stdin.close()
    assert ended(program) == 0


@needs("freezer")
def test_whoever_starts_while_all_are_frozen_is_frozen_too(group: Group) -> None:
    group.freeze()
    program = start(group, ECHO)
    assert at_last(lambda: inside(group) == [program.pid])
    assert program.stdin and program.stdout
    program.stdin.write("hello\n")
    program.stdin.flush()
    assert select.select([program.stdout], [], [], 0.2)[0] == []

    group.thaw()

    assert program.stdout.readline() == "hello\n"
    program.stdin.close()
    assert ended(program) == 0


def test_a_closed_group_takes_no_orders(group: Group) -> None:
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


@needs("memory")
def test_a_memory_bomb_of_many_processes_is_held_below_the_limit(make: Callable[..., Group]) -> None:
    group, before = make(memory=96), cgroup.machine_oom_kills()

    program = start(group, BOMB)
    assert at_last(lambda: (kills := group.memory_kills()) is not None and kills.killed > 0)

    most = [Path(entrance).parent / name for entrance in group.entrances for name in PEAKS]
    (peak,) = [int(path.read_text()) for path in most if path.exists()]
    kills = group.memory_kills()
    assert kills is not None and kills.at_limit
    assert 48 * MEGABYTE < peak <= 96 * MEGABYTE
    assert cgroup.machine_oom_kills() > before  # which counts those of groups too, and so proves nothing alone
    assert not was_the_machine(signal.SIGKILL, cgroup.machine_oom_kills() - before, kills)
    group.close()
    ended(program)


@needs("memory")
def test_whoever_stays_below_the_limit_is_left_alone(group: Group) -> None:
    program = start(group, "held = bytearray(100_000_000); held[::4096] = b'1' * len(held[::4096]); print('fine')")

    assert ended(program) == 0
    assert group.memory_kills() == MemoryKills(0, False)


@needs("pids")
def test_a_fork_bomb_gets_no_further_than_the_limit(make: Callable[..., Group]) -> None:
    group = make(processes=10)
    text = (
        "import os, time\nmany = 0\n"
        "while many < 100:\n"
        "    try:\n        if os.fork() == 0: time.sleep(60)\n        many += 1\n"
        "    except OSError: break\n"
        "print(many, flush=True)"
    )
    program = start(group, text)
    assert program.stdout
    assert program.stdout.readline() == "9\n"
    group.close()
    ended(program)


@needs("cpu")
@needs("freezer")
@pytest.mark.alone
def test_who_starts_many_processes_gets_no_more_of_the_processor(make: Callable[..., Group]) -> None:
    group, other = make(), make()
    pinned = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    programs = [start(group, pinned + BURN, "16"), start(other, pinned + BURN, "1")]
    assert at_last(lambda: len(inside(group)) == 16 and computed(group) > 0.2 and computed(other) > 0)

    before = computed(group), computed(other)
    time.sleep(1.5)
    many, one = computed(group) - before[0], computed(other) - before[1]

    assert one > 0.25 * (many + one)  # a seventeenth, if they were counted one by one
    for each, program in zip((group, other), programs, strict=True):
        each.close()
        ended(program)


# The end.


@pytest.mark.parametrize("frozen", [False, True])
def test_closing_kills_everybody(frozen: bool, group: Group) -> None:
    program = start(group, BURN, "20")
    assert at_last(lambda: len(inside(group)) == 20)
    everybody = inside(group)
    if frozen:
        group.freeze()

    group.close()

    assert ended(program) == -signal.SIGKILL
    assert at_last(lambda: not living(everybody))
    assert not any(Path(entrance).exists() for entrance in group.entrances)


def test_a_kernel_that_cannot_kill_a_group_is_helped(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: path.name != "cgroup.kill" and exists(path))
    program = start(group, BURN, "20")
    assert at_last(lambda: len(inside(group)) == 20)

    group.close()

    assert ended(program) == -signal.SIGKILL


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root, to be in a namespace and look out of it")
def test_who_cannot_be_seen_is_not_mistaken_for_ourselves(group: Group) -> None:
    """Its number is 0 for whoever is in another namespace, and to kill 0 is to kill oneself."""
    program = start(group, ECHO)
    assert at_last(lambda: inside(group) == [program.pid])
    text = (
        "import sys\nfrom pathlib import Path\nfrom fairplay.sandbox import cgroup\n"
        "Path.exists = lambda path: False\n"  # an old kernel: nothing kills a group at once
        "cgroup.kill(Path(sys.argv[1]))\nprint(Path(sys.argv[1], 'cgroup.procs').read_text())"
    )
    words = ["unshare", "--pid", "--fork", "--", sys.executable, "-c", text, str(Path(group.entrances[0]).parent)]

    done = subprocess.run(words, start_new_session=True, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout.split()) == (0, ["0"]), done.stderr
    group.close()
    ended(program)


@needs_strict
@needs("freezer")
@pytest.mark.parametrize("frozen", [False, True])
def test_whoever_is_in_a_sandbox_is_in_the_group(frozen: bool, group: Group) -> None:
    words = [*group.enter(), *wrap([*PYTHON, "-c", BURN, "20"], Sandbox(Level.STRICT))]
    program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert at_last(lambda: len(inside(group)) > 20)
    everybody = inside(group)
    if frozen:
        group.freeze()

    group.close()

    assert ended(program) == -signal.SIGKILL
    assert at_last(lambda: not living(everybody))


def test_groups_within_a_group_go_with_it(group: Group) -> None:
    below = Path(group.entrances[0]).parent / "below" / "deeper"
    below.mkdir(parents=True)
    program = subprocess.Popen([*entering([str(below / "cgroup.procs")]), "sleep", "60"], text=True)
    assert at_last(lambda: (below / "cgroup.procs").read_text() == f"{program.pid}\n")

    group.close()

    assert ended(program) == -signal.SIGKILL


# Referees that died.

REFEREE = """
import os, signal, subprocess, sys
from fairplay.sandbox.cgroup import Group
from fairplay.sandbox.measures import *
group = Group.make(512 * MEGABYTE, 64)
command = [sys.executable, "-I", "-S", "-c", "while True: pass"]
words = wrap(command, Sandbox(Level.NONE)) if sys.argv[1] == "kept" else command
subprocess.Popen([*group.enter(), *words])
while len(open(group.entrances[0]).read().split()) < (1 if words is command else 3): pass
group.freeze()
print(group.entrances[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def dead_referee(how: str) -> tuple[Path, list[int]]:
    """The group of a referee that was killed, and who was in it."""
    with subprocess.Popen([sys.executable, "-c", REFEREE, how], stdout=subprocess.PIPE, text=True) as referee:
        assert referee.stdout
        entrance = Path(referee.stdout.readline().strip())
        assert referee.wait(timeout=PATIENCE) == -signal.SIGKILL
    return entrance.parent, [int(number) for number in entrance.read_text().split()]


@needs("freezer")
@pytest.mark.parametrize("how", ["kept", "left"])
def test_the_groups_of_a_dead_referee_are_removed_by_the_next_one(how: str, group: Group) -> None:
    stale, left = dead_referee(how)
    assert stale.exists()
    if how == "kept":  # by a namespace that dies with the referee, and being frozen does not keep it from that
        assert at_last(lambda: (stale / "cgroup.procs").read_text() == "")

    subprocess.run([sys.executable, "-c", "from fairplay.sandbox.cgroup import available; available()"], check=True)

    assert not any((place.folder / stale.name).exists() for place in cgroup.places()[0])
    assert at_last(lambda: not living(left))
    assert all(Path(entrance).exists() for entrance in group.entrances)  # we live, and so does ours


def test_who_has_the_number_of_a_dead_referee_is_not_taken_for_it(group: Group) -> None:
    place = cgroup.places()[0][0].folder
    _, space, number, began, _ = cgroup.new_name().split("-")
    ours = place / f"fairplay-{space}-{number}-{began}-999999"
    before_us = place / f"fairplay-{space}-{number}-{int(began) - 1}-0"
    elsewhere = place / f"fairplay-{int(space) + 1}-{number}-{int(began) - 1}-0"
    others = place / "fairplay-of-somebody-else"
    for folder in (ours, before_us, elsewhere, others):
        folder.mkdir()

    cgroup.remove_stale(place)

    there = [folder for folder in (ours, before_us, elsewhere, others) if folder.exists()]
    for folder in there:
        folder.rmdir()
    assert there == [ours, elsewhere, others]


MANY = """
from fairplay.sandbox.cgroup import Group
import subprocess
for _ in range(5):
    groups = [Group.make(64 << 20, 8) for _ in range(8)]
    programs = [subprocess.Popen([*group.enter(), "sleep", "60"]) for group in groups]
    print(*(group.entrances[0] for group in groups), sep="\\n")
    for group, program in zip(groups, programs):
        group.close()
        assert program.wait(20) in (-9, 125), program.returncode  # or it was about to enter
"""


def test_many_make_groups_at_once(group: Group) -> None:
    referees = [subprocess.Popen([sys.executable, "-c", MANY], stdout=subprocess.PIPE, text=True) for _ in range(3)]

    names = [name for referee in referees for name in referee.communicate(timeout=60)[0].split()]

    assert [referee.returncode for referee in referees] == [0, 0, 0]
    assert len(set(names)) == len(names) == 3 * 5 * 8
    assert not any(Path(name).exists() for name in names)


# Who killed it.


@pytest.mark.parametrize(
    ("number", "machine", "own", "expected"),
    [
        (signal.SIGKILL, 0, None, False),  # by itself, as far as anybody can tell
        (signal.SIGKILL, 1, None, True),
        (signal.SIGSEGV, 1, None, False),
        (signal.SIGKILL, 0, MemoryKills(0, False), False),
        (signal.SIGKILL, 1, MemoryKills(0, False), False),  # somebody else was killed, and it has used the occasion
        (signal.SIGKILL, 1, MemoryKills(1, False), True),
        (signal.SIGKILL, 1, MemoryKills(1, True), False),  # its own limit
        (signal.SIGKILL, 3, MemoryKills(2, True), False),
        (signal.SIGTERM, 1, MemoryKills(1, False), False),
    ],
)
def test_the_machine_is_to_blame_only_if_that_is_proven(
    number: int, machine: int, own: MemoryKills | None, expected: bool
) -> None:
    assert was_the_machine(number, machine, own) == expected


@needs("memory")
def test_who_kills_itself_while_another_runs_out_of_memory_has_crashed(make: Callable[..., Group]) -> None:
    group, other, before = make(), make(memory=32), cgroup.machine_oom_kills()
    bomb = start(other, "held = bytearray(100_000_000); held[::4096] = b'1' * len(held[::4096])")
    program = start(group, "import os; os.kill(os.getpid(), 9)")

    assert (ended(bomb), ended(program)) == (-signal.SIGKILL, -signal.SIGKILL)

    rise = cgroup.machine_oom_kills() - before
    assert rise > 0
    assert not was_the_machine(signal.SIGKILL, rise, group.memory_kills())
    assert not was_the_machine(signal.SIGKILL, rise, other.memory_kills())
