"""Find the placement of Q that scores the most points.

All tiles of a placement lie in one line. Each line has an upper bound of its points; lines are searched from the
highest bound down, until a bound is no better than the best placement found.

A line is swept once from its first free cell to its last, keeping for each situation the best way to it. What a
situation contains follows from Q §3.4 and §3.5. In a block of new tiles side by side
- neighbours share a shape or a colour, for the later one had to fit beside the earlier;
- with old tiles at both ends, one new tile came last, and shares the same trait with both of its neighbours;
- with old tiles at neither end, some new tile has a neighbour across the line, from which the block could grow.
Every block with these properties can be placed tile by tile, in some order.

Hands of six tiles are nearly always searched completely. If so many tiles fit beside each other that this would take
long, the search stops early with a good placement instead of the best; or with none, if it may try only few.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import nlargest
from typing import TypeVar

from fairplay.games.q.board import TRAITS, is_complete, position_of
from fairplay.games.q.draft import Draft, draft_of
from fairplay.games.q.lines import Q_LENGTH, Geometry, Lane, could_be_q
from fairplay.games.q.pieces import NAMES, NONE, colour_of, shape_of
from fairplay.games.q.state import Tiles
from fairplay.games.q.view import View

DEFAULT_TILE_TRIES = 8_000  # tiles tried in a search
WIDTH = 64  # situations pursued at a cell
MAX_HAND_TILES = 8  # of a hand that are considered; given positions may have hands of any size
TOO_LONG = Q_LENGTH + 1  # in place of the length of a run that cannot become a Q

# What two kinds share, as a mask: 1 the shape, 2 the colour. NONE shares nothing.
SHARED = (
    *(
        tuple((shape_of(one) == shape_of(other)) + 2 * (colour_of(one) == colour_of(other)) for other in range(NONE))
        for one in range(NONE)
    ),
    (0,) * NONE,
)

Trail = tuple[int, int, "Trail"] | None  # the cell and the kind of the last tile, and what was placed before it
Way = tuple[int, Trail]  # the points so far, and how
K = TypeVar("K")

# A run of tiles up to a free cell: the used tiles of the hand; the kind before the cell; what that one, if it is new,
# shares with the one before it; may the block end at an old tile; may it end at the cell; the length and the traits.
Situation = tuple[int, int, int, bool, bool, int, int]


def best_draft(view: View, q_bonus: int, finish_bonus: int, enough: int = DEFAULT_TILE_TRIES) -> Draft | None:
    """The placement with the most points; None: no tile fits anywhere."""
    hand = considered_tiles(view)
    search = Search(Geometry(view.map, hand, q_bonus, finish_bonus if hand == view.kinds else 0), enough)
    for line in search.geometry.lines():
        if line.bound <= search.most or search.tried > enough:
            break
        Sweep(search, line).run()
    return place_in_order(draft_of(view), search.placed) if search.placed else None


def considered_tiles(view: View) -> Tiles:
    """The hand, or of a large one some tiles that fit somewhere."""
    if len(view.kinds) <= MAX_HAND_TILES:
        return view.kinds
    fits = 0
    for mask in view.map.frontier.values():
        fits |= mask
    return tuple(sorted(view.kinds, key=lambda kind: not fits >> kind & 1)[:MAX_HAND_TILES])


def place_in_order(draft: Draft, rest: dict[int, int]) -> Draft | None:
    """The draft with these tiles, by cell, in an order in which each of them fits; None: there is no such order."""
    if not rest:
        return draft
    for cell, kind in rest.items():
        if draft.is_valid(NAMES[kind], position_of(cell)):
            others = {other: rest[other] for other in rest if other != cell}
            if (whole := place_in_order(draft.add(cell, kind), others)) is not None:
                return whole
    return None


class Search:
    """The best placement so far, and how many tiles were tried."""

    __slots__ = ("_left", "enough", "geometry", "most", "placed", "tried")

    def __init__(self, geometry: Geometry, enough: int) -> None:
        self.geometry = geometry
        self.enough = enough  # tiles to try
        self.most = 0  # points
        self.placed: dict[int, int] = {}  # the kinds by their cells
        self.tried = 0
        self._left: dict[int, dict[int, int]] = {}

    def tiles_left(self, used: int) -> dict[int, int]:
        """The kinds that are left in the hand, each with the used tiles after it is used, too."""
        if used not in self._left:
            hand = enumerate(self.geometry.hand)
            self._left[used] = {kind: used | 1 << place for place, kind in hand if not used >> place & 1}
        return self._left[used]

    def keep_best(self, used: int, points: int, trail: Trail) -> None:
        """Keep a placement if it is the best so far."""
        if used.bit_count() == len(self.geometry.hand):
            points += self.geometry.finish_bonus
        if points > self.most:
            self.most, self.placed = points, {}
            while trail is not None:
                cell, kind, trail = trail
                self.placed[cell] = kind


class Sweep:
    """The way through a line, from cell to cell."""

    __slots__ = ("_active", "_bounds", "_idle", "_search", "_spots", "_step", "_tiles")

    def __init__(self, search: Search, line: Lane) -> None:
        geometry = search.geometry
        self._search = search
        self._tiles, self._step = geometry.map.tiles, line.step
        self._spots = geometry.open_spots(line)
        self._bounds = geometry.bound_behind(line, self._spots)
        self._idle: dict[int, Way] = {0: (0, None)}  # where no run goes on, by what is used of the hand
        self._active: dict[int, dict[Situation, Way]] = defaultdict(dict)  # the runs that have come to a cell

    def run(self) -> None:
        """Look for the best placement."""
        search = self._search
        kinds = sorted(set(search.geometry.hand))
        for cell in sorted(self._spots):
            if not self._idle and not self._active:  # nothing can be better than what was found
                break
            fits, bounds = self._spots[cell].fits, self._bounds[cell]
            here = [kind for kind in kinds if fits >> kind & 1] if search.tried < search.enough else []
            ended: dict[int, Way] = {}
            for situation, way in best_of(self._active.pop(cell, {}).items()):
                self._place(cell, here, situation, way, ended)
                self._end(situation, way, ended)
            for situation, way in self._start_run(cell):
                self._place(cell, here, situation, way, ended)
            for used, way in ended.items():
                if used not in self._idle or self._idle[used][0] < way[0]:
                    self._idle[used] = way
            self._idle = dict(
                best_of([item for item in self._idle.items() if item[1][0] + bounds[item[0].bit_count()] > search.most])
            )

    def _start_run(self, cell: int) -> Iterator[tuple[Situation, Way]]:
        """The situations in which a run begins at a cell."""
        spot = self._spots[cell]
        last = self._tiles[cell - self._step] if spot.before else NONE
        part = q_part(spot.before, spot.before_traits)
        for used, (points, trail) in self._idle.items():
            yield (used, last, 0, not spot.before, spot.before > 0, *part), (points + spot.before, trail)

    def _place(self, cell: int, kinds: list[int], situation: Situation, way: Way, ended: dict[int, Way]) -> None:
        """Try each of these kinds on a cell."""
        search, spot, tiles, bounds = self._search, self._spots[cell], self._tiles, self._bounds[cell]
        used, last, shared, meets, stops, length, traits = situation
        q_bonus, left = search.geometry.q_bonus, search.tiles_left(used)
        target = cell + self._step * (spot.after + 1)
        for kind in kinds:
            sharing = SHARED[last][kind]
            if kind not in left or (last != NONE and not sharing):
                continue
            search.tried += 1
            now = left[kind]
            points = way[0] + spot.gain(kind, q_bonus)
            closed = meets or shared & sharing != 0
            if spot.after:
                if not closed and not sharing & SHARED[kind][tiles[cell + self._step]]:
                    continue
                part = q_part(length + 1 + spot.after, traits | TRAITS[kind] | spot.after_traits)
                then = (now, tiles[target - self._step], 0, False, True, *part)
            else:
                part = q_part(length + 1, traits | TRAITS[kind])
                then = (now, kind, 0 if closed else sharing, closed, stops or spot.across > 0, *part)
            bonus = 0 if part[0] == TOO_LONG else q_bonus
            if points + bonus + bounds[now.bit_count()] <= search.most:
                continue
            further: Way = (points, (cell, kind, way[1]))
            if target not in self._spots:
                self._end(then, further, ended)
            elif then not in (ways := self._active[target]) or ways[then][0] < points:
                ways[then] = further

    def _end(self, situation: Situation, way: Way, ended: dict[int, Way]) -> None:
        """A run ends, if it may. A single tile is none (Q §4.2), and it can be a Q (Q §4.3)."""
        used, _, _, _, stops, length, traits = situation
        is_q = length == Q_LENGTH and is_complete(traits)
        points = way[0] - (length == 1) + (self._search.geometry.q_bonus if is_q else 0)
        if stops and (used not in ended or ended[used][0] < points):
            ended[used] = points, way[1]
            self._search.keep_best(used, points, way[1])


def q_part(length: int, traits: int) -> tuple[int, int]:
    """The length and the traits of a run, as long as it can become a Q."""
    return (length, traits) if length <= Q_LENGTH and could_be_q(length, traits) else (TOO_LONG, 0)


def best_of(ways: Iterable[tuple[K, Way]]) -> list[tuple[K, Way]]:
    """The ways with the most points, if there are too many."""
    every = list(ways)
    return every if len(every) <= WIDTH else nlargest(WIDTH, every, key=lambda item: item[1][0])
