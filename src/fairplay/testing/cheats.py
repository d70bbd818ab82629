"""Think of illegal actions, one for each clause of each game's rules that an action can break."""

from collections.abc import Callable, Iterator
from typing import Any

from fairplay.core.roles import Strategy
from fairplay.games.fish import actions as fish
from fairplay.games.fish.board import cells
from fairplay.games.fish.state import PLACING as FISH_PLACING
from fairplay.games.fish.state import View as FishView
from fairplay.games.q import actions as q
from fairplay.games.q.board import position_of
from fairplay.games.q.draft import drafts
from fairplay.games.q.pieces import NAMES
from fairplay.games.q.state import View as QView
from fairplay.games.tsuro import actions as tsuro
from fairplay.games.tsuro.board import OUT
from fairplay.games.tsuro.pieces import PORTS, TILES
from fairplay.games.tsuro.rules import FINE, LOOP, SUICIDE, Kind, is_free, kind_of, options_of
from fairplay.games.tsuro.state import PLACING as TSURO_PLACING
from fairplay.games.tsuro.state import View as TsuroView

AnyStrategy = Strategy[Any, Any]
Cheat = Callable[[Any], Any]  # from a view to an illegal action; None: the cheat is impossible now

FAR = (10**6, -(10**6))


def cheater(cheat: Cheat, strategy: AnyStrategy) -> AnyStrategy:
    """The strategy with a cheat before it."""
    return lambda view: cheat(view) or strategy(view)


# Fish.


def off_the_board(view: FishView) -> fish.Action | None:
    """§3.2: a penguin where no board is."""
    return fish.Place(FAR) if view.state.stage is FISH_PLACING and view.state.free else None


def on_a_penguin(view: FishView) -> fish.Action | None:
    """§3.3: a penguin where another one stands."""
    state = view.state
    taken = [cell for penguins in state.penguins for cell in penguins]
    if state.stage is not FISH_PLACING or not taken or not state.free:
        return None
    return fish.Place(state.grid.positions[taken[0]])


def too_soon(view: FishView) -> fish.Action | None:
    """§3.4: a move before all penguins are placed."""
    state = view.state
    placing = state.stage is FISH_PLACING and state.free
    return fish.Move(state.grid.positions[0], state.grid.positions[-1]) if placing else None


def with_anothers(view: FishView) -> fish.Action | None:
    """§4.1: a move that would be fine for somebody else."""
    state = view.state
    if state.stage is FISH_PLACING:
        return None
    others = (cell for seat, penguins in enumerate(state.penguins) if seat != view.seat for cell in penguins)
    return next(state.grid.moves(others, state.free), None)


def bent(view: FishView) -> fish.Action | None:
    """§4.2: a move to a free tile that is on no line."""
    path = view.state.grid.path
    return next((move for start, to, move in leaps(view) if not path(start, to) and view.state.free >> to & 1), None)


def staying(view: FishView) -> fish.Action | None:
    """§4.2: a move to where the penguin stands."""
    return next((move for start, to, move in leaps(view) if start == to), None)


def through_a_penguin(view: FishView) -> fish.Action | None:
    """§4.3: a move over a penguin to a free tile."""
    return next((move for move, blocks in jumps(view) if any(map(view.state.fish_at, blocks))), None)


def through_a_hole(view: FishView) -> fish.Action | None:
    """§4.3: a move over a hole to a free tile."""
    return next((move for move, blocks in jumps(view) if not all(map(view.state.fish_at, blocks))), None)


def into_a_hole(view: FishView) -> fish.Action | None:
    """§4.3: a move that ends where no tile is."""
    path, fish_at = view.state.grid.path, view.state.fish_at
    return next((move for start, to, move in leaps(view) if path(start, to) and not fish_at(to)), None)


def too_late(view: FishView) -> fish.Action | None:
    """§4.5: one more penguin, when all are placed."""
    state = view.state
    return None if state.stage is FISH_PLACING else next(state.grid.places(state.free), None)


def leaps(view: FishView) -> Iterator[tuple[int, int, fish.Move]]:
    """Every pair of a penguin of this seat and a cell, as a move."""
    state, places = view.state, view.state.grid.positions
    if view.seat is not None and state.stage is not FISH_PLACING:
        for start in state.penguins[view.seat]:
            yield from ((start, to, fish.Move(places[start], places[to])) for to in range(len(places)))


def jumps(view: FishView) -> Iterator[tuple[fish.Move, list[int]]]:
    """Moves along a line to a free tile, and the cells on the way that are not free."""
    state = view.state
    for start, to, move in leaps(view):
        blocked = state.grid.path(start, to) & ~state.free
        if blocked and state.free >> to & 1:
            yield move, list(cells(blocked))


