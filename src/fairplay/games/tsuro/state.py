"""Define a position of Tsuro: the public table, and the tiles that only the referee knows."""

from enum import StrEnum

import msgspec

from fairplay.core.enums import immutable
from fairplay.core.errors import HostFault
from fairplay.core.game import Seat
from fairplay.games.tsuro.board import OUT, Grid

STILL_IN = 0  # instead of the round in which a seat fell


@immutable
class Stage(StrEnum):
    """The stage of a game."""

    PLACING = "placing"
    PLAYING = "playing"
    DONE = "done"


PLACING, PLAYING, DONE = Stage  # looked up as `Stage.DONE` each takes as long as two calls


def encode_ejection_round(round: int) -> int:
    """The entry of an ejection in `Table.fell`: a negative number, as rounds count from 0.

    >>> encode_ejection_round(0), encode_ejection_round(3)
    (-1, -4)
    """
    return -1 - round


def tiles_at(stage: Stage) -> int:
    """How many tiles are dealt for a turn at this stage (Tsuro §3.1, §4.1)."""
    return 3 if stage is PLACING else 2


class Table(msgspec.Struct, frozen=True, gc=False):
    """The public part of a position."""

    grid: Grid
    board: bytes
    avatars: tuple[int, ...]  # by seat: the spot, or OUT
    starts: tuple[int, ...]  # by seat: the spot where the avatar was first put, or OUT
    stage: Stage
    round: int  # 0 while tiles are placed
    waiting: tuple[Seat, ...]  # the seats that have yet to act in this round, starting with the one on turn
    fell: tuple[
        int, ...
    ]  # by seat: the round in which it left the board, or STILL_IN, or `encode_ejection_round` a round
    colours: tuple[str, ...]  # by seat

    @property
    def alive(self) -> tuple[Seat, ...]:
        """The seats that are still in, by age."""
        return tuple(seat for seat, fell in enumerate(self.fell) if fell == STILL_IN)

    def survived_to(self, seat: Seat) -> int:
        """The round in which this seat left the board or was ejected, or as long as it is in the round now (§5.4)."""
        fell = self.fell[seat]
        if fell == STILL_IN:
            return self.round
        return fell if fell > 0 else -1 - fell


class State(msgspec.Struct, frozen=True, gc=False):
    """The whole position."""

    table: Table
    source: tuple[int, ...]  # all tiles, in the order in which they are dealt
    drawn: int  # how many of them have been dealt

    @property
    def dealt(self) -> tuple[int, ...]:
        """The tiles for the seat on turn: three to place, two to lay (Tsuro §3.1, §4.1)."""
        count = tiles_at(self.table.stage)
        dealt = self.source[self.drawn : self.drawn + count]
        if len(dealt) < count:
            raise HostFault(f"the tiles have run out after {len(self.source)}: the match cannot go on")
        return dealt


def next_turn(table: Table) -> Table:
    """Begin a new round if no seat is waiting, or end the game if at most one is left (Tsuro §5.1)."""
    if table.waiting:
        return table
    alive = table.alive
    if len(alive) <= 1:
        return msgspec.structs.replace(table, stage=DONE)
    return msgspec.structs.replace(table, stage=PLAYING, round=table.round + 1, waiting=alive)


def apply_falls(table: Table, board: bytes, avatars: tuple[int, ...]) -> Table:
    """End the turn of the seat on turn; seats that lost their avatars fall in this round."""
    fell = table.fell
    waiting = table.waiting[1:]
    if OUT in avatars:
        fell = tuple(
            table.round if avatar < 0 and before == STILL_IN else before
            for avatar, before in zip(avatars, fell, strict=True)
        )
        waiting = tuple(seat for seat in waiting if fell[seat] == STILL_IN)
    return next_turn(
        Table(table.grid, board, avatars, table.starts, table.stage, table.round, waiting, fell, table.colours)
    )
