"""Replace a generated section of a page, between its two markers."""

from pathlib import Path


def replace_section(page: Path, section: str, fresh: str) -> str:
    """The text of a page with new text between two markers."""
    first, last = f"<!-- {section} -->\n", f"<!-- end of {section} -->\n"
    before, begin, rest = page.read_text(encoding="utf-8").partition(first)
    _, end, after = rest.partition(last)
    if not (begin and end):
        raise SystemExit(f"{page} has no place for a {section}: {first.strip()} {last.strip()}")
    return f"{before}{first}{fresh}{last}{after}"
