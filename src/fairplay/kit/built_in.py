"""Play any game of the kit for the server: at random, or looking ahead."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from fairplay.core.chance import Dice
from fairplay.core.game import Seat
from fairplay.core.roles import AnyStrategy, BuiltInPlayer, built_in_player, built_in_player_with_number
from fairplay.kit.game import BoardGame, State, View

POSITIONS = range(1, 1_000_001)  # how many may be weighed in a turn
DEFAULT_POSITIONS = 2000
WIN_VALUE = 10**6  # what a victory is worth, less the turns that it takes; points are worth themselves


def random_strategy(key: bytes) -> AnyStrategy:
    """Any legal action, each as likely as the others; the same key draws the same in the same position."""

    def choose(view: View[Any]) -> Any:
        options = list(view.game.actions(view))
        return options[dice_for(view, key).below(len(options))]

    return choose


def lookahead(positions: int, key: bytes) -> AnyStrategy:
    """The action after which a seat stands best if all others conspire, as far ahead as so many positions reach."""

    def choose(view: View[Any]) -> Any:
        options = list(view.game.actions(view))
        shuffle(options, dice_for(view, key))  # of equal ones, not always the first
        return Search(view, positions).best(options)

    return choose


class BudgetExhausted(Exception):
    """So many positions were weighed."""


class Search:
    """Looks one turn ahead, then two, and so on, as long as there are positions left to weigh."""

    def __init__(self, view: View[Any], positions: int) -> None:
        self._game: BoardGame[Any, Any] = view.game
        self._state = view.game.imagine(view)
        self._seat: Seat = self._state.order[0]
        self._left = positions
        self._cut = False  # was there anything that was not looked into?

    def best(self, options: list[Any]) -> Any:
        """One of the options: the first of the best of the last depth that was reached."""
        depth, best = 0, options[0]
        try:
            while len(options) > 1:
                self._cut = False
                best = self._best_at(depth, [best, *(one for one in options if one != best)])
                depth += 1
                if not self._cut:
                    break
        except BudgetExhausted:
            pass
        return best

    def _best_at(self, depth: int, options: list[Any]) -> Any:
        most, best = float("-inf"), options[0]
        for action in options:
            value = self._value(self._game.apply(self._state, action), depth, 1, most, float("inf"))
            if value > most:
                most, best = value, action
        return best

    def _value(self, state: State[Any], depth: int, turns: int, low: float, high: float) -> float:
        """What a state is worth, if it is between these two; beyond them nobody would let it come to that."""
        self._left -= 1
        if self._left < 0:
            raise BudgetExhausted
        game, seat = self._game, self._game.turn(state)
        if seat is None or depth == 0:
            self._cut = self._cut or seat is not None
            return self._standing(state, turns, over=seat is None)
        value = float("-inf") if seat == self._seat else float("inf")
        for action in game.moves(state.position, seat):
            found = self._value(game.apply(state, action), depth - 1, turns + 1, low, high)
            if seat == self._seat:
                value = max(value, found)
                low = max(low, value)
            else:
                value = min(value, found)
                high = min(high, value)
            if low >= high:
                break
        return value

    def _standing(self, state: State[Any], turns: int, *, over: bool) -> float:
        """How we stand: by points, or by who has won, rather soon than late."""
        points = self._game.points(state.position)
        if points is not None:
            return points[self._seat] - max((points[seat] for seat in state.order if seat != self._seat), default=0)
        first = self._game.ranking(state)[0]
        if not over or (self._seat in first and len(first) > 1):
            return 0
        return WIN_VALUE - turns if self._seat in first else turns - WIN_VALUE


def dice_for(view: View[Any], key: bytes) -> Dice:
    """What a seat draws from in a position."""
    return Dice(sha256(key + view.game.pack_text(view)).digest(), 0)


def shuffle(items: list[Any], dice: Dice) -> None:
    """Put the items into an order drawn from all orders."""
    for last in range(len(items) - 1, 0, -1):
        other = dice.below(last + 1)
        items[last], items[other] = items[other], items[last]


BUILT_IN: Mapping[str, BuiltInPlayer] = {
    "random": built_in_player("random", "any legal action, drawn from the seat's own key", random_strategy),
    "lookahead": built_in_player_with_number(
        "lookahead",
        "stands best after weighing N positions ahead, if all others conspire",
        "weighs {} positions",
        POSITIONS,
        DEFAULT_POSITIONS,
        lookahead,
    ),
}
