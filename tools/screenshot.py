"""Take the picture of a replay for docs/, with Chromium and Playwright."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from fairplay.hosting.run import run
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.page.replay import render_replay
from tools.readme_tables import ROOT

SHOWN_POSITION = 34
PLAYERS = {"ann": "survivor", "bob": "second", "cyd": "survivor"}


def main() -> None:
    """Play a match, open its replay, and save a screenshot."""
    with TemporaryDirectory() as directory, sync_playwright() as playwright:
        page = Path(directory) / "game.html"
        page.write_text(render_replay(play_match(directory)), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1080, "height": 760})
        tab.goto(f"{page.as_uri()}#{SHOWN_POSITION}")
        tab.wait_for_selector("body.ready")
        tab.screenshot(path=ROOT / "docs" / "replay.png")
        browser.close()


def play_match(directory: str) -> Path:
    """The journal of a match that is the same each time."""
    entrants = tuple(Entrant(player, name) for name, player in PLAYERS.items())
    run(MatchSpec(game="tsuro", entrants=entrants, seed=bytes(32), journal=directory))
    return next(Path(directory).glob("*.jsonl"))


if __name__ == "__main__":
    main()
