"""Render a moment of a match for a terminal: the last action, the board, the clocks, and more."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from fairplay.core.game import Seat
from fairplay.core.match import VisibleMatch
from fairplay.render.text import add_colour, printable, truncate, wrap_items

DrawBoard = Callable[..., str]  # (view, names, *, colour, width, height, before) -> the board for a terminal

MAX_CLOCK_NAME_CHARS = 20
MAX_LINES_BELOW = 6  # lines below the clocks
HEADING_STYLE = "1"  # bold


class Scene(NamedTuple):
    """A moment of a match."""

    heading: str  # the last action
    match: VisibleMatch
    before: VisibleMatch | None = None  # one fact earlier
    seat: Seat | None = None  # the seat whose view it is; None: the spectators' view


def render_scene(
    scene: Scene, draw: DrawBoard, used: Mapping[Seat, float], below: Sequence[str], size: os.terminal_size
) -> list[str]:
    """The moment as lines that fit a terminal of this size; `used` is the time that each seat has taken."""
    columns, rows = size
    foot = [*format_clocks(scene.match, used, columns), *(truncate(line, columns) for line in below[-MAX_LINES_BELOW:])]
    board = draw(
        scene.match.view(scene.seat),
        scene.match.names,
        colour=True,
        width=columns,
        height=max(1, rows - 1 - len(foot)),
        before=None if scene.before is None else scene.before.view(scene.seat),
    ).split("\n")
    spare = [""] if 1 + len(board) + len(foot) < rows else []
    return [add_colour(truncate(scene.heading, columns), HEADING_STYLE), *board, *spare, *foot]


def format_clocks(match: VisibleMatch, used: Mapping[Seat, float], width: int) -> list[str]:
    """The seconds that each player has used; an arrow marks the player on turn."""
    clocks = [
        f"{'→' if seat == match.turn else ' '}{printable(name, MAX_CLOCK_NAME_CHARS)} {used.get(seat, 0.0):.1f} s"
        for seat, name in enumerate(match.names)
    ]
    return wrap_items(clocks, width, " ")
