"""Define the exceptions of fairplay; each class says whose fault it was.

    FairplayError
    ├── IllegalAction      the player's: the action breaks a rule of the game
    ├── BadRequest         the caller's: an unknown name, an impossible setup, a bad parameter
    │   └── BadJournal     the file's: unreadable, unfinished, edited or illegal
    ├── NotOnTurn          the caller's: it asks for the actions of a seat that is not on turn
    └── HostFault          the host's: the match stops, and no player is punished

A player's exception never leaves its channel: it becomes a `Failed` answer. The referee turns `IllegalAction` into an
ejection.

All of them can be pickled. A class whose constructor takes more than a text defines `__reduce__`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class FairplayError(Exception):
    """The base class of all exceptions that fairplay raises on purpose."""


class IllegalAction(FairplayError):
    """An action breaks a rule; `clause` is its number in the game's RULES.md."""

    def __init__(self, clause: str, why: str) -> None:
        super().__init__(f"rule {clause}: {why}")
        self.clause = clause
        self.why = why

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.clause, self.why), self.__dict__


class BadRequest(FairplayError):
    """A request cannot be carried out; one line says what is wrong and where."""


class BadJournal(BadRequest):
    """A journal is invalid; lines count from 1, and line 0 is the file as a whole."""

    def __init__(self, line: int, why: str, byte: int | None = None) -> None:
        where = f"line {line}" if byte is None else f"line {line} (byte {byte})"
        super().__init__(f"{where}: {why}" if line else why)
        self.line = line
        self.why = why
        self.byte = byte  # where the line begins

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.line, self.why, self.byte), self.__dict__


class NotOnTurn(FairplayError):
    """The seat whose actions were asked for is not on turn. Seat None: a spectator; turn None: the game is over."""

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
    """The host failed (a disk, a caller's iterator, the rules of a game); no player is to blame."""


@contextmanager
def error_location(where: object, wrong: type[BadRequest] = BadRequest) -> Iterator[None]:
    """Put the location before the message of a BadRequest."""
    try:
        yield
    except wrong as error:
        raise BadRequest(f"{where}: {error}") from None
