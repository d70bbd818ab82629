"""Put the parts of a page into one file, under a policy that lets a browser run and load nothing else."""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files

IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function |const )", re.MULTILINE)
PLACE = re.compile(r"\{\{(\w+)\}\}")


def assembled(name: str, parts: Mapping[str, str]) -> str:
    """The page of this name, with its style and script inside, and these parts, which are HTML already."""
    style, script = part(f"{name}.css"), bundled(f"{name}.js")
    known = {**parts, "policy": policy_of(name), "style": style, "script": script}
    return PLACE.sub(lambda place: known[place[1]], part(f"{name}.html"))


@cache
def live_page(name: str) -> str:
    """The page of this name of a running house, which has its style and script in files of their own."""
    head = PLACE.sub(name, part("live.html")).rstrip()
    return PLACE.sub(lambda _: head, part(f"{name}.html"))


@cache
def policy_of(name: str) -> str:
    """What a browser may run and load in the page of this name: nothing but its own style and script."""
    style, script = source(part(f"{name}.css")), source(bundled(f"{name}.js"))
    return f"default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'"


def bundled(name: str) -> str:
    """A module and all that it imports as one: a file that is opened from disk can import no other."""
    order: list[str] = []

    def visit(module: str) -> None:
        if module not in order:
            for imported in IMPORT.findall(part(module)):
                visit(imported)
            order.append(module)

    visit(name)
    return "\n".join(EXPORT.sub("", IMPORT.sub("", part(module))) for module in order)


@cache
def part(name: str) -> str:
    """A file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def source(text: str) -> str:
    """What a Content-Security-Policy calls a script, or a style, inside the page."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
