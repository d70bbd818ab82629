"""Test that generated sections of pages are replaced, and pages without markers refused."""

from pathlib import Path

import pytest

from tools.page_sections import replace_section


def test_only_what_is_between_the_marks_is_written_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- table -->\nold\n<!-- end of table -->\nb\n")

    assert replace_section(page, "table", "new\n") == "a\n<!-- table -->\nnew\n<!-- end of table -->\nb\n"


@pytest.mark.parametrize("text", ["", "<!-- table -->\n", "<!-- end of table -->\n<!-- table -->\n"])
def test_a_page_without_both_marks_is_left_alone(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)

    with pytest.raises(SystemExit, match=r"page\.md has no place for a table"):
        replace_section(page, "table", "new\n")
