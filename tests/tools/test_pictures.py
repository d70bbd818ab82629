"""Check the pictures of the docs, and their titles in tables."""

from pathlib import Path
from xml.etree import ElementTree

from tools.readme_tables import file_purpose, picture_caption
from tools.terminal_recording import PATH, Frame, render_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_a_recording_shows_one_frame_and_nothing_around_it() -> None:
    blank = Frame((), 1.0)
    for text in (render_svg([blank, blank]), PATH.read_text(encoding="utf-8")):
        root = ElementTree.fromstring(text)
        (window,) = root.iterfind(f"{SVG}svg")
        assert [part.get("id") for part in window] == ["film"]
        for side in ("width", "height"):
            assert window.get(side) == root.get(side)


def test_a_picture_has_the_same_title_in_tables_and_where_it_is_shown() -> None:
    assert file_purpose(PATH) == "A game of Fish on a terminal"
    assert picture_caption("nowhere.png") == ""
    assert file_purpose(Path("nowhere.png")) == "png file"
