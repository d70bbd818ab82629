"""Check the tree against ARCHITECTURE.md."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import fairplay
from fairplay.cli import main
from fairplay.games import GAMES
from tools.readme_tables import ROOT, directories, readmes, rewrite_readme

SOURCE = ROOT / "src" / "fairplay"
MAX_MODULES = 25  # of a directory; a game's may have more
PURE_OF_COURSES = ("course/formats", "course/dialects")
PURE = ("core", "referee", "render", "kit", "games", "protocol", "tournament/formats", *PURE_OF_COURSES)
IMPURE_MODULES = {"asyncio", "socket", "subprocess", "threading", "time", "os", "pathlib", "logging"}
CHANCE_MODULES = {"random", "secrets", "uuid"}
DRAWS_A_SEED = "referee/referee.py"  # if the caller gives none
GUARDS = "protocol/nonces.py"  # draws the unguessable part of nonces
CLOSES = "referee/closing.py"  # holds off a cancellation, which takes an event loop
WAKES = "referee/callback_driver.py"  # wakes the task that drives a conversation, by a future
ATTACKS = "testing/escapes/runner.py"  # plays many matches at once
WORKS = "tournament/running/worker.py"  # starts the programs of one match while it plays another
ENDS = ("course/harness/clients.py", "course/harness/over_network.py")  # of connections to the courses
MAY_AWAIT = ("referee/drivers.py", CLOSES, WAKES, "core/roles.py", "app/", "testing/scripted.py", ATTACKS, WORKS, *ENDS)
IO_OF_COURSES = ("course/channel/", "course/server/")
IO_OF_COMMANDS = ("cli/client/", *IO_OF_COURSES)
DOES_IO = ("sandbox/", "transport/", "players/", "journal/", "hosting/", "diagnosis/", "server/", *IO_OF_COMMANDS)
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


def impurities(source: str, banned: set[str]) -> set[str]:
    return {name for name in imported(parsed(source)) if name.partition(".")[0] in banned}


def colours(source: str) -> list[str]:
    return [node.name for node in ast.walk(parsed(source)) if isinstance(node, ast.AsyncFunctionDef)]


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


def short(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_imports_go_downwards_only() -> None:
    linter = Path(sys.executable).parent / "lint-imports"

    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def reasonless(text: str) -> list[str]:
    """The functions in which something is imported without a comment that says why it is not imported above."""
    lines, found = text.splitlines(), []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            imports = [each for each in ast.walk(node) if isinstance(each, ast.Import | ast.ImportFrom)]
            first = min((each.lineno for each in imports), default=0)
            last = max((each.end_lineno or each.lineno for each in imports), default=0)
            if imports and not any("#" in line for line in lines[first - 2 : last]):
                found.append(node.name)
    return found


@pytest.mark.parametrize("path", sources(), ids=short)
def test_an_import_inside_a_function_has_its_reason_beside_it(path: Path) -> None:
    if short(path).startswith("testing/escapes/"):  # programs that have to get by with what is there
        return

    assert reasonless(path.read_text()) == []


def test_the_test_of_layers_detects_an_upward_import() -> None:
    assert reasonless("def draw():\n    import rich  # start-up\n\n\ndef draw_plainly():\n    import rich\n") == [
        "draw_plainly"
    ]


def test_no_directory_has_too_many_modules() -> None:
    modules = Counter(path.parent for path in sources() if path.name != "__init__.py")

    crowded = {short(directory): count for directory, count in modules.items() if count > MAX_MODULES}
    assert {name for name in crowded if not name.startswith("games/")} == set()


@pytest.mark.parametrize("path", sources(*PURE), ids=short)
def test_the_inner_packages_are_pure(path: Path) -> None:
    banned = IMPURE_MODULES | CHANCE_MODULES
    allowed = {DRAWS_A_SEED: "os", CLOSES: "asyncio", WAKES: "asyncio", GUARDS: "secrets"}
    banned -= {allowed.get(short(path), "")}

    assert impurities(path.read_text(), banned) == set()


def test_the_test_of_purity_detects_an_impure_import() -> None:
    assert impurities("from os import path\nimport time, json\n", IMPURE_MODULES) == {"os", "time"}


@pytest.mark.parametrize("path", sources(), ids=short)
def test_randomness_is_used_only_in_the_listed_places(path: Path) -> None:
    draws = any(isinstance(node, ast.Name) and node.id == "SeededRandom" for node in ast.walk(parsed(path.read_text())))

    assert not draws or short(path).startswith(USES_RANDOMNESS)


@pytest.mark.parametrize("path", sources(), ids=short)
def test_only_drivers_and_io_code_is_async(path: Path) -> None:
    assert not colours(path.read_text()) or short(path).startswith(MAY_AWAIT + DOES_IO)


def test_the_test_of_async_code_detects_a_violation() -> None:
    assert colours("class A:\n    async def ask(self): ...\n") == ["ask"]


@pytest.mark.parametrize("name", ["fairplay", "fairplay.kit", *(f"fairplay.games.{game}" for game in GAMES)])
def test_what_is_exported_is_there_and_sorted(name: str) -> None:
    module = importlib.import_module(name)

    exported = module.__all__

    assert exported == sorted(exported)
    assert all(hasattr(module, entry) for entry in exported)


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


@pytest.mark.parametrize("readme", readmes(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_table_is_stale(readme: Path) -> None:
    assert readme.read_text() == rewrite_readme(readme), "run `make tables`"


@pytest.mark.parametrize("path", sources(), ids=short)
def test_every_file_says_its_purpose_and_is_short(path: Path) -> None:
    text = path.read_text()
    purpose = (ast.get_docstring(parsed(text)) or "").partition("\n")[0]

    assert text.count("\n") <= MAX_FILE_LINES
    assert path.name == "__init__.py" or (purpose.endswith((".", "!")) and not purpose.startswith("This"))


VERBS = [path for path in sources("cli") if path.stem.replace("_", "-") in main.SUBCOMMANDS]


def other_verbs(source: str) -> set[str]:
    return set(imported(parsed(source))) & {f"fairplay.cli.{path.stem}" for path in VERBS}


@pytest.mark.parametrize("path", VERBS, ids=short)
def test_no_command_imports_another(path: Path) -> None:
    assert other_verbs(path.read_text()) == set()


def test_the_test_of_commands_detects_an_import() -> None:
    imports = "from fairplay.cli.why import explain_ejection\nimport fairplay.terminal.output\n"
    assert other_verbs(imports) == {"fairplay.cli.why"}


@pytest.mark.parametrize("path", [path for path in sources() if not short(path).startswith(PER_GAME)], ids=short)
def test_a_game_is_named_in_its_own_files_alone(path: Path) -> None:
    assert games_named(path.read_text()) == set()


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ('QUICK = {"fish": {"rows": 5}}', {"fish"}),
        ("from fairplay.games.tsuro.state import View", {"tsuro"}),
        ("from fairplay.games import q", {"q"}),
        ("def deal(): return Q()", {"q"}),
        ('say("play some tsuro")', {"tsuro"}),
        ('def play():\n    """fairplay play fish"""', set()),
        ("quick = fishing = question", set()),
    ],
)
def test_the_test_of_named_games_detects_a_name(source: str, named: set[str]) -> None:
    assert games_named(source) == named


@pytest.mark.parametrize("path", [path for path in sources() if not short(path).startswith(OF_COURSES)], ids=short)
def test_the_courses_are_named_in_their_own_files_alone(path: Path) -> None:
    assert courses_named(path.read_text()) == set()


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("from fairplay.course.commands import course", {"course"}),
        ("import fairplay.course", {"fairplay.course", "course"}),
        ('VERBS = {"course": ""}', {"course"}),
        ("def serve(): return CourseLine()", {"CourseLine"}),
        ('def play():\n    """Come from a course."""', set()),
    ],
)
def test_the_test_of_named_courses_detects_a_name(source: str, named: set[str]) -> None:
    assert courses_named(source) == named


def test_nothing_is_called_utils() -> None:
    assert not [path for path in sources() if path.stem in {"utils", "util", "helpers", "common", "misc"}]


def test_every_directory_has_a_readme() -> None:
    assert [path for path in directories() if not (path / "README.md").is_file()] == []
