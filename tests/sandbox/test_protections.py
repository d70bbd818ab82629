"""Test strict sandboxes from inside, and all options for them."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.sandbox import bubblewrap, process_tree, protections
from fairplay.sandbox.policy import MEGABYTE, SandboxLevel, SandboxPolicy
from fairplay.sandbox.protections import PROTECTIONS, enforceable_protections, parse_sandbox, wrap_command
from fairplay.sandbox.sandboxed_command import SandboxedCommand
from tests.cli.command import run_fairplay
from tests.players.machine import needs_strict
from tests.players.programs import PYTHON, every_level
from tests.players.sandbox_hosts import ProgramResult

STRICT = SandboxPolicy(SandboxLevel.STRICT)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root's programs run as another user")
NOT_INSTALLED = "bubblewrap: not installed"


def run(command: Sequence[str] | SandboxedCommand, box: SandboxPolicy = STRICT) -> ProgramResult:
    cell = command if isinstance(command, SandboxedCommand) else SandboxedCommand(command, box)
    try:
        done = subprocess.run(
            cell.words, pass_fds=cell.inherited_fds, capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        cell.close()
    return ProgramResult(done.returncode, done.stdout, done.stderr)


def seen(expression: str, box: SandboxPolicy = STRICT) -> Any:
    """What an expression of Python comes to in there."""
    text = f"import json, os, sys, resource\nfrom pathlib import Path\nprint(json.dumps({expression}))"
    done = run([*PYTHON, "-c", text], box)
    assert done.code == 0, done
    return json.loads(done.out)


def hiding(*paths: str | Path) -> SandboxPolicy:
    return SandboxPolicy(SandboxLevel.STRICT, hidden_paths=tuple(map(str, paths)))


def machine_without(monkeypatch: pytest.MonkeyPatch, why: str = NOT_INSTALLED) -> None:
    without = tuple(protections.Protection(name, about, why) for name, about in PROTECTIONS.items())
    monkeypatch.setattr(protections, "enforceable_protections", lambda: without)
    monkeypatch.setattr("fairplay.cli.doctor.enforceable_protections", lambda: without)
    monkeypatch.setattr(protections, "why_no_landlock", lambda: "the kernel is too old")


# The choice of a sandbox.


@needs_strict
def test_sandboxes_are_parsed_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse_sandbox("auto") == parse_sandbox("strict") == STRICT
    assert parse_sandbox("none") == SandboxPolicy(SandboxLevel.NONE)
    assert capsys.readouterr().err == ""
    for text in ("", "Strict", "docker", "auto "):
        with pytest.raises(BadRequest, match="there is auto, strict, landlock and none"):
            parse_sandbox(text)


def test_without_a_sandbox_auto_warns_on_stderr_and_strict_refuses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine_without(monkeypatch)

    assert parse_sandbox("none") == SandboxPolicy(SandboxLevel.NONE)
    assert capsys.readouterr().err == ""
    assert parse_sandbox("auto") == SandboxPolicy(SandboxLevel.NONE)
    warning = capsys.readouterr().err
    assert "WITHOUT A SANDBOX" in warning and NOT_INSTALLED in warning
    with pytest.raises(BadRequest, match=NOT_INSTALLED):
        parse_sandbox("strict")
    with pytest.raises(BadRequest, match=NOT_INSTALLED):
        wrap_command(["true"], STRICT)


# Visible files; test_visible_files.py tries more.


@needs_strict
def test_a_program_sees_its_directory_and_cannot_write_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.chdir(own)
    (own / "__main__.py").write_text("import beside\nprint(beside.word, open('beside.py').read())\nopen('out', 'w')")
    (own / "beside.py").write_text("word = 'hello'")
    (tmp_path / "other").mkdir()

    done = run([sys.executable, "."])

    assert done.out == "hello word = 'hello'\n"
    assert "Read-only file system" in done.err or "Permission denied" in done.err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["__main__.py", "beside.py", "other", "own"]


@needs_strict
@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_hidden_paths_are_invisible(mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(mode)
    (tmp_path / "bot.py").write_text(
        "import os\nprint(os.path.exists('games') and os.listdir('games'), os.path.exists('games/a'))\nopen('key')"
    )
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "a").touch()
    (tmp_path / "key").write_text("secret")

    done = run([*PYTHON, "bot.py"], hiding(tmp_path / "games", tmp_path / "key", "/no/such/thing"))

    assert done.out in ("[] False\n", "False False\n")
    assert "Permission denied" in done.err or "No such file" in done.err


@needs_strict
def test_the_working_directory_may_be_invisible_but_a_missing_hidden_path_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "games" / "old").mkdir(parents=True)
    (tmp_path / "games" / "old" / "journal").touch()
    tmp_path.chmod(0o755)
    (tmp_path / "bot.py").write_text("import os\nprint(os.listdir())")
    monkeypatch.chdir(tmp_path / "games" / "old")

    assert run([*PYTHON, "../../bot.py"], hiding("..", "../old", "journal")) == ProgramResult(0, "[]\n", "")
    with pytest.raises(BadRequest, match="has to exist before"):
        wrap_command([*PYTHON, str(tmp_path)], hiding(tmp_path / "missing"))


@needs_strict
def test_the_tool_of_a_command_is_visible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is on the path may lie anywhere, with what it needs beside it, as those of nvm and pyenv do."""
    home = tmp_path / "languages" / "snake-1.0"
    for name in ("bin", "lib"):
        (home / name).mkdir(parents=True)
    (home / "bin" / "snake").write_text('#!/bin/sh\ncat "${0%/bin/snake}/lib/words"\n')
    (home / "bin" / "snake").chmod(0o755)
    (home / "lib" / "words").write_text("hiss")
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.environ['PATH']}")

    assert run(["snake"]) == ProgramResult(0, "hiss", "")
    monkeypatch.chdir(home)  # then this is not the tool's alone
    assert "hiss" not in run(["snake"]).out


