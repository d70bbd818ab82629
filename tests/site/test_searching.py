"""Open the site from disk in a browser, as people do: it is laid out, it can be searched, and no request leaves it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.page.browser import needs_chromium, started
from tests.site.test_built import built
from tests.some import some

pytestmark = needs_chromium
SIZES = {"desk": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Browser]:
    with started() as it:
        yield it


def opened(browser: Browser, page: Path, size: str, left: list[str]) -> Page:
    width, height = SIZES[size]
    tab = browser.new_page(viewport={"width": width, "height": height})
    tab.on("request", lambda request: left.append(request.url) if leaves(request) else None)
    tab.goto(page.as_uri())
    return tab


def leaves(request: Request) -> bool:
    return not request.url.startswith(("file:", "data:", "blob:"))


def test_the_search_finds_a_clause_of_the_rules(browser: Browser, site: Path) -> None:
    left: list[str] = []
    tab = opened(browser, site / "index.html", "desk", left)

    tab.get_by_label("Search").first.click()
    tab.keyboard.type("penguin")

    expect(tab.locator(".md-search-result__link").first).to_be_visible()
    assert "games/fish.html" in str(tab.locator(".md-search-result__link").first.get_attribute("href"))
    assert left == []
    tab.close()


@pytest.mark.parametrize("size", SIZES)
def test_no_page_is_wider_than_the_window_and_no_request_leaves_it(size: str, browser: Browser, site: Path) -> None:
    left: list[str] = []
    for page in some(sorted(site.rglob("*.html"))):
        if page.name == "404.html":  # it is for servers, and has no place of its own
            continue
        tab = opened(browser, page, size, left)
        assert tab.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0], page
        tab.close()
    assert left == []
