"""Test the site that `make docs` builds: what a browser loads, what readers find, and its colours."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fairplay.cli.main import SUBCOMMANDS
from fairplay.games import GAMES
from fairplay.render.colours import contrast
from tests.nonempty import nonempty
from tools.readme_tables import ROOT
from tools.site import MENU_FILES

LOADED = {"src", "srcset", "data", "poster", "background"}  # attributes of which a browser loads the value
LOADING_LINKS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
ELSEWHERE = re.compile(r"^\s*(?:https?:|wss?:|ftp:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)|@import\s+['\"]((?:https?:)?//[^'\"]+)")


class Loads(HTMLParser):
    """Collects what a page has a browser load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.found += [value for name, value in given.items() if name in LOADED]
        self.found += [found for value in (given.get("style", ""),) for found in styles(value)]
        if tag == "link" and set(given.get("rel", "").lower().split()) & LOADING_LINKS:
            self.found.append(given.get("href", ""))
        if tag in ("image", "use"):
            self.found += [given.get("href", ""), given.get("xlink:href", "")]


def styles(text: str) -> list[str]:
    return [first or second for first, second in IN_STYLE.findall(text)]


def external_loads(page: str) -> list[str]:
    loads = Loads()
    loads.feed(page)
    inside = styles("".join(re.findall(r"<style.*?</style>", page, re.DOTALL)))
    return [value for value in (*loads.found, *inside) if ELSEWHERE.match(value)]


def built(directory: Path) -> Path:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(directory)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return directory


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("site"))


def test_no_page_loads_external_resources(site: Path) -> None:
    for page in nonempty(site.rglob("*.html")):
        assert external_loads(page.read_text()) == [], page
    for sheet in nonempty(site.rglob("*.css")):
        assert styles(sheet.read_text()) == [], sheet
    for picture in nonempty(site.rglob("*.svg")):
        assert external_loads(picture.read_text()) == [], picture


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://example.org/a.js"></script>',
        '<img src="//example.org/a.png">',
        '<link rel="stylesheet" href="https://example.org/a.css">',
        '<link rel="preconnect" href="https://example.org">',
        '<img srcset="https://example.org/a.png 2x">',
        '<div style="background: url(https://example.org/a.png)">',
        "<style>@import 'https://example.org/a.css';</style>",
        '<svg><image href="https://example.org/a.png"/></svg>',
    ],
)
def test_external_resources_are_found(page: str) -> None:
    assert external_loads(page)
    assert external_loads('<a href="https://example.org">there</a><img src="a.png">') == []  # a link is not a load


def test_no_diagram_is_left_for_a_library_that_would_be_loaded(site: Path) -> None:
    assert not [page for page in nonempty(site.rglob("*.html")) if 'class="mermaid"' in page.read_text()]
    assert '<svg xmlns="http://www.w3.org/2000/svg"' in (site / "files/ARCHITECTURE.html").read_text()


@pytest.mark.parametrize("game", GAMES)
def test_the_page_of_a_game_has_its_rules_and_its_ladder(game: str, site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / f"games/{game}.html").read_text())
    clauses = re.findall(r"\*\*(\d\.\d)\*\*", (ROOT / f"src/fairplay/games/{game}/RULES.md").read_text())

    assert [clause for clause in nonempty(clauses) if clause not in text] == []
    assert "95 %" in text
    assert "in full" not in text


def test_the_site_has_the_help_of_every_command(site: Path) -> None:
    text = (site / "reference/command.html").read_text()

    assert [verb for verb in nonempty(SUBCOMMANDS) if f"Usage: fairplay {verb}" not in text] == []


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    import fairplay

    found: set[str] = set()
    for page in nonempty((site / "reference").glob("*.html")):
        loads = Loads()
        loads.feed(page.read_text())
        found |= loads.anchors
    types = {"Event", "Fact", "Ranking", "Seat", "Strategy", "__version__"}

    assert {name for name in fairplay.__all__ if f"fairplay.{name}" not in found} == types  # they are but other names


def test_the_search_leaves_source_files_out(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text())
    pages = {entry["location"].partition("#")[0] for entry in index["docs"]}

    assert {page for page in nonempty(pages) if page.startswith("files/")} == {
        f"files/{name.removesuffix('.md')}.html" for name in MENU_FILES
    }


@pytest.mark.parametrize(("scheme", "background"), [(":root", "#ffffff"), ("slate", "#1e2129")])
def test_links_code_and_the_header_can_be_read_in_both_colour_schemes(scheme: str, background: str) -> None:
    sheet = (ROOT / "docs" / "theme" / "site.css").read_text()
    (header,) = re.findall(r"--md-primary-fg-color: (#\w+);", sheet)
    (rule,) = re.findall(rf"^[^{{]*{re.escape(scheme)}[^{{]*{{(.*?)}}", sheet, re.MULTILINE | re.DOTALL)
    colours = dict(re.findall(r"--md-((?:typeset-a|code-hl-\w+|default-fg)-color(?:--light)?): (#\w+);", rule))

    assert {name: colour for name, colour in nonempty(colours.items()) if contrast(colour, background) < 4.5} == {}
    assert contrast("#ffffff", header) >= 4.5