@needs_strict
def test_our_own_package_can_be_imported_in_there() -> None:
    text = "import fairplay.players.player_loop; from fairplay.games import game_info; game_info('fish')"

    assert run([sys.executable, "-c", text]) == ProgramResult(0, "", "")


@needs_strict
def test_a_program_sees_none_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRPLAY_SECRET", "the seed")
    first = "Path('/proc/1/environ')"

    variables, of_first = seen(f"[dict(os.environ), {first}.read_text() if os.access({first}, os.R_OK) else '']")

    assert set(variables) <= {*bubblewrap.environment(), "PWD"}
    assert variables["HOME"] == "/tmp"
    assert variables["PYTHONUNBUFFERED"] == "1"
    assert "the seed" not in of_first


@needs_strict
def test_of_our_home_only_parents_of_visible_files_exist() -> None:
    home = Path.home()
    needed = [Path(place) for place in (sys.prefix, sys.base_prefix, protections.__file__, Path.cwd())]

    for directory in (home, home.parent):
        found = seen(f"os.listdir({str(directory)!r}) if os.path.exists({str(directory)!r}) else []")
        on_the_way = {place.relative_to(directory).parts[0] for place in needed if place.is_relative_to(directory)}

        assert directory == Path("/") or set(found) <= on_the_way


# Rights.


@needs_strict
def test_a_program_has_no_rights_and_with_root_a_user_of_its_own() -> None:
    uid, hostname, session = seen("[os.getuid(), os.uname().nodename, os.getsid(0)]")

    assert hostname == "player"
    assert 0 not in (uid, session)
    assert seen("os.getuid()") != uid or os.geteuid() != 0


@as_root
def test_in_a_container_programs_have_ids_of_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda self: "0 100000 65536\n")

    assert 49152 <= bubblewrap.unused_user_id() < 65536


@needs_strict
@as_root
def test_the_entries_of_a_closed_directory_are_visible_but_a_closed_file_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "__main__.py").write_text("import beside")
    (tmp_path / "beside.py").write_text("print('hello')")
    (tmp_path / "bot.py").touch(mode=0o600)

    assert run([sys.executable, str(tmp_path)]).out == "hello\n"
    with pytest.raises(BadRequest, match="is closed to others"):
        wrap_command([*PYTHON, str(tmp_path / "bot.py")], STRICT)


# Limits.


@every_level
def test_limits_hold(sandbox: SandboxPolicy) -> None:
    """With core dumps of 0 bytes the kernel still hands them to a pipe in core_pattern, with 1 it does not: core(5)."""
    box = msgspec.structs.replace(sandbox, memory=200 * MEGABYTE, cpu=77, open_files=33, file_size=12345)
    names = ("RLIMIT_DATA", "RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE")
    limits = f"[resource.getrlimit(getattr(resource, name)) for name in {names}]"
    lowered = "(resource.setrlimit(resource.RLIMIT_CORE, (0, 0)), resource.getrlimit(resource.RLIMIT_CORE))[1]"

    found, core, signals = seen(f"[{limits}, {lowered}, resource.getrlimit(resource.RLIMIT_SIGPENDING)]", box)

    addresses = (200 + 4096) * MEGABYTE  # for what is reserved and never touched
    assert found == [[most, most] for most in (200 * MEGABYTE, addresses, 77, 33, 12345, 1)]
    assert sandbox.level is SandboxLevel.NONE or (core, signals) == ([1, 1], [256, 256])


