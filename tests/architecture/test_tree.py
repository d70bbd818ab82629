"""Check the tree against ARCHITECTURE.md."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import fairplay
from fairplay.cli import main
from fairplay.games import GAMES
from tools.readme_tables import ROOT, directories, readmes, rewrite_readme

SOURCE = ROOT / "src" / "fairplay"
MAX_MODULES = 25  # of a directory; a game's may have more
PURE: tuple[str, ...] = (
    "core",
    "referee",
    "render",
    "kit",
    "games",
    "protocol",
    "tournament/formats",
    "course/formats",
)
PURE += ("course/dialects",)
IMPURE_MODULES = {"asyncio", "socket", "subprocess", "threading", "time", "os", "pathlib", "logging"}
CHANCE_MODULES = {"random", "secrets", "uuid"}
ALLOWED_IMPURITIES = {
    "referee/referee.py": "os",  # draws a seed, if the caller gives none
    "referee/closing.py": "asyncio",  # holds off a cancellation, which takes an event loop
    "referee/callback_driver.py": "asyncio",  # wakes the task that drives a conversation, by a future
    "protocol/nonces.py": "secrets",  # draws the unguessable part of nonces
}
MAY_AWAIT = (
    "referee/drivers.py",
    "referee/closing.py",
    "referee/callback_driver.py",
    "core/roles.py",
    "app/",
    "testing/scripted.py",
    "testing/escapes/runner.py",  # plays many matches at once
    "tournament/running/worker.py",  # starts the programs of one match while it plays another
    "course/harness/clients.py",  # the ends of connections to the courses
    "course/harness/over_network.py",
)
DOES_IO: tuple[str, ...] = (
    "sandbox/",
    "transport/",
    "players/",
    "journal/",
    "hosting/",
    "diagnosis/",
    "server/",
    "cli/client/",
)
DOES_IO += ("course/channel/", "course/server/")
USES_RANDOMNESS = (
    "core/chance.py",
    "tournament/formats/",
    *(f"games/{game}/{file}.py" for game in GAMES for file in ("game", "imagine")),
    "testing/",
)
PER_GAME = ("games/", "course/", "tournament/courses.py", "tournament/formats/courses.py")
OF_COURSES = ("course/", "games/", "tournament/")  # their knock-outs are formats like any other
MAX_FILE_LINES = 400
parsed = cache(ast.parse)  # many tests look at the same files


def sources(*packages: str) -> list[Path]:
    return sorted(path for package in packages or ("",) for path in (SOURCE / package).rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def impurities(source: str) -> set[str]:
    banned = IMPURE_MODULES | CHANCE_MODULES
    return {name for name in imported(parsed(source)) if name.partition(".")[0] in banned}


def async_functions(source: str) -> list[str]:
    return [node.name for node in ast.walk(parsed(source)) if isinstance(node, ast.AsyncFunctionDef)]


def draws(source: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "SeededRandom" for node in ast.walk(parsed(source)))


def words_in(source: str) -> set[str]:
    """The words of code: of imports, names, and texts that are no docstrings."""
    tree = parsed(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, documented)]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    words: set[str] = {word for module in imported(tree) for word in module.split(".")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.alias):
            words.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            words |= {node.value} if len(node.value) < 3 else set(re.findall(r"\w{3,}", node.value))
    return words


def games_named(source: str) -> set[str]:
    """The games that code names, or their rules."""
    words = words_in(source)
    return {game for game, rules in GAMES.items() if {game, rules} & words}


def courses_named(source: str) -> set[str]:
    """The words of code that name a course."""
    return {word for word in words_in(source) if "course" in word.lower()}


def unexplained_imports(source: str) -> list[str]:
    """The functions in which something is imported without a comment that says why it is not imported above."""
    lines, found = source.splitlines(), []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            imports = [each for each in ast.walk(node) if isinstance(each, ast.Import | ast.ImportFrom)]
            first = min((each.lineno for each in imports), default=0)
            last = max((each.end_lineno or each.lineno for each in imports), default=0)
            if imports and not any("#" in line for line in lines[first - 2 : last]):
                found.append(node.name)
    return found


def lacks_purpose(source: str) -> bool:
    purpose = (ast.get_docstring(parsed(source)) or "").partition("\n")[0]
    return not purpose.endswith((".", "!")) or purpose.startswith("This")


COMMANDS = [path for path in sources("cli") if path.stem.replace("_", "-") in main.SUBCOMMANDS]


def other_commands(source: str) -> set[str]:
    return set(imported(parsed(source))) & {f"fairplay.cli.{path.stem}" for path in COMMANDS}


Look = Callable[[str], object]  # at a source, for something that may not be there


def places(look: Look, paths: Iterable[Path] | None = None, but: tuple[str, ...] = ()) -> dict[str, object]:
    """The files where something is found, and what; some files need not be looked at."""
    read = [path for path in (sources() if paths is None else paths) if not short(path).startswith(but)]
    return {short(path): found for path in read if (found := look(path.read_text()))}


def short(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_imports_go_downwards_only() -> None:
    linter = Path(sys.executable).parent / "lint-imports"

    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_an_import_inside_a_function_has_its_reason_beside_it() -> None:
    escapes = ("testing/escapes/",)  # programs that have to get by with what is there
    assert places(unexplained_imports, but=escapes) == {}


def test_no_directory_has_too_many_modules_and_no_file_too_many_lines() -> None:
    modules = Counter(short(path.parent) for path in sources() if path.name != "__init__.py")

    assert {name for name, count in modules.items() if count > MAX_MODULES and not name.startswith("games/")} == set()
    assert places(lambda source: source.count("\n") > MAX_FILE_LINES) == {}


def test_the_inner_packages_are_pure() -> None:
    assert places(impurities, sources(*PURE)) == {path: {module} for path, module in ALLOWED_IMPURITIES.items()}


def test_randomness_is_used_only_in_the_listed_places() -> None:
    assert places(draws, but=USES_RANDOMNESS) == {}


def test_only_drivers_and_io_code_is_async() -> None:
    assert places(async_functions, but=MAY_AWAIT + DOES_IO) == {}


def test_no_command_imports_another() -> None:
    assert places(other_commands, COMMANDS) == {}


def test_a_game_is_named_in_its_own_files_alone() -> None:
    assert places(games_named, but=PER_GAME) == {}


def test_the_courses_are_named_in_their_own_files_alone() -> None:
    assert places(courses_named, but=OF_COURSES) == {}


def test_every_file_says_its_purpose() -> None:
    assert places(lacks_purpose, [path for path in sources() if path.name != "__init__.py"]) == {}


@pytest.mark.parametrize(
    ("look", "source", "found"),
    [
        (
            unexplained_imports,
            "def draw():\n    import rich  # start-up\n\n\ndef plain():\n    import rich\n",
            ["plain"],
        ),
        (impurities, "from os import path\nimport time, json\n", {"os", "time"}),
        (async_functions, "class A:\n    async def ask(self): ...\n", ["ask"]),
        (draws, "lots = SeededRandom(seed)", True),
        (other_commands, "from fairplay.cli.why import explain_ejection\nimport rich\n", {"fairplay.cli.why"}),
        (lacks_purpose, '"""This is a module."""', True),
        (games_named, 'QUICK = {"fish": {"rows": 5}}', {"fish"}),
        (games_named, "from fairplay.games.tsuro.state import View", {"tsuro"}),
        (games_named, "from fairplay.games import q", {"q"}),
        (games_named, "def deal(): return Q()", {"q"}),
        (games_named, 'say("play some tsuro")', {"tsuro"}),
        (games_named, 'def play():\n    """fairplay play fish"""', set()),
        (games_named, "quick = fishing = question", set()),
        (courses_named, "from fairplay.course.commands import course", {"course"}),
        (courses_named, "import fairplay.course", {"fairplay.course", "course"}),
        (courses_named, 'VERBS = {"course": ""}', {"course"}),
        (courses_named, "def serve(): return CourseLine()", {"CourseLine"}),
        (courses_named, 'def play():\n    """Come from a course."""', set()),
    ],
)
def test_what_may_not_be_there_is_found(look: Look, source: str, found: object) -> None:
    assert look(source) == found


@pytest.mark.parametrize("name", ["fairplay", "fairplay.kit", *(f"fairplay.games.{game}" for game in GAMES)])
def test_what_is_exported_is_there_and_sorted(name: str) -> None:
    module = importlib.import_module(name)

    assert module.__all__ == sorted(module.__all__)
    assert all(hasattr(module, entry) for entry in module.__all__)


def test_help_describes_the_fields_of_public_values() -> None:
    public = {name: getattr(fairplay, name) for name in fairplay.__all__}
    fields = {name: it.__struct_fields__ for name, it in public.items() if hasattr(it, "__struct_fields__")}

    told = {name: re.findall(r"^    (\w+): ", inspect.getdoc(public[name]) or "", re.M) for name in fields}

    assert "Ejected" in fields
    assert told == {name: list(fields[name]) for name in fields}


def test_what_is_importable_is_exported() -> None:
    submodules = {path.stem for path in SOURCE.iterdir()}

    public = {name for name in (*vars(fairplay), *fairplay._LAZY_EXPORTS) if not name.startswith("_")} - submodules

    assert public | {"__version__"} == set(fairplay.__all__)


def test_every_directory_has_a_readme_whose_table_is_up_to_date() -> None:
    assert [path for path in directories() if not (path / "README.md").is_file()] == []
    assert [path for path in readmes() if path.read_text() != rewrite_readme(path)] == [], "run `make tables`"


def test_nothing_is_called_utils() -> None:
    assert not [path for path in sources() if path.stem in {"utils", "util", "helpers", "common", "misc"}]
