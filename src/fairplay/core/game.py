"""Define the interface of a game: the questions that its rules answer."""

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, ClassVar, Generic, Self, TypeVar, get_type_hints

import msgspec

from fairplay.core.chance import Dice
from fairplay.core.enums import immutable
from fairplay.core.errors import BadRequest

State = TypeVar("State")
View = TypeVar("View")
Action = TypeVar("Action")

Seat = int  # 0 goes first; the host decides the order
Ranking = tuple[frozenset[Seat], ...]  # best first; ties share a set


@immutable
class Moment(Enum):
    """The moment of a match at which a player was asked; the effects of an ejection depend on it."""

    GREETING = "greeting"
    TURN = "turn"
    NEWS = "news"
    END = "end"


class News(msgspec.Struct, frozen=True):
    """Information that a seat must be told at once, and must acknowledge.

    Attributes:
        seat: the seat that is told.
        content: the information, as a value of the game.
    """

    seat: Seat
    content: Any


def check_seat(seat: Seat, seats: int) -> None:
    """Raise BadRequest unless the seat exists in a match of so many seats."""
    if seat not in range(seats):
        raise BadRequest(f"there is no seat {seat!r}: the seats of this match are 0 to {seats - 1}")


class GameMeta(msgspec.StructMeta, ABCMeta):
    """Combine a frozen struct with an abstract class."""


class Game(msgspec.Struct, Generic[State, View, Action], metaclass=GameMeta, frozen=True):
    """The rules of one game as a value; its fields are its parameters.

    States, views and actions are immutable. Every method depends on its arguments alone, so a game can be shared,
    compared and written to a journal.
    """

    name: ClassVar[str]
    version: ClassVar[str]  # of the rules, for journals
    seats: ClassVar[range]  # the possible numbers of players
    youngest_first: ClassVar[bool]  # do younger players sit first, where ages are known?
    action: ClassVar[Any]  # the type of its actions

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain JSON, for journals."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @property
    def hidden(self) -> str:
        """A few words for the hidden information that the seed would reveal; empty: all is public."""
        return ""

    def public_parameters(self) -> dict[str, Any]:
        """The parameters without those that are hidden from players until the end."""
        return self.parameters()

    @classmethod
    def with_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The game with these parameters; numbers may be given as text. Raises BadRequest for invalid parameters."""
        known = cls.__struct_fields__
        for parameter in parameters:
            if parameter not in known:
                raise BadRequest(f"{cls.name} has no parameter {parameter!r}; it has {', '.join(known)}")
        try:
            return msgspec.convert(dict(parameters), cls, strict=False)
        except (msgspec.ValidationError, UnicodeError) as error:
            for parameter, value in parameters.items():
                cls._check_parameter(parameter, value)
            raise BadRequest(f"{cls.name} cannot be played with these parameters: {error}") from None

    @classmethod
    def _check_parameter(cls, parameter: str, value: Any) -> None:
        try:
            msgspec.convert({parameter: value}, cls, strict=False)
        except (msgspec.ValidationError, UnicodeError):
            about = cls.parameter_descriptions()[parameter]
            raise BadRequest(f"{cls.name} cannot be played with {parameter}={value} ({parameter}: {about})") from None

    @classmethod
    def with_public_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The game as players know it, from `public_parameters`; it cannot be dealt."""
        return cls.with_parameters(parameters)

    @classmethod
    def parameter_descriptions(cls) -> dict[str, str]:
        """The description of each parameter, from its type."""
        hints = get_type_hints(cls, include_extras=True)
        metas = {field.name: getattr(hints[field.name], "__metadata__", ()) for field in msgspec.structs.fields(cls)}
        return {name: meta[-1].description or "" if meta else "" for name, meta in metas.items()}

    @abstractmethod
    def deal(self, seats: int, seed: bytes) -> State:
        """Set up a match; all randomness is drawn here. Raises BadRequest if that is impossible."""

    @abstractmethod
    def turn(self, state: State) -> Seat | None:
        """Whose turn is it? None: the game is over."""

    @abstractmethod
    def order(self, state: State) -> tuple[Seat, ...]:
        """The seats that are still in the game, in turn order from the next to move."""

    @abstractmethod
    def view(self, state: State, seat: Seat | None) -> View:
        """The view of this seat; None: the view of spectators."""

    @abstractmethod
    def actions(self, view: View) -> Iterator[Action]:
        """All legal actions of the seat that has this view, lazily, simple ones first.

        Raises NotOnTurn at once if the seat is not on turn.
        """

    @abstractmethod
    def imagine(self, view: View, seed: bytes = b"") -> State:
        """A state that has this view, to look ahead from.

        Hidden information is drawn from the seed; if the game has none, there is only one such state.
        """

    @abstractmethod
    def check(self, view: View, action: Action) -> None:
        """Raise IllegalAction unless the action is legal, judged by the view alone."""

    @abstractmethod
    def apply(self, state: State, action: Action) -> State:
        """The state after an action, which was checked before."""

    def news(self, before: State, action: Action, after: State) -> tuple[News, ...]:
        """The news after an action; most games have none."""
        return ()

    @abstractmethod
    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        """The state without this seat. Raises BadRequest if there is no such seat."""

    def fits(self, state: State) -> bool:
        """Does this state fit the parameters, such as the size of the board?"""
        return True

    @abstractmethod
    def ranking(self, state: State) -> Ranking:
        """The ranking of the seats that were not ejected, best first."""

    def scores(self, state: State) -> tuple[int, ...] | None:
        """The points by seat, ejected seats included; None: this game has none.

        No seat is ranked below a seat with fewer points, and ejected seats keep their points.
        """
        return None

    def playouts(self, state: State, numbers: range, seed: bytes) -> list[tuple[int, ...]]:
        """The scores at the end of random playouts of a state, one playout for each number.

        Actions come from `random_action`; a seat that has none is ejected. A playout depends on its number and the seed
        alone.
        """
        return [self._playout(state, Dice(seed, number)) for number in numbers]

    def random_action(self, view: View, dice: Dice) -> Action | None:
        """A random legal action for a playout, all equally likely; None: there is none.

        A game with too many actions to list overrides this.
        """
        options = list(self.actions(view))
        return options[dice.below(len(options))] if options else None

    def _playout(self, state: State, dice: Dice) -> tuple[int, ...]:
        while (seat := self.turn(state)) is not None:
            action = self.random_action(self.view(state, seat), dice)
            state = self.eject(state, seat, Moment.TURN) if action is None else self.apply(state, action)
        scores = self.scores(state)
        if scores is None:
            raise BadRequest(f"{self.name} has no scores, which playouts need")
        return scores

    @abstractmethod
    def pack(self, view: View) -> Any:
        """A view as plain JSON."""

    def pack_text(self, view: View) -> bytes:
        """The JSON text of a view; a game may override this with a faster way."""
        return msgspec.json.encode(self.pack(view))

    @abstractmethod
    def unpack(self, plain: Any) -> View:
        """The view from the result of `pack`. Raises BadRequest for anything else."""

    @abstractmethod
    def pack_state(self, state: State) -> Any:
        """A state as plain JSON: for journals, never for players."""

    @abstractmethod
    def unpack_state(self, plain: Any) -> State:
        """The state from the result of `pack_state`. Raises BadRequest for anything else."""
