"""Share a small board of Fish and players for it, as a user of the interface writes them."""

from pathlib import Path
from typing import Any

import fairplay as fp
from fairplay.games.fish import Fish

FISH = Fish(rows=4, columns=4)
BOT = "from fairplay.games.fish import Fish\ndef take_turn(view):\n    return next(Fish().actions(view))\n"


def first(view: Any) -> Any:
    return next(FISH.actions(view))


class Last:
    def take_turn(self, view: Any) -> Any:
        *_, last = FISH.actions(view)
        return last


class Cheat:
    def take_turn(self, view: Any) -> Any:
        return {"type": "win"}


class CountingObserver:
    def __init__(self) -> None:
        self.kinds: list[str] = []

    def observe(self, event: fp.Event, match: Any) -> None:
        self.kinds.append(type(event).__name__)


def write_bot(directory: Path) -> Path:
    path = directory / "my_bot.py"
    path.write_text(BOT)
    return path
