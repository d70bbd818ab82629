"""Test the page of a recorded match in a browser: by mouse, by keyboard, by links, and with changed data."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from fairplay.core.events import Ejected
from fairplay.games import GAMES
from fairplay.journal.pictures import picture_at, pictures
from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.page.assembly import bundle_script
from fairplay.page.replay import describe_fact, render_replay
from fairplay.render.formatting import format_duration
from tests.nonempty import nonempty
from tests.page.browser import needs_chromium, open_file, start_browser
from tests.page.matches import record_match

pytestmark = needs_chromium
Replays = dict[str, tuple[Path, RecordedMatch]]


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> Replays:
    """A replay of each game, in which somebody is ejected, and the record."""
    made = {}
    for game in GAMES:
        journal = record_match(tmp_path_factory.mktemp(game), game)
        made[game] = journal.with_suffix(".html"), read_journal(journal)
        made[game][0].write_text(render_replay(journal), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def browser(replays: Replays) -> Iterator[Browser]:
    with start_browser() as it:
        yield it


@pytest.fixture(params=GAMES)
def game(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def position(page: Page, recorded: RecordedMatch, at: int) -> None:
    """Hold all that shows a position against the record."""
    last, names = len(recorded.facts), recorded.names
    expect(page.locator("#position")).to_have_text(f"{at} / {last}")
    expect(page.locator("#slider")).to_have_value(str(at))
    expect(page.locator("#moves a[aria-current]")).to_have_attribute("href", f"#{at}")
    facts = recorded.facts[:at]
    said = f"{names[facts[-1].seat]} {describe_fact(facts[-1])}" if facts else "The beginning."
    expect(page.locator("#said")).to_have_text(said)
    match = recorded.match_after(at)
    points = match.game.scores(match.state) or ()
    assert page.locator("#players td:nth-child(2)").all_text_contents() == [str(score) for score in points]
    out = {fact.seat for fact in facts if isinstance(fact, Ejected)}
    shown = page.locator("#players .gone").all_text_contents()
    assert shown == ["✗ ejected: crashed" if seat in out else "" for seat in range(len(names))]
    check_picture(page, picture_at(recorded, at))


def check_picture(page: Page, picture: str) -> None:
    """Compare the picture of a page with this one, as this browser writes both."""
    shown, expected = page.evaluate(
        "it => [document.querySelector('#picture svg'), document.importNode("
        "new DOMParser().parseFromString(it, 'image/svg+xml').documentElement, true)]"
        ".map((it) => new XMLSerializer().serializeToString(it))",
        picture,
    )
    assert shown == expected


def test_a_replay_is_used_by_link_mouse_and_keyboard(browser: Browser, replays: Replays, game: str) -> None:
    file, recorded = replays[game]
    last = len(recorded.facts)

    with open_file(browser, file, "#3") as page:
        expect(page.locator("#badge")).to_have_text(f"✓ Record whole: {last + 3} lines")
        expect(page.locator("#record dd").first).to_have_text(f"{last + 2}:{recorded.heads[-1]}")
        expect(page.locator("#record dt").last).to_have_text("Commitment to it (✓ it fits)")
        assert page.title() == f"{game}: ann, bob, cyd"
        position(page, recorded, 3)

        for button, at in {"One forward": 4, "Last position": last, "One back": last - 1, "First position": 0}.items():
            page.get_by_label(button).click()
            position(page, recorded, at)
        expect(page.get_by_label("One back")).to_be_disabled()
        slider = page.locator("#slider").bounding_box()
        assert slider is not None
        page.mouse.click(slider["x"] + slider["width"] - 2, slider["y"] + slider["height"] / 2)
        position(page, recorded, last)
        expect(page.get_by_label("One forward")).to_be_disabled()
        if game != "tsuro":  # where the lines would lie on each other
            page.locator(".chart").click(position={"x": 40, "y": 60})
            expect(page.locator("#position")).not_to_have_text(f"{last} / {last}")

        page.locator("#title").click()
        for key, at in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last)]:
            page.keyboard.press(key)
            position(page, recorded, at)
        page.locator("#slider").focus()
        page.keyboard.press("ArrowLeft")
        position(page, recorded, last - 1)

        assert page.url.endswith(f".html#{last - 1}")
        page.locator("#moves a").nth(2).click()
        position(page, recorded, 2)
        assert page.url.endswith(".html#2")
        page.go_back()
        position(page, recorded, last - 1)  # where the link was followed; single steps are not gone back through


def test_everything_can_be_reached_by_tab(browser: Browser, replays: Replays) -> None:
    file, recorded = replays["q"]

    with open_file(browser, file, "#1") as page:
        expect(page.locator("body.ready")).to_be_visible()
        reached = []
        for _ in range(12):
            page.keyboard.press("Tab")
            name, outline = page.evaluate(
                "[document.activeElement.id || document.activeElement.hash || document.activeElement.className,"
                " getComputedStyle(document.activeElement).outlineStyle]"
            )
            assert outline == "solid", name
            reached.append(name)
        steps = ["first", "back", "play", "forward", "last"]
        assert reached == ["theme", "helps", "slider", *steps, "speed", "view", "#1", "helps link"]
        page.locator("#moves a[aria-current]").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        position(page, recorded, 2)


def test_a_replay_plays_and_pauses(browser: Browser, replays: Replays) -> None:
    file, recorded = replays["tsuro"]

    with open_file(browser, file) as page:
        expect(page.locator("body.ready")).to_be_visible()
        page.clock.install(time=datetime(2020, 1, 1))
        page.clock.pause_at(datetime(2020, 1, 2))  # from now on time passes only by our leave
        page.keyboard.press("Space")
        page.clock.run_for(550)
        position(page, recorded, 1)
        page.clock.run_for(1000)
        position(page, recorded, 2)
        page.get_by_label("Pause").click()
        page.clock.run_for(5000)
        position(page, recorded, 2)
        page.get_by_label("Speed").select_option("10")
        page.get_by_label("Play", exact=True).click()
        page.clock.run_for(120 * len(recorded.facts))
        position(page, recorded, len(recorded.facts))
        expect(page.get_by_label("Play", exact=True)).to_be_visible()  # it has stopped


def test_a_link_that_leads_nowhere_does_no_harm(browser: Browser, replays: Replays) -> None:
    file, recorded = replays["fish"]

    with open_file(browser, file, "#-1") as page:
        position(page, recorded, 0)
        for link in ("#1.5", "#x", "#", "#%00<script>", "#1e3"):
            page.evaluate("link => { location.hash = '#2'; location.hash = link; }", link)
            position(page, recorded, 0)
            assert page.url.endswith(".html#0")
        for _ in range(2):
            page.evaluate("location.hash = '#999999'")
            position(page, recorded, len(recorded.facts))
            expect(page).to_have_url(f"{file.as_uri()}#{len(recorded.facts)}")


def test_help_opens_and_closes_by_keyboard(browser: Browser, replays: Replays) -> None:
    file, recorded = replays["fish"]

    with open_file(browser, file, "#2") as page:
        expect(page.locator("body.ready")).to_be_visible()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Help")).to_be_visible()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog", name="Help")).to_be_hidden()
        position(page, recorded, 2)


def test_the_page_has_the_very_pictures_that_are_drawn(browser: Browser, replays: Replays, game: str) -> None:
    file, recorded = replays[game]
    seats = (None, *range(len(recorded.names))) if recorded.game.hidden else (None,)
    look = f"""async () => {{ {bundle_script("pictures.js")}
        const all = await unpacked(document.getElementById("pictures").textContent);
        const themes = ["light", "dark", "light small", "dark small"];
        return themes.map((theme) => Array.from({{length: all.views}}, (_, view) =>
            Array.from({{length: {len(recorded.facts) + 1}}}, (_, at) => all.at(theme, view, at)))); }}"""

    with open_file(browser, file) as page:
        light, dark, *small = page.evaluate(look)

    assert light == [list(pictures(recorded, seat)) for seat in seats]
    assert dark == [list(pictures(recorded, seat, dark=True)) for seat in seats]
    assert dark != light
    assert small == [
        [list(pictures(recorded, seat, dark=dark, small=True)) for seat in seats] for dark in (False, True)
    ]


def test_hidden_hands_are_seen_by_those_who_hold_them(browser: Browser, replays: Replays) -> None:
    file, recorded = replays["q"]

    with open_file(browser, file, "#1") as page:
        position(page, recorded, 1)
        page.get_by_label("Seen by").select_option("ann (seat 0)")
        check_picture(page, picture_at(recorded, 1, 0))
        page.get_by_label("Seen by").blur()
        page.keyboard.press("v")
        expect(page.locator("#view")).to_have_value("2")
    with open_file(browser, replays["fish"][0]) as page:  # where all is public
        expect(page.locator("body.ready")).to_be_visible()
        expect(page.get_by_label("Seen by")).to_be_hidden()


def test_in_the_dark_the_pictures_are_dark(browser: Browser, replays: Replays) -> None:
    file, recorded = replays["tsuro"]

    with open_file(browser, file, "#2", color_scheme="dark") as page:
        expect(page.locator("body.ready")).to_be_visible()
        check_picture(page, picture_at(recorded, 2, dark=True))
        page.keyboard.press("d")
        position(page, recorded, 2)


def test_the_result_and_the_clocks_are_those_of_the_record(browser: Browser, replays: Replays, game: str) -> None:
    file, recorded = replays[game]
    assert recorded.closing is not None
    result = recorded.closing.result
    assert [out.seat for out in result.ejected] == [1]

    with open_file(browser, file, "#999999") as page:
        ranked = page.locator("#result li").all_text_contents()
        for group, line in zip(result.ranking, nonempty(ranked), strict=True):
            assert all(f"{recorded.names[seat]} ({(result.scores or ())[seat]})" in line for seat in group)
        expect(page.locator("#result .out")).to_have_text(
            f"✗ bob ({(result.scores or ())[1]}) was ejected: crashed (turn), {result.ejected[0].why}"
        )
        for seat, shown in enumerate(nonempty(page.locator("#players td:nth-child(3)").all_text_contents())):
            used = sum(entry.took for entry in recorded.entries if entry.fact.seat == seat)
            assert used > 0
            assert shown == (f"{used // 60:.0f} min {used % 60 // 1:.0f} s" if used >= 60 else format_duration(used))


def test_after_a_tie_ranks_are_left_out(browser: Browser, tmp_path: Path) -> None:
    journal = record_match(tmp_path, "fish", seed=0, fails=None)
    recorded = read_journal(journal)
    assert recorded.closing is not None
    assert [len(group) for group in recorded.closing.result.ranking] == [2, 1]
    file = journal.with_suffix(".html")
    file.write_text(render_replay(journal), encoding="utf-8")

    with open_file(browser, file) as page:
        expect(page.locator("#result li")).to_have_count(2)
        assert page.locator("#result li").evaluate_all("items => items.map((it) => it.value)") == [1, 3]


def other(found: re.Match[str]) -> str:
    """The same with another digit at the end."""
    return found[1] + ("0" if found[2] != "0" else "1")


HASH = r'(\\"hash\\":\\")(\w)'
UNFIT = "its hash does not fit: it or the line before was changed"
TAMPERED: dict[str, tuple[Callable[[str], str], int, str]] = {  # which line turns red (-1: the last), and why
    "a name": (lambda page: page.replace(r"\"names\":[\"ann\"", r"\"names\":[\"eve\"", 1), 1, UNFIT),
    "a digit of a time": (lambda page: re.sub(r'(\\"took\\":0\.\d*)(\d)', other, page, count=1), 3, UNFIT),
    "a hash": (lambda page: re.sub(HASH, other, page, count=1), 1, UNFIT),
    "the last hash": (lambda page: re.sub(f"(?s)(.*{HASH[1:]}", other, page, count=1), -1, UNFIT),
    "a line is missing": (
        lambda page: re.sub(r'"\{\\"type\\":\\"fact\\",\\"seq\\":3,.*?\}",', "", page, count=1),
        4,
        "it says that it is number 4",
    ),
    "the result is missing": (
        lambda page: re.sub(r',"\{\\"type\\":\\"result\\".*?\}"(?=\])', "", page, count=1),
        -1,
        "the result is missing",
    ),
    "no JSON": (lambda page: page.replace('{"journal":[', '{"journal":[['), 0, ""),
    "the pictures": (
        lambda page: re.sub(r'(<script id="pictures" type="text/plain">.{400}).{9}', r"\1AAAAAAAAA", page),
        0,
        "",
    ),
}


def changed_files(page: str, changes: Mapping[str, str], directory: Path) -> list[Path]:
    files = [directory / f"{what}.html" for what in changes]
    for file, changed in nonempty(zip(files, changes.values(), strict=True)):
        assert changed != page
        file.write_text(changed, encoding="utf-8")
    return files


def test_a_tampered_file_turns_red(browser: Browser, replays: Replays, tmp_path: Path) -> None:
    original, recorded = replays["q"]
    page = original.read_text(encoding="utf-8")
    files = changed_files(page, {what: change(page) for what, (change, _, _) in TAMPERED.items()}, tmp_path)

    with open_file(browser, original, "", *files) as tab:
        for file, (_, line, why) in nonempty(zip(files, TAMPERED.values(), strict=True)):
            tab.goto(file.as_uri())
            expect(tab.locator("#badge")).to_have_class("badge bad")
            expect(tab.locator("#picture")).to_be_hidden()
            expect(tab.locator("#empty")).to_have_text("The board is not shown, as it may be that of another match.")
            if line:
                number = len(recorded.heads) if line == -1 else line
                expect(tab.locator("#badge")).to_have_text(f"✗ Record changed: line {number}")
                expect(tab.locator("#record .out")).to_have_text(f"Line {number} of the record is wrong: {why}.")
            else:
                expect(tab.locator("#badge")).to_have_text("✗ File damaged: it cannot be read")


def test_what_belongs_to_another_match_is_not_shown_beside_a_whole_record(
    browser: Browser, replays: Replays, tmp_path: Path
) -> None:
    original, recorded = replays["q"]
    page, other = (replays[game][0].read_text(encoding="utf-8") for game in ("q", "fish"))
    final = ",".join(map(str, recorded.match_after(None).result.scores or ()))
    changes = {
        "words": page.replace('"words":["', '"words":["swims","', 1),
        "scores": page.replace(f"[{final}]]", f"[9{final}]]"),
        "pictures": page.replace(pictures_in(page), pictures_in(other)),
    }
    files = changed_files(page, changes, tmp_path)

    with open_file(browser, original, "", *files) as tab:
        for file in nonempty(files):
            tab.goto(file.as_uri())
            expect(tab.locator("#badge")).to_have_text("✗ File changed: the board is of another match")
            expect(tab.locator("#picture")).to_be_hidden()


def pictures_in(page: str) -> str:
    return page.partition('<script id="pictures" type="text/plain">')[2].partition("<")[0]


def test_hashes_are_those_of_sha256(browser: Browser, replays: Replays) -> None:
    texts = [bytes(range(256)) * 40, *(bytes([size % 251]) * size for size in range(200))]
    script = f"texts => {{ {bundle_script('sha256.js')} return texts.map((text) => sha256(Uint8Array.from(text))); }}"

    with open_file(browser, replays["fish"][0]) as page:
        assert page.evaluate(script, [[*text] for text in texts]) == [hashlib.sha256(it).hexdigest() for it in texts]
