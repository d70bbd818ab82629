"""Draw a view of the toy as text for a terminal."""

from collections.abc import Sequence

from tests.toy import View


def text(view: View, names: Sequence[str] = (), **look: object) -> str:
    return f"{len(view.played)} cards played, {view.pile} in the pile"