@pytest.mark.parametrize(
    "sandbox", [pytest.param(STRICT, marks=needs_strict), SandboxPolicy(SandboxLevel.NONE)], ids=["strict", "none"]
)
def test_programs_are_killed_first_where_memory_runs_out(sandbox: SandboxPolicy) -> None:
    others = {path: path.read_text() for path in Path("/proc").glob("[1-9]/oom_score_adj")}

    assert seen("Path('/proc/self/oom_score_adj').read_text()", sandbox) == "1000\n"
    assert {path: path.read_text() for path in others} == others  # numbers in there are not numbers out here


def test_limits_are_at_most_our_own() -> None:
    text = (
        "import resource, subprocess; resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99));"
        "from fairplay.sandbox.protections import *; print(prlimit_command(SandboxPolicy(SandboxLevel.NONE)))"
    )

    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)

    assert "'--nofile=99'" in done.stdout


@needs_strict
def test_a_program_that_computes_for_too_long_is_killed() -> None:
    assert run([*PYTHON, "-c", "while True: pass"], SandboxPolicy(SandboxLevel.STRICT, cpu=1)).code == 128 + 9


@needs_strict
def test_disk_space_is_limited() -> None:
    box = SandboxPolicy(SandboxLevel.STRICT, space=4 * MEGABYTE)

    sizes = seen("[os.statvfs(place).f_blocks * os.statvfs(place).f_frsize for place in ('/tmp', '/dev/shm')]", box)

    assert sizes == [4 * MEGABYTE] * 2


# Times, owners and figures of the machine.


@needs_strict
def test_to_read_a_file_does_not_change_when_it_was_read(tmp_path: Path) -> None:
    (tmp_path / "listed").mkdir()
    (tmp_path / "listed" / "read").write_text("text")
    (tmp_path / "link").symlink_to("listed/read")
    tmp_path.chmod(0o755)
    work = ["cat", "link", "listed/read"], ["ls", "-R", "."]
    cell = SandboxedCommand(["sh", "-c", f"cd {tmp_path}; {'; '.join(map(shlex.join, work))}", str(tmp_path)], STRICT)
    paths = [tmp_path, *tmp_path.rglob("*")]
    for path in paths:
        os.utime(path, (5, 10), follow_symlinks=False)  # read before it was changed, so that a reading is noted

    done = run(cell)

    assert done.out.startswith("texttext.:")
    assert {path.name: path.lstat().st_atime for path in paths} == {path.name: 5 for path in paths}


@needs_strict
def test_tools_that_keep_times_and_owners_work_in_a_directory_of_their_own() -> None:
    work = (
        "cd /tmp && mkdir a && echo text >a/one && touch -d 2020-01-01 a/one && chmod 640 a/one && cp -a a b &&"
        " tar cf all.tar b && mkdir c && tar xpf all.tar -C c && chown $(id -u) c/b/one &&"
        " cat c/b/one && stat -c %a c/b/one"
    )

    assert run(["sh", "-c", work]) == ProgramResult(0, "text\n640\n", "")


@needs_strict
def test_the_figures_of_the_machine_are_the_same_for_every_program() -> None:
    cores = "[len(os.sched_getaffinity(0)), os.cpu_count(), os.sysconf('SC_PAGE_SIZE')]"

    stat, memory, found = seen(f"[*(Path('/proc', name).read_text() for name in ('stat', 'meminfo')), {cores}]")

    assert stat.startswith("cpu  0 0 0 ")
    assert len([line for line in stat.splitlines() if line.startswith("cpu")]) == 1 + (os.cpu_count() or 1)
    assert "MemTotal:        4194304 kB" in memory
    assert found == [len(os.sched_getaffinity(0)), os.cpu_count(), os.sysconf("SC_PAGE_SIZE")]


@needs_strict
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_node_knows_how_many_cores_and_how_much_memory_there_are() -> None:
    text = "const os = require('os'); console.log(os.cpus().length, os.totalmem(), os.freemem() > 0, os.uptime() > 0)"

    assert run(["node", "-e", text]).out == f"{os.cpu_count()} {4096 * MEGABYTE} true true\n"


