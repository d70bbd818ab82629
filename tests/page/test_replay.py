"""Test the page of a recorded match, without a browser."""

import json
import re
import sys
from base64 import b64decode, b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path
from zlib import decompress

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Moment
from fairplay.games import GAMES
from fairplay.journal.replay import read_journal
from fairplay.page import assembly
from fairplay.page.assembly import assemble_page, bundle_script, read_part
from fairplay.page.packing import pack_pictures
from fairplay.page.replay import THEMES, describe_fact, embed_json, render_replay
from tests.hostile_names import NAMES
from tests.nonempty import nonempty
from tests.page.matches import record_match

PARTS = [path for path in Path(assembly.__file__).parent.iterdir() if path.suffix in (".js", ".css", ".html")]


def inside(page: str, begin: str, end: str) -> str:
    """What stands between two texts, each of which is there once."""
    (found,) = re.findall(f"{re.escape(begin)}(.*?){re.escape(end)}", page, re.DOTALL)
    return str(found)


def hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("game", GAMES)
def test_a_typical_match_takes_less_than_300_kb(game: str, tmp_path: Path) -> None:
    page = render_replay(record_match(tmp_path, game, ("ann", "bob", "cyd", "dee"), fails=None, quick=False))

    assert 20_000 < len(page.encode()) < 300_000


def test_the_journal_is_inside_as_it_is(tmp_path: Path) -> None:
    path = record_match(tmp_path, "fish", ("<ann>", "b\u2028ob", "安"))

    told = json.loads(inside(render_replay(path), '<script id="match" type="application/json">', "</script>"))

    assert "".join(f"{line}\n" for line in told["journal"]).encode() == path.read_bytes()
    assert len(told["words"]) == len(told["scores"]) - 1 == sum('"type":"fact"' in line for line in told["journal"])


def test_places_stay_in_one_piece_and_nothing_else_does() -> None:
    said = describe_fact(Ejected(seat=0, fault=Fault.ILLEGAL, moment=Moment.TURN, why="from [3, -6] to [3, 6], [a, b]"))

    assert said.endswith("from [3,\u00a0-6] to [3,\u00a06], [a, b]")


def test_the_policy_allows_the_script_and_the_style_and_nothing_else(tmp_path: Path) -> None:
    page = render_replay(record_match(tmp_path, "fish"))

    policy = unescape(inside(page, 'http-equiv="Content-Security-Policy" content="', '">'))

    script, style = inside(page, '<script type="module">', "</script>"), inside(page, "<style>", "</style>")
    assert dict(rule.split(" ", 1) for rule in policy.split("; ")) == {
        "default-src": "'none'",
        "script-src": hashed(script),
        "style-src": hashed(style),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert page.index("Content-Security-Policy") < page.index("<title>")


def test_the_skeleton_has_no_style_or_script_in_attributes_and_leads_nowhere() -> None:
    skeleton = read_part("replay.html")

    assert not re.search(r"\s(?:style|on\w+)=", skeleton)
    assert not re.search(r"https?:|//", skeleton)


def test_parts_that_look_like_places_are_left_alone() -> None:
    page = assemble_page("replay", {"title": "{{style}}", "match": "{{script}}", "pictures": "{{policy}}"})

    assert "<title>{{style}}</title>" in page
    assert ">{{script}}</script>" in page
    assert ">{{policy}}</script>" in page


def test_a_bundle_is_one_module() -> None:
    script = bundle_script("replay.js")

    assert not re.search(r"^\s*(?:import|export)\b", script, re.MULTILINE)
    assert script.count("function sha256(") == 1
    assert "</script" not in script
    for name in re.findall(r"^import \{ (.*) \}", read_part("replay.js"), re.MULTILINE):
        assert all(re.search(rf"\bfunction {it}\(", script) for it in nonempty(name.split(", ")))


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.name)
def test_every_part_says_its_purpose_and_is_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert re.match(r"(//|/\*|<!--) [A-Z][^\n]*\.( \*/| -->)?\n", text)
    assert text.count("\n") <= 400


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_data_holds_no_tag(name: str) -> None:
    told = embed_json({"name": name})

    assert "<" not in told
    assert told.isascii()
    assert json.loads(told) == {"name": name}


def test_pictures_share_their_lines() -> None:
    positions = [{"light": ["a\nb", "a\nb"], "dark": []}, {"light": ["a\nc", "a\nb"], "dark": []}]

    made = json.loads(decompress(b64decode(pack_pictures(positions))))

    assert made == {
        "lines": ["a", "b", "c"],
        "pictures": [[0, 2], [0, 1, 2, 1]],
        "views": {"light": [[0, 1], [0, 0]], "dark": []},
    }


def test_what_many_see_alike_is_drawn_once(tmp_path: Path) -> None:
    path = record_match(tmp_path, "tsuro", ("ann", "bob", "cyd", "dee", "eve"), fails=None, quick=False)
    pictures = len(read_journal(path).facts) * len(THEMES) * 6
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        render_replay(path)
    finally:
        sys.setprofile(None)

    assert calls / pictures < 1000


@pytest.mark.parametrize("game", GAMES)
def test_an_unfinished_match_is_refused(game: str, tmp_path: Path) -> None:
    path = record_match(tmp_path, game)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))

    why = "unfinished" if game == "fish" else "unfinished, and its hidden hands are not shown before it ends"
    with pytest.raises(BadRequest, match=rf"^[^\n]+: this match is {why}$"):
        render_replay(path)


def test_a_sealed_match_alone_is_refused_until_its_seed_is_revealed(tmp_path: Path) -> None:
    path, checked = record_match(tmp_path, "q", sealed=True), list[Path]()

    def check(file: Path) -> bool:
        checked.append(file)
        return file == path

    with pytest.raises(BadRequest, match=r"^[^\n]+: this match is sealed until the seed of its deal"):
        render_replay(path)
    assert render_replay(path, check).startswith("<!-- ")
    assert render_replay(record_match(tmp_path, "fish"), check)
    assert checked == [path]
