"""Define the base class of simple games, in which everything is public and seats take turns.

A game defines how a position starts, what a seat can do in it, the position after that, who has won and what the board
looks like. The turn and the seats still in are kept here, beside the position.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from fairplay.core.errors import BadRequest, IllegalAction, NotOnTurn
from fairplay.core.game import Game, Moment, Ranking, Seat, check_seat

P = TypeVar("P")  # a position: any type that msgspec reads and writes
A = TypeVar("A")  # an action
MAX_CHECKED_MOVES = 1000  # moves that are tried in a position from outside
COLOURS = ("red", "blue", "yellow", "green", "white", "black", "pink", "grey")  # of pieces
NOT_ON_TURN, NOT_OFFERED = "0.1", "0.2"  # clauses that hold in all of these games; see rule_book.py


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=str.lower):
    """What a player can do. Its fields are its details; its name is the type in JSON, and the verb for people.

    >>> class Drop(Action, frozen=True):
    ...     column: int
    >>> msgspec.json.encode(Drop(3)), str(Drop(3))
    (b'{"type":"drop","column":3}', 'drops 3')
    """

    def __str__(self) -> str:
        verb = type(self).__name__.lower()
        details = (str(getattr(self, field)) for field in self.__struct_fields__)
        return " ".join([f"{verb}{'es' if verb.endswith(('s', 'x', 'sh', 'ch')) else 's'}", *details])


class State(msgspec.Struct, Generic[P], frozen=True, forbid_unknown_fields=True):
    """The whole position, all of it public."""

    position: P
    order: tuple[Seat, ...]  # the seats still in, starting with the next to move
    seats: int  # the number of seats at the start


class Player(msgspec.Struct, frozen=True):
    """A player, even if it was ejected."""

    seat: Seat
    colour: str
    sign: str  # for its pieces on the board
    score: int | None  # None: this game has no scores


class Board(Mapping[tuple[int, int], str]):
    """The signs on the board, by row and column: board[0, 2]."""

    def __init__(self, rows: Sequence[str]) -> None:
        self._signs = {(row, column): sign for row, signs in enumerate(rows) for column, sign in enumerate(signs)}

    def __getitem__(self, place: tuple[int, int]) -> str:
        try:
            return self._signs[place]
        except KeyError:
            raise KeyError(f"{place} is off the board: write board[row, column]") from None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._signs)

    def __len__(self) -> int:
        return len(self._signs)

    def __repr__(self) -> str:
        return repr(self._signs)


class View(msgspec.Struct, Generic[P], frozen=True):
    """What a seat sees (None: a spectator), with the game and its parameters."""

    seat: Seat | None
    state: State[P]
    game: "BoardGame[P, Any]"

    @property
    def position(self) -> P:
        """The position, as the game defines it."""
        return self.state.position

    @property
    def me(self) -> Player:
        """The player that this view is for. Raises BadRequest for spectators."""
        if self.seat is None:
            raise BadRequest("this is the view of a spectator, which has no player")
        return self.players[self.seat]

    @property
    def opponents(self) -> tuple[Player, ...]:
        """The other players still in, starting with the next to move."""
        return tuple(self.players[seat] for seat in self.state.order if seat != self.seat)

    @property
    def players(self) -> tuple[Player, ...]:
        """All players by seat, including the ejected."""
        game, seats = self.game, range(self.state.seats)
        points = game.points(self.state.position) or [None] * len(seats)
        return tuple(Player(seat, game.colour_of(seat), game.sign_of(seat), points[seat]) for seat in seats)

    @property
    def scores(self) -> dict[Seat, int]:
        """The points of each seat; empty if this game has none."""
        return dict(enumerate(self.game.points(self.state.position) or ()))

    @property
    def turn(self) -> Seat | None:
        """Whose turn it is; None: the game is over."""
        return self.game.turn(self.state)

    @property
    def board(self) -> Board:
        """The signs on the board."""
        return Board(self.game.rows(self.state.position))

    def __str__(self) -> str:
        from fairplay.kit.terminal import text  # start-up: only a drawing needs it

        return text(self)

    def _repr_svg_(self, names: tuple[str, ...] = ()) -> str:
        """The picture that Jupyter displays."""
        from fairplay.kit.draw import svg  # start-up: only pictures need it

        return svg(self, names)


class PackedView(msgspec.Struct, Generic[P], frozen=True, forbid_unknown_fields=True):
    """A view in JSON."""

    seat: Seat | None
    position: P
    order: tuple[Seat, ...]
    seats: int


class BoardGame(Game[State[P], View[P], A], Generic[P, A], frozen=True, forbid_unknown_fields=True):
    """A game with positions and actions of these two types: class TicTacToe(BoardGame[Board, Mark], frozen=True)."""

    version: ClassVar[str] = "1"
    seats: ClassVar[range] = range(2, 3)
    youngest_first: ClassVar[bool] = True
    signs: ClassVar[str] = "XO"  # by seat: the sign of its pieces in `rows`
    colours: ClassVar[tuple[str, ...]] = COLOURS  # by seat, in pictures
    position: ClassVar[Any]  # the type of positions, for decoders

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is BoardGame:
                cls.position, cls.action = get_args(base)
        if len({*cls.signs}) < len(cls.signs) or {*cls.signs} & {*". "}:
            raise TypeError(f"the signs {cls.signs!r} of {cls.__name__} must differ, also from a dot and a blank")
        if not cls.colours:
            raise TypeError(f"{cls.__name__} must have colours")

    # What a game defines.

    @abstractmethod
    def start(self, seats: int) -> P:
        """The first position, for so many seats. Raises BadRequest if there is none."""

    @abstractmethod
    def moves(self, position: P, seat: Seat) -> Iterable[A]:
        """What this seat can do on its turn. If it can do nothing, the game is over."""

    @abstractmethod
    def after(self, position: P, seat: Seat, action: A) -> P:
        """The position after a move of this seat."""

    def winner(self, position: P) -> Seat | None:
        """The seat that has won, which ends the game; None: no seat has won yet."""
        return None

    def points(self, position: P) -> tuple[int, ...] | None:
        """The points of all seats, if the ranking depends on points; None: it depends on the winner."""
        return None

    @abstractmethod
    def rows(self, position: P) -> Sequence[str]:
        """The rows of the board, all of one length: a seat's sign where it has a piece, a dot on an empty place."""

    # What follows from that.

    @classmethod
    def parameter_descriptions(cls) -> dict[str, str]:
        """The description of each parameter, or else its type."""
        types = get_type_hints(cls)
        kinds = {name: getattr(kind, "__name__", str(kind)) for name, kind in types.items()}
        return {name: about or kinds[name] for name, about in super().parameter_descriptions().items()}

    def sign_of(self, seat: Seat) -> str:
        """The sign of a seat's pieces; its number, if there are too few signs."""
        return self.signs[seat] if seat < len(self.signs) else str(seat % 10)

    def colour_of(self, seat: Seat) -> str:
        """The colour of a seat's pieces."""
        return self.colours[seat % len(self.colours)]

    def deal(self, seats: int, seed: bytes) -> State[P]:
        """The first state; nothing is random."""
        return State(self.start(seats), tuple(range(seats)), seats)

    def turn(self, state: State[P]) -> Seat | None:
        """§0.1, §0.3, §0.4: the first seat in the order; None: a seat has won, the next cannot act, or one is left."""
        order, position = state.order, state.position
        if len(order) < min(2, state.seats) or self.winner(position) is not None:
            return None
        return order[0] if any(True for _ in self.moves(position, order[0])) else None

    def order(self, state: State[P]) -> tuple[Seat, ...]:
        """§0.1: one after the other, even when a player leaves."""
        return state.order

    def view(self, state: State[P], seat: Seat | None) -> View[P]:
        """Everything is public."""
        return View(seat, state, self)

    def imagine(self, view: View[P], seed: bytes = b"") -> State[P]:
        """The state that this view is of: nothing is hidden."""
        return view.state

    def actions(self, view: View[P]) -> Iterator[A]:
        """§0.2: the moves of the seat on turn."""
        seat, turn = view.seat, self.turn(view.state)
        if seat is None or seat != turn:
            raise NotOnTurn(seat, turn)
        return iter(self.moves(view.state.position, seat))

    def check(self, view: View[P], action: A) -> None:
        """§0.1, §0.2."""
        seat = view.seat
        if seat is None or seat != self.turn(view.state):
            raise IllegalAction(NOT_ON_TURN, "it is not your turn")
        if action not in self.moves(view.state.position, seat):
            raise IllegalAction(NOT_OFFERED, f"it cannot be done now: {action}")

    def apply(self, state: State[P], action: A) -> State[P]:
        """§0.1: the next seat is on turn. A game with another order of turns overrides `apply`."""
        seat, *others = state.order
        return State(self.after(state.position, seat, action), (*others, seat), state.seats)

    def eject(self, state: State[P], seat: Seat, moment: Moment) -> State[P]:
        """§0.3: at every moment, the position stays as it is."""
        check_seat(seat, state.seats)
        return State(state.position, tuple(other for other in state.order if other != seat), state.seats)

    def fits(self, state: State[P]) -> bool:
        """Has the board the size of the first position?"""
        try:
            self._check_state(state)
        except BadRequest:
            return False
        return True

    def ranking(self, state: State[P]) -> Ranking:
        """§0.3, §0.4: by points; or the winner, then all others."""
        points, won = self.points(state.position), self.winner(state.position)
        if won is not None and (type(won) is not int or won not in range(state.seats)):
            raise TypeError(f"{won!r}, the winner of {self.name}, is not a seat: these are 0 to {state.seats - 1}")

        def worth(seat: Seat) -> int:
            return (seat == won) if points is None else points[seat]

        best_first = sorted(state.order, key=worth, reverse=True)
        return tuple(frozenset(group) for _, group in groupby(best_first, key=worth))

    def scores(self, state: State[P]) -> tuple[int, ...] | None:
        """The points, if this game has any."""
        return self.points(state.position)

    def pack(self, view: View[P]) -> Any:
        """A view as plain JSON: the seat and the state."""
        return {"seat": view.seat, **self.pack_state(view.state)}

    def unpack(self, plain: Any) -> View[P]:
        view = self._read(plain, PackedView)
        return View(view.seat, self._check_state(State(view.position, view.order, view.seats)), self)

    def pack_state(self, state: State[P]) -> Any:
        return msgspec.to_builtins(state)

    def unpack_state(self, plain: Any) -> State[P]:
        return self._check_state(self._read(plain, State))

    def _read(self, plain: Any, kind: Any) -> Any:
        try:
            return msgspec.convert(plain, kind[self.position])
        except msgspec.ValidationError as error:
            raise BadRequest(f"not a position of {self.name}: {error}") from None

    def _check_state(self, state: State[P]) -> State[P]:
        """A state from outside, if the game can handle it: it may be of another board, or invalid."""
        order, seats = state.order, state.seats
        if seats not in self.seats or len({*order}) < len(order) or not {*order} <= {*range(seats)}:
            raise BadRequest(f"not a position of {self.name}: the seats {list(order)} of {seats}")
        try:
            sizes = [[len(row) for row in self.rows(one)] for one in (state.position, self.start(seats))]
            for seat in order:
                list(islice(self.moves(state.position, seat), MAX_CHECKED_MOVES))
            self.ranking(state)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise BadRequest(f"not a position of {self.name}: {type(error).__name__}") from None
        if sizes[0] != sizes[1]:
            raise BadRequest(f"not a position of {self.name}: its board has another size")
        if len({*sizes[0]}) > 1:
            raise BadRequest(f"not a position of {self.name}: its rows differ in length")
        return state