# Protections of this machine.


@needs_strict
def test_this_machine_enforces_every_protection() -> None:
    assert {measure.name for measure in enforceable_protections() if not measure.why_not} == set(PROTECTIONS)
    done = run_fairplay("doctor")
    assert done.code == 0
    listed = [line.split()[:2] for line in done.out.splitlines()[: len(PROTECTIONS)]]
    assert listed == [["yes", name] for name in PROTECTIONS]


@needs_strict
def test_a_protection_that_does_not_hold_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a sandbox nothing holds, but for what the system forbids anyway."""

    def pretend_bubblewrap(command: Sequence[str], inherited: Sequence[int] = ()) -> tuple[str, str]:
        return ("bubblewrap 9.9", "") if command[0] == "bwrap" else process_tree.capture_output(command, inherited)

    monkeypatch.setattr(protections, "wrap_strictly", lambda program, arguments, *_: [program, *arguments])
    monkeypatch.setattr(protections, "TOOLS", {})
    monkeypatch.setattr(protections, "capture_output", pretend_bubblewrap)
    monkeypatch.setenv("FAIRPLAY_SECRET", "the seed")

    assert protections.probe_sandbox() == (dict.fromkeys(PROTECTIONS, False), "")


@needs_strict
@pytest.mark.parametrize(
    ("word", "instead", "measure"),
    [
        ("--unshare-net", "--new-session", "network"),
        ("--unshare-ipc", "--new-session", "processes"),
        ("-i", "--", "environment"),
        (f"--data={256 * MEGABYTE}", "--core=0", "memory"),
        ("--seccomp", "--sync-fd", "filter"),
    ],
)
def test_a_weakened_sandbox_is_not_strict(
    word: str, instead: str, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests are skipped for what this machine lacks, not for what we do."""
    strictly = protections.wrap_strictly
    monkeypatch.setattr(
        protections, "wrap_strictly", lambda *given: [instead if w == word else w for w in strictly(*given)]
    )
    monkeypatch.setenv("FAIRPLAY_SECRET", "the seed")

    assert protections.probe_sandbox() == ({name: name != measure for name in PROTECTIONS}, "")


@pytest.mark.parametrize(
    ("tools", "version", "why"),
    [
        ({"no-such-tool": "bubblewrap"}, "", NOT_INSTALLED),
        ({}, "bubblewrap 0.6.1", "bubblewrap 0.6.1 is too old; fairplay needs 0.8 or later"),
    ],
)
def test_a_missing_tool_is_reported(
    tools: dict[str, str], version: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protections, "TOOLS", tools)
    monkeypatch.setattr(protections, "capture_output", lambda command: (version, ""))

    assert protections.probe_sandbox() == ({}, why)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["sh", "-c", "echo out; echo first >&2; echo last >&2; exit 3"], ("out\n", "last")),
        (["sh", "-c", "exit 3"], ("", "sh ended with exit code 3")),
        (["/no/such/program"], ("", "/no/such/program: No such file or directory")),
    ],
)
def test_a_failing_probe_reports_why(command: list[str], expected: tuple[str, str]) -> None:
    assert process_tree.capture_output(command) == expected


@pytest.mark.parametrize(
    ("why", "no_namespace"), [("", ""), (NOT_INSTALLED, ""), (NOT_INSTALLED, "they are not allowed")]
)
def test_doctor_reports_a_common_reason_once_and_whether_there_are_namespaces(
    why: str, no_namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine_without(monkeypatch, why)
    monkeypatch.setattr("fairplay.cli.doctor.why_no_namespace", lambda: no_namespace)

    done, as_json = run_fairplay("doctor"), run_fairplay("doctor", "--json")

    told, said = json.loads(as_json.out), done.out.splitlines()
    assert done.code == as_json.code == bool(why)
    assert (told["strict"], told["namespaces"]) == (not why, not no_namespace)
    measures = [(each["name"], each["enforced"], each["why_not"]) for each in told["measures"]]
    assert measures == [(name, not why, why) for name in PROTECTIONS]
    assert done.out.count(NOT_INSTALLED) == bool(why)
    lacking = [line for line in said if line.split()[:1] == ["no"]]
    assert len(lacking) == sum(not each["enforced"] for each in told["measures"] + told["besides"])
    namespaces = [line for line in said if line.startswith("Without namespaces")]
    warning = "Without namespaces (they are not allowed) a bot may leave processes behind."
    assert namespaces == [warning] * bool(no_namespace)
