"""Format, parse and preview actions of Fish, as people type them."""

import re

from fairplay.core.errors import BadRequest
from fairplay.games.fish.actions import Action, Move, Place
from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import PLACING
from fairplay.games.fish.view import View

HELP = """\
ROW,COLUMN              place a penguin, as in 2,3
ROW,COLUMN ROW,COLUMN   move a penguin from one to the other, as in 2,3 4,4
The row comes first, from the top, then the column. Odd rows are shifted to the
right, so each column has its number twice: above even rows, and above odd."""
POSITION = re.compile(r"(\[)?\s*(\d{1,9})(?:\s*,\s*|\s+)(\d{1,9})\s*(?(1)\])\s*", re.ASCII)
EXPECTED = {True: "where to place a penguin, as in 2,3", False: "from where to where, as in 2,3 4,4"}


def format_action(action: Action) -> str:
    """An action as a person types it.

    >>> format_action(Place((2, 3))), format_action(Move((2, 3), (4, 4)))
    ('2,3', '2,3 4,4')
    """
    positions = (action.at,) if isinstance(action, Place) else (action.start, action.to)
    return " ".join(f"{row},{column}" for row, column in positions)


def parse_action(view: View, words: str) -> Action:
    """The action that a person typed. Raises BadRequest if it is unclear."""
    words, positions, at = words.strip(), [], 0
    while found := POSITION.match(words, at):
        positions.append((int(found[2]), int(found[3])))
        at = found.end()
    expected = f"write {EXPECTED[view.state.stage is PLACING]}"
    if at < len(words):
        raise BadRequest(f"{words[at:]!r} is not a position; {expected}")
    match positions:
        case [place]:
            return Place(place)
        case [start, to]:
            return Move(start, to)
        case _:
            raise BadRequest(f"found {len(positions)} positions; {expected}")


def preview(view: View, action: Action) -> View:
    """What its player would see right after a legal action."""
    return View(view.seat, Fish().apply(view.state, action))
