"""List the parts that any game of the kit has by default; each file is imported when it is needed."""

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
PER_GAME = {"help", "examples", "cheats", "rare_cheats"}  # parts that are made for each game


def default_part(rules: type[BoardGame[Any, Any]], name: str) -> Any:
    """The default of a part of a game."""
    file, inside = DEFAULTS[name]
    found = getattr(import_module(f"fairplay.kit.{file}"), inside)
    return found(rules) if name in PER_GAME else found
