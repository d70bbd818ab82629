"""Build wheels from a copy of the tree, as other tests read the tree itself."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.readme_tables import ROOT

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler")


def build_wheel(place: Path) -> Path:
    """The wheel of what stands in the tree, without anything that was built there."""
    tree = place / "tree"
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for file in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, tree / file)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place / "dist")]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    (wheel,) = (place / "dist").glob("*.whl")
    return wheel
