"""Test the comparison of two commits, with trees that are slower, or cannot be measured."""

import json
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tools.readme_tables import ROOT

AS_A_STRANGER = ("-c", "user.name=a stranger", "-c", "user.email=stranger@example.org")
SLOW = "\n_deal = Fish.deal\nFish.deal = lambda *asked: [_deal(*asked) for _ in range(30)][0]\n"
CORES = """
import os, sys
if "--list" in sys.argv:
    sys.exit(print("fish.deal"))
print('{"fish.deal": {"us": %d}}' % len(os.sched_getaffinity(0)))
"""
NEEDS_SOMETHING_NEW = """
import sys
if "--list" in sys.argv:
    sys.exit(print("fish.raw fish.deal"))
if "fish.deal" in sys.argv:
    import something_new
print('{"fish.raw": {"us": 2.0}, "fish.deal": {"us": 2.0}}')
"""
OF_OLD = """
import sys
assert sys.argv[1:] == ["--json"], "nothing else was known then"
print('{"call": {"us": 0.05}, "fish.deal": {"us": 0.001}, "fish.raw": {"us": 0.001}, "q.growth": {"us": 0.001}}')
"""


def git(tree: Path, *arguments: str) -> str:
    command = ["git", "-C", str(tree), *AS_A_STRANGER, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "as it was")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with these sources, of one commit."""
    made = tmp_path / "made"
    for part in ("src", "benchmarks"):
        shutil.copytree(ROOT / part, made / part, ignore=shutil.ignore_patterns("__pycache__"))
    git(tmp_path, "init", "--quiet", str(made))
    commit(made)
    return made


def compare(tree: Path, *arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(tree / "benchmarks" / "compare_commits.py"), *arguments]
    temporary = tree.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    env = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.run(command, cwd=tree.parent, env=env, capture_output=True, text=True, check=False, **options)


def ratios(tree: Path, pairs: int = 1) -> dict[str, dict[str, Any]]:
    done = compare(tree, "HEAD", "fish.deal", "--pairs", str(pairs), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def slow_down(tree: Path) -> None:
    with (tree / "src/fairplay/games/fish/game.py").open("a") as source:
        source.write(SLOW)


def leftovers(tree: Path) -> list[str]:
    """What is left of worktrees, for git and on the disk."""
    return [*git(tree, "worktree", "list").splitlines()[1:], *map(str, tree.parent.glob("temporary/*"))]


def test_what_is_slower_here_than_there_has_a_ratio_above_one(tree: Path) -> None:
    slow_down(tree)  # and is not committed: a tree is measured as it stands

    found = ratios(tree, pairs=2)

    assert found.keys() == {"call", "fish.deal"}
    assert found["fish.deal"]["ratio"] > 5 > found["call"]["ratio"]
    assert found["fish.deal"]["lowest"] <= found["fish.deal"]["ratio"] <= found["fish.deal"]["highest"]
    assert leftovers(tree) == []


def test_a_turn_at_a_distance_comes_with_the_barest_code_that_says_the_same(tree: Path) -> None:
    table = compare(tree, "HEAD", "tcp.turn", "--pairs", "1").stdout.splitlines()

    assert table[0].split() == ["us", "here", "us", "there", "ratio", "of", "single", "pairs"]
    assert [line.split()[0] for line in table[1:]] == ["tcp.turn", "tcp.turn.bare"]


def test_a_commit_whose_benchmarks_cannot_be_chosen_runs_all_of_them(tree: Path) -> None:
    now = (tree / "benchmarks/run.py").read_text()
    (tree / "benchmarks/run.py").write_text(OF_OLD)
    commit(tree)
    (tree / "benchmarks/run.py").write_text(now.replace("ROUNDS = 40", "ROUNDS = 1"))

    found = ratios(tree)

    assert found.keys() == {"call", "fish.deal"}
    assert found["fish.deal"]["there"] == 0.001


def test_a_benchmark_that_is_new_here_is_run_on_the_sources_there(tree: Path) -> None:
    run = tree / "benchmarks" / "run.py"
    now = run.read_text()
    run.write_text(now.replace('"fish.deal": ', '"fish.of.old": '))
    commit(tree)
    run.write_text(now)
    slow_down(tree)

    found = ratios(tree)

    assert found.keys() == {"call", "fish.deal"}
    assert found["fish.deal"]["ratio"] > 5


def test_a_new_benchmark_that_the_sources_there_cannot_run_is_left_out_and_named(tree: Path) -> None:
    (tree / "benchmarks" / "distances.py").write_text("print()")
    (tree / "benchmarks" / "run.py").write_text(NEEDS_SOMETHING_NEW.replace("fish.deal", "fish.of.old"))
    commit(tree)
    (tree / "benchmarks" / "run.py").write_text(NEEDS_SOMETHING_NEW)
    (tree / "src" / "something_new.py").write_text("")

    everything = compare(tree, "HEAD", "--pairs", "1")
    by_name = compare(tree, "HEAD", "fish.deal", "--pairs", "1")

    _, *lines, last = everything.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["fish.raw"]
    assert last == "HEAD has no fish.deal"
    assert (by_name.returncode, by_name.stderr) == (2, "against: HEAD has no benchmark fish.deal\n")


def test_a_comparison_that_cannot_be_measured_is_refused_in_one_line(tree: Path) -> None:
    (tree / "src/fairplay/__init__.py").write_text("raise RuntimeError('a slip')\n")
    commit(tree)
    git(tree, "checkout", "--quiet", "HEAD~1", "--", ".")
    (tree / "a file").write_text("")

    for arguments, why in {
        ("no-such-branch",): "there is no commit 'no-such-branch'\n",
        ("--", "--upload-pack=x"): "there is no commit '--upload-pack=x'\n",
        ("HEAD:src",): "there is no commit 'HEAD:src'\n",
        ("HEAD", "chess.raw"): "there is no benchmark chess.raw\n",
        ("HEAD", "fish.deal"): "RuntimeError: a slip\n",
    }.items():
        done = compare(tree, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("against: ")
        assert done.stderr.endswith(why)
        assert done.stderr.count("\n") == 1
    assert leftovers(tree) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_comparison_leaves_no_worktree(tree: Path, number: signal.Signals) -> None:
    (tree / "benchmarks/run.py").write_text(f"import os\nos.kill(os.getppid(), {int(number)})\ninput()\n")
    commit(tree)
    git(tree, "checkout", "--quiet", "HEAD~1", "--", ".")
    read, _write = os.pipe()

    default = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    done = compare(tree, "HEAD", "fish.deal", stdin=read, preexec_fn=default)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert leftovers(tree) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets us choose a core")
def test_a_comparison_runs_on_one_core(tree: Path) -> None:
    (tree / "benchmarks/run.py").write_text(CORES)
    commit(tree)

    found = ratios(tree)

    assert (found["fish.deal"]["here"], found["fish.deal"]["there"]) == (1, 1)
