"""Test that no test can pass without asserting anything, as all its asserts are in loops that may be empty."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nonempty import nonempty
from tools.readme_tables import ROOT

TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
KEEPS_ITS_LENGTH = {"enumerate", "sorted", "list", "tuple", "reversed", "set"}
PLANTED = {
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
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
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


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", TESTS, ids=short)
def test_every_test_asserts_something(path: Path) -> None:
    assert might_assert_nothing(path.read_text()) == [], "loop over nonempty(...)"


@pytest.mark.parametrize(("body", "red"), PLANTED.items())
def test_the_test_of_asserts_detects_a_test_without_one(body: str, red: bool) -> None:
    assert might_assert_nothing(f"def test_it():\n {body}\n") == (["test_it"] if red else [])


def test_nonempty_returns_all_items() -> None:
    assert list(nonempty(range(3))) == [0, 1, 2]


def test_nonempty_refuses_an_empty_collection() -> None:
    with pytest.raises(AssertionError, match="nothing to loop over"):
        list(nonempty(()))
