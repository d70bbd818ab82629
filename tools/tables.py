"""Write the table of files into the README of every directory, from the first line of each file."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tools.marks import filled

ROOT = Path(__file__).parent.parent
PARTS = ("src/fairplay", "tests", "benchmarks", "docs", "examples", "tools")  # the directories with READMEs
SILENT = ("README.md", "__init__.py", "py.typed")


def main() -> None:
    """Write all tables anew."""
    for readme in readmes():
        readme.write_text(rewritten(readme), encoding="utf-8")


def readmes() -> list[Path]:
    """The READMEs that hold a table: the root's, and that of every directory."""
    return [ROOT / "README.md", *(directory / "README.md" for directory in directories())]


def directories() -> Iterator[Path]:
    """Every directory of the parts."""
    for part in PARTS:
        yield ROOT / part
        yield from (path for path in sorted((ROOT / part).rglob("*/")) if shown(path))


def rewritten(readme: Path) -> str:
    """The text of a README with its table as it should be."""
    return filled(readme, "table", table(readme.parent))


def table(directory: Path) -> str:
    """The table of a directory; the root's lists the directories of the whole project."""
    if directory == ROOT:
        package, *others = (ROOT / part for part in PARTS)
        entries = [*(path for path in sorted(package.iterdir()) if path.is_dir() and shown(path)), *others]
        rows = [(f"{path.relative_to(ROOT)}/", purpose(path)) for path in entries]
    else:
        entries = [path for path in sorted(directory.iterdir()) if path.name not in SILENT and shown(path)]
        rows = [(path.name + "/" * path.is_dir(), purpose(path)) for path in entries]
    lines = "".join(f"| [{name}]({name}) | {says} |\n" for name, says in rows)
    return f"| {'directory' if directory == ROOT else 'file'} | purpose |\n|---|---|\n{lines}"


def shown(path: Path) -> bool:
    """Is this an entry for readers?"""
    return not path.name.startswith((".", "__pycache__")) and path.suffix != ".so"  # built here


def purpose(path: Path) -> str:
    """What a file or directory is for, in its own words."""
    if path.is_dir():
        lines = (path / "README.md").read_text(encoding="utf-8").splitlines()
        return next(line for line in lines if line and not line.startswith("#"))
    if path.suffix in (".png", ".gif", ".svg"):
        return caption(path.name) or f"{path.suffix[1:]} file"
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    if path.suffix in (".c", ".h", ".go", ".java", ".js", ".css", ".html"):
        return text.partition("\n")[0].strip("<!-/*> ")
    if path.suffix in (".md", ".toml", ".service") or path.name == "Containerfile":
        return text.partition("\n")[0].lstrip("# ")
    return "cases with known answers" if path.suffix == ".jsonl" else f"{path.suffix[1:]} file"


def caption(name: str) -> str:
    """What a picture is called where it is shown, if that is in the README or in the docs."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if found := re.search(rf"!\[([^\]]+)\]\((?:docs/|\.\./)?{re.escape(name)}\)", page.read_text(encoding="utf-8")):
            return found[1]
    return ""


if __name__ == "__main__":
    main()
