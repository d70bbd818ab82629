"""Search Tsuro by playouts with random tiles for the tile with the best results.

The tiles to come are unknown, so each playout draws its own: from a bag without the tiles just dealt. All options meet
the same draws, and the worse half of them is dropped again and again (sequential halving). A playout ends after some
rounds; the players left then are evaluated by the room that they have.
"""

from fairplay.core.chance import Dice
from fairplay.games.tsuro.actions import Lay
from fairplay.games.tsuro.board import OUT, Grid, Prospect, prospect
from fairplay.games.tsuro.outlook import territory
from fairplay.games.tsuro.pieces import CODES, TILES
from fairplay.games.tsuro.rules import LAYS
from fairplay.games.tsuro.view import View

ROUNDS = 6  # of a playout, after the current one
FIRST = 1000  # the value of the first place, which players that share it divide
MIN_ROOM = 5  # even a player without room may be lucky


def best_lay(view: View, nodes: int, seed: bytes) -> Lay | None:
    """The legal option with the best results, after so many tiles have been laid in playouts; None: none is legal."""
    table, dealt = view.table, view.dealt
    me, codes = table.waiting[0], [4 * tile + quarters for tile in dealt for quarters in range(4)]
    whats = prospects(table.grid, table.board, table.avatars, me, codes)
    legal = legal_prospects(whats, me)
    options = [
        option for option in legal if CODES[codes[option]] not in {CODES[codes[one]] for one in legal if one < option}
    ]
    if not options:
        return None
    starts = {option: Future(table.grid, table.board, table.avatars) for option in options}
    for option, future in starts.items():
        future.take(whats[option])
    sums = dict.fromkeys(options, 0)
    halvings, halving, number, used = (len(options) - 1).bit_length(), 0, 0, 0
    while len(options) > 1:
        halving += 1
        while True:
            for option in options:
                future = starts[option].copy()
                used += 1 + future.play(me, table.waiting[1:], dealt, Dice(seed, number))
                sums[option] += future.worth(me)
            number += 1
            if used >= nodes * halving // halvings:
                break
        options = sorted(options, key=lambda option: -sums[option])[: len(options) + 1 >> 1]
    return LAYS[dealt[options[0] >> 2]][options[0] & 3]


class Future:
    """A position that is played on."""

    def __init__(self, grid: Grid, board: bytes, avatars: tuple[int, ...], fallen: tuple[int, ...] = ()) -> None:
        self.grid, self.board, self.avatars = grid, board, avatars
        self.fallen = fallen  # the seats that left the board in this round

    def copy(self) -> "Future":
        return Future(self.grid, self.board, self.avatars, self.fallen)

    @property
    def alive(self) -> tuple[int, ...]:
        return tuple(seat for seat, spot in enumerate(self.avatars) if spot != OUT)

    def take(self, what: Prospect) -> None:
        """§4.6, §4.7: lay a tile, or take out the seats that would loop endlessly."""
        before = self.alive
        if not what.looping:
            self.board, self.avatars = what.board, what.avatars
        else:
            self.avatars = tuple(OUT if seat in what.looping else spot for seat, spot in enumerate(self.avatars))
        self.fallen += tuple(seat for seat in before if self.avatars[seat] == OUT)

    def play(self, me: int, waiting: tuple[int, ...], dealt: tuple[int, ...], dice: Dice) -> int:
        """Finish this round and play some more, or until the seat is out; return how many tiles were laid."""
        bag, laid = [tile for tile in range(TILES) if tile not in dealt], 0
        for left in range(ROUNDS, -1, -1):
            for seat in waiting:
                if self.avatars[seat] == OUT:
                    continue
                codes = [
                    4 * tile + quarters
                    for tile in (draw_tile(bag, dice), draw_tile(bag, dice))
                    for quarters in range(4)
                ]
                what = likely_lay(self.grid, self.board, self.avatars, seat, codes)
                if what is None:  # §4.5
                    self.avatars = (*self.avatars[:seat], OUT, *self.avatars[seat + 1 :])
                else:
                    self.take(what)
                laid += 1
            waiting = self.alive
            if len(waiting) <= 1 or self.avatars[me] == OUT or not left:
                break
            self.fallen = ()
        return laid

    def worth(self, me: int) -> int:
        """The share of the first place that a seat has, or can expect by the room of all seats left."""
        alive = self.alive
        if me not in alive:
            return FIRST // len(self.fallen) if not alive and me in self.fallen else 0
        if len(alive) == 1:
            return FIRST
        faced = {seat: self.grid.ahead[self.avatars[seat]] >> 3 for seat in alive}
        rooms = {
            seat: MIN_ROOM
            + territory(self.grid, self.board, faced[seat], [faced[other] for other in alive if other != seat])
            + ways_on(self.grid, self.board, self.avatars[seat])
            for seat in alive
        }
        return FIRST * rooms[me] // sum(rooms.values())


def draw_tile(bag: list[int], dice: Dice) -> int:
    """Draw a tile from the bag, which is filled again when it is empty (§2.3)."""
    if not bag:
        bag += range(TILES)
    place = dice.below(len(bag))
    tile, bag[place] = bag[place], bag[-1]
    bag.pop()
    return tile


def prospects(grid: Grid, board: bytes, avatars: tuple[int, ...], seat: int, codes: list[int]) -> list[Prospect]:
    """The prospects of these tiles on the square before a seat."""
    square = grid.ahead[avatars[seat]] >> 3
    return [prospect(grid.size, board, avatars, square, code) for code in codes]


def legal_prospects(whats: list[Prospect], seat: int) -> list[int]:
    """§4.3, §4.4, §4.5: the indices of the prospects that a seat may choose."""
    fine = [option for option, what in enumerate(whats) if not what.looping and what.avatars[seat] != OUT]
    loops = sum(1 for what in whats if what.looping)
    return fine or (list(range(len(whats))) if loops in (0, len(whats)) else [])


def likely_lay(grid: Grid, board: bytes, avatars: tuple[int, ...], seat: int, codes: list[int]) -> Prospect | None:
    """The action of a seat in a playout: the first of the most promising legal options; None: none is legal."""
    whats = prospects(grid, board, avatars, seat, codes)
    legal = legal_prospects(whats, seat)
    return whats[max(legal, key=lambda option: promise(grid, whats[option], avatars, seat))] if legal else None


def promise(grid: Grid, what: Prospect, before: tuple[int, ...], seat: int) -> int:
    """Two points for each way on and for each rival that leaves the board, and one for each step away from the rim."""
    spot = what.avatars[seat]
    if what.looping or spot == OUT:
        return 0
    x, y = grid.squares[grid.ahead[spot] >> 3]
    gone = sum(1 for old, new in zip(before, what.avatars, strict=True) if old != OUT and new == OUT)
    return 2 * ways_on(grid, what.board, spot) + 2 * gone + min(x, y, grid.size - 1 - x, grid.size - 1 - y)


def ways_on(grid: Grid, board: bytes, spot: int) -> int:
    """How many of the seven ports where the next tile can lead stay on the board."""
    entry = grid.ahead[spot]
    return sum(1 for port in range(8) if port != entry & 7 and grid.follow(board, entry & -8 | port) >= 0)
