"""Build a placement of Q tile by tile, for strategies and for people."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import msgspec

from fairplay.games.q.actions import Place, Placement
from fairplay.games.q.board import COLUMN, ROW, Map, cell_at, fitting_kinds, position_of, score_of
from fairplay.games.q.pieces import ANY, KINDS, NAMES, Position
from fairplay.games.q.state import Tiles
from fairplay.games.q.view import View


class Draft(msgspec.Struct, frozen=True):
    """A placement that is being made; every draft is legal so far."""

    view: View
    placed: tuple[tuple[int, int], ...] = ()  # cells and kinds, in their order
    hand: Tiles = ()  # the tiles that are left in it

    @property
    def map(self) -> Map:
        """The map with the placed tiles."""
        return self.view.map.with_tiles(self.placed)

    @property
    def action(self) -> Place:
        """The placement as an action."""
        return Place(tuple(Placement(NAMES[kind], position_of(cell)) for cell, kind in self.placed))

    def score(self, q_bonus: int, finish_bonus: int) -> int:
        """The points for this placement."""
        points = score_of(self.map, [cell for cell, _ in self.placed], q_bonus)
        return points + (finish_bonus if self.placed and not self.hand else 0)

    def is_in_line(self, at: Position) -> bool:
        """Would a tile there lie in one row or in one column with all placed tiles? (Q §3.3)"""
        row, column = at
        places = [position_of(cell) for cell, _ in self.placed]
        return all(place[0] == row for place in places) or all(place[1] == column for place in places)

    def is_valid(self, tile: str, at: Position) -> bool:
        """May this tile come next, there?"""
        kind, cell, map, new = KINDS[tile], cell_at(at), self.view.map, dict(self.placed)
        if kind not in self.hand or cell in map.tiles or cell in new or not self.is_in_line(at):
            return False
        fits = fitting_kinds(map, new, cell)
        return fits != ANY and fits >> kind & 1 == 1

    def place(self, tile: str, at: Position) -> "Draft":
        """The draft with one more tile, which must be valid."""
        return self.add(cell_at(at), KINDS[tile])

    def add(self, cell: int, kind: int) -> "Draft":
        """The same, by cell and kind."""
        place = self.hand.index(kind)
        return Draft(self.view, (*self.placed, (cell, kind)), self.hand[:place] + self.hand[place + 1 :])


def draft_of(view: View) -> Draft:
    """The draft without a placed tile."""
    return Draft(view, (), view.kinds)


def drafts(view: View) -> Iterator[Draft]:
    """Every legal placement, lazily: those of one tile, then of two, and so on."""
    lines = lines_of(view.map)
    level = [draft_of(view)]
    while level:
        longer = []
        for draft in level:
            for following in extensions(draft, lines):
                yield following
                longer.append(following)
        level = longer


Lines = tuple[Mapping[int, list[int]], Mapping[int, list[int]]]  # the frontier by row, and by column


def lines_of(map: Map) -> Lines:
    """The frontier of a map, by rows and by columns."""
    rows: dict[int, list[int]] = defaultdict(list)
    columns: dict[int, list[int]] = defaultdict(list)
    for cell in map.edge:
        row, column = position_of(cell)
        rows[row].append(cell)
        columns[column].append(cell)
    return rows, columns


def extensions(draft: Draft, lines: Lines) -> Iterator[Draft]:
    """The drafts with one more tile."""
    kinds = sorted(set(draft.hand))
    if not draft.placed:
        frontier = draft.view.map.frontier
        for kind in kinds:
            for cell in draft.view.map.edge:
                if frontier[cell] >> kind & 1:
                    yield draft.add(cell, kind)
        return
    map, new = draft.view.map, dict(draft.placed)
    for cell in free_in_line(draft, lines):
        if cell not in map.tiles and cell not in new:
            fits = fitting_kinds(map, new, cell)
            for kind in kinds:
                if fits >> kind & 1:
                    yield draft.add(cell, kind)


def free_in_line(draft: Draft, lines: Lines) -> list[int]:
    """The places beside a tile in one line with all tiles of a draft; the draft itself may have taken some of them."""
    first, last = draft.placed[0][0], draft.placed[-1][0]
    row, column = position_of(first)
    steps = (ROW, COLUMN) if first == last else (ROW,) if position_of(last)[0] == row else (COLUMN,)
    found: set[int] = set()
    for step in steps:
        found.update(lines[0].get(row, ()) if step == ROW else lines[1].get(column, ()))
        for cell, _ in draft.placed:
            found.update((cell - step, cell + step))
    return sorted(found)
