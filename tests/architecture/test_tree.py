"""Hold the tree to what ARCHITECTURE.md says of it."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fairplay
from tools.tables import ROOT, directories, readmes, rewritten

SOURCE = ROOT / "src" / "fairplay"
PURE = ("core", "referee", "render", "games", "course")
IMPURE_MODULES = {"asyncio", "socket", "subprocess", "threading", "time", "os", "pathlib", "logging"}
CHANCE_MODULES = {"random", "secrets", "uuid"}
DRAWS_A_SEED = "referee/host.py"  # where nobody gave one
CLOSES = "referee/closing.py"  # which holds off a cancellation, and that takes an event loop
MAY_AWAIT = ("referee/drivers.py", CLOSES, "core/roles.py", "testing/scripted.py", "players/", "journal/", "hosting/")
USES_LOTS = ("core/chance.py", "games/fish/game.py", "games/q/game.py", "games/tsuro/game.py", "testing/")
LONGEST_FILE = 400


def sources(*packages: str) -> list[Path]:
    return sorted(path for package in packages or ("",) for path in (SOURCE / package).rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def impurities(source: str, banned: set[str]) -> set[str]:
    return {name for name in imported(ast.parse(source)) if name.partition(".")[0] in banned}


def colours(source: str) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.AsyncFunctionDef)]


def short(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_imports_go_downwards_only() -> None:
    linter = Path(sys.executable).parent / "lint-imports"

    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sources(*PURE), ids=short)
def test_the_inner_packages_are_pure(path: Path) -> None:
    banned = IMPURE_MODULES | CHANCE_MODULES
    banned -= {DRAWS_A_SEED: CHANCE_MODULES, CLOSES: {"asyncio"}}.get(short(path), set())

    assert impurities(path.read_text(), banned) == set()


def test_the_meter_of_purity_turns_red() -> None:
    assert impurities("from os import path\nimport time, json\n", IMPURE_MODULES) == {"os", "time"}


@pytest.mark.parametrize("path", sources(), ids=short)
def test_chance_is_drawn_only_where_it_belongs(path: Path) -> None:
    draws = any(isinstance(node, ast.Name) and node.id == "Lots" for node in ast.walk(ast.parse(path.read_text())))

    assert not draws or short(path).startswith(USES_LOTS)


@pytest.mark.parametrize("path", sources(), ids=short)
def test_only_drivers_and_what_does_io_is_async(path: Path) -> None:
    assert not colours(path.read_text()) or short(path).startswith(MAY_AWAIT)


def test_the_meter_of_colour_turns_red() -> None:
    assert colours("class A:\n    async def ask(self): ...\n") == ["ask"]


@pytest.mark.parametrize("name", ["fairplay", "fairplay.games.fish", "fairplay.games.q", "fairplay.games.tsuro"])
def test_what_is_exported_is_there_and_sorted(name: str) -> None:
    module = importlib.import_module(name)

    exported = module.__all__

    assert exported == sorted(exported)
    assert all(hasattr(module, entry) for entry in exported)


def test_what_is_importable_is_exported() -> None:
    submodules = {path.stem for path in SOURCE.iterdir()}

    public = {name for name in (*vars(fairplay), *fairplay._LATER) if not name.startswith("_")} - submodules

    assert public | {"__version__"} == set(fairplay.__all__)


@pytest.mark.parametrize("readme", readmes(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_table_is_stale(readme: Path) -> None:
    assert readme.read_text() == rewritten(readme), "run `make tables`"


@pytest.mark.parametrize("path", sources(), ids=short)
def test_every_file_says_its_purpose_and_is_short(path: Path) -> None:
    text = path.read_text()
    purpose = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]

    assert text.count("\n") <= LONGEST_FILE
    assert path.name == "__init__.py" or (purpose.endswith((".", "!")) and not purpose.startswith("This"))


VERBS = [path for path in sources("cli") if path.stem not in {"__init__", "main", "match_options", "output"}]


def other_verbs(source: str) -> set[str]:
    return set(imported(ast.parse(source))) & {f"fairplay.cli.{path.stem}" for path in VERBS}


@pytest.mark.parametrize("path", VERBS, ids=short)
def test_no_verb_leans_on_another(path: Path) -> None:
    assert other_verbs(path.read_text()) == set()


def test_the_meter_of_verbs_turns_red() -> None:
    assert other_verbs("from fairplay.cli.why import told\nimport fairplay.cli.output\n") == {"fairplay.cli.why"}


def test_nothing_is_called_utils() -> None:
    assert not [path for path in sources() if path.stem in {"utils", "util", "helpers", "common", "misc"}]


def test_every_directory_has_a_readme() -> None:
    assert [path for path in directories() if not (path / "README.md").is_file()] == []
