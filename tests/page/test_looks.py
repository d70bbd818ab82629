"""Test the layout of pages in a browser: narrow and wide, light and dark, without movement."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, ViewportSize, expect

from fairplay.core.events import Fault
from fairplay.games import GAMES
from fairplay.page.replay import render_replay
from fairplay.render.panel import SMALL
from fairplay.tournament.report.report_page import write_report
from fairplay.tournament.result import TournamentResult
from tests.nonempty import nonempty
from tests.page.browser import needs_chromium, open_file, start_browser
from tests.page.matches import record_match
from tests.tournament.example_tournaments import make_spec, random_matches

pytestmark = needs_chromium
PHONE: ViewportSize = {"width": 360, "height": 640}
LONG = ("a very long name, " * 20, "W" * 300, "安妮和鲍勃" * 20)

CONTRASTS = (Path(__file__).parent / "contrasts.js").read_text(encoding="utf-8").partition("\n")[2]


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for game in GAMES:
        for kind, names in {game: ("ann", "bob", "cyd"), f"{game}-long": LONG}.items():
            journal = record_match(tmp_path_factory.mktemp(game), game, names)
            made[kind] = journal.with_suffix(".html")
            made[kind].write_text(render_replay(journal), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def browser(replays: dict[str, Path]) -> Iterator[Browser]:
    with start_browser() as it:
        yield it


def goto_each(page: Page, files: list[Path]) -> Iterator[Path]:
    """Go from the first of these files, which is open, to the others; at the last position of each."""
    for file in files:
        if file != files[0]:
            page.goto(file.as_uri())
        expect(page.locator("body.ready")).to_be_visible()
        page.keyboard.press("End")
        yield file


def test_nothing_is_wider_than_a_phone(browser: Browser, replays: dict[str, Path]) -> None:
    files = list(replays.values())
    with open_file(browser, files[0], "", *files[1:], viewport=PHONE) as page:
        for _ in nonempty(goto_each(page, files)):
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
            for button in nonempty(page.locator(".steps button").all()):
                box = button.bounding_box()
                assert box is not None
                assert min(box["width"], box["height"]) >= 40
            page.keyboard.press("?")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
            assert page.evaluate("document.getElementById('help').getBoundingClientRect().right") <= 360


def test_on_a_phone_the_small_pictures_are_shown_and_the_buttons_with_them(
    browser: Browser, replays: dict[str, Path]
) -> None:
    files = [replays[game] for game in GAMES]
    places = "['#play', '#picture', '#picture > svg'].map((it) => document.querySelector(it).getBoundingClientRect())"
    with open_file(browser, files[0], "", *files[1:], viewport=PHONE) as page:
        for _ in nonempty(goto_each(page, files)):
            small = page.locator(f"#picture > svg[width='{int(SMALL)}']")
            expect(small).to_have_count(1)
            play, board, picture = page.evaluate(f"{places}.map((it) => it.toJSON())")
            assert play["bottom"] <= PHONE["height"]
            assert picture["y"] == board["y"]
            assert picture["height"] <= board["height"] + 1
            page.set_viewport_size({"width": 600, "height": 640})
            expect(small).to_have_count(0)
            page.set_viewport_size(PHONE)
            expect(small).to_have_count(1)


def test_players_have_the_letters_and_colours_of_their_pieces_and_their_lines_if_these_differ(
    browser: Browser, replays: dict[str, Path]
) -> None:
    painted = "lines => lines.map((it) => getComputedStyle(it).stroke)"

    with open_file(browser, replays["fish"], "", replays["q"], replays["tsuro"]) as page:
        expect(page.locator("#scores")).to_be_visible()
        assert page.locator(".token").all_text_contents() == ["R", "W", "B"]
        lines = page.locator(".chart path.seat").evaluate_all(painted)
        assert lines == ["rgb(244, 82, 90)", "rgb(255, 255, 255)", "rgb(111, 66, 24)"]
        assert page.locator(".sample line.seat").evaluate_all(painted) == lines
        assert page.locator(".sample").count() == 3
        page.goto(replays["q"].as_uri())
        expect(page.locator("body.ready")).to_be_visible()
        assert page.locator(".token").count() == 0, "nobody owns a tile"
        page.goto(replays["tsuro"].as_uri())
        expect(page.locator("body.ready")).to_be_visible()
        expect(page.locator("#scores")).to_be_hidden()  # where the lines lie on each other
        assert page.locator(".sample").count() == 0


@pytest.mark.parametrize("game", ["fish", "q"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_can_be_read(browser: Browser, replays: dict[str, Path], theme: str, game: str) -> None:
    with open_file(browser, replays[game], "#999", color_scheme=theme) as page:
        expect(page.locator("body.ready")).to_be_visible()
        texts, shapes = page.evaluate(CONTRASTS)
        page.keyboard.press("?")
        texts |= page.evaluate(CONTRASTS)[0]

    assert {"Players", "cyd", "✗ ejected: crashed", "Help", "what this shows, and what not"} < set(texts)
    assert {text: contrast for text, contrast in texts.items() if contrast < 4.5} == {}
    assert {"edge seat0", "edge seat2", "cursor", "play", "speed"} < set(shapes)
    assert {shape: contrast for shape, contrast in shapes.items() if contrast < 3} == {}


def test_the_meter_of_contrast_turns_red(browser: Browser, replays: dict[str, Path]) -> None:
    with open_file(browser, replays["fish"], color_scheme="light") as page:
        expect(page.locator("body.ready")).to_be_visible()
        page.evaluate("document.documentElement.style.setProperty('--soft', '#999')")
        texts, _ = page.evaluate(CONTRASTS)

    assert min(texts.values()) < 4.5


def test_light_and_dark_can_be_switched(browser: Browser, replays: dict[str, Path]) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"

    with open_file(browser, replays["fish"], color_scheme="dark") as page:
        expect(page.get_by_role("button", name="Dark", pressed=True)).to_be_visible()
        dark = page.evaluate(paper)
        page.get_by_role("button", name="Dark").click()
        expect(page.get_by_role("button", name="Dark", pressed=False)).to_be_visible()
        light = page.evaluate(paper)
        page.keyboard.press("d")
        assert page.evaluate(paper) == dark != light


def test_nothing_moves_for_those_who_ask_for_that(browser: Browser, replays: dict[str, Path]) -> None:
    moving = (
        "[...document.querySelectorAll('*')].filter((it) => getComputedStyle(it).transitionDuration !== '0s').length"
    )

    with open_file(browser, replays["fish"], reduced_motion="reduce") as page:
        assert page.evaluate(moving) == 0
    with open_file(browser, replays["fish"], reduced_motion="no-preference") as page:
        assert page.evaluate(moving) > 0


def test_stepping_moves_nothing_but_the_pieces(browser: Browser, replays: dict[str, Path]) -> None:
    with open_file(browser, replays["q"]) as page:
        expect(page.locator("body.ready")).to_be_visible()
        places = []
        for _ in range(6):
            places.append(page.locator("#forward").bounding_box())
            page.keyboard.press("ArrowRight")

    assert all(place == places[0] for place in nonempty(places))


def test_the_standings_of_a_report_need_no_scrolling(browser: Browser, tmp_path: Path) -> None:
    names = ["ann", "bob", "a very long name, " * 20]
    tournament, counted = make_spec(names), random_matches(names, bad="bob")
    result = TournamentResult(tournament, tmp_path, tuple(counted))
    rows = result.standings
    faults = dict.fromkeys((fault.value for fault in Fault), 14)
    worst = [replace(row, faults=faults, note="too few games", expelled=True, shared_wins=3) for row in rows]
    vars(result)["standings"] = worst
    write_report(result)
    beyond = "document.querySelector('.wide').scrollWidth - document.querySelector('.wide').clientWidth"

    with open_file(browser, tmp_path / "report.html", viewport={"width": 1200, "height": 800}) as page:
        assert page.locator("td.fault").count() == len(rows)
        assert page.evaluate(beyond) == 0
        page.set_viewport_size({"width": 500, "height": 800})
        assert page.evaluate(beyond) > 0
        assert "gradient" in page.locator(".wide").first.evaluate("it => getComputedStyle(it).backgroundImage")
