"""Test that the commands of the quick start, tutorials and how-tos print what the pages show."""

import socket
from pathlib import Path

import pytest

from tests.site.tutorial_runs import code_blocks, run_tutorials
from tools.readme_tables import ROOT

PAGES = sorted(page for part in (".", "tutorials", "howto") for page in (ROOT / "docs" / part).glob("*.md"))
WALKED = [page for page in PAGES if any(box.language == "console" for box in code_blocks(page.read_text()))]


def free_ports(count: int) -> list[str]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.mark.parametrize("page", WALKED, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_commands_of_a_page_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    ports = dict(zip(("4000", "8080"), free_ports(2), strict=True))

    with run_tutorials(tmp_path, ports) as walk:
        walk.run_page(page.read_text())


def test_every_tutorial_and_how_to_is_tested() -> None:
    assert {page.stem for page in WALKED} >= {"quick_start", "bot", "class", "research", "watch"}


@pytest.mark.parametrize(
    "page",
    [
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ echo one\n```\n",
        "```console\n$ echo one; false\none\n```\n",
        "```console\n$ cat a.txt\nhello\n```\n",
        '```console title="there"\n$ echo one; sleep 60\ntwo\n```\n',
        '```console title="there"\n$ trap "echo out" INT; sleep 60\n^C\nin\n```\n',
    ],
    ids=["another word", "more", "an exit code", "no file", "another word in a terminal that stays", "after Ctrl-C"],
)
def test_a_page_with_wrong_output_fails(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.site.tutorial_runs.OUTPUT_TIMEOUT_S", 2.0)

    with run_tutorials(tmp_path, {}) as walk, pytest.raises(AssertionError):
        walk.run_page(page)


def test_a_page_with_correct_output_passes(tmp_path: Path) -> None:
    page = (
        '```text title="a.txt"\nport 4000\nb\n```\n```console\n$ cat a.txt\nport 4000\n...\n'
        "$ false\n$ echo $?\n1\n```\n"
        '```console title="there"\n$ trap "echo out" INT; echo in; sleep 60\nin\n^C\nout\n```\n'
    )

    with run_tutorials(tmp_path, {"4000": "1234"}) as walk:
        walk.run_page(page)

    assert (tmp_path / "a.txt").read_text() == "port 1234\nb\n"
