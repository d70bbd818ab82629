"""Make the rule book of a game in one file from its docstring and the rules that hold in all games of the kit."""

import inspect
import sys
from typing import Any

from fairplay.core.game import Game
from fairplay.kit.game import BoardGame

COMMON = """\
## In every game like this

- **0.1** Players take turns in the order of their seats. No player acts out of turn.
- **0.2** On its turn a player does one thing that the rules allow, and nothing else.
- **0.3** An ejected player is out, and its pieces stay. The others play on; the last player left is first.
- **0.4** The game is over when a player has won, or when the player on turn can do nothing.
"""


def rule_book(rules: type[Game[Any, Any, Any]]) -> str:
    """The rules as Markdown, with numbered clauses: lines that begin with "- **1** "."""
    rules_text = inspect.cleandoc(sys.modules[rules.__module__].__doc__ or rules.__doc__ or "")
    common = f"\n{COMMON}" if issubclass(rules, BoardGame) else ""  # other games have their own turns and ejections
    return f"# The rules of {rules.name}\n\nVersion {rules.version}.\n\n{rules_text}\n{common}"
