"""Test the generated sections of pages, and the pictures of the docs with their titles."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.page_sections import replace_section
from tools.readme_tables import file_purpose, picture_caption
from tools.terminal_recording import PATH, Frame, render_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_only_what_is_between_the_marks_is_written_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- table -->\nold\n<!-- end of table -->\nb\n")
    assert replace_section(page, "table", "new\n") == "a\n<!-- table -->\nnew\n<!-- end of table -->\nb\n"

    for text in ("", "<!-- table -->\n", "<!-- end of table -->\n<!-- table -->\n"):
        page.write_text(text)
        with pytest.raises(SystemExit, match=r"page\.md has no place for a table"):
            replace_section(page, "table", "new\n")


def test_a_recording_shows_one_frame_and_nothing_around_it() -> None:
    blank = Frame((), 1.0)
    for text in (render_svg([blank, blank]), PATH.read_text(encoding="utf-8")):
        root = ElementTree.fromstring(text)
        (window,) = root.iterfind(f"{SVG}svg")
        assert [part.get("id") for part in window] == ["film"]
        assert [window.get(side) for side in ("width", "height")] == [root.get(side) for side in ("width", "height")]


def test_a_picture_has_the_same_title_in_tables_and_where_it_is_shown() -> None:
    assert file_purpose(PATH) == "A game of Fish on a terminal"
    assert picture_caption("nowhere.png") == ""
    assert file_purpose(Path("nowhere.png")) == "png file"
