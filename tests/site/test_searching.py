"""Open the site from disk in a browser, as people do: it is laid out, it can be searched, and no request leaves it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Request, ViewportSize, expect

from tests.nonempty import nonempty
from tests.page.browser import needs_chromium, start_browser
from tests.site.test_built import built

pytestmark = needs_chromium
ELSEWHERE = ("404.html", "files")  # for servers alone; and sources, which all look alike
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


def test_the_search_finds_a_clause_of_the_rules(browser: Browser, site: Path) -> None:
    left: list[Request] = []
    tab = browser.new_page()
    tab.on("request", lambda request: left.append(request) if leaves(request) else None)
    tab.goto((site / "index.html").as_uri())

    tab.get_by_label("Search").first.click()
    tab.keyboard.type("interlock")  # a word of clause 1.1 of Fish

    found = tab.locator(".md-search-result__link").first
    expect(found).to_be_visible()
    assert "games/fish.html" in str(found.get_attribute("href"))
    assert left == []
    tab.close()


def test_no_page_is_wider_than_a_phone_and_no_request_leaves_it(browser: Browser, site: Path) -> None:
    left: list[Request] = []
    tab = browser.new_page(viewport=PHONE)
    tab.on("request", lambda request: left.append(request) if leaves(request) else None)
    for page in nonempty(
        page for page in sorted(site.rglob("*.html")) if page.relative_to(site).parts[0] not in ELSEWHERE
    ):
        tab.goto(page.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], page
    assert left == []
    tab.close()
