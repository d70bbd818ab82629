"""Format, parse and preview actions of Q, as people type them."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.games.q.actions import Action, Exchange, Pass, Place, Placement
from fairplay.games.q.board import cell_at
from fairplay.games.q.pieces import KINDS, NAMES, Position
from fairplay.games.q.view import View

HELP = """\
place ROW,COLUMN TILE   place a tile, as in 0,1 red star, or more, as in
                        0,1 red star 0,2 red circle
exchange                exchange all your tiles
pass                    do nothing
A tile is its colour and shape, or its number in your hand, from 1 at the left.
Words may be abbreviated, and "place" left out: 0,1 r st 0,2 3
Rows and columns are the numbers beside the map."""
POSITION = re.compile(r"(-?\d{1,9}),(-?\d{1,9})", re.ASCII)
MAX_HAND_NUMBER_DIGITS = 9
ACTION_WORDS = ("place", "exchange", "pass")
EXPECTED = "write what to place where, as in 0,1 red star, or exchange, or pass"


def format_action(action: Action) -> str:
    """An action as a person types it.

    >>> format_action(Place((Placement("red star", (0, 1)), Placement("red circle", (0, 2))))), format_action(Pass())
    ('place 0,1 red star 0,2 red circle', 'pass')
    """
    match action:
        case Place(tiles):
            return " ".join(["place", *(f"{one.at[0]},{one.at[1]} {one.tile}" for one in tiles)])
        case Exchange():
            return "exchange"
        case Pass():
            return "pass"


def parse_action(view: View, words: str) -> Action:
    """The action that a person typed. Raises BadRequest if it is unclear."""
    first, *rest = parts = re.sub(r"\s*,\s*", ",", words).lower().split() or [""]
    if first[:1].isalpha():
        verb, parts = complete_name(ACTION_WORDS, first), rest
        if verb != "place":
            if rest:
                raise BadRequest(f"unexpected words after {verb!r}")
            return Exchange() if verb == "exchange" else Pass()
    if not parts or not first:
        raise BadRequest(f"no tile to place; {EXPECTED}")
    tiles = []
    while parts:
        at = parse_position(parts[0])
        count = 2 if parts[1:2] and not is_number(parts[1]) else 1  # words that name the tile
        tiles.append(Placement(parse_tile(view, parts[1 : 1 + count]), at))
        parts = parts[1 + count :]
    return Place(tuple(tiles))


def preview(view: View, action: Action) -> View:
    """What its player would see right after a legal action, before it gets new tiles."""
    if not isinstance(action, Place):
        return view
    placed, hand = [(cell_at(one.at), KINDS[one.tile]) for one in action.tiles], list(view.kinds)
    for _, kind in placed:
        hand.remove(kind)
    return replace(view, map=view.map.with_tiles(placed), kinds=tuple(hand))


def parse_position(word: str) -> Position:
    """The place that a word names."""
    found = POSITION.fullmatch(word)
    if found is None:
        raise BadRequest(f"{word!r} is not a place; {EXPECTED}")
    return int(found[1]), int(found[2])


def parse_tile(view: View, words: Sequence[str]) -> str:
    """The tile that words name: by its number in the hand, or by its colour and its shape."""
    text = " ".join(words)
    if len(words) == 1 and is_number(text):
        if len(text) > MAX_HAND_NUMBER_DIGITS or not 1 <= int(text) <= len(view.kinds):
            raise BadRequest(f"there is no tile {text} in your hand; they are numbered from 1 to {len(view.kinds)}")
        return NAMES[view.kinds[int(text) - 1]]
    if len(words) < 2:
        raise BadRequest(f"{text!r} is not a tile; write a colour and a shape, or its number in your hand")
    held = list(dict.fromkeys(NAMES[kind] for kind in view.kinds))
    return complete_name([tile for tile in held if matches_prefix(tile, words)] or NAMES, text)


def complete_name(known: Sequence[str], typed: str) -> str:
    """The one of these names whose words begin with the typed words. Raises BadRequest if there are none or several."""
    found = [name for name in known if matches_prefix(name, typed.split())]
    if len(found) == 1 or typed in found:
        return typed if typed in found else found[0]
    if found:
        raise BadRequest(f"{typed!r} may be {' or '.join(found)}; write more of it")
    raise BadRequest(f"{typed!r} is unknown; {EXPECTED}")


def matches_prefix(name: str, words: Sequence[str]) -> bool:
    """Does each word of a name begin with the word that was typed for it?"""
    parts = name.split()
    return len(parts) == len(words) and all(part.startswith(word) for part, word in zip(parts, words, strict=True))


def is_number(word: str) -> bool:
    """Is it the number of a tile in a hand?"""
    return word.isascii() and word.isdigit()
