"""Test that pages show hostile names of players as text, and never run them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from fairplay import Entrant
from fairplay.games import GAMES
from fairplay.journal.pictures import picture_at
from fairplay.journal.replay import read_journal
from fairplay.page.replay import render_replay
from fairplay.tournament.report.report_page import write_report
from fairplay.tournament.result import TournamentResult
from tests.hostile_names import NAMES
from tests.nonempty import nonempty
from tests.page.browser import needs_chromium, open_file, start_browser
from tests.page.matches import record_match
from tests.page.test_looks import goto_each
from tests.tournament.example_tournaments import make_spec, play_tournament, random_matches

pytestmark = needs_chromium
TABLES = [NAMES[at : at + 4] if at + 4 <= len(NAMES) else NAMES[-4:] for at in range(0, len(NAMES), 4)]


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Matches at which everybody sits once, with what is made of them beside."""
    directory, games = tmp_path_factory.mktemp("journals"), [*GAMES]
    made = []
    for number, names in enumerate(TABLES):
        journal = record_match(directory, games[number] if number < len(games) else games[0], names, fails=0)
        journal.with_suffix(".html").write_text(render_replay(journal), encoding="utf-8")
        journal.with_suffix(".svg").write_text(picture_at(read_journal(journal), 1), encoding="utf-8")
        made.append(journal)
    return made


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a tournament that was really played, between two with such names."""
    directory = tmp_path_factory.mktemp("cup")
    tournament, counted = play_tournament(directory, Entrant("greedy", NAMES[0]), Entrant("random", NAMES[29]), games=4)
    write_report(TournamentResult(tournament, directory, tuple(counted)))
    return directory / "report.html"


@pytest.fixture(scope="module")
def browser(journals: list[Path], report: Path) -> Iterator[Browser]:
    with start_browser() as it:
        yield it


def test_replays_show_names_as_they_are(browser: Browser, journals: list[Path]) -> None:
    files = [journal.with_suffix(".html") for journal in journals]
    strange = "#picture script, #picture [onload], img, iframe, object, base, a:not([href^='#'])"

    with open_file(browser, files[0], "", *files[1:]) as page:
        for _, names in nonempty(zip(goto_each(page, files), TABLES, strict=True)):
            assert tuple(page.locator("#players .called").all_text_contents()) == names
            assert page.locator("script").count() == 3
            assert page.locator(strange).count() == 0


def test_pictures_run_no_name(browser: Browser, journals: list[Path]) -> None:
    first, *others = files = [journal.with_suffix(".svg") for journal in journals]

    with open_file(browser, first, "", *others) as page:
        for file in nonempty(files):
            if file != first:
                page.goto(file.as_uri())
            assert page.evaluate("document.documentElement.tagName") == "svg"
            assert page.locator("script, [onload], foreignObject, image, a").count() == 0


def test_the_report_of_a_tournament_runs_no_name(browser: Browser, tmp_path: Path) -> None:
    names = list(dict.fromkeys(NAMES))
    counted = random_matches(names, 200, bad=names[0])
    write_report(TournamentResult(make_spec(names), tmp_path, tuple(counted)))

    with open_file(browser, tmp_path / "report.html") as page:
        assert page.locator("td.name bdi").count() == len(names)
        strange = "script, iframe, object, base, link, [onload], [onerror], a:not([href^='replays/'])"
        assert page.locator(strange).count() == 0


def test_the_boards_in_a_report_lead_to_replays(browser: Browser, report: Path) -> None:
    with open_file(browser, report, "", report.parent / "replays" / "m00004.html") as page:
        board = page.get_by_role("link", name="Replay of match m00004")
        assert board.locator("img").evaluate("it => it.decode().then(() => it.naturalWidth)") > 100
        board.click()
        expect(page.locator("#badge")).to_contain_text("✓ Record whole")
        expect(page.locator("#forward")).to_be_disabled()  # it is the end that was shown
        assert set(page.locator("#players .called").all_text_contents()) == {NAMES[0], NAMES[29]}
