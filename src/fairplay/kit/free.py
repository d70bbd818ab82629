"""List what comes for free with a game of the kit, by what a title calls it; each file is loaded when it is needed."""

from importlib import import_module
from typing import Any

from fairplay.kit.game import BoardGame

FREE = {
    "house": ("house", "HOUSE"),
    "text": ("terminal", "text"),
    "svg": ("draw", "svg"),
    "looks": ("roster", "looks"),
    "write": ("notation", "write"),
    "read": ("notation", "read"),
    "help": ("notation", "help_for"),
    "foresee": ("notation", "foresee"),
    "examples": ("examples", "examples_of"),
    "cheats": ("cheats", "cheats_of"),
    "seldom": ("cheats", "seldom_of"),
}
ASKED = {"help", "examples", "cheats", "seldom"}  # what is other for each game


def for_free(rules: type[BoardGame[Any, Any]], name: str) -> Any:
    """What comes with a game by this name."""
    file, inside = FREE[name]
    found = getattr(import_module(f"fairplay.kit.{file}"), inside)
    return found(rules) if name in ASKED else found
