"""Draw Mermaid sequence diagrams as SVG, so that browsers need not load a large library for them.

Of Mermaid's language there is what our pages use: participants with names, messages there and back, and to oneself.
"""

import re
from html import escape
from typing import Any

PARTICIPANT = re.compile(r"participant (\w+) as (.+)")
MESSAGE = re.compile(r"(\w+)(--?>>)(\w+): (.+)")
LIFELINE_DISTANCE, STEP, TOP, MARGIN = (
    200,
    34,
    50,
    80,
)  # between participants, between lines, and margins


def format_block(source: str, language: str, css_class: str, options: Any, md: Any, **kwargs: Any) -> str:
    """A block of Mermaid as a picture; pymdownx calls this."""
    return f'<div class="sequence">{render_svg(source)}</div>'


def render_svg(source: str) -> str:
    """The picture of a sequence diagram.

    >>> svg("sequenceDiagram\\nparticipant A as ann\\nA->>A: think").count("<text")
    2
    """
    heading, *lines = (line.strip() for line in source.strip().splitlines())
    if heading != "sequenceDiagram":
        raise ValueError(f"only sequence diagrams are drawn, not {heading!r}")
    places: dict[str, int] = {}
    parts: list[str] = []
    height = TOP
    for line in lines:
        if found := PARTICIPANT.fullmatch(line):
            places[found[1]] = MARGIN + LIFELINE_DISTANCE * len(places)
            parts.append(render_text(places[found[1]], TOP - 26, found[2], "name"))
        elif found := MESSAGE.fullmatch(line):
            height += STEP
            start, end = places[found[1]], places[found[3]]
            parts.append(render_arrow(start, end, height, dashed=found[2] == "-->>"))
            parts.append(
                render_text(
                    (start + end) / 2 if start != end else start + 44, height - 6, found[4], "said", start == end
                )
            )
        else:
            raise ValueError(f"neither a participant nor a message: {line!r}")
    height += STEP
    lifelines = "".join(f'<path class="life" d="M{x} {TOP - 14}V{height}"/>' for x in places.values())
    width = 2 * MARGIN + LIFELINE_DISTANCE * (len(places) - 1)
    tip = '<marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 6}" role="img" aria-label="Sequences">'
        f'<defs>{tip}<path d="M0 0L9 4L0 8z"/></marker></defs>{lifelines}{"".join(parts)}</svg>'
    )


def render_arrow(start: int, end: int, y: int, dashed: bool) -> str:
    """A message from one lifeline to another, or around to the same."""
    way = f"M{start} {y}H{end - (3 if end > start else -3)}" if start != end else f"M{start} {y - 8}h36v12h-33"
    return f'<path class="message{" back" if dashed else ""}" d="{way}" marker-end="url(#tip)"/>'


def render_text(x: float, y: float, words: str, kind: str, beside: bool = False) -> str:
    """A text, centred unless it is beside a line."""
    return (
        f'<text class="{kind}" x="{x:g}" y="{y}" text-anchor="{"start" if beside else "middle"}">{escape(words)}</text>'
    )
