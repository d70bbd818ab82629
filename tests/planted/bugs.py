"""Read the bugs that are planted, and plant one into a copy of the tree."""

import tomllib
from pathlib import Path

import msgspec

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent


class Bug(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change that makes a file wrong, and the tests that must notice."""

    name: str
    file: str  # from the root of the tree
    old: str  # occurs once in the file
    new: str
    caught_by: tuple[str, ...]  # as pytest names tests

    def plant(self, tree: Path) -> None:
        path = tree / self.file
        path.write_text(self.apply_to(path.read_text()))

    def apply_to(self, text: str) -> str:
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.name}: its old text occurs {times} times in {self.file}")
        return text.replace(self.old, self.new)


class BugFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bug: tuple[Bug, ...]


def read_bugs(path: Path) -> tuple[Bug, ...]:
    return msgspec.convert(tomllib.loads(path.read_text()), BugFile).bug


def bug_files() -> list[Path]:
    return sorted(HERE.glob("*.toml"))
