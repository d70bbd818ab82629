"""Test programs that Landlock confines: what they reach at each of its ABIs, and that nothing is left of them."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.sandbox import landlock, protections
from fairplay.sandbox.landlock import handled_rights, landlock_abi
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.protections import check_command, parse_sandbox
from fairplay.sandbox.sandboxed_command import SandboxedCommand
from fairplay.sandbox.seccomp import filter_program
from tests.cli.command import run_fairplay
from tests.journal_files import read_lines
from tests.players.machine import needs_landlock, needs_strict
from tests.players.programs import PYTHON
from tests.players.sandbox_hosts import Host, unused_user_id

pytestmark = needs_landlock

CONFINED = SandboxPolicy(SandboxLevel.LANDLOCK)
TRIES = """
import ctypes, fcntl, json, os, resource, signal, socket, struct, sys
victim, own = sys.argv[1], os.environ["TMPDIR"]
libc = ctypes.CDLL(None, use_errno=True)
mine = open(own + "/mine", "w+")
def sleeping_child():
    pid = os.fork()
    if pid == 0:
        signal.pause()
    return pid
def kill_child():
    os.kill(child := sleeping_child(), 9)
    os.waitpid(child, 0)
def raise_handled():
    heard = []
    signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    signal.raise_signal(signal.SIGUSR1)
    assert heard
def send_datagram(left):
    if libc.sendto(left.fileno(), b"x", 1, 0, struct.pack("H", socket.AF_UNIX) + b"/run/x\\0", 9) < 0:
        raise OSError(ctypes.get_errno(), "sendto")
def call(*numbers):
    if libc.syscall(*numbers) < 0:
        raise OSError(ctypes.get_errno(), "syscall")
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
ways = {
    "read a file of the user": lambda: open(victim).read(),
    "list its directory": lambda: os.listdir(os.path.dirname(victim)),
    "write it": lambda: open(victim, "a"),
    "empty it": lambda: os.truncate(victim, 0),
    "empty it by reading": lambda: os.open(victim, os.O_RDONLY | os.O_TRUNC),
    "empty it in the fourth way": lambda: os.open(victim, 3 | os.O_TRUNC),
    "remove it": lambda: os.unlink(victim),
    "link it": lambda: os.link(victim, own + "/link"),
    "move something beside it": lambda: os.rename(own + "/mine", victim + "2"),
    "note on it": lambda: os.setxattr(victim, "user.note", b"x"),
    "open a socket": lambda: socket.socket(socket.AF_UNIX),
    "open a TCP socket": lambda: socket.socket(),
    "open a pair": lambda: socket.socketpair(),
    "name one end of a pair": lambda: pair[0].bind(own + "/socket"),
    "send to another address": lambda: send_datagram(pair[0]),
    "signal its parent": lambda: os.kill(os.getppid(), 0),
    "signal all": lambda: os.kill(-1, signal.SIGURG),
    "signal its group": lambda: os.kill(0, 0),
    "signal itself": raise_handled,
    "signal its child": kill_child,
    "limit its parent": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (9, 9)),
    "limit itself": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99)),
    "move its parent to one core": lambda: os.sched_setaffinity(os.getppid(), {0}),
    "move itself to one core": lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
    "slow its parent down": lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    "slow its user down": lambda: os.setpriority(os.PRIO_USER, 0, 19),
    "slow its user's disk down": lambda: call({"x86_64": 251}.get(os.uname().machine, 30), 3, 0, 3 << 13),
    "slow itself down": lambda: os.setpriority(os.PRIO_PROCESS, 0, 19),
    "send signals for its files": lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid()),
    "make flags for a file": lambda: fcntl.ioctl(mine, 0x40086602, struct.pack("l", 0x80)),
    "give a file a version": lambda: fcntl.ioctl(mine, 0x40087602, struct.pack("l", 9)),
    "ask how much can be read": lambda: fcntl.ioctl(pair[0], 0x541B, bytes(4)),
    "write a file of its own": lambda: mine.write("x"),
    "make a directory": lambda: os.makedirs(own + "/a/b"),
    "make a named pipe": lambda: os.mkfifo(own + "/pipe"),
    "start a program": lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1] and 1 / 0,
}
possible = []
for name, way in ways.items():
    try:
        way()
        possible.append(name)
    except OSError as error:
        pass
print(json.dumps(possible))
"""
POSSIBLE = {  # with every ABI
    "open a pair",
    "ask how much can be read",
    "signal its group",
    "signal itself",
    "limit itself",
    "move itself to one core",
    "slow itself down",
    "write a file of its own",
    "make a directory",
    "make a named pipe",
    "start a program",
}

CHILDREN = {"signal its child", "signal all"}  # from ABI 6 on
RUN_SCRIPT = """
import subprocess, sys
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.sandboxed_command import SandboxedCommand
sandboxed = SandboxedCommand(sys.argv[1:], SandboxPolicy(SandboxLevel.LANDLOCK))
code = subprocess.run(sandboxed.words, pass_fds=sandboxed.inherited_fds).returncode
sandboxed.close()
sys.exit(code)
"""


def run(command: Sequence[str], policy: SandboxPolicy = CONFINED) -> subprocess.CompletedProcess[str]:
    """Run a command below Landlock, to its end."""
    sandboxed = SandboxedCommand(command, policy)
    try:
        return subprocess.run(
            sandboxed.words, pass_fds=sandboxed.inherited_fds, capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        sandboxed.close()


def changes(path: Path) -> tuple[int, ...]:
    """What a change of a file or of its attributes would change, too."""
    status = path.stat()
    return status.st_mode, status.st_nlink, status.st_mtime_ns, status.st_ctime_ns


@pytest.fixture
def own_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory in which those of programs are made."""
    (directory := tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(directory))
    return directory


