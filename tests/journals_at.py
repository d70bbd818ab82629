"""Find the journals in a folder, and read their lines as plain JSON."""

import json
from pathlib import Path
from typing import Any


def newest(folder: Path) -> Path:
    """The file of the match that was begun last."""
    return max(folder.glob("*.jsonl"), key=lambda path: lines_of(path)[0]["at"])


def lines_of(path: Path) -> list[dict[str, Any]]:
    """What is on its lines."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]