# Tsuro.


def off_the_rim(view: TsuroView) -> tsuro.Action | None:
    """§3.3: the first tile where no board is."""
    return tsuro.Place(view.dealt[0], 0, "A", FAR) if fine_place(view) else None


def laid_first(view: TsuroView) -> tsuro.Action | None:
    """§3.1: the first tile without an avatar."""
    return tsuro.Lay(view.dealt[0], 0) if placing(view) else None


def placed_undealt(view: TsuroView) -> tsuro.Action | None:
    """§3.2: a first tile that was not dealt, where it would be fine."""
    found = fine_place(view)
    return None if found is None else tsuro.Place(undealt(view), found.degrees, found.port, found.at)


def inside(view: TsuroView) -> tsuro.Action | None:
    """§3.3: the first tile in the middle of the board."""
    return tsuro.Place(view.dealt[0], 0, "C", (1, 1)) if fine_place(view) else None


def beside_a_tile(view: TsuroView) -> tsuro.Action | None:
    """§3.3: the first tile on a square of the rim that is taken, or beside one."""
    grid = view.table.grid
    taken = next((square for square in grid.rim if not is_free(view, square)), None)
    if taken is None or not fine_place(view):
        return None
    port = next(port for port in PORTS if grid.ahead[8 * taken + PORTS.index(port)] != OUT)
    return tsuro.Place(view.dealt[0], 0, port, grid.squares[taken])  # type: ignore[arg-type]  # a letter of PORTS


def facing_outside(view: TsuroView) -> tsuro.Action | None:
    """§3.4: the avatar on a port at the rim."""
    found, grid = fine_place(view), view.table.grid
    if found is None:
        return None
    square = grid.square(found.at) or 0
    port = next(port for port in PORTS if grid.ahead[8 * square + PORTS.index(port)] == OUT)
    return tsuro.Place(found.tile, 0, port, found.at)  # type: ignore[arg-type]  # a letter of PORTS


def placed_again(view: TsuroView) -> tsuro.Action | None:
    """§4.1: one more first tile."""
    return None if placing(view) else tsuro.Place(view.dealt[0], 0, "C", (0, 0))


def laid_undealt(view: TsuroView) -> tsuro.Action | None:
    """§4.2: a tile that was not dealt."""
    return None if placing(view) else tsuro.Lay(undealt(view), 0)


def looping(view: TsuroView) -> tsuro.Action | None:
    """§4.3: a tile that sends somebody round for ever, where there is another choice."""
    return option_of(view, LOOP)


def suicide(view: TsuroView) -> tsuro.Action | None:
    """§4.4: a tile that drives the player off the board, where there is another choice."""
    return option_of(view, SUICIDE)


def placing(view: TsuroView) -> bool:
    """Is it the first tile that is asked for?"""
    return view.table.stage is TSURO_PLACING


def fine_place(view: TsuroView) -> tsuro.Place | None:
    """A first placement that is legal."""
    free = (square for square in view.table.grid.rim if placing(view) and is_free(view, square))
    grid = view.table.grid
    for square in free:
        port = next(port for port in PORTS if grid.ahead[8 * square + PORTS.index(port)] != OUT)
        return tsuro.Place(view.dealt[0], 0, port, grid.squares[square])  # type: ignore[arg-type]  # a letter of PORTS
    return None


def undealt(view: TsuroView) -> int:
    """A tile that was not dealt."""
    return next(tile for tile in range(TILES) if tile not in view.dealt)


def option_of(view: TsuroView, kind: Kind) -> tsuro.Lay | None:
    """A way to lay a dealt tile that amounts to this, where another way is fine."""
    if placing(view):
        return None
    kinds = {option: kind_of(view, option) for option in options_of(view.dealt)}
    return next((option for option, is_ in kinds.items() if is_ is kind), None) if FINE in kinds.values() else None


# Q; the first five are the cheats of the course.


def not_adjacent(view: QView) -> q.Action:
    """§3.4: a tile where no other is near."""
    row = max(position_of(cell)[0] for cell in view.map.tiles) + 2
    return one_tile(view.hand[0] if view.hand else 0, (row, 0))


def not_owned(view: QView) -> q.Action | None:
    """§3.2: a tile that is not in the hand, where it fits if it does anywhere."""
    others = [kind for kind in range(len(NAMES)) if kind not in view.hand]
    if not others:
        return None
    edge, frontier = view.map.edge, view.map.frontier
    places = ((kind, cell) for cell in edge for kind in others if frontier[cell] >> kind & 1)
    kind, cell = next(places, (others[0], edge[0]))
    return one_tile(kind, position_of(cell))


