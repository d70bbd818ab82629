"""Say whose fault it was: the exceptions of fairplay.

    FairplayError
    ├── IllegalAction      a player's: the action breaks a rule of the game
    ├── BadRequest         the caller's: an unknown name, an impossible set-up, a bad parameter
    │   └── BadJournal     the file's: unreadable, unfinished, edited or illegal
    ├── NotOnTurn          of whoever looks ahead: it asks for the actions of somebody who is not on turn
    └── HostFault          ours: the match stops, and nobody is punished for it

A fault of a player never travels as an exception beyond its channel: it becomes a `Failed` answer, and
`IllegalAction` becomes an ejection in the referee's judgement.

All of them cross processes. An exception is made again from its `args`, the text, unless `__reduce__` says from what:
whoever takes more than a text has one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class FairplayError(Exception):
    """Whatever fairplay raises on purpose."""


class IllegalAction(FairplayError):
    """An action that breaks a rule; it names the clause of the game's RULES.md."""

    def __init__(self, clause: str, why: str) -> None:
        super().__init__(f"rule {clause}: {why}")
        self.clause = clause
        self.why = why

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.clause, self.why), self.__dict__


class BadRequest(FairplayError):
    """A request that cannot be met, with one line that says what is wrong and where."""


class BadJournal(BadRequest):
    """A journal that does not hold what it should; lines count from 1, and line 0 means the file as a whole."""

    def __init__(self, line: int, why: str, byte: int | None = None) -> None:
        where = f"line {line}" if byte is None else f"line {line} (byte {byte})"
        super().__init__(f"{where}: {why}" if line else why)
        self.line = line
        self.why = why
        self.byte = byte  # where the line begins

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.line, self.why, self.byte), self.__dict__


class NotOnTurn(FairplayError):
    """Somebody's actions were asked for while it is not on turn; None as a seat is the spectator, as a turn the end."""

    def __init__(self, seat: int | None, turn: int | None) -> None:
        whose = "spectators see" if seat is None else f"seat {seat} sees"
        if turn is None:
            now, instead = "the game is over", "game.turn(state) is None when there is nothing left to do"
        else:
            now = f"it is the turn of seat {turn}"
            instead = "to look ahead: state = game.imagine(view), then game.actions(game.view(state, game.turn(state)))"
        super().__init__(f"there are no actions in what {whose}, as {now}; {instead}")
        self.seat = seat
        self.turn = turn

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.seat, self.turn), self.__dict__


class HostFault(FairplayError):
    """Something of ours failed (a disk, a caller's iterator, the rules of a game); no player is to blame."""


@contextmanager
def error_location(where: object, wrong: type[BadRequest] = BadRequest) -> Iterator[None]:
    """Say where it is that something is wrong."""
    try:
        yield
    except wrong as error:
        raise BadRequest(f"{where}: {error}") from None
