"""Write the table of files into the README of every directory, from the first line of each file."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tools.page_sections import replace_section

ROOT = Path(__file__).parent.parent
TABLE_DIRS = ("src/fairplay", "tests", "benchmarks", "docs", "examples", "tools")  # whose directories have READMEs
CORPUS = ROOT / "tests/corpus/versions"  # written by older versions, and left as it is
UNLISTED_FILES = ("README.md", "__init__.py", "py.typed")


def main() -> None:
    """Write all tables."""
    for readme in readmes():
        readme.write_text(rewrite_readme(readme), encoding="utf-8")


def readmes() -> list[Path]:
    """The READMEs with a table: that of the root, and of every directory."""
    return [ROOT / "README.md", *(directory / "README.md" for directory in directories())]


def directories() -> Iterator[Path]:
    """All directories below TABLE_DIRS."""
    for part in TABLE_DIRS:
        yield ROOT / part
        yield from (path for path in sorted((ROOT / part).rglob("*/")) if is_listed(path))


def rewrite_readme(readme: Path) -> str:
    """The text of a README with its current table."""
    return replace_section(readme, "table", file_table(readme.parent))


def file_table(directory: Path) -> str:
    """The table of a directory; the root's lists the directories that have READMEs."""
    if directory == ROOT:
        rows = [(f"{part}/", file_purpose(ROOT / part)) for part in TABLE_DIRS]
    else:
        entries = [path for path in sorted(directory.iterdir()) if path.name not in UNLISTED_FILES and is_listed(path)]
        rows = [(path.name + "/" * path.is_dir(), file_purpose(path)) for path in entries]
    lines = "".join(f"| [{name}]({name}) | {says} |\n" for name, says in rows)
    return f"| {'directory' if directory == ROOT else 'file'} | purpose |\n|---|---|\n{lines}"


def is_listed(path: Path) -> bool:
    """Whether the table lists this file."""
    if path.name.startswith((".", "__pycache__")) or path.suffix == ".so":  # built here
        return False
    return not path.is_relative_to(CORPUS)


def file_purpose(path: Path) -> str:
    """The purpose of a file or directory, from its first line or its README."""
    if path.is_dir():
        lines = (path / "README.md").read_text(encoding="utf-8").splitlines()
        return next(line for line in lines if line and not line.startswith("#"))
    if path.suffix in (".png", ".gif", ".svg"):
        return picture_caption(path.name) or f"{path.suffix[1:]} file"
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    if path.suffix in (".c", ".h", ".go", ".java", ".js", ".css", ".html"):
        return text.partition("\n")[0].strip("<!-/*> ")
    if path.suffix in (".md", ".toml", ".service") or path.name == "Containerfile":
        return text.partition("\n")[0].lstrip("# ")
    return "cases with known answers" if path.suffix == ".jsonl" else f"{path.suffix[1:]} file"


def picture_caption(name: str) -> str:
    """The title of a picture where it is shown, if that is in the README or in the docs."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if found := re.search(rf"!\[([^\]]+)\]\((?:docs/|\.\./)?{re.escape(name)}\)", page.read_text(encoding="utf-8")):
            return found[1]
    return ""


if __name__ == "__main__":
    main()