def is_emptied(directory: Path) -> bool:
    """Is there nothing in a directory, now or soon?"""
    until = time.monotonic() + 10
    while any(directory.iterdir()) and time.monotonic() < until:
        time.sleep(0.01)
    return not any(directory.iterdir())


# What a program reaches.


@pytest.mark.parametrize("abi", range(1, 7))
def test_a_program_reaches_only_its_own(abi: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower ABI is one that the supervisor does not ask for more than."""
    if abi > landlock_abi():
        pytest.skip(f"this kernel has ABI {landlock_abi()}")
    monkeypatch.setattr(landlock, "landlock_abi", lambda: abi)
    (victim := tmp_path / "secret" / "file").parent.mkdir()
    victim.write_text("kept")
    before = changes(victim)

    done = run([*PYTHON, "-c", f"import sys; sys.argv[1:] = [{str(victim)!r}]\n{TRIES}"])  # a word would show it

    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == POSSIBLE | (CHILDREN if abi >= 6 else set())
    assert victim.read_text() == "kept"
    assert changes(victim) == before
    assert [path.name for path in victim.parent.iterdir()] == ["file"]


@needs_strict  # bubblewrap shows the user our files
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_program_of_an_ordinary_user_reaches_only_its_own(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    user = Host(unused_user_id(), tmp_path)
    (victim := tmp_path / "secret" / "file").parent.mkdir()
    victim.write_text("kept")
    user.take_ownership(tmp_path, victim.parent, victim)

    tries = f"import sys; sys.argv[1:] = [{str(victim)!r}]\n{TRIES}"
    done = user.run_freely(sys.executable, "-c", RUN_SCRIPT, *PYTHON, "-c", tries)

    assert done.code == 0, done
    assert set(json.loads(done.out)) == POSSIBLE | (CHILDREN if landlock_abi() >= 6 else set())
    assert victim.read_text() == "kept"


def test_a_program_of_root_has_no_capabilities() -> None:
    text = """
import ctypes, struct
sets = ctypes.create_string_buffer(24)
ctypes.CDLL(None).capget(struct.pack("Ii", 0x20080522, 0), sets)
print(any(sets.raw))
"""
    assert run([*PYTHON, "-c", text]).stdout == "False\n"


def test_a_program_gets_none_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    done = run([*PYTHON, "-c", "import os; print(*sorted(os.environ))"])

    assert set(done.stdout.split()) - {"LC_CTYPE", "PYTHONUSERBASE"} == {
        *(
            "HOME",
            "LANG",
            "LOGNAME",
            "OPENSSL_CONF",
            "PATH",
            "PYTHONHASHSEED",
            "PYTHONPATH",
            "PYTHONUNBUFFERED",
            "TMPDIR",
            "USER",
        )
    }


def test_a_program_imports_its_own_module_and_ours(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("print('mine')")
    (tmp_path / "other.py").write_text("")
    text = "import fairplay.bot, mine\ntry: import other\nexcept ImportError: print('no other')"

    done = run([sys.executable, "-c", text, str(tmp_path / "mine.py")])

    assert (done.stdout, done.stderr) == ("mine\nno other\n", "")


@pytest.mark.parametrize(
    "command", ["node -p 6*7", "java -Xmx64m -XX:+UseSerialGC -XshowSettings:vm -version", "perl -e print(42)"]
)
def test_runtimes_of_other_languages_start(command: str) -> None:
    words = command.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"there is no {words[0]}")

    done = run(words)

    assert done.returncode == 0, done.stderr


def test_a_journal_below_a_named_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("")
    (tmp_path / "old.jsonl").write_text("")

    with pytest.raises(BadRequest, match=r"could read .*/old\.jsonl: without namespaces nothing can be hidden"):
        check_command([sys.executable, str(tmp_path)], CONFINED)


def test_the_directory_of_journals_is_refused_as_part_of_a_program(tmp_path: Path) -> None:
    (journals := tmp_path / "journals").mkdir()
    policy = SandboxPolicy(SandboxLevel.LANDLOCK, hidden_paths=(str(journals),))

    with pytest.raises(BadRequest, match="without namespaces nothing can be hidden"):
        check_command([sys.executable, str(tmp_path)], policy)


def test_a_file_that_is_replaced_while_a_program_starts_is_not_shown(tmp_path: Path) -> None:
    (file := tmp_path / "bot.py").write_text("print('first')")
    sandboxed = SandboxedCommand([sys.executable, str(file)], CONFINED)
    try:
        (tmp_path / "new").write_text("print('second')")
        (tmp_path / "new").rename(file)
        done = subprocess.run(
            sandboxed.words, pass_fds=sandboxed.inherited_fds, capture_output=True, text=True, check=False
        )

        sandboxed.close_inherited()
        assert (done.returncode, done.stdout) == (1, "")
        assert "bot.py was replaced while the program was started" in done.stderr
        assert sandboxed.host_fault(0) == "the sandbox of a program could not be started, or was killed"
    finally:
        sandboxed.close()


@pytest.mark.parametrize("abi", range(1, 8))
def test_each_abi_denies_all_that_it_can(abi: int) -> None:
    files = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF, 6: 0xFFFF, 7: 0xFFFF}

    assert handled_rights(abi) == (files[abi], 3 * (abi >= 4), 3 * (abi >= 6))


# Its directory.


def test_nothing_is_left_of_a_program(own_temporary_directory: Path) -> None:
    text = """
import os
os.chdir(os.environ["TMPDIR"])
for depth in range(300):
    os.mkdir("x" * 200)
    os.chdir("x" * 200)
    open("file", "w").close()
os.mkdir(os.environ["TMPDIR"] + "/closed")
os.close(os.open(os.environ["TMPDIR"] + "/closed/file", os.O_CREAT, 0))
os.umask(0o777)
os.mkdir(os.environ["TMPDIR"] + "/closed/too")
"""
    done = run([*PYTHON, "-c", text])

    assert done.stderr == ""
    assert is_emptied(own_temporary_directory)


def test_nothing_is_left_of_a_program_that_was_never_started(own_temporary_directory: Path) -> None:
    SandboxedCommand(["true"], CONFINED).close()

    assert list(own_temporary_directory.iterdir()) == []


def test_two_programs_cannot_read_the_directories_of_each_other() -> None:
    other = SandboxedCommand(["true"], CONFINED)
    try:
        place = Path(other._directory, "file")
        place.write_text("secret")
        assert "Permission denied" in run([*PYTHON, "-c", f"open({str(place)!r})"]).stderr
        place.unlink()
    finally:
        other.close()


# How to ask for it.


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("landlock", SandboxLevel.LANDLOCK),
        ("strict,landlock", SandboxLevel.LANDLOCK),
        ("auto", SandboxLevel.LANDLOCK),
        ("landlock,strict", SandboxLevel.LANDLOCK),
        ("strict,none", SandboxLevel.NONE),
    ],
)
def test_the_first_level_that_a_machine_has_is_taken(
    text: str, level: SandboxLevel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protections, "why_not_strict", lambda: "there is no strict sandbox here (no bubblewrap)")
    warnings: list[str] = []

    assert parse_sandbox(text, warnings.append).level is level
    assert warnings == (
        [
            "programs are confined by Landlock, and not strictly: there is no strict sandbox here (no bubblewrap); "
            "`fairplay doctor` says more"
        ]
        if text == "auto"
        else []
    )


def test_a_machine_with_neither_refuses_both_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "why_not_strict", lambda: "there is no strict sandbox here (no bubblewrap)")
    monkeypatch.setattr(protections, "why_no_landlock", lambda: "the kernel is too old")

    with pytest.raises(BadRequest) as refused:
        parse_sandbox("strict,landlock")

    assert str(refused.value) == (
        "there is no strict sandbox here (no bubblewrap); there is no Landlock here (the kernel is too old); "
        "`fairplay doctor` says more"
    )


@pytest.mark.parametrize("text", ["docker", "strict,docker", "", "strict,", "auto,none"])
def test_an_unknown_level_is_refused(text: str) -> None:
    said = run_fairplay("play", "fish", "greedy", "greedy", "--sandbox", text)

    assert said.code == 2
    assert "is not one of 'auto', 'strict', 'landlock', 'none'" in said.err


def test_a_match_records_its_level_and_its_abi(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("def take_turn(view):\n    return view.actions[0]\n")
    done = run_fairplay(
        *("play", "fish", str(tmp_path / "bot.py"), "greedy", "--sandbox", "landlock", "--journal", str(tmp_path / "j"))
    )

    (journal,) = (tmp_path / "j").glob("*.jsonl")
    lines = read_lines(journal)
    assert done.code == 0, done
    assert lines[0]["sandbox"] == "landlock"
    (seated,) = (line for line in lines if line["type"] == "seated")
    assert seated["enforced"][0].split()[:3] == [f"landlock-{landlock_abi()}", "filter", "limits"]


def test_a_planted_hole_is_found_by_the_test_from_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = filter_program(namespaces=True)
    monkeypatch.setattr(landlock, "filter_program", lambda *, namespaces: planted)
    monkeypatch.setattr(landlock, "handled_rights", lambda abi: (0x1FFF & ~2 & ~8, 0, 0))

    assert landlock.probe_landlock() == (
        "a test from inside shows that it does not hold: reading, listing, writing, sockets, signals"
    )
