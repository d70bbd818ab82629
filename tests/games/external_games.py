"""Write modules and installed packages with external games, and forget them after a test."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairplay import games
from fairplay.games import registry
from fairplay.journal.ejection_report import clauses

COIN_GAME = '''
"""The player that says heads has won.

- **1** Nothing else can be said.
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
    """Start with an empty registry, and forget the modules that the test imported."""
    modules = {*sys.modules}
    games.EXTERNAL_GAMES.clear()
    clear_registry()
    yield
    clear_registry()
    for name in {*sys.modules} - modules:
        if name.startswith(("game_", "tic_tac", "connect_")):
            del sys.modules[name]


def clear_registry() -> None:
    registry.installed_games.cache_clear()
    games.game_info.cache_clear()
    clauses.cache_clear()


def write_module(directory: Path, file: str, source: str = COIN_GAME, name: str = "coin") -> None:
    directory.mkdir(exist_ok=True, parents=True)
    (directory / f"{file}.py").write_text(source.replace("{name}", name))


def write_package(directory: Path, name: str, entries: str) -> None:
    info = directory / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[fairplay.games]\n{entries}\n")
