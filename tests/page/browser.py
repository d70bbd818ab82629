"""Open pages in Chromium from disk, and collect their requests and errors."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
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
def open_file(browser: Browser, file: Path, link: str = "", *more: Path, **look: Any) -> Iterator[Page]:
    """A file in a tab of its own; it may load nothing else, say nothing on the console and run nobody's script.

    Nor may those files that are opened after it in the same tab.
    """
    look.setdefault("viewport", {"width": 1000, "height": 800})
    context = browser.new_context(**look)
    try:
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
        page.goto(f"{file.as_uri()}{link}")
        yield page
        assert asked == [it.as_uri() for it in (file, *more)]
        assert said == []
        assert context.pages == [page]
    finally:
        context.close()
