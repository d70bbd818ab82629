"""Plant each bug into a copy of the tree, run the tests that must catch it, and report which bugs survived.

python -m tests.planted                  # all bugs
python -m tests.planted server "token"   # one file of bugs; those whose names contain a text
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.planted.bugs import TREE, Bug, bug_files, read_bugs

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "site", "dist", "demo")
TEST_TIMEOUT_S = 600
PYTEST_FAILED_EXIT_CODE = 1  # pytest's exit code where tests ran and some failed


def main(chosen: Sequence[str]) -> int:
    """Try the chosen bugs (default: all); the exit code is 1 if one survived."""
    bugs = [bug for path in bug_files() for bug in read_bugs(path) if is_chosen(bug, path, chosen)]
    if not bugs:
        print(f"no bug is called {' or '.join(chosen)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="planted-") as directory:
        tree = Path(directory) / "tree"
        shutil.copytree(TREE, tree, ignore=LEFT_OUT, symlinks=True)
        shared = os.environ.get("FAIRPLAY_SHARED", str(TREE.parent / "shared"))
        tests = sorted({test for bug in bugs for test in bug.caught_by})
        if code := run_tests(tests, tree, shared):
            print(f"these tests are red without any bug (exit code {code}): {' '.join(tests)}", file=sys.stderr)
            return 2
        survivors = [bug for bug in bugs if not is_caught(bug, tree, shared)]
    print(f"{len(bugs) - len(survivors)} of {len(bugs)} bugs caught")
    return 1 if survivors else 0


def is_chosen(bug: Bug, path: Path, chosen: Sequence[str]) -> bool:
    """Is the bug or its file chosen?"""
    return not chosen or path.stem in chosen or any(text in bug.name for text in chosen)


def is_caught(bug: Bug, tree: Path, shared: str) -> bool:
    """Do the tests fail with the bug in the tree? The tree is restored afterwards."""
    path = tree / bug.file
    original = path.read_text()
    bug.plant(tree)
    try:
        code = run_tests(bug.caught_by, tree, shared)
    finally:
        path.write_text(original)
    print(f"{'caught' if code == PYTEST_FAILED_EXIT_CODE else f'SURVIVED (exit code {code})'}: {bug.name}", flush=True)
    return code == PYTEST_FAILED_EXIT_CODE


def run_tests(tests: Sequence[str], tree: Path, shared: str) -> int:
    """Run tests on the sources of a tree, and return pytest's exit code."""
    options = ["-x", "-q", "-m", "", "-n", "0", "-p", "no:cacheprovider", "-p", "no:tests.running.busy"]  # no excuses
    command = [sys.executable, "-m", "pytest", *options, *tests]
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "FAIRPLAY_SHARED": shared, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, check=False, timeout=TEST_TIMEOUT_S)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