def not_a_line(view: QView) -> q.Action | None:
    """§3.3: tiles that all fit, the last one beside the line."""
    for draft in drafts(view) if len(view.hand) > 1 else ():
        extended = draft.map
        for cell in extended.edge:
            if not draft.is_in_line(position_of(cell)):
                for kind in draft.hand:
                    if extended.frontier[cell] >> kind & 1:
                        return draft.plus(cell, kind).action
    return None


def bad_exchange(view: QView) -> q.Action | None:
    """§3.6: an exchange for more tiles than are left."""
    return q.Exchange() if view.left < len(view.hand) else None


def no_fit(view: QView) -> q.Action | None:
    """§3.5: a tile of the hand where it does not fit."""
    for cell in view.map.edge:
        for kind in view.hand:
            if not view.map.frontier[cell] >> kind & 1:
                return one_tile(kind, position_of(cell))
    return None


def off_the_map(view: QView) -> q.Action | None:
    """§3.4: a tile far away from all others."""
    return one_tile(view.hand[0], FAR) if view.hand else None


def nothing(view: QView) -> q.Action:
    """§3.1: a placement without a tile."""
    return q.Place(())


def on_a_tile(view: QView) -> q.Action | None:
    """§3.4: a tile where one lies already."""
    return one_tile(view.hand[0], position_of(min(view.map.tiles))) if view.hand else None


def twice(view: QView) -> q.Action | None:
    """§3.2: a tile that is in the hand once, on both sides of another."""
    for draft in drafts(view):
        [(cell, kind)] = draft.placed
        if view.hand.count(kind) == 1:
            row, column = position_of(cell)
            name = NAMES[kind]
            return q.Place((q.Placement(name, (row, column)), q.Placement(name, (row, column + 1))))
        break
    return None


def half_good(view: QView) -> q.Action | None:
    """§3.4: a tile that fits, and then one that lies nowhere; nothing of it may stay on the map."""
    draft = next(drafts(view), None) if len(view.hand) > 1 else None
    if draft is None:
        return None
    row, _ = position_of(draft.placed[0][0])
    return q.Place((*draft.action.tiles, q.Placement(NAMES[draft.hand[0]], (row, 10**6))))


def one_tile(kind: int, at: tuple[int, int]) -> q.Place:
    """A placement of a single tile."""
    return q.Place((q.Placement(NAMES[kind], at),))


Q_CHEATS: dict[str, Cheat] = {  # by their names in the course
    "non-adjacent-coordinate": not_adjacent,
    "tile-not-owned": not_owned,
    "not-a-line": not_a_line,
    "bad-ask-for-tiles": bad_exchange,
    "no-fit": no_fit,
}
CHEATS: dict[str, dict[str, Cheat]] = {  # by game, and by their names on the shelf
    "fish": {
        "places far away in fish": off_the_board,
        "places on a penguin": on_a_penguin,
        "moves too soon": too_soon,
        "moves another's penguin": with_anothers,
        "moves off the lines": bent,
        "moves nowhere": staying,
        "moves through a penguin": through_a_penguin,
        "moves through a hole": through_a_hole,
        "moves into a hole": into_a_hole,
        "places too late": too_late,
    },
    "tsuro": {
        "places far away in tsuro": off_the_rim,
        "lays the first tile": laid_first,
        "places a tile not dealt": placed_undealt,
        "places inside": inside,
        "places beside a tile": beside_a_tile,
        "faces outside": facing_outside,
        "places again": placed_again,
        "lays a tile not dealt": laid_undealt,
        "sends somebody round": looping,
        "drives itself off": suicide,
    },
    "q": {
        "places far away in q": off_the_map,
        "places nothing in q": nothing,
        "places on a tile": on_a_tile,
        "places a tile twice": twice,
        "places half well": half_good,
        **{f"cheats: {name}": cheat for name, cheat in Q_CHEATS.items()},
    },
}


def clause_of(cheat: Cheat) -> str:
    """The clause that a cheat breaks, as its own first line has it.

    >>> clause_of(no_fit)
    '3.5'
    """
    return (cheat.__doc__ or "").partition(":")[0].lstrip("§")


def about(cheat: Cheat) -> str:
    """What a cheat does, without the clause.

    >>> about(no_fit)
    'a tile of the hand where it does not fit'
    """
    return (cheat.__doc__ or "").partition(": ")[2].rstrip(".")
