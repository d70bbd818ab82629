"""Test that each test that measures time has the marker `alone`, as other tests may disturb it.

That something took at least so long holds on every machine, and so does an ample deadline.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tools.readme_tables import ROOT

TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time"}
MEASURES = "since = time.monotonic()\n work()\n assert time.monotonic() - since < 2"
PLANTED = {
    f"def test_it():\n {MEASURES}": True,
    "def test_it():\n since = perf_counter()\n work()\n took = perf_counter() - since\n assert took < 2": True,
    "def took():\n return time.perf_counter() - SINCE\ndef test_it():\n assert took() < 2": True,
    "def took():\n return time.time() - 9\ndef slow():\n return took() > 2\ndef test_it():\n assert not slow()": True,
    "class Watch:\n def took(self):\n  return time.time() - 9\ndef test_it():\n assert Watch().took() < 2": True,
    "def test_it():\n async def host():\n  return time.monotonic() - SINCE\n assert run(host()) < 2": True,
    f"@pytest.mark.alone\ndef test_it():\n {MEASURES}": False,
    f"@pytest.mark.parametrize('a', [1])\n@pytest.mark.alone\ndef test_it(a):\n {MEASURES}": False,
    f"pytestmark = [pytest.mark.alone]\ndef test_it():\n {MEASURES}": False,
    "def test_it():\n assert time.monotonic() - SINCE > 2": False,
    "def test_it():\n assert time.monotonic() - SINCE >= 2": False,
    "def test_it():\n assert loop.time() - SINCE < 2": False,  # a loop may have a clock of its own
    "def test_it():\n until = time.monotonic() + 60\n while not done():\n  assert time.monotonic() < until": False,
    "def took():\n return time.monotonic() - SINCE\ndef test_it():\n assert True": False,
    "def test_a():\n def b():\n  assert time.time() - 9 > 2\n b()\ndef test_it():\n def b():\n  work()\n b()": False,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def bare_clocks(source: str) -> list[str]:
    """The tests of a module that measure time, by themselves or through a function of the module, and are not alone."""
    module = ast.parse(source)
    if any(isinstance(node, ast.Assign) and is_alone_by([node]) for node in module.body):
        return []
    blocks = [module.body, *(node.body for node in module.body if isinstance(node, ast.ClassDef))]
    functions = [node for block in blocks for node in block if isinstance(node, Function)]
    measuring = {function.name for function in functions if any(measured(function))}
    while more := {one.name for one in functions if one.name not in measuring and measuring & names_in(one)}:
        measuring |= more
    tests = [one for one in functions if one.name.startswith("test_") and one.name in measuring]
    return [one.name for one in tests if not is_alone_by(one.decorator_list)]


def measured(node: ast.AST) -> Iterator[ast.BinOp]:
    """Where a clock is read and an earlier moment taken off, but for what only has to be long enough."""
    match node:
        case ast.Compare(ast.BinOp(), [ast.Gt() | ast.GtE()]):
            return
        case ast.BinOp(ast.Call(ast.Attribute(ast.Name("time"), name) | ast.Name(name)), ast.Sub()) if name in CLOCKS:
            yield node
    for below in ast.iter_child_nodes(node):
        yield from measured(below)


def names_in(node: ast.AST) -> set[str]:
    """What it calls, or may call."""
    names = {below.id for below in ast.walk(node) if isinstance(below, ast.Name)}
    return names | {below.attr for below in ast.walk(node) if isinstance(below, ast.Attribute)}


def is_alone_by(marks: Sequence[ast.AST]) -> bool:
    return any("pytest.mark.alone" in ast.unparse(mark) for mark in marks)


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", TESTS, ids=short)
def test_tests_that_measure_time_run_alone(path: Path) -> None:
    assert bare_clocks(path.read_text()) == [], "wait for an event, or mark it alone"


@pytest.mark.parametrize(("source", "red"), PLANTED.items())
def test_the_test_of_clocks_detects_an_unmarked_test(source: str, red: bool) -> None:
    assert bare_clocks(source) == (["test_it"] if red else [])
