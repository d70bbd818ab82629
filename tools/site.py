"""Make one site of docs/ and what its pages link to: other files of the tree, parts of other pages, the command's help.

mkdocs calls the functions that begin with `on_` (mkdocs.yml). Links are written so that they work in the tree; here
they are made to work on the site too. One with the title "in full" is replaced by the text that it leads to.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from fairplay.cli.main import SUBCOMMANDS, load_command
from tools.readme_tables import ROOT

DOCS = ROOT / "docs"
OUTSIDE_DOCS_DIR = "files"  # the directory of the site for what is not in docs
MENU_FILES = ("ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "CHANGELOG.md")
COMMAND = "reference/command.md"  # where the help of all verbs is added
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
IN_FULL_LINK = re.compile(r'^\[[^\]]+\]\(([^)#\s]+)(?:#([^)\s]+))? "in full"\)$', re.MULTILINE)
SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LANGUAGES = {"txt": "text", "service": "ini", "Containerfile": "docker"}  # of files whose end is not its name
HELP_COLUMNS = 92  # of what the command says


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every file that is linked to, and for those that these link to."""
    waiting = [DOCS / file.src_uri for file in files.documentation_pages()]
    waiting += [ROOT / name for name in MENU_FILES]
    done: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        if path.suffix == ".md":
            waiting += linked_files(path)
        if not path.is_relative_to(DOCS):
            files.append(add_page(path, config))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page, with links and parts of other pages as the site needs them."""
    here = page.file.src_uri
    source = ROOT / here.removeprefix(f"{OUTSIDE_DOCS_DIR}/") if here.startswith(OUTSIDE_DOCS_DIR) else DOCS / here
    if source.suffix == ".md" and source.is_file():
        text = rewrite_links(markdown, source, here) + (all_help() if here == COMMAND else "")
        return IN_FULL_LINK.sub(lambda found: file_section(link_target(source, found[1]), found[2] or "", here), text)
    return markdown


def add_page(path: Path, config: MkDocsConfig) -> File:
    """A page for a file that is not in docs: as it is, or as code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        language = LANGUAGES.get(path.suffix[1:] or path.name, path.suffix[1:])
        text = f"# {path.relative_to(ROOT)}\n\n````{language}\n{text}````\n"
    shown = InclusionLevel.INCLUDED if path.name in MENU_FILES else InclusionLevel.NOT_IN_NAV
    return File.generated(config, site_path(path), content=text, inclusion=shown)


def site_path(path: Path) -> str:
    """Where a file of the tree is among the sources of the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return f"{OUTSIDE_DOCS_DIR}/{path.relative_to(ROOT).as_posix()}{'' if path.suffix == '.md' else '.md'}"


def link_target(source: Path, link: str) -> Path:
    """The file to which a link leads; a directory is its README, and that of docs the first page."""
    path = Path(os.path.normpath(source.parent / link))
    if path in (DOCS, DOCS / "README.md"):
        path = DOCS / "index.md"
    path = path / "README.md" if path.is_dir() else path
    if not path.is_file():
        raise PluginError(f"{source.relative_to(ROOT)}: there is no {link}")
    return path


def linked_files(source: Path) -> Iterator[Path]:
    """The files to which a page leads."""
    text = source.read_text(encoding="utf-8")
    for part in FENCED.split(text)[::2]:
        yield from (link_target(source, link) for link, _ in LINK.findall(part))


def rewrite_links(text: str, source: Path, here: str) -> str:
    """A text with its links as they have to be on a page at this place; code stays as it is."""

    def moved(found: re.Match[str]) -> str:
        there = site_path(link_target(source, found[1]))
        return f"{os.path.relpath(there, Path(here).parent)}{found[2] or ''}"

    parts = FENCED.split(text)
    parts[::2] = [LINK.sub(moved, part) for part in parts[::2]]
    return "".join(parts)


def file_section(path: Path, anchor: str, here: str) -> str:
    """What a file says below its title, or below one of its headings, for a page at this place."""
    text = path.read_text(encoding="utf-8")
    if anchor:
        sections = {name.lower().replace(" ", "-"): body for name, body in SECTION.findall(text)}
        if anchor not in sections:
            raise PluginError(f"{path.relative_to(ROOT)} has no section #{anchor}")
        text = sections[anchor]
    else:
        text = re.sub(r"^#(?=#)", "##", text.partition("\n")[2], flags=re.MULTILINE)  # it comes under a heading
    return rewrite_links(text, path, here).strip()


def all_help() -> str:
    """What every verb says of itself."""
    return "".join(f"\n## fairplay {verb}\n\n```text\n{command_help(verb)}\n```\n" for verb in SUBCOMMANDS)


def command_help(verb: str) -> str:
    """What a verb says of itself, and what those below it say."""
    command = load_command(verb)
    assert command is not None
    return "\n\n".join(format_help(command, f"fairplay {verb}"))


def format_help(command: click.Command, name: str) -> Iterator[str]:
    """The help of a command, and of those below it."""
    context = click.Context(command, info_name=name, terminal_width=HELP_COLUMNS, max_content_width=HELP_COLUMNS)
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            below = command.get_command(context, verb)
            assert below is not None
            yield from format_help(below, f"{name} {verb}")
