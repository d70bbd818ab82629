"""Test the examples and commands of every page of the docs, and the figures of the README."""

import doctest
import re
import shlex
from pathlib import Path

import click
import pytest

from fairplay.cli.main import load_command
from tests.games.external_games import forget_external_games
from tests.nonempty import nonempty
from tools.readme_tables import ROOT

__all__ = ["forget_external_games"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = re.compile(r"^ {4}fairplay (?!VERB)(.*?)(?:  +#.*| > .*| \| .*)?$", re.MULTILINE)
PYTHON = re.compile(r"^```python( title=.*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = ("FILE", "a.jsonl", "cup.toml", "server.toml", "server.pem", "key.pem", "ann.token", "bot.py", "my_bot.py")


def short(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in page.read_text()], ids=short)
def test_the_examples_of_a_page_hold(page: Path) -> None:
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")

    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.usefixtures("forget_external_games")
@pytest.mark.parametrize("page", [page for page in PAGES if COMMAND.search(page.read_text())], ids=short)
def test_every_command_on_a_page_is_understood(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "examples" / "games")
    for name in FILES:
        Path(name).touch()
    for name in ("cup", "games"):
        Path(name).mkdir()
    for line in nonempty(COMMAND.findall(page.read_text())):
        line = re.sub(r"\bK\b", "3", line)  # which stands for a number
        line = re.sub(r"py:race:Race", "py:tic_tac_toe:TicTacToe", line)  # which is there
        verb, *words = shlex.split(line)
        command = load_command(verb)
        assert command is not None, line
        try:
            command.make_context(verb, words)
        except click.exceptions.Exit:
            pass  # it only asked for help
        except click.ClickException as error:
            raise AssertionError(f"{line}: {error.format_message()}") from None


def test_python_on_pages_has_a_prompt_or_is_a_file_that_a_tutorial_writes_and_runs() -> None:
    boxes = [(short(page), *found) for page in PAGES for found in PYTHON.findall(page.read_text())]

    assert [(page, code) for page, title, code in nonempty(boxes) if not title and not code.startswith(">>> ")] == []


def test_the_figures_of_the_readme_are_those_of_the_page_on_reliability() -> None:
    claims = (ROOT / "README.md").read_text().partition("## Why you can trust it")[2].partition("\n## ")[0]
    measured = (ROOT / "docs" / "reliability.md").read_text()

    assert [figure for figure in nonempty(re.findall(r"\d[\d,]{2,}", claims)) if f" {figure} " not in measured] == []
