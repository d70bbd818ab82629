"""Let processes of a test import its modules, and those that the tests themselves import."""

import os
from pathlib import Path


def python_path(*directories: str | Path) -> str:
    """PYTHONPATH with these directories first: what replaced it would run other sources than those that are tested."""
    return os.pathsep.join(filter(None, [*map(str, directories), os.environ.get("PYTHONPATH")]))
