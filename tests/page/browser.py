"""Open pages in Chromium from disk, and collect their requests and errors."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium; as root, `make setup` installs it")


@contextmanager
def start_browser(*more: str) -> Iterator[Browser]:
    """A browser without a window, with more arguments."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *more])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_tab(browser: Browser, **look: Any) -> Iterator[tuple[Page, list[str]]]:
    """A tab that logs nothing, opens no other and runs no foreign script; and the addresses that it requests."""
    look.setdefault("viewport", {"width": 1000, "height": 800})
    with closing(browser.new_context(**look)) as context:
        page = context.new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))

        def no_dialog(dialog: Dialog) -> None:
            said.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", no_dialog)
        yield page, asked
        assert said == []
        assert context.pages == [page]


@contextmanager
def open_file(browser: Browser, file: Path, link: str = "", *more: Path, **look: Any) -> Iterator[Page]:
    """A file in a tab of its own; it may load nothing else, nor may those that are opened after it in the same tab."""
    with open_tab(browser, **look) as (page, asked):
        page.goto(f"{file.as_uri()}{link}")
        yield page
        assert asked == [it.as_uri() for it in (file, *more)]
