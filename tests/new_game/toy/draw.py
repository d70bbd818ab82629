"""Draw a view of the toy as SVG."""

from collections.abc import Sequence

from fairplay.render.svg import element, escape
from tests.new_game.toy.terminal import text
from tests.toy import View


def svg(view: View, names: Sequence[str] = (), **look: object) -> str:
    said = element("text", escape(text(view, names)), x=10.0, y=20.0)
    return element("svg", said, xmlns="http://www.w3.org/2000/svg", width=300.0, height=40.0)
