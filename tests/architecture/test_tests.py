"""Test that no test can pass without asserting anything, and that those that measure time have the marker `alone`."""

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import pytest

from tests.nonempty import nonempty
from tools.readme_tables import ROOT

parsed = cache(ast.parse)  # both tests look at all files
KEEPS_ITS_LENGTH = {"enumerate", "sorted", "list", "tuple", "reversed", "set"}
EMPTY_LOOPS = {  # whether the test might assert nothing
    "for line in path.open():\n  assert line": True,
    "for line in lines:\n  for word in WORDS:\n   assert word in line": True,
    "while lines:\n  assert lines.pop()": True,
    "async def look():\n  for line in lines:\n   assert line\n run(look())": True,
    "assert lines\n for line in lines: assert line": False,
    "for line in nonempty(lines): assert line": False,
    "for number, line in enumerate(('a', 'b')): assert line": False,
    "for number in range(3): assert number < 3": False,
    "for number in range(len(lines) + 1): assert number": False,
    "for line in LINES.values(): assert line": False,
    "with pytest.raises(ValueError): fail()\n for line in lines: assert line": False,
    "for line in lines: print(line)": False,
}


def might_assert_nothing(source: str) -> list[str]:
    """The tests of a module whose asserts are all in loops that might not be entered."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            asserts = list(asserted(node.body, sure=True))
            if asserts and not any(asserts):
                found.append(node.name)
    return found


def asserted(nodes: list[ast.stmt], *, sure: bool) -> Iterator[bool]:
    """For every assert, and for what has to raise: is it always reached, as far as loops are concerned?"""
    for node in nodes:
        inside = sure and (not isinstance(node, ast.For | ast.AsyncFor | ast.While) or is_entered(node))
        if isinstance(node, ast.Assert) or (isinstance(node, ast.With) and "pytest.raises" in ast.unparse(node)):
            yield sure
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            yield from asserted(getattr(node, name, []), sure=inside)


def is_entered(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    return isinstance(loop, ast.For) and is_something(loop.iter)


def is_something(things: ast.expr) -> bool:
    """Is there surely something to loop over? Tables with names in capitals are never empty."""
    match things:
        case ast.Call(ast.Name("nonempty")):
            return True
        case ast.Call(ast.Name("range"), [ast.BinOp(_, ast.Add(), ast.Constant())]):
            return True
        case ast.Call(ast.Name("range"), arguments):
            return all(isinstance(argument, ast.Constant) for argument in arguments)
        case ast.Call(ast.Name(name), [inner, *_]) if name in KEEPS_ITS_LENGTH:
            return is_something(inner)
        case ast.Call(ast.Attribute(inner, "values" | "items")) | ast.Subscript(inner):
            return is_something(inner)
        case ast.Tuple(entries) | ast.List(entries) | ast.Set(entries):
            return bool(entries)
        case ast.Name(name):
            return name.isupper()
    return False


def places(look: Callable[[str], list[str]]) -> list[str]:
    """The tests that are found by a look at all files."""
    files = nonempty((ROOT / "tests").rglob("test_*.py"))
    return [f"{path}::{test}" for path in files for test in look(path.read_text())]


def test_every_test_asserts_something() -> None:
    assert places(might_assert_nothing) == [], "loop over nonempty(...)"


@pytest.mark.parametrize(("body", "red"), EMPTY_LOOPS.items())
def test_the_test_of_asserts_detects_a_test_without_one(body: str, red: bool) -> None:
    assert might_assert_nothing(f"def test_it():\n {body}\n") == (["test_it"] if red else [])


def test_nonempty_returns_all_items_and_refuses_an_empty_collection() -> None:
    assert list(nonempty(range(3))) == [0, 1, 2]
    with pytest.raises(AssertionError, match="nothing to loop over"):
        list(nonempty(()))


CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time"}
MEASURES = "since = time.monotonic()\n work()\n assert time.monotonic() - since < 2"
CLOCK_READINGS = {  # whether the test needs the marker, as other tests may disturb it
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
    module = parsed(source)
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


def test_tests_that_measure_time_run_alone() -> None:
    assert places(bare_clocks) == [], "wait for an event, or mark it alone"


@pytest.mark.parametrize(("source", "red"), CLOCK_READINGS.items())
def test_the_test_of_clocks_detects_an_unmarked_test(source: str, red: bool) -> None:
    assert bare_clocks(source) == (["test_it"] if red else [])
