"""Implement the rules of Tsuro; § cites a clause of RULES.md."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from fairplay.core.chance import SeededRandom
from fairplay.core.errors import BadRequest, HostFault, IllegalAction, NotOnTurn
from fairplay.core.game import Game, Moment, Ranking, Seat, check_seat
from fairplay.games.tsuro import codec
from fairplay.games.tsuro.actions import Action, Lay, Place
from fairplay.games.tsuro.board import BYTES, EMPTY, OUT, grid
from fairplay.games.tsuro.imagine import tiles_from_bag, tiles_from_cycle
from fairplay.games.tsuro.pieces import COLOURS, PORTS, TILES, Tile, code_of
from fairplay.games.tsuro.rules import STANDARD, Rules, prospect_of
from fairplay.games.tsuro.state import (
    PLACING,
    STILL_IN,
    State,
    Table,
    apply_falls,
    encode_ejection_round,
    next_turn,
    tiles_at,
)
from fairplay.games.tsuro.view import View

Size = Annotated[int, Meta(ge=3, le=30)]
Source = Literal["bag", "cycle"] | tuple[Tile, ...]
GIVEN = "given"  # what players are told instead of a list of tiles from the host


class Tsuro(Game[State, View, Action], frozen=True, forbid_unknown_fields=True):
    """Lay tiles to extend paths, and stay on the board longest."""

    name: ClassVar[str] = "tsuro"
    version: ClassVar[str] = "1"
    seats: ClassVar[range] = range(3, 6)
    youngest_first: ClassVar[bool] = False
    action: ClassVar[Any] = Action

    size: Annotated[Size, Meta(description="of the board, 3 to 30 squares a side")] = 10
    tiles: Annotated[Source, Meta(description="a shuffled bag, or the endless cycle from 0 to 34")] = "bag"
    rules: Rules = STANDARD

    @classmethod
    def with_tiles(cls, tiles: Iterable[int], seats: int, *, size: int = 10, rules: Rules = STANDARD) -> "Tsuro":
        """A game with the tiles of the caller's iterator, of which as many are drawn as a match can need.

        >>> Tsuro.with_tiles(iter([3, 1, 4]), seats=3).tiles
        (3, 1, 4)
        """
        drawn = tuple(islice(tiles, max_tiles(size, seats)))
        for tile in drawn:
            if type(tile) is not int or not 0 <= tile < TILES:
                raise BadRequest(f"there is no tile {tile!r}; tiles are numbered from 0 to {TILES - 1}")
        return cls(size, drawn, rules)

    def parameters(self) -> dict[str, Any]:
        """The parameters, with a variant's rules by the name by which they can be imported."""
        kind = type(self.rules)
        rules = "standard" if kind is Rules else f"py:{kind.__module__}:{kind.__qualname__}"
        return {
            "size": self.size,
            "tiles": self.tiles if isinstance(self.tiles, str) else list(self.tiles),
            "rules": rules,
        }

    @property
    def hidden(self) -> str:
        """The tiles in the bag; everything else follows from what all players see."""
        return "all tiles to come" if self.tiles == "bag" else ""

    def public_parameters(self) -> dict[str, Any]:
        """The parameters without the tiles to come."""
        return {**self.parameters(), **({} if isinstance(self.tiles, str) else {"tiles": GIVEN})}

    @classmethod
    def with_public_parameters(cls, parameters: Mapping[str, Any]) -> "Tsuro":
        """The game for players, which need not know where the tiles come from."""
        known = {key: value for key, value in parameters.items() if (key, value) != ("tiles", GIVEN)}
        return cls.with_parameters(known)

    @classmethod
    def with_parameters(cls, parameters: Mapping[str, Any]) -> "Tsuro":
        """The game with these parameters; the rules of a variant are not imported, but must be passed as a value."""
        rules = parameters.get("rules", "standard")
        if rules != "standard":
            raise BadRequest(f"the rules {rules!r} of tsuro are not imported: pass Tsuro(rules=...)")
        return super().with_parameters({key: value for key, value in parameters.items() if key != "rules"})

    def deal(self, seats: int, seed: bytes) -> State:
        """§1.1, §2.1, §2.3: an empty board, and all tiles that a match can need, in their order."""
        if seats > 2 * (self.size - 1):  # §3.3: at best every other square of the rim is usable
            raise BadRequest(f"a board of {self.size} x {self.size} is too small for {seats} players")
        count = max_tiles(self.size, seats)
        match self.tiles:
            case "bag":
                lots, tiles = SeededRandom(seed), list[int]()
                while len(tiles) < count:
                    tiles += lots.sample(TILES, TILES)
                source = tuple(tiles)
            case "cycle":
                source = tuple(number % TILES for number in range(count))
            case tuple() as source:
                pass
        nowhere = (OUT,) * seats
        board = BYTES[EMPTY] * self.size**2
        waiting = tuple(range(seats))
        table = Table(
            grid(self.size), board, nowhere, nowhere, PLACING, 0, waiting, (STILL_IN,) * seats, COLOURS[:seats]
        )
        return State(table, source, 0)

    def turn(self, state: State) -> Seat | None:
        """§2.2, §5.1: the first seat that has yet to act in this round."""
        waiting = state.table.waiting
        return waiting[0] if waiting else None

    def order(self, state: State) -> tuple[Seat, ...]:
        """§2.2: the seats that have yet to act in this round, then those that have acted."""
        waiting = state.table.waiting
        return (*waiting, *(seat for seat in state.table.alive if seat not in waiting))

    def view(self, state: State, seat: Seat | None) -> View:
        """§2.4: the table, and for the seat on turn the tiles dealt to it."""
        waiting = state.table.waiting
        return View(seat, state.table, state.dealt if waiting and waiting[0] == seat else ())

    def actions(self, view: View) -> Iterator[Action]:
        """§3 and §4, as the rule checker lists them."""
        if not view.dealt:
            raise NotOnTurn(view.seat, view.turn)
        return self.rules.places(view) if view.table.stage is PLACING else iter(self.rules.lays(view))

    def imagine(self, view: View, seed: bytes = b"") -> State:
        """§2.4: the table, with possible tiles to come."""
        count = max_tiles(self.size, len(view.table.fell))
        tiles = tiles_from_cycle(view, count) if self.tiles == "cycle" else tiles_from_bag(view, count, seed)
        return State(view.table, tiles, 0)

    def check(self, view: View, action: Action) -> None:
        """§2.2, §3 and §4: ask the rule checker."""
        if not view.dealt:
            raise IllegalAction("2.2", "it is not your turn")
        placing = view.table.stage is PLACING
        if isinstance(action, Lay):
            if placing:
                raise IllegalAction("3.1", "the first tile must be placed with an avatar on it")
            check_lay: Callable[[View, Lay], object] = self.rules.check_lay  # of a variant, which may return anything
            verdict = check_lay(view, action)
        else:
            if not placing:
                raise IllegalAction("4.1", "after the first tile, a tile is laid on the square that the avatar faces")
            check_place: Callable[[View, Place], object] = self.rules.check_place
            verdict = check_place(view, action)
        if verdict is not None:
            raise HostFault(f"a rule checker returned {verdict!r:.40}: it must return None or raise IllegalAction")

    def apply(self, state: State, action: Action) -> State:
        """§3.5, §4.6, §4.7: carry out the action; the dealt tiles are used up in any case."""
        table = state.table
        if not isinstance(action, Lay):
            return State(next_turn(place_tile(table, action)), state.source, state.drawn + 3)
        what, drawn = prospect_of(View(None, table, ()), action), state.drawn + 2
        if not what.looping:
            return State(apply_falls(table, what.board, what.avatars), state.source, drawn)
        stay = tuple(OUT if seat in what.looping else spot for seat, spot in enumerate(table.avatars))
        return State(apply_falls(table, table.board, stay), state.source, drawn)

    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        """§6: the avatar goes, its tiles stay; on its turn the dealt tiles are used up."""
        table = state.table
        check_seat(seat, len(table.fell))
        used = tiles_at(table.stage) if moment is Moment.TURN else 0
        without = msgspec.structs.replace(
            table,
            avatars=(*table.avatars[:seat], OUT, *table.avatars[seat + 1 :]),
            waiting=tuple(other for other in table.waiting if other != seat),
            fell=(*table.fell[:seat], encode_ejection_round(table.survived_to(seat)), *table.fell[seat + 1 :]),
        )
        return State(next_turn(without), state.source, state.drawn + used)

    def fits(self, state: State) -> bool:
        """§1.1: has the board the size of this game?"""
        return state.table.grid.size == self.size

    def ranking(self, state: State) -> Ranking:
        """§5.2, §5.3: the seats still in, then those that fell in the last round, and so on."""
        fell = state.table.fell
        groups = [frozenset(state.table.alive)]
        groups += [
            frozenset(seat for seat, when in enumerate(fell) if when == last)
            for last in sorted({*fell}, reverse=True)
            if last > 0
        ]
        return tuple(group for group in groups if group)

    def scores(self, state: State) -> tuple[int, ...]:
        """§5.4: the round that each seat survived to."""
        table = state.table
        return tuple(table.survived_to(seat) for seat in range(len(table.fell)))

    def pack(self, view: View) -> Any:
        """A view as plain JSON: the table, the seat and the dealt tiles."""
        return {"seat": view.seat, "dealt": list(view.dealt), **codec.write(view.table)}

    def unpack(self, plain: Any) -> View:
        return codec.view_from_sheet(codec.read(plain, codec.ViewSheet))

    def pack_state(self, state: State) -> Any:
        """A state as plain JSON: the table, and all tiles."""
        return {"source": list(state.source), "drawn": state.drawn, **codec.write(state.table)}

    def unpack_state(self, plain: Any) -> State:
        return codec.state_from_sheet(codec.read(plain, codec.StateSheet))


def max_tiles(size: int, seats: int) -> int:
    """How many tiles a match can need: every turn covers a square or takes a player out."""
    return 3 * seats + 2 * (size * size + seats)


def place_tile(table: Table, action: Place) -> Table:
    """§3.5: put the first tile on the board, with the avatar on its port."""
    x, y = action.at
    square, seat = y * table.grid.size + x, table.waiting[0]
    spot = 8 * square + PORTS.index(action.port)
    code = code_of(action.tile, action.degrees)
    return msgspec.structs.replace(
        table,
        board=table.board[:square] + BYTES[code] + table.board[square + 1 :],
        avatars=(*table.avatars[:seat], spot, *table.avatars[seat + 1 :]),
        starts=(*table.starts[:seat], spot, *table.starts[seat + 1 :]),
        waiting=table.waiting[1:],
    )
