"""Render the parts of an HTML page: text of players is escaped, and the page loads nothing."""

from collections.abc import Iterable, Sequence

from fairplay.render.svg import escape
from fairplay.render.text import printable

MAX_REASON_CHARS = 200
MAX_SHOWN_NAME_CHARS = 60
# Under this policy a browser loads and runs nothing, even if text got past `escape`; images are data URIs.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"
)
PAGE_CSS = """
:root { color-scheme: light dark; --ink: #1c2026; --soft: #5c6570; --faint: #d5d9de; --paper: #fff; --card: #f6f7f9;
  --alarm: #b3261e; --link: #0b57d0; --shade: #0004; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --soft: #9aa3ad; --faint: #3c434c; --paper: #14171b; --card: #1c2127; --alarm: #ff8a80;
    --link: #8ab4f8; --shade: #fff5; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.2rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .4rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p { max-width: 62rem; margin: .5rem 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.lead { font-size: 1.1rem; }
.notes { columns: 26rem 2; column-gap: 2rem; margin: .8rem 0; font-size: .92rem; }
.notes p { margin: 0 0 .4rem; }
/* A shade at each end shows that there is more; at the end itself the background hides it. */
.wide { overflow-x: auto; --ground: var(--paper); background:
  linear-gradient(90deg, var(--ground) 50%, transparent) left / 3rem 100% local no-repeat,
  linear-gradient(-90deg, var(--ground) 50%, transparent) right / 3rem 100% local no-repeat,
  linear-gradient(90deg, var(--shade), transparent) left / .8rem 100% scroll no-repeat,
  linear-gradient(-90deg, var(--shade), transparent) right / .8rem 100% scroll no-repeat; }
figure .wide { --ground: var(--card); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .5rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--faint); }
th { color: var(--soft); font-weight: 600; }
.name, .fault { text-align: left; white-space: normal; overflow-wrap: anywhere; }
td.name { min-width: 10rem; max-width: 20rem; font-weight: 600; }
td.name small { display: block; color: var(--soft); font-weight: 400; }
td.fault { min-width: 8.5rem; color: var(--alarm); overflow-wrap: normal; }
.plots { columns: 30rem 2; column-gap: 1rem; margin-top: 1.5rem; }
figure { margin: 0 0 1rem; padding: .8rem 1rem; background: var(--card); border-radius: .6rem; break-inside: avoid; }
figure.large { column-span: all; }
figure.large svg { min-width: 44rem; }
figcaption h2 { margin: 0; }
figcaption p { margin: .1rem 0 .6rem; font-size: .88rem; color: var(--soft); }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-family: system-ui, sans-serif !important; }
.boards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: 1rem; }
.boards figure { max-width: 34rem; margin: 0; }
.boards img { display: block; width: 100%; height: auto; max-height: 24rem; object-fit: contain; margin-bottom: .5rem; }
a { color: var(--link); }
details { margin: .3rem 0; }
details details { margin-left: 1rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .8rem; background: var(--card); border-radius: .6rem; font-size: .8rem;
  line-height: 1.35; }
"""


def render_page(title: str, parts: Iterable[str]) -> str:
    """A whole page of these parts, which are HTML."""
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape_text(title)}</title>\n<style>{PAGE_CSS}</style>\n</head>\n<body>",
            *parts,
            "</body>\n</html>\n",
        ]
    )


def escape_text(text: str, max_chars: int = MAX_REASON_CHARS) -> str:
    """Any text as a part of a page.

    >>> escape_text("<b>")
    '&lt;b&gt;'
    """
    return escape(printable(text, max_chars))


def render_name(name: str) -> str:
    """A name, isolated, so that letters from right to left change nothing around it."""
    return f"<bdi>{escape_text(name, MAX_SHOWN_NAME_CHARS)}</bdi>"


def render_paragraph(*sentences: str, kind: str = "") -> str:
    """Sentences, which are HTML already."""
    shown = f' class="{kind}"' if kind else ""
    return f"<p{shown}>{' '.join(filter(None, sentences))}</p>"


def render_table(headings: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """A table, by its headings with their classes, and by its cells."""
    kinds = [kind for _, kind in headings]
    head = "".join(f'<th class="{kind}">{escape_text(heading)}</th>' for heading, kind in headings)
    body = "\n".join(
        "<tr>" + "".join(f'<td class="{kind}">{cell}</td>' for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def render_figure(heading: str, caption: str, picture: str, *, large: bool = False) -> str:
    """A picture with its heading and caption."""
    about = f"<figcaption><h2>{escape_text(heading)}</h2><p>{escape_text(caption, 500)}</p></figcaption>"
    if large:
        return f'<figure class="large">{about}<div class="wide">{picture}</div></figure>'
    return f"<figure>{about}{picture}</figure>"


def render_details(summary: str, content: str) -> str:
    """A section that opens on a click; both arguments are HTML."""
    return f"<details><summary>{summary}</summary>\n{content}</details>"
