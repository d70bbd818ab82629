"""Make the rule book of a game in one file: what its module says at the top, and what holds in all games of the kit."""

import inspect
import sys
from typing import Any

from fairplay.core.game import Game
from fairplay.kit.game import BoardGame

COMMON = """\
## In every game like this

- **0.1** Seats take turns in their order. Nobody acts out of turn.
- **0.2** A seat does one of the things that the rules offer to it then, and nothing else.
- **0.3** Whoever is ejected is out, and what it did stays. The others play on; the last one left is first.
- **0.4** The game is over when somebody has won, or when whoever is on turn can do nothing.
"""


def rule_book(rules: type[Game[Any, Any, Any]]) -> str:
    """The rules as Markdown, with numbered clauses: lines that begin with "- **1** "."""
    said = inspect.cleandoc(sys.modules[rules.__module__].__doc__ or rules.__doc__ or "")
    common = f"\n{COMMON}" if issubclass(rules, BoardGame) else ""  # other games have turns and ejections of their own
    return f"# The rules of {rules.name}\n\nVersion {rules.version}.\n\n{said}\n{common}"
