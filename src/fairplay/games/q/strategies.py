"""Define the built-in players of Q: random, dag, ldasg, best and foresight."""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from fairplay.core.roles import BuiltInPlayer, Strategy, built_in_player, built_in_player_with_number
from fairplay.games.q.actions import Action, Exchange, Pass, Place, Placement
from fairplay.games.q.board import AROUND, COLUMN, ROW, Map, MutableMap, fitting_kinds, position_of
from fairplay.games.q.draft import Draft, draft_of
from fairplay.games.q.foresight import most_wins
from fairplay.games.q.kernel import best_draft
from fairplay.games.q.lines import mask_of
from fairplay.games.q.pieces import FINISH_BONUS, NAMES, Q_BONUS
from fairplay.games.q.search import DEFAULT_TILE_TRIES
from fairplay.games.q.view import View

Layer = Strategy[View, Action]
# From a map and a hand to a cell and a kind; None: none fits.
Step = Callable[[Map | MutableMap, Iterable[int]], tuple[int, int] | None]

LADDER = ("random", "dag", "best:150", "best:500", "foresight")  # of built-in players, the weakest first

TILES = range(1, DEFAULT_TILE_TRIES + 1)  # tiles that best may try
NODES = range(1, 1001)  # playouts of foresight
DEFAULT_NODES = 200
TRIES = 16  # random tries to find a place where a tile fits; they use most of the 256 bits of a lot


def first_fit(map: Map | MutableMap, hand: Iterable[int]) -> tuple[int, int] | None:
    """The smallest tile that fits anywhere, on its smallest place: a step of dag."""
    frontier = map.frontier
    for kind in sorted(hand):
        wanted = 1 << kind
        for cell in map.edge:
            if frontier[cell] & wanted:
                return cell, kind
    return None


def tightest_fit(map: Map | MutableMap, hand: Iterable[int]) -> tuple[int, int] | None:
    """The smallest tile that fits anywhere, on the smallest place with the most neighbours: a step of ldasg."""
    frontier, tiles = map.frontier, map.tiles
    for kind in sorted(set(hand)):
        wanted, most, best = 1 << kind, 0, 0
        for cell in map.edge:
            if frontier[cell] & wanted:
                near = (
                    (cell - ROW in tiles) + (cell + ROW in tiles) + (cell - COLUMN in tiles) + (cell + COLUMN in tiles)
                )
                if near > most:
                    most, best = near, cell
        if most:
            return best, kind
    return None


def repeat_step(step: Step) -> Layer:
    """Repeat a step as long as the tiles lie in one line; if nothing fits, exchange or pass."""

    def choose(view: View) -> Action:
        found = step(view.map, view.kinds)
        if found is None:
            return exchange_or_pass(view)
        placed: list[Placement] = []
        hand, extended = list(view.kinds), MutableMap(view.map)
        rows, columns = set(), set()
        while found is not None:
            cell, kind = found
            row, column = at = position_of(cell)
            rows.add(row)
            columns.add(column)
            if len(rows) > 1 and len(columns) > 1:
                break
            placed.append(Placement(NAMES[kind], at))
            extended.put(cell, kind)
            hand.remove(kind)
            found = step(extended, hand)
        return Place(tuple(placed))

    return choose


def exchange_or_pass(view: View) -> Action:
    """Exchange if that is legal, else pass."""
    return Exchange() if view.left >= len(view.kinds) else Pass()


STEPS: dict[str, Step] = {"dag": first_fit, "ldasg": tightest_fit}
RECIPES = {name: repeat_step(step) for name, step in STEPS.items()}


def random_strategy(key: bytes) -> Layer:
    """Place a random tile where it fits; then, with probability 1/2, one more in line, and so on.

    The same key draws the same in the same position.
    """

    def choose(view: View) -> Action:
        lot = int.from_bytes(sha256(b"%b%d,%d,%b" % (key, len(view.map.tiles), view.left, bytes(view.kinds))).digest())
        lot, first = draw(lot, view)
        if first is None:
            return exchange_or_pass(view)
        draft = draft_of(view).add(*first)
        while lot & 1 and (more := list(line_ends(draft))):
            lot, pick = divmod(lot >> 1, len(more))
            draft = draft.add(*more[pick])
        return draft.action

    return choose


def draw(lot: int, view: View) -> tuple[int, tuple[int, int] | None]:
    """The rest of a lot, and a random cell with a kind that fits there; None: no tile fits."""
    edge, frontier, kinds = view.map.edge, view.map.frontier, sorted(set(view.kinds))
    for _ in range(TRIES if kinds else 0):  # usually one of them hits, which saves a scan of the frontier
        lot, pick = divmod(lot, len(edge) * len(kinds))
        cell, kind = edge[pick // len(kinds)], kinds[pick % len(kinds)]
        if frontier[cell] >> kind & 1:
            return lot, (cell, kind)
    wanted = mask_of(kinds)
    places = [(cell, fits) for cell in edge if (fits := frontier[cell] & wanted)]
    options = [(cell, kind) for cell, fits in places for kind in kinds if fits >> kind & 1]
    if not options:
        return lot, None
    lot, pick = divmod(lot, len(options))
    return lot, options[pick]


def line_ends(draft: Draft) -> Iterator[tuple[int, int]]:
    """The cells and kinds that can extend the run of the last tile at its ends."""
    map, new, last = draft.view.map, dict(draft.placed), draft.placed[-1][0]
    kinds = sorted(set(draft.hand))
    for step in AROUND:
        cell = last
        while cell in new or cell in map.tiles:
            cell += step
        if draft.is_in_line(position_of(cell)):
            fits = fitting_kinds(map, new, cell)
            yield from ((cell, kind) for kind in kinds if fits >> kind & 1)


def best(view: View, enough: int = DEFAULT_TILE_TRIES) -> Action:
    """The placement that scores the most points now, with the default bonuses."""
    found = best_draft(view, Q_BONUS, FINISH_BONUS, enough)
    return exchange_or_pass(view) if found is None else found.action


def foresight(nodes: int, key: bytes) -> Layer:
    """The action that wins most often in so many playouts; the same key throws the same dice in the same position."""

    def choose(view: View) -> Action:
        return most_wins(view, Q_BONUS, FINISH_BONUS, nodes, key) or best(view)

    return choose


BUILT_IN: dict[str, BuiltInPlayer] = {
    "random": built_in_player("random", "tiles where they fit, drawn from the seat's own key", random_strategy),
    "dag": built_in_player("dag", "the course's dag: the smallest tile on the first place", lambda key: RECIPES["dag"]),
    "ldasg": built_in_player(
        "ldasg", "the course's ldasg: the place with the most neighbours", lambda key: RECIPES["ldasg"]
    ),
    "best": built_in_player_with_number(
        "best",
        "the placement with the most points found by trying N tiles",
        "tries {} tiles",
        TILES,
        DEFAULT_TILE_TRIES,
        lambda enough, key: lambda view: best(view, enough),
    ),
    "foresight": built_in_player_with_number(
        "foresight",
        "the action that wins most often in N playouts",
        "plays {} playouts",
        NODES,
        DEFAULT_NODES,
        foresight,
        is_slow=True,
    ),
}
