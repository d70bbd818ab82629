"""Write shapes as SVG text."""

import re
from collections.abc import Iterable
from functools import lru_cache

Value = str | float  # of an attribute
LETTER_STYLE: dict[str, Value] = {
    "font_family": "sans-serif",
    "font_weight": "bold",
    "text_anchor": "middle",
}  # of letters in a shape

cached = lru_cache(4096)  # the pictures of a match share most of their parts
ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}
SPECIAL = re.compile(r"""[&<>"']""")
SIZE = re.compile(r'(?<= )width="([0-9.]+)" height="([0-9.]+)"')  # of a document; it is the first one
INVALID_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # compiled on first use, as that is slow
IDS = (' id="', ' href="#', '="url(#')  # the text before an id; escaped texts have no quotes, so they cannot contain it


@cached
def escape(words: str) -> str:
    """Any words as a part of an SVG; characters that XML does not allow are replaced.

    >>> escape("<Ann & Bob>")
    '&lt;Ann &amp; Bob&gt;'
    """
    return SPECIAL.sub(lambda found: ESCAPES[found.group()], re.sub(INVALID_XML, "\ufffd", words))


@cached
def number(value: float) -> str:
    """A number in as few digits as a picture needs.

    >>> number(34.641016), number(-0.001), number(2.50)
    ('34.64', '0', '2.5')
    """
    return f"{round(value, 2) + 0:.2f}".rstrip("0").rstrip(".")


def element(tag: str, *content: str, **attributes: Value) -> str:
    """An element with its content, which is SVG already; an attribute's underscores become hyphens.

    >>> element("text", escape("a < b"), font_size=12)
    '<text font-size="12">a &lt; b</text>'
    """
    pairs = "".join(
        f' {key.replace("_", "-")}="{escape(value) if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
    )
    return f"<{tag}{pairs}>{''.join(content)}</{tag}>" if content else f"<{tag}{pairs}/>"


def group(content: Iterable[str], **attributes: Value) -> str:
    """A group of elements, one per line."""
    return element("g", "\n", *(f"{part}\n" for part in content), **attributes)


@cached
def use(shape: str, x: float, y: float, **attributes: Value) -> str:
    """A copy of a shape of the document's definitions at a point."""
    return element("use", href=f"#{shape}", x=x, y=y, **attributes)


@cached
def circle(x: float, y: float, radius: float, **attributes: Value) -> str:
    """A circle around a point."""
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def polygon(points: Iterable[tuple[float, float]], **attributes: Value) -> str:
    """A polygon through some points."""
    return element("polygon", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), **attributes)


@cached
def path(line: str, **attributes: Value) -> str:
    """A path, in SVG's path syntax."""
    return element("path", d=line, **attributes)


@cached
def rectangle(x: float, y: float, width: float, height: float, **attributes: Value) -> str:
    """A rectangle, by its upper left corner."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


@cached
def text(x: float, y: float, words: str, **attributes: Value) -> str:
    """A line of text, which is escaped."""
    return element("text", escape(words), x=x, y=y, **attributes)


def gradient(name: str, top: str, bottom: str) -> str:
    """A definition of a colour that changes from top to bottom."""
    stops = element("stop", stop_color=top), element("stop", offset=1.0, stop_color=bottom)
    return element("linearGradient", *stops, id=name, x2=0.0, y2=1.0)


def colour_definition(name: str, colour: str) -> str:
    """A definition of a colour by a name."""
    return element("linearGradient", element("stop", stop_color=colour), id=name, gradientUnits="userSpaceOnUse")


def clip(x: float, y: float, width: float, height: float, content: str) -> str:
    """Content clipped to a rectangle, with coordinates from its upper left corner."""
    return element("svg", content, x=x, y=y, width=width, height=height)


def document(
    width: float,
    height: float,
    definitions: Iterable[str],
    content: Iterable[str],
    *,
    label: str,
    ids: str,
    display_width: float | None = None,
) -> str:
    """An SVG document; its label is for screen readers.

    All its ids start with `ids`, so that it can be on a page with others. `display_width` defaults to its width.
    """
    scale = 1.0 if display_width is None else display_width / width
    whole = element(
        "svg",
        "\n",
        element("defs", "\n", *(f"{part}\n" for part in definitions)),
        "\n",
        *(f"{part}\n" for part in content),
        xmlns="http://www.w3.org/2000/svg",
        width=width * scale,
        height=height * scale,
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        aria_label=label,
    )
    for before in IDS:
        whole = whole.replace(before, f"{before}{ids}-")
    return f"{whole}\n"


def document_size(picture: str) -> tuple[float, float]:
    """The width and the height of a document.

    >>> document_size('<svg xmlns="..." width="80" height="40.5" viewBox="0 0 80 40.5"></svg>')
    (80.0, 40.5)
    """
    width, high = SIZE.search(picture).groups()  # type: ignore[union-attr]  # every document has one
    return float(width), float(high)


def resize(picture: str, width: float) -> str:
    """A document with another width and the corresponding height.

    >>> resize('<svg xmlns="..." width="80" height="40.5" viewBox="0 0 80 40.5"></svg>', 40)
    '<svg xmlns="..." width="40" height="20.25" viewBox="0 0 80 40.5"></svg>'
    """
    before, high = document_size(picture)
    return SIZE.sub(f'width="{number(width)}" height="{number(high * width / before)}"', picture, count=1)
