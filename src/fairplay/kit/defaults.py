"""List what comes for free with a game of the kit, by what a title calls it; each file is loaded when it is needed."""

from importlib import import_module
from typing import Any

from fairplay.kit.game import BoardGame

DEFAULTS = {
    "built_in": ("built_in", "BUILT_IN"),
    "text": ("terminal", "text"),
    "svg": ("draw", "svg"),
    "looks": ("roster", "looks"),
    "format_action": ("notation", "format_action"),
    "parse_action": ("notation", "parse_action"),
    "help": ("notation", "help_text"),
    "preview": ("notation", "preview"),
    "examples": ("examples", "examples_of"),
    "cheats": ("cheats", "cheats_of"),
    "rare_cheats": ("cheats", "rare_cheats_of"),
}
PER_GAME = {"help", "examples", "cheats", "rare_cheats"}  # what is other for each game


def default_part(rules: type[BoardGame[Any, Any]], name: str) -> Any:
    """What comes with a game by this name."""
    file, inside = DEFAULTS[name]
    found = getattr(import_module(f"fairplay.kit.{file}"), inside)
    return found(rules) if name in PER_GAME else found
