"""Draw a view of any game of the kit as text for a terminal: a grid of signs."""

from collections.abc import Iterator, Sequence
from typing import Any

from fairplay.kit.game import View
from fairplay.kit.roster import looks, players_of, sign_owners
from fairplay.render.fit import Part, Scale, Space, format_hidden_part, visible_part
from fairplay.render.roster import roster
from fairplay.render.text import CHANGED_COLOUR, add_colour, printable

Place = tuple[int, int]  # row, column


def text(
    view: View[Any],
    names: Sequence[str] = (),
    *,
    colour: bool = False,
    width: int | None = None,
    height: int | None = None,
    before: View[Any] | None = None,
) -> str:
    """The board and the players for a terminal, without a newline at the end; `colour` adds colour and nothing else.

    No line is wider than `width`, and there are at most `height` lines, unless even the smallest part needs more.
    """
    players = [*roster(players_of(view, names), colour=colour, width=width)]
    signs, room = grid(view), Space(width, height).minus_lines(len(players) + 1)
    size = len(signs), max(map(len, signs), default=0)
    margin = len(str(size[0] - 1)) + 1
    wide = len(str(size[1] - 1)) + 2
    new = changed_places(view, before)
    part = visible_part(size, (Scale(wide, 1, margin, 1),), room, next(iter(sorted(new)), None))
    board = [*_lines(view, signs, part, new, margin, colour=colour), *format_hidden_part(part, size, room)]
    return "\n".join([*board, "", *players]).rstrip("\n")


def grid(view: View[Any]) -> list[str]:
    """The signs of the board, row by row, safe for a terminal."""
    return [printable(row, max(1, len(row))) for row in view.game.rows(view.state.position)]


def changed_places(view: View[Any], before: View[Any] | None) -> set[Place]:
    """The places where the sign has changed."""
    if before is None:
        return set()
    pairs = enumerate(zip(grid(view), grid(before), strict=False))
    return {
        (row, column)
        for row, (now, then) in pairs
        for column, (sign, last) in enumerate(zip(now, then, strict=False))
        if sign != last
    }


def _lines(
    view: View[Any], signs: Sequence[str], part: Part, new: set[Place], margin: int, *, colour: bool
) -> Iterator[str]:
    owners, codes, wide = sign_owners(view), [look.code for look in looks(view)], part.scale.wide - 2
    yield (" " * margin + "".join(f" {column:>{wide}} " for column in part.columns)).rstrip()
    for row in part.rows:
        line = f"{row:>{margin - 1}} "
        for column, sign in enumerate(signs[row]):
            if column in part.columns:
                cell, owner = sign.replace(".", "·"), owners.get(sign)
                if colour and owner is not None:
                    cell = add_colour(cell, codes[owner])
                left, right = "[]" if (row, column) in new else "  "
                if colour and (row, column) in new:
                    left, right = add_colour(left, CHANGED_COLOUR), add_colour(right, CHANGED_COLOUR)
                line += f"{' ' * (wide - 1)}{left}{cell}{right}"
        yield line.rstrip()
