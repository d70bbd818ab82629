"""Define a game of the kit with a bug: NEXT lacks some positions until a test fixes it."""

from fairplay.kit import Action, BoardGame

NEXT = {5: 4, 4: 3}
FIXED_NEXT = {**NEXT, 3: 2, 2: 1, 1: 0}


class Count(Action, frozen=True):
    """Say the next number."""


class Countdown(BoardGame[int, Count], frozen=True):
    """Nobody wins, and it is over at nought."""

    name = "countdown"

    def start(self, seats: int) -> int:
        return max(NEXT)

    def moves(self, position: int, seat: int) -> list[Count]:
        return [Count()] if position else []

    def after(self, position: int, seat: int, action: Count) -> int:
        return NEXT[position]

    def rows(self, position: int) -> list[str]:
        return ["." * 5]


def first_count(view: object) -> Count:
    """A player of it, who needs no process to think in."""
    return Count()


PLAYER_ADDRESS = f"in-process:{__name__}:first_count"
GAME_ADDRESS = f"py:{__name__}:Countdown"
EXPECTED_ERROR = f"KeyError(3) in countdown.py, line {Countdown.after.__code__.co_firstlineno + 1}"
