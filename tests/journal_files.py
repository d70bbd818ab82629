"""Find the journals in a directory, and read their lines as plain JSON."""

import json
from pathlib import Path
from typing import Any


def newest_journal(directory: Path) -> Path:
    """The file of the match that was begun last."""
    return max(directory.glob("*.jsonl"), key=lambda path: read_lines(path)[0]["at"])


def read_lines(path: Path) -> list[dict[str, Any]]:
    """What is on its lines."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]
