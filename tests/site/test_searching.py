"""Test the site in a browser from disk: its pages fit a phone, its search finds pages, and no request leaves it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Request, ViewportSize, expect

from tests.nonempty import nonempty
from tests.page.browser import needs_chromium, start_browser
from tests.site.test_built import built

pytestmark = needs_chromium
UNLISTED = ("404.html", "files")  # a page for servers, and source files, which all look alike
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Browser]:
    with start_browser() as it:
        yield it


def leaves(request: Request) -> bool:
    return not request.url.startswith(("file:", "data:", "blob:"))


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("interlock", "games/fish.html"),  # a word of clause 1.1 of Fish
        ("sandbox", "sandbox.html"),
        ("journal", "journal.html"),
        ("output directory", "tournaments.html"),
        ("install", "installation.html"),
    ],
)
def test_the_search_finds_the_page_that_explains_a_word(words: str, page: str, browser: Browser, site: Path) -> None:
    left: list[Request] = []
    tab = browser.new_page()
    tab.on("request", lambda request: left.append(request) if leaves(request) else None)
    tab.goto((site / "index.html").as_uri())

    tab.get_by_label("Search").first.click()
    tab.keyboard.type(words)

    found = tab.locator(".md-search-result__link").first
    expect(found).to_be_visible()
    expect(found).to_have_attribute("href", re.compile(rf"/{re.escape(page)}(\W|$)"))
    assert left == []
    tab.close()


def test_no_page_is_wider_than_a_phone_and_no_request_leaves_it(browser: Browser, site: Path) -> None:
    left: list[Request] = []
    tab = browser.new_page(viewport=PHONE)
    tab.on("request", lambda request: left.append(request) if leaves(request) else None)
    for page in nonempty(
        page for page in sorted(site.rglob("*.html")) if page.relative_to(site).parts[0] not in UNLISTED
    ):
        tab.goto(page.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], page
    assert left == []
    tab.close()
