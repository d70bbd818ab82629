"""Make illegal actions, one for each clause of the rules that an action can break."""

from collections.abc import Mapping

from fairplay.core.roles import Cheat
from fairplay.games.q.actions import Action, Exchange, Place, Placement
from fairplay.games.q.board import position_of
from fairplay.games.q.draft import drafts
from fairplay.games.q.pieces import NAMES
from fairplay.games.q.view import View

FAR = (10**6, -(10**6))


def place_not_adjacent(view: View) -> Action:
    """§3.4: a tile on a place without a neighbour."""
    row = max(position_of(cell)[0] for cell in view.map.tiles) + 2
    return one_tile(view.kinds[0] if view.kinds else 0, (row, 0))


def place_not_owned(view: View) -> Action | None:
    """§3.2: a tile that is not in the hand, on a place where it fits if there is one."""
    others = [kind for kind in range(len(NAMES)) if kind not in view.kinds]
    if not others:
        return None
    edge, frontier = view.map.edge, view.map.frontier
    places = ((kind, cell) for cell in edge for kind in others if frontier[cell] >> kind & 1)
    kind, cell = next(places, (others[0], edge[0]))
    return one_tile(kind, position_of(cell))


def place_out_of_line(view: View) -> Action | None:
    """§3.3: tiles that all fit, the last one beside the line."""
    for draft in drafts(view) if len(view.kinds) > 1 else ():
        extended = draft.map
        for cell in extended.edge:
            if not draft.is_in_line(position_of(cell)):
                for kind in draft.hand:
                    if extended.frontier[cell] >> kind & 1:
                        return draft.add(cell, kind).action
    return None


def exchange_too_many(view: View) -> Action | None:
    """§3.6: an exchange for more tiles than are left."""
    return Exchange() if view.left < len(view.kinds) else None


def place_without_fit(view: View) -> Action | None:
    """§3.5: a tile of the hand where it does not fit."""
    for cell in view.map.edge:
        for kind in view.kinds:
            if not view.map.frontier[cell] >> kind & 1:
                return one_tile(kind, position_of(cell))
    return None


def place_far_away(view: View) -> Action | None:
    """§3.4: a tile far away from all others."""
    return one_tile(view.kinds[0], FAR) if view.kinds else None


def place_nothing(view: View) -> Action:
    """§3.1: a placement without a tile."""
    return Place(())


def place_on_a_tile(view: View) -> Action | None:
    """§3.4: a tile where one lies already."""
    return one_tile(view.kinds[0], position_of(min(view.map.tiles))) if view.kinds else None


def place_a_tile_twice(view: View) -> Action | None:
    """§3.2: a tile that is in the hand once, on two places."""
    for draft in drafts(view):
        [(cell, kind)] = draft.placed
        if view.kinds.count(kind) == 1:
            row, column = position_of(cell)
            name = NAMES[kind]
            return Place((Placement(name, (row, column)), Placement(name, (row, column + 1))))
        break
    return None


def place_half_legally(view: View) -> Action | None:
    """§3.4: a tile that fits, and then one without a neighbour; neither may stay on the map."""
    draft = next(drafts(view), None) if len(view.kinds) > 1 else None
    if draft is None:
        return None
    row, _ = position_of(draft.placed[0][0])
    return Place((*draft.action.tiles, Placement(NAMES[draft.hand[0]], (row, 10**6))))


def one_tile(kind: int, at: tuple[int, int]) -> Place:
    """A placement of a single tile."""
    return Place((Placement(NAMES[kind], at),))


COURSE_CHEATS: Mapping[str, Cheat] = {  # by the names that the course gives them
    "non-adjacent-coordinate": place_not_adjacent,
    "tile-not-owned": place_not_owned,
    "not-a-line": place_out_of_line,
    "bad-ask-for-tiles": exchange_too_many,
    "no-fit": place_without_fit,
}
CHEATS: Mapping[str, Cheat] = {
    "places far away in q": place_far_away,
    "places nothing in q": place_nothing,
    "places on a tile": place_on_a_tile,
    "places a tile twice": place_a_tile_twice,
    "places half well": place_half_legally,
    **{f"cheats: {name}": cheat for name, cheat in COURSE_CHEATS.items()},
}
