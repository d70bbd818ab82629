"""Bring external games for a while: from modules, and from packages that look as if they were installed."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairplay import games as shelf
from fairplay.games import registry
from fairplay.journal.ejection_report import clauses

COIN_GAME = '''
"""Say heads, and you have won.

- **1** There is nothing else to say.
"""
from fairplay.kit import Action, BoardGame

class Heads(Action, frozen=True):
    """Say it."""

class Coin(BoardGame[bool, Heads], frozen=True):
    """Heads win."""

    name = "{name}"

    def start(self, seats: int) -> bool:
        return False

    def moves(self, position: bool, seat: int) -> list[Heads]:
        return [] if position else [Heads()]

    def after(self, position: bool, seat: int, action: Heads) -> bool:
        return True

    def rows(self, position: bool) -> list[str]:
        return ["X" if position else "."]
'''


@pytest.fixture
def forget_external_games() -> Iterator[None]:
    """Whatever is found of others is forgotten again, and so are their modules."""
    modules, others = {*sys.modules}, dict(shelf.EXTERNAL_GAMES)
    shelf.EXTERNAL_GAMES.clear()
    clear_registry()
    yield
    shelf.EXTERNAL_GAMES.clear()
    shelf.EXTERNAL_GAMES.update(others)
    clear_registry()
    for name in {*sys.modules} - modules:
        if name.startswith(("game_", "tic_tac", "connect_")):
            del sys.modules[name]


def clear_registry() -> None:
    registry.installed_games.cache_clear()
    shelf.game_info.cache_clear()
    clauses.cache_clear()


def write_module(directory: Path, file: str, source: str = COIN_GAME, name: str = "coin") -> None:
    directory.mkdir(exist_ok=True, parents=True)
    (directory / f"{file}.py").write_text(source.replace("{name}", name))


def write_package(directory: Path, called: str, entries: str) -> None:
    """What an installed package leaves in a directory on the path, besides its modules."""
    info = directory / f"{called}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {called}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[fairplay.games]\n{entries}\n")
