"""Assemble a page into one file, with a Content-Security-Policy that forbids everything else."""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files

IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function |const )", re.MULTILINE)
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def assemble_page(name: str, parts: Mapping[str, str]) -> str:
    """The page of this name, with its style and script inside, and these parts, which are HTML already."""
    style, script = read_part(f"{name}.css"), bundle_script(f"{name}.js")
    known = {**parts, "policy": content_security_policy(name), "style": style, "script": script}
    return PLACEHOLDER.sub(lambda place: known[place[1]], read_part(f"{name}.html"))


@cache
def live_page(name: str) -> str:
    """A page of a running server, whose style and script are separate files."""
    head = PLACEHOLDER.sub(name, read_part("live.html")).rstrip()
    return PLACEHOLDER.sub(lambda _: head, read_part(f"{name}.html"))


@cache
def content_security_policy(name: str) -> str:
    """The policy of a page: a browser may run and load only its own style and script."""
    style, script = csp_hash(read_part(f"{name}.css")), csp_hash(bundle_script(f"{name}.js"))
    return f"default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'"


def bundle_script(name: str) -> str:
    """A module bundled with its imports: a file that is opened from disk cannot import others."""
    order: list[str] = []

    def visit(module: str) -> None:
        if module not in order:
            for imported in IMPORT.findall(read_part(module)):
                visit(imported)
            order.append(module)

    visit(name)
    return "\n".join(EXPORT.sub("", IMPORT.sub("", read_part(module))) for module in order)


@cache
def read_part(name: str) -> str:
    """A file of this directory."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def csp_hash(text: str) -> str:
    """The hash of an inline script or style in a Content-Security-Policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
