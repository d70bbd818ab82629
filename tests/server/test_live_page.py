"""Test the live pages of a server in a browser: rooms, live boards, and hostile names."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from fairplay.games import GAMES
from tests.hostile_names import NAMES
from tests.nonempty import nonempty
from tests.page.browser import needs_chromium, open_tab, start_browser
from tests.server.small_servers import RunningServer, run_small_server

pytestmark = needs_chromium
TABLES = [NAMES[at : at + 4] if at + 4 <= len(NAMES) else NAMES[-4:] for at in range(0, len(NAMES), 4)]
STRANGE = "#picture script, #picture [onload], img, iframe, object, base, form, style, [style], [onload], [onerror]"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_small_server(tmp_path_factory.mktemp("server")) as it:
        yield it


@pytest.fixture(scope="module")
def browser(server: RunningServer) -> Iterator[Browser]:
    with start_browser() as it:
        yield it


@contextmanager
def open_page(browser: Browser, server: RunningServer, path: str, **look: Any) -> Iterator[Page]:
    """A page of the server that makes no other requests, logs no error and runs no other script."""
    with open_tab(browser, **look) as (page, requests):
        page.goto(f"http://{server.place}{path}")
        yield page
        assert [url for url in requests if not url.startswith((f"http://{server.place}/", "data:,"))] == []


@pytest.mark.parametrize("game", GAMES)
def test_a_live_board_shows_every_move_once_and_leads_to_the_replay(
    browser: Browser, server: RunningServer, game: str
) -> None:
    room = server.open_room(game, fails=1)
    with open_page(browser, server, f"/rooms/{room}") as page:
        expect(page.locator("#badge")).to_have_text("Live")
        expect(page.locator("#picture > svg")).to_be_visible()
        assert page.locator("#players .called").all_text_contents() == ["ann", "bob", "cyd"]
        for number, name in enumerate(("ann", "bob", "cyd"), 1):
            before = page.locator("#picture").inner_html()
            assert server.play_turns(room, 1) == number
            expect(page.locator("#moves li").first).to_have_attribute("value", str(number))
            assert page.locator("#moves li").count() == number
            expect(page.locator("#said .called")).to_have_text(name)
            assert page.locator("#picture").inner_html() != before

        server.play_to_end(room)
        expect(page.locator("#badge")).to_have_text("Over")
        expect(page.locator("#players .gone").nth(1)).to_contain_text("ejected: crashed")
        page.locator("#replay").click()
        expect(page.locator("#badge")).to_contain_text("✓ Record whole")
        assert page.url.endswith(f"/matches/{room}")


def test_a_match_that_was_not_recorded_has_no_link_to_a_replay(browser: Browser, server: RunningServer) -> None:
    kept, lost = server.open_room("fish"), server.open_room("fish")
    for room in (kept, lost):
        server.play_to_end(room)
    finished = server.server._finished
    finished[:] = [replace(it, recorded=it.match != lost) for it in finished]

    with open_page(browser, server, "/") as page:
        expect(page.locator(f"#finished tr[data-key='{kept}'] a")).to_be_visible()
        expect(page.locator(f"#finished tr[data-key='{lost}']")).to_contain_text(lost)
        expect(page.locator(f"#finished tr[data-key='{lost}'] a")).to_have_count(0)


def test_a_phone_shows_the_players_of_finished_matches(browser: Browser, server: RunningServer) -> None:
    room = server.open_room("fish")
    server.play_to_end(room)
    with open_page(browser, server, "/", viewport={"width": 360, "height": 740}) as page:
        names = page.locator(f"#finished tr[data-key='{room}'] .called")
        expect(names.last).to_have_text("cyd")

        assert max(names.evaluate_all("names => names.map((it) => it.getBoundingClientRect().right)")) <= 360


def test_the_page_of_the_server_lists_rooms_and_leads_into_them(browser: Browser, server: RunningServer) -> None:
    room, over = server.open_room("fish"), server.open_room("fish")
    server.play_to_end(over)
    with open_page(browser, server, "/") as page:
        row = page.locator(f"#rooms tr[data-key='{room}']")
        expect(row.locator(".called").first).to_have_text("ann")
        server.play_turns(room, 3)
        expect(row.locator(".number").first).to_have_text("3")  # by itself
        expect(page.locator(f"#finished a[href='/matches/{over}']")).to_be_visible()
        row.locator("a").click()
        expect(page.locator("#picture > svg")).to_be_visible()
        assert page.url.endswith(f"/rooms/{room}")


def test_dark_and_small_pages_get_pictures_of_their_own(browser: Browser, server: RunningServer) -> None:
    room, pictures = server.open_room("fish"), set[str]()
    for scheme, width in (("light", 1000), ("dark", 1000), ("dark", 400)):
        with open_page(browser, server, f"/rooms/{room}", color_scheme=scheme) as page:
            page.set_viewport_size({"width": width, "height": 800})
            expect(page.locator("#picture > svg")).to_be_visible()
            pictures.add(page.locator("#picture").inner_html())

    assert len(pictures) >= 2


@pytest.mark.parametrize("game", GAMES)
def test_a_live_board_stays_within_its_box(browser: Browser, server: RunningServer, game: str) -> None:
    room = server.open_room(game)
    server.play_turns(room, 12)
    places = "['#picture', '#picture > svg', '#said'].map((it) => document.querySelector(it).getBoundingClientRect())"
    for width, height in ((360, 740), (1280, 720), (740, 360)):
        with open_page(browser, server, f"/rooms/{room}") as page:
            page.set_viewport_size({"width": width, "height": height})
            expect(page.locator("#picture > svg")).to_be_visible()
            expect(page.locator("#said")).not_to_be_empty()

            box, board, said = page.evaluate(f"{places}.map((it) => it.toJSON())")

            assert box["left"] <= board["left"]
            assert board["right"] <= box["right"] <= width
            assert board["height"] >= 150  # which can be seen
            assert board["bottom"] <= box["bottom"] <= said["top"]


def test_names_are_shown_as_text_and_never_run(browser: Browser, server: RunningServer) -> None:
    for names in nonempty(TABLES):
        room = server.open_room("fish", names)
        server.play_turns(room, 1)
        with open_page(browser, server, f"/rooms/{room}") as page:
            expect(page.locator("#picture > svg")).to_be_visible()
            assert tuple(page.locator("#players .called").all_text_contents()) == names
            assert page.locator(STRANGE).count() == 0
            assert page.locator("script").count() == 1
            page.goto(f"http://{server.place}/")
            shown = page.locator(f"#rooms tr[data-key='{room}'] .called")
            expect(shown).to_have_count(4)
            assert tuple(shown.all_text_contents()) == names
            assert page.locator(STRANGE).count() == 0
        server.play_to_end(room)
