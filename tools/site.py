"""Build the documentation site from docs/, linked files of the tree, and the command's help texts.

mkdocs calls the functions that begin with `on_` (mkdocs.yml). Links are written so that they work in the tree; this
module rewrites them for the site. A link with the title "in full" is replaced by the text that it leads to.
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

from fairplay.cli.main import SUBCOMMANDS, load_command, plugin_commands
from tools.readme_tables import ROOT

DOCS = ROOT / "docs"
OUTSIDE_DOCS_DIR = "files"  # the directory of the site for files that are not in docs
MENU_FILES = ("ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "CHANGELOG.md")
COMMAND_PAGE = "reference/command.md"  # receives the help texts of all commands
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
IN_FULL_LINK = re.compile(r'^\[[^\]]+\]\(([^)#\s]+)(?:#([^)\s]+))? "in full"\)$', re.MULTILINE)
SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LANGUAGES = {"txt": "text", "service": "ini", "Containerfile": "docker"}  # of suffixes that name no language
HELP_COLUMNS = 80  # fit into a page, so that no line is cut


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every linked file, and for the files that these link to."""
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
    """Rewrite the links of a page, insert the parts of other pages, and keep source files out of the search."""
    here = page.file.src_uri
    if page.file.inclusion is InclusionLevel.NOT_IN_NAV:
        page.meta["search"] = {"exclude": True}
    elif here.startswith("reference/"):
        page.meta["search"] = {"boost": 0.5}  # pages that explain come first
    source = ROOT / here.removeprefix(f"{OUTSIDE_DOCS_DIR}/") if here.startswith(OUTSIDE_DOCS_DIR) else DOCS / here
    if source.suffix == ".md" and source.is_file():
        text = rewrite_links(markdown, source, here) + (all_help() if here == COMMAND_PAGE else "")
        return IN_FULL_LINK.sub(lambda found: file_section(link_target(source, found[1]), found[2] or "", here), text)
    return markdown


def add_page(path: Path, config: MkDocsConfig) -> File:
    """Make a page of a file that is not in docs: as it is, or as code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        language = LANGUAGES.get(path.suffix[1:] or path.name, path.suffix[1:])
        text = f"# {path.relative_to(ROOT)}\n\n````{language}\n{text}````\n"
    inclusion = InclusionLevel.INCLUDED if path.name in MENU_FILES else InclusionLevel.NOT_IN_NAV
    return File.generated(config, site_path(path), content=text, inclusion=inclusion)


def site_path(path: Path) -> str:
    """The path of a file of the tree among the sources of the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return f"{OUTSIDE_DOCS_DIR}/{path.relative_to(ROOT).as_posix()}{'' if path.suffix == '.md' else '.md'}"


def link_target(source: Path, link: str) -> Path:
    """The file that a link leads to; for a directory its README, for docs the home page."""
    path = Path(os.path.normpath(source.parent / link))
    if path in (DOCS, DOCS / "README.md"):
        path = DOCS / "index.md"
    path = path / "README.md" if path.is_dir() else path
    if not path.is_file():
        raise PluginError(f"{source.relative_to(ROOT)}: broken link to {link}")
    return path


def linked_files(source: Path) -> Iterator[Path]:
    """The files that a page links to."""
    text = source.read_text(encoding="utf-8")
    for part in FENCED.split(text)[::2]:
        yield from (link_target(source, link) for link, _ in LINK.findall(part))


def rewrite_links(text: str, source: Path, here: str) -> str:
    """A text with its links rewritten for a page at `here`; code stays as it is."""

    def rewrite(found: re.Match[str]) -> str:
        target = site_path(link_target(source, found[1]))
        return f"{os.path.relpath(target, Path(here).parent)}{found[2] or ''}"

    parts = FENCED.split(text)
    parts[::2] = [LINK.sub(rewrite, part) for part in parts[::2]]
    return "".join(parts)


def file_section(path: Path, anchor: str, here: str) -> str:
    """The text of a file below its title, or below one of its headings, for a page at `here`."""
    text = path.read_text(encoding="utf-8")
    if anchor:
        sections = {name.lower().replace(" ", "-"): body for name, body in SECTION.findall(text)}
        if anchor not in sections:
            raise PluginError(f"{path.relative_to(ROOT)} has no section #{anchor}")
        text = sections[anchor]
    else:
        text = re.sub(r"^#(?=#)", "##", text.partition("\n")[2], flags=re.MULTILINE)  # below a heading of the page
    return rewrite_links(text, path, here).strip()


def all_help() -> str:
    """The help texts of all commands."""
    return "".join(
        f"\n## fairplay {verb}\n\n```text\n{command_help(verb)}\n```\n" for verb in (*SUBCOMMANDS, *plugin_commands())
    )


def command_help(verb: str) -> str:
    """The help text of a command and of its subcommands."""
    command = load_command(verb)
    assert command is not None
    return "\n\n".join(format_help(command, f"fairplay {verb}"))


def format_help(command: click.Command, name: str) -> Iterator[str]:
    """The help text of a command, and of each of its subcommands."""
    context = click.Context(command, info_name=name, terminal_width=HELP_COLUMNS, max_content_width=HELP_COLUMNS)
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            subcommand = command.get_command(context, verb)
            assert subcommand is not None
            yield from format_help(subcommand, f"{name} {verb}")
