"""Bring external games for a while: from modules, and from packages that look as if they were installed."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairplay import games as shelf
from fairplay.games import registry
from fairplay.journal.appeal import clauses

COIN = '''
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
def nothing_known() -> Iterator[None]:
    """Whatever is found of others is forgotten again, and so are their modules."""
    modules, others = {*sys.modules}, dict(shelf.EXTERNAL)
    shelf.EXTERNAL.clear()
    forget()
    yield
    shelf.EXTERNAL.clear()
    shelf.EXTERNAL.update(others)
    forget()
    for name in {*sys.modules} - modules:
        if name.startswith(("game_", "tic_tac", "connect_")):
            del sys.modules[name]


def forget() -> None:
    registry.brought_by_packages.cache_clear()
    shelf.title.cache_clear()
    clauses.cache_clear()


def module(folder: Path, file: str, source: str = COIN, name: str = "coin") -> None:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / f"{file}.py").write_text(source.replace("{name}", name))


def package(folder: Path, called: str, entries: str) -> None:
    """What an installed package leaves in a folder on the path, besides its modules."""
    info = folder / f"{called}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {called}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[fairplay.games]\n{entries}\n")
