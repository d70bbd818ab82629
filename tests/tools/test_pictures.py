"""Look at the pictures of the docs, and at what tables say of them."""

from pathlib import Path
from xml.etree import ElementTree

from tools.recording import PATH, Frame, document
from tools.tables import caption, purpose

SVG = "{http://www.w3.org/2000/svg}"


def test_a_recording_shows_one_frame_and_nothing_around_it() -> None:
    blank = Frame((), 1.0)
    for text in (document([blank, blank]), PATH.read_text(encoding="utf-8")):
        root = ElementTree.fromstring(text)
        (window,) = root.iterfind(f"{SVG}svg")
        assert [part.get("id") for part in window] == ["film"]
        for side in ("width", "height"):
            assert window.get(side) == root.get(side)


def test_a_picture_is_called_in_tables_what_it_is_called_where_it_is_shown() -> None:
    assert purpose(PATH) == "A game of Fish on a terminal"
    assert caption("nowhere.png") == ""
    assert purpose(Path("nowhere.png")) == "png file"
