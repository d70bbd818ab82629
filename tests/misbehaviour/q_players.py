"""Define players of Q with less knowledge, and with failures of every kind at every moment."""

from collections.abc import Callable
from itertools import islice
from typing import Any

import msgspec

from fairplay.core.chance import SeededRandom
from fairplay.core.game import Moment
from fairplay.games.q import Action, Exchange, Pass, Place, Placement, View, pieces
from fairplay.games.q.board import position_of
from fairplay.games.q.draft import drafts

MAX_OPTIONS = 12


class HonestPlayer:
    """A player that does not look at tiles of some kinds before so many turns: until then it cannot give them away."""

    def __init__(self, lots: SeededRandom, unseen: frozenset[int] = frozenset(), turns: int = 0) -> None:
        self.lots, self.unseen, self._turns = lots, unseen, turns

    def take_turn(self, view: View) -> Any:
        self._turns -= 1
        return self.choose(view if self._turns < 0 else self.half_blind(view))

    def half_blind(self, view: View) -> View:
        hand = tuple(kind for kind in view.kinds if kind not in self.unseen)
        return msgspec.structs.replace(view, kinds=hand, left=view.left - (len(view.kinds) - len(hand)))

    def choose(self, view: View) -> Action:
        found = [draft.action for draft in islice(drafts(view), MAX_OPTIONS)]
        if found and self.lots.below(12):
            return found[self.lots.below(len(found))]
        return Exchange() if view.left >= len(view.kinds) and self.lots.below(2) else Pass()


class FailingPlayer(HonestPlayer):
    """Fails at the n-th call of a moment, in some way; until then it is honest."""

    def __init__(self, lots: SeededRandom, unseen: frozenset[int], moment: Moment, way: str, after: int) -> None:
        super().__init__(lots, unseen, turns=10**6)
        self._moment, self._way, self._after = moment, way, after

    def start(self, seat: int, names: tuple[str, ...], view: View) -> Any:
        return self._fail(Moment.GREETING, view.kinds)

    def take_turn(self, view: View) -> Any:
        action = super().take_turn(view)
        if self._way in TRICKS and self._is_due(Moment.TURN):
            return TRICKS[self._way](view, self.unseen, self.lots)
        failed = self._fail(Moment.TURN, view.kinds)
        return action if failed is None else failed

    def tell(self, news: Any) -> Any:
        return self._fail(Moment.NEWS, news)

    def end(self, result: Any) -> Any:
        return self._fail(Moment.END, result)

    def _is_due(self, moment: Moment) -> bool:
        self._after -= moment is self._moment
        return moment is self._moment and self._after < 0

    def _fail(self, moment: Moment, secret: Any) -> Any:
        """Blurt out what only this seat may know, in the text of an exception or as an answer."""
        if self._way in TRICKS or not self._is_due(moment):
            return None
        spoken = secret
        if moment is not Moment.END:
            spoken = [pieces.NAMES[kind] if isinstance(kind, int) else kind for kind in secret]
        if self._way == "raises":
            raise ValueError(f"I have {spoken}")
        return {"type": "place", "tiles": spoken}


def hidden_tile(view: View, unseen: frozenset[int]) -> int:
    """A tile of the hand, if possible one that is not used otherwise."""
    return next((kind for kind in view.kinds if kind in unseen), view.kinds[0] if view.kinds else 0)


def place_tile(kind: int, *cells: int) -> Place:
    return Place(tuple(Placement(pieces.NAMES[kind], position_of(cell)) for cell in cells))


def place_unowned(view: View, unseen: frozenset[int], lots: SeededRandom) -> Action:
    kind = lots.below(len(pieces.NAMES))
    while kind in view.kinds or kind in unseen:
        kind = lots.below(len(pieces.NAMES))
    return place_tile(kind, view.map.edge[0])


def place_on_occupied(view: View, unseen: frozenset[int], lots: SeededRandom) -> Action:
    return place_tile(hidden_tile(view, unseen), min(view.map.tiles))


def place_mismatched(view: View, unseen: frozenset[int], lots: SeededRandom) -> Action:
    kind = hidden_tile(view, unseen)
    wrong = sum(1 << other for other in {*unseen, kind})
    cell = next((cell for cell in view.map.edge if not view.map.frontier[cell] & wrong), None)
    return place_on_occupied(view, unseen, lots) if cell is None else place_tile(kind, cell)


TRICKS: dict[str, Callable[[View, frozenset[int], SeededRandom], Any]] = {
    "place_unowned": place_unowned,
    "place_apart": lambda view, unseen, lots: place_tile(hidden_tile(view, unseen), view.map.edge[-1] + 2**40),
    "place_on_occupied": place_on_occupied,
    "place_mismatched": place_mismatched,
    "place_too_many": lambda view, unseen, lots: Place(
        tuple(Placement(pieces.NAMES[kind], (0, place)) for place, kind in enumerate(view.kinds + view.kinds))
    ),
    "place_nothing": lambda view, unseen, lots: Place(()),
    "answer_view": lambda view, unseen, lots: view,
    "answer_partial_action": lambda view, unseen, lots: {
        "type": "place",
        "tiles": [{"tile": pieces.NAMES[kind], "at": "there"} for kind in view.kinds],
    },
}


def bad_player(lots: SeededRandom, unseen: frozenset[int]) -> FailingPlayer:
    """A failing player, with a moment and a way drawn by lot."""
    moment = list(Moment)[lots.below(len(Moment))]
    ways = ["raises", "answers", *(TRICKS if moment is Moment.TURN else ())]
    way = ways[lots.below(len(ways))]
    comes_once = moment in (Moment.GREETING, Moment.END)
    return FailingPlayer(lots, unseen, moment, way, after=0 if comes_once else lots.below(4))
