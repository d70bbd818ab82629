"""Define the built-in players of any game of the kit: random and lookahead."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from fairplay.core.chance import Dice
from fairplay.core.game import Seat
from fairplay.core.roles import AnyStrategy, BuiltInPlayer, built_in_player, built_in_player_with_number
from fairplay.kit.game import BoardGame, State, View

POSITIONS = range(1, 1_000_001)  # how many may be evaluated in a turn
DEFAULT_POSITIONS = 2000
WIN_VALUE = 10**6  # the value of a win, minus the turns that it takes; in games with points, these are the value


def random_strategy(key: bytes) -> AnyStrategy:
    """Any legal action, each as likely as the others; the same key draws the same in the same position."""

    def choose(view: View[Any]) -> Any:
        options = list(view.game.actions(view))
        return options[position_dice(view, key).below(len(options))]

    return choose


def lookahead(positions: int, key: bytes) -> AnyStrategy:
    """The best action if all others play against the seat, as far ahead as so many positions allow."""

    def choose(view: View[Any]) -> Any:
        options = list(view.game.actions(view))
        shuffle(options, position_dice(view, key))  # so that it is not always the first of equal ones
        return Search(view, positions).best(options)

    return choose


class BudgetExhausted(Exception):
    """No more positions may be evaluated."""


class Search:
    """Looks one turn ahead, then two, and so on, as long as more positions may be evaluated."""

    def __init__(self, view: View[Any], positions: int) -> None:
        self._game: BoardGame[Any, Any] = view.game
        self._state = view.game.imagine(view)
        self._seat: Seat = self._state.order[0]
        self._left = positions
        self._cut = False  # did the depth cut off anything?

    def best(self, options: list[Any]) -> Any:
        """The best option at the last depth that was completed, the first of equal ones."""
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
        """The value of a state, if it is between these bounds; beyond them alpha-beta cuts off."""
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
        """The value by points, or by the winner: a win soon is better than a win late."""
        points = self._game.points(state.position)
        if points is not None:
            return points[self._seat] - max((points[seat] for seat in state.order if seat != self._seat), default=0)
        first = self._game.ranking(state)[0]
        if not over or (self._seat in first and len(first) > 1):
            return 0
        return WIN_VALUE - turns if self._seat in first else turns - WIN_VALUE


def position_dice(view: View[Any], key: bytes) -> Dice:
    """The dice of a seat in a position."""
    return Dice(sha256(key + view.game.pack_text(view)).digest(), 0)


def shuffle(items: list[Any], dice: Dice) -> None:
    """Put the items into a random order."""
    for last in range(len(items) - 1, 0, -1):
        other = dice.below(last + 1)
        items[last], items[other] = items[other], items[last]


BUILT_IN: Mapping[str, BuiltInPlayer] = {
    "random": built_in_player("random", "any legal action, drawn from the seat's own key", random_strategy),
    "lookahead": built_in_player_with_number(
        "lookahead",
        "the best action after evaluating N positions, if all others play against it",
        "evaluates {} positions",
        POSITIONS,
        DEFAULT_POSITIONS,
        lookahead,
    ),
}
